/* Kernels and their quantised weights. */
#include "tegula/filter.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "filter_table.h"
#include "tegula/dsp_scale.h"
#include "tegula/mem.h"
#include "tegula/num.h"

/* Taps whose weight is zero but for the noise of computing their place, in px. */
#define NOISE_PX 1e-9

/* A table may not look at more source pixels than this, inside the picture or beyond its edges: it
 * takes 64 MiB and a tenth of a second, before it is known that a file has the pixels it promises.
 */
#define TAPS_MAX ((double)(1u << 24))

static const struct {
    const char *name;
    double radius; /* of the unwidened kernel, px */
} filters[TG_FILTERS] = {
    [TG_FILTER_NEAREST] = {"nearest", 0},   [TG_FILTER_BOX] = {"box", 0.5},
    [TG_FILTER_BILINEAR] = {"bilinear", 1}, [TG_FILTER_CUBIC] = {"cubic", 2},
    [TG_FILTER_LANCZOS2] = {"lanczos2", 2}, [TG_FILTER_LANCZOS3] = {"lanczos3", 3},
};

const char *tg_filter_name(tg_filter filter)
{
    return filters[filter].name;
}

static double centre(const tg_axis *axis, uint32_t i)
{
    return axis->origin + (i + 0.5) * axis->step;
}

static bool picks_pixels(const tg_axis *axis, tg_filter filter)
{
    return filter == TG_FILTER_NEAREST || (axis->step == 1 && axis->origin == floor(axis->origin));
}

/* Half the source length a kernel covers. */
static double radius(const tg_axis *axis, tg_filter filter)
{
    double scale = filter == TG_FILTER_BOX ? axis->step : TG_MAX(axis->step, 1);
    return filters[filter].radius * scale;
}

typedef struct span {
    int64_t first, end;
} span;

/* The pixels under the kernel of output i, wherever they lie. */
static span span_at(const tg_axis *axis, tg_filter filter, uint32_t i)
{
    double c = centre(axis, i), r = radius(axis, filter);
    int64_t at = (int64_t)floor(c);
    if (picks_pixels(axis, filter))
        return (span){at, at + 1};
    span s;
    if (filter == TG_FILTER_BOX)
        s = (span){(int64_t)floor(c - r + NOISE_PX), (int64_t)ceil(c + r - NOISE_PX)};
    else
        s = (span){(int64_t)floor(c - r - 0.5 + NOISE_PX) + 1,
                   (int64_t)ceil(c + r - 0.5 - NOISE_PX)};
    return s.first < s.end ? s : (span){at, at + 1};
}

void tg_filter_extent(const tg_axis *axis, tg_filter filter, int64_t *first, int64_t *end)
{
    *first = span_at(axis, filter, 0).first;
    *end = span_at(axis, filter, axis->out_px - 1).end;
}

uint32_t tg_filter_taps_max(const tg_axis *axis, tg_filter filter)
{
    if (picks_pixels(axis, filter))
        return 1;
    double taps = ceil(2 * radius(axis, filter)) + 1;
    return taps < axis->in_px ? (uint32_t)taps : axis->in_px;
}

