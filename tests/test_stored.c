/* Stored tiles as they stand: complete streams that a decoder knowing nothing of TIFF shows the
 * same as read() does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <tiffio.h>
#include <webp/decode.h>

#include "check.h"
#include "fixture.h"
#include "tegula/num.h"

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

static tg_rect visible(const tg_level *lv, uint32_t col, uint32_t row)
{
    uint32_t x = col * lv->tile_w_px, y = row * lv->tile_h_px;

    return (tg_rect){x, y, TG_MIN(lv->tile_w_px, lv->width_px - x),
                     TG_MIN(lv->tile_h_px, lv->height_px - y)};
}

static bool is_whole(const tg_level *lv, tg_rect r)
{
    return r.w == lv->tile_w_px && r.h == lv->tile_h_px;
}

/* Chroma is smoothed across its neighbours, by a quarter of the step to them: at a cut the last
 * column and row lack one, and libjpeg does not smooth rows of one or two samples at all. */
static unsigned allowed(const tg_level *lv, tg_rect r, uint32_t x, uint32_t y)
{
    if (r.w < lv->tile_w_px && r.w <= 4)
        return 256 / 4;
    return (r.w < lv->tile_w_px && x + 1 == r.w) || (r.h < lv->tile_h_px && y + 1 == r.h) ? 16 : 0;
}

static unsigned wrong_samples(const tg_level *lv, tg_rect r, const uint8_t *a, const uint8_t *b,
                              unsigned channels)
{
    unsigned wrong = 0;

    for (uint32_t y = 0; y < r.h; y++)
        for (uint32_t x = 0; x < r.w; x++)
            for (unsigned c = 0; c < channels; c++, a++, b++)
                wrong += (unsigned)abs(*a - *b) > allowed(lv, r, x, y);
    return wrong;
}

static void compare(tg_image *img, unsigned level, uint32_t col, uint32_t row, const uint8_t *px,
                    uint32_t w, uint32_t h, unsigned channels)
{
    const tg_level *lv = &img->level[level];
    tg_rect r = visible(lv, col, row);
    tg_err err = {0};
    uint8_t *want = fixture_read(img, level, 0, r, &err);

    CHECK_INT(w, r.w);
    CHECK_INT(h, r.h);
    CHECK_INT(channels, img->fmt.channels);
    CHECK(want && px);
    if (want && px && w == r.w && h == r.h)
        CHECK_INT(wrong_samples(lv, r, want, px, channels), 0);
    free(want);
}

/* A stream down to its coefficients. */
typedef struct stream {
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    jvirt_barray_ptr *coefficients;
} stream;

static void open_stream(stream *s, const uint8_t *tables, size_t n_tables, const uint8_t *data,
                        size_t n)
{
    s->cinfo.err = jpeg_std_error(&s->errors);
    jpeg_create_decompress(&s->cinfo);
    if (n_tables) {
        jpeg_mem_src(&s->cinfo, tables, n_tables);
        jpeg_read_header(&s->cinfo, FALSE);
    }
    jpeg_mem_src(&s->cinfo, data, n);
    jpeg_read_header(&s->cinfo, TRUE);
    s->coefficients = jpeg_read_coefficients(&s->cinfo);
}

static const JCOEF *block_row(stream *s, int component, JDIMENSION y)
{
    return s->cinfo.mem->access_virt_barray((j_common_ptr)&s->cinfo, s->coefficients[component], y,
                                            1, FALSE)[0][0];
}

/* Every block of what was sent is the stored one, bit by bit, as are the tables behind it. */
static void compare_coefficients(stream *sent, stream *stored)
{
    CHECK_INT(sent->cinfo.num_components, stored->cinfo.num_components);
    for (int c = 0; c < sent->cinfo.num_components; c++) {
        const jpeg_component_info *a = &sent->cinfo.comp_info[c], *b = &stored->cinfo.comp_info[c];

        CHECK_INT(a->component_id, b->component_id);
        CHECK_INT(a->h_samp_factor, b->h_samp_factor);
        CHECK_INT(a->v_samp_factor, b->v_samp_factor);
        CHECK(memcmp(sent->cinfo.quant_tbl_ptrs[a->quant_tbl_no]->quantval,
                     stored->cinfo.quant_tbl_ptrs[b->quant_tbl_no]->quantval,
                     sizeof(UINT16[DCTSIZE2])) == 0);
        CHECK(a->width_in_blocks <= b->width_in_blocks &&
              a->height_in_blocks <= b->height_in_blocks);
        for (JDIMENSION y = 0; y < a->height_in_blocks; y++)
            CHECK(memcmp(block_row(sent, c, y), block_row(stored, c, y),
                         a->width_in_blocks * sizeof(JBLOCK)) == 0);
    }
}

