#include "jpeg_common.h"

#include <jerror.h>

#include "tegula/mem.h"

static tg_err_kind kind_of(int msg_code)
{
    switch (msg_code) {
    case JERR_OUT_OF_MEMORY:
        return TG_ERR_BUSY;
    case JERR_NO_BACKING_STORE: /* past max_memory_to_use */
        return TG_ERR_TOO_LARGE;
    default:
        return TG_ERR_CORRUPT;
    }
}

static void fail_exit(j_common_ptr cinfo)
{
    tg_jpeg_errors *errors = (tg_jpeg_errors *)cinfo->err;
    char text[JMSG_LENGTH_MAX];

    errors->mgr.format_message(cinfo, text);
    if (cinfo->is_decompressor)
        tg_fail(errors->err, kind_of(errors->mgr.msg_code), "the JPEG data cannot be decoded");
    else
        tg_fail(errors->err, TG_ERR_INTERNAL, "the image cannot be written as JPEG");
    tg_fail_detail(errors->err, "libjpeg: %s", text);
    longjmp(errors->jump, 1);
}

/* libjpeg calls it a warning when it goes on with invented pixels. Those end the decode; the others
 * concern bytes beside the picture. */
static bool leaves_pixels_in_doubt(int msg_code)
{
    switch (msg_code) {
    case JWRN_ARITH_BAD_CODE:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC:
    case JWRN_NOT_SEQUENTIAL:
        return true;
    default:
        return false;
    }
}

static void on_message(j_common_ptr cinfo, int level)
{
    tg_jpeg_errors *errors = (tg_jpeg_errors *)cinfo->err;

    if (level >= 0 || !leaves_pixels_in_doubt(errors->mgr.msg_code))
        return;
    if (!errors->lenient)
        fail_exit(cinfo);
    errors->doubtful = true;
}

static void on_output(j_common_ptr cinfo)
{
    (void)cinfo;
}

struct jpeg_error_mgr *tg_jpeg_errors_init(tg_jpeg_errors *errors)
{
    jpeg_std_error(&errors->mgr);
    errors->mgr.error_exit = fail_exit;
    errors->mgr.emit_message = on_message;
    errors->mgr.output_message = on_output;
    errors->lenient = errors->doubtful = false;
    return &errors->mgr;
}

void tg_jpeg_limit_memory(j_common_ptr cinfo)
{
    size_t ceiling = tg_image_ceiling(), in_use = tg_image_in_use();

    /* 0 would mean without limit */
    cinfo->mem->max_memory_to_use = (long)(ceiling > in_use ? ceiling - in_use : 1);
}

uint16_t tg_jfif_dpi(double dpi)
{
    return dpi >= 0.5 && dpi < 65535.5 ? (uint16_t)(dpi + 0.5) : 0;
}
