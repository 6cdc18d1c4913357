/* PNG output: 8 and 16 bit, 1 bit for bitonal pictures. */
#include <png.h>

#include <stdio.h>
#include <stdlib.h>

#include "embed.h"
#include "enc_rows.h"
#include "encoder_ops.h"
#include "tegula/mem.h"
#include "tegula/num.h"

typedef struct png_encoder {
    tg_encoder base;
    png_structp png;
    png_infop info;
    tg_err *err;     /* of the call under way */
    uint8_t *packed; /* one row of a bitonal picture */
    tg_buf text;     /* of a chunk under way */
} png_encoder;

static void on_error(png_structp png, png_const_charp text)
{
    png_encoder *p = png_get_error_ptr(png);

    tg_fail(p->err, TG_ERR_INTERNAL, "the image cannot be written as PNG");
    tg_fail_detail(p->err, "libpng: %s", text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_write(png_structp png, png_bytep data, size_t n)
{
    png_encoder *p = png_get_io_ptr(png);

    tg_buf_append(p->base.out, data, n); /* a failure sticks; tg_encoder_finish asks */
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* iTXt, uncompressed, of no language: UTF-8 (PNG, 11.3.3.4). */
static void set_text(png_encoder *p, const char *keyword, tg_str text)
{
    char key[32], none[1] = "";
    png_text chunk = {.compression = PNG_ITXT_COMPRESSION_NONE, .key = key};

    if (!text.n)
        return;
    p->text.len = 0;
    snprintf(key, sizeof key, "%s", keyword);
    chunk.text = (char *)tg_embed_z(&p->text, text);
    chunk.lang = chunk.lang_key = none;
    png_set_text(p->png, p->info, &chunk, 1);
}

static void set_embed(png_encoder *p, const tg_embed *embed)
{
    if (embed->icc.n) {
        png_set_chunk_malloc_max(p->png, 0); /* libpng's limit is meant for reading */
        png_set_iCCP(p->png, p->info, "icc", PNG_COMPRESSION_TYPE_BASE,
                     (png_const_bytep)embed->icc.p, (png_uint_32)embed->icc.n);
    }
    set_text(p, "Copyright", embed->copyright);
    set_text(p, "XML:com.adobe.xmp", embed->xmp);
}

static void write_header(png_encoder *p)
{
    static const int colour_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                       PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    const tg_encode_spec *spec = &p->base.spec;
    int bits = tg_packs(spec) ? 1 : spec->fmt.bits;
    double x_per_m = spec->dpi_x / 0.0254, y_per_m = spec->dpi_y / 0.0254;

    png_set_IHDR(p->png, p->info, spec->width_px, spec->height_px, bits,
                 colour_types[spec->fmt.channels - 1], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (x_per_m >= 0.5 && y_per_m >= 0.5 && x_per_m < 0x7fffffff && y_per_m < 0x7fffffff)
        png_set_pHYs(p->png, p->info, (png_uint_32)(x_per_m + 0.5), (png_uint_32)(y_per_m + 0.5),
                     PNG_RESOLUTION_METER);
    set_embed(p, &spec->embed);
    png_write_info(p->png, p->info);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (bits == 16)
        png_set_swap(p->png);
#endif
}

static bool png_begin(tg_encoder *e, tg_err *err)
{
    png_encoder *p = (png_encoder *)e;
    const tg_encode_spec *spec = &e->spec;
    int level = TG_MAX(0, TG_MIN(spec->quality, 9));

    p->err = err;
    if (tg_packs(spec)) {
        p->packed = tg_image_alloc(tg_packed_bytes(spec->width_px), 1, err);
        if (!p->packed)
            return false;
    }
    p->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, p, on_error, on_warning);
    if (p->png)
        p->info = png_create_info_struct(p->png);
    if (!p->info)
        return tg_fail(err, TG_ERR_BUSY, "out of memory");
    if (setjmp(png_jmpbuf(p->png)))
        return false;
    png_set_write_fn(p->png, p, on_write, on_flush);
    png_set_benign_errors(p->png, 1);
    png_set_user_limits(p->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(p->png, level);
    png_set_compression_buffer_size(p->png, 65536);
    /* Measured at level 1 on photographs and maps: the average filter alone gives smaller files
     * than a choice among all, in three quarters of the time. Line art gains by the choice. */
    if (tg_packs(spec) || (level == 0 && !spec->png_filter))
        png_set_filter(p->png, 0, PNG_FILTER_NONE);
    else if (spec->png_filter)
        png_set_filter(p->png, 0, spec->png_filter);
    else
        png_set_filter(p->png, 0, level < 6 ? PNG_FILTER_AVG : PNG_ALL_FILTERS);
    write_header(p);
    return true;
}

static bool png_rows(tg_encoder *e, const uint8_t *rows, size_t stride, uint32_t n, tg_err *err)
{
    png_encoder *p = (png_encoder *)e;

    p->err = err;
    if (setjmp(png_jmpbuf(p->png)))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *row = rows + i * stride;

        if (p->packed) {
            tg_pack_row(p->packed, row, e->spec.width_px, e->spec.fmt.bits);
            row = p->packed;
        }
        png_write_row(p->png, row);
    }
    return true;
}

static bool png_finish(tg_encoder *e, tg_err *err)
{
    png_encoder *p = (png_encoder *)e;

    p->err = err;
    if (setjmp(png_jmpbuf(p->png)))
        return false;
    png_write_end(p->png, NULL);
    return true;
}

static void png_end(tg_encoder *e)
{
    png_encoder *p = (png_encoder *)e;

    if (p->png)
        png_destroy_write_struct(&p->png, &p->info);
    tg_image_free(p->packed);
    tg_buf_free(&p->text);
}

const tg_encoder_ops tg_png_encoder_ops = {
    sizeof(png_encoder), png_begin, png_rows, png_finish, png_end, NULL, NULL,
};