/* The file as libtiff has it, for the level whose directory is number `level`. */
static void check_coefficients(const tg_level *lv, unsigned level, uint32_t col, uint32_t row,
                               const tg_buf *out)
{
    TIFF *tif = TIFFOpen(fixture_path("stored.tif"), "r");
    uint32_t n_tables = 0, tile = row * lv->cols + col;
    void *tables = NULL;
    stream sent, stored;

    CHECK(tif && TIFFSetDirectory(tif, (tdir_t)level));
    TIFFGetField(tif, TIFFTAG_JPEGTABLES, &n_tables, &tables);
    tmsize_t n = (tmsize_t)TIFFGetStrileByteCount(tif, tile);
    uint8_t *data = malloc((size_t)n);
    CHECK(data && TIFFReadRawTile(tif, tile, data, n) == n);
    open_stream(&sent, NULL, 0, out->data + 3, out->len - 3);
    open_stream(&stored, tables, n_tables, data, (size_t)n);
    compare_coefficients(&sent, &stored);
    CHECK_INT(sent.cinfo.progressive_mode, 0);
    CHECK_INT(sent.errors.num_warnings, 0);
    jpeg_destroy_decompress(&sent.cinfo);
    jpeg_destroy_decompress(&stored.cinfo);
    free(data);
    TIFFClose(tif);
}

