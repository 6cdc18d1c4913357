/* Kernels of process.h, once for each instruction set: NAME(x) says how they are called. Plain
 * loops over rows that compilers turn into vectors; no fused multiplication, no other order of
 * additions, so that all give the same bits. */
#include <stdint.h>
#include <string.h>

#include "tegula/process.h"

/* Comparisons may look at both sides, since nobody asks for floating-point exceptions. */
#ifndef __clang__
#pragma GCC optimize("O3", "no-trapping-math")
#endif

static inline float clamp_1(float v)
{
    v = v > 0 ? v : 0;
    return v < 1 ? v : 1;
}

/* ---- loading and storing ---- */

#define BLOCK 64 /* pixels at once where something has to be kept between two loops */

#define DEFINE_LOAD(name, sample)                                                                  \
    static void name(float *restrict dst, const sample *restrict src, size_t step, size_t n,       \
                     float scale, float offset)                                                    \
    {                                                                                              \
        for (size_t x = 0; x < n; x++)                                                             \
            dst[x] = clamp_1((float)src[x * step] * scale + offset);                               \
    }
DEFINE_LOAD(load8, uint8_t)
DEFINE_LOAD(load16, uint16_t)

/* Three channels in one loop, so that it can be done with whole vectors of pixels. */
static void part_3(uint8_t *restrict part, const uint8_t *restrict src, size_t n)
{
    for (size_t x = 0; x < n; x++) {
        part[x] = src[3 * x];
        part[BLOCK + x] = src[3 * x + 1];
        part[2 * BLOCK + x] = src[3 * x + 2];
    }
}

static void load8_rgb(float *planes, size_t plane, const uint8_t *src, size_t n,
                      const tg_process_steps *s)
{
    uint8_t part[3 * BLOCK];
    for (size_t x = 0; x < n; x += BLOCK) {
        size_t m = n - x < BLOCK ? n - x : BLOCK;
        part_3(part, src + 3 * x, m);
        for (unsigned c = 0; c < 3; c++)
            load8(planes + c * plane + x, part + c * BLOCK, 1, m, s->scale[c], s->offset[c]);
    }
}

static void NAME(load)(float *planes, size_t plane, const void *src, unsigned bits, size_t n,
                       const tg_process_steps *s)
{
    if (bits == 8 && s->in == 3) {
        load8_rgb(planes, plane, src, n, s);
        return;
    }
    if (bits == 8 && s->in == 1) {
        load8(planes, src, 1, n, s->scale[0], s->offset[0]);
        return;
    }
    for (unsigned c = 0; c < s->in; c++) {
        float *dst = planes + c * plane;
        if (bits == 8)
            load8(dst, (const uint8_t *)src + c, s->in, n, s->scale[c], s->offset[c]);
        else
            load16(dst, (const uint16_t *)src + c, s->in, n, s->scale[c], s->offset[c]);
    }
}

#define DEFINE_STORE(name, sample, white)                                                          \
    static void name(sample *restrict dst, const float *restrict src, size_t step, size_t n,       \
                     float gain)                                                                   \
    {                                                                                              \
        for (size_t x = 0; x < n; x++)                                                             \
            dst[x * step] = (sample)(int32_t)(clamp_1(src[x] * gain) * (white) + .5f);             \
    }
DEFINE_STORE(store8, uint8_t, 255.f)
DEFINE_STORE(store16, uint16_t, 65535.f)

static void join_3(uint8_t *restrict dst, const uint8_t *restrict part, size_t n)
{
    for (size_t x = 0; x < n; x++) {
        dst[3 * x] = part[x];
        dst[3 * x + 1] = part[BLOCK + x];
        dst[3 * x + 2] = part[2 * BLOCK + x];
    }
}

static void store8_rgb(uint8_t *dst, const float *planes, size_t plane, float gain, size_t n)
{
    uint8_t part[3 * BLOCK];
    for (size_t x = 0; x < n; x += BLOCK) {
        size_t m = n - x < BLOCK ? n - x : BLOCK;
        for (unsigned c = 0; c < 3; c++)
            store8(part + c * BLOCK, planes + c * plane + x, 1, m, gain);
        join_3(dst + 3 * x, part, m);
    }
}

