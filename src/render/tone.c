#include "render/tone.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/chain.h"
#include "render/rows.h"
#include "tegula/arena.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/raster.h"
#include "tegula/resolutions.h"

#define KEPT_MAX        4
#define MAX_PIXEL_BYTES 8

/* Enough for the text of all steps at once. */
#define KEY_BYTES 2048

typedef struct histogram {
    char key[KEY_BYTES]; /* of the steps before it; empty: none is here */
    uint64_t bins[256];
} histogram;

/* Of one open image. */
typedef struct kept {
    bool has_range;
    double low, high; /* of the samples as read, 0 .. 1 */
    histogram histograms[KEPT_MAX];
    unsigned next;
} kept;

static kept *kept_of(tg_image *image)
{
    if (!image->kept)
        image->kept = tg_new(sizeof(kept));
    return image->kept;
}

/* The whole smallest resolution, through these steps to 8 bits, or as read. */
static bool small_plan(const tg_config *config, tg_image *image, const tg_process *process,
                       tg_plan *out, tg_err *err)
{
    tg_job job = {.format = TG_FORMAT_TIFF, .process = *process};
    tg_resolutions all;
    tg_resolutions_of(image, &all);
    const struct tg_resolution *r = &all.of[0];
    tg_resolution_job(image, r, (tg_rect){0, 0, r->width_px, r->height_px}, &job);
    return tg_plan_make(config, image, &job, out, err);
}

/* Calls take with every row. */
static bool each_row(const tg_plan *plan, tg_image *image,
                     bool (*take)(void *ctx, const void *row, uint32_t n_px), void *ctx,
                     tg_err *err)
{
    tg_rows *rows = tg_rows_new(plan, image, err);
    bool ok = rows != NULL;
    for (uint32_t left = plan->scaled_h, n; ok && left; left -= n) {
        const uint8_t *data;
        size_t stride;
        ok = tg_rows_next(rows, &data, &stride, &n, err);
        for (uint32_t i = 0; ok && i < n; i++)
            ok = take(ctx, data + i * stride, plan->scaled_w);
        if (!ok)
            break;
    }
    tg_rows_free(rows);
    return ok;
}

/* ---- range ---- */

typedef struct range_reader {
    tg_pixfmt fmt;
    unsigned low, high;
} range_reader;

static bool take_range(void *ctx, const void *row, uint32_t n_px)
{
    range_reader *r = ctx;
    unsigned colours = r->fmt.channels - tg_pixfmt_alpha(r->fmt);
    for (size_t x = 0; x < n_px; x++)
        for (unsigned c = 0; c < colours; c++) {
            size_t i = x * r->fmt.channels + c;
            unsigned v = r->fmt.bits == 8 ? ((const uint8_t *)row)[i] : ((const uint16_t *)row)[i];
            r->low = TG_MIN(r->low, v);
            r->high = TG_MAX(r->high, v);
        }
    return true;
}

static bool find_range(const tg_config *config, tg_image *image, kept *k, tg_err *err)
{
    static const tg_process none;
    tg_plan plan;
    if (!small_plan(config, image, &none, &plan, err))
        return false;
    range_reader r = {.fmt = plan.rows_fmt, .low = UINT_MAX};
    if (!each_row(&plan, image, take_range, &r, err))
        return false;
    double white = r.fmt.bits == 8 ? 255 : 65535;
    k->low = r.low / white;
    k->high = r.high / white;
    k->has_range = true;
    return true;
}

bool tg_tone_stretch(const tg_config *config, tg_image *image, tg_plan *plan, tg_err *err)
{
    tg_process *p = &plan->process;
    kept *k = kept_of(image);
    if (!p->stretch)
        return true;
    if (!k->has_range && !find_range(config, image, k, err))
        return false;
    p->stretch = false;
    for (unsigned c = 0; c < TG_PROCESS_CHANNELS && k->high > k->low; c++) {
        double low, high;
        tg_image_range(image, c, &low, &high);
        if (p->ranges >> c & 1)
            continue;
        p->ranges |= 1u << c;
        p->range_min[c] = low + k->low * (high - low);
        p->range_max[c] = low + k->high * (high - low);
    }
    return true;
}