static void check_jpeg(tg_image *img, unsigned level, uint32_t col, uint32_t row, const tg_buf *out)
{
    uint32_t w, h;
    unsigned channels;
    uint8_t *px = decode_jpeg(out->data + 3, out->len - 3, &w, &h, &channels);

    CHECK(out->data[out->len - 2] == 0xff && out->data[out->len - 1] == 0xd9);
    compare(img, level, col, row, px, w, h, channels);
    check_coefficients(&img->level[level], level, col, row, out);
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

/* Every tile of every level: all of JPEG can be sent, only the whole ones of WebP. */
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
            bool can = kind == TG_STORED_JPEG || is_whole(lv, visible(lv, col, row));
            tg_err tile_err = {0};

            tg_buf_reset(&out);
            tg_buf_append(&out, "abc", 3); /* what is there stays */
            CHECK_INT(img->codec->stored_tile(img, l, col, row, &out, &tile_err), can);
            CHECK(out.len >= 3 && memcmp(out.data, "abc", 3) == 0);
            if (!can) {
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

/* The picture with n bytes of its only tile changed, from `at` bytes after the tile's start on. */
static tg_image *open_changed(const char *args, size_t at, const char *bytes, size_t n)
{
    size_t size, tile;
    const char *path = fixture_make("bad.tif", args);
    uint8_t *data = fixture_load(path, &size);
    tg_err err = {0};

    tile = find_tile(data, size);
    CHECK(tile > 0);
    memcpy(data + tile + at, bytes, n);
    fixture_save(path, data, size);
    free(data);
    return fixture_open(path, 0, &err);
}

static void check_not_sent(const char *what, tg_image *img)
{
    tg_err err = {0};
    tg_buf out = {0};

    CHECK(img && !img->codec->stored_tile(img, 0, 0, 0, &out, &err));
    CHECK_INT(err.kind, TG_ERR_NOT_IMPLEMENTED);
    CHECK_INT(out.len, 0);
    if (err.kind != TG_ERR_NOT_IMPLEMENTED)
        printf("  %s: %s %s\n", what, err.msg, err.detail);
    tg_buf_free(&out);
}

/* Such a tile must not be sent, but fall to the decoder: whole or at the edge. */
static void check_refused(const char *what, size_t at, const char *bytes, size_t n)
{
    static const char *const args[] = {"--size 64x64 --tile 64x64 --compression jpeg",
                                       "--size 50x49 --tile 64x64 --compression jpeg"};

    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
        tg_image *img = open_changed(args[i], at, bytes, n);

        check_not_sent(what, img);
        tg_image_close(img);
    }
}

static void check_refusals(void)
{
    static const char hole[80];

    check_refused("no SOI", 0, LIT("\0"));
    check_refused("progressive", 2, LIT("\xff\xc2"));
    check_refused("lossless", 2, LIT("\xff\xc3"));
    check_refused("12 bit", 6, LIT("\14"));
    check_refused("another width", 7, LIT("\0\100\0\60"));
    check_refused("another height", 7, LIT("\0\60\0\100"));
    check_refused("four components", 11, LIT("\4"));
    check_refused("sampling 0", 13, LIT("\0"));
    check_refused("a table that is not there", 14, LIT("\3"));
    check_refused("the end marker half way", 60, LIT("\xff\xd9"));
    check_refused("a restart that is not due", 60, LIT("\xff\xd0"));
    check_refused("a hole of zeros", 60, hole, sizeof hole);
}

/* Subsampled chroma in a directory that says RGB: the stream is believed, and not sent behind a
 * marker that says RGB, too. */
static void check_ycc_as_rgb(void)
{
    static const char args[] = "--size 64x64 --tile 64x64 --compression jpeg --subsampling 2x2";
    static const uint8_t ycc[] = {6, 1, 3, 0, 1, 0, 0, 0, 6, 0}; /* PhotometricInterpretation */
    tg_err err = {0};
    size_t size, at = 0;
    uint8_t *data, *want, *got;
    tg_image *img = fixture_open(fixture_make("ycc.tif", args), 0, &err);

    want = fixture_read(img, 0, 0, fixture_whole(img, 0, 0), &err);
    tg_image_close(img);
    data = fixture_load(fixture_path("ycc.tif"), &size);
    while (at + sizeof ycc < size && memcmp(data + at, ycc, sizeof ycc) != 0)
        at++;
    data[at + 8] = PHOTOMETRIC_RGB;
    fixture_save(fixture_path("bad.tif"), data, size);
    img = fixture_open(fixture_path("bad.tif"), 0, &err);
    check_not_sent("subsampled RGB", img);
    got = fixture_read(img, 0, 0, fixture_whole(img, 0, 0), &err);
    CHECK(want && got && memcmp(want, got, (size_t)64 * 64 * 3) == 0);
    tg_image_close(img);
    free(data);
    free(want);
    free(got);
}

/* Data that ends early behind sound headers; zeros up to the end could be a writer's. At the edge
 * it is seen when it concerns what is shown, and only then. */
static void check_early_end(void)
{
    static const char args[] = "--picture sample --size 60x24 --tile 64x64 --compression jpeg";
    char end[1 << 14] = "\xff\xd9";
    size_t size, tile, n;
    uint8_t *data = fixture_load(fixture_make("bad.tif", args), &size), *px;
    tg_err err = {0};
    tg_image *img;
    tg_buf out = {0};

    tile = find_tile(data, size);
    for (n = 0; data[tile + n] != 0xff || data[tile + n + 1] != 0xd9; n++)
        ;
    free(data);
    img = open_changed(args, 60, end, n + 2 - 60);
    check_not_sent("data that ends early", img);
    px = fixture_read(img, 0, 0, fixture_whole(img, 0, 0), &err);
    CHECK(!px);
    CHECK_INT(err.kind, TG_ERR_CORRUPT);
    tg_image_close(img);

    err = (tg_err){0};
    img = open_changed(args, n - 8, end, 10);
    CHECK(img && img->codec->stored_tile(img, 0, 0, 0, &out, &err));
    px = fixture_read(img, 0, 0, fixture_whole(img, 0, 0), &err);
    CHECK(px);
    tg_image_close(img);
    free(px);
    tg_buf_free(&out);
}

/* A code for an AC value of 11 bits: allowed only in JPEG of 12 bit (T.81, table F.2), so the
 * tables the result is written with have none. */
static void check_large_values(void)
{
    static const char args[] = "--size 50x41 --tile 64x64 --compression jpeg";
    size_t size, at = 0;
    uint8_t *data = fixture_load(fixture_make("bad.tif", args), &size), *px;
    tg_err err = {0};
    tg_image *img;

    for (size_t i = 8; i + 3 < size; i++)
        if (memcmp(data + i, "\xf8\xf9\xfa", 3) == 0)
            at = i + 2; /* the last symbol of table K.5 or K.6 */
    CHECK(at > 0);
    data[at] = 0xfb;
    fixture_save(fixture_path("bad.tif"), data, size);
    img = fixture_open(fixture_path("bad.tif"), 0, &err);
    check_not_sent("11-bit AC", img);
    px = fixture_read(img, 0, 0, fixture_whole(img, 0, 0), &err);
    CHECK(px);
    tg_image_close(img);
    free(px);
    free(data);
}

/* Edges of one pixel, in the middle of a block, between blocks and between MCUs, in every way of
 * storing colour. */
static void check_edges(void)
{
    static const char *const kinds[] = {
        "--subsampling 1x1", "--subsampling 2x1", "--subsampling 1x2", "--subsampling 2x2",
        "--subsampling 4x1", "--subsampling 4x2", "--photometric rgb", "--photometric gray"};
    static const char *const sizes[] = {"65x129", "129x65", "107x83", "136x72", "160x96", "67x66"};

    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            char args[160];

            snprintf(args, sizeof args,
                     "--size %s --tile 64x64 --max-levels 2 --compression jpeg %s", sizes[s],
                     kinds[k]);
            check_all(args, TG_STORED_JPEG);
        }
}

int main(void)
{
    fixture_init();
    check_edges();
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
    check_head("--size 60x50 --tile 64x64 --compression jpeg --dpi 300", 0,
               LIT(JFIF "\1\1\54\1\54\0\0"));
    check_head("--size 60x50 --tile 64x64 --compression jpeg --photometric gray", 0,
               LIT(JFIF "\0\0\1\0\1\0\0"));
    check_head("--size 60x50 --tile 64x64 --compression jpeg --photometric rgb", 0, LIT(ADOBE));
    check_refusals();
    check_ycc_as_rgb();
    check_early_end();
    check_large_values();
    return check_done();
}
