/* The resampler's kernels for AVX2. */
#include <immintrin.h>
#include <string.h>

#include "scale.h"

#define V               __m256i
#define OP(name)        _mm256_##name
#define SET1_64(i)      _mm256_set1_epi64x(i)
#define ZERO            _mm256_setzero_si256()
#define LOAD(p)         _mm256_loadu_si256((const __m256i *)(p))
#define STORE(p, v)     _mm256_storeu_si256((__m256i *)(p), v)
#define LOAD_U16(p)     _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(p)))
#define AND(a, b)       _mm256_and_si256(a, b)
#define BLEND_ODD(a, b) _mm256_blend_epi32(a, b, 0xaa)
#define STORE_HALVES(p, lo, hi)                                                                    \
    (STORE(p, _mm256_permute2x128_si256(lo, hi, 0x20)),                                            \
     STORE((p) + 16, _mm256_permute2x128_si256(lo, hi, 0x31)))
#define DECL_V8       static TG_DECL_V8(v8_avx2)
#define DECL_V16      static TG_DECL_V16(v16_avx2)
#define DECL_V_NARROW static TG_DECL_V_NARROW(v_narrow_avx2)
#define DECL_V_WIDE   static TG_DECL_V_WIDE(v_wide_avx2)
#include "scale_v_x86_tmpl.h"

#define LOAD128(p) _mm_loadu_si128((const __m128i *)(p))

static inline void store_sums(int16_t *dst, __m256i sum)
{
    sum = rounded(sum, TG_NARROW_COEF_BITS);
    __m128i lo = _mm256_castsi256_si128(sum), hi = _mm256_extracti128_si256(sum, 1);
    _mm_storeu_si128((__m128i *)dst, _mm_packs_epi32(lo, hi));
}

/* Sums of neighbours: the results of a and b by turns. */
static inline __m256i fold32(__m256i a, __m256i b)
{
    return _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
}

static inline __m256i fold64(__m256i a, __m256i b)
{
    return _mm256_add_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}

/* Two outputs of 8 taps each, one in each half. */
static inline __m256i dot_two(const int16_t *src, const int32_t *first, const int16_t *coef)
{
    __m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(LOAD128(src + first[0])),
                                        LOAD128(src + first[1]), 1);
    return _mm256_madd_epi16(v, LOAD(coef));
}

