/* The rules, in one place:
 * - The region comes first, from the full image, cropped at its edges; only then the size.
 * - Percentages and computed sides round half up. A side that is computed is never 0: a strip one
 *   pixel high stays a pixel high. A side that is asked for as 0 is an error.
 * - A side that is named is exact; the other is round(side * named / own side).
 * - Best fits compare w'*h with h'*w in integers; the other side never passes the box after
 * rounding.
 * - An area limit applies as floor(sqrt(area * w / h)) by floor(sqrt(area * h / w)).
 * - Requests saturate (2^53 for positions, 2^64-1 for sizes) and meet the bounds of the image or
 * the limits before anything is multiplied, so nothing wraps. */
#include "tegula/geometry.h"

#include <math.h>

#include "tegula/config.h"
#include "tegula/num.h"

/* Largest side of any result; keeps sums of two sides in 32 bits. */
#define SIDE_MAX ((uint32_t)INT32_MAX)

/* Less than this is rounding, of positions in a picture. */
#define SNAP_PX 1e-6

typedef struct bound {
    uint32_t w, h;
    uint64_t area; /* 0 = none */
} bound;

uint32_t tg_scale_round_px(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t v = ((uint64_t)a * b + c / 2) / c;
    return v < 1 ? 1 : v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

/* Beyond SIDE_MAX: SIDE_MAX + 1, which no limit allows. */
static uint32_t at_least_1(double v)
{
    return !(v >= 1) ? 1 : v > SIDE_MAX ? SIDE_MAX + 1 : (uint32_t)v;
}

static double round_half_up(double v)
{
    return floor(v + 0.5);
}

/* ---- limits ---- */

void tg_limits_from_config(const struct tg_config *config, uint32_t image_w, uint32_t image_h,
                           tg_limits *out)
{
    uint32_t jpeg = tg_formats[TG_FORMAT_JPEG].max_side_px;
    *out = (tg_limits){.allow_upscaling = config->allow_upscaling};
    if (config->max_cvt) {
        out->max_w = out->max_h = TG_MIN(config->max_cvt, jpeg);
        return;
    }
    /* 8 bytes: a pixel of the deepest raster that a rotation may have to hold, RGBA of 16 bit. */
    out->max_area = TG_MAX((uint64_t)image_w * image_h, config->memory_bytes / 8);
    if (image_w > jpeg || image_h > jpeg)
        out->max_w = out->max_h = jpeg;
}

static bound bound_of(const tg_limits *limits)
{
    uint32_t w = limits->max_w ? limits->max_w : SIDE_MAX;
    uint32_t h = limits->max_h ? limits->max_h : w;
    return (bound){TG_MIN(w, SIDE_MAX), TG_MIN(h, SIDE_MAX), limits->max_area};
}

bool tg_limits_allow(const tg_limits *limits, uint32_t w, uint32_t h)
{
    bound b = bound_of(limits);
    return w <= b.w && h <= b.h && (b.area == 0 || (uint64_t)w * h <= b.area);
}

/* ---- region ---- */

static bool region_pixels(const tg_job *job, uint32_t image_w, uint32_t image_h, tg_rect *out,
                          tg_err *err)
{
    if (!(job->rw > 0 && job->rh > 0))
        return tg_fail(err, TG_ERR_BAD_REQUEST, "region: width or height is zero");
    if (!(job->rx >= 0 && job->ry >= 0 && job->rx < image_w && job->ry < image_h))
        return tg_fail(err, TG_ERR_BAD_REQUEST, "region: outside the image");
    out->x = (uint32_t)job->rx;
    out->y = (uint32_t)job->ry;
    out->w = (uint32_t)TG_MIN(job->rw, (double)(image_w - out->x));
    out->h = (uint32_t)TG_MIN(job->rh, (double)(image_h - out->y));
    return true;
}

/* One axis; what covers a part of a pixel covers at least one. */
static bool percent_axis(double origin, double extent, uint32_t side, uint32_t *at, uint32_t *len,
                         tg_err *err)
{
    if (!(extent > 0))
        return tg_fail(err, TG_ERR_BAD_REQUEST, "region: width or height is zero");
    if (!(origin < 100 && origin + extent > 0))
        return tg_fail(err, TG_ERR_BAD_REQUEST, "region: outside the image");
    if (origin < 0) {
        extent += origin;
        origin = 0;
    }
    double first = round_half_up(side * origin / 100);
    *at = first < side ? (uint32_t)first : side - 1;
    *len = TG_MIN(at_least_1(round_half_up(side * extent / 100)), side - *at);
    return true;
}

static bool resolve_region(const tg_job *job, uint32_t image_w, uint32_t image_h, tg_rect *out,
                           tg_err *err)
{
    uint32_t side = TG_MIN(image_w, image_h);
    switch (job->region) {
    case TG_REGION_FULL:
        *out = (tg_rect){0, 0, image_w, image_h};
        return true;
    case TG_REGION_SQUARE:
        *out = (tg_rect){(image_w - side) / 2, (image_h - side) / 2, side, side};
        return true;
    case TG_REGION_PIXELS:
        return region_pixels(job, image_w, image_h, out, err);
    case TG_REGION_PERCENT:
        return percent_axis(job->rx, job->rw, image_w, &out->x, &out->w, err) &&
               percent_axis(job->ry, job->rh, image_h, &out->y, &out->h, err);
    case TG_REGION_FREE:
    case TG_REGION_LEVEL:
        break; /* are no whole px of the full image */
    }
    return tg_fail(err, TG_ERR_INTERNAL, "region: unknown kind");
}

/* ---- size ---- */

/* floor(sqrt(area * a / b)): the side along a of the largest a:b rectangle of that area. */
static uint32_t side_of_area(uint64_t area, uint32_t a, uint32_t b)
{
    return at_least_1(floor(sqrt((double)area * a / b)));
}

static void fit_area(uint32_t own_w, uint32_t own_h, uint64_t area, uint32_t *w, uint32_t *h)
{
    *w = TG_MIN(*w, side_of_area(area, own_w, own_h));
    *h = TG_MIN(*h, side_of_area(area, own_h, own_w));
    /* Only where one side was raised to 1, or a double had too few bits. */
    if ((uint64_t)*w * *h > area) {
        uint32_t *longer = *w > *h ? w : h;
        uint32_t shorter = TG_MIN(*w, *h);
        *longer = TG_MAX((uint32_t)(area / shorter), 1);
    }
}

/* The largest own_w:own_h rectangle inside b. */
static void fit(uint32_t own_w, uint32_t own_h, bound b, uint32_t *w, uint32_t *h)
{
    if ((uint64_t)own_w * b.h <= (uint64_t)own_h * b.w) {
        *h = b.h;
        *w = TG_MIN(tg_scale_round_px(own_w, b.h, own_h), b.w);
    } else {
        *w = b.w;
        *h = TG_MIN(tg_scale_round_px(own_h, b.w, own_w), b.h);
    }
    if (b.area && (uint64_t)*w * *h > b.area)
        fit_area(own_w, own_h, b.area, w, h);
}

static bound intersect(bound b, uint32_t w, uint32_t h)
{
    return (bound){TG_MIN(b.w, w), TG_MIN(b.h, h), b.area};
}

/* The bound of the forms that shrink: limits, and what the format can hold. */
static bound shrinking_bound(const tg_limits *limits, tg_format format)
{
    uint32_t side = tg_formats[format].max_side_px;
    return intersect(bound_of(limits), side, side);
}

static void max_size(const tg_rect *region, const tg_limits *limits, tg_format format, bool grow,
                     uint32_t *w, uint32_t *h)
{
    bound b = shrinking_bound(limits, format);
    /* Where nothing limits growth there is no largest size to grow to. */
    if (!grow || (limits->max_w == 0 && limits->max_h == 0 && limits->max_area == 0))
        b = intersect(b, region->w, region->h);
    fit(region->w, region->h, b, w, h);
}

static void confined_size(const tg_job *job, const tg_limits *limits, const tg_rect *region,
                          uint32_t *w, uint32_t *h)
{
    bound b = intersect(shrinking_bound(limits, job->format), (uint32_t)TG_MIN(job->w, SIDE_MAX),
                        (uint32_t)TG_MIN(job->h, SIDE_MAX));
    if (job->upscale != TG_UPSCALE_CARET)
        b = intersect(b, region->w, region->h);
    fit(region->w, region->h, b, w, h);
}

static bool zero_asked(const tg_job *job)
{
    switch (job->size) {
    case TG_SIZE_MAX:
        return false;
    case TG_SIZE_WIDTH:
        return job->w == 0;
    case TG_SIZE_HEIGHT:
        return job->h == 0;
    case TG_SIZE_PERCENT:
        return !(job->pct > 0);
    case TG_SIZE_EXACT:
    case TG_SIZE_CONFINE:
        return job->w == 0 || job->h == 0;
    }
    return true;
}

/* Sizes beyond SIDE_MAX come out as SIDE_MAX + 1 or more. */
static void wanted_size(const tg_job *job, const tg_limits *limits, const tg_rect *region,
                        uint32_t *w, uint32_t *h)
{
    uint32_t asked_w = (uint32_t)TG_MIN(job->w, SIDE_MAX + UINT64_C(1));
    uint32_t asked_h = (uint32_t)TG_MIN(job->h, SIDE_MAX + UINT64_C(1));
    switch (job->size) {
    case TG_SIZE_MAX:
        max_size(region, limits, job->format, job->upscale == TG_UPSCALE_CARET, w, h);
        break;
    case TG_SIZE_WIDTH:
        *w = asked_w;
        *h = tg_scale_round_px(region->h, asked_w, region->w);
        break;
    case TG_SIZE_HEIGHT:
        *h = asked_h;
        *w = tg_scale_round_px(region->w, asked_h, region->h);
        break;
    case TG_SIZE_PERCENT:
        *w = at_least_1(round_half_up(region->w * job->pct / 100));
        *h = at_least_1(round_half_up(region->h * job->pct / 100));
        break;
    case TG_SIZE_EXACT:
        *w = asked_w;
        *h = asked_h;
        break;
    case TG_SIZE_CONFINE:
        confined_size(job, limits, region, w, h);
        break;
    }
}

static bool check_upscale(const tg_job *job, const tg_limits *limits, bool enlarged, tg_err *err)
{
    /* IIIF 3 forbids the number itself, even where rounding hides the growth. */
    bool over_100 = job->size == TG_SIZE_PERCENT && job->pct > 100;
    if (job->upscale == TG_UPSCALE_NO && (enlarged || over_100))
        return tg_fail(err, TG_ERR_BAD_REQUEST, "size: larger than the region");
    if (!enlarged || limits->allow_upscaling)
        return true;
    if (job->upscale == TG_UPSCALE_CARET)
        return tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "size: upscaling is switched off");
    return tg_fail(err, TG_ERR_BAD_REQUEST, "size: larger than the region");
}

