/* The resampler's kernels for SSE4.1. */
#include <smmintrin.h>
#include <string.h>

#include "scale.h"

#define V                       __m128i
#define OP(name)                _mm_##name
#define SET1_64(i)              _mm_set1_epi64x(i)
#define ZERO                    _mm_setzero_si128()
#define LOAD(p)                 _mm_loadu_si128((const __m128i *)(p))
#define STORE(p, v)             _mm_storeu_si128((__m128i *)(p), v)
#define LOAD_U16(p)             _mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)(p)))
#define AND(a, b)               _mm_and_si128(a, b)
#define BLEND_ODD(a, b)         _mm_blend_epi16(a, b, 0xcc)
#define STORE_HALVES(p, lo, hi) (STORE(p, lo), STORE((p) + 8, hi))
#define DECL_V8                 static TG_DECL_V8(v8_sse41)
#define DECL_V16                static TG_DECL_V16(v16_sse41)
#define DECL_V_NARROW           static TG_DECL_V_NARROW(v_narrow_sse41)
#define DECL_V_WIDE             static TG_DECL_V_WIDE(v_wide_sse41)
#include "scale_v_x86_tmpl.h"

/* Returns how many outputs are done. taps is a constant in most calls, which keeps the sums in
 * registers. */
TG_CONSTANT_FOLDED size_t h_fours(int16_t *dst, const int16_t *src, const int32_t *first,
                                  const int16_t *coef, size_t taps, size_t n)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4, coef += 4 * taps) {
        __m128i sum[4] = {ZERO, ZERO, ZERO, ZERO};
        for (size_t t = 0; t < taps; t += 8)
            TG_UNROLL
        for (size_t k = 0; k < 4; k++)
            sum[k] = _mm_add_epi32(
                sum[k], _mm_madd_epi16(LOAD(src + first[i + k] + t), LOAD(coef + k * taps + t)));
        __m128i all =
            _mm_hadd_epi32(_mm_hadd_epi32(sum[0], sum[1]), _mm_hadd_epi32(sum[2], sum[3]));
        all = rounded(all, TG_NARROW_COEF_BITS);
        _mm_storel_epi64((__m128i *)(dst + i), _mm_packs_epi32(all, all));
    }
    return i;
}

static TG_DECL_H_NARROW(h_narrow_sse41)
{
    size_t i = taps == 8    ? h_fours(dst, src, first, coef, 8, n)
               : taps == 16 ? h_fours(dst, src, first, coef, 16, n)
               : taps == 24 ? h_fours(dst, src, first, coef, 24, n)
                            : h_fours(dst, src, first, coef, taps, n);
    tg_h_narrow_c(dst + i, src, first + i, coef + i * taps, taps, n - i);
}

static inline __m128i dot_wide(const int32_t *src, const int32_t *coef, unsigned taps)
{
    __m128i even = ZERO, odd = ZERO;
    for (unsigned t = 0; t < taps; t += 4) {
        __m128i v = LOAD(src + t), c = LOAD(coef + t);
        even = _mm_add_epi64(even, _mm_mul_epi32(v, c));
        odd = _mm_add_epi64(odd, _mm_mul_epi32(_mm_srli_epi64(v, 32), _mm_srli_epi64(c, 32)));
    }
    return _mm_add_epi64(even, odd);
}

static TG_DECL_H_WIDE(h_wide_sse41)
{
    size_t i = 0;
    for (; i + 2 <= n; i += 2, coef += 2 * (size_t)taps) {
        __m128i a = dot_wide(src + first[i], coef, taps);
        __m128i b = dot_wide(src + first[i + 1], coef + taps, taps);
        __m128i sum = _mm_add_epi64(_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b));
        sum = _mm_shuffle_epi32(merged(sum, ZERO, TG_WIDE_COEF_BITS), 0x08);
        _mm_storel_epi64((__m128i *)(dst + i), sum);
    }
    tg_h_wide_c(dst + i, src, first + i, coef, taps, n - i);
}

/* Byte shuffles that take plane k of 16 RGB pixels out of each of their three vectors; ff: nothing.
 */