static double triangle(double x)
{
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

static double catmull_rom(double x)
{
    x = fabs(x);
    if (x < 1)
        return (1.5 * x - 2.5) * x * x + 1;
    return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

/* sinc(x) sinc(x / lobes) at x, x + dx, …, all within the lobes; lobes is 2 or 3. Sine and cosine
 * of pi x / lobes are turned on from tap to tap, and sin(pi x) follows from them. */
static void weigh_lanczos(double *w, size_t n, double x, double dx, int lobes)
{
    double s = sin(M_PI / lobes * x), c = cos(M_PI / lobes * x);
    double ds = sin(M_PI / lobes * dx), dc = cos(M_PI / lobes * dx);
    for (size_t t = 0; t < n; t++) {
        double at = x + (double)t * dx, turned = s * dc + c * ds;
        double whole = lobes == 2 ? 2 * s * c : s * (3 - 4 * s * s);
        w[t] = fabs(at) < 1e-6 ? 1 : lobes * whole * s / (M_PI * M_PI * at * at);
        c = c * dc - s * ds;
        s = turned;
    }
}

/* The length of each pixel under [c - r, c + r). */
static void weigh_box(double *w, size_t n, double first, double c, double r)
{
    for (size_t t = 0; t < n; t++) {
        double lo = fmax(first + (double)t, c - r), hi = fmin(first + (double)t + 1, c + r);
        w[t] = fmax(hi - lo, 0);
    }
}

static void weigh(double *w, const tg_axis *axis, tg_filter filter, uint32_t i, span s)
{
    size_t n = (size_t)(s.end - s.first);
    double c = centre(axis, i), dx = 1 / TG_MAX(axis->step, 1);
    double x = ((double)s.first + 0.5 - c) * dx;
    if (n == 1) {
        w[0] = 1;
        return;
    }
    switch (filter) {
    case TG_FILTER_BOX:
        weigh_box(w, n, (double)s.first, c, radius(axis, filter));
        break;
    case TG_FILTER_BILINEAR:
        for (size_t t = 0; t < n; t++)
            w[t] = triangle(x + (double)t * dx);
        break;
    case TG_FILTER_CUBIC:
        for (size_t t = 0; t < n; t++)
            w[t] = catmull_rom(x + (double)t * dx);
        break;
    default:
        weigh_lanczos(w, n, x, dx, filter == TG_FILTER_LANCZOS2 ? 2 : 3);
        break;
    }
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* The part of s inside [0, in_px); at least one pixel, the nearest edge's. */
static span inside(const tg_axis *axis, span s)
{
    int64_t last = (int64_t)axis->in_px - 1;
    return (span){clamp(s.first, 0, last), clamp(s.end - 1, 0, last) + 1};
}

/* Adds the weights of s beyond in to the edge pixels they repeat. Returns the weights of in. */
static double *fold_edges(double *w, span s, span in)
{
    int64_t last = s.end - s.first - 1;
    int64_t a = clamp(in.first - s.first, 0, last), z = clamp(in.end - 1 - s.first, 0, last);
    for (int64_t t = 0; t < a; t++)
        w[a] += w[t];
    for (int64_t t = z + 1; t <= last; t++)
        w[z] += w[t];
    return w + a;
}

/* Writes n weights with the sum 1 << bits: each is a difference of rounded running sums. */
static void quantise(tg_filter_table *table, size_t at, const double *w, size_t n)
{
    int bits = table->precision == TG_WIDE ? TG_WIDE_COEF_BITS : TG_NARROW_COEF_BITS;
    double total = 0, running = 0;
    for (size_t t = 0; t < n; t++)
        total += w[t];
    int32_t one = (int32_t)1 << bits, before = 0;
    double unit = one / total;
    for (size_t t = 0; t < n; t++) {
        running += w[t];
        /* Running sums are above -1: adding 1 lets the conversion round down. */
        int32_t now = t + 1 < n ? (int32_t)(running * unit + 0.5 + one) - one : one;
        if (table->precision == TG_WIDE)
            ((int32_t *)table->wide)[at + t] = now - before;
        else
            ((int16_t *)table->narrow)[at + t] = (int16_t)(now - before);
        before = now;
    }
}

static void build_rows(tg_filter_table *table, double *w)
{
    const tg_axis *axis = &table->axis;
    for (uint32_t i = 0; i < axis->out_px; i++) {
        span s = span_at(axis, table->filter, i), in = inside(axis, s);
        weigh(w, axis, table->filter, i, s);
        int64_t first = TG_MIN(in.first, (int64_t)axis->in_px - table->taps);
        ((int32_t *)table->first)[i] = (int32_t)first;
        quantise(table, (size_t)i * table->taps_stride + (size_t)(in.first - first),
                 fold_edges(w, s, in), (size_t)(in.end - in.first));
    }
}

/* Whether places and taps are of a size that can be computed with. */
static bool sane(const tg_axis *axis, tg_filter filter)
{
    double last = centre(axis, axis->out_px - 1), r = radius(axis, filter);
    return axis->in_px && axis->in_px <= INT32_MAX && axis->out_px && axis->step > 0 &&
           fabs(axis->origin) < 1e12 && fabs(last) < 1e12 && (2 * r + 2) * axis->out_px < TAPS_MAX;
}

static uint32_t taps_used(const tg_axis *axis, tg_filter filter)
{
    int64_t most = 1;
    for (uint32_t i = 0; i < axis->out_px; i++) {
        span in = inside(axis, span_at(axis, filter, i));
        most = TG_MAX(most, in.end - in.first);
    }
    return (uint32_t)most;
}

tg_filter_table *tg_filter_table_build(const tg_axis *axis, tg_filter filter,
                                       tg_precision precision, tg_err *err)
{
    if (!sane(axis, filter)) {
        tg_fail(err, TG_ERR_TOO_LARGE, "the reduction is beyond what this server computes");
        return NULL;
    }
    tg_filter_table *table = tg_new(sizeof *table);
    table->axis = *axis;
    table->filter = filter;
    table->precision = precision;
    table->taps = taps_used(axis, filter);
    table->taps_stride = (table->taps + 7) / 8 * 8;
    size_t size = precision == TG_WIDE ? sizeof(int32_t) : sizeof(int16_t);
    size_t coefs = (size_t)axis->out_px * table->taps_stride;
    void *coef = tg_image_alloc(coefs, size, err);
    if (precision == TG_WIDE)
        table->wide = coef;
    else
        table->narrow = coef;
    table->first = tg_image_alloc(axis->out_px, sizeof *table->first, err);
    double *w = tg_image_alloc((size_t)ceil(2 * radius(axis, filter)) + 2, sizeof *w, err);
    bool ok = coef && table->first && w;
    if (ok) {
        memset(coef, 0, coefs * size);
        build_rows(table, w);
    }
    tg_image_free(w);
    if (ok)
        return table;
    tg_filter_table_free(table);
    return NULL;
}

void tg_filter_table_free(tg_filter_table *table)
{
    if (!table)
        return;
    tg_image_free((void *)table->narrow);
    tg_image_free((void *)table->wide);
    tg_image_free((void *)table->first);
    free(table);
}

size_t tg_filter_table_bytes(const tg_filter_table *table)
{
    size_t coef = table->wide ? sizeof(int32_t) : sizeof(int16_t);
    return table->axis.out_px * (table->taps_stride * coef + sizeof *table->first);
}
