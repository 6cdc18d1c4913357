/* The rows of a plan's result before any turn: bands read from the image, processed and resampled
 * when the plan says so. */
#ifndef TEGULA_RENDER_ROWS_H
#define TEGULA_RENDER_ROWS_H

#include "tegula/plan.h"

typedef struct tg_rows tg_rows;

/* plan and image must outlive it. NULL with err on failure. */
tg_rows *tg_rows_new(const tg_plan *plan, tg_image *image, tg_err *err);
void tg_rows_free(tg_rows *rows); /* NULL is fine */

/* The next *n >= 1 rows of scaled_w pixels in rows_fmt, *stride bytes apart, valid until the next
 * call. Exactly scaled_h rows in all. */
bool tg_rows_next(tg_rows *rows, const uint8_t **data, size_t *stride, uint32_t *n, tg_err *err);

#endif
