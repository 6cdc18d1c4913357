/* TIL, PFL and SPECTRA: many tiles in one answer, and samples as they are stored. */
#include <inttypes.h>

#include "serve/iip.h"
#include "tegula/json.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/render.h"
#include "tegula/samples.h"
#include "tegula/xml.h"

#define MAX_TILES  1024
#define MAX_PX     ((int64_t)MAX_TILES * 256 * 256) /* fewer of larger tiles */
#define MAX_VALUES 65536

/* ---- TIL ---- */

typedef enum coding { RAW = 0, JPEG = 2, RAW_16 = 3 } coding;

static coding coding_of(const tg_plan *plan)
{
    if (plan->rows_fmt.bits == 16)
        return RAW_16;
    return tg_pixfmt_alpha(plan->rows_fmt) ? RAW : JPEG;
}

static void mark_samples(const tg_mark *mark, tg_samples *raw, void *scratch)
{
    size_t row_bytes = raw->width_px * tg_pixfmt_bytes(raw->fmt);
    for (uint32_t y = 0; y < raw->height_px; y++) {
        uint8_t *row = raw->data + y * row_bytes;
        const void *marked = tg_mark_row(mark, y, row, raw->width_px, raw->fmt, scratch);
        if (marked != row)
            memcpy(row, marked, row_bytes);
    }
}

static bool put_raw(tg_service *s, tg_image *image, const tg_job *job, const tg_plan *plan,
                    tg_buf *out, tg_err *err)
{
    tg_samples raw;
    if (!tg_samples_read(s->config, image, job, &raw, err))
        return false;
    uint8_t *scratch = tg_image_alloc(raw.width_px, TG_MARK_ROW_BYTES, err);
    if (scratch) {
        mark_samples(&plan->mark, &raw, scratch);
        tg_buf_append(out, raw.data,
                      (size_t)raw.width_px * raw.height_px * tg_pixfmt_bytes(raw.fmt));
    }
    tg_image_free(scratch);
    tg_samples_free(&raw);
    return scratch != NULL;
}

static bool put_pixels(tg_service *s, tg_image *image, const tg_job *job, const tg_plan *plan,
                       tg_buf *out, tg_err *err)
{
    return coding_of(plan) == JPEG ? tg_render(s->config, plan, image, out, err)
                                   : put_raw(s, image, job, plan, out, err);
}

/* "Tile,r,n,0/bytes:", four bytes of coding, four of its subtype, the data. */
static bool put_tile(tg_service *s, const tg_source *source, const tg_resolutions *all, tg_iip *iip,
                     int64_t n, tg_buf *out, tg_err *err)
{
    tg_image *image = source->image;
    tg_rect rect;
    tg_plan plan;
    tg_buf data = {.max = out->max};
    if (!tg_iip_tile(all, iip->resolution, n, &rect, err))
        return false;
    tg_resolution_job(image, &all->of[iip->resolution], rect, &iip->job);
    bool ok = tg_plan_make(s->config, image, &iip->job, &plan, err) &&
              tg_answer_mark(s, source, &plan, tg_iip_picture_name(s, iip, source, &plan), err) &&
              put_pixels(s, image, &iip->job, &plan, &data, err);
    if (ok) {
        const uint8_t head[8] = {(uint8_t)coding_of(&plan), 0, 0, 0, 0, 0x11, 0, 0};
        tg_buf_printf(out, "Tile,%" PRId64 ",%" PRId64 ",0/%zu:", iip->resolution, n, data.len + 8);
        tg_buf_append(out, head, sizeof head);
        tg_buf_str(out, tg_buf_view(&data));
        tg_buf_z(out, "\r\n");
        if (out->failed || data.failed)
            ok = tg_fail(err, TG_ERR_TOO_LARGE, "the tiles are more than this server sends");
    }
    tg_buf_free(&data);
    return ok;
}

/* The tiles of a rectangle, by their columns and rows. */
typedef struct tile_block {
    int64_t cols; /* of the resolution */
    int64_t x0, x1, y0, y1;
} tile_block;

static bool find_block(const tg_resolutions *all, const tg_iip *iip, tile_block *b, tg_err *err)
{
    tg_rect rect;
    if (!tg_iip_tile(all, iip->resolution, iip->tile, &rect, err) ||
        !tg_iip_tile(all, iip->resolution, iip->last_tile, &rect, err))
        return false;
    b->cols = tg_ceil_div_u32(all->of[iip->resolution].width_px, all->tile_w_px);
    int64_t xa = iip->tile % b->cols, xb = iip->last_tile % b->cols;
    b->x0 = TG_MIN(xa, xb);
    b->x1 = TG_MAX(xa, xb);
    b->y0 = iip->tile / b->cols;
    b->y1 = iip->last_tile / b->cols;
    int64_t n = (b->x1 - b->x0 + 1) * (b->y1 - b->y0 + 1);
    if (n > MAX_TILES)
        return tg_fail(err, TG_ERR_BAD_REQUEST, "TIL: more than %d tiles", MAX_TILES);
    if (n > 1 && n * all->tile_w_px * all->tile_h_px > MAX_PX)
        return tg_fail(err, TG_ERR_TOO_LARGE, "TIL: more pixels than one answer holds");
    return true;
}

