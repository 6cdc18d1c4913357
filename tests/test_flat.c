/* Pictures in one piece: what is read of JPEG, PNG, WebP and GIF files, whole, in parts, reduced,
 * again and from the cache, against libjpeg or the pixels that went in; damaged files; headers. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jpeglib.h>
#include <lcms2.h>
#include <png.h>
#include <webp/encode.h>

#include "check.h"
#include "fixture.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/tile_cache.h"

#define W 453
#define H 331

/* Smooth waves with some edges; another in every channel. */
static uint8_t sample(uint32_t x, uint32_t y, unsigned c)
{
    double wave = sin(x / (9.0 + 3 * c)) + cos(y / (13.0 - 2 * c));
    bool mark = (x / 40 + y / 24 + c) % 7 == 0;

    return (uint8_t)(128 + 50 * wave + (mark ? 20 : -20));
}

static uint8_t *paint(uint32_t w, uint32_t h, unsigned channels)
{
    uint8_t *px = malloc((size_t)w * h * channels), *p = px;

    if (!px)
        abort();
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++)
            for (unsigned c = 0; c < channels; c++)
                *p++ = sample(x, y, c);
    return px;
}

/* -- JPEG files */

typedef struct jpeg_spec {
    int components, h_factor, v_factor; /* of the first; the others have 1 x 1 */
    bool progressive, arithmetic, rgb;
    int restart_rows;
    const jpeg_scan_info *scans; /* of a script of one's own */
    int n_scans;
    void (*extra)(struct jpeg_compress_struct *cinfo); /* markers */
} jpeg_spec;

static void set_kind(struct jpeg_compress_struct *cinfo, const jpeg_spec *s)
{
    jpeg_set_defaults(cinfo);
    if (s->rgb)
        jpeg_set_colorspace(cinfo, JCS_RGB);
    cinfo->comp_info[0].h_samp_factor = s->h_factor;
    cinfo->comp_info[0].v_samp_factor = s->v_factor;
    cinfo->arith_code = s->arithmetic;
    cinfo->restart_in_rows = s->restart_rows;
    if (s->progressive)
        jpeg_simple_progression(cinfo);
    if (s->scans) {
        cinfo->scan_info = s->scans;
        cinfo->num_scans = s->n_scans;
    }
}

static const char *make_jpeg(const char *name, uint32_t w, uint32_t h, const jpeg_spec *s)
{
    static const J_COLOR_SPACE spaces[] = {[1] = JCS_GRAYSCALE, [3] = JCS_RGB, [4] = JCS_CMYK};
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    unsigned char *data = NULL;
    unsigned long n = 0;
    uint8_t *px = paint(w, h, (unsigned)s->components);
    const char *path = fixture_path(name);

    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, &data, &n);
    cinfo.image_width = w;
    cinfo.image_height = h;
    cinfo.input_components = s->components;
    cinfo.in_color_space = spaces[s->components];
    set_kind(&cinfo, s);
    jpeg_start_compress(&cinfo, TRUE);
    if (s->extra)
        s->extra(&cinfo);
    while (cinfo.next_scanline < h) {
        JSAMPROW row = px + (size_t)cinfo.next_scanline * w * (unsigned)s->components;
        jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    fixture_save(path, data, n);
    free(data);
    free(px);
    return path;
}

/* By libjpeg alone, in one go. CMYK as tegula gives it. */
static uint8_t *by_libjpeg(const char *path, unsigned k, uint32_t *w, uint32_t *h)
{
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    size_t n, bytes;
    uint8_t *data = fixture_load(path, &n), *px;

    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, data, n);
    jpeg_read_header(&cinfo, TRUE);
    cinfo.scale_denom = 1u << k;
    jpeg_start_decompress(&cinfo);
    *w = cinfo.output_width;
    *h = cinfo.output_height;
    bytes = (size_t)*w * (unsigned)cinfo.output_components;
    px = malloc(bytes * *h);
    while (px && cinfo.output_scanline < *h) {
        JSAMPROW row = px + cinfo.output_scanline * bytes;
        jpeg_read_scanlines(&cinfo, &row, 1);
    }
    for (size_t i = 0; px && cinfo.output_components == 4 && i < bytes * *h; i++)
        px[i] = (uint8_t)~px[i];
    jpeg_destroy_decompress(&cinfo);
    free(data);
    return px;
}

