/* The last steps to sRGB (IEC 61966-2-1), alike for every source: from CIE L*a*b* and linear light,
 * cut to the gamut channel by channel and coded. Computed, not interpolated between the nodes of a
 * cube: at the edge of the gamut those err by dozens of steps. Private to src/codec. */
#ifndef TEGULA_COLOUR_SRGB_H
#define TEGULA_COLOUR_SRGB_H

#include <stddef.h>
#include <stdint.h>

#include "tegula/codec.h"

/* Fills the tables; every function below may follow. */
void tg_srgb_init(void);

/* out[i] = sum of at[i][c] * in[c], + plus[i] */
typedef struct tg_affine {
    float at[3][3], plus[3];
} tg_affine;

/* XYZ relative to D50 as linear light of sRGB's primaries, adapted by Bradford. */
extern const tg_affine tg_srgb_of_xyz;

/* The same from XYZ whose black is not 0: scaled so that it becomes that and white stays. */
tg_affine tg_srgb_of_xyz_above(const float black[3]);

/* What all of these write: pixels of dst_fmt, of which they set the first three channels. */

/* lab: L* 0 .. 100, a*, b*, by which way from XYZ to linear light. */
void tg_srgb_of_lab(tg_pixfmt dst_fmt, void *dst, const float *lab, const tg_affine *of_xyz,
                    size_t n_px);

/* 16-bit samples as tg_native codes L*a*b*. */
void tg_lab_of_coded(float *lab, const uint16_t *coded, size_t n_px);

/* Matrix and curves: linear[c] gives the light of each of the 256 or 65536 values of channel c; to
 * turns three of them into linear light of sRGB. src: pixels of fmt; dst may be src. */
void tg_srgb_of_matrix(tg_pixfmt fmt, void *dst, const void *src, float *const linear[3],
                       const tg_affine *to, size_t n_px);

/* By the formula of colour.h. cmyk: 4 samples a pixel of the depth of dst_fmt. */
void tg_srgb_of_cmyk(tg_pixfmt dst_fmt, void *dst, const void *cmyk, size_t n_px);

#endif
