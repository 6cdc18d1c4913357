/* Carries a plan out: bands from the codec through scaler and row operations into an encoder. */
#ifndef TEGULA_RENDER_H
#define TEGULA_RENDER_H

#include "tegula/buf.h"
#include "tegula/config.h"
#include "tegula/err.h"
#include "tegula/plan.h"

/* Appends the finished picture to out. On failure out is as it was. */
bool tg_render(const tg_config *config, const tg_plan *plan, tg_image *image, tg_buf *out,
               tg_err *err);

#endif
