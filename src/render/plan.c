#include "tegula/plan.h"

#include <math.h>

#include "render/level.h"
#include "render/orient.h"
#include "render/process.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/raster.h"
#include "tegula/scaler.h"

#define FREE_SNAP_PX  1e-6                /* positions of map tiles are rounded products */
#define STRIP_BAND_PX 64                  /* rows read at once from files without tiles */
#define CROP_MAX_PX   ((uint64_t)1 << 24) /* tiles above this are decoded in less memory */

/* Sampling of one shown axis of a level: region [at, at + part) of the full image's whole px onto
 * out pixels. A region that begins on a pixel of the level and has out pixels but for rounding is
 * taken pixel by pixel: neighbouring tiles then join without a shift, and stored tiles can be sent.
 * flip: the stored axis runs the other way, and so does the result. */
static tg_axis sampling(uint32_t at, uint32_t part, uint32_t whole, bool flip, double ratio,
                        uint32_t out)
{
    double origin = at / ratio, extent = part / ratio;
    bool aligned = fabs(origin - round(origin)) < 1e-9 && fabs(extent - out) < 1;
    tg_axis a = {.origin = aligned ? round(origin) : origin,
                 .step = aligned ? 1 : extent / out,
                 .out_px = out};
    if (flip) {
        a.origin = whole / ratio - (a.origin + a.step * out);
        if (fabs(a.origin - round(a.origin)) < 1e-9)
            a.origin = round(a.origin);
    }
    return a;
}

/* The same of a free region. Its step is that of every tile of its scale: neighbours join. */
static tg_axis free_sampling(const tg_free_axis *f, uint32_t whole, bool flip, double ratio,
                             uint32_t out)
{
    tg_axis a = {.origin = f->origin / ratio, .step = f->step / ratio, .out_px = out};
    if (fabs(a.step - 1) * out < FREE_SNAP_PX)
        a.step = 1;
    if (flip)
        a.origin = whole / ratio - (a.origin + a.step * out);
    if (fabs(a.origin - round(a.origin)) < FREE_SNAP_PX)
        a.origin = round(a.origin);
    return a;
}

static bool pixel_by_pixel(const tg_axis *a)
{
    return a->step == 1 && a->origin == floor(a->origin);
}

/* Narrows the axis to the pixels it touches: *first and *count in the level, origin made relative.
 * On reduction the kernel reaches beyond the region, so that neighbouring tiles join; an enlarged
 * region shows its own pixels only, so that one pixel enlarged is flat. */
static void narrow(tg_axis *a, tg_filter filter, uint32_t level_px, bool enlarged, uint32_t *first,
                   uint32_t *count)
{
    int64_t from, end, lowest = 0, highest = level_px;
    a->in_px = level_px;
    tg_filter_extent(a, pixel_by_pixel(a) ? TG_FILTER_NEAREST : filter, &from, &end);
    if (enlarged) {
        lowest = TG_MIN((int64_t)floor(a->origin), highest - 1);
        highest = TG_MIN((int64_t)ceil(a->origin + a->step * a->out_px - 1e-9), highest);
    }
    from = TG_MIN(TG_MAX(from, lowest), highest - 1);
    end = TG_MIN(TG_MAX(end, from + 1), highest);
    *first = (uint32_t)from;
    *count = (uint32_t)(end - from);
    a->in_px = *count;
    a->origin -= (double)from;
}

static uint32_t band_rows(const tg_image *image, const tg_level *level, unsigned k)
{
    uint32_t unit = tg_reduced_px(level->tile_h_px, k);
    if (image->tiled)
        return unit;
    if (unit > 4 * STRIP_BAND_PX)
        return STRIP_BAND_PX;
    return unit >= STRIP_BAND_PX ? unit : (STRIP_BAND_PX + unit - 1) / unit * unit;
}

/* The same for pixels of the level itself. */
static tg_axis pixels(double at, double part, uint32_t whole, bool flip)
{
    return (tg_axis){
        .origin = flip ? whole - (at + part) : at, .step = 1, .out_px = (uint32_t)part};
}

