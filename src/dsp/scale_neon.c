/* The resampler's kernels for 64-bit ARM. */
#include <arm_neon.h>

#include "scale.h"

static inline int16x8_t narrowed(int32x4_t lo, int32x4_t hi, int shift)
{
    int32x4_t by = vdupq_n_s32(-shift);
    return vcombine_s16(vqmovn_s32(vrshlq_s32(lo, by)), vqmovn_s32(vrshlq_s32(hi, by)));
}

static TG_DECL_V8(v8_neon)
{
    for (size_t x = 0; x < n; x += 16) {
        int32x4_t sum[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
        for (unsigned t = 0; t < taps; t++) {
            uint8x16_t v = vld1q_u8(rows[t] + x);
            int16x8_t lo = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(v)));
            int16x8_t hi = vreinterpretq_s16_u16(vmovl_high_u8(v));
            sum[0] = vmlal_n_s16(sum[0], vget_low_s16(lo), coef[t]);
            sum[1] = vmlal_high_n_s16(sum[1], lo, coef[t]);
            sum[2] = vmlal_n_s16(sum[2], vget_low_s16(hi), coef[t]);
            sum[3] = vmlal_high_n_s16(sum[3], hi, coef[t]);
        }
        vst1q_s16(dst + x, narrowed(sum[0], sum[1], TG_NARROW_COEF_BITS - TG_NARROW_FRAC));
        vst1q_s16(dst + x + 8, narrowed(sum[2], sum[3], TG_NARROW_COEF_BITS - TG_NARROW_FRAC));
    }
}

static TG_DECL_V_NARROW(v_narrow_neon)
{
    for (size_t x = 0; x < n; x += 16) {
        int32x4_t sum[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
        for (unsigned t = 0; t < taps; t++) {
            int16x8_t lo = vld1q_s16(rows[t] + x), hi = vld1q_s16(rows[t] + x + 8);
            sum[0] = vmlal_n_s16(sum[0], vget_low_s16(lo), coef[t]);
            sum[1] = vmlal_high_n_s16(sum[1], lo, coef[t]);
            sum[2] = vmlal_n_s16(sum[2], vget_low_s16(hi), coef[t]);
            sum[3] = vmlal_high_n_s16(sum[3], hi, coef[t]);
        }
        vst1q_s16(dst + x, narrowed(sum[0], sum[1], TG_NARROW_COEF_BITS));
        vst1q_s16(dst + x + 8, narrowed(sum[2], sum[3], TG_NARROW_COEF_BITS));
    }
}

TG_CONSTANT_FOLDED void store_wide(int32_t *dst, const int64x2_t sum[4], int shift)
{
    int32x2_t a = vrshrn_n_s64(sum[0], shift), b = vrshrn_n_s64(sum[2], shift);
    vst1q_s32(dst, vrshrn_high_n_s64(a, sum[1], shift));
    vst1q_s32(dst + 4, vrshrn_high_n_s64(b, sum[3], shift));
}

static TG_DECL_V_WIDE(v_wide_neon)
{
    for (size_t x = 0; x < n; x += 8) {
        int64x2_t sum[4] = {vdupq_n_s64(0), vdupq_n_s64(0), vdupq_n_s64(0), vdupq_n_s64(0)};
        for (unsigned t = 0; t < taps; t++) {
            int32x4_t lo = vld1q_s32(rows[t] + x), hi = vld1q_s32(rows[t] + x + 4);
            sum[0] = vmlal_n_s32(sum[0], vget_low_s32(lo), coef[t]);
            sum[1] = vmlal_high_n_s32(sum[1], lo, coef[t]);
            sum[2] = vmlal_n_s32(sum[2], vget_low_s32(hi), coef[t]);
            sum[3] = vmlal_high_n_s32(sum[3], hi, coef[t]);
        }
        store_wide(dst + x, sum, TG_WIDE_COEF_BITS);
    }
}

static TG_DECL_V16(v16_neon)
{
    for (size_t x = 0; x < n; x += 8) {
        int64x2_t sum[4] = {vdupq_n_s64(0), vdupq_n_s64(0), vdupq_n_s64(0), vdupq_n_s64(0)};
        for (unsigned t = 0; t < taps; t++) {
            uint16x8_t v = vld1q_u16(rows[t] + x);
            int32x4_t lo = vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(v)));
            int32x4_t hi = vreinterpretq_s32_u32(vmovl_high_u16(v));
            sum[0] = vmlal_n_s32(sum[0], vget_low_s32(lo), coef[t]);
            sum[1] = vmlal_high_n_s32(sum[1], lo, coef[t]);
            sum[2] = vmlal_n_s32(sum[2], vget_low_s32(hi), coef[t]);
            sum[3] = vmlal_high_n_s32(sum[3], hi, coef[t]);
        }
        store_wide(dst + x, sum, TG_WIDE_COEF_BITS - TG_WIDE_FRAC);
    }
}

static inline int32x4_t dot_narrow(const int16_t *src, const int16_t *coef, unsigned taps)
{
    int32x4_t a = vdupq_n_s32(0), b = vdupq_n_s32(0);
    for (unsigned t = 0; t < taps; t += 8) {
        int16x8_t v = vld1q_s16(src + t), c = vld1q_s16(coef + t);
        a = vmlal_s16(a, vget_low_s16(v), vget_low_s16(c));
        b = vmlal_high_s16(b, v, c);
    }
    return vaddq_s32(a, b);
}

static inline int32x4_t four(const int16_t *src, const int32_t *first, const int16_t *coef,
                             unsigned taps)
{
    int32x4_t v[4];
    for (size_t k = 0; k < 4; k++)
        v[k] = dot_narrow(src + first[k], coef + k * taps, taps);
    return vpaddq_s32(vpaddq_s32(v[0], v[1]), vpaddq_s32(v[2], v[3]));
}

