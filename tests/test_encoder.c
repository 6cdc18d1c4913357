/* Encoded streams, read back by the reference libraries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>
#include <webp/decode.h>

#include "check.h"
#include "encoding.h"

#define NO_EMBED {{NULL, 0}, {NULL, 0}, {NULL, 0}}, 0 /* and the filter is PNG's own choice */

static double mean_difference(const uint8_t *a, const uint8_t *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += abs(a[i] - b[i]);
    return sum / (double)n;
}

static void check_jpeg(uint32_t w, uint32_t h, unsigned channels, double dpi, int quality,
                       double tolerance)
{
    tg_encode_spec s = {TG_FORMAT_JPEG, w, h, {(uint8_t)channels, 8}, false, quality, dpi, dpi, 0,
                        NO_EMBED};
    uint8_t *px = paint(&s), *got = malloc((size_t)w * h * channels);
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    tg_buf out = {0};
    tg_err err = {0};

    tg_buf_append(&out, "head", 4);
    CHECK(encode(&s, px, 7, &out, &err));
    CHECK(memcmp(out.data, "head", 4) == 0);
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, out.data + 4, out.len - 4);
    jpeg_read_header(&cinfo, TRUE);
    CHECK_INT(cinfo.image_width, w);
    CHECK_INT(cinfo.image_height, h);
    CHECK_INT(cinfo.num_components, channels);
    CHECK(cinfo.saw_JFIF_marker && !cinfo.progressive_mode && !cinfo.arith_code);
    CHECK_INT(cinfo.density_unit, dpi > 0);
    CHECK_INT(cinfo.X_density, dpi > 0 ? dpi + 0.5 : 1);
    CHECK_INT(cinfo.comp_info[0].h_samp_factor, channels == 3 ? 2 : 1);
    CHECK_INT(cinfo.comp_info[0].v_samp_factor, channels == 3 ? 2 : 1);
    jpeg_start_decompress(&cinfo);
    while (cinfo.output_scanline < h) {
        JSAMPROW row = got + (size_t)cinfo.output_scanline * w * channels;
        jpeg_read_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_decompress(&cinfo);
    CHECK_INT(errors.num_warnings, 0);
    jpeg_destroy_decompress(&cinfo);
    CHECK(out.data[out.len - 2] == 0xff && out.data[out.len - 1] == 0xd9);
    CHECK(mean_difference(px, got, (size_t)w * h * channels) <= tolerance);
    tg_buf_free(&out);
    free(px);
    free(got);
}

typedef struct reader {
    const uint8_t *p;
    size_t n;
} reader;

static void on_read(png_structp png, png_bytep to, size_t n)
{
    reader *r = png_get_io_ptr(png);

    if (n > r->n)
        png_error(png, "short");
    memcpy(to, r->p, n);
    r->p += n;
    r->n -= n;
}

static void read_png(const tg_encode_spec *s, const tg_buf *out, uint8_t *got)
{
    reader r = {out->data, out->len};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    size_t stride = s->width_px * tg_pixfmt_bytes(s->fmt);
    int colour[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                    PNG_COLOR_TYPE_RGB_ALPHA};

    if (setjmp(png_jmpbuf(png))) {
        CHECK(!"libpng reads it");
        png_destroy_read_struct(&png, &info, NULL);
        return;
    }
    png_set_read_fn(png, &r, on_read);
    png_read_info(png, info);
    CHECK_INT(png_get_image_width(png, info), s->width_px);
    CHECK_INT(png_get_image_height(png, info), s->height_px);
    CHECK_INT(png_get_bit_depth(png, info), s->bitonal ? 1 : s->fmt.bits);
    CHECK_INT(png_get_color_type(png, info), colour[s->fmt.channels - 1]);
    /* 300 dpi are 11811 dots per metre */
    CHECK_INT(png_get_x_pixels_per_meter(png, info), s->dpi_x > 0 ? 11811 : 0);
    if (s->bitonal)
        png_set_expand_gray_1_2_4_to_8(png);
    png_set_swap(png);
    for (uint32_t y = 0; y < s->height_px; y++)
        png_read_row(png, got + y * stride, NULL);
    png_read_end(png, NULL);
    png_destroy_read_struct(&png, &info, NULL);
    CHECK_INT(r.n, 0);
}

static void check_png(uint32_t w, uint32_t h, unsigned channels, unsigned bits, bool bitonal,
                      int level, double dpi)
{
    tg_encode_spec s = {
        TG_FORMAT_PNG, w, h,       {(uint8_t)channels, (uint8_t)bits}, bitonal, level, dpi,
        dpi,           0, NO_EMBED};
    size_t bytes = (size_t)w * h * tg_pixfmt_bytes(s.fmt);
    uint8_t *px = paint(&s), *got = calloc(1, bytes);
    tg_buf out = {0};
    tg_err err = {0};

    CHECK(encode(&s, px, 5, &out, &err));
    read_png(&s, &out, got);
    CHECK(memcmp(px, got, bytes) == 0);
    tg_buf_free(&out);
    free(px);
    free(got);
}