static void shown_axes(const tg_plan *p, const tg_image *image, const tg_job *job, tg_axis *x,
                       tg_axis *y)
{
    const tg_level *level = &image->level[p->level];
    const tg_geometry *g = &p->geometry;
    tg_orient o = tg_orient_of(image);
    tg_ratio r = tg_level_ratio(image, p->level);
    double reduced = (double)(1u << p->reduction);
    if (job->region == TG_REGION_LEVEL) {
        *x = pixels(job->rx, job->rw, o.on_side ? level->height_px : level->width_px, o.flip_x);
        *y = pixels(job->ry, job->rh, o.on_side ? level->width_px : level->height_px, o.flip_y);
        return;
    }
    if (job->region == TG_REGION_FREE) {
        *x = free_sampling(&g->free_x, tg_image_width_px(image), o.flip_x, r.x * reduced, g->w);
        *y = free_sampling(&g->free_y, tg_image_height_px(image), o.flip_y, r.y * reduced, g->h);
        return;
    }
    *x =
        sampling(g->region.x, g->region.w, tg_image_width_px(image), o.flip_x, r.x * reduced, g->w);
    *y = sampling(g->region.y, g->region.h, tg_image_height_px(image), o.flip_y, r.y * reduced,
                  g->h);
}

/* The window is the core and, inside the level, what a kernel of this radius looks at around it. */
static void widen(uint32_t radius, uint32_t level_px, uint32_t *at, uint32_t *px, uint32_t *margin)
{
    uint32_t after = TG_MIN(radius, level_px - *at - *px);
    *margin = TG_MIN(radius, *at);
    *at -= *margin;
    *px += *margin + after;
}

static void plan_core(tg_plan *p, const tg_level *level)
{
    uint32_t radius = p->process.kernel_side / 2;
    p->core = (tg_rect){.w = p->window.w, .h = p->window.h};
    widen(radius, tg_reduced_px(level->width_px, p->reduction), &p->window.x, &p->window.w,
          &p->core.x);
    widen(radius, tg_reduced_px(level->height_px, p->reduction), &p->window.y, &p->window.h,
          &p->core.y);
}

static void plan_window(tg_plan *p, const tg_config *config, const tg_image *image,
                        const tg_job *job)
{
    const tg_level *level = &image->level[p->level];
    const tg_geometry *g = &p->geometry;
    tg_orient o = tg_orient_of(image);
    tg_axis x, y;
    shown_axes(p, image, job, &x, &y);
    bool is_free = job->region == TG_REGION_FREE; /* looks around itself even enlarged: seams */
    bool wider = !is_free && g->w > g->region.w, higher = !is_free && g->h > g->region.h;
    p->filter = config->filter;
    p->x = o.on_side ? y : x;
    p->y = o.on_side ? x : y;
    narrow(&p->x, p->filter, tg_reduced_px(level->width_px, p->reduction),
           o.on_side ? higher : wider, &p->window.x, &p->window.w);
    narrow(&p->y, p->filter, tg_reduced_px(level->height_px, p->reduction),
           o.on_side ? wider : higher, &p->window.y, &p->window.h);
    p->scaled_w = p->x.out_px;
    p->scaled_h = p->y.out_px;
    p->resample = !pixel_by_pixel(&p->x) || !pixel_by_pixel(&p->y) || p->window.w != p->scaled_w ||
                  p->window.h != p->scaled_h;
    p->band_px = band_rows(image, level, p->reduction);
    plan_core(p, level);
}

/* What process asks of the image it can have. */
static bool plan_process(tg_plan *p, const tg_image *image, const tg_job *job, tg_err *err)
{
    unsigned colours = image->fmt.channels - tg_pixfmt_alpha(image->fmt);
    tg_orient o = tg_orient_of(image);
    p->processed = tg_process_any(&job->process);
    p->process = job->process;
    if (job->process.shade && colours < 3)
        return tg_fail(err, TG_ERR_BAD_REQUEST, "SHD: the image has less than three channels");
    if (job->process.matrix_rows == 4 && !tg_formats[job->format].alpha)
        return tg_fail(err, TG_ERR_BAD_REQUEST, "CTW: four rows are for formats with alpha");
    tg_process_turn_kernel(&p->process, o.mirror, o.quarter);
    return true;
}

/* The image's own orientation, then the job's mirror and rotation, as one mirror and one turn: a
 * mirror behind a turn is the opposite turn behind a mirror. */
static void plan_turn(tg_plan *p, const tg_image *image, const tg_job *job)
{
    tg_orient o = tg_orient_of(image);
    double own = 90.0 * o.quarter;
    double degrees = fmod(job->rotation + (job->mirror ? 360 - own : own), 360);
    bool whole = degrees == 90 * floor(degrees / 90);
    p->mirror = job->mirror != o.mirror;
    p->quarter = whole ? (unsigned)(degrees / 90) : 0;
    p->angle = whole ? 0 : degrees;
    p->out_w = p->quarter % 2 ? p->scaled_h : p->scaled_w;
    p->out_h = p->quarter % 2 ? p->scaled_w : p->scaled_h;
    if (p->angle != 0)
        tg_rotated_size(p->scaled_w, p->scaled_h, p->angle, &p->out_w, &p->out_h);
}