static TG_DECL_H_NARROW(h_narrow_neon)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        int32x4_t lo = four(src, first + i, coef + i * taps, taps);
        int32x4_t hi = four(src, first + i + 4, coef + (i + 4) * taps, taps);
        vst1q_s16(dst + i, narrowed(lo, hi, TG_NARROW_COEF_BITS));
    }
    tg_h_narrow_c(dst + i, src, first + i, coef + i * taps, taps, n - i);
}

static inline int64x2_t dot_wide(const int32_t *src, const int32_t *coef, unsigned taps)
{
    int64x2_t a = vdupq_n_s64(0), b = vdupq_n_s64(0);
    for (unsigned t = 0; t < taps; t += 4) {
        int32x4_t v = vld1q_s32(src + t), c = vld1q_s32(coef + t);
        a = vmlal_s32(a, vget_low_s32(v), vget_low_s32(c));
        b = vmlal_high_s32(b, v, c);
    }
    return vaddq_s64(a, b);
}

static TG_DECL_H_WIDE(h_wide_neon)
{
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        int64x2_t a = dot_wide(src + first[i], coef + i * taps, taps);
        int64x2_t b = dot_wide(src + first[i + 1], coef + (i + 1) * taps, taps);
        vst1_s32(dst + i, vrshrn_n_s64(vpaddq_s64(a, b), TG_WIDE_COEF_BITS));
    }
    tg_h_wide_c(dst + i, src, first + i, coef + i * taps, taps, n - i);
}

static TG_DECL_SPLIT3(split3_neon)
{
    size_t x = 0;
    for (; x + 8 <= n; x += 8) {
        int16x8x3_t v = vld3q_s16(src + 3 * x);
        for (size_t k = 0; k < 3; k++)
            vst1q_s16(dst + k * plane + x, v.val[k]);
    }
    tg_split3_c(dst + x, plane, src + 3 * x, n - x);
}

static TG_DECL_SPLIT3_WIDE(split3_wide_neon)
{
    size_t x = 0;
    for (; x + 4 <= n; x += 4) {
        int32x4x3_t v = vld3q_s32(src + 3 * x);
        for (size_t k = 0; k < 3; k++)
            vst1q_s32(dst + k * plane + x, v.val[k]);
    }
    tg_split3_wide_c(dst + x, plane, src + 3 * x, n - x);
}

static inline void store_widened(int16_t *dst, uint8x16_t v)
{
    vst1q_s16(dst, vreinterpretq_s16_u16(vshll_n_u8(vget_low_u8(v), TG_NARROW_FRAC)));
    vst1q_s16(dst + 8, vreinterpretq_s16_u16(vshll_high_n_u8(v, TG_NARROW_FRAC)));
}

static size_t load_rgb(int16_t *dst, size_t plane, const uint8_t *src, size_t n)
{
    size_t x = 0;
    for (; x + 16 <= n; x += 16) {
        uint8x16x3_t v = vld3q_u8(src + 3 * x);
        for (size_t k = 0; k < 3; k++)
            store_widened(dst + k * plane + x, v.val[k]);
    }
    return x;
}

static size_t load_gray(int16_t *dst, const uint8_t *src, size_t n)
{
    size_t x = 0;
    for (; x + 16 <= n; x += 16)
        store_widened(dst + x, vld1q_u8(src + x));
    return x;
}

static TG_DECL_LOAD8(load8_neon)
{
    size_t x = channels == 1 ? load_gray(dst, src, n) : 0;
    if (channels == 3)
        x = load_rgb(dst, plane, src, n);
    tg_load8_c(dst + x, plane, src + x * channels, channels, n - x);
}

static inline uint8x16_t to_bytes(const int16_t *src)
{
    int16x8_t lo = vrshrq_n_s16(vld1q_s16(src), TG_NARROW_FRAC);
    int16x8_t hi = vrshrq_n_s16(vld1q_s16(src + 8), TG_NARROW_FRAC);
    return vcombine_u8(vqmovun_s16(lo), vqmovun_s16(hi));
}

static size_t store_rgb(uint8_t *dst, const int16_t *src, size_t plane, size_t n)
{
    size_t x = 0;
    for (; x + 16 <= n; x += 16) {
        uint8x16x3_t v;
        for (size_t k = 0; k < 3; k++)
            v.val[k] = to_bytes(src + k * plane + x);
        vst3q_u8(dst + 3 * x, v);
    }
    return x;
}

static size_t store_gray(uint8_t *dst, const int16_t *src, size_t n)
{
    size_t x = 0;
    for (; x + 16 <= n; x += 16)
        vst1q_u8(dst + x, to_bytes(src + x));
    return x;
}

static TG_DECL_STORE8(store8_neon)
{
    size_t x = channels == 1 ? store_gray(dst, src, n) : 0;
    if (channels == 3)
        x = store_rgb(dst, src, plane, n);
    tg_store8_c(dst + x * channels, src + x, plane, channels, n - x);
}

void tg_scale_init_neon(tg_scale_dsp *dsp)
{
    dsp->load8 = load8_neon;
    dsp->store8 = store8_neon;
    dsp->split3 = split3_neon;
    dsp->split3_wide = split3_wide_neon;
    dsp->v8 = v8_neon;
    dsp->v16 = v16_neon;
    dsp->v_narrow = v_narrow_neon;
    dsp->v_wide = v_wide_neon;
    dsp->h_narrow = h_narrow_neon;
    dsp->h_wide = h_wide_neon;
}
