/* Resampling filters and their coefficient tables (one per axis).
 *
 * Coordinates are continuous: source pixel j covers [j, j+1), so its centre is j + 0.5. Output
 * pixel i is centred on c = origin + (i + 0.5) * step. On reduction (step > 1) the kernel is
 * widened by step, so there is no aliasing; on enlargement it keeps its own width. Beyond the
 * source the edge pixel repeats. A table's coefficients sum to exactly 1 << its bits for every
 * output pixel, so a flat picture stays flat; the rounding of each is carried to its neighbour, so
 * that the error of a long kernel stays at the highest frequencies.
 *
 * Where step is 1 and origin integral, every filter is the identity: one tap. */
#ifndef TEGULA_FILTER_H
#define TEGULA_FILTER_H

#include <stdint.h>

#include "tegula/err.h"

typedef enum tg_filter {
    TG_FILTER_NEAREST, /* the pixel that covers c */
    TG_FILTER_BOX, /* the average over [c - step/2, c + step/2), parts of pixels by their length */
    TG_FILTER_BILINEAR, /* triangle */
    TG_FILTER_CUBIC,    /* Catmull-Rom, a = -0.5 */
    TG_FILTER_LANCZOS2,
    TG_FILTER_LANCZOS3,
    TG_FILTERS
} tg_filter;

typedef struct tg_axis {
    double origin;   /* source coordinate of the output's left or top edge */
    double step;     /* source pixels per output pixel, > 0 */
    uint32_t in_px;  /* source pixels there are, >= 1; edges repeat beyond */
    uint32_t out_px; /* output pixels, >= 1 */
} tg_axis;

/* Weights of 14 bits serve 8-bit samples under kernels of up to TG_NARROW_TAPS_MAX; beyond that the
 * single weight becomes too coarse, and 16-bit samples need more from the start. */
typedef enum tg_precision {
    TG_NARROW, /* int16, TG_NARROW_COEF_BITS */
    TG_WIDE    /* int32, TG_WIDE_COEF_BITS */
} tg_precision;

#define TG_NARROW_TAPS_MAX 512

/* For output pixel i the taps are source pixels first[i] .. first[i] + taps - 1, all inside
 * [0, in_px), with weights [i * taps_stride + t]. Rows of fewer taps are padded with zero weights.
 */
typedef struct tg_filter_table {
    tg_axis axis;
    tg_filter filter;
    tg_precision precision;
    uint32_t taps;
    uint32_t taps_stride;  /* taps rounded up to a multiple of 8 with zero weights */
    const int32_t *first;  /* out_px entries, not decreasing */
    const int16_t *narrow; /* out_px * taps_stride weights; NULL when the table is wide */
    const int32_t *wide;   /* the same, NULL when the table is narrow */
} tg_filter_table;

/* The source pixels [*first, *end) that the axis touches with this filter, clipped to nothing: the
 * caller clips to the image. Values may be negative or beyond the image. */
void tg_filter_extent(const tg_axis *axis, tg_filter filter, int64_t *first, int64_t *end);

/* An upper bound of a table's taps, without building it; at most in_px. */
uint32_t tg_filter_taps_max(const tg_axis *axis, tg_filter filter);

/* A table from the process's small cache of them, built on a miss. Borrowed: valid until
 * tg_filter_table_release. NULL with err set (TG_ERR_TOO_LARGE). */
const tg_filter_table *tg_filter_table_get(const tg_axis *axis, tg_filter filter,
                                           tg_precision precision, tg_err *err);
void tg_filter_table_release(const tg_filter_table *table);
/* Drops cached tables that nobody holds. */
void tg_filter_cache_clear(void);

const char *tg_filter_name(tg_filter filter);

#endif