static int encode_quality(const tg_config *config, const tg_job *job)
{
    static const struct {
        int lowest, highest;
    } range[TG_FORMATS] = {
        [TG_FORMAT_JPEG] = {1, 100},  [TG_FORMAT_PNG] = {0, 9},    [TG_FORMAT_JP2] = {1, 100},
        [TG_FORMAT_PDF] = {1, 100},   [TG_FORMAT_TIFF] = {0, 100}, [TG_FORMAT_WEBP] = {-1, 100},
        [TG_FORMAT_AVIF] = {-1, 100},
    };
    const int of[TG_FORMATS] = {
        [TG_FORMAT_JPEG] = config->jpeg_quality, [TG_FORMAT_PNG] = config->png_quality,
        [TG_FORMAT_JP2] = config->jpeg_quality,  [TG_FORMAT_PDF] = config->jpeg_quality,
        [TG_FORMAT_TIFF] = config->tiff_quality, [TG_FORMAT_WEBP] = config->webp_quality,
        [TG_FORMAT_AVIF] = config->avif_quality,
    };
    if (!job->has_encode_quality)
        return of[job->format];
    int asked = TG_MAX(job->encode_quality, range[job->format].lowest);
    return TG_MIN(asked, range[job->format].highest);
}

static void plan_dpi(tg_plan *p, const tg_image *image, const tg_job *job)
{
    const tg_geometry *g = &p->geometry;
    double across = (tg_image_on_side(image) ? image->dpi_y : image->dpi_x) * g->w / g->region.w;
    double down = (tg_image_on_side(image) ? image->dpi_x : image->dpi_y) * g->h / g->region.h;
    bool lies = job->rotation == 90 || job->rotation == 270;
    p->dpi_x = lies ? down : across;
    p->dpi_y = lies ? across : down;
}

/* A profile stays where it can go along: not in GIF, and one for colours says nothing of a picture
 * that has become gray. Colours that processing has made are no longer those it tells of. */
static void plan_colour(tg_plan *p, const tg_image *image)
{
    bool kept = tg_colour_profile(image->colour).n > 0;
    bool made =
        p->process.map != TG_MAP_NONE || (p->rows_fmt.channels >= 3) != (p->read_fmt.channels >= 3);
    p->keeps_profile = kept && !made && tg_formats[p->format].icc && !p->gray && !p->bitonal;
    if (p->keeps_profile || made || (tg_colour_is_identity(image->colour) && !kept))
        p->colour = NULL;
    else
        p->colour = image->colour;
}

static void plan_quality(tg_plan *p, const tg_job *job)
{
    p->binary = job->quality == TG_QUALITY_BINARY;
    p->equalise = job->equalise && !p->binary; /* two values stay the two */
    p->bitonal = job->quality == TG_QUALITY_BITONAL || p->binary;
    p->gray = p->rows_fmt.channels >= 3 && (p->bitonal || job->quality == TG_QUALITY_GRAY);
}

static void plan_output(tg_plan *p, const tg_config *config, const tg_image *image,
                        const tg_job *job)
{
    const tg_format_info *format = &tg_formats[job->format];
    p->format = job->format;
    p->read_fmt = p->rows_fmt = image->fmt;
    if (p->processed)
        p->rows_fmt.channels = tg_process_channels(&p->process, image->fmt.channels);
    plan_quality(p, job);
    plan_colour(p, image);
    if (p->processed && !p->colour) /* which is for the image's own depth */
        p->rows_fmt.bits = 8;
    bool alpha = tg_pixfmt_alpha(p->rows_fmt) || p->angle != 0 || p->geometry.canvas.width_px;
    bool eight = p->processed || p->binary || p->equalise;
    p->out_fmt.bits = (uint8_t)TG_MIN(p->rows_fmt.bits, eight ? 8 : format->max_bits);
    p->out_fmt.channels = p->rows_fmt.channels >= 3 && !p->gray ? 3 : 1;
    if (alpha && format->alpha && !p->bitonal)
        p->out_fmt.channels++;
    p->encode_quality = encode_quality(config, job);
    p->png_filter = config->png_filter;
    p->compression =
        job->has_compression ? job->compression : (tg_tiff_compression)config->tiff_compression;
    plan_dpi(p, image, job);
}

