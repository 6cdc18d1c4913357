#include "tegula/samples.h"

#include <string.h>

#include "render/rows.h"
#include "render/tone.h"
#include "tegula/mem.h"
#include "tegula/raster.h"

static bool gather(const tg_plan *plan, tg_image *image, uint8_t *to, size_t stride, tg_err *err)
{
    tg_rows *rows = tg_rows_new(plan, image, err);
    bool ok = rows != NULL;
    for (uint32_t y = 0, n = 0; ok && y < plan->scaled_h; y += n) {
        const uint8_t *data;
        size_t data_stride;
        ok = tg_rows_next(rows, &data, &data_stride, &n, err);
        for (uint32_t i = 0; ok && i < n; i++) {
            memcpy(to + (y + i) * stride, data + i * data_stride, stride);
            if (plan->mirror)
                tg_row_mirror(to + (y + i) * stride, plan->rows_fmt, plan->scaled_w);
        }
    }
    tg_rows_free(rows);
    return ok;
}

static bool turn(const tg_plan *plan, tg_samples *s, tg_err *err)
{
    size_t pixel = tg_pixfmt_bytes(s->fmt);
    uint8_t *turned = tg_image_alloc(plan->out_h, plan->out_w * pixel, err);
    if (!turned)
        return false;
    tg_raster_turn(turned, plan->out_w * pixel, s->data, plan->scaled_w * pixel, s->fmt,
                   plan->scaled_w, plan->scaled_h, plan->quarter);
    tg_image_free(s->data);
    s->data = turned;
    return true;
}

bool tg_samples_read(const tg_config *config, tg_image *image, const tg_job *job, tg_samples *out,
                     tg_err *err)
{
    tg_plan plan;
    tg_job plain = *job;
    plain.format = TG_FORMAT_TIFF; /* holds whatever there is */
    *out = (tg_samples){0};
    if (!tg_plan_make(config, image, &plain, &plan, err) ||
        !tg_tone_stretch(config, image, &plan, err))
        return false;
    *out = (tg_samples){.width_px = plan.out_w, .height_px = plan.out_h, .fmt = plan.rows_fmt};
    size_t stride = plan.scaled_w * tg_pixfmt_bytes(out->fmt);
    out->data = tg_image_alloc(plan.scaled_h, stride, err);
    if (out->data && gather(&plan, image, out->data, stride, err) &&
        (!plan.quarter || turn(&plan, out, err)))
        return true;
    tg_samples_free(out);
    return false;
}

void tg_samples_free(tg_samples *s)
{
    tg_image_free(s->data);
    *s = (tg_samples){0};
}

unsigned tg_samples_at(const tg_samples *s, size_t i)
{
    uint16_t deep;
    if (s->fmt.bits == 8)
        return s->data[i];
    memcpy(&deep, s->data + 2 * i, sizeof deep);
    return deep;
}
