/* The last step: a picture that is a part of its canvas. Around it lies transparency where the
 * format has it, else the background's colour. */
#ifndef TEGULA_RENDER_CANVAS_H
#define TEGULA_RENDER_CANVAS_H

#include "tegula/config.h"
#include "tegula/encoder.h"
#include "tegula/plan.h"

typedef struct tg_canvas_rows {
    tg_canvas canvas;
    size_t px_bytes;
    uint32_t picture_px, below_px; /* width of the picture; rows under it */
    uint8_t *empty, *row;          /* one row each: no picture, and with it */
} tg_canvas_rows;

/* On failure (memory) err is set; free it in any case. */
bool tg_canvas_start(tg_canvas_rows *c, const tg_config *config, const tg_plan *plan, tg_err *err);
void tg_canvas_free(tg_canvas_rows *c);

/* The rows above the picture; one row of it, padded; the rows below. */
bool tg_canvas_above(const tg_canvas_rows *c, tg_encoder *encoder, tg_err *err);
const void *tg_canvas_row(const tg_canvas_rows *c, const void *row);
bool tg_canvas_below(const tg_canvas_rows *c, tg_encoder *encoder, tg_err *err);

#endif
