/* Pixel kernels and the CPU probe. No allocation, no I/O, cannot fail.
 *
 * One table of function pointers per family. src/dsp/<family>_c.c is the specification; the others
 * give the same bits and are proved by tests/checkasm. */
#ifndef TEGULA_DSP_H
#define TEGULA_DSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/pixel.h"
#include "tegula/str.h"

typedef enum tg_cpu {
    TG_CPU_SSE41 = 1 << 0,
    TG_CPU_AVX2 = 1 << 1,
    TG_CPU_AVX512 = 1 << 2, /* F, BW, VL, DQ */
    TG_CPU_NEON = 1 << 3
} tg_cpu;

/* What the processor and the operating system offer, ANDed with the mask. The environment variable
 * TEGULA_CPU (a list of "c", "sse41", "avx2", "avx512", "neon", or "all") sets the mask at the
 * first call; tg_cpu_set_mask overrides it (tests). */
unsigned tg_cpu_flags(void);
void tg_cpu_set_mask(unsigned mask);
tg_str tg_cpu_unknown(const char *list);  /* its first word that is none of those; empty: all are */
const char *tg_cpu_names(unsigned flags); /* "sse4.1 avx2", static text */

/* The scaler's kernels are declared below by the family header. */
#include "tegula/dsp_scale.h"

#endif
