/* The resampler's kernels.
 *
 * Two precisions share one algorithm. "Narrow" serves 8-bit samples with moderate kernels: int16
 * work samples with TG_NARROW_FRAC fractional bits, int16 weights, int32 sums. "Wide" serves 16-bit
 * samples, and 8-bit samples under kernels so long that 14-bit weights would be coarse: int32 work
 * samples, int32 weights, int64 sums.
 *
 * Work rows are planar: channel k begins at k * plane samples. They hold premultiplied colour when
 * the format has alpha. Both are allocated with TG_SCALE_PAD samples to spare behind the last one.
 *
 * Each TG_DECL_ macro states a signature once; the typedef, the C function, the SIMD functions and
 * the test are all made from it. */
#ifndef TEGULA_DSP_SCALE_H
#define TEGULA_DSP_SCALE_H

#include <stddef.h>
#include <stdint.h>

#define TG_NARROW_COEF_BITS 14
#define TG_NARROW_FRAC      6
#define TG_WIDE_COEF_BITS   28
#define TG_WIDE_FRAC        12
#define TG_SCALE_PAD        128

/* v / 2^s rounded to nearest, halves up; the only rounding in the resampler. */
#define TG_ROUND_SHIFT(v, s) (((v) + ((__typeof__(v))1 << ((s)-1))) >> (s))

/* n pixels of interleaved samples to planes: v << FRAC; with alpha (2 or 4 channels), colour is
 * round((v * alpha << FRAC) / max). Writes exactly n samples of each plane. */
#define TG_DECL_LOAD8(name)                                                                        \
    void name(int16_t *dst, size_t plane, const uint8_t *src, unsigned channels, size_t n)
#define TG_DECL_LOAD8_WIDE(name)                                                                   \
    void name(int32_t *dst, size_t plane, const uint8_t *src, unsigned channels, size_t n)
#define TG_DECL_LOAD16_WIDE(name)                                                                  \
    void name(int32_t *dst, size_t plane, const uint16_t *src, unsigned channels, size_t n)

/* The inverse, clamped to the sample's range: round(w / 2^FRAC); with alpha, colour is
 * round(w * max / alpha) with the unrounded alpha, and 0 where that is not positive. */
#define TG_DECL_STORE8(name)                                                                       \
    void name(uint8_t *dst, const int16_t *src, size_t plane, unsigned channels, size_t n)
#define TG_DECL_STORE8_WIDE(name)                                                                  \
    void name(uint8_t *dst, const int32_t *src, size_t plane, unsigned channels, size_t n)
#define TG_DECL_STORE16_WIDE(name)                                                                 \
    void name(uint16_t *dst, const int32_t *src, size_t plane, unsigned channels, size_t n)

/* Three interleaved channels of work samples to planes; n pixels exactly. */
#define TG_DECL_SPLIT3(name) void name(int16_t *dst, size_t plane, const int16_t *src, size_t n)
#define TG_DECL_SPLIT3_WIDE(name)                                                                  \
    void name(int32_t *dst, size_t plane, const int32_t *src, size_t n)

/* Vertical: dst[x] = sum over t of coef[t] * rows[t][x], rounded to work precision (v8 and v16 take
 * samples as they come) and saturated (narrow) to int16. taps is even, >= 2, with the weight zero
 * and any valid row for a padding tap. The sum of |coef| is below 2 << COEF_BITS. Wide results fit
 * int32 (the caller's samples are below 1.7 * 65535 << TG_WIDE_FRAC in magnitude). n >= 1 samples;
 * may read and write up to TG_SCALE_PAD - 1 samples more. dst overlaps no row. */
#define TG_DECL_V8(name)                                                                           \
    void name(int16_t *dst, const uint8_t *const *rows, const int16_t *coef, unsigned taps,        \
              size_t n)
#define TG_DECL_V16(name)                                                                          \
    void name(int32_t *dst, const uint16_t *const *rows, const int32_t *coef, unsigned taps,       \
              size_t n)
#define TG_DECL_V_NARROW(name)                                                                     \
    void name(int16_t *dst, const int16_t *const *rows, const int16_t *coef, unsigned taps,        \
              size_t n)
#define TG_DECL_V_WIDE(name)                                                                       \
    void name(int32_t *dst, const int32_t *const *rows, const int32_t *coef, unsigned taps,        \
              size_t n)

/* Horizontal, one plane: dst[i] = sum over t of coef[i * taps + t] * src[first[i] + t]; rounding,
 * limits as above. taps is a multiple of 8; padding taps have weight zero and may lie behind the
 * plane's end, in its spare samples. Writes exactly n samples. */
#define TG_DECL_H_NARROW(name)                                                                     \
    void name(int16_t *dst, const int16_t *src, const int32_t *first, const int16_t *coef,         \
              unsigned taps, size_t n)
#define TG_DECL_H_WIDE(name)                                                                       \
    void name(int32_t *dst, const int32_t *src, const int32_t *first, const int32_t *coef,         \
              unsigned taps, size_t n)

typedef TG_DECL_LOAD8((*tg_load8_fn));
typedef TG_DECL_LOAD8_WIDE((*tg_load8_wide_fn));
typedef TG_DECL_LOAD16_WIDE((*tg_load16_wide_fn));
typedef TG_DECL_STORE8((*tg_store8_fn));
typedef TG_DECL_STORE8_WIDE((*tg_store8_wide_fn));
typedef TG_DECL_STORE16_WIDE((*tg_store16_wide_fn));
typedef TG_DECL_SPLIT3((*tg_split3_fn));
typedef TG_DECL_SPLIT3_WIDE((*tg_split3_wide_fn));
typedef TG_DECL_V8((*tg_v8_fn));
typedef TG_DECL_V16((*tg_v16_fn));
typedef TG_DECL_V_NARROW((*tg_v_narrow_fn));
typedef TG_DECL_V_WIDE((*tg_v_wide_fn));
typedef TG_DECL_H_NARROW((*tg_h_narrow_fn));
typedef TG_DECL_H_WIDE((*tg_h_wide_fn));

typedef struct tg_scale_dsp {
    tg_load8_fn load8;
    tg_load8_wide_fn load8_wide;
    tg_load16_wide_fn load16_wide;
    tg_store8_fn store8;
    tg_store8_wide_fn store8_wide;
    tg_store16_wide_fn store16_wide;
    tg_split3_fn split3;
    tg_split3_wide_fn split3_wide;
    tg_v8_fn v8;
    tg_v16_fn v16;
    tg_v_narrow_fn v_narrow;
    tg_v_wide_fn v_wide;
    tg_h_narrow_fn h_narrow;
    tg_h_wide_fn h_wide;
} tg_scale_dsp;

/* The best kernels for the given processor flags (tg_cpu_flags()). */
void tg_scale_dsp_init(tg_scale_dsp *dsp, unsigned flags);

#endif