/* -- reading */

static tg_image *open_as(const char *path, bool lenient, tg_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t n = lseek(fd, 0, SEEK_END);
    tg_read_options options = {.lenient = lenient};
    tg_image *img = tg_image_open(fd, (uint64_t)n, 0, &options, err);

    if (!img)
        close(fd);
    return img;
}

/* As native says, rows packed; NULL with err. */
static uint8_t *read_native(tg_image *img, unsigned k, tg_rect rect, uint32_t band, tg_err *err)
{
    size_t stride = rect.w * tg_native_bytes(img->native);
    uint8_t *px = malloc(stride * rect.h + 1);
    bool ok = px != NULL;

    for (uint32_t y = 0; ok && y < rect.h; y += band) {
        tg_rect part = {rect.x, rect.y + y, rect.w, TG_MIN(band, rect.h - y)};
        ok = img->codec->read(img, 0, k, part, px + y * stride, stride, err);
    }
    if (ok)
        return px;
    free(px);
    return NULL;
}

static bool same_rect(const uint8_t *part, const uint8_t *whole, uint32_t whole_w, tg_rect r,
                      size_t px_bytes)
{
    for (uint32_t y = 0; y < r.h; y++)
        if (memcmp(part + y * r.w * px_bytes, whole + ((r.y + y) * whole_w + r.x) * px_bytes,
                   r.w * px_bytes) != 0)
            return false;
    return true;
}

/* Whole in bands and random parts, without the cache and with one that holds little or all. */
static void check_parts(int line, tg_image *img, unsigned k, const uint8_t *want, uint32_t want_w)
{
    static const size_t budgets[] = {0, 400000, 100000000};
    size_t px_bytes = tg_native_bytes(img->native);
    tg_rect whole = fixture_whole(img, 0, k);

    for (unsigned i = 0; i < 12; i++) {
        tg_rect r = whole;
        tg_err err = {0};
        uint8_t *got;

        if (i > 2) {
            r.w = 1 + fixture_random(whole.w);
            r.h = 1 + fixture_random(whole.h);
            r.x = fixture_random(whole.w - r.w + 1);
            r.y = fixture_random(whole.h - r.h + 1);
        }
        tg_tile_cache_set_budget(budgets[i % 3]);
        img->keep_tiles = budgets[i % 3] > 0;
        got = read_native(img, k, r, 1 + fixture_random(100), &err);
        CHECK_ROW(line, got && same_rect(got, want, want_w, r, px_bytes),
                  "%s k %u: %u x %u at %u, %u of %u x %u differs: %s", img->codec->name, k, r.w,
                  r.h, r.x, r.y, whole.w, whole.h, err.msg);
        if (i % 4 == 3)
            tg_image_rest(img);
        free(got);
    }
    tg_tile_cache_set_budget(0);
}