/* All that one stored tile shows, unchanged, in its own format. A JPEG tile that reaches beyond the
 * level's edge can be cropped as it is, a WebP tile cannot. */
static bool is_stored_tile(const tg_level *level, const tg_rect *window)
{
    uint32_t w = TG_MIN(level->tile_w_px, level->width_px - window->x);
    uint32_t h = TG_MIN(level->tile_h_px, level->height_px - window->y);
    bool whole = w == level->tile_w_px && h == level->tile_h_px;
    bool can_crop = level->stored == TG_STORED_JPEG &&
                    (uint64_t)level->tile_w_px * level->tile_h_px <= CROP_MAX_PX;
    return window->x % level->tile_w_px == 0 && window->y % level->tile_h_px == 0 &&
           window->w == w && window->h == h && (whole || can_crop);
}

static void plan_stored(tg_plan *p, const tg_config *config, const tg_image *image,
                        const tg_job *job)
{
    const tg_level *level = &image->level[p->level];
    bool same_format = (level->stored == TG_STORED_JPEG && job->format == TG_FORMAT_JPEG) ||
                       (level->stored == TG_STORED_WEBP && job->format == TG_FORMAT_WEBP);
    bool changed = p->colour || p->processed || p->equalise || p->gray || p->bitonal || p->mirror ||
                   p->geometry.canvas.width_px || p->quarter || p->angle != 0 ||
                   job->has_encode_quality;
    p->stored = config->codec_passthrough && same_format && !changed && !p->resample &&
                p->reduction == 0 && is_stored_tile(level, &p->window);
    p->cropped = p->stored && (p->window.w < level->tile_w_px || p->window.h < level->tile_h_px);
    p->col = p->window.x / level->tile_w_px;
    p->row = p->window.y / level->tile_h_px;
}

tg_encode_spec tg_plan_encode_spec(const tg_plan *p)
{
    bool on_canvas = p->geometry.canvas.width_px > 0;
    return (tg_encode_spec){.format = p->format,
                            .width_px = on_canvas ? p->geometry.canvas.width_px : p->out_w,
                            .height_px = on_canvas ? p->geometry.canvas.height_px : p->out_h,
                            .fmt = p->out_fmt,
                            .bitonal = p->bitonal,
                            .quality = p->encode_quality,
                            .dpi_x = p->dpi_x,
                            .dpi_y = p->dpi_y,
                            .compression = p->compression,
                            .png_filter = p->png_filter};
}

/* A stored tile that is cropped is held as coefficients of two bytes. */
static uint64_t stored_bytes(const tg_plan *p, const tg_level *level)
{
    return p->cropped ? 2 * (uint64_t)level->tile_w_px * level->tile_h_px * p->read_fmt.channels
                      : 0;
}

/* The job without any resampling in it costs a band; a turn holds the whole raster, twice when the
 * angle is free (source and a band of the result), some encoders hold the result. */
static void plan_cost(tg_plan *p, const tg_image *image)
{
    const tg_level *level = &image->level[p->level];
    uint32_t tw = tg_reduced_px(level->tile_w_px, p->reduction);
    uint32_t th = tg_reduced_px(level->tile_h_px, p->reduction);
    uint32_t across = (p->window.x + p->window.w - 1) / tw - p->window.x / tw + 1;
    uint32_t down = (p->window.y + p->window.h - 1) / th - p->window.y / th + 1;
    size_t out_bytes = tg_pixfmt_bytes(p->out_fmt);
    tg_encode_spec spec = tg_plan_encode_spec(p);
    bool turned = p->quarter || p->angle != 0;
    tg_rect band = {p->window.x, p->window.y, p->window.w, TG_MIN(p->band_px, p->window.h)};
    p->tiles = p->stored ? 1 : across * down;
    p->decode_px = p->stored ? 0 : (uint64_t)p->tiles * tw * th;
    p->memory_bytes = (uint64_t)band.w * band.h * tg_pixfmt_bytes(p->read_fmt) +
                      tg_image_working_bytes(image, p->level, p->reduction, band);
    if (p->resample)
        p->memory_bytes += tg_scaler_cost_bytes(p->rows_fmt, &p->x, &p->y, p->filter);
    if (p->processed)
        p->memory_bytes += tg_processing_cost_bytes(p);
    if (turned)
        p->memory_bytes += (uint64_t)p->scaled_w * p->scaled_h * (out_bytes + (p->angle != 0));
    if (p->quarter)
        p->memory_bytes += (uint64_t)p->out_w * p->out_h * out_bytes;
    p->memory_bytes += tg_encoder_cost_bytes(&spec);
    if (p->stored)
        p->memory_bytes = stored_bytes(p, level);
}

