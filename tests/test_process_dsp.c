/* The kernels of image processing: against the formulas in double precision, and every instruction
 * set against C, bit by bit. */
#include <stdlib.h>

#include "check.h"
#include "tegula/dsp.h"
#include "tegula/process.h"

#define WIDTH_MAX 131
#define PLANE     (WIDTH_MAX + 8)

static uint32_t seed = 1;

static unsigned random_below(unsigned n)
{
    seed = seed * 1664525u + 1013904223u;
    return (unsigned)(((uint64_t)seed * n) >> 32);
}

static double unit(void)
{
    return random_below(1000001) / 1e6;
}

static double clamp(double v)
{
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

/* ---- the formulas ---- */

static double ramp(double v, double from, double to)
{
    return clamp((v - from) / (to - from));
}

static void ref_map(tg_colour_map map, double v, double out[3])
{
    double t = 1.0 / 3;
    v = clamp(v);
    double hot[3] = {ramp(v, 0, t), ramp(v, t, 2 * t), ramp(v, 2 * t, 1)};
    double jet[3] = {ramp(v, .375, .625) - .5 * ramp(v, .875, 1),
                     ramp(v, .125, .375) - ramp(v, .625, .875),
                     .5 + .5 * ramp(v, 0, .125) - ramp(v, .375, .625)};
    for (int c = 0; c < 3; c++)
        out[c] = map == TG_MAP_HOT    ? hot[c]
                 : map == TG_MAP_COLD ? hot[2 - c]
                 : map == TG_MAP_JET  ? jet[c]
                                      : 0;
    if (map == TG_MAP_RED || map == TG_MAP_GREEN || map == TG_MAP_BLUE)
        out[map == TG_MAP_RED ? 0 : map == TG_MAP_GREEN ? 1 : 2] = v;
}

/* One pixel; v holds the colours, then alpha. Returns the number of channels. */
static unsigned ref_steps(const tg_process *p, unsigned in, double v[4])
{
    bool alpha = in == 2 || in == 4;
    unsigned colours = in - alpha;
    double a = alpha ? v[in - 1] : 0, all[4] = {v[0], v[1], v[2], v[3]};
    if (p->shade) {
        double az = p->azimuth * M_PI / 180, el = p->elevation * M_PI / 180;
        double l[3] = {sin(az), cos(az), -sin(el)}, dot = 0;
        double length = sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]);
        for (int c = 0; c < 3; c++)
            dot += (1 - 2 * v[c]) * l[c] / length;
        v[0] = all[0] = v[0] == 0 && v[1] == 0 && v[2] == 0 ? 0 : clamp(dot / 2);
        colours = 1;
    }
    if (p->matrix_rows) {
        for (unsigned to = 0; to < p->matrix_rows; to++) {
            v[to] = 0;
            for (unsigned from = 0; from < in; from++)
                v[to] += (double)p->matrix[to][from] * all[from];
        }
        colours = p->matrix_rows < 3 ? 1 : 3;
        if (p->matrix_rows == 4)
            a = v[3], alpha = true;
    }
    for (unsigned c = 0; c < colours; c++) {
        if (p->gamma == TG_GAMMA_POWER)
            v[c] = pow(clamp(v[c]), (double)p->exponent);
        if (p->gamma == TG_GAMMA_LOG)
            v[c] = log(1 + 255 * clamp(v[c])) / log(256);
        if (p->invert)
            v[c] = 1 - v[c];
    }
    if (p->map != TG_MAP_NONE) {
        ref_map(p->map, v[0], v);
        colours = 3;
    }
    if (alpha)
        v[colours] = a;
    return colours + alpha;
}

/* ---- one row through the kernels ---- */

static void run_row(const tg_process_dsp *dsp, const tg_process *p, tg_pixfmt fmt, const void *src,
                    unsigned n, void *dst)
{
    static float planes[TG_PROCESS_CHANNELS * PLANE];
    tg_process_steps steps;
    tg_process_steps_init(&steps, p, fmt);
    dsp->load(planes, PLANE, src, fmt.bits, n, &steps);
    dsp->steps(planes, PLANE, n, &steps);
    dsp->store(dst, planes, PLANE, (tg_pixfmt){steps.out, 8}, p->has_contrast ? p->contrast : 1, n);
}