static void test_jpeg_kinds(void)
{
    static const struct {
        int line;
        jpeg_spec spec;
    } rows[] = {
        {__LINE__, {.components = 1, .h_factor = 1, .v_factor = 1}},
        {__LINE__, {.components = 1, .h_factor = 2, .v_factor = 2}},
        {__LINE__, {.components = 3, .h_factor = 1, .v_factor = 1}},
        {__LINE__, {.components = 3, .h_factor = 2, .v_factor = 1}},
        {__LINE__, {.components = 3, .h_factor = 1, .v_factor = 2}},
        {__LINE__, {.components = 3, .h_factor = 2, .v_factor = 2}},
        {__LINE__, {.components = 3, .h_factor = 4, .v_factor = 1}},
        {__LINE__, {.components = 3, .h_factor = 4, .v_factor = 2}},
        {__LINE__, {.components = 3, .h_factor = 1, .v_factor = 1, .rgb = true}},
        {__LINE__, {.components = 3, .h_factor = 2, .v_factor = 2, .restart_rows = 1}},
        {__LINE__, {.components = 3, .h_factor = 2, .v_factor = 2, .progressive = true}},
        {__LINE__, {.components = 1, .h_factor = 1, .v_factor = 1, .progressive = true}},
        {__LINE__, {.components = 3, .h_factor = 2, .v_factor = 1, .arithmetic = true}},
        {__LINE__, {.components = 4, .h_factor = 1, .v_factor = 1}},
        {__LINE__, {.components = 4, .h_factor = 2, .v_factor = 2, .progressive = true}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const jpeg_spec *s = &rows[i].spec;
        const char *path = make_jpeg("kind.jpg", W, H, s);
        tg_err err = {0};
        tg_image *img = open_as(path, false, &err);

        CHECK_ROW(rows[i].line, img, "%s", err.msg);
        if (!img)
            continue;
        CHECK_INT(img->level[0].width_px, W);
        CHECK_INT(img->level[0].height_px, H);
        CHECK_INT(tg_native_channels(img->native), s->components);
        CHECK_INT(img->level[0].max_reduction, s->h_factor >= 4 * s->v_factor ? 0 : 3);
        for (unsigned k = 0; k <= img->level[0].max_reduction; k++) {
            uint32_t w, h;
            uint8_t *want = by_libjpeg(path, k, &w, &h);

            check_parts(rows[i].line, img, k, want, w);
            free(want);
        }
        tg_image_close(img);
    }
}

/* -- PNG and WebP files */

typedef struct png_spec {
    int type, bits;
    bool interlaced;
} png_spec;

static void write_png(const char *path, const png_spec *s, uint8_t *px, size_t row_bytes,
                      void (*extra)(png_structp png))
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    FILE *f = fopen(path, "wb");

    if (!f)
        abort();
    png_init_io(png, f);
    png_set_IHDR(png, info, W, H, s->bits, s->type,
                 s->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    if (extra)
        extra(png);
    if (s->bits == 16)
        png_set_swap(png); /* this is run on little-endian machines */
    for (int pass = png_set_interlace_handling(png); pass > 0; pass--)
        for (uint32_t y = 0; y < H; y++)
            png_write_row(png, px + y * row_bytes);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(f);
}

static void test_png_kinds(void)
{
    static const png_spec specs[] = {
        {PNG_COLOR_TYPE_GRAY, 8, false},      {PNG_COLOR_TYPE_GRAY, 8, true},
        {PNG_COLOR_TYPE_GRAY, 16, false},     {PNG_COLOR_TYPE_GRAY_ALPHA, 8, true},
        {PNG_COLOR_TYPE_RGB, 8, false},       {PNG_COLOR_TYPE_RGB, 16, true},
        {PNG_COLOR_TYPE_RGB_ALPHA, 8, false}, {PNG_COLOR_TYPE_RGB_ALPHA, 16, false},
    };

    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        const png_spec *s = &specs[i];
        unsigned channels =
            (s->type & PNG_COLOR_MASK_COLOR ? 3u : 1u) + (s->type & PNG_COLOR_MASK_ALPHA ? 1u : 0u);
        uint8_t *px = paint(W, H, channels * (unsigned)s->bits / 8);
        const char *path = fixture_path("kind.png");
        tg_err err = {0};
        tg_image *img;

        write_png(path, s, px, (size_t)W * channels * (unsigned)s->bits / 8, NULL);
        img = open_as(path, false, &err);
        CHECK_ROW(__LINE__, img, "%zu: %s", i, err.msg);
        if (img) {
            CHECK_INT(tg_native_channels(img->native), channels);
            CHECK_INT(img->native.bits, s->bits);
            check_parts(__LINE__, img, 0, px, W);
            tg_image_close(img);
        }
        free(px);
    }
}

/* Fewer bits: v of n bits becomes v * 255 / (2^n - 1) (PNG, 13.12). */
static void test_png_few_bits(void)
{
    for (int bits = 1; bits <= 4; bits *= 2) {
        static uint8_t px[H][W];
        size_t per_byte = 8 / (size_t)bits, row_bytes = (W + per_byte - 1) / per_byte;
        unsigned most = (1u << bits) - 1;
        uint8_t *packed = calloc(H, row_bytes);
        png_spec s = {PNG_COLOR_TYPE_GRAY, bits, bits == 2};
        const char *path = fixture_path("few.png");
        tg_err err = {0};
        tg_image *img;

        if (!packed)
            abort();
        for (uint32_t y = 0; y < H; y++)
            for (uint32_t x = 0; x < W; x++) {
                unsigned v = (x * 7 + y * 3) & most;
                packed[y * row_bytes + x / per_byte] |=
                    (uint8_t)(v << (8 - bits - (int)(x % per_byte) * bits));
                px[y][x] = (uint8_t)(v * 255 / most);
            }
        write_png(path, &s, packed, row_bytes, NULL);
        img = open_as(path, false, &err);
        CHECK(img != NULL);
        if (img) {
            CHECK_INT(img->stored_bits, bits);
            check_parts(__LINE__, img, 0, &px[0][0], W);
            tg_image_close(img);
        }
        free(packed);
    }
}

