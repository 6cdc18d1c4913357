/* The resampler against a slow one in double precision, written from the definition in filter.h,
 * and properties that need no reference at all. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"
#include "tegula/dsp.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/scaler.h"

typedef struct picture {
    tg_pixfmt fmt;
    uint32_t w, h;
    uint8_t *px;
} picture;

static picture picture_new(tg_pixfmt fmt, uint32_t w, uint32_t h)
{
    return (picture){fmt, w, h, calloc((size_t)w * h, tg_pixfmt_bytes(fmt))};
}

static uint8_t *row_of(picture p, uint32_t y)
{
    return p.px + (size_t)y * p.w * tg_pixfmt_bytes(p.fmt);
}

static unsigned get(picture p, uint32_t x, uint32_t y, unsigned k)
{
    size_t at = ((size_t)y * p.w + x) * p.fmt.channels + k;
    return p.fmt.bits == 8 ? p.px[at] : ((uint16_t *)p.px)[at];
}

static void set(picture p, uint32_t x, uint32_t y, unsigned k, unsigned v)
{
    size_t at = ((size_t)y * p.w + x) * p.fmt.channels + k;
    if (p.fmt.bits == 8)
        p.px[at] = (uint8_t)v;
    else
        ((uint16_t *)p.px)[at] = (uint16_t)v;
}

static unsigned max_of(tg_pixfmt fmt)
{
    return (1u << fmt.bits) - 1;
}

static uint32_t rnd(void)
{
    static uint64_t state = 0x2545f4914f6cdd1d;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* Noise, with hard blocks and checkers of both ends in it. */
static picture noise(tg_pixfmt fmt, uint32_t w, uint32_t h)
{
    picture p = picture_new(fmt, w, h);
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++)
            for (unsigned k = 0; k < fmt.channels; k++) {
                unsigned v = rnd() & max_of(fmt);
                if ((x / 9 + y / 7) % 3 == 1)
                    v = (x + y + k) % 2 ? max_of(fmt) : 0;
                if ((x / 9 + y / 7) % 3 == 2)
                    v = (x / 3 + k) % 2 ? max_of(fmt) : 0;
                set(p, x, y, k, v);
            }
    return p;
}

static picture scale_axes(picture in, tg_axis x, tg_axis y, tg_filter filter)
{
    picture out = picture_new(in.fmt, x.out_px, y.out_px);
    tg_err err = {0};
    tg_scaler *s = tg_scaler_new(in.fmt, &x, &y, filter, &err);
    CHECK(s != NULL);
    uint32_t first = 0, end = 0, i = 0;
    while (s && tg_scaler_want(s, &first, &end)) {
        CHECK(end <= in.h);
        for (; first < end; first++)
            tg_scaler_push(s, row_of(in, first));
        tg_scaler_pull(s, row_of(out, i++));
    }
    CHECK_INT(i, y.out_px);
    tg_scaler_free(s);
    return out;
}

static picture scale(picture in, uint32_t w, uint32_t h, tg_filter filter)
{
    tg_axis x = {0, (double)in.w / w, in.w, w}, y = {0, (double)in.h / h, in.h, h};
    return scale_axes(in, x, y, filter);
}

/* The reference. */

static double sinc(double x)
{
    return x == 0 ? 1 : sin(M_PI * x) / (M_PI * x);
}

static double kernel_at(tg_filter filter, double x)
{
    x = fabs(x);
    switch (filter) {
    case TG_FILTER_BILINEAR:
        return fmax(0, 1 - x);
    case TG_FILTER_CUBIC:
        if (x >= 2)
            return 0;
        return x < 1 ? 1.5 * x * x * x - 2.5 * x * x + 1
                     : -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2;
    case TG_FILTER_LANCZOS2:
        return x < 2 ? sinc(x) * sinc(x / 2) : 0;
    default:
        return x < 3 ? sinc(x) * sinc(x / 3) : 0;
    }
}

static double weight_at(tg_filter filter, tg_axis a, double c, long j)
{
    if (filter == TG_FILTER_NEAREST || (a.step == 1 && a.origin == floor(a.origin)))
        return j == (long)floor(c);
    if (filter == TG_FILTER_BOX)
        return fmax(0, fmin((double)j + 1, c + a.step / 2) - fmax((double)j, c - a.step / 2));
    return kernel_at(filter, ((double)j + 0.5 - c) / fmax(a.step, 1));
}

