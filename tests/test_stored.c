/* Stored tiles as they stand: complete streams that a decoder knowing nothing of TIFF shows the
 * same as read() does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <webp/decode.h>

#include "check.h"
#include "fixture.h"

/* As any browser would: colour space from the stream's own markers. */
static uint8_t *decode_jpeg(const uint8_t *data, size_t n, uint32_t *w, uint32_t *h, unsigned *c)
{
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    uint8_t *px;

    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, data, (unsigned long)n);
    jpeg_read_header(&cinfo, TRUE);
    jpeg_start_decompress(&cinfo);
    *w = cinfo.output_width;
    *h = cinfo.output_height;
    *c = (unsigned)cinfo.output_components;
    px = malloc((size_t)*w * *h * *c);
    while (px && cinfo.output_scanline < *h) {
        JSAMPROW row = px + (size_t)cinfo.output_scanline * *w * *c;
        jpeg_read_scanlines(&cinfo, &row, 1);
    }
    CHECK_INT(errors.num_warnings, 0);
    CHECK(cinfo.saw_JFIF_marker || cinfo.saw_Adobe_marker);
    jpeg_destroy_decompress(&cinfo);
    return px;
}

static void compare(tg_image *img, unsigned level, uint32_t col, uint32_t row, const uint8_t *px,
                    uint32_t w, uint32_t h, unsigned channels)
{
    const tg_level *lv = &img->level[level];
    tg_rect r = {col * lv->tile_w_px, row * lv->tile_h_px, lv->tile_w_px, lv->tile_h_px};
    tg_err err = {0};
    uint8_t *want = fixture_read(img, level, 0, r, &err);

    CHECK_INT(w, lv->tile_w_px);
    CHECK_INT(h, lv->tile_h_px);
    CHECK_INT(channels, img->fmt.channels);
    CHECK(want && px && memcmp(want, px, (size_t)w * h * channels) == 0);
    free(want);
}

static void check_jpeg(tg_image *img, unsigned level, uint32_t col, uint32_t row, const tg_buf *out)
{
    uint32_t w, h;
    unsigned channels;
    uint8_t *px = decode_jpeg(out->data + 3, out->len - 3, &w, &h, &channels);

    CHECK(out->data[out->len - 2] == 0xff && out->data[out->len - 1] == 0xd9);
    compare(img, level, col, row, px, w, h, channels);
    free(px);
}

static void check_webp(tg_image *img, unsigned level, uint32_t col, uint32_t row, const tg_buf *out)
{
    int w, h;
    uint8_t *px = (img->fmt.channels == 4 ? WebPDecodeRGBA : WebPDecodeRGB)(out->data + 3,
                                                                            out->len - 3, &w, &h);

    compare(img, level, col, row, px, (uint32_t)w, (uint32_t)h, img->fmt.channels);
    WebPFree(px);
}

/* Every tile of every level: the whole ones can be sent, the others say so. */
static void check_all(const char *args, tg_stored kind)
{
    unsigned before = check_failed;
    tg_err err = {0};
    tg_image *img = fixture_open(fixture_make("stored.tif", args), 0, &err);
    tg_buf out = {0};

    CHECK(img);
    for (unsigned l = 0; img && l < img->n_levels; l++) {
        const tg_level *lv = &img->level[l];

        CHECK_INT(lv->stored, kind);
        for (uint32_t i = 0; i < lv->cols * lv->rows; i++) {
            uint32_t col = i % lv->cols, row = i / lv->cols;
            bool whole = (col + 1) * lv->tile_w_px <= lv->width_px &&
                         (row + 1) * lv->tile_h_px <= lv->height_px;
            tg_err tile_err = {0};

            tg_buf_reset(&out);
            tg_buf_append(&out, "abc", 3); /* what is there stays */
            CHECK_INT(img->codec->stored_tile(img, l, col, row, &out, &tile_err), whole);
            CHECK(out.len >= 3 && memcmp(out.data, "abc", 3) == 0);
            if (!whole) {
                CHECK_INT(tile_err.kind, TG_ERR_NOT_IMPLEMENTED);
                CHECK_INT(out.len, 3);
            } else if (out.len > 3) {
                (kind == TG_STORED_JPEG ? check_jpeg : check_webp)(img, l, col, row, &out);
            }
        }
    }
    if (check_failed != before)
        printf("  in %s: %s\n", args, err.msg);
    tg_buf_free(&out);
    tg_image_close(img);
}