static const char *make_webp(const char *name, const uint8_t *rgb, float quality)
{
    const char *path = fixture_path(name);
    uint8_t *data = NULL;
    size_t n = quality < 0 ? WebPEncodeLosslessRGB(rgb, W, H, 3 * W, &data)
                           : WebPEncodeRGB(rgb, W, H, 3 * W, quality, &data);

    fixture_save(path, data, n);
    WebPFree(data);
    return path;
}

/* Mean of the square that a reduced pixel stands for. */
static double mean(const uint8_t *px, uint32_t x, uint32_t y, unsigned c, unsigned k)
{
    unsigned sum = 0;

    for (uint32_t i = 0; i < 1u << k; i++)
        for (uint32_t j = 0; j < 1u << k; j++)
            sum += px[(((y << k) + i) * W + (x << k) + j) * 3 + c];
    return (double)sum / (double)(1u << 2 * k);
}

static void check_means(tg_image *img, const uint8_t *full, unsigned k, double most)
{
    tg_rect whole = fixture_whole(img, 0, k);
    tg_err err = {0};
    uint8_t *got = read_native(img, k, whole, whole.h, &err);
    double worst = 0;

    CHECK(got != NULL);
    for (uint32_t y = 0; got && y < whole.h; y++)
        for (uint32_t x = 0; x < whole.w; x++)
            for (unsigned c = 0; c < 3; c++)
                worst = fmax(worst, fabs(got[(y * whole.w + x) * 3 + c] - mean(full, x, y, c, k)));
    CHECK_ROW(__LINE__, worst <= most, "k %u: %g levels from the mean", k, worst);
    check_parts(__LINE__, img, k, got, whole.w);
    free(got);
}

static void test_webp(void)
{
    uint8_t *px = paint(W, H, 3);

    for (int lossy = 0; lossy < 2; lossy++) {
        tg_err err = {0};
        tg_image *img = open_as(make_webp("kind.webp", px, lossy ? 20 : -1), false, &err);
        tg_rect whole = {0, 0, W, H};
        uint8_t *full = img ? read_native(img, 0, whole, H, &err) : NULL;

        CHECK(full != NULL);
        CHECK(lossy || memcmp(full, px, (size_t)3 * W * H) == 0);
        check_parts(__LINE__, img, 0, full, W);
        /* Lossy: chroma is averaged as stored, not as smoothly spread. */
        for (unsigned k = 1; k <= 3; k++)
            check_means(img, full, k, lossy ? 12 : 0.51);
        tg_image_close(img);
        free(full);
    }
    free(px);
}

/* -- damage */

static void check_corrupt(int line, const char *path)
{
    tg_err err = {0};
    tg_image *img = open_as(path, false, &err);

    if (img) {
        uint8_t *got = read_native(img, 0, fixture_whole(img, 0, 0), 64, &err);
        CHECK_ROW(line, !got, "it was read");
        free(got);
        tg_image_close(img);
    }
    CHECK_ROW(line, err.kind == TG_ERR_CORRUPT, "%s: %s", tg_err_kind_name(err.kind), err.msg);
}

/* With damage overlooked: the same above row `from`, all white below row `to`. */
static void check_lenient(int line, const char *path, const uint8_t *want, uint32_t from,
                          uint32_t to)
{
    tg_err err = {0};
    tg_image *img = open_as(path, true, &err);
    uint8_t *got = img ? read_native(img, 0, fixture_whole(img, 0, 0), 50, &err) : NULL;
    size_t row = img ? (size_t)W * tg_native_bytes(img->native) : 0;
    bool white = true;

    CHECK_ROW(line, got, "%s", err.msg);
    for (size_t i = to * row; got && i < H * row; i++)
        white = white && got[i] == 255;
    CHECK_ROW(line, !got || memcmp(got, want, from * row) == 0, "what there is differs");
    CHECK_ROW(line, white, "the rest is not white");
    free(got);
    if (img)
        tg_image_close(img);
}

