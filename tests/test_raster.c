/* Row operations against arithmetic, turns and rotations against each other. */
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"
#include "tegula/raster.h"

static uint32_t rnd(void)
{
    static uint64_t state = 88172645463325252u;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static uint8_t *noise(size_t bytes)
{
    uint8_t *p = malloc(bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)rnd();
    return p;
}

static const tg_pixfmt GRAY8 = {1, 8}, GA8 = {2, 8}, RGB8 = {3, 8}, RGBA8 = {4, 8};
static const tg_pixfmt GRAY16 = {1, 16}, GA16 = {2, 16}, RGB16 = {3, 16}, RGBA16 = {4, 16};

static void test_depth(void)
{
    unsigned wrong = 0;
    for (unsigned v = 0; v < 65536; v++) {
        uint16_t in = (uint16_t)v;
        uint8_t out;
        tg_row_16_to_8(&out, &in, 1);
        wrong += out != (int)floor(v * 255.0 / 65535.0 + 0.5);
    }
    CHECK_INT(wrong, 0);
    uint16_t *in = (uint16_t *)noise(2 * 333);
    uint8_t out[334] = {0}, one;
    tg_row_16_to_8(out, in, 333);
    for (size_t i = 0; i < 333; i++) {
        tg_row_16_to_8(&one, in + i, 1);
        CHECK_INT(out[i], one);
    }
    CHECK_INT(out[333], 0);
    free(in);
}

static void test_flatten(void)
{
    const uint8_t bg[3] = {255, 0, 100};
    const uint8_t in[] = {10, 20, 30, 255, 10, 20, 30, 0, 200, 100, 50, 128};
    uint8_t out[12];
    tg_row_flatten(out, in, RGBA8, 3, bg);
    /* 200 * 128/255 + 255 * 127/255 = 227.39; 100 * 128/255 = 50.2; 50 * .502 + 100 * .498 = 74.9
     */
    const uint8_t want[] = {10, 20, 30, 255, 0, 100, 227, 50, 75};
    CHECK(memcmp(out, want, 9) == 0);
    memcpy(out, in, 12);
    tg_row_flatten(out, out, RGBA8, 3, bg);
    CHECK(memcmp(out, want, 9) == 0);
    const uint8_t gray[] = {100, 51};
    tg_row_flatten(out, gray, GA8, 1, bg); /* 100 / 5 + 255 * 4/5 */
    CHECK_INT(out[0], 224);
    const uint16_t deep[] = {65535, 0, 1000, 65535, 0, 0, 0, 0, 65535, 65535, 65535, 65534};
    uint16_t deep_out[9];
    tg_row_flatten(deep_out, deep, RGBA16, 3, bg);
    const uint16_t deep_want[] = {65535, 0, 1000, 65535, 0, 25700, 65535, 65534, 65534};
    CHECK(memcmp(deep_out, deep_want, sizeof deep_want) == 0);
    const uint16_t deep_gray[] = {13107, 13107};
    tg_row_flatten(deep_out, deep_gray, GA16, 1, bg); /* 13107 / 5 + 65535 * 4/5 = 55049.4 */
    CHECK_INT(deep_out[0], 55049);
}

static void test_gray(void)
{
    const uint8_t in[] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 77, 77, 77};
    const uint8_t want[] = {76, 150, 29, 255, 77}; /* .299, .587, .114 of 255 */
    uint8_t out[16];
    tg_row_gray(out, in, RGB8, 5);
    CHECK(memcmp(out, want, 5) == 0);
    memcpy(out, in, 15);
    tg_row_gray(out, out, RGB8, 5);
    CHECK(memcmp(out, want, 5) == 0);
    const uint8_t rgba[] = {255, 0, 0, 7, 0, 0, 255, 200};
    tg_row_gray(out, rgba, RGBA8, 2);
    CHECK(memcmp(out, "\x4c\x07\x1d\xc8", 4) == 0);
    const uint16_t deep[] = {65535, 65535, 65535, 0, 65535, 0};
    uint16_t deep_out[2];
    tg_row_gray(deep_out, deep, RGB16, 2);
    CHECK_INT(deep_out[0], 65535);
    CHECK_INT(deep_out[1], 38469); /* .587 of 65535 is 38469.0 */
    for (unsigned v = 0; v < 256; v++) {
        uint8_t same[3] = {(uint8_t)v, (uint8_t)v, (uint8_t)v};
        tg_row_gray(same, same, RGB8, 1);
        CHECK_INT(same[0], v);
    }
}