#define X 0xff
static const uint8_t unzip3[3][3][16] = {
    {{0, 3, 6, 9, 12, 15, X, X, X, X, X, X, X, X, X, X},
     {X, X, X, X, X, X, 2, 5, 8, 11, 14, X, X, X, X, X},
     {X, X, X, X, X, X, X, X, X, X, X, 1, 4, 7, 10, 13}},
    {{1, 4, 7, 10, 13, X, X, X, X, X, X, X, X, X, X, X},
     {X, X, X, X, X, 0, 3, 6, 9, 12, 15, X, X, X, X, X},
     {X, X, X, X, X, X, X, X, X, X, X, 2, 5, 8, 11, 14}},
    {{2, 5, 8, 11, 14, X, X, X, X, X, X, X, X, X, X, X},
     {X, X, X, X, X, 1, 4, 7, 10, 13, X, X, X, X, X, X},
     {X, X, X, X, X, X, X, X, X, X, 0, 3, 6, 9, 12, 15}},
};

/* The same the other way: vector v of 16 RGB pixels from plane k. */
static const uint8_t zip3[3][3][16] = {
    {{0, X, X, 1, X, X, 2, X, X, 3, X, X, 4, X, X, 5},
     {X, 0, X, X, 1, X, X, 2, X, X, 3, X, X, 4, X, X},
     {X, X, 0, X, X, 1, X, X, 2, X, X, 3, X, X, 4, X}},
    {{X, X, 6, X, X, 7, X, X, 8, X, X, 9, X, X, 10, X},
     {5, X, X, 6, X, X, 7, X, X, 8, X, X, 9, X, X, 10},
     {X, 5, X, X, 6, X, X, 7, X, X, 8, X, X, 9, X, X}},
    {{X, 11, X, X, 12, X, X, 13, X, X, 14, X, X, 15, X, X},
     {X, X, 11, X, X, 12, X, X, 13, X, X, 14, X, X, 15, X},
     {10, X, X, 11, X, X, 12, X, X, 13, X, X, 14, X, X, 15}},
};

/* Plane k of 8 pixels of three 16-bit samples, as above. */
static const uint8_t unzip3_words[3][3][16] = {
    {{0, 1, 6, 7, 12, 13, X, X, X, X, X, X, X, X, X, X},
     {X, X, X, X, X, X, 2, 3, 8, 9, 14, 15, X, X, X, X},
     {X, X, X, X, X, X, X, X, X, X, X, X, 4, 5, 10, 11}},
    {{2, 3, 8, 9, 14, 15, X, X, X, X, X, X, X, X, X, X},
     {X, X, X, X, X, X, 4, 5, 10, 11, X, X, X, X, X, X},
     {X, X, X, X, X, X, X, X, X, X, 0, 1, 6, 7, 12, 13}},
    {{4, 5, 10, 11, X, X, X, X, X, X, X, X, X, X, X, X},
     {X, X, X, X, 0, 1, 6, 7, 12, 13, X, X, X, X, X, X},
     {X, X, X, X, X, X, X, X, X, X, 2, 3, 8, 9, 14, 15}},
};
/* The same the other way. */
static const uint8_t zip3_words[3][3][16] = {
    {{0, 1, X, X, X, X, 2, 3, X, X, X, X, 4, 5, X, X},
     {X, X, 0, 1, X, X, X, X, 2, 3, X, X, X, X, 4, 5},
     {X, X, X, X, 0, 1, X, X, X, X, 2, 3, X, X, X, X}},
    {{X, X, 6, 7, X, X, X, X, 8, 9, X, X, X, X, 10, 11},
     {X, X, X, X, 6, 7, X, X, X, X, 8, 9, X, X, X, X},
     {4, 5, X, X, X, X, 6, 7, X, X, X, X, 8, 9, X, X}},
    {{X, X, X, X, 12, 13, X, X, X, X, 14, 15, X, X, X, X},
     {10, 11, X, X, X, X, 12, 13, X, X, X, X, 14, 15, X, X},
     {X, X, 10, 11, X, X, X, X, 12, 13, X, X, X, X, 14, 15}},
};
#undef X

static inline __m128i gathered(const __m128i v[3], const uint8_t map[3][16])
{
    __m128i a = _mm_shuffle_epi8(v[0], LOAD(map[0])), b = _mm_shuffle_epi8(v[1], LOAD(map[1]));
    return _mm_or_si128(_mm_or_si128(a, b), _mm_shuffle_epi8(v[2], LOAD(map[2])));
}