static const char *cut(const char *path, const char *name, double share)
{
    const char *to = fixture_path(name);
    size_t n;
    uint8_t *data = fixture_load(path, &n);

    fixture_save(to, data, (size_t)((double)n * share));
    free(data);
    return to;
}

static void test_cut_short(void)
{
    static const jpeg_spec baseline = {.components = 3, .h_factor = 2, .v_factor = 2},
                           progressive = {.components = 3,
                                          .h_factor = 2,
                                          .v_factor = 2,
                                          .progressive = true},
                           arithmetic = {
                               .components = 1, .h_factor = 1, .v_factor = 1, .arithmetic = true};
    static const png_spec rgb = {PNG_COLOR_TYPE_RGB, 8, false};
    const char *path = make_jpeg("whole.jpg", W, H, &baseline);
    uint32_t w, h;
    uint8_t *want = by_libjpeg(path, 0, &w, &h), *px = paint(W, H, 3);

    check_corrupt(__LINE__, cut(path, "cut.jpg", 0.5));
    /* Half of the data are about half of the rows; MCUs of 16. */
    check_lenient(__LINE__, cut(path, "cut.jpg", 0.5), want, H * 2 / 5 / 16 * 16, H * 3 / 5);
    check_corrupt(__LINE__, cut(make_jpeg("p.jpg", W, H, &progressive), "cut.jpg", 0.5));
    check_corrupt(__LINE__, cut(make_jpeg("a.jpg", W, H, &arithmetic), "cut.jpg", 0.5));
    check_corrupt(__LINE__, cut(path, "cut.jpg", 0.01));
    free(want);
    path = fixture_path("whole.png");
    write_png(path, &rgb, px, 3 * W, NULL);
    check_corrupt(__LINE__, cut(path, "cut.png", 0.5));
    check_lenient(__LINE__, cut(path, "cut.png", 0.5), px, H / 3, H * 2 / 3);
    path = make_webp("whole.webp", px, -1);
    check_corrupt(__LINE__, cut(path, "cut.webp", 0.5));
    check_lenient(__LINE__, cut(path, "cut.webp", 0.5), px, H / 4, H * 3 / 4);
    free(px);
}

/* Each coefficient in a scan of its own, then refined: all valid, and ever more work. */
static void test_many_scans(void)
{
    static jpeg_scan_info scans[1 + 63 * 4];
    jpeg_spec s = {.components = 1, .h_factor = 1, .v_factor = 1, .scans = scans};

    scans[s.n_scans++] = (jpeg_scan_info){1, {0}, 0, 0, 0, 0};
    for (int low = 3; low >= 0; low--) {
        for (int i = 1; i < 64; i++)
            scans[s.n_scans++] = (jpeg_scan_info){1, {0}, i, i, low == 3 ? 0 : low + 1, low};
        if (low == 3) { /* 64 scans of a small picture are no reason to refuse it */
            tg_err err = {0};
            tg_image *img = open_as(make_jpeg("scans.jpg", W, H, &s), false, &err);
            uint8_t *got = img ? read_native(img, 0, fixture_whole(img, 0, 0), 64, &err) : NULL;
            CHECK(got != NULL);
            free(got);
            tg_image_close(img);
        }
    }
    check_corrupt(__LINE__, make_jpeg("scans.jpg", W, H, &s));
}

/* -- headers */

static void put_icc(struct jpeg_compress_struct *cinfo, uint8_t number, uint8_t count, size_t n)
{
    uint8_t data[1014] = "ICC_PROFILE";

    data[12] = number;
    data[13] = count;
    memset(data + 14, 'a' + number, n);
    jpeg_write_marker(cinfo, JPEG_APP0 + 2, data, (unsigned)(14 + n));
}

static void chunks_any_order(struct jpeg_compress_struct *cinfo)
{
    put_icc(cinfo, 3, 3, 10);
    put_icc(cinfo, 1, 3, 1000);
    put_icc(cinfo, 2, 3, 500);
}

