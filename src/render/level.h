/* Which stored level, at which reduction, answers a geometry. */
#ifndef TEGULA_RENDER_LEVEL_H
#define TEGULA_RENDER_LEVEL_H

#include "tegula/codec.h"
#include "tegula/geometry.h"

/* Full-resolution pixels per pixel of a level, by axis as shown. Where the level's size is the full
 * size divided by a whole number, rounded either way, that number is the ratio: halving pyramids
 * drop or repeat the odd column, so their pixel i stands for exactly [i * f, (i + 1) * f). */
typedef struct tg_ratio {
    double x, y;
} tg_ratio;

tg_ratio tg_level_ratio(const tg_image *image, unsigned level);

/* The smallest level that still has at least `wanted` times the pixels asked for in both axes,
 * then the strongest reduction of it that has too; level 0 unreduced when none has. For files of 1
 * bit a sample, 2 at least. A level at exactly the scale asked for is taken in any case. */
void tg_level_choose(const tg_image *image, const tg_geometry *geometry, double wanted,
                     unsigned *level, unsigned *reduction);

#endif