static TG_DECL_SPLIT3(split3_sse41)
{
    size_t x = 0;
    for (; x + 8 <= n; x += 8, src += 24) {
        __m128i v[3] = {LOAD(src), LOAD(src + 8), LOAD(src + 16)};
        TG_UNROLL
        for (size_t k = 0; k < 3; k++)
            STORE(dst + k * plane + x, gathered(v, unzip3_words[k]));
    }
    tg_split3_c(dst + x, plane, src, n - x);
}

static inline __m128i picked(__m128 a, __m128 b)
{
    return _mm_castps_si128(_mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)));
}

/* r0 g0 b0 r1, g1 b1 r2 g2, b2 r3 g3 b3: doubles up what is wanted, then picks every second one. */
static TG_DECL_SPLIT3_WIDE(split3_wide_sse41)
{
    size_t x = 0;
    for (; x + 4 <= n; x += 4, src += 12) {
        __m128 a = _mm_castsi128_ps(LOAD(src)), b = _mm_castsi128_ps(LOAD(src + 4));
        __m128 c = _mm_castsi128_ps(LOAD(src + 8));
        __m128 r01 = _mm_shuffle_ps(a, a, _MM_SHUFFLE(3, 3, 0, 0));
        __m128 r23 = _mm_shuffle_ps(b, c, _MM_SHUFFLE(1, 1, 2, 2));
        __m128 g01 = _mm_shuffle_ps(a, b, _MM_SHUFFLE(0, 0, 1, 1));
        __m128 g23 = _mm_shuffle_ps(b, c, _MM_SHUFFLE(2, 2, 3, 3));
        __m128 b01 = _mm_shuffle_ps(a, b, _MM_SHUFFLE(1, 1, 2, 2));
        __m128 b23 = _mm_shuffle_ps(c, c, _MM_SHUFFLE(3, 3, 0, 0));
        STORE(dst + x, picked(r01, r23));
        STORE(dst + plane + x, picked(g01, g23));
        STORE(dst + 2 * plane + x, picked(b01, b23));
    }
    tg_split3_wide_c(dst + x, plane, src, n - x);
}

/* 16 bytes to 16 work samples. */
static inline void store_widened(int16_t *dst, __m128i v)
{
    STORE(dst, _mm_srli_epi16(_mm_unpacklo_epi8(ZERO, v), 8 - TG_NARROW_FRAC));
    STORE(dst + 8, _mm_srli_epi16(_mm_unpackhi_epi8(ZERO, v), 8 - TG_NARROW_FRAC));
}

/* 16 bytes, or 8 words, to wide work samples. */
static inline void store_wide_bytes(int32_t *dst, __m128i v)
{
    TG_UNROLL
    for (size_t k = 0; k < 4; k++, v = _mm_srli_si128(v, 4))
        STORE(dst + 4 * k, _mm_slli_epi32(_mm_cvtepu8_epi32(v), TG_WIDE_FRAC));
}

static inline void store_wide_words(int32_t *dst, __m128i v)
{
    STORE(dst, _mm_slli_epi32(_mm_unpacklo_epi16(v, ZERO), TG_WIDE_FRAC));
    STORE(dst + 4, _mm_slli_epi32(_mm_unpackhi_epi16(v, ZERO), TG_WIDE_FRAC));
}

static TG_DECL_LOAD8_WIDE(load8_wide_sse41)
{
    size_t x = 0;
    for (; channels == 1 && x + 16 <= n; x += 16)
        store_wide_bytes(dst + x, LOAD(src + x));
    for (; channels == 3 && x + 16 <= n; x += 16) {
        __m128i v[3] = {LOAD(src + 3 * x), LOAD(src + 3 * x + 16), LOAD(src + 3 * x + 32)};
        for (size_t k = 0; k < 3; k++)
            store_wide_bytes(dst + k * plane + x, gathered(v, unzip3[k]));
    }
    tg_load8_wide_c(dst + x, plane, src + x * channels, channels, n - x);
}

