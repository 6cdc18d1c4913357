/* What steps need to know of the whole image before its first pixel: ranges and histograms, of the
 * smallest resolution. Kept with the open image, so that each tile of a view does not read it
 * again. */
#ifndef TEGULA_RENDER_TONE_H
#define TEGULA_RENDER_TONE_H

#include "tegula/plan.h"

/* Makes explicit what plan->process says of stretch: from the smallest to the largest sample of all
 * colours, one range for all, so that hues stay. Given ranges go before. */
bool tg_tone_stretch(const tg_config *config, tg_image *image, tg_plan *plan, tg_err *err);

/* For a plan with equalise or binary: from gray in to what it becomes. */
bool tg_tone_table(const tg_config *config, tg_image *image, const tg_plan *plan, uint8_t lut[256],
                   tg_err *err);

#endif