static void test_small_ones(void)
{
    const uint8_t g[] = {0, 127, 128, 255};
    uint8_t out[16];
    tg_row_bitonal(out, g, GRAY8, 4);
    CHECK(memcmp(out, "\x00\x00\xff\xff", 4) == 0);
    const uint16_t deep[] = {32767, 32768};
    uint16_t deep_out[8];
    tg_row_bitonal(deep_out, deep, GRAY16, 2);
    CHECK(deep_out[0] == 0 && deep_out[1] == 65535);
    tg_row_add_alpha(out, "\1\2\3\4\5\6", RGB8, 2);
    CHECK(memcmp(out, "\1\2\3\xff\4\5\6\xff", 8) == 0);
    tg_row_add_alpha(out, "\1\2", GRAY8, 2);
    CHECK(memcmp(out, "\1\xff\2\xff", 4) == 0);
    tg_row_add_alpha(deep_out, deep, GRAY16, 2);
    CHECK(deep_out[1] == 65535 && deep_out[2] == 32768);
    tg_row_gray_to_rgb(out, "\1\2", GRAY8, 2);
    CHECK(memcmp(out, "\1\1\1\2\2\2", 6) == 0);
    tg_row_gray_to_rgb(out, "\1\7\2\x8", GA8, 2);
    CHECK(memcmp(out, "\1\1\1\7\2\2\2\x8", 8) == 0);
    uint8_t row[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    tg_row_mirror(row, RGB8, 3);
    CHECK(memcmp(row, "\7\x8\x9\4\5\6\1\2\3", 9) == 0);
    tg_row_mirror(row, GRAY8, 8);
    CHECK(memcmp(row, "\2\1\6\5\4\x9\x8\7\3", 9) == 0);
    tg_row_mirror(row, RGB8, 0);
    tg_row_mirror(row, RGB8, 1);
    CHECK_INT(row[0], 2);
}

static void test_turns(void)
{
    static const tg_pixfmt fmts[] = {{1, 8}, {2, 8}, {3, 8}, {4, 8}, {1, 16}, {3, 16}, {4, 16}};
    static const uint32_t sizes[][2] = {{1, 1}, {1, 9}, {70, 33}, {32, 64}, {65, 97}};
    const uint8_t six[] = {1, 2, 3, 4, 5, 6}; /* 1 2 3 / 4 5 6 */
    uint8_t out[6];
    tg_raster_turn(out, 2, six, 3, GRAY8, 3, 2, 1);
    CHECK(memcmp(out, "\4\1\5\2\6\3", 6) == 0);
    tg_raster_turn(out, 3, six, 3, GRAY8, 3, 2, 2);
    CHECK(memcmp(out, "\6\5\4\3\2\1", 6) == 0);
    tg_raster_turn(out, 2, six, 3, GRAY8, 3, 2, 3);
    CHECK(memcmp(out, "\3\6\2\5\1\4", 6) == 0);
    for (size_t f = 0; f < sizeof fmts / sizeof fmts[0]; f++)
        for (size_t z = 0; z < 5; z++) {
            uint32_t w = sizes[z][0], h = sizes[z][1];
            size_t px = tg_pixfmt_bytes(fmts[f]), bytes = w * h * px;
            uint8_t *in = noise(bytes), *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
            tg_raster_turn(a, h * px, in, w * px, fmts[f], w, h, 1);
            tg_raster_turn(b, w * px, a, h * px, fmts[f], h, w, 1);
            tg_raster_turn(c, w * px, in, w * px, fmts[f], w, h, 2);
            CHECK(memcmp(b, c, bytes) == 0); /* two quarters are a half */
            tg_raster_turn(c, h * px, b, w * px, fmts[f], w, h, 1);
            tg_raster_turn(b, h * px, in, w * px, fmts[f], w, h, 3);
            CHECK(memcmp(b, c, bytes) == 0); /* three are the other quarter */
            tg_raster_turn(b, w * px, c, h * px, fmts[f], h, w, 1);
            CHECK(memcmp(b, in, bytes) == 0); /* four are none */
            free(in);
            free(a);
            free(b);
            free(c);
        }
}

static void test_rotated_size(void)
{
    static const struct {
        uint32_t w, h;
        double degrees;
        uint32_t out_w, out_h;
    } cases[] = {
        {100, 50, 0, 100, 50},   {100, 50, 90, 50, 100},  {100, 50, 180, 100, 50},
        {100, 50, 270, 50, 100}, {100, 50, 360, 100, 50}, {100, 100, 45, 142, 142},
        {100, 50, 30, 112, 94},  {100, 50, 150, 112, 94}, {3, 4, 36.86989764584402, 5, 5},
        {1, 1, 45, 2, 2},        {60, 80, 0.001, 61, 81},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t w, h;
        tg_rotated_size(cases[i].w, cases[i].h, cases[i].degrees, &w, &h);
        CHECK_INT(w, cases[i].out_w);
        CHECK_INT(h, cases[i].out_h);
    }
}

/* Pixels that can be seen, where colour has survived premultiplication exactly. */
static bool same_but_hidden(const uint8_t *a, const uint8_t *b, size_t n, tg_pixfmt fmt)
{
    size_t px = tg_pixfmt_bytes(fmt), sample = fmt.bits / 8;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = a + i * px, *q = b + i * px;
        unsigned alpha = q[px - 1] | (sample == 2 ? q[px - 2] : 0);
        if (memcmp(p + px - sample, q + px - sample, sample) != 0)
            return false;
        if (alpha && memcmp(p, q, px) != 0)
            return false;
    }
    return true;
}