static TG_DECL_LOAD16_WIDE(load16_wide_sse41)
{
    size_t x = 0;
    for (; channels == 1 && x + 8 <= n; x += 8)
        store_wide_words(dst + x, LOAD(src + x));
    for (; channels == 3 && x + 8 <= n; x += 8) {
        __m128i v[3] = {LOAD(src + 3 * x), LOAD(src + 3 * x + 8), LOAD(src + 3 * x + 16)};
        for (size_t k = 0; k < 3; k++)
            store_wide_words(dst + k * plane + x, gathered(v, unzip3_words[k]));
    }
    tg_load16_wide_c(dst + x, plane, src + x * channels, channels, n - x);
}

static size_t load_gray(int16_t *dst, const uint8_t *src, size_t n)
{
    size_t x = 0;
    for (; x + 16 <= n; x += 16)
        store_widened(dst + x, LOAD(src + x));
    return x;
}

static size_t load_rgb(int16_t *dst, size_t plane, const uint8_t *src, size_t n)
{
    size_t x = 0;
    for (; x + 16 <= n; x += 16, src += 48) {
        __m128i v[3] = {LOAD(src), LOAD(src + 16), LOAD(src + 32)};
        TG_UNROLL
        for (size_t k = 0; k < 3; k++)
            store_widened(dst + k * plane + x, gathered(v, unzip3[k]));
    }
    return x;
}

/* t / 255 for t < 2^22, in 32-bit lanes. */
static inline __m128i over_255(__m128i t)
{
    t = _mm_add_epi32(t, _mm_set1_epi32(1));
    __m128i more = _mm_add_epi32(_mm_srli_epi32(t, 8), _mm_srli_epi32(t, 16));
    return _mm_srli_epi32(_mm_add_epi32(t, more), 8);
}

/* round((colour * alpha << FRAC) / 255) in 16-bit lanes. */
static inline __m128i premultiplied(__m128i colour, __m128i alpha)
{
    __m128i half = _mm_set1_epi32(127), product = _mm_mullo_epi16(colour, alpha);
    __m128i lo = _mm_slli_epi32(_mm_unpacklo_epi16(product, ZERO), TG_NARROW_FRAC);
    __m128i hi = _mm_slli_epi32(_mm_unpackhi_epi16(product, ZERO), TG_NARROW_FRAC);
    return _mm_packus_epi32(over_255(_mm_add_epi32(lo, half)), over_255(_mm_add_epi32(hi, half)));
}

static size_t load_rgba(int16_t *dst, size_t plane, const uint8_t *src, size_t n)
{
    const __m128i unzip = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    size_t x = 0;
    for (; x + 8 <= n; x += 8, src += 32) {
        __m128i a = _mm_shuffle_epi8(LOAD(src), unzip), b = _mm_shuffle_epi8(LOAD(src + 16), unzip);
        __m128i rg = _mm_unpacklo_epi32(a, b), ba = _mm_unpackhi_epi32(a, b);
        __m128i alpha = _mm_unpackhi_epi8(ba, ZERO);
        STORE(dst + x, premultiplied(_mm_unpacklo_epi8(rg, ZERO), alpha));
        STORE(dst + plane + x, premultiplied(_mm_unpackhi_epi8(rg, ZERO), alpha));
        STORE(dst + 2 * plane + x, premultiplied(_mm_unpacklo_epi8(ba, ZERO), alpha));
        STORE(dst + 3 * plane + x, _mm_slli_epi16(alpha, TG_NARROW_FRAC));
    }
    return x;
}

static TG_DECL_LOAD8(load8_sse41)
{
    size_t x = channels == 1   ? load_gray(dst, src, n)
               : channels == 3 ? load_rgb(dst, plane, src, n)
               : channels == 4 ? load_rgba(dst, plane, src, n)
                               : 0;
    tg_load8_c(dst + x, plane, src + x * channels, channels, n - x);
}

/* 16 work samples to bytes. The saturating addition changes nothing: such values end at 255. */
static inline __m128i narrowed(const int16_t *src)
{
    __m128i half = _mm_set1_epi16(1 << (TG_NARROW_FRAC - 1));
    __m128i lo = _mm_srai_epi16(_mm_adds_epi16(LOAD(src), half), TG_NARROW_FRAC);
    __m128i hi = _mm_srai_epi16(_mm_adds_epi16(LOAD(src + 8), half), TG_NARROW_FRAC);
    return _mm_packus_epi16(lo, hi);
}