/* One row of n pixels of channels doubles; the pixel-to-pixel distance in both is step doubles. */
static void reference_line(double *dst, const double *src, size_t step, unsigned channels,
                           tg_axis a, tg_filter filter)
{
    for (uint32_t i = 0; i < a.out_px; i++) {
        double c = a.origin + (i + 0.5) * a.step, reach = 3 * fmax(a.step, 1) + 2, total = 0;
        double sum[4] = {0};
        for (long j = (long)floor(c - reach); j <= (long)ceil(c + reach); j++) {
            double w = weight_at(filter, a, c, j);
            long at = j < 0 ? 0 : j >= (long)a.in_px ? (long)a.in_px - 1 : j;
            total += w;
            for (unsigned k = 0; k < channels; k++)
                sum[k] += w * src[(size_t)at * step + k];
        }
        for (unsigned k = 0; k < channels; k++)
            dst[i * step + k] = sum[k] / total;
    }
}

/* Premultiplied samples, not clamped, out_w x out_h. */
static double *reference(picture in, tg_axis x, tg_axis y, tg_filter filter)
{
    unsigned n = in.fmt.channels;
    size_t row = (size_t)x.out_px * n;
    double *src = malloc((size_t)in.w * n * sizeof *src);
    double *mid = malloc(in.h * row * sizeof *mid), *out = malloc(y.out_px * row * sizeof *out);
    for (uint32_t v = 0; v < in.h; v++) {
        for (uint32_t u = 0; u < in.w; u++)
            for (unsigned k = 0; k < n; k++) {
                double alpha = get(in, u, v, n - 1) / (double)max_of(in.fmt);
                src[u * n + k] = get(in, u, v, k) * (n % 2 == 0 && k < n - 1 ? alpha : 1);
            }
        reference_line(mid + v * row, src, n, n, x, filter);
    }
    for (uint32_t u = 0; u < x.out_px; u++)
        reference_line(out + u * n, mid + u * n, row, n, y, filter);
    free(src);
    free(mid);
    return out;
}

/* The largest distance to the reference. Colour under alpha counts as much as alpha lets be seen.
 */
static double distance(picture out, const double *ref)
{
    unsigned n = out.fmt.channels, max = max_of(out.fmt);
    double most = 0;
    for (uint32_t y = 0; y < out.h; y++)
        for (uint32_t x = 0; x < out.w; x++)
            for (unsigned k = 0; k < n; k++) {
                const double *px = ref + ((size_t)y * out.w + x) * n;
                double alpha = n % 2 ? 1 : fmin(px[n - 1] / max, 1), v = px[k];
                if (k < n - 1 && n % 2 == 0) {
                    if (px[n - 1] < 1)
                        continue;
                    v = px[k] * max / px[n - 1];
                } else {
                    alpha = 1;
                }
                double want = fmin(fmax(v, 0), max);
                most = fmax(most, fabs(get(out, x, y, k) - want) * alpha);
            }
    return most;
}

static void check_reference(picture in, tg_axis x, tg_axis y, tg_filter filter, double tolerance)
{
    picture out = scale_axes(in, x, y, filter);
    double *ref = reference(in, x, y, filter), d = distance(out, ref);
    if (d > tolerance)
        printf("%s %u ch %u bit %ux%u -> %ux%u off by %.3f\n", tg_filter_name(filter),
               in.fmt.channels, in.fmt.bits, in.w, in.h, out.w, out.h, d);
    CHECK(d <= tolerance);
    free(ref);
    free(out.px);
}