static void NAME(store)(void *dst, const float *planes, size_t plane, tg_pixfmt fmt, float gain,
                        size_t n)
{
    if (fmt.bits == 8 && fmt.channels == 3) {
        store8_rgb(dst, planes, plane, gain, n);
        return;
    }
    if (fmt.bits == 8 && fmt.channels == 1) {
        store8(dst, planes, 1, n, gain);
        return;
    }
    for (unsigned c = 0; c < fmt.channels; c++) {
        const float *src = planes + c * plane;
        float by = tg_pixfmt_alpha(fmt) && c == fmt.channels - 1u ? 1 : gain;
        if (fmt.bits == 8)
            store8((uint8_t *)dst + c, src, fmt.channels, n, by);
        else
            store16((uint16_t *)dst + c, src, fmt.channels, n, by);
    }
}

/* ---- the steps ---- */

/* A normal is 1 - 2 v; black, all zero, is none. */
static void shade(float *restrict r, const float *restrict g, const float *restrict b,
                  const float light[3], size_t n)
{
    float lx = light[0], ly = light[1], lz = light[2];
    for (size_t x = 0; x < n; x++) {
        float dot = (1 - 2 * r[x]) * lx + (1 - 2 * g[x]) * ly + (1 - 2 * b[x]) * lz;
        float none = r[x] + g[x] + b[x] > 0 ? .5f : 0;
        r[x] = clamp_1(dot * none);
    }
}

#define ALPHA 3 /* the plane that alpha lies in between loading and storing */

static void matrix(float *planes, size_t plane, size_t n, const tg_process_steps *s)
{
    float sum[TG_PROCESS_CHANNELS][BLOCK];
    for (size_t x = 0; x < n; x += BLOCK) {
        size_t m = n - x < BLOCK ? n - x : BLOCK;
        memset(sum, 0, sizeof sum);
        for (unsigned to = 0; to < s->matrix_rows; to++)
            for (unsigned from = 0; from < s->in; from++) {
                unsigned at = s->alpha && from == s->in - 1u ? ALPHA : from;
                const float *v = planes + at * plane + x;
                float k = s->matrix[to][from], *restrict t = sum[to];
                for (size_t i = 0; i < m; i++)
                    t[i] += k * v[i];
            }
        for (unsigned to = 0; to < s->matrix_rows; to++)
            memcpy(planes + to * plane + x, sum[to], m * sizeof(float));
    }
}

static inline int32_t bits_of(float v)
{
    int32_t i;
    memcpy(&i, &v, sizeof i);
    return i;
}

static inline float float_of(int32_t i)
{
    float v;
    memcpy(&v, &i, sizeof v);
    return v;
}

/* Of v > 0, within 2e-7 of the true value or of its size: v = m 2^e with m around 1, and the series
 * of ln by t = (m - 1) / (m + 1), where |t| < 0.172. */
static inline float log2_of(float v)
{
    int32_t i = bits_of(v) - 0x3f3504f3; /* sqrt(1/2) */
    int32_t e = i >> 23;
    float m = float_of((i & 0x7fffff) + 0x3f3504f3);
    float t = (m - 1) / (m + 1), t2 = t * t;
    float series = 1 + t2 * (1.f / 3 + t2 * (1.f / 5 + t2 * (1.f / 7 + t2 * (1.f / 9))));
    return (float)e + 2.88539008f * t * series;
}

/* 2^y, y <= 0, within 3e-7 of its size; below -126 a value that is 0 for all purposes. */
static inline float exp2_of(float y)
{
    y = y > -126 ? y : -126;
    float whole = y + 12582912.f - 12582912.f; /* adding 1.5 * 2^23 rounds to nearest */
    float x = (y - whole) * 0.693147181f;
    float series =
        1 +
        x * (1 + x * (.5f + x * (1.f / 6 + x * (1.f / 24 + x * (1.f / 120 + x * (1.f / 720))))));
    return series * float_of(((int32_t)whole + 127) << 23);
}

static void power(float *restrict v, float g, size_t n)
{
    float zero = g > 0 ? 0 : 1;
    for (size_t x = 0; x < n; x++) {
        float u = clamp_1(v[x]);
        float p = exp2_of(g * log2_of(u > 1e-30f ? u : 1));
        v[x] = u > 1e-30f ? p : zero;
    }
}

