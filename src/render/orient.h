/* What a stored orientation means (TIFF 6.0, Orientation; CIPA DC-008, 4.6.5.1): the way from the
 * picture as stored to the picture as shown. All of geometry is in shown pixels, all of reading in
 * stored ones. */
#ifndef TEGULA_RENDER_ORIENT_H
#define TEGULA_RENDER_ORIENT_H

#include <stdbool.h>

#include "tegula/codec.h"

typedef struct tg_orient {
    bool on_side;        /* shown x runs along stored y */
    bool flip_x, flip_y; /* shown x, y run against the stored axis */
    bool mirror;         /* the same as operations: left-right mirror first, */
    unsigned quarter;    /* then clockwise quarter turns */
} tg_orient;

static inline tg_orient tg_orient_of(const tg_image *image)
{
    static const tg_orient of[] = {
        {false, false, false, false, 0}, /* not set: as 1 */
        {false, false, false, false, 0}, {false, true, false, true, 0},
        {false, true, true, false, 2},   {false, false, true, true, 2},
        {true, false, false, true, 3},   {true, true, false, false, 1},
        {true, true, true, true, 1},     {true, false, true, false, 3},
    };
    return of[image->orientation <= 8 ? image->orientation : 0];
}

#endif