/* By whole quarters, rotation is the turn. */
static void test_right_angles(void)
{
    const tg_pixfmt fmts[] = {GA8, RGBA8, GA16, RGBA16};
    const uint32_t w = 37, h = 22;
    for (size_t f = 0; f < 4; f++)
        for (unsigned quarter = 0; quarter < 4; quarter++) {
            size_t px = tg_pixfmt_bytes(fmts[f]), bytes = w * h * px;
            uint8_t *in = noise(bytes), *a = malloc(bytes), *b = malloc(bytes);
            size_t row = (quarter % 2 ? h : w) * px;
            if (quarter)
                tg_raster_turn(a, row, in, w * px, fmts[f], w, h, quarter);
            else
                memcpy(a, in, bytes);
            uint32_t rows = quarter % 2 ? w : h;
            tg_raster_rotate(b, row, in, w * px, fmts[f], w, h, 90.0 * quarter, 0, rows / 2);
            tg_raster_rotate(b + rows / 2 * row, row, in, w * px, fmts[f], w, h,
                             90.0 * quarter - 360, rows / 2, rows);
            CHECK(same_but_hidden(b, a, (size_t)w * h, fmts[f]));
            free(in);
            free(a);
            free(b);
        }
}

/* An opaque flat picture keeps its colour under every visible pixel, and its area in alpha. */
static void test_flat_rotation(void)
{
    const uint32_t w = 61, h = 40;
    uint8_t *in = malloc(w * h * 4);
    for (size_t i = 0; i < w * h; i++)
        memcpy(in + 4 * i, "\x0a\xc8\xff\xff", 4);
    for (double degrees = 1; degrees < 360; degrees += 13.7) {
        uint32_t ow, oh;
        tg_rotated_size(w, h, degrees, &ow, &oh);
        uint8_t *out = malloc((size_t)ow * oh * 4);
        tg_raster_rotate(out, (size_t)ow * 4, in, w * 4, RGBA8, w, h, degrees, 0, oh);
        unsigned wrong = 0;
        double area = 0;
        for (size_t i = 0; i < (size_t)ow * oh; i++) {
            wrong += out[4 * i + 3] && memcmp(out + 4 * i, "\x0a\xc8\xff", 3) != 0;
            area += out[4 * i + 3] / 255.0;
        }
        CHECK_INT(wrong, 0);
        CHECK(fabs(area - w * h) < 0.004 * w * h);
        CHECK_INT(out[4 * (oh / 2 * ow + ow / 2) + 3], 255);
        free(out);
    }
    free(in);
}

/* A ramp along x, turned clockwise by 30 degrees, rises along (cos 30, sin 30) from the centre. */
static void test_direction(void)
{
    const uint32_t w = 101, h = 101;
    uint16_t *in = malloc(w * h * 4), *out;
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++) {
            in[2 * (y * w + x)] = (uint16_t)(20000 + 200 * x);
            in[2 * (y * w + x) + 1] = 65535;
        }
    uint32_t ow, oh;
    tg_rotated_size(w, h, 30, &ow, &oh);
    out = malloc((size_t)ow * oh * 4);
    tg_raster_rotate(out, (size_t)ow * 4, in, w * 4, GA16, w, h, 30, 0, oh);
    double worst = 0;
    for (uint32_t y = 40; y + 40 < oh; y++)
        for (uint32_t x = 40; x + 40 < ow; x++) {
            double u = (x + 0.5 - ow / 2.0) * 0.8660254 + (y + 0.5 - oh / 2.0) * 0.5;
            worst = fmax(worst, fabs(out[2 * (y * ow + x)] - (20000 + 200 * (u + 50))));
        }
    CHECK(worst < 1.2); /* places are to 1/1024 px: 0.1 of 200, and rounding */
    free(in);
    free(out);
}

int main(void)
{
    test_depth();
    test_flatten();
    test_gray();
    test_small_ones();
    test_turns();
    test_rotated_size();
    test_right_angles();
    test_flat_rotation();
    test_direction();
    return check_done();
}
