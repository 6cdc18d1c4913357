/* Resampling filters and their coefficient tables (one per axis).
 *
 * Coordinates are continuous: source pixel j covers [j, j+1), so its centre is j + 0.5. Output
 * pixel i is centred on origin + (i + 0.5) * step. On reduction (step > 1) the kernel is widened by
 * step, so there is no aliasing; on enlargement it keeps its own width. Beyond the source the edge
 * pixel repeats. A table's coefficients sum to exactly 1 << TG_COEF_BITS for every output pixel, so
 * a flat picture stays flat. */
#ifndef TEGULA_FILTER_H
#define TEGULA_FILTER_H

#include <stdint.h>

#include "tegula/err.h"

#define TG_COEF_BITS 14

typedef enum tg_filter {
    TG_FILTER_NEAREST,
    TG_FILTER_BOX,
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

/* For output pixel i the taps are source pixels first[i] .. first[i] + taps - 1, all inside
 * [0, in_px), with weights coef[i * taps + t]. Rows of fewer taps are padded with zero weights. */
typedef struct tg_filter_table {
    tg_axis axis;
    tg_filter filter;
    uint32_t taps;
    const int32_t *first; /* out_px entries, not decreasing */
    const int16_t *coef;  /* out_px * taps_stride entries */
    uint32_t taps_stride; /* taps rounded up to a multiple of 8 with zero weights */
} tg_filter_table;

/* The source pixels [*first, *end) that the axis touches with this filter, clipped to nothing: the
 * caller clips to the image. Values may be negative or beyond the image. */
void tg_filter_extent(const tg_axis *axis, tg_filter filter, int64_t *first, int64_t *end);

/* A table from the process's small cache of them, built on a miss. Borrowed: valid until
 * tg_filter_table_release. NULL with err set (TG_ERR_TOO_LARGE). */
const tg_filter_table *tg_filter_table_get(const tg_axis *axis, tg_filter filter, tg_err *err);
void tg_filter_table_release(const tg_filter_table *table);
/* Drops cached tables that nobody holds. */
void tg_filter_cache_clear(void);

const char *tg_filter_name(tg_filter filter);

#endif
