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

/* The smallest level that still has at least oversampling times the wanted pixels in both axes,
 * then the strongest reduction of it that has too; level 0 unreduced when none has. A level at
 * exactly the wanted scale is taken whatever the oversampling. */
void tg_level_choose(const tg_image *image, const tg_geometry *geometry, double oversampling,
                     unsigned *level, unsigned *reduction);

#endif
