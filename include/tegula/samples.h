/* Pixels without a picture around them: what a job shows, upright, in memory. */
#ifndef TEGULA_SAMPLES_H
#define TEGULA_SAMPLES_H

#include "tegula/config.h"
#include "tegula/plan.h"

typedef struct tg_samples {
    uint8_t *data; /* of tg_image_alloc; rows without gaps */
    uint32_t width_px, height_px;
    tg_pixfmt fmt; /* as read, or as the job's processing made it */
} tg_samples;

/* Region, size, processing, mirror and quarter turns of the job; no conversion of colours, no gray,
 * no format. TG_ERR_TOO_LARGE as tg_plan_make. */
bool tg_samples_read(const tg_config *config, tg_image *image, const tg_job *job, tg_samples *out,
                     tg_err *err);
void tg_samples_free(tg_samples *samples);

/* Sample i, counted through all channels, as 0 .. 255 or 65535. */
unsigned tg_samples_at(const tg_samples *samples, size_t i);

#endif
