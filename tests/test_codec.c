/* Pixels of every kind of TIFF file that mkpyramid writes, against the picture's definition; then
 * tiles, odd rectangles and reductions against the whole level. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixture.h"

enum { EXACT = 0 };

typedef struct kind {
    const char *args;
    unsigned channels, bits, levels;
    double tolerance; /* mean absolute difference from the ramp, in 8-bit steps */
} kind;

/* All pictures are ramps of 300x200: with tiles of 64 px the halved levels are 300, 150, 75, 37 px
 * wide (rounded down). */
#define T64 "--size 300x200 --tile 64x64 "
static const kind kinds[] = {
    {T64 "--compression none", 3, 8, 4, EXACT},
    {T64 "--compression none --endian big", 3, 8, 4, EXACT},
    {T64 "--compression none --bigtiff", 3, 8, 4, EXACT},
    {T64 "--compression none --bigtiff --endian big --levels subifd", 3, 8, 4, EXACT},
    {T64 "--compression lzw", 3, 8, 4, EXACT},
    {T64 "--compression lzw --predictor", 3, 8, 4, EXACT},
    {T64 "--compression deflate --levels subifd", 3, 8, 4, EXACT},
    {T64 "--compression deflate --predictor --bits 16", 3, 16, 4, EXACT},
    {T64 "--compression deflate --predictor --bits 16 --endian big", 3, 16, 4, EXACT},
    {T64 "--compression zstd --predictor", 3, 8, 4, EXACT},
    {T64 "--compression packbits", 3, 8, 4, EXACT},
    {T64 "--compression webp --quality 100", 3, 8, 4, EXACT},
    {T64 "--compression webp --quality 80", 3, 8, 4, 6},
    {T64 "--compression webp --quality 100 --alpha unassoc", 4, 8, 4, EXACT},
    {T64 "--photometric gray", 1, 8, 4, EXACT},
    {T64 "--photometric gray --bits 16", 1, 16, 4, EXACT},
    {T64 "--photometric miniswhite", 1, 8, 4, EXACT},
    {T64 "--photometric miniswhite --bits 16 --endian big", 1, 16, 4, EXACT},
    {T64 "--alpha unassoc", 4, 8, 4, EXACT},
    {T64 "--alpha unassoc --bits 16", 4, 16, 4, EXACT},
    {T64 "--photometric gray --alpha unassoc", 2, 8, 4, EXACT},
    {T64 "--photometric miniswhite --alpha unassoc", 2, 8, 4, EXACT},
    {T64 "--planar separate", 3, 8, 4, EXACT},
    {T64 "--planar separate --alpha unassoc --bits 16", 4, 16, 4, EXACT},
    {T64 "--pad 255", 3, 8, 4, EXACT},
    {"--size 300x200 --tile 64x32", 3, 8, 4, EXACT},
    {"--size 300x200 --tile 16x112", 3, 8, 6, EXACT},
    {"--size 300x200 --tile 512x512", 3, 8, 1, EXACT},
    {"--size 300x200 --strip 7 --levels none", 3, 8, 1, EXACT},
    {"--size 300x200 --strip 1 --levels none --compression packbits", 3, 8, 1, EXACT},
    {"--size 300x200 --strip 200 --levels none --compression none", 3, 8, 1, EXACT},
    {"--size 300x200 --strip 64 --levels none --planar separate", 3, 8, 1, EXACT},
    {"--size 300x200 --strip 64 --bits 16 --compression lzw", 3, 16, 2, EXACT},
    {T64 "--compression jpeg --subsampling 1x1", 3, 8, 4, 3},
    {T64 "--compression jpeg --subsampling 2x1", 3, 8, 4, 6},
    {T64 "--compression jpeg --subsampling 1x2", 3, 8, 4, 6},
    {T64 "--compression jpeg --subsampling 2x2", 3, 8, 4, 8},
    {T64 "--compression jpeg --subsampling 4x1", 3, 8, 4, 9},
    {T64 "--compression jpeg --subsampling 4x2", 3, 8, 4, 12},
    {T64 "--compression jpeg --photometric rgb", 3, 8, 4, 3},
    {T64 "--compression jpeg --photometric rgb --no-tables", 3, 8, 4, 3},
    {T64 "--compression jpeg --no-tables --pad 255", 3, 8, 4, 10},
    {T64 "--compression jpeg --photometric gray", 1, 8, 4, 1},
    {T64 "--compression jpeg --photometric miniswhite", 1, 8, 4, 1},
    {T64 "--compression jpeg --photometric rgb --planar separate", 3, 8, 4, 3},
    {"--size 300x200 --tile 64x48 --compression jpeg --subsampling 2x2", 3, 8, 4, 8},
    {"--size 300x200 --tile 48x80 --compression jpeg --subsampling 2x2", 3, 8, 4, 8},
    {"--size 300x200 --strip 16 --compression jpeg --levels none", 3, 8, 1, 8},
    {"--size 300x200 --strip 200 --compression jpeg --levels none", 3, 8, 1, 8},
};

