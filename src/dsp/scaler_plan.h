/* Everything about a scaler that follows from its arguments: precision, order of passes, memory. */
#ifndef TG_DSP_SCALER_PLAN_H
#define TG_DSP_SCALER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/filter.h"
#include "tegula/pixel.h"

typedef struct tg_scaler_plan {
    bool pick;     /* both axes take single pixels: no arithmetic at all */
    bool wide;     /* int32 work samples instead of int16 */
    bool x_first;  /* the ring holds rows of the output's width, else of the source's */
    bool raw;      /* the ring holds source rows as they are, else planes of work samples */
    bool sum;      /* no ring: each row is added to the output rows that it touches */
    uint32_t rows; /* in the ring, or sums at a time */

    size_t in_plane, out_plane; /* samples from one plane to the next */
    size_t v_samples;           /* that the vertical pass works on */

    /* Bytes; 0 where there is no such row. Every row has room for what kernels may touch behind it.
     */
    size_t ring_stride; /* from row to row of the ring or of the sums */
    size_t in_row;      /* a source row as planes, before the horizontal pass */
    size_t add_row;     /* planes to be added to the sums */
    size_t mid_row;     /* out of the vertical pass */
    size_t split_row;   /* the same as planes, when the ring was raw */
    size_t out_row;     /* out of the horizontal pass, when it comes last */
} tg_scaler_plan;

/* Needs no tables; rows of a sum are an estimate. */
tg_scaler_plan tg_scaler_plan_make(tg_pixfmt fmt, const tg_axis *x, const tg_axis *y,
                                   tg_filter filter);

/* All the rows together. False when that overflows. */
bool tg_scaler_plan_bytes(const tg_scaler_plan *plan, size_t *bytes);

#endif
