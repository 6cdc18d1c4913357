/* What the instruction sets' files share: each overrides the kernels it does better, and hands odd
 * ends to the C functions. */
#ifndef TG_DSP_SCALE_H
#define TG_DSP_SCALE_H

#include "tegula/dsp_scale.h"

TG_DECL_LOAD8(tg_load8_c);
TG_DECL_LOAD8_WIDE(tg_load8_wide_c);
TG_DECL_LOAD16_WIDE(tg_load16_wide_c);
TG_DECL_STORE8(tg_store8_c);
TG_DECL_STORE8_WIDE(tg_store8_wide_c);
TG_DECL_STORE16_WIDE(tg_store16_wide_c);
TG_DECL_SPLIT3(tg_split3_c);
TG_DECL_SPLIT3_WIDE(tg_split3_wide_c);
TG_DECL_V8(tg_v8_c);
TG_DECL_V16(tg_v16_c);
TG_DECL_V_NARROW(tg_v_narrow_c);
TG_DECL_V_WIDE(tg_v_wide_c);
TG_DECL_H_NARROW(tg_h_narrow_c);
TG_DECL_H_WIDE(tg_h_wide_c);

void tg_scale_init_sse41(tg_scale_dsp *dsp);
void tg_scale_init_avx2(tg_scale_dsp *dsp);
void tg_scale_init_avx512(tg_scale_dsp *dsp);
void tg_scale_init_neon(tg_scale_dsp *dsp);

/* For helpers that are to be compiled anew for each constant a caller passes. */
#define TG_CONSTANT_FOLDED static inline __attribute__((always_inline))

/* Before a short loop over an array of vectors, which must not end up in memory. */
#ifdef __clang__
#define TG_UNROLL _Pragma("unroll")
#else
#define TG_UNROLL _Pragma("GCC unroll 8")
#endif

#endif