static size_t store_gray(uint8_t *dst, const int16_t *src, size_t n)
{
    size_t x = 0;
    for (; x + 16 <= n; x += 16)
        STORE(dst + x, narrowed(src + x));
    return x;
}

static size_t store_rgb(uint8_t *dst, const int16_t *src, size_t plane, size_t n)
{
    size_t x = 0;
    for (; x + 16 <= n; x += 16, dst += 48) {
        __m128i v[3];
        TG_UNROLL
        for (size_t k = 0; k < 3; k++)
            v[k] = narrowed(src + k * plane + x);
        TG_UNROLL
        for (size_t k = 0; k < 3; k++)
            STORE(dst + 16 * k, gathered(v, zip3[k]));
    }
    return x;
}

/* (v * 255 + a / 2) / a of 4 samples, 0 where a <= 0; not clamped above. The numerator is below
 * 2^24, so the float quotient of two integers is on the right side of every integer. */
static inline __m128i divided(__m128i v, __m128i a)
{
    __m128i top = _mm_sub_epi32(_mm_slli_epi32(v, 8), v);
    top = _mm_max_epi32(_mm_add_epi32(top, _mm_srai_epi32(a, 1)), ZERO);
    __m128 q =
        _mm_div_ps(_mm_cvtepi32_ps(top), _mm_cvtepi32_ps(_mm_max_epi32(a, _mm_set1_epi32(1))));
    return _mm_and_si128(_mm_cvttps_epi32(q), _mm_cmpgt_epi32(a, ZERO));
}

static inline __m128i load4(const int16_t *src)
{
    return _mm_cvtepi16_epi32(_mm_loadl_epi64((const __m128i *)src));
}

static size_t store_rgba(uint8_t *dst, const int16_t *src, size_t plane, size_t n)
{
    const __m128i zip = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    size_t x = 0;
    for (; x + 4 <= n; x += 4, src += 4, dst += 16) {
        __m128i a = load4(src + 3 * plane);
        __m128i rg = _mm_packs_epi32(divided(load4(src), a), divided(load4(src + plane), a));
        __m128i ba =
            _mm_packs_epi32(divided(load4(src + 2 * plane), a), rounded(a, TG_NARROW_FRAC));
        STORE(dst, _mm_shuffle_epi8(_mm_packus_epi16(rg, ba), zip));
    }
    return x;
}

static TG_DECL_STORE8(store8_sse41)
{
    size_t x = channels == 1   ? store_gray(dst, src, n)
               : channels == 3 ? store_rgb(dst, src, plane, n)
               : channels == 4 ? store_rgba(dst, src, plane, n)
                               : 0;
    tg_store8_c(dst + x * channels, src + x, plane, channels, n - x);
}

/* 8 wide work samples to words. */
static inline __m128i to_words(const int32_t *src)
{
    return _mm_packus_epi32(rounded(LOAD(src), TG_WIDE_FRAC), rounded(LOAD(src + 4), TG_WIDE_FRAC));
}

static TG_DECL_STORE16_WIDE(store16_wide_sse41)
{
    size_t x = 0;
    for (; channels == 1 && x + 8 <= n; x += 8)
        STORE(dst + x, to_words(src + x));
    for (; channels == 3 && x + 8 <= n; x += 8) {
        __m128i v[3] = {to_words(src + x), to_words(src + plane + x),
                        to_words(src + 2 * plane + x)};
        for (size_t k = 0; k < 3; k++)
            STORE(dst + 3 * x + 8 * k, gathered(v, zip3_words[k]));
    }
    tg_store16_wide_c(dst + x * channels, src + x, plane, channels, n - x);
}

void tg_scale_init_sse41(tg_scale_dsp *dsp)
{
    dsp->load8_wide = load8_wide_sse41;
    dsp->load16_wide = load16_wide_sse41;
    dsp->store16_wide = store16_wide_sse41;
    dsp->load8 = load8_sse41;
    dsp->store8 = store8_sse41;
    dsp->split3 = split3_sse41;
    dsp->split3_wide = split3_wide_sse41;
    dsp->v8 = v8_sse41;
    dsp->v16 = v16_sse41;
    dsp->v_narrow = v_narrow_sse41;
    dsp->v_wide = v_wide_sse41;
    dsp->h_narrow = h_narrow_sse41;
    dsp->h_wide = h_wide_sse41;
}