static double sample(const void *row, tg_pixfmt fmt, size_t i)
{
    return fmt.bits == 8 ? ((const uint8_t *)row)[i] / 255.0 : ((const uint16_t *)row)[i] / 65535.0;
}

/* At most one off, and that only where the true value lies near the middle of two. */
static void compare_row(int line, const tg_process *p, tg_pixfmt fmt, const void *src, unsigned n,
                        const uint8_t *got)
{
    unsigned out = tg_process_channels(p, fmt.channels);
    for (unsigned x = 0; x < n; x++) {
        double v[4] = {0};
        for (unsigned c = 0; c < fmt.channels; c++)
            v[c] = sample(src, fmt, (size_t)x * fmt.channels + c);
        unsigned channels = ref_steps(p, fmt.channels, v);
        CHECK_ROW(line, channels == out, "%u channels, expected %u", out, channels);
        for (unsigned c = 0; c < out; c++) {
            bool alpha = (out == 2 || out == 4) && c == out - 1;
            double want = 255 * clamp(v[c] * (p->has_contrast && !alpha ? p->contrast : 1));
            CHECK_ROW(line, fabs(got[x * out + c] - want) <= .5 + 2e-3,
                      "pixel %u channel %u is %u, expected %f", x, c, got[x * out + c], want);
        }
    }
}

static void check_process(int line, const tg_process *p, tg_pixfmt fmt)
{
    static uint16_t src[4 * WIDTH_MAX];
    static uint8_t got[4 * WIDTH_MAX], again[4 * WIDTH_MAX];
    unsigned n = 1 + random_below(WIDTH_MAX), out = tg_process_channels(p, fmt.channels);
    tg_process_dsp c, best;
    for (size_t i = 0; i < 2 * sizeof src / sizeof src[0]; i++)
        ((uint8_t *)src)[i] =
            (uint8_t)(random_below(4) ? random_below(256) : 255 * random_below(2));
    tg_process_dsp_init(&c, 0);
    tg_process_dsp_init(&best, tg_cpu_flags());
    run_row(&c, p, fmt, src, n, got);
    run_row(&best, p, fmt, src, n, again);
    compare_row(line, p, fmt, src, n, got);
    CHECK_ROW(line, memcmp(got, again, (size_t)n * out) == 0, "instruction sets differ");
}

#define EACH(p, ...)                                                                               \
    do {                                                                                           \
        for (unsigned ch = 1; ch <= 4; ch++)                                                       \
            for (unsigned bits = 8; bits <= 16; bits += 8) {                                       \
                tg_process p = {0};                                                                \
                __VA_ARGS__;                                                                       \
                if (!p.shade || ch >= 3)                                                           \
                    check_process(__LINE__, &p, (tg_pixfmt){(uint8_t)ch, (uint8_t)bits});          \
            }                                                                                      \
    } while (0)

static void random_matrix(tg_process *p, unsigned rows)
{
    p->matrix_rows = rows;
    for (unsigned y = 0; y < rows; y++)
        for (unsigned x = 0; x < 4; x++)
            p->matrix[y][x] = (float)(unit() * 3 - 1);
}

static void test_steps(void)
{
    EACH(p, p.invert = true);
    EACH(p, p.gamma = TG_GAMMA_LOG);
    for (int i = 0; i < 40; i++) {
        EACH(p, p.gamma = TG_GAMMA_POWER; p.exponent = (float)exp(8 * unit() - 4));
        EACH(p, p.has_contrast = true; p.contrast = (float)(3 * unit()));
        EACH(p, p.shade = true; p.azimuth = 360 * unit(); p.elevation = 90 * unit());
        EACH(p, random_matrix(&p, 1));
        EACH(p, random_matrix(&p, 3); p.gamma = TG_GAMMA_POWER; p.exponent = 1.7f);
        EACH(p, random_matrix(&p, 4); p.invert = true; p.has_contrast = true; p.contrast = .5f);
    }
    for (int map = TG_MAP_HOT; map < TG_MAPS; map++)
        for (int i = 0; i < 10; i++)
            EACH(p, p.map = (tg_colour_map)map; p.invert = i % 2);
}