static void chunk_missing(struct jpeg_compress_struct *cinfo)
{
    put_icc(cinfo, 3, 3, 10);
    put_icc(cinfo, 1, 3, 1000);
}

static void chunk_twice(struct jpeg_compress_struct *cinfo)
{
    chunks_any_order(cinfo);
    put_icc(cinfo, 2, 3, 500);
}

static void chunk_out_of_range(struct jpeg_compress_struct *cinfo)
{
    put_icc(cinfo, 0, 1, 500);
}

static void test_jpeg_profile(void)
{
    static const struct {
        int line;
        void (*extra)(struct jpeg_compress_struct *cinfo);
        size_t n, limit;
    } rows[] = {
        {__LINE__, chunks_any_order, 1510, 1 << 20}, {__LINE__, chunks_any_order, 0, 1509},
        {__LINE__, chunk_missing, 0, 1 << 20},       {__LINE__, chunk_twice, 0, 1 << 20},
        {__LINE__, chunk_out_of_range, 0, 1 << 20},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        jpeg_spec s = {.components = 1, .h_factor = 1, .v_factor = 1, .extra = rows[i].extra};
        tg_err err = {0};
        tg_image *img = open_as(make_jpeg("icc.jpg", 16, 16, &s), false, &err);
        tg_buf out = {0};

        CHECK(img != NULL);
        img->codec->block(img, TG_BLOCK_ICC, rows[i].limit, &out);
        CHECK_ROW(rows[i].line, out.len == rows[i].n, "%zu bytes", out.len);
        if (out.len == 1510)
            CHECK(out.data[0] == 'b' && out.data[999] == 'b' && out.data[1000] == 'c' &&
                  out.data[1500] == 'd');
        tg_buf_free(&out);
        tg_image_close(img);
    }
}

static void megabytes(struct jpeg_compress_struct *cinfo)
{
    static uint8_t data[65533];

    for (int i = 0; i < 32; i++)
        jpeg_write_marker(cinfo, JPEG_APP0 + 13, data, sizeof data);
    memcpy(data, "Exif\0\0MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6", 26); /* orientation 6 */
    jpeg_write_marker(cinfo, JPEG_APP0 + 1, data, sizeof data);
}

/* What read(2) and its kin have brought so far. */
static long long bytes_read(void)
{
    long long n = -1;
    FILE *f = fopen("/proc/self/io", "r");

    if (f && fscanf(f, "rchar: %lld", &n) != 1)
        n = -1;
    if (f)
        fclose(f);
    return n;
}

static void test_headers_only(void)
{
    jpeg_spec s = {.components = 3, .h_factor = 2, .v_factor = 2, .extra = megabytes};
    const char *path = make_jpeg("long.jpg", 600, 500, &s);
    tg_err err = {0};
    long long before = bytes_read();
    tg_image *img = open_as(path, false, &err);
    long long n = bytes_read() - before;

    CHECK(img != NULL);
    CHECK_INT(img->orientation, 6);
    CHECK_INT(tg_image_width_px(img), 500);
    CHECK_ROW(__LINE__, before < 0 || n < 65536, "%lld bytes were read", n);
    tg_image_close(img);
}

static void put_chunk(png_structp png, const char *name, const uint32_t *values, size_t n)
{
    uint8_t data[32];

    for (size_t i = 0; i < 4 * n; i++)
        data[i] = (uint8_t)(values[i / 4] >> (24 - 8 * (i % 4)));
    png_write_chunk(png, (png_const_bytep)name, data, 4 * n);
}

static void linear_gamma(png_structp png)
{
    put_chunk(png, "gAMA", (const uint32_t[]){100000}, 1);
}

static void usual_gamma(png_structp png)
{
    put_chunk(png, "gAMA", (const uint32_t[]){45455}, 1);
    put_chunk(png, "cHRM",
              (const uint32_t[]){31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000}, 8);
}

static void absurd_gamma(png_structp png)
{
    put_chunk(png, "gAMA", (const uint32_t[]){0}, 1);
}

static void absurd_primaries(png_structp png)
{
    put_chunk(png, "cHRM", (const uint32_t[]){0, 0, 0, 0, 0, 0, 0, 0}, 8);
}

static void overruled_gamma(png_structp png)
{
    linear_gamma(png);
    png_write_chunk(png, (png_const_bytep) "sRGB", (png_const_bytep) "", 1);
}