static inline __m256i eight_short(const int16_t *src, const int32_t *first, const int16_t *coef)
{
    __m256i a = dot_two(src, first, coef), b = dot_two(src, first + 2, coef + 16);
    __m256i c = dot_two(src, first + 4, coef + 32), d = dot_two(src, first + 6, coef + 48);
    __m256i sum = fold64(fold32(a, b), fold32(c, d));
    return _mm256_permutevar8x32_epi32(sum, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* In each half, four outputs' sums of that half. */
TG_CONSTANT_FOLDED __m256i four(const int16_t *src, const int32_t *first, const int16_t *coef,
                                size_t taps)
{
    const int16_t *v[4] = {src + first[0], src + first[1], src + first[2], src + first[3]};
    __m256i sum[4] = {ZERO, ZERO, ZERO, ZERO};
    size_t t = 0;
    for (; t + 16 <= taps; t += 16)
        TG_UNROLL
    for (size_t k = 0; k < 4; k++)
        sum[k] =
            _mm256_add_epi32(sum[k], _mm256_madd_epi16(LOAD(v[k] + t), LOAD(coef + k * taps + t)));
    if (t < taps)
        TG_UNROLL
    for (size_t k = 0; k < 4; k++) {
        __m128i last = _mm_madd_epi16(LOAD128(v[k] + t), LOAD128(coef + k * taps + t));
        sum[k] = _mm256_add_epi32(sum[k], _mm256_zextsi128_si256(last));
    }
    return fold64(fold32(sum[0], sum[1]), fold32(sum[2], sum[3]));
}

/* Returns how many outputs are done. taps is a constant in most calls, which keeps the sums in
 * registers. */
TG_CONSTANT_FOLDED size_t h_long(int16_t *dst, const int16_t *src, const int32_t *first,
                                 const int16_t *coef, size_t taps, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i lo = four(src, first + i, coef + i * taps, taps);
        __m256i hi = four(src, first + i + 4, coef + (i + 4) * taps, taps);
        store_sums(dst + i, _mm256_add_epi32(_mm256_permute2x128_si256(lo, hi, 0x20),
                                             _mm256_permute2x128_si256(lo, hi, 0x31)));
    }
    return i;
}

static inline size_t h_short(int16_t *dst, const int16_t *src, const int32_t *first,
                             const int16_t *coef, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        store_sums(dst + i, eight_short(src, first + i, coef + i * 8));
    return i;
}

static TG_DECL_H_NARROW(h_narrow_avx2)
{
    size_t i = taps == 8    ? h_short(dst, src, first, coef, n)
               : taps == 16 ? h_long(dst, src, first, coef, 16, n)
               : taps == 24 ? h_long(dst, src, first, coef, 24, n)
               : taps == 32 ? h_long(dst, src, first, coef, 32, n)
                            : h_long(dst, src, first, coef, taps, n);
    tg_h_narrow_c(dst + i, src, first + i, coef + i * taps, taps, n - i);
}

/* Returns how many outputs are done, as h_long. */
TG_CONSTANT_FOLDED size_t h_wide_fours(int32_t *dst, const int32_t *src, const int32_t *first,
                                       const int32_t *coef, size_t taps, size_t n)
{
    const __m256i even_lanes = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    size_t i = 0;
    for (; i + 4 <= n; i += 4, coef += 4 * taps) {
        __m256i even[4] = {ZERO, ZERO, ZERO, ZERO}, odd[4] = {ZERO, ZERO, ZERO, ZERO};
        for (size_t t = 0; t < taps; t += 8) {
            TG_UNROLL
            for (size_t k = 0; k < 4; k++) {
                __m256i v = LOAD(src + first[i + k] + t), c = LOAD(coef + k * taps + t);
                __m256i w = _mm256_srli_epi64(v, 32), d = _mm256_srli_epi64(c, 32);
                even[k] = _mm256_add_epi64(even[k], _mm256_mul_epi32(v, c));
                odd[k] = _mm256_add_epi64(odd[k], _mm256_mul_epi32(w, d));
            }
        }
        TG_UNROLL
        for (size_t k = 0; k < 4; k++)
            even[k] = _mm256_add_epi64(even[k], odd[k]);
        __m256i ab = _mm256_add_epi64(_mm256_unpacklo_epi64(even[0], even[1]),
                                      _mm256_unpackhi_epi64(even[0], even[1]));
        __m256i cd = _mm256_add_epi64(_mm256_unpacklo_epi64(even[2], even[3]),
                                      _mm256_unpackhi_epi64(even[2], even[3]));
        __m256i sum = _mm256_add_epi64(_mm256_permute2x128_si256(ab, cd, 0x20),
                                       _mm256_permute2x128_si256(ab, cd, 0x31));
        sum = _mm256_permutevar8x32_epi32(merged(sum, ZERO, TG_WIDE_COEF_BITS), even_lanes);
        _mm_storeu_si128((__m128i *)(dst + i), _mm256_castsi256_si128(sum));
    }
    return i;
}

static TG_DECL_H_WIDE(h_wide_avx2)
{
    size_t i = taps == 8    ? h_wide_fours(dst, src, first, coef, 8, n)
               : taps == 16 ? h_wide_fours(dst, src, first, coef, 16, n)
                            : h_wide_fours(dst, src, first, coef, taps, n);
    tg_h_wide_c(dst + i, src, first + i, coef + i * taps, taps, n - i);
}

void tg_scale_init_avx2(tg_scale_dsp *dsp)
{
    dsp->v8 = v8_avx2;
    dsp->v16 = v16_avx2;
    dsp->v_narrow = v_narrow_avx2;
    dsp->v_wide = v_wide_avx2;
    dsp->h_narrow = h_narrow_avx2;
    dsp->h_wide = h_wide_avx2;
}