static void test_extremes(void)
{
    EACH(p, p.gamma = TG_GAMMA_POWER; p.exponent = 0);
    EACH(p, p.gamma = TG_GAMMA_POWER; p.exponent = 1e-6f);
    EACH(p, p.gamma = TG_GAMMA_POWER; p.exponent = 1e6f);
    EACH(p, p.gamma = TG_GAMMA_POWER; p.exponent = 3e38f);
    EACH(p, p.has_contrast = true; p.contrast = 3e38f);
    EACH(p, p.has_contrast = true; p.contrast = 0);
}

/* Values that a table of the 8-bit samples would have. */
static void test_known_values(void)
{
    const uint8_t pixel[3] = {60, 120, 200};
    uint8_t got[3];
    tg_process_dsp dsp;
    tg_process_dsp_init(&dsp, tg_cpu_flags());
    run_row(&dsp, &(tg_process){.gamma = TG_GAMMA_POWER, .exponent = 2}, (tg_pixfmt){3, 8}, pixel,
            1, got);
    CHECK(got[0] == 14 && got[1] == 56 && got[2] == 157);
    run_row(&dsp, &(tg_process){.shade = true, .azimuth = 90, .elevation = 30}, (tg_pixfmt){3, 8},
            pixel, 1, got);
    CHECK_INT(got[0], 93); /* 255 / 2 (.5294 * .8944 + .5686 * .4472) */
    run_row(&dsp, &(tg_process){.map = TG_MAP_JET}, (tg_pixfmt){3, 8}, pixel, 1, got);
    CHECK(got[0] == 0 && got[1] == 113 && got[2] == 255); /* .2353: .44 of the way to cyan */
    for (unsigned v = 0; v < 256; v++) {
        uint8_t gray = (uint8_t)v, back;
        run_row(&dsp, &(tg_process){0}, (tg_pixfmt){1, 8}, &gray, 1, &back);
        CHECK_INT(back, v);
    }
}

static void test_range(void)
{
    const uint16_t row[4] = {0, 16384, 32768, 65535};
    uint8_t got[4];
    float planes[PLANE * TG_PROCESS_CHANNELS];
    tg_process none = {0};
    tg_process_steps steps;
    tg_process_dsp dsp;
    tg_process_dsp_init(&dsp, tg_cpu_flags());
    tg_process_steps_init(&steps, &none, (tg_pixfmt){1, 16});
    steps.scale[0] = 2 / 65535.f; /* the lower half becomes all */
    dsp.load(planes, PLANE, row, 16, 4, &steps);
    dsp.store(got, planes, PLANE, (tg_pixfmt){1, 8}, 1, 4);
    CHECK(got[0] == 0 && got[1] == 128 && got[2] == 255 && got[3] == 255);
}

/* ---- convolution ---- */

static void test_convolve(void)
{
    static float rows[TG_KERNEL_SIDE_MAX][PLANE], got[PLANE], again[PLANE];
    const float *row[TG_KERNEL_SIDE_MAX];
    float kernel[TG_KERNEL_SIDE_MAX * TG_KERNEL_SIDE_MAX];
    tg_process_dsp c, best;
    tg_process_dsp_init(&c, 0);
    tg_process_dsp_init(&best, tg_cpu_flags());
    for (unsigned y = 0; y < TG_KERNEL_SIDE_MAX; y++) {
        row[y] = rows[y];
        for (unsigned x = 0; x < PLANE; x++)
            rows[y][x] = (float)unit();
    }
    for (unsigned side = 1; side <= TG_KERNEL_SIDE_MAX; side += 2)
        for (unsigned n = 1; n + side - 1 <= PLANE; n += 7) {
            for (unsigned i = 0; i < side * side; i++)
                kernel[i] = (float)(unit() * 4 - 2);
            c.convolve(got, row, kernel, side, n);
            best.convolve(again, row, kernel, side, n);
            CHECK(memcmp(got, again, n * sizeof *got) == 0);
            for (unsigned x = 0; x < n; x++) {
                double want = 0;
                for (unsigned j = 0; j < side; j++)
                    for (unsigned i = 0; i < side; i++)
                        want += (double)kernel[j * side + i] * (double)rows[j][x + i];
                CHECK(fabs((double)got[x] - want) < 1e-4);
            }
        }
}