/* Code points of H.273: sRGB's primaries, linear light; they overrule sRGB. */
static void linear_code_points(png_structp png)
{
    png_write_chunk(png, (png_const_bytep) "cICP", (png_const_bytep) "\1\10\0\1", 4);
    png_write_chunk(png, (png_const_bytep) "sRGB", (png_const_bytep) "", 1);
}

static void unspecified_code_points(png_structp png)
{
    png_write_chunk(png, (png_const_bytep) "cICP", (png_const_bytep) "\2\2\0\1", 4);
}

/* What sRGB shows a middle gray of the file's as; -1 without a profile. */
static int middle_gray(void (*extra)(png_structp png))
{
    static const png_spec s = {PNG_COLOR_TYPE_RGB, 8, false};
    uint8_t *px = paint(W, H, 3), gray[3] = {55, 55, 55};
    const char *path = fixture_path("gamma.png");
    tg_err err = {0};
    tg_buf out = {0};
    tg_image *img;
    int got = -1;

    write_png(path, &s, px, 3 * W, extra);
    img = open_as(path, false, &err);
    img->codec->block(img, TG_BLOCK_ICC, 1 << 20, &out);
    if (out.len > 0) {
        cmsHPROFILE from = cmsOpenProfileFromMem(out.data, (cmsUInt32Number)out.len);
        cmsHPROFILE to = cmsCreate_sRGBProfile();
        cmsHTRANSFORM t = cmsCreateTransform(from, TYPE_RGB_8, to, TYPE_RGB_8, 1, 0);

        cmsDoTransform(t, gray, gray, 1);
        CHECK(abs(gray[0] - gray[1]) <= 1 && abs(gray[0] - gray[2]) <= 1);
        got = gray[1];
        cmsDeleteTransform(t);
        cmsCloseProfile(from);
        cmsCloseProfile(to);
    }
    tg_image_close(img);
    tg_buf_free(&out);
    free(px);
    return got;
}

static void test_png_gamma(void)
{
    /* 55 / 255 of the light is 128 or so in sRGB: 1.055 (55 / 255)^(1 / 2.4) - 0.055 */
    int by_gamma = middle_gray(linear_gamma), by_code = middle_gray(linear_code_points);

    CHECK_ROW(__LINE__, abs(by_gamma - 128) <= 1, "%d", by_gamma);
    CHECK_ROW(__LINE__, abs(by_code - 128) <= 1, "%d", by_code);
    CHECK_INT(middle_gray(usual_gamma), -1);
    CHECK_INT(middle_gray(overruled_gamma), -1);
    CHECK_INT(middle_gray(unspecified_code_points), -1);
    CHECK_INT(middle_gray(absurd_gamma), -1);
    CHECK_INT(middle_gray(absurd_primaries), -1);
    CHECK_INT(middle_gray(NULL), -1);
}

/* -- memory */

static void test_rest(void)
{
    static const png_spec s = {PNG_COLOR_TYPE_RGB, 8, true};
    uint8_t *px = paint(W, H, 3), *got;
    const char *path = fixture_path("held.png");
    tg_err err = {0};
    size_t before = tg_image_in_use();
    tg_image *img;

    write_png(path, &s, px, 3 * W, NULL);
    img = open_as(path, false, &err);
    got = read_native(img, 0, (tg_rect){0, 0, 10, 10}, 10, &err);
    CHECK(got != NULL);
    CHECK(tg_image_in_use() - before >= (size_t)3 * W * H);
    tg_image_rest(img);
    CHECK(tg_image_in_use() - before < 65536);
    free(got);
    tg_image_set_ceiling(100000); /* less than the raster takes */
    CHECK(read_native(img, 0, (tg_rect){0, 0, 10, 10}, 10, &err) == NULL);
    CHECK_INT(err.kind, TG_ERR_TOO_LARGE);
    tg_image_set_ceiling((size_t)512 << 20);
    tg_image_close(img);
    free(px);
}

int main(void)
{
    fixture_init();
    test_jpeg_kinds();
    test_png_kinds();
    test_png_few_bits();
    test_webp();
    test_cut_short();
    test_many_scans();
    test_jpeg_profile();
    test_headers_only();
    test_png_gamma();
    test_rest();
    return check_done();
}
