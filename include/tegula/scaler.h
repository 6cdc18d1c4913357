/* Streaming separable resampler: rows in, rows out, memory proportional to rows.
 *
 *     tg_scaler *s = tg_scaler_new(fmt, &x, &y, filter, err);
 *     for (uint32_t i = 0; i < y.out_px; i++) {
 *         tg_scaler_want(s, &first, &end);              source rows that output row i still needs
 *         push rows first .. end-1 with tg_scaler_push
 *         tg_scaler_pull(s, dst_row);
 *     }
 *
 * Alpha is premultiplied on the way in and divided out on the way out, so colour under transparent
 * pixels never bleeds. Every instruction set gives the same bits. */
#ifndef TEGULA_SCALER_H
#define TEGULA_SCALER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/err.h"
#include "tegula/filter.h"
#include "tegula/pixel.h"

typedef struct tg_scaler tg_scaler;

/* Rows pushed have x->in_px pixels of fmt, rows pulled x->out_px. NULL with err on failure
 * (TG_ERR_TOO_LARGE, TG_ERR_BUSY). */
tg_scaler *tg_scaler_new(tg_pixfmt fmt, const tg_axis *x, const tg_axis *y, tg_filter filter,
                         tg_err *err);
void tg_scaler_free(tg_scaler *s); /* NULL is fine */

/* Source rows [*first, *end) not yet pushed that the next output row needs; first == end when none.
 * Rows are pushed in increasing order without gaps, from the row where the first output's taps
 * begin. Returns false when all output rows have been pulled. */
bool tg_scaler_want(const tg_scaler *s, uint32_t *first, uint32_t *end);

/* Takes the next source row: in_px * fmt bytes at row, read only during the call (copied or reduced
 * at once). */
void tg_scaler_push(tg_scaler *s, const void *row);

/* Writes the next output row: out_px * fmt bytes. All wanted rows must have been pushed. */
void tg_scaler_pull(tg_scaler *s, void *row);

/* Bytes the scaler holds; for the plan's estimate. */
size_t tg_scaler_cost_bytes(tg_pixfmt fmt, const tg_axis *x, const tg_axis *y, tg_filter filter);

#endif