/* Column by column. */
static bool put_block(tg_service *s, const tg_source *source, const tg_resolutions *all,
                      tg_iip *iip, const tile_block *b, tg_buf *out, tg_err *err)
{
    for (int64_t x = b->x0; x <= b->x1; x++)
        for (int64_t y = b->y0; y <= b->y1; y++)
            if (!put_tile(s, source, all, iip, y * b->cols + x, out, err))
                return false;
    return true;
}

static bool many_tiles(tg_service *s, const tg_request *request, tg_iip *iip, tg_source *source,
                       tg_response *r, tg_err *err)
{
    tg_resolutions all;
    tile_block b;
    tg_resolutions_of(source->image, &all);
    if (!find_block(&all, iip, &b, err))
        return false;
    tg_str what = tg_arena_printf(s->arena, "til|%" PRId64 "|%" PRId64 "-%" PRId64 "|%d|%.*s",
                                  iip->resolution, iip->tile, iip->last_tile, iip->image.layers,
                                  TG_STR_ARG(tg_job_modifiers(&iip->job, s->arena)));
    tg_answer_text(s, request, source, what, tg_iip_media_type(TG_IIP_NETFPX), r);
    return r->status == 304 ||
           (put_block(s, source, &all, iip, &b, &r->body, err) && tg_source_unchanged(source, err));
}

bool tg_answer_many_tiles(tg_service *s, const tg_request *request, tg_iip *iip, tg_response *r,
                          tg_err *err)
{
    tg_source *source = tg_iip_source(s, &iip->image, err);
    bool ok = source && many_tiles(s, request, iip, source, r, err);
    tg_source_release(s->sources, source);
    return ok;
}

/* ---- samples of all views ---- */

typedef struct collection {
    tg_service *s;
    const tg_iip *iip;
    tg_buf *out;
    tg_iip_image image;
    const tg_iip_views *views; /* if there are several: each goes under its name */
    unsigned taken;
    size_t values;
} collection;

/* The rectangle of a resolution, unprocessed. */
static bool read_rect(const collection *c, tg_image *image, const tg_resolutions *all, tg_rect rect,
                      tg_samples *out, tg_err *err)
{
    tg_job job = {0};
    tg_resolution_job(image, &all->of[c->iip->resolution], rect, &job);
    return tg_samples_read(c->s->config, image, &job, out, err);
}

/* Of whole numbers the stored one, of others what was kept of it. */
static double stored_value(const tg_image *image, unsigned channel, unsigned sample, unsigned bits)
{
    double low, high, white = bits == 8 ? 255 : 65535;
    bool whole = channel >= 5 || image->range_min[channel] == image->range_max[channel];
    tg_image_range(image, channel, &low, &high);
    double v = low + (high - low) * sample / white;
    return whole ? (double)(int64_t)(v + .5) : v;
}

/* ---- PFL ---- */

/* Where the line lies; ends are exclusive. */
static bool profile_rect(const tg_iip *iip, const tg_resolutions *all, tg_rect *out, tg_err *err)
{
    if (iip->resolution < 0 || iip->resolution >= all->n)
        return tg_fail(err, TG_ERR_NOT_FOUND, "resolution: there are 0 to %u", all->n - 1);
    int64_t w = all->of[iip->resolution].width_px, h = all->of[iip->resolution].height_px;
    if (iip->x1 < 0 || iip->x1 >= w || iip->x2 > w || iip->y1 < 0 || iip->y1 >= h || iip->y2 > h)
        return tg_fail(err, TG_ERR_BAD_REQUEST, "PFL: outside the resolution");
    *out = (tg_rect){(uint32_t)iip->x1, (uint32_t)iip->y1, 1, 1};
    if (iip->x2 > iip->x1)
        out->w = (uint32_t)(iip->x2 - iip->x1);
    else if (iip->y2 > iip->y1)
        out->h = (uint32_t)(iip->y2 - iip->y1);
    return true;
}

static void put_values(const tg_image *image, const tg_samples *line, tg_buf *out)
{
    size_t n = (size_t)line->width_px * line->height_px * line->fmt.channels;
    for (size_t i = 0; i < n; i++) {
        unsigned channel = (unsigned)(i % line->fmt.channels);
        tg_buf_printf(out, "%s%.9g", i ? "," : "",
                      stored_value(image, channel, tg_samples_at(line, i), line->fmt.bits));
    }
}