static void check_webp(uint32_t w, uint32_t h, unsigned channels, int quality, double tolerance)
{
    tg_encode_spec s = {TG_FORMAT_WEBP, w, h, {(uint8_t)channels, 8}, false, quality, 0, 0, 0,
                        NO_EMBED};
    uint8_t *px = paint(&s), *rgba;
    double sum = 0;
    tg_buf out = {0};
    tg_err err = {0};
    int got_w = 0, got_h = 0;

    CHECK(encode(&s, px, 9, &out, &err));
    rgba = WebPDecodeRGBA(out.data, out.len, &got_w, &got_h);
    CHECK(rgba && got_w == (int)w && got_h == (int)h);
    for (size_t i = 0; rgba && i < (size_t)w * h; i++) {
        const uint8_t *p = px + i * channels;
        unsigned alpha = channels % 2 ? 255 : p[channels - 1];

        CHECK(rgba[4 * i + 3] == alpha);
        for (unsigned c = 0; alpha && c < 3; c++)
            sum += abs(rgba[4 * i + c] - p[channels < 3 ? 0 : c]);
    }
    CHECK(sum / ((double)w * h * 3) <= tolerance);
    WebPFree(rgba);
    tg_buf_free(&out);
    free(px);
}

static void check_refusals(void)
{
    static const uint8_t row[4 * 70000];
    tg_encode_spec s = {TG_FORMAT_JPEG, 65501, 1, {3, 8}, false, 80, 0, 0, 0, NO_EMBED};
    tg_buf out = {0};
    tg_err err = {0};
    tg_encoder *e;

    CHECK(!tg_encoder_new(&s, &out, &err));
    CHECK_INT(err.kind, TG_ERR_BAD_REQUEST);
    err = (tg_err){0};
    s = (tg_encode_spec){TG_FORMAT_WEBP, 1, 16384, {3, 8}, false, 80, 0, 0, 0, NO_EMBED};
    CHECK(!tg_encoder_new(&s, &out, &err));
    CHECK_INT(err.kind, TG_ERR_BAD_REQUEST);
    err = (tg_err){0};
    s = (tg_encode_spec){TG_FORMAT_PNG, 0, 10, {3, 8}, false, 1, 0, 0, 0, NO_EMBED};
    CHECK(!tg_encoder_new(&s, &out, &err));
    err = (tg_err){0};
    s = (tg_encode_spec){TG_FORMAT_WEBP, 16383, 16383, {3, 8}, false, 80, 0, 0, 0,
                         NO_EMBED}; /* 1 GiB */
    CHECK(!tg_encoder_new(&s, &out, &err));
    CHECK_INT(err.kind, TG_ERR_TOO_LARGE);

    err = (tg_err){0};
    s = (tg_encode_spec){TG_FORMAT_JPEG, 65500, 2, {3, 8}, false, 80, 0, 0, 0, NO_EMBED};
    out.max = 100; /* the buffer's ceiling */
    e = tg_encoder_new(&s, &out, &err);
    CHECK(!e || !tg_encoder_rows(e, row, 0, 2, &err) || !tg_encoder_finish(e, &err));
    CHECK_INT(err.kind, TG_ERR_TOO_LARGE);
    tg_encoder_free(e);
    tg_buf_free(&out);
}

int main(void)
{
    check_jpeg(256, 256, 3, 0, 90, 1);
    check_jpeg(257, 131, 3, 150, 75, 2);
    check_jpeg(1, 1, 3, 0, 90, 2);
    check_jpeg(640, 480, 1, 300, 80, 1);
    check_jpeg(900, 700, 3, 0, 100, 1); /* several times the first room in the buffer */
    for (unsigned channels = 1; channels <= 4; channels++) {
        check_png(101, 67, channels, 8, false, 1, 0);
        check_png(101, 67, channels, 16, false, 6, 300);
        check_png(64, 3, channels, 8, false, 0, 0);
        check_webp(101, 67, channels, -1, 0);
        check_webp(101, 67, channels, 80, 3);
    }
    check_png(101, 67, 1, 8, true, 1, 300);
    check_png(8, 2, 1, 8, true, 9, 0);
    check_png(1, 1, 3, 8, false, 9, 0);
    check_webp(1, 1, 3, 80, 4);
    check_refusals();
    return check_done();
}
