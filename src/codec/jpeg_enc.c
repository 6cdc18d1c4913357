/* JPEG output: baseline, accurate integer DCT, straight into the caller's buffer. */
#include <stdlib.h>

#include "embed.h"
#include "encoder_ops.h"
#include "jpeg_common.h"
#include "jpeg_dest.h"
#include "tegula/num.h"

typedef struct jpeg_encoder {
    tg_encoder base;
    tg_jpeg_errors errors;
    struct jpeg_compress_struct cinfo;
    tg_jpeg_dest dest;
} jpeg_encoder;

static void set_density(j_compress_ptr cinfo, const tg_encode_spec *spec)
{
    uint16_t x = tg_jfif_dpi(spec->dpi_x), y = tg_jfif_dpi(spec->dpi_y);

    if (x == 0 || y == 0)
        return;
    cinfo->density_unit = 1;
    cinfo->X_density = x;
    cinfo->Y_density = y;
}

/* Behind the JFIF marker, which jpeg_start_compress has written. */
static void put_segments(jpeg_encoder *j)
{
    j_compress_ptr cinfo = &j->cinfo;

    cinfo->dest->term_destination(cinfo);
    tg_jpeg_segments(j->base.out, &j->base.spec, true);
    cinfo->dest->init_destination(cinfo);
}

static bool jpeg_begin(tg_encoder *e, tg_err *err)
{
    jpeg_encoder *j = (jpeg_encoder *)e;
    j_compress_ptr cinfo = &j->cinfo;

    cinfo->err = tg_jpeg_errors_init(&j->errors);
    j->errors.err = err;
    if (setjmp(j->errors.jump))
        return false;
    jpeg_create_compress(cinfo);
    tg_jpeg_dest_init(&j->dest, cinfo, e->out);
    cinfo->image_width = e->spec.width_px;
    cinfo->image_height = e->spec.height_px;
    cinfo->input_components = e->spec.fmt.channels;
    cinfo->in_color_space = e->spec.fmt.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(cinfo); /* colour: YCbCr 4:2:0 */
    jpeg_set_quality(cinfo, TG_MAX(1, TG_MIN(e->spec.quality, 100)), TRUE);
    cinfo->dct_method = JDCT_ISLOW;
    set_density(cinfo, &e->spec);
    jpeg_start_compress(cinfo, TRUE);
    put_segments(j);
    return true;
}

static bool jpeg_rows(tg_encoder *e, const uint8_t *rows, size_t stride, uint32_t n, tg_err *err)
{
    enum { BATCH = 16 }; /* the height of one row of 4:2:0 blocks */
    jpeg_encoder *j = (jpeg_encoder *)e;

    j->errors.err = err;
    if (setjmp(j->errors.jump))
        return false;
    for (uint32_t done = 0; done < n;) {
        uint32_t batch = TG_MIN(n - done, (uint32_t)BATCH);
        JSAMPROW ptrs[BATCH];

        for (uint32_t i = 0; i < batch; i++)
            ptrs[i] = (JSAMPROW)(uintptr_t)(rows + (size_t)(done + i) * stride);
        done += jpeg_write_scanlines(&j->cinfo, ptrs, batch);
    }
    return true;
}

static bool jpeg_finish(tg_encoder *e, tg_err *err)
{
    jpeg_encoder *j = (jpeg_encoder *)e;

    j->errors.err = err;
    if (setjmp(j->errors.jump))
        return false;
    jpeg_finish_compress(&j->cinfo);
    return true;
}

static void jpeg_end(tg_encoder *e)
{
    jpeg_destroy_compress(&((jpeg_encoder *)e)->cinfo);
}

const tg_encoder_ops tg_jpeg_encoder_ops = {
    sizeof(jpeg_encoder), jpeg_begin, jpeg_rows, jpeg_finish, jpeg_end, NULL, NULL,
};
