#include "render/rows.h"

#include <stdlib.h>

#include "tegula/abandon.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/scaler.h"
#include "tegula/tile_cache.h"

struct tg_rows {
    const tg_plan *plan;
    tg_image *image;
    uint8_t *band; /* window rows [band_first, band_end), counted from the window's top */
    size_t band_stride;
    uint32_t band_first, band_end;
    tg_scaler *scaler; /* NULL: rows go out as read */
    uint8_t *row;      /* one scaled row */
};

tg_rows *tg_rows_new(const tg_plan *plan, tg_image *image, tg_err *err)
{
    tg_rows *r = tg_new(sizeof *r);
    size_t pixel = tg_pixfmt_bytes(plan->read_fmt);
    r->plan = plan;
    r->image = image;
    /* A picture that would fill the cache by itself would only drive out what others come back to.
     */
    image->keep_tiles = plan->decode_px * pixel <= tg_tile_cache_budget() / 2;
    r->band_stride = plan->window.w * pixel;
    r->band = tg_image_alloc(TG_MIN(plan->band_px, plan->window.h), r->band_stride, err);
    if (!r->band)
        goto fail;
    if (plan->resample) {
        r->scaler = tg_scaler_new(plan->read_fmt, &plan->x, &plan->y, plan->filter, err);
        r->row = r->scaler ? tg_image_alloc(plan->scaled_w, pixel, err) : NULL;
        if (!r->row)
            goto fail;
    }
    return r;
fail:
    tg_rows_free(r);
    return NULL;
}

void tg_rows_free(tg_rows *r)
{
    if (!r)
        return;
    tg_scaler_free(r->scaler);
    tg_image_free(r->row);
    tg_image_free(r->band);
    free(r);
}

/* Reads the band that begins at window row `from`; its end falls on a tile row, so that no tile is
 * decoded twice. */
static bool read_band(tg_rows *r, uint32_t from, tg_err *err)
{
    if (!tg_still_wanted(err))
        return false;
    const tg_rect *w = &r->plan->window;
    uint32_t band = r->plan->band_px;
    uint32_t rows = TG_MIN(band - (w->y + from) % band, w->h - from);
    tg_rect rect = {w->x, w->y + from, w->w, rows};
    r->band_first = from;
    r->band_end = from + rows;
    return tg_image_read(r->image, r->plan->level, r->plan->reduction, rect, r->band,
                         r->band_stride, err);
}

static bool feed_scaler(tg_rows *r, tg_err *err)
{
    uint32_t first, end;
    tg_scaler_want(r->scaler, &first, &end);
    for (uint32_t y = first; y < end; y++) {
        if (y >= r->band_end && !read_band(r, y, err))
            return false;
        tg_scaler_push(r->scaler, r->band + (y - r->band_first) * r->band_stride);
    }
    return true;
}

bool tg_rows_next(tg_rows *r, const uint8_t **data, size_t *stride, uint32_t *n, tg_err *err)
{
    *stride = r->band_stride;
    if (!r->scaler) {
        if (!read_band(r, r->band_end, err))
            return false;
        *data = r->band;
        *n = r->band_end - r->band_first;
        return true;
    }
    if (!feed_scaler(r, err))
        return false;
    tg_scaler_pull(r->scaler, r->row);
    *data = r->row;
    *n = 1;
    return true;
}
