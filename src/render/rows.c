#include "render/rows.h"

#include <stdlib.h>

#include "render/process.h"
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
    tg_processing *processing; /* NULL: what is read is scaled */
    uint8_t *core;             /* one processed row, that number core_row - 1 */
    uint32_t core_row;
    tg_scaler *scaler; /* NULL: rows go out as read or processed */
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
    if (plan->process.ranges && !tg_image_find_range(image, err))
        goto fail;
    if (plan->processed) {
        r->processing = tg_processing_new(plan, image, err);
        r->core = r->processing ? tg_image_alloc(plan->core.w, tg_pixfmt_bytes(plan->rows_fmt), err)
                                : NULL;
        if (!r->core)
            goto fail;
    }
    if (plan->resample) {
        r->scaler = tg_scaler_new(plan->rows_fmt, &plan->x, &plan->y, plan->filter, err);
        r->row =
            r->scaler ? tg_image_alloc(plan->scaled_w, tg_pixfmt_bytes(plan->rows_fmt), err) : NULL;
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
    tg_processing_free(r->processing);
    tg_image_free(r->core);
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

/* Rows are asked for from the top down. */
static const uint8_t *window_row(tg_rows *r, uint32_t y, tg_err *err)
{
    if (y >= r->band_end && !read_band(r, y, err))
        return NULL;
    return r->band + (y - r->band_first) * r->band_stride;
}

static bool process_row(tg_rows *r, tg_err *err)
{
    uint32_t first, end;
    tg_processing_want(r->processing, &first, &end);
    for (uint32_t y = first; y < end; y++) {
        const uint8_t *row = window_row(r, y, err);
        if (!row)
            return false;
        tg_processing_push(r->processing, row);
    }
    tg_processing_pull(r->processing, r->core);
    r->core_row++;
    return true;
}

static const uint8_t *core_row(tg_rows *r, uint32_t y, tg_err *err)
{
    while (r->core_row <= y)
        if (!process_row(r, err))
            return NULL;
    return r->core;
}

static bool feed_scaler(tg_rows *r, tg_err *err)
{
    uint32_t first, end;
    tg_scaler_want(r->scaler, &first, &end);
    for (uint32_t y = first; y < end; y++) {
        const uint8_t *row = r->processing ? core_row(r, y, err) : window_row(r, y, err);
        if (!row)
            return false;
        tg_scaler_push(r->scaler, row);
    }
    return true;
}

static bool next_read(tg_rows *r, const uint8_t **data, size_t *stride, uint32_t *n, tg_err *err)
{
    if (!read_band(r, r->band_end, err))
        return false;
    *data = r->band;
    *stride = r->band_stride;
    *n = r->band_end - r->band_first;
    return true;
}

bool tg_rows_next(tg_rows *r, const uint8_t **data, size_t *stride, uint32_t *n, tg_err *err)
{
    if (!r->scaler && !r->processing)
        return next_read(r, data, stride, n, err);
    *stride = 0;
    *n = 1;
    if (!r->scaler) {
        *data = r->core;
        return process_row(r, err);
    }
    if (!feed_scaler(r, err))
        return false;
    tg_scaler_pull(r->scaler, r->row);
    *data = r->row;
    return true;
}
