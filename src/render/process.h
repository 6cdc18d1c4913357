/* The steps of tegula/process.h on rows as they are read: window rows in, core rows in rows_fmt
 * out.
 *
 *     for each core row: push window rows first .. end-1 as tg_processing_want says, then pull */
#ifndef TEGULA_RENDER_PROCESS_H
#define TEGULA_RENDER_PROCESS_H

#include "tegula/plan.h"

typedef struct tg_processing tg_processing;

/* plan must outlive it, its process must not ask for stretch any more. NULL with err on failure. */
tg_processing *tg_processing_new(const tg_plan *plan, const tg_image *image, tg_err *err);
void tg_processing_free(tg_processing *p); /* NULL is fine */

/* The window rows [*first, *end) that the next core row still needs. */
void tg_processing_want(const tg_processing *p, uint32_t *first, uint32_t *end);
/* Takes the next window row, in read_fmt; the last one must still be there for pull. */
void tg_processing_push(tg_processing *p, const void *row);
/* Writes the next core row. */
void tg_processing_pull(tg_processing *p, void *row);

/* Bytes it holds; for the plan's estimate. */
uint64_t tg_processing_cost_bytes(const tg_plan *plan);

#endif