/* What canonical URIs need to know of the size. */
static void classify(const tg_job *job, const tg_limits *limits, tg_geometry *g)
{
    uint32_t w, h;
    max_size(&g->region, limits, job->format, false, &w, &h);
    g->is_max = g->w == w && g->h == h;
    max_size(&g->region, limits, job->format, true, &w, &h);
    g->is_upscaled_max = g->w == w && g->h == h;
    g->keeps_ratio = g->h == tg_scale_round_px(g->region.h, g->w, g->region.w);
}

/* ---- free regions ---- */

/* The px of the result whose centres lie inside the image: *count from *first on, and what of the
 * image they touch. */
static bool free_axis(double origin, double extent, uint64_t out_px, uint32_t side,
                      tg_free_axis *axis, uint32_t *first, uint32_t *count, uint32_t *at,
                      uint32_t *len)
{
    if (!(extent > 0 && extent <= 0x1p53 && origin < side && origin + extent > 0) || out_px == 0 ||
        out_px > SIDE_MAX)
        return false;
    double step = extent / (double)out_px;
    double from = TG_MAX(ceil(-origin / step - 0.5), 0);
    double end = TG_MIN(ceil((side - origin) / step - 0.5), (double)out_px);
    from = TG_MIN(from, (double)out_px - 1);
    end = TG_MAX(end, from + 1);
    *axis = (tg_free_axis){origin + from * step, step};
    *first = (uint32_t)from;
    *count = (uint32_t)(end - from);
    double low = TG_MIN(TG_MAX(floor(axis->origin + SNAP_PX), 0), side - 1.0);
    double high = TG_MIN(ceil(origin + end * step - SNAP_PX), (double)side);
    *at = (uint32_t)low;
    *len = (uint32_t)TG_MAX(high - low, 1);
    return true;
}