static void logarithm(float *restrict v, size_t n)
{
    for (size_t x = 0; x < n; x++)
        v[x] = log2_of(1 + 255 * clamp_1(v[x])) * .125f;
}

static void invert(float *restrict v, size_t n)
{
    for (size_t x = 0; x < n; x++)
        v[x] = 1 - v[x];
}

/* A ramp that is 0 up to `from` and 1 from there on by 1 / slope. */
static inline float rise(float v, float from, float slope)
{
    return clamp_1((v - from) * slope);
}

static void map_hot(float *restrict first, float *restrict second, float *restrict third, size_t n)
{
    for (size_t x = 0; x < n; x++) {
        float v = clamp_1(first[x]);
        first[x] = rise(v, 0, 3);
        second[x] = rise(v, 1.f / 3, 3);
        third[x] = rise(v, 2.f / 3, 3);
    }
}

static void map_jet(float *restrict r, float *restrict g, float *restrict b, size_t n)
{
    for (size_t x = 0; x < n; x++) {
        float v = clamp_1(r[x]);
        r[x] = rise(v, .375f, 4) - .5f * rise(v, .875f, 8);
        g[x] = rise(v, .125f, 4) - rise(v, .625f, 4);
        b[x] = .5f + .5f * rise(v, 0, 8) - rise(v, .375f, 4);
    }
}

static void map_single(float *planes, size_t plane, size_t n, unsigned channel)
{
    if (channel)
        memcpy(planes + channel * plane, planes, n * sizeof(float));
    for (unsigned c = 0; c < 3; c++)
        if (c != channel)
            memset(planes + c * plane, 0, n * sizeof(float));
}

static void map(float *planes, size_t plane, size_t n, tg_colour_map which)
{
    float *r = planes, *g = planes + plane, *b = planes + 2 * plane;
    switch (which) {
    case TG_MAP_HOT:
        map_hot(r, g, b, n);
        break;
    case TG_MAP_COLD: /* hot with red and blue changed */
        memcpy(b, r, n * sizeof(float));
        map_hot(b, g, r, n);
        break;
    case TG_MAP_JET:
        map_jet(r, g, b, n);
        break;
    case TG_MAP_BLUE:
    case TG_MAP_GREEN:
    case TG_MAP_RED:
        map_single(planes, plane, n, (unsigned)(TG_MAP_RED - which));
        break;
    case TG_MAP_NONE:
    case TG_MAPS:
        break;
    }
}

static void copy_plane(float *planes, size_t plane, size_t n, unsigned from, unsigned to)
{
    if (from != to)
        memcpy(planes + to * plane, planes + from * plane, n * sizeof(float));
}

static void tone(float *v, size_t n, const tg_process_steps *s)
{
    if (s->gamma == TG_GAMMA_POWER)
        power(v, s->exponent, n);
    else if (s->gamma == TG_GAMMA_LOG)
        logarithm(v, n);
    if (s->invert)
        invert(v, n);
}

static void NAME(steps)(float *planes, size_t plane, size_t n, const tg_process_steps *s)
{
    unsigned colours = (unsigned)s->in - s->alpha;
    if (s->alpha)
        copy_plane(planes, plane, n, s->in - 1u, ALPHA);
    if (s->shade) {
        shade(planes, planes + plane, planes + 2 * plane, s->light, n);
        colours = 1;
    }
    if (s->matrix_rows) {
        matrix(planes, plane, n, s);
        colours = s->matrix_rows < 3 ? s->matrix_rows : 3;
    }
    for (unsigned c = 0; c < colours; c++)
        tone(planes + c * plane, n, s);
    map(planes, plane, n, s->map);
    if (s->out == 2 || s->out == 4)
        copy_plane(planes, plane, n, ALPHA, s->out - 1u);
}

static void NAME(convolve)(float *dst, const float *const row[TG_KERNEL_SIDE_MAX],
                           const float *kernel, unsigned side, size_t n)
{
    memset(dst, 0, n * sizeof *dst);
    for (unsigned j = 0; j < side; j++)
        for (unsigned i = 0; i < side; i++) {
            const float *v = row[j] + i;
            float k = kernel[side * j + i], *restrict sum = dst;
            for (size_t x = 0; x < n; x++)
                sum[x] += k * v[x];
        }
}