static void check_turned(bool mirror, unsigned quarter, const float want[9])
{
    tg_process p = {.kernel_side = 3, .kernel = {1, 2, 3, 4, 5, 6, 7, 8, 9}};
    tg_process_turn_kernel(&p, mirror, quarter);
    for (int i = 0; i < 9; i++)
        CHECK_ROW(__LINE__, p.kernel[i] == want[i], "%d, %u: weight %d is %g", mirror, quarter, i,
                  (double)p.kernel[i]);
}

/* Over stored pixels that are turned clockwise for showing, the kernel lies turned the other way.
 */
static void test_turned_kernel(void)
{
    check_turned(false, 0, (const float[]){1, 2, 3, 4, 5, 6, 7, 8, 9});
    check_turned(true, 0, (const float[]){3, 2, 1, 6, 5, 4, 9, 8, 7});
    check_turned(false, 1, (const float[]){3, 6, 9, 2, 5, 8, 1, 4, 7});
    check_turned(false, 2, (const float[]){9, 8, 7, 6, 5, 4, 3, 2, 1});
    check_turned(false, 3, (const float[]){7, 4, 1, 8, 5, 2, 9, 6, 3});
}

/* ---- histograms ---- */

static void test_histogram(void)
{
    uint64_t bins[256] = {0};
    uint8_t samples[1001], lut[256];
    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (uint8_t)(i % 7 * 10);
    tg_histogram_add(bins, samples, sizeof samples);
    for (unsigned v = 0; v < 256; v++)
        CHECK_INT(bins[v], v % 10 || v > 60 ? 0 : 143);
    tg_histogram_equalise(bins, lut);
    for (unsigned k = 0; k < 7; k++) /* seven equal steps from 0 to 255 */
        CHECK_INT(lut[10 * k], (int)(255.0 * k / 6 + .5));
    CHECK_INT(lut[255], 255);
}

static void test_otsu(void)
{
    uint64_t two[256] = {[40] = 100, [50] = 100, [200] = 10, [210] = 10}, one[256] = {[77] = 5};
    uint64_t none[256] = {0};
    uint8_t lut[256];
    tg_histogram_binarise(two, lut);
    CHECK(lut[40] == 0 && lut[50] == 0 && lut[200] == 255 && lut[210] == 255);
    tg_histogram_binarise(one, lut);
    CHECK(lut[77] == 0 && lut[127] == 0 && lut[128] == 255);
    tg_histogram_binarise(none, lut);
    CHECK(lut[127] == 0 && lut[128] == 255);
    tg_histogram_equalise(one, lut);
    CHECK(lut[77] == 77);
    tg_histogram_equalise(none, lut);
    CHECK(lut[255] == 255);
}

/* ---- text ---- */

static void test_text(void)
{
    tg_arena *arena = tg_arena_new();
    tg_process a = {.matrix_rows = 1, .matrix = {{1, 2, 3}}}, b = a;
    CHECK(tg_process_text(&(tg_process){0}, arena).n == 0);
    CHECK(tg_str_eq(tg_process_text(&a, arena), tg_process_text(&b, arena)));
    b.matrix[0][2] = 3.0001f;
    CHECK(!tg_str_eq(tg_process_text(&a, arena), tg_process_text(&b, arena)));
    CHECK(!tg_process_any(&(tg_process){0}) && tg_process_any(&a));
    tg_arena_free(arena);
}

int main(void)
{
    test_known_values();
    test_range();
    test_steps();
    test_extremes();
    test_convolve();
    test_turned_kernel();
    test_histogram();
    test_otsu();
    test_text();
    return check_done();
}