/* round(max i / (n - 1)) */
static unsigned slope(uint32_t i, uint32_t n, unsigned max)
{
    return (unsigned)((2ull * max * i + (n - 1)) / (2 * (n - 1)));
}

/* Sample c of the ramp of w x h at (x, y). */
static unsigned ramp(const tg_image *img, uint32_t x, uint32_t y, unsigned c)
{
    uint32_t w = img->level[0].width_px, h = img->level[0].height_px;
    unsigned max = img->fmt.bits == 8 ? 255 : 65535;

    if (tg_pixfmt_alpha(img->fmt) && c + 1u == img->fmt.channels)
        return x < w / 2 ? 0 : max;
    if (c == 0)
        return slope(x, w, max);
    if (c == 1)
        return slope(y, h, max);
    return (x / 16 + y / 16) % 2 ? max : 0;
}

static unsigned sample(const uint8_t *px, size_t i, unsigned bits)
{
    return bits == 8 ? px[i] : ((const uint16_t *)(const void *)px)[i];
}

/* Nothing is known of the colour under alpha 0 after WebP. */
static bool visible(const tg_image *img, const uint8_t *px, size_t pixel, unsigned c)
{
    unsigned n = img->fmt.channels;

    return !tg_pixfmt_alpha(img->fmt) || c + 1 == n ||
           sample(px, pixel * n + n - 1, img->fmt.bits) > 0;
}

static void check_ramp(tg_image *img, const kind *kd, const uint8_t *px)
{
    uint32_t w = img->level[0].width_px, h = img->level[0].height_px;
    unsigned n = img->fmt.channels, bits = img->fmt.bits;
    double sum = 0;

    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++)
            for (unsigned c = 0; c < n; c++) {
                size_t at = (size_t)y * w + x;
                int d = (int)sample(px, at * n + c, bits) - (int)ramp(img, x, y, c);

                sum += visible(img, px, at, c) ? abs(d) : 0;
            }
    sum /= (double)w * h * n * (bits == 8 ? 1 : 257);
    CHECK(sum <= kd->tolerance);
    if (sum > kd->tolerance)
        printf("  mean difference %.2f, %.2f allowed\n", sum, kd->tolerance);
}

/* The rectangle of a packed raster of row_w px equals px. */
static bool same_rect(const uint8_t *whole, uint32_t row_w, tg_rect r, const uint8_t *px,
                      size_t px_bytes)
{
    for (uint32_t y = 0; y < r.h; y++)
        if (memcmp(whole + ((size_t)(r.y + y) * row_w + r.x) * px_bytes,
                   px + (size_t)y * r.w * px_bytes, r.w * px_bytes) != 0)
            return false;
    return true;
}

