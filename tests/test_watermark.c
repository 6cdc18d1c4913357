/* The watermark: sums worked out by hand, and places that the name alone decides. */
#include "check.h"
#include "tegula/mem.h"
#include "tegula/raster.h"
#include "tegula/watermark.h"

#include <stdlib.h>
#include <string.h>

static tg_watermark *make(const void *pixels, uint32_t w, uint32_t h, tg_pixfmt fmt, double opacity)
{
    tg_err err = {0};
    tg_watermark *mark = tg_watermark_new(pixels, w, h, fmt, opacity, 1, &err);
    if (!mark)
        printf("# %s\n", err.msg);
    return mark;
}

static void test_add(void)
{
    uint8_t eight[40], addend[40];
    for (int i = 0; i < 40; i++) {
        eight[i] = (uint8_t)(10 * i % 256);
        addend[i] = 200;
    }
    tg_row_add(eight, addend, (tg_pixfmt){1, 8}, 40);
    for (int i = 0; i < 40; i++)
        CHECK_INT(eight[i], 10 * i % 256 > 55 ? 255 : 10 * i % 256 + 200);
    uint16_t deep[] = {0, 65000, 1, 65535, 300, 77, 35, 40}, more[] = {1, 535, 536, 65535, 0, 1};
    tg_row_add(deep, more, (tg_pixfmt){4, 16}, 2);
    const uint16_t sums[] = {1, 65535, 537, 65535, 65535, 77, 36, 40};
    CHECK(memcmp(deep, sums, sizeof sums) == 0);
    uint16_t gray[] = {65535, 7, 5, 65535}, one[] = {2, 2};
    tg_row_add(gray, one, (tg_pixfmt){2, 16}, 2);
    const uint16_t gray_sums[] = {65535, 7, 7, 65535};
    CHECK(memcmp(gray, gray_sums, sizeof gray_sums) == 0);
}

/* A row of one output pixel of value 100 (or its like in 16 bits), with the mark at 0,0. */
static const void *one_pixel(const tg_watermark *m, tg_pixfmt fmt, void *scratch)
{
    static uint8_t eight[4];
    static uint16_t deep[4];
    tg_mark at = {.of = m};
    for (int i = 0; i < 4; i++) {
        eight[i] = 100;
        deep[i] = 25700;
    }
    return tg_mark_row(&at, 0, fmt.bits == 8 ? (void *)eight : (void *)deep, 1, fmt, scratch);
}

static void test_sums(void)
{
    /* 51 of 255 is a fifth: halved by opacity and by alpha again, and in 16 bits */
    const uint8_t colour[] = {51, 255, 0}, see_through[] = {204, 255, 0, 128}, gray[] = {51};
    uint8_t scratch[TG_MARK_ROW_BYTES];
    const uint8_t *out;
    tg_watermark *m = make(colour, 1, 1, (tg_pixfmt){3, 8}, 0.5);
    out = one_pixel(m, (tg_pixfmt){3, 8}, scratch);
    CHECK(out[0] == 126 && out[1] == 228 && out[2] == 100); /* 25.5 and 127.5 are rounded up */
    out = one_pixel(m, (tg_pixfmt){4, 8}, scratch);
    CHECK(out[0] == 126 && out[1] == 228 && out[2] == 100 && out[3] == 100);
    const uint16_t *deep = one_pixel(m, (tg_pixfmt){3, 16}, scratch);
    CHECK(deep[0] == 25700 + 6554 && deep[1] == 25700 + 32768 && deep[2] == 25700);
    out = one_pixel(m, (tg_pixfmt){1, 8}, scratch); /* (.299 * 51 + .587 * 255) / 2 = 82.47 */
    CHECK_INT(out[0], 182);
    out = one_pixel(m, (tg_pixfmt){2, 8}, scratch);
    CHECK(out[0] == 182 && out[1] == 100);
    tg_watermark_free(m);
    m = make(see_through, 1, 1, (tg_pixfmt){4, 8}, 1);
    out = one_pixel(m, (tg_pixfmt){3, 8}, scratch); /* 204 * 128 / 255 = 102.4; 128 */
    CHECK(out[0] == 202 && out[1] == 228 && out[2] == 100);
    tg_watermark_free(m);
    m = make(gray, 1, 1, (tg_pixfmt){1, 8}, 1);
    out = one_pixel(m, (tg_pixfmt){3, 8}, scratch);
    CHECK(out[0] == 151 && out[1] == 151 && out[2] == 151);
    deep = one_pixel(m, (tg_pixfmt){2, 16}, scratch);
    CHECK(deep[0] == 25700 + 51 * 257 && deep[1] == 25700);
    tg_watermark_free(m);
}

/* 3 x 2 pixels at 4,5 of an output of 6 pixels: the third column is cut off. */
static void test_rows(void)
{
    const uint8_t pixels[] = {1, 2, 3, 4, 5, 6}, row[6] = {10, 10, 10, 10, 10, 10};
    uint8_t scratch[6 * TG_MARK_ROW_BYTES];
    tg_watermark *m = make(pixels, 3, 2, (tg_pixfmt){1, 8}, 1);
    tg_mark at = {m, 4, 5}, none = {0};
    CHECK(tg_mark_row(&none, 0, row, 6, (tg_pixfmt){1, 8}, scratch) == row);
    CHECK(tg_mark_row(&at, 4, row, 6, (tg_pixfmt){1, 8}, scratch) == row);
    CHECK(tg_mark_row(&at, 7, row, 6, (tg_pixfmt){1, 8}, scratch) == row);
    CHECK(tg_mark_row(&at, 0xffffffff, row, 6, (tg_pixfmt){1, 8}, scratch) == row);
    const uint8_t first[] = {10, 10, 10, 10, 11, 12}, second[] = {10, 10, 10, 10, 14, 15};
    CHECK(memcmp(tg_mark_row(&at, 5, row, 6, (tg_pixfmt){1, 8}, scratch), first, 6) == 0);
    CHECK(memcmp(tg_mark_row(&at, 6, row, 6, (tg_pixfmt){1, 8}, scratch), second, 6) == 0);
    tg_watermark_free(m);
}