/* ---- histogram ---- */

typedef struct histogram_reader {
    tg_chain chain;
    uint8_t *scratch, *gray;
    uint64_t *bins;
} histogram_reader;

/* The first of each pixel's channels, at the row's beginning. */
static void gather_first(uint8_t *row, unsigned channels, size_t n_px)
{
    for (size_t x = 1; x < n_px && channels > 1; x++)
        row[x] = row[x * channels];
}

static bool take_histogram(void *ctx, const void *row, uint32_t n_px)
{
    histogram_reader *r = ctx;
    tg_pixfmt fmt = tg_chain_out(&r->chain);
    row = tg_chain_run(&r->chain, row, n_px, r->scratch);
    if (fmt.channels >= 3) {
        tg_row_gray(r->gray, row, fmt, n_px);
        fmt.channels -= 2;
    } else {
        memcpy(r->gray, row, n_px * (size_t)fmt.channels);
    }
    gather_first(r->gray, fmt.channels, n_px);
    tg_histogram_add(r->bins, r->gray, n_px);
    return true;
}

static bool read_histogram(const tg_config *config, tg_image *image, const tg_plan *wanted,
                           histogram *h, tg_err *err)
{
    tg_plan plan;
    histogram_reader r = {.bins = h->bins};
    if (!small_plan(config, image, &wanted->process, &plan, err))
        return false;
    plan.out_fmt.bits = 8;
    plan.gray = wanted->gray && plan.rows_fmt.channels >= 3;
    tg_chain_before_turn(&r.chain, config, &plan, NULL);
    r.scratch = tg_image_alloc(plan.scaled_w, 2 * MAX_PIXEL_BYTES, err);
    r.gray = r.scratch ? tg_image_alloc(plan.scaled_w, 2, err) : NULL;
    bool ok = r.gray && each_row(&plan, image, take_histogram, &r, err);
    tg_image_free(r.gray);
    tg_image_free(r.scratch);
    return ok;
}

/* The steps as text, and whether gray was made of colours. A kernel is turned for the image's
 * orientation, the same for all plans of the image. */
static void write_key(const tg_plan *plan, char key[KEY_BYTES])
{
    tg_arena *arena = tg_arena_new();
    snprintf(key, KEY_BYTES, "%d%.*s", plan->gray,
             TG_STR_ARG(tg_process_text(&plan->process, arena)));
    tg_arena_free(arena);
}

static const histogram *find_histogram(const kept *k, const char *key)
{
    for (unsigned i = 0; i < KEPT_MAX; i++)
        if (strcmp(k->histograms[i].key, key) == 0)
            return &k->histograms[i];
    return NULL;
}

static const histogram *make_histogram(const tg_config *config, tg_image *image,
                                       const tg_plan *plan, const char *key, tg_err *err)
{
    kept *k = kept_of(image);
    histogram *h = &k->histograms[k->next];
    memset(h, 0, sizeof *h);
    if (!read_histogram(config, image, plan, h, err))
        return NULL;
    memcpy(h->key, key, KEY_BYTES);
    k->next = (k->next + 1) % KEPT_MAX;
    return h;
}

bool tg_tone_table(const tg_config *config, tg_image *image, const tg_plan *plan, uint8_t lut[256],
                   tg_err *err)
{
    char key[KEY_BYTES] = "";
    write_key(plan, key);
    const histogram *h = find_histogram(kept_of(image), key);
    if (!h)
        h = make_histogram(config, image, plan, key, err);
    if (!h)
        return false;
    if (plan->binary)
        tg_histogram_binarise(h->bins, lut);
    else
        tg_histogram_equalise(h->bins, lut);
    return true;
}