static bool resolve_free(const tg_job *job, uint32_t image_w, uint32_t image_h, tg_geometry *g,
                         tg_err *err)
{
    tg_canvas c = {0};
    if (!free_axis(job->rx, job->rw, job->w, image_w, &g->free_x, &c.x, &g->w, &g->region.x,
                   &g->region.w) ||
        !free_axis(job->ry, job->rh, job->h, image_h, &g->free_y, &c.y, &g->h, &g->region.y,
                   &g->region.h))
        return tg_fail(err, TG_ERR_NOT_FOUND, "region: outside the image");
    if (g->w < job->w || g->h < job->h) {
        c.width_px = (uint32_t)job->w;
        c.height_px = (uint32_t)job->h;
        g->canvas = c;
    }
    g->full_region = g->region.w == image_w && g->region.h == image_h;
    g->enlarged = g->free_x.step < 1 || g->free_y.step < 1;
    return true;
}

bool tg_geometry_resolve(const tg_job *job, uint32_t image_w, uint32_t image_h,
                         const tg_limits *limits, tg_geometry *out, tg_err *err)
{
    tg_geometry g = {0};
    if (job->region == TG_REGION_FREE) {
        if (!resolve_free(job, image_w, image_h, &g, err))
            return false;
        *out = g;
        return true;
    }
    if (!resolve_region(job, image_w, image_h, &g.region, err))
        return false;
    if (zero_asked(job))
        return tg_fail(err, TG_ERR_BAD_REQUEST, "size: width or height is zero");
    wanted_size(job, limits, &g.region, &g.w, &g.h);
    g.full_region = g.region.w == image_w && g.region.h == image_h;
    g.enlarged = g.w > g.region.w || g.h > g.region.h;
    if (!check_upscale(job, limits, g.enlarged, err))
        return false;
    if (!tg_limits_allow(limits, g.w, g.h))
        return tg_fail(err, TG_ERR_BAD_REQUEST, "size: larger than this server's limits");
    classify(job, limits, &g);
    *out = g;
    return true;
}
