#include "jpeg_crop.h"

#include "jpeg_common.h"
#include "jpeg_dest.h"

typedef struct crop {
    tg_jpeg_errors errors;
    struct jpeg_decompress_struct from;
    struct jpeg_compress_struct to;
    tg_jpeg_dest dest;
} crop;

/* The tables of the result are those of the JPEG standard (K.3): counted ones take three times as
 * long and save a twentieth, and the stored ones may lack a step between DC values that are
 * neighbours only since the cut. */
#define MAX_AC_BITS 10
#define MAX_DC      1023

/* False if the tables let in a value that no baseline stream of 8 bit has. */
static bool ac_fits(const struct jpeg_decompress_struct *from)
{
    for (int t = 0; t < NUM_HUFF_TBLS; t++) {
        const JHUFF_TBL *table = from->ac_huff_tbl_ptrs[t];
        unsigned n = 0;

        for (int bits = 1; table && bits <= 16; bits++)
            n += table->bits[bits];
        for (unsigned i = 0; i < n; i++)
            if ((table->huffval[i] & 15) > MAX_AC_BITS)
                return false;
    }
    return true;
}

/* DC values are sums of steps, which the tables do not bound. */
static bool dc_fits(struct jpeg_decompress_struct *from, jvirt_barray_ptr *coefficients)
{
    for (int c = 0; c < from->num_components; c++) {
        const jpeg_component_info *component = &from->comp_info[c];

        for (JDIMENSION y = 0; y < component->height_in_blocks; y++) {
            JBLOCKARRAY row =
                from->mem->access_virt_barray((j_common_ptr)from, coefficients[c], y, 1, FALSE);

            for (JDIMENSION x = 0; x < component->width_in_blocks; x++)
                if (row[0][x][0] > MAX_DC || row[0][x][0] < -MAX_DC - 1)
                    return false;
        }
    }
    return true;
}

static bool beyond_baseline(tg_err *err)
{
    tg_fail(err, TG_ERR_CORRUPT, "the JPEG data cannot be decoded");
    return tg_fail_detail(err, "coefficients beyond those of baseline JPEG");
}

/* All coefficients are in memory before the first byte is written: the result may lie where the
 * source was. */
static bool transcode(crop *c, tg_buf *buf, size_t start, uint32_t w_px, uint32_t h_px)
{
    jvirt_barray_ptr *coefficients;

    c->from.err = c->to.err = tg_jpeg_errors_init(&c->errors);
    if (setjmp(c->errors.jump))
        return false;
    jpeg_create_decompress(&c->from);
    tg_jpeg_limit_memory((j_common_ptr)&c->from);
    jpeg_mem_src(&c->from, buf->data + start, (unsigned long)(buf->len - start));
    jpeg_read_header(&c->from, TRUE);
    coefficients = jpeg_read_coefficients(&c->from);
    if (!ac_fits(&c->from) || !dc_fits(&c->from, coefficients))
        return beyond_baseline(c->errors.err);

    buf->len = start;
    jpeg_create_compress(&c->to);
    tg_jpeg_dest_init(&c->dest, &c->to, buf);
    jpeg_copy_critical_parameters(&c->from, &c->to);
    c->to.image_width = w_px;
    c->to.image_height = h_px;
#if JPEG_LIB_VERSION >= 70
    c->to.jpeg_width = w_px;
    c->to.jpeg_height = h_px;
#endif
    jpeg_write_coefficients(&c->to, coefficients);
    jpeg_finish_compress(&c->to);
    return true;
}

bool tg_jpeg_crop(tg_buf *buf, size_t start, uint32_t w_px, uint32_t h_px, tg_err *err)
{
    crop c = {.errors.err = err};
    bool ok = transcode(&c, buf, start, w_px, h_px);

    jpeg_destroy_compress(&c.to);
    jpeg_destroy_decompress(&c.from);
    if (!ok)
        buf->len = start;
    return ok;
}