static void check_rect(tg_image *img, unsigned level, unsigned k, const uint8_t *whole, tg_rect r)
{
    tg_err err = {0};
    uint8_t *px = fixture_read(img, level, k, r, &err);
    bool same =
        px && same_rect(whole, fixture_whole(img, level, k).w, r, px, tg_pixfmt_bytes(img->fmt));

    CHECK(same);
    if (!same)
        printf("  level %u, k %u, %u,%u,%u,%u: %s %s\n", level, k, r.x, r.y, r.w, r.h, err.msg,
               err.detail);
    free(px);
}

static void check_rects(tg_image *img, unsigned level, unsigned k, const uint8_t *whole)
{
    tg_rect all = fixture_whole(img, level, k);
    uint32_t tw = img->level[level].tile_w_px >> k, th = img->level[level].tile_h_px >> k;

    for (uint32_t y = 0; y < all.h; y += th)
        for (uint32_t x = 0; x < all.w; x += tw)
            check_rect(
                img, level, k, whole,
                (tg_rect){x, y, all.w - x < tw ? all.w - x : tw, all.h - y < th ? all.h - y : th});
    for (unsigned i = 0; i < 12; i++) {
        tg_rect r = {fixture_random(all.w), fixture_random(all.h), 0, 0};

        r.w = 1 + fixture_random(all.w - r.x);
        r.h = 1 + fixture_random(all.h - r.y);
        check_rect(img, level, k, whole, r);
    }
}

/* Mean over all pixels of reduction k, as against the boxes of the full level. */
static void check_reduction(tg_image *img, const kind *kd, unsigned level, unsigned k,
                            const uint8_t *full, const uint8_t *reduced)
{
    tg_rect all = fixture_whole(img, level, 0), small = fixture_whole(img, level, k);
    unsigned n = img->fmt.channels;
    double sum = 0;

    for (uint32_t y = 0; y < small.h; y++)
        for (uint32_t x = 0; x < small.w; x++)
            for (unsigned c = 0; c < n; c++) {
                unsigned box = 0, count = 0;

                for (uint32_t j = y << k; j < (y + 1) << k && j < all.h; j++)
                    for (uint32_t i = x << k; i < (x + 1) << k && i < all.w; i++, count++)
                        box += full[((size_t)j * all.w + i) * n + c];
                sum += fabs((double)box / count - reduced[((size_t)y * small.w + x) * n + c]);
            }
    sum /= (double)small.w * small.h * n;
    CHECK(sum <= kd->tolerance);
    if (sum > kd->tolerance)
        printf("  level %u, k %u: mean difference %.2f\n", level, k, sum);
}

static void check_level(tg_image *img, const kind *kd, unsigned level)
{
    tg_err err = {0};
    uint8_t *full = fixture_read(img, level, 0, fixture_whole(img, level, 0), &err);

    CHECK(full);
    if (!full) {
        printf("  level %u: %s [%s]\n", level, err.msg, err.detail);
        return;
    }
    if (level == 0)
        check_ramp(img, kd, full);
    check_rects(img, level, 0, full);
    for (unsigned k = 1; k <= img->level[level].max_reduction; k++) {
        uint8_t *reduced = fixture_read(img, level, k, fixture_whole(img, level, k), &err);

        CHECK(reduced);
        if (!reduced)
            break;
        /* Reduced chroma stays subsampled: coarser than the squares of the ramp beyond this. */
        if ((level == 0 && k == 1) || kd->tolerance <= 3)
            check_reduction(img, kd, level, k, full, reduced);
        check_rects(img, level, k, reduced);
        free(reduced);
    }
    free(full);
}

static void check_kind(const kind *kd)
{
    unsigned before = check_failed;
    tg_err err = {0};
    tg_image *img = fixture_open(fixture_make("kind.tif", kd->args), 0, &err);

    CHECK(img);
    if (img) {
        CHECK_INT(img->fmt.channels, kd->channels);
        CHECK_INT(img->fmt.bits, kd->bits);
        CHECK_INT(img->n_levels, kd->levels);
        for (unsigned i = 0; i < img->n_levels; i++) {
            CHECK_INT(img->level[i].width_px, 300 >> i);
            CHECK_INT(img->level[i].height_px, 200 >> i);
            check_level(img, kd, i);
        }
        tg_image_close(img);
    }
    if (check_failed != before)
        printf("  in %s %s\n", kd->args, err.msg);
}