static tg_str name_of(unsigned i)
{
    static char text[64];
    int n = snprintf(text, sizeof text, "a/picture.tif|0|%u,0,256,256|256x256|x", i * 256);
    return (tg_str){text, (size_t)n};
}

/* 4000 names: shares within 4 standard deviations of what is asked for, each eighth of the room
 * taken alike, and inside. */
static void test_places(void)
{
    const uint8_t pixel[16 * 8] = {0};
    tg_err err = {0};
    const double wanted[] = {0, 0.25, 0.5, 1};
    for (unsigned k = 0; k < 4; k++) {
        tg_watermark *m = tg_watermark_new(pixel, 16, 8, (tg_pixfmt){1, 8}, 1, wanted[k], &err);
        unsigned marked = 0, across[8] = {0}, down[8] = {0}, both = 0;
        for (unsigned i = 0; i < 4000; i++) {
            tg_mark at = tg_watermark_place(m, name_of(i), 256, 256);
            tg_mark again = tg_watermark_place(m, name_of(i), 256, 256);
            CHECK(at.of == again.of && at.x == again.x && at.y == again.y);
            if (!at.of)
                continue;
            marked++;
            CHECK(at.x <= 240 && at.y <= 248);
            across[at.x * 8 / 241]++;
            down[at.y * 8 / 249]++;
            both += (at.x < 120) == (at.y < 124);
        }
        double spread = 4 * sqrt(4000 * wanted[k] * (1 - wanted[k]));
        CHECK_ROW(__LINE__, fabs(marked - 4000 * wanted[k]) <= spread, "%u of 4000 at %g", marked,
                  wanted[k]);
        for (unsigned i = 0; marked && i < 8; i++)
            CHECK_ROW(__LINE__,
                      fabs(across[i] - marked / 8.0) < 4 * sqrt(marked / 8.0) &&
                          fabs(down[i] - marked / 8.0) < 4 * sqrt(marked / 8.0),
                      "eighth %u: %u across, %u down of %u", i, across[i], down[i], marked);
        CHECK(fabs(both - marked / 2.0) <= 4 * sqrt(marked / 4.0));
        tg_watermark_free(m);
    }
}

static void test_sizes(void)
{
    const uint8_t pixel[16 * 8] = {0};
    tg_err err = {0};
    tg_watermark *m = make(pixel, 16, 8, (tg_pixfmt){1, 8}, 1);
    tg_mark at = tg_watermark_place(m, TG_STR("x"), 16, 8);
    CHECK(at.of == m && at.x == 0 && at.y == 0);
    for (unsigned i = 0; i < 50; i++) { /* too wide, and high enough */
        at = tg_watermark_place(m, name_of(i), 15, 20);
        CHECK(at.of == m && at.x == 0 && at.y <= 12);
    }
    CHECK(!tg_watermark_place(NULL, TG_STR("x"), 256, 256).of);
    tg_watermark_free(m);
    m = make(pixel, 16, 8, (tg_pixfmt){1, 8}, 0);
    CHECK(!tg_watermark_place(m, TG_STR("x"), 256, 256).of); /* nothing would be added */
    tg_watermark_free(m);
    CHECK(!tg_watermark_new(pixel, 1 << 12, (1 << 10) + 1, (tg_pixfmt){1, 8}, 1, 1, &err));
    CHECK_INT(err.kind, TG_ERR_TOO_LARGE);
    CHECK_INT(tg_image_in_use(), 0);
}

/* Whatever changes outputs changes the sum. */
static void test_sum(void)
{
    const uint8_t pixels[] = {10, 20, 30, 40, 50, 60};
    const struct {
        uint32_t w, h;
        tg_pixfmt fmt;
        double opacity, probability;
        unsigned first;
    } rows[] = {{2, 1, {3, 8}, 1, 1, 0},   {1, 2, {3, 8}, 1, 1, 0},   {6, 1, {1, 8}, 1, 1, 0},
                {2, 1, {3, 8}, 0.5, 1, 0}, {2, 1, {3, 8}, 1, 0.5, 0}, {1, 1, {3, 8}, 1, 1, 0},
                {1, 1, {3, 8}, 1, 1, 1}};
    enum { N = sizeof rows / sizeof rows[0] };
    uint64_t sum[N];
    CHECK_INT(tg_watermark_sum(NULL), 0);
    for (unsigned i = 0; i < N; i++)
        for (unsigned again = 0; again < 2; again++) {
            tg_err err = {0};
            tg_watermark *m =
                tg_watermark_new(pixels + rows[i].first, rows[i].w, rows[i].h, rows[i].fmt,
                                 rows[i].opacity, rows[i].probability, &err);
            CHECK(!again || tg_watermark_sum(m) == sum[i]);
            sum[i] = tg_watermark_sum(m);
            for (unsigned k = 0; k < i; k++)
                CHECK_ROW(__LINE__, sum[k] != sum[i], "rows %u and %u have one sum", k, i);
            tg_watermark_free(m);
        }
}

int main(void)
{
    test_add();
    test_sums();
    test_rows();
    test_places();
    test_sizes();
    test_sum();
    return check_done();
}