static bool check_output(const tg_plan *p, tg_err *err)
{
    const tg_format_info *format = &tg_formats[p->format];
    if (p->out_w > format->max_side_px || p->out_h > format->max_side_px)
        return tg_fail(err, TG_ERR_BAD_REQUEST, "size: %s holds at most %u pixels a side",
                       format->extension, format->max_side_px);
    if (p->memory_bytes > tg_image_ceiling()) {
        tg_fail_detail(err, "the plan needs %llu bytes, MEMORY_LIMIT is %zu",
                       (unsigned long long)p->memory_bytes, tg_image_ceiling());
        return tg_fail(err, TG_ERR_TOO_LARGE,
                       "the request needs more memory than this server allows");
    }
    return true;
}

/* A rectangle of a level, and what it is of the whole image. */
static void level_geometry(const tg_image *image, const tg_job *job, tg_geometry *g)
{
    uint32_t w = tg_image_width_px(image), h = tg_image_height_px(image);
    tg_ratio r = tg_level_ratio(image, job->level);
    g->region.x = (uint32_t)TG_MIN(job->rx * r.x, w - 1.0);
    g->region.y = (uint32_t)TG_MIN(job->ry * r.y, h - 1.0);
    g->region.w = TG_MAX((uint32_t)TG_MIN(job->rw * r.x, (double)(w - g->region.x)), 1);
    g->region.h = TG_MAX((uint32_t)TG_MIN(job->rh * r.y, (double)(h - g->region.y)), 1);
    g->w = (uint32_t)job->rw;
    g->h = (uint32_t)job->rh;
    g->full_region = g->region.w == w && g->region.h == h;
}

/* A free region without what the image's edge does to it: all tiles of a scale come from one level.
 */
static tg_geometry whole_tile(const tg_job *job)
{
    return (tg_geometry){.region = {0, 0, (uint32_t)TG_MIN(ceil(job->rw), (double)UINT32_MAX),
                                    (uint32_t)TG_MIN(ceil(job->rh), (double)UINT32_MAX)},
                         .w = (uint32_t)job->w,
                         .h = (uint32_t)job->h};
}

static bool plan_geometry(tg_plan *p, const tg_config *config, const tg_image *image,
                          const tg_job *job, tg_err *err)
{
    uint32_t w = tg_image_width_px(image), h = tg_image_height_px(image);
    tg_limits limits;
    if (job->region == TG_REGION_LEVEL) {
        level_geometry(image, job, &p->geometry);
        p->level = job->level;
        return true;
    }
    tg_limits_from_config(config, w, h, &limits);
    if (!tg_geometry_resolve(job, w, h, &limits, &p->geometry, err))
        return false;
    tg_geometry scale = p->geometry;
    if (job->region == TG_REGION_FREE)
        scale = whole_tile(job);
    tg_level_choose(image, &scale, config->oversampling, &p->level, &p->reduction);
    return true;
}

bool tg_plan_make(const tg_config *config, tg_image *image, const tg_job *asked, tg_plan *out,
                  tg_err *err)
{
    const tg_job plain = tg_job_without_extension(asked), *job = &plain;
    tg_colour_policy policy = {.retain = config->retain_icc,
                               .max_icc_bytes = config->max_icc_bytes};
    *out = (tg_plan){0};
    tg_colour_resolve(image, &policy);
    if (job->region == TG_REGION_FREE && (job->rotation != 0 || job->mirror))
        return tg_fail(err, TG_ERR_BAD_REQUEST, "rotation: map tiles are not turned");
    if (!plan_geometry(out, config, image, job, err) || !plan_process(out, image, job, err))
        return false;
    plan_window(out, config, image, job);
    plan_turn(out, image, job);
    plan_output(out, config, image, job);
    plan_stored(out, config, image, job);
    plan_cost(out, image);
    return check_output(out, err);
}

bool tg_plan_mark(tg_plan *p, const tg_image *image, const tg_watermark *mark, tg_str name,
                  tg_err *err)
{
    p->mark = tg_watermark_place(mark, name, p->out_w, p->out_h);
    if (!p->mark.of)
        return true;
    p->stored = p->cropped = false;
    plan_cost(p, image);
    return check_output(p, err);
}