static bool take_profile(void *ctx, unsigned view, tg_source *source, tg_err *err)
{
    collection *c = ctx;
    tg_resolutions all;
    tg_rect rect;
    tg_samples line;
    tg_resolutions_of(source->image, &all);
    if (!profile_rect(c->iip, &all, &rect, err))
        return false;
    c->values += (size_t)rect.w * rect.h * source->image->fmt.channels;
    if (c->values > MAX_VALUES)
        return tg_fail(err, TG_ERR_BAD_REQUEST, "PFL: more than %d values", MAX_VALUES);
    if (!read_rect(c, source->image, &all, rect, &line, err))
        return false;
    if (c->taken++)
        tg_buf_z(c->out, ", ");
    if (c->views) {
        tg_json_string(c->out, tg_iip_view_name(c->views, view));
        tg_buf_z(c->out, ": ");
    }
    tg_buf_z(c->out, "[");
    put_values(source->image, &line, c->out);
    tg_buf_z(c->out, "]");
    tg_samples_free(&line);
    return true;
}

/* False on failure. */
static bool find_views(collection *c, tg_err *err)
{
    if (c->iip->image.view)
        return true;
    c->views = tg_iip_views_of(c->s, &c->iip->image, err);
    if (!c->views)
        return false;
    if (c->views->n < 2)
        c->views = NULL;
    return true;
}

/* Of all views when none is named, under the validators of the first. */
static bool collect(tg_service *s, const tg_request *request, collection *c, tg_iip_take *take,
                    const char *end, const char *media_type, tg_response *r, tg_err *err)
{
    tg_source *source = tg_iip_source(s, &c->iip->image, err);
    bool ok = source && (c->iip->image.view ? take(c, 0, source, err)
                                            : tg_iip_each_view(s, &c->iip->image, take, c, err));
    if (ok) {
        tg_buf_z(c->out, end);
        tg_answer_text(s, request, source, TG_STR(""), media_type, r);
    }
    tg_source_release(s->sources, source);
    return ok;
}

bool tg_answer_profile(tg_service *s, const tg_request *request, const tg_iip *iip, tg_response *r,
                       tg_err *err)
{
    collection c = {.s = s, .iip = iip, .out = &r->body};
    if (!find_views(&c, err))
        return false;
    tg_buf_z(c.out, c.views ? "{\"profile\": {" : "{\"profile\": ");
    return collect(s, request, &c, take_profile, c.views ? "}}" : "}",
                   tg_iip_media_type(TG_IIP_JSON), r, err);
}

/* ---- SPECTRA ---- */

/* Floats as stored, others as a part of their largest value. */
static double reflectance(const tg_image *image, unsigned channel, unsigned sample, unsigned bits)
{
    bool whole = channel >= 5 || image->range_min[channel] == image->range_max[channel];
    return whole ? sample / (bits == 8 ? 255.0 : 65535.0)
                 : stored_value(image, channel, sample, bits);
}

/* The channel is named where there is one view only. */
static void put_point(const tg_iip_views *views, unsigned view, unsigned channel, double value,
                      tg_buf *out)
{
    tg_buf_z(out, "<point><wavelength>");
    if (views)
        tg_xml_text(out, tg_iip_view_name(views, view));
    else
        tg_buf_printf(out, "%u", channel);
    tg_buf_printf(out, "</wavelength><reflectance>%f</reflectance></point>\n", value);
}

static bool take_spectrum(void *ctx, unsigned view, tg_source *source, tg_err *err)
{
    collection *c = ctx;
    tg_image *image = source->image;
    tg_resolutions all;
    tg_rect tile;
    tg_samples pixel;
    tg_resolutions_of(image, &all);
    if (!tg_iip_tile(&all, c->iip->resolution, c->iip->tile, &tile, err))
        return false;
    if (c->iip->x1 < 0 || c->iip->x1 >= tile.w || c->iip->y1 < 0 || c->iip->y1 >= tile.h)
        return tg_fail(err, TG_ERR_BAD_REQUEST, "SPECTRA: outside the tile");
    tg_rect rect = {tile.x + (uint32_t)c->iip->x1, tile.y + (uint32_t)c->iip->y1, 1, 1};
    if (!read_rect(c, image, &all, rect, &pixel, err))
        return false;
    unsigned channels = c->views ? 1 : pixel.fmt.channels;
    for (unsigned i = 0; i < channels; i++)
        put_point(c->views, view, i,
                  reflectance(image, i, tg_samples_at(&pixel, i), pixel.fmt.bits), c->out);
    tg_samples_free(&pixel);
    return true;
}

bool tg_answer_spectrum(tg_service *s, const tg_request *request, const tg_iip *iip, tg_response *r,
                        tg_err *err)
{
    collection c = {.s = s, .iip = iip, .out = &r->body};
    if (!find_views(&c, err))
        return false;
    tg_buf_z(c.out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<spectra>\n");
    return collect(s, request, &c, take_spectrum, "</spectra>\n", tg_iip_media_type(TG_IIP_XML), r,
                   err);
}
