/* The resampler's kernels for AVX-512 (F, BW, VL, DQ). */
#include <immintrin.h>
#include <string.h>

#include "scale.h"

#define V               __m512i
#define OP(name)        _mm512_##name
#define SET1_64(i)      _mm512_set1_epi64(i)
#define ZERO            _mm512_setzero_si512()
#define LOAD(p)         _mm512_loadu_si512(p)
#define STORE(p, v)     _mm512_storeu_si512(p, v)
#define AND(a, b)       _mm512_and_si512(a, b)
#define BLEND_ODD(a, b) _mm512_mask_blend_epi32(0xaaaa, a, b)
#define STORE_HALVES(p, lo, hi)                                                                    \
    (STORE(p, _mm512_permutex2var_epi64(lo, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), hi)),     \
     STORE((p) + 32,                                                                               \
           _mm512_permutex2var_epi64(lo, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), hi)))
#define DECL_V8       static TG_DECL_V8(v8_avx512)
#define DECL_V_NARROW static TG_DECL_V_NARROW(v_narrow_avx512)
#define DECL_V_WIDE   static TG_DECL_V_WIDE(v_wide_avx512)
#include "scale_v_x86_tmpl.h"

static inline __m512i dot_narrow(const int16_t *src, const int16_t *coef, unsigned taps)
{
    __m512i sum = ZERO;
    unsigned t = 0;
    for (; t + 32 <= taps; t += 32)
        sum = _mm512_add_epi32(sum, _mm512_madd_epi16(LOAD(src + t), LOAD(coef + t)));
    if (t < taps) {
        __mmask32 rest = (__mmask32)((1ull << (taps - t)) - 1);
        __m512i c = _mm512_maskz_loadu_epi16(rest, coef + t);
        __m512i v = _mm512_maskz_loadu_epi16(rest, src + t);
        sum = _mm512_add_epi32(sum, _mm512_madd_epi16(v, c));
    }
    return sum;
}

/* Sums of two vectors, taking turns: 64-bit or 32-bit lanes of a and b alternate in the result. */
static inline __m512i fold32(__m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
}

static inline __m512i fold64(__m512i a, __m512i b)
{
    return _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

/* In each 128-bit lane, four outputs' sums of that lane. */
static inline __m512i four(const int16_t *src, const int32_t *first, const int16_t *coef,
                           unsigned taps)
{
    __m512i v[4];
    for (size_t k = 0; k < 4; k++)
        v[k] = dot_narrow(src + first[k], coef + k * taps, taps);
    return fold64(fold32(v[0], v[1]), fold32(v[2], v[3]));
}

/* Adds the lanes of four such vectors: outputs 0..15 in order. */
static inline __m512i across(const __m512i v[4])
{
    __m512i a = _mm512_add_epi32(_mm512_shuffle_i64x2(v[0], v[1], 0x88),
                                 _mm512_shuffle_i64x2(v[0], v[1], 0xdd));
    __m512i b = _mm512_add_epi32(_mm512_shuffle_i64x2(v[2], v[3], 0x88),
                                 _mm512_shuffle_i64x2(v[2], v[3], 0xdd));
    return _mm512_add_epi32(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd));
}

static TG_DECL_H_NARROW(h_narrow_avx512)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512i v[4];
        for (size_t k = 0; k < 4; k++)
            v[k] = four(src, first + i + 4 * k, coef + (i + 4 * k) * taps, taps);
        __m512i sum = rounded(across(v), TG_NARROW_COEF_BITS);
        _mm256_storeu_si256((__m256i *)(dst + i), _mm512_cvtsepi32_epi16(sum));
    }
    tg_h_narrow_c(dst + i, src, first + i, coef + i * taps, taps, n - i);
}

static inline __m512i dot_wide(const int32_t *src, const int32_t *coef, unsigned taps)
{
    __m512i even = ZERO, odd = ZERO;
    for (unsigned t = 0; t < taps; t += 16) {
        __mmask16 in = (__mmask16)(taps - t >= 16 ? 0xffff : 0x00ff);
        __m512i v = _mm512_maskz_loadu_epi32(in, src + t);
        __m512i c = _mm512_maskz_loadu_epi32(in, coef + t);
        __m512i w = _mm512_srli_epi64(v, 32), d = _mm512_srli_epi64(c, 32);
        even = _mm512_add_epi64(even, _mm512_mul_epi32(v, c));
        odd = _mm512_add_epi64(odd, _mm512_mul_epi32(w, d));
    }
    return _mm512_add_epi64(even, odd);
}

/* In each lane, two outputs' sums of that lane. */
static inline __m512i two_wide(const int32_t *src, const int32_t *first, const int32_t *coef,
                               unsigned taps)
{
    __m512i a = dot_wide(src + first[0], coef, taps),
            b = dot_wide(src + first[1], coef + taps, taps);
    return _mm512_add_epi64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

static TG_DECL_H_WIDE(h_wide_avx512)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m512i v[4];
        for (size_t k = 0; k < 4; k++)
            v[k] = two_wide(src, first + i + 2 * k, coef + (i + 2 * k) * taps, taps);
        __m512i a = _mm512_add_epi64(_mm512_shuffle_i64x2(v[0], v[1], 0x88),
                                     _mm512_shuffle_i64x2(v[0], v[1], 0xdd));
        __m512i b = _mm512_add_epi64(_mm512_shuffle_i64x2(v[2], v[3], 0x88),
                                     _mm512_shuffle_i64x2(v[2], v[3], 0xdd));
        __m512i sum =
            _mm512_add_epi64(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd));
        sum =
            _mm512_srai_epi64(_mm512_add_epi64(sum, SET1_64((int64_t)1 << (TG_WIDE_COEF_BITS - 1))),
                              TG_WIDE_COEF_BITS);
        _mm256_storeu_si256((__m256i *)(dst + i), _mm512_cvtepi64_epi32(sum));
    }
    tg_h_wide_c(dst + i, src, first + i, coef + i * taps, taps, n - i);
}

void tg_scale_init_avx512(tg_scale_dsp *dsp)
{
    dsp->v8 = v8_avx512;
    dsp->v_narrow = v_narrow_avx512;
    dsp->v_wide = v_wide_avx512;
    dsp->h_narrow = h_narrow_avx512;
    dsp->h_wide = h_wide_avx512;
}