/* The bytes that tell a browser what the components are (JFIF 1.02, page 5; Adobe TN 5116). */
static void check_head(const char *args, unsigned level, const char *want, size_t n)
{
    tg_err err = {0};
    tg_image *img = fixture_open(fixture_make("head.tif", args), 0, &err);
    tg_buf out = {0};

    CHECK(img && img->codec->stored_tile(img, level, 0, 0, &out, &err));
    CHECK(out.len > n && memcmp(out.data, want, n) == 0);
    tg_buf_free(&out);
    tg_image_close(img);
}

#define JFIF   "\xff\xd8\xff\xe0\0\20JFIF\0\1\1"
#define ADOBE  "\xff\xd8\xff\xee\0\16Adobe\0\144\0\0\0\0\0"
#define LIT(s) s, sizeof(s) - 1

/* Offset and length of the first tile's bytes: an uncompressed look for the second SOI (the first
 * is that of the tables). */
static size_t find_tile(const uint8_t *data, size_t n)
{
    for (size_t i = 8; i + 3 < n; i++)
        if (data[i] == 0xff && data[i + 1] == 0xd8 && data[i + 2] == 0xff && data[i + 3] != 0xdb &&
            data[i + 3] != 0xc4)
            return i;
    return 0;
}

/* A tile changed at `at` bytes from its start must not be sent, but fall to the decoder. */
static void check_refused(const char *what, size_t at, const char *bytes, size_t n)
{
    size_t size, tile;
    const char *path = fixture_make("bad.tif", "--size 64x64 --tile 64x64 --compression jpeg");
    uint8_t *data = fixture_load(path, &size);
    tg_err err = {0};
    tg_image *img;
    tg_buf out = {0};

    tile = find_tile(data, size);
    CHECK(tile > 0);
    memcpy(data + tile + at, bytes, n);
    fixture_save(path, data, size);
    img = fixture_open(path, 0, &err);
    CHECK(img && !img->codec->stored_tile(img, 0, 0, 0, &out, &err));
    CHECK_INT(err.kind, TG_ERR_NOT_IMPLEMENTED);
    CHECK_INT(out.len, 0);
    if (err.kind != TG_ERR_NOT_IMPLEMENTED)
        printf("  %s: %s %s\n", what, err.msg, err.detail);
    tg_buf_free(&out);
    tg_image_close(img);
    free(data);
}

static void check_refusals(void)
{
    static const char hole[80];

    check_refused("no SOI", 0, LIT("\0"));
    check_refused("progressive", 2, LIT("\xff\xc2"));
    check_refused("lossless", 2, LIT("\xff\xc3"));
    check_refused("12 bit", 6, LIT("\14"));
    check_refused("another height", 7, LIT("\0\100\0\60"));
    check_refused("another width", 7, LIT("\0\60\0\100"));
    check_refused("four components", 11, LIT("\4"));
    check_refused("sampling 0", 13, LIT("\0"));
    check_refused("a table that is not there", 14, LIT("\3"));
    check_refused("the end marker half way", 60, LIT("\xff\xd9"));
    check_refused("a restart that is not due", 60, LIT("\xff\xd0"));
    check_refused("a hole of zeros", 60, hole, sizeof hole);
}

int main(void)
{
    fixture_init();
    check_all("--size 300x200 --tile 64x64 --compression jpeg", TG_STORED_JPEG);
    check_all("--size 300x200 --tile 64x32 --compression jpeg --subsampling 1x1", TG_STORED_JPEG);
    check_all("--size 300x200 --tile 64x64 --compression jpeg --no-tables", TG_STORED_JPEG);
    check_all("--size 256x128 --tile 64x64 --compression jpeg --photometric rgb", TG_STORED_JPEG);
    check_all("--size 256x128 --tile 64x64 --compression jpeg --photometric rgb --no-tables",
              TG_STORED_JPEG);
    check_all("--size 256x128 --tile 64x64 --compression jpeg --photometric gray", TG_STORED_JPEG);
    check_all("--size 300x200 --tile 64x64 --compression webp", TG_STORED_WEBP);
    check_all("--size 300x200 --tile 64x64 --compression webp --quality 100 --alpha unassoc",
              TG_STORED_WEBP);
    check_head("--size 128x128 --tile 64x64 --compression jpeg", 0, LIT(JFIF "\0\0\1\0\1\0\0"));
    check_head("--size 128x128 --tile 64x64 --compression jpeg --photometric gray --dpi 300", 0,
               LIT(JFIF "\1\1\54\1\54\0\0"));
    check_head("--size 128x128 --tile 64x64 --compression jpeg --dpi 300", 1,
               LIT(JFIF "\1\0\226\0\226\0\0"));
    check_head("--size 128x128 --tile 64x64 --compression jpeg --photometric rgb", 0, LIT(ADOBE));
    check_refusals();
    return check_done();
}
