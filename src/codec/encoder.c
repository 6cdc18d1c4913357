/* The table of output formats and the checks all encoders share. */
#include "tegula/encoder.h"

#include <stdlib.h>

#include "encoder_ops.h"
#include "tegula/abandon.h"
#include "tegula/mem.h"

#ifdef HAVE_AVIF
#define AVIF_OPS &tg_avif_encoder_ops
#else
#define AVIF_OPS NULL
#endif

#ifdef HAVE_GIF
#define GIF_OPS &tg_gif_encoder_ops
#else
#define GIF_OPS NULL
#endif

const tg_format_info tg_formats[TG_FORMATS] = {
    [TG_FORMAT_JPEG] = {"jpg", "image/jpeg", 65500, false, 8, true},
    [TG_FORMAT_PNG] = {"png", "image/png", 0x7fffffff, true, 16, true},
    [TG_FORMAT_GIF] = {"gif", "image/gif", 65535, true, 8, false},
    [TG_FORMAT_JP2] = {"jp2", "image/jp2", 65535, true, 16, true},
    [TG_FORMAT_PDF] = {"pdf", "application/pdf", 65500, false, 8, true},
    [TG_FORMAT_TIFF] = {"tif", "image/tiff", 0x7fffffff, true, 16, true},
    [TG_FORMAT_WEBP] = {"webp", "image/webp", 16383, true, 8, true},
    /* AV1 goes to 65536; what common decoders show by default (libavif, libheif) */
    [TG_FORMAT_AVIF] = {"avif", "image/avif", 32768, true, 8, true},
};

static const tg_encoder_ops *const ops_of[TG_FORMATS] = {
    [TG_FORMAT_JPEG] = &tg_jpeg_encoder_ops,
    [TG_FORMAT_PNG] = &tg_png_encoder_ops,
    [TG_FORMAT_GIF] = GIF_OPS,
    [TG_FORMAT_JP2] = &tg_jp2_encoder_ops,
    [TG_FORMAT_PDF] = &tg_pdf_encoder_ops,
    [TG_FORMAT_TIFF] = &tg_tiff_encoder_ops,
    [TG_FORMAT_WEBP] = &tg_webp_encoder_ops,
    [TG_FORMAT_AVIF] = AVIF_OPS,
};

const char *tg_format_lacks(tg_format format)
{
    static const char *const library_of[TG_FORMATS] = {
        [TG_FORMAT_GIF] = "giflib", [TG_FORMAT_AVIF] = "libavif"};
    const tg_encoder_ops *ops = ops_of[format];

    if (!ops)
        return library_of[format];
    return ops->lacks ? ops->lacks() : NULL;
}

bool tg_format_available(tg_format format)
{
    return !tg_format_lacks(format);
}

static bool check_spec(const tg_encode_spec *spec, tg_err *err)
{
    const tg_format_info *info = &tg_formats[spec->format];

    if (!tg_format_available(spec->format))
        return tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "%s is not built in", info->extension);
    if (spec->width_px == 0 || spec->height_px == 0)
        return tg_fail(err, TG_ERR_BAD_REQUEST, "the image would be empty");
    if (spec->width_px > info->max_side_px || spec->height_px > info->max_side_px)
        return tg_fail(err, TG_ERR_BAD_REQUEST, "%s cannot hold an image of %u x %u pixels",
                       info->extension, (unsigned)spec->width_px, (unsigned)spec->height_px);
    if (spec->fmt.channels < 1 || spec->fmt.channels > 4 || spec->fmt.bits > info->max_bits ||
        (tg_pixfmt_alpha(spec->fmt) && !info->alpha))
        return tg_fail(err, TG_ERR_INTERNAL, "pixels do not suit the output format");
    return true;
}

uint64_t tg_encoder_cost_bytes(const tg_encode_spec *spec)
{
    const tg_encoder_ops *ops = ops_of[spec->format];

    return ops && ops->cost_bytes ? ops->cost_bytes(spec) : 0;
}

tg_encoder *tg_encoder_new(const tg_encode_spec *spec, tg_buf *out, tg_err *err)
{
    const tg_encoder_ops *ops = ops_of[spec->format];
    tg_encoder *e;

    if (!check_spec(spec, err))
        return NULL;
    e = tg_new(ops->size_bytes);
    e->ops = ops;
    e->spec = *spec;
    e->out = out;
    if (!ops->begin(e, err)) {
        tg_encoder_free(e);
        return NULL;
    }
    return e;
}

bool tg_encoder_rows(tg_encoder *e, const void *rows, size_t stride, uint32_t n, tg_err *err)
{
    if (n > e->spec.height_px - e->rows_done)
        return tg_fail(err, TG_ERR_INTERNAL, "more rows than the image has");
    if (!tg_still_wanted(err))
        return false;
    if (!e->ops->rows(e, rows, stride, n, err))
        return false;
    e->rows_done += n;
    return true;
}

bool tg_encoder_finish(tg_encoder *e, tg_err *err)
{
    if (e->rows_done != e->spec.height_px)
        return tg_fail(err, TG_ERR_INTERNAL, "fewer rows than the image has");
    if (!e->ops->finish(e, err))
        return false;
    if (e->out->failed)
        return tg_fail(err, TG_ERR_TOO_LARGE, "the encoded image is too large");
    return true;
}

void tg_encoder_free(tg_encoder *e)
{
    if (!e)
        return;
    e->ops->end(e);
    free(e);
}