/* Premultiplied alpha: mkpyramid multiplies, read() divides; each rounds once. */
static void check_premultiplied(const char *args, unsigned bits)
{
    tg_err err = {0};
    tg_image *img = fixture_open(fixture_make("assoc.tif", args), 0, &err);
    uint8_t *px = img ? fixture_read(img, 0, 0, fixture_whole(img, 0, 0), &err) : NULL;
    size_t right = 200 * 300 * 4 + 250 * 4, left = 200 * 300 * 4 + 50 * 4;

    CHECK(px);
    if (px) { /* row 200 */
        CHECK_INT(sample(px, right, bits), ramp(img, 250, 200, 0));
        CHECK_INT(sample(px, right + 1, bits), ramp(img, 250, 200, 1));
        CHECK_INT(sample(px, right + 3, bits), bits == 8 ? 255 : 65535);
        for (unsigned c = 0; c < 4; c++)
            CHECK_INT(sample(px, left + c, bits), 0);
    }
    free(px);
    tg_image_close(img);
}

/* One strip larger than what is decoded whole, read in bands that do not fit it, then upwards. */
static void check_long_strip(const char *args)
{
    unsigned before = check_failed;
    tg_err err = {0};
    tg_image *img = fixture_open(fixture_make("strip.tif", args), 0, &err);
    uint8_t *whole = img ? fixture_read(img, 0, 0, fixture_whole(img, 0, 0), &err) : NULL;

    CHECK(whole);
    if (whole) {
        uint32_t w = img->level[0].width_px, h = img->level[0].height_px;

        CHECK_INT(img->level[0].cols, 1);
        for (uint32_t y = 0; y < h; y += 100)
            check_rect(img, 0, 0, whole, (tg_rect){3, y, w - 7, h - y < 100 ? h - y : 100});
        check_rect(img, 0, 0, whole, (tg_rect){w - 90, h - 20, 90, 20});
        check_rect(img, 0, 0, whole, (tg_rect){0, 500, 90, 20});
    }
    if (check_failed != before)
        printf("  in %s: %s %s\n", args, err.msg, err.detail);
    free(whole);
    tg_image_close(img);
}

static void check_density(void)
{
    tg_err err = {0};
    tg_image *img = fixture_open(fixture_make("dpi.tif", "--size 64x64 --dpi 300"), 0, &err);

    CHECK(img && fabs(img->dpi_x - 300) < 1e-3 && fabs(img->dpi_y - 300) < 1e-3);
    tg_image_close(img);
    img = fixture_open(fixture_make("dpcm.tif", "--size 64x64 --dpcm 100"), 0, &err);
    CHECK(img && fabs(img->dpi_x - 254) < 1e-3);
    tg_image_close(img);
    img = fixture_open(fixture_make("none.tif", "--size 64x64"), 0, &err);
    CHECK(img && img->dpi_x == 0 && img->dpi_y == 0);
    tg_image_close(img);
}

int main(void)
{
    fixture_init();
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        check_kind(&kinds[i]);
    check_premultiplied("--size 300x300 --alpha assoc", 8);
    check_premultiplied("--size 300x300 --alpha assoc --bits 16", 16);
    check_long_strip("--size 2000x1100 --strip 1100 --levels none --compression deflate");
    check_long_strip("--size 2000x1100 --strip 1100 --levels none --compression lzw --bits 16");
    check_long_strip("--size 4100x1100 --strip 1100 --levels none --planar separate");
    check_long_strip("--size 2000x1100 --strip 1100 --levels none --compression jpeg");
    check_density();
    return check_done();
}
