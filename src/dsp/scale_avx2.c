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
#define AND(a, b)       _mm256_and_si256(a, b)
#define BLEND_ODD(a, b) _mm256_blend_epi32(a, b, 0xaa)
#define STORE_HALVES(p, lo, hi)                                                                    \
    (STORE(p, _mm256_permute2x128_si256(lo, hi, 0x20)),                                            \
     STORE((p) + 16, _mm256_permute2x128_si256(lo, hi, 0x31)))
#define DECL_V8       static TG_DECL_V8(v8_avx2)
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
    __m256i sum = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    return _mm256_permutevar8x32_epi32(sum, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

static inline __m256i dot_narrow(const int16_t *src, const int16_t *coef, unsigned taps)
{
    __m256i sum = ZERO;
    unsigned t = 0;
    for (; t + 16 <= taps; t += 16)
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(LOAD(src + t), LOAD(coef + t)));
    if (t < taps) {
        __m128i last = _mm_madd_epi16(LOAD128(src + t), LOAD128(coef + t));
        sum = _mm256_add_epi32(sum, _mm256_zextsi128_si256(last));
    }
    return sum;
}

static inline __m256i eight_long(const int16_t *src, const int32_t *first, const int16_t *coef,
                                 unsigned taps)
{
    __m256i v[8];
    for (int k = 0; k < 8; k++)
        v[k] = dot_narrow(src + first[k], coef + (size_t)k * taps, taps);
    for (int k = 0; k < 4; k++)
        v[k] = _mm256_hadd_epi32(v[2 * k], v[2 * k + 1]);
    __m256i lo = _mm256_hadd_epi32(v[0], v[1]), hi = _mm256_hadd_epi32(v[2], v[3]);
    return _mm256_add_epi32(_mm256_permute2x128_si256(lo, hi, 0x20),
                            _mm256_permute2x128_si256(lo, hi, 0x31));
}

static TG_DECL_H_NARROW(h_narrow_avx2)
{
    size_t i = 0;
    if (taps == 8)
        for (; i + 8 <= n; i += 8)
            store_sums(dst + i, eight_short(src, first + i, coef + i * 8));
    for (; i + 8 <= n; i += 8)
        store_sums(dst + i, eight_long(src, first + i, coef + i * taps, taps));
    tg_h_narrow_c(dst + i, src, first + i, coef + i * taps, taps, n - i);
}

static inline __m256i dot_wide(const int32_t *src, const int32_t *coef, unsigned taps)
{
    __m256i even = ZERO, odd = ZERO;
    for (unsigned t = 0; t < taps; t += 8) {
        __m256i v = LOAD(src + t), c = LOAD(coef + t);
        __m256i w = _mm256_srli_epi64(v, 32), d = _mm256_srli_epi64(c, 32);
        even = _mm256_add_epi64(even, _mm256_mul_epi32(v, c));
        odd = _mm256_add_epi64(odd, _mm256_mul_epi32(w, d));
    }
    return _mm256_add_epi64(even, odd);
}

static TG_DECL_H_WIDE(h_wide_avx2)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i v[4];
        for (size_t k = 0; k < 4; k++)
            v[k] = dot_wide(src + first[i + k], coef + (i + k) * taps, taps);
        __m256i ab =
            _mm256_add_epi64(_mm256_unpacklo_epi64(v[0], v[1]), _mm256_unpackhi_epi64(v[0], v[1]));
        __m256i cd =
            _mm256_add_epi64(_mm256_unpacklo_epi64(v[2], v[3]), _mm256_unpackhi_epi64(v[2], v[3]));
        __m256i sum = _mm256_add_epi64(_mm256_permute2x128_si256(ab, cd, 0x20),
                                       _mm256_permute2x128_si256(ab, cd, 0x31));
        sum = _mm256_permutevar8x32_epi32(merged(sum, ZERO),
                                          _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
        _mm_storeu_si128((__m128i *)(dst + i), _mm256_castsi256_si128(sum));
    }
    tg_h_wide_c(dst + i, src, first + i, coef + i * taps, taps, n - i);
}

void tg_scale_init_avx2(tg_scale_dsp *dsp)
{
    dsp->v8 = v8_avx2;
    dsp->v_narrow = v_narrow_avx2;
    dsp->v_wide = v_wide_avx2;
    dsp->h_narrow = h_narrow_avx2;
    dsp->h_wide = h_wide_avx2;
}