static void test_reference(void)
{
    static const struct {
        uint32_t w, h, out_w, out_h;
        double x0, y0, x_step, y_step; /* steps of 0: fit */
    } cases[] = {
        {61, 47, 23, 19, 0, 0, 0, 0},
        {61, 47, 100, 90, 0, 0, 0, 0},
        {40, 50, 40, 50, 0, 0, 0, 0},
        {40, 50, 20, 100, 0, 0, 0, 0},
        {33, 31, 9, 11, 3.25, 2.5, 2.7, 2.4},
        {33, 31, 40, 37, 4.75, 1.5, 0.4, 0.6},
        {33, 31, 20, 20, -5.5, -4, 2.1, 1.0},
        {20, 20, 20, 20, 0.5, 0.25, 1, 1},
        {1, 1, 5, 4, 0, 0, 0, 0},
        {2, 300, 3, 7, 0, 0, 0, 0},
        {300, 2, 7, 3, 0, 0, 0, 0},
        {130, 3, 1, 1, 0, 0, 0, 0},
        {500, 500, 3, 4, 0, 0, 0, 0},
        {57, 600, 19, 4, 0, 0, 0, 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (unsigned channels = 1; channels <= 4; channels++)
            for (unsigned bits = 8; bits <= 16; bits += 8) {
                tg_pixfmt fmt = {(uint8_t)channels, (uint8_t)bits};
                uint32_t w = cases[c].w, h = cases[c].h, ow = cases[c].out_w, oh = cases[c].out_h;
                double sx = cases[c].x_step, sy = cases[c].y_step;
                tg_axis x = {cases[c].x0, sx > 0 ? sx : (double)w / ow, w, ow};
                tg_axis y = {cases[c].y0, sy > 0 ? sy : (double)h / oh, h, oh};
                picture in = noise(fmt, w, h);
                for (int f = 0; f < TG_FILTERS; f++)
                    check_reference(in, x, y, (tg_filter)f, 1.0);
                free(in.px);
            }
}

/* 25 000 pixels to 10 on either axis: kernels of 15 000 taps. */
static void test_enormous(void)
{
    for (unsigned bits = 8; bits <= 16; bits += 8) {
        tg_pixfmt fmt = {1, (uint8_t)bits};
        for (int tall = 0; tall < 2; tall++) {
            picture in = tall ? noise(fmt, 3, 25000) : noise(fmt, 25000, 3);
            tg_axis along = {0, 2500, 25000, 10}, across = {0, 1, 3, 3};
            check_reference(in, tall ? across : along, tall ? along : across, TG_FILTER_LANCZOS3,
                            1.0);
            for (size_t i = 0; i < 75000; i++)
                set(in, (uint32_t)(i % in.w), (uint32_t)(i / in.w), 0, i % 2 ? max_of(fmt) : 0);
            check_reference(in, tall ? across : along, tall ? along : across, TG_FILTER_LANCZOS3,
                            1.0);
            free(in.px);
        }
    }
}

static void test_flat(void)
{
    static const uint32_t sizes[][2] = {{1, 1}, {7, 5}, {100, 3}, {64, 64}, {129, 200}};
    for (int f = 0; f < TG_FILTERS; f++)
        for (unsigned channels = 1; channels <= 4; channels++)
            for (unsigned bits = 8; bits <= 16; bits += 8)
                for (size_t s = 0; s < 5; s++) {
                    tg_pixfmt fmt = {(uint8_t)channels, (uint8_t)bits};
                    picture in = picture_new(fmt, 97, 61);
                    unsigned v[4] = {0, max_of(fmt), 1 + max_of(fmt) / 3, max_of(fmt) - 1};
                    for (size_t i = 0; i < 97 * 61; i++)
                        for (unsigned k = 0; k < channels; k++)
                            set(in, (uint32_t)(i % 97), (uint32_t)(i / 97), k, v[(k + 1) % 4]);
                    picture out = scale(in, sizes[s][0], sizes[s][1], (tg_filter)f);
                    unsigned wrong = 0;
                    for (uint32_t y = 0; y < out.h; y++)
                        for (uint32_t x = 0; x < out.w; x++)
                            for (unsigned k = 0; k < channels; k++)
                                wrong += get(out, x, y, k) != get(in, 0, 0, k) &&
                                         !(channels == 4 && get(in, 0, 0, 3) == 0);
                    CHECK_INT(wrong, 0);
                    free(in.px);
                    free(out.px);
                }
}

/* The identity is bit exact, also of colour under full transparency and as a window. */
static void test_identity(void)
{
    for (int f = 0; f < TG_FILTERS; f++)
        for (unsigned channels = 1; channels <= 4; channels++)
            for (unsigned bits = 8; bits <= 16; bits += 8) {
                picture in = noise((tg_pixfmt){(uint8_t)channels, (uint8_t)bits}, 53, 31);
                size_t px = tg_pixfmt_bytes(in.fmt);
                picture out = scale(in, 53, 31, (tg_filter)f);
                CHECK(memcmp(in.px, out.px, 53 * 31 * px) == 0);
                free(out.px);
                tg_axis x = {7, 1, 53, 40}, y = {3, 1, 31, 20};
                out = scale_axes(in, x, y, (tg_filter)f);
                for (uint32_t v = 0; v < 20; v++)
                    CHECK(memcmp(row_of(out, v), row_of(in, v + 3) + 7 * px, 40 * px) == 0);
                free(out.px);
                free(in.px);
            }
}

/* A ramp keeps its value at the centres: no half-pixel shift. Edges repeat, so the inside counts.
 */
static void test_ramp(void)
{
    static const uint32_t sizes[] = {400, 200, 137, 100, 91, 1000};
    for (int f = TG_FILTER_BOX; f < TG_FILTERS; f++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            picture in = picture_new((tg_pixfmt){1, 16}, 400, 400);
            for (uint32_t y = 0; y < 400; y++)
                for (uint32_t x = 0; x < 400; x++)
                    set(in, x, y, 0, 60 * x + 80 * y + 70); /* 60 (x + .5) + 80 (y + .5) */
            picture out = scale(in, sizes[s], sizes[s], (tg_filter)f);
            double step = 400.0 / sizes[s], worst = 0;
            uint32_t edge = (uint32_t)ceil(3 * fmax(step, 1) / step) + 1;
            for (uint32_t y = edge; y + edge < out.h; y++)
                for (uint32_t x = edge; x + edge < out.w; x++) {
                    double want = (60 * (x + 0.5) + 80 * (y + 0.5)) * step;
                    worst = fmax(worst, fabs(get(out, x, y, 0) - want));
                }
            /* Whole steps are symmetric, hence exact; otherwise 5 of 140 per pixel is the most that
             * the kernels' own departure from a ramp explains. */
            if (f != TG_FILTER_BOX || step >= 1)
                CHECK(worst <= (step == floor(step) ? 0.51 : 5));
            free(in.px);
            free(out.px);
        }
}

static picture mirrored(picture in, bool x, bool y)
{
    picture out = picture_new(in.fmt, in.w, in.h);
    for (uint32_t v = 0; v < in.h; v++)
        for (uint32_t u = 0; u < in.w; u++)
            for (unsigned k = 0; k < in.fmt.channels; k++)
                set(out, x ? in.w - 1 - u : u, y ? in.h - 1 - v : v, k, get(in, u, v, k));
    return out;
}

static unsigned most_apart(picture a, picture b)
{
    unsigned most = 0;
    for (uint32_t y = 0; y < a.h; y++)
        for (uint32_t x = 0; x < a.w; x++)
            for (unsigned k = 0; k < a.fmt.channels; k++) {
                unsigned p = get(a, x, y, k), q = get(b, x, y, k);
                most = TG_MAX(most, p > q ? p - q : q - p);
            }
    return most;
}

/* Nearest is left out: with a centre on a border between pixels it has to choose a side. */
static void test_mirror(void)
{
    static const uint32_t sizes[][2] = {{60, 41}, {33, 17}, {97, 100}, {201, 5}};
    for (int f = TG_FILTER_BOX; f < TG_FILTERS; f++)
        for (size_t s = 0; s < 4; s++) {
            picture in = noise((tg_pixfmt){3, 8}, 97, 83);
            picture turned_in = mirrored(in, true, true);
            picture a = scale(in, sizes[s][0], sizes[s][1], (tg_filter)f);
            picture b = scale(turned_in, sizes[s][0], sizes[s][1], (tg_filter)f);
            picture c = mirrored(b, true, true);
            CHECK(most_apart(a, c) <= 1);
            free(in.px);
            free(turned_in.px);
            free(a.px);
            free(b.px);
            free(c.px);
        }
}

/* Windows of a bigger picture, as tiles are, equal the crop of the whole. */
static void test_tiles(void)
{
    picture in = noise((tg_pixfmt){3, 8}, 400, 300);
    for (int f = 0; f < TG_FILTERS; f++) {
        double step = f % 2 ? 2.37 : 0.81;
        uint32_t out_w = (uint32_t)(400 / step), out_h = (uint32_t)(300 / step);
        tg_axis x = {0, step, 400, out_w}, y = {0, step, 300, out_h};
        picture whole = scale_axes(in, x, y, (tg_filter)f);
        tg_axis wx = {40 * step, step, 400, 32}, wy = {30 * step, step, 300, 32};
        int64_t x0, x1, y0, y1;
        tg_filter_extent(&wx, (tg_filter)f, &x0, &x1);
        tg_filter_extent(&wy, (tg_filter)f, &y0, &y1);
        CHECK(x0 >= 0 && x1 <= 400 && y0 >= 0 && y1 <= 300);
        picture window = picture_new(in.fmt, (uint32_t)(x1 - x0), (uint32_t)(y1 - y0));
        for (uint32_t v = 0; v < window.h; v++)
            memcpy(row_of(window, v), row_of(in, (uint32_t)y0 + v) + 3 * x0, 3 * window.w);
        wx.origin -= (double)x0;
        wx.in_px = window.w;
        wy.origin -= (double)y0;
        wy.in_px = window.h;
        picture tile = scale_axes(window, wx, wy, (tg_filter)f);
        picture crop = picture_new(in.fmt, 32, 32);
        for (uint32_t v = 0; v < 32; v++)
            memcpy(row_of(crop, v), row_of(whole, 30 + v) + 3 * 40, 3 * 32);
        CHECK(most_apart(tile, crop) <= 1);
        free(whole.px);
        free(window.px);
        free(tile.px);
        free(crop.px);
    }
    free(in.px);
}

/* Bright green under full transparency beside opaque red: the red stays pure. */
static void test_bleed(void)
{
    for (int f = 0; f < TG_FILTERS; f++)
        for (unsigned bits = 8; bits <= 16; bits += 8)
            for (uint32_t size = 13; size <= 200; size += 54) {
                tg_pixfmt fmt = {4, (uint8_t)bits};
                unsigned max = max_of(fmt), green = 0, pale = 0;
                picture in = picture_new(fmt, 64, 64);
                for (uint32_t y = 0; y < 64; y++)
                    for (uint32_t x = 0; x < 64; x++) {
                        bool opaque = x < 30 && y > 20;
                        set(in, x, y, opaque ? 0 : 1, max);
                        set(in, x, y, 3, opaque ? max : 0);
                    }
                picture out = scale(in, size, size, (tg_filter)f);
                for (uint32_t y = 0; y < size; y++)
                    for (uint32_t x = 0; x < size; x++) {
                        bool visible = get(out, x, y, 3) > 0 && f != TG_FILTER_NEAREST;
                        green += visible && get(out, x, y, 1) > 0;
                        pale += visible && get(out, x, y, 0) < max;
                    }
                CHECK_INT(green, 0);
                CHECK_INT(pale, 0);
                free(in.px);
                free(out.px);
            }
}

/* Whatever the processor: the same bytes. */
static void test_same_bits(void)
{
    unsigned flags = tg_cpu_flags();
    for (unsigned channels = 1; channels <= 4; channels++)
        for (unsigned bits = 8; bits <= 16; bits += 8)
            for (uint32_t w = 40; w < 700; w += 211) {
                picture in = noise((tg_pixfmt){(uint8_t)channels, (uint8_t)bits}, 331, 200);
                tg_cpu_set_mask(0);
                picture c = scale(in, w, 77, TG_FILTER_LANCZOS3);
                tg_cpu_set_mask(flags);
                picture best = scale(in, w, 77, TG_FILTER_LANCZOS3);
                CHECK_INT(most_apart(c, best), 0);
                free(in.px);
                free(c.px);
                free(best.px);
            }
}

static void check_table(const tg_axis *a, tg_filter filter, tg_precision precision)
{
    tg_err err = {0};
    const tg_filter_table *t = tg_filter_table_get(a, filter, precision, &err);
    CHECK(t != NULL);
    if (!t)
        return;
    int bits = precision == TG_WIDE ? TG_WIDE_COEF_BITS : TG_NARROW_COEF_BITS;
    unsigned wrong = 0;
    for (uint32_t i = 0; i < a->out_px; i++) {
        int64_t sum = 0, sizes = 0;
        for (uint32_t k = 0; k < t->taps_stride; k++) {
            size_t at = (size_t)i * t->taps_stride + k;
            int64_t c = precision == TG_WIDE ? t->wide[at] : t->narrow[at];
            sum += c;
            sizes += c < 0 ? -c : c;
            wrong += k >= t->taps && c;
        }
        wrong += sum != (int64_t)1 << bits || sizes >= (int64_t)2 << bits;
        wrong += t->first[i] < 0 || (uint32_t)t->first[i] + t->taps > a->in_px;
        wrong += i && t->first[i] < t->first[i - 1];
    }
    CHECK_INT(wrong, 0);
    CHECK(t->taps <= tg_filter_taps_max(a, filter) && t->taps_stride % 8 == 0);
    tg_filter_table_release(t);
}

static void test_tables(void)
{
    for (int f = 0; f < TG_FILTERS; f++)
        for (double step = 0.07; step < 40; step *= 1.17)
            for (uint32_t in = 1; in < 900; in = in * 3 + 1) {
                tg_axis a = {in % 5 * 0.3 - 1, step, in, (uint32_t)(in / step) + 2};
                check_table(&a, (tg_filter)f, TG_NARROW);
                check_table(&a, (tg_filter)f, TG_WIDE);
            }
}

static void test_cache(void)
{
    tg_err err = {0};
    tg_axis a = {0, 2, 200, 100};
    const tg_filter_table *t = tg_filter_table_get(&a, TG_FILTER_CUBIC, TG_NARROW, &err);
    CHECK(tg_filter_table_get(&a, TG_FILTER_CUBIC, TG_NARROW, &err) == t);
    const tg_filter_table *w = tg_filter_table_get(&a, TG_FILTER_CUBIC, TG_WIDE, &err);
    CHECK(w && w->wide != NULL && w->narrow == NULL);
    tg_filter_table_release(w);
    for (uint32_t i = 0; i < 100; i++) { /* t is evicted, and outlives it */
        tg_axis other = {0, 2, 200 + i, 100};
        tg_filter_table_release(tg_filter_table_get(&other, TG_FILTER_CUBIC, TG_NARROW, &err));
    }
    CHECK_INT(t->taps, 8);
    CHECK_INT(t->narrow[50 * 8 + 3] + t->narrow[50 * 8 + 4],
              2 * t->narrow[50 * 8 + 3]); /* even step: symmetric */
    tg_filter_table_release(t);
    tg_filter_table_release(t);
    tg_filter_cache_clear();
    CHECK_INT(tg_image_in_use(), 0);
}

/* The estimate covers what is really taken, and refusals are errors, not crashes. */
static void test_memory(void)
{
    static const uint32_t sizes[][4] = {
        {500, 400, 100, 90}, {100, 90, 500, 400}, {3000, 100, 2, 90}, {90, 9000, 80, 3}};
    tg_filter_cache_clear();
    for (unsigned channels = 1; channels <= 4; channels++)
        for (unsigned bits = 8; bits <= 16; bits += 8)
            for (size_t s = 0; s < 4; s++) {
                tg_err err = {0};
                tg_pixfmt fmt = {(uint8_t)channels, (uint8_t)bits};
                const uint32_t *z = sizes[s];
                tg_axis x = {0, (double)z[0] / z[2], z[0], z[2]};
                tg_axis y = {0, (double)z[1] / z[3], z[1], z[3]};
                tg_scaler *scaler = tg_scaler_new(fmt, &x, &y, TG_FILTER_LANCZOS3, &err);
                CHECK(tg_image_in_use() <= tg_scaler_cost_bytes(fmt, &x, &y, TG_FILTER_LANCZOS3));
                tg_scaler_free(scaler);
                tg_filter_cache_clear();
                CHECK_INT(tg_image_in_use(), 0);
                tg_image_set_ceiling(1000);
                CHECK(tg_scaler_new(fmt, &x, &y, TG_FILTER_LANCZOS3, &err) == NULL);
                CHECK_INT(err.kind, TG_ERR_TOO_LARGE);
                CHECK_INT(tg_image_in_use(), 0);
                tg_image_set_ceiling((size_t)512 << 20);
            }
}

static void test_refusals(void)
{
    static const tg_axis absurd[] = {
        {0, 1e9, 1, 1u << 30},  {0, 1, UINT32_MAX, 1}, {1e300, 1, 10, 10}, {NAN, 1, 10, 10},
        {0, NAN, 10, 10},       {0, 0, 10, 10},        {0, -1, 10, 10},    {0, INFINITY, 10, 10},
        {0, 1, 10, UINT32_MAX}, {0, 1, 0, 1},
    };
    tg_axis sound = {0, 1, 10, 10};
    for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++) {
        tg_err err = {0};
        CHECK(tg_scaler_new((tg_pixfmt){3, 8}, &absurd[i], &sound, TG_FILTER_LANCZOS3, &err) ==
              NULL);
        CHECK_INT(err.kind, TG_ERR_TOO_LARGE);
        err = (tg_err){0};
        CHECK(tg_scaler_new((tg_pixfmt){3, 8}, &sound, &absurd[i], TG_FILTER_BOX, &err) == NULL);
        CHECK_INT(err.kind, TG_ERR_TOO_LARGE);
    }
    tg_filter_cache_clear();
    CHECK_INT(tg_image_in_use(), 0);
}

int main(void)
{
    test_tables();
    test_cache();
    test_reference();
    test_enormous();
    test_flat();
    test_identity();
    test_ramp();
    test_mirror();
    test_tiles();
    test_bleed();
    test_same_bits();
    test_memory();
    test_refusals();
    return check_done();
}
