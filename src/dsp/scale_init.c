/* Chooses the resampler's kernels, the widest instruction set last. */
#include "config.h"

#include "scale.h"
#include "tegula/dsp.h"

void tg_scale_dsp_init(tg_scale_dsp *dsp, unsigned flags)
{
    *dsp = (tg_scale_dsp){
        .load8 = tg_load8_c,
        .load8_wide = tg_load8_wide_c,
        .load16_wide = tg_load16_wide_c,
        .store8 = tg_store8_c,
        .store8_wide = tg_store8_wide_c,
        .store16_wide = tg_store16_wide_c,
        .split3 = tg_split3_c,
        .split3_wide = tg_split3_wide_c,
        .v8 = tg_v8_c,
        .v16 = tg_v16_c,
        .v_narrow = tg_v_narrow_c,
        .v_wide = tg_v_wide_c,
        .h_narrow = tg_h_narrow_c,
        .h_wide = tg_h_wide_c,
    };
    (void)flags;
#ifdef TG_BUILD_SSE41
    if (flags & TG_CPU_SSE41)
        tg_scale_init_sse41(dsp);
#endif
#ifdef TG_BUILD_AVX2
    if (flags & TG_CPU_AVX2)
        tg_scale_init_avx2(dsp);
#endif
#ifdef TG_BUILD_AVX512
    if (flags & TG_CPU_AVX512)
        tg_scale_init_avx512(dsp);
#endif
#ifdef TG_BUILD_NEON
    if (flags & TG_CPU_NEON)
        tg_scale_init_neon(dsp);
#endif
}
