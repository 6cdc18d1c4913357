/* The resampler's kernels for AVX-512 (F, BW, VL, DQ): the vertical ones. Horizontal sums of
 * vectors this wide were slower than with AVX2. */
#include <immintrin.h>
#include <string.h>

#include "scale.h"

#define V               __m512i
#define OP(name)        _mm512_##name
#define SET1_64(i)      _mm512_set1_epi64(i)
#define ZERO            _mm512_setzero_si512()
#define LOAD(p)         _mm512_loadu_si512(p)
#define STORE(p, v)     _mm512_storeu_si512(p, v)
#define LOAD_U16(p)     _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(p)))
#define AND(a, b)       _mm512_and_si512(a, b)
#define BLEND_ODD(a, b) _mm512_mask_blend_epi32(0xaaaa, a, b)
#define STORE_HALVES(p, lo, hi)                                                                    \
    (STORE(p, _mm512_permutex2var_epi64(lo, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), hi)),     \
     STORE((p) + 32,                                                                               \
           _mm512_permutex2var_epi64(lo, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), hi)))
#define DECL_V8       static TG_DECL_V8(v8_avx512)
#define DECL_V16      static TG_DECL_V16(v16_avx512)
#define DECL_V_NARROW static TG_DECL_V_NARROW(v_narrow_avx512)
#define DECL_V_WIDE   static TG_DECL_V_WIDE(v_wide_avx512)
#include "scale_v_x86_tmpl.h"

void tg_scale_init_avx512(tg_scale_dsp *dsp)
{
    dsp->v8 = v8_avx512;
    dsp->v16 = v16_avx512;
    dsp->v_narrow = v_narrow_avx512;
    dsp->v_wide = v_wide_avx512;
}
