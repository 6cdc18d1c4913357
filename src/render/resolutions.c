#include "tegula/resolutions.h"

#include "tegula/num.h"

#define TILE_DEFAULT_PX 256
#define TILE_LEAST_PX   64 /* others are no tiles to a viewer; the same as IIIF tells */
#define TILE_MOST_PX    2048

static bool side_ok(uint32_t px)
{
    return px >= TILE_LEAST_PX && px <= TILE_MOST_PX;
}

/* Formats that have no tiles to send as they stand are cut at will. */
static void choose_tile(const tg_image *image, tg_resolutions *out)
{
    bool own = image->tiled && image->codec->stored_tile;
    out->tile_w_px = tg_image_tile_width_px(image);
    out->tile_h_px = tg_image_tile_height_px(image);
    if (!own || !side_ok(out->tile_w_px) || !side_ok(out->tile_h_px))
        out->tile_w_px = out->tile_h_px = TILE_DEFAULT_PX;
}

static uint32_t halved(uint32_t px, unsigned k)
{
    return (uint32_t)(((uint64_t)px + ((uint64_t)1 << k) - 1) >> k);
}

static struct tg_resolution stored(const tg_image *image, unsigned l)
{
    bool on_side = tg_image_on_side(image);
    const tg_level *level = &image->level[l];
    return (struct tg_resolution){
        .width_px = on_side ? level->height_px : level->width_px,
        .height_px = on_side ? level->width_px : level->height_px,
        .level = (int)l,
    };
}

/* The stored level of this size, if it is the k-th one. */
static struct tg_resolution halving(const tg_image *image, unsigned k)
{
    struct tg_resolution r = {halved(tg_image_width_px(image), k),
                              halved(tg_image_height_px(image), k), -1, k};
    struct tg_resolution own = k < image->n_levels ? stored(image, k) : r;
    return own.width_px == r.width_px && own.height_px == r.height_px ? own : r;
}

/* Until one tile holds the image. */
static void add_halvings(const tg_image *image, tg_resolutions *out)
{
    uint32_t w = tg_image_width_px(image), h = tg_image_height_px(image);
    unsigned n = 0;
    while (n + 1 < TG_MAX_LEVELS &&
           (halved(w, n) > out->tile_w_px || halved(h, n) > out->tile_h_px))
        n++;
    out->n = n + 1;
    for (unsigned k = 0; k <= n; k++)
        out->of[n - k] = halving(image, k);
}

/* The codestream of JPEG 2000 has levels, too, but fewer or more than one tile wants, and pages
 * name resolutions by their number from the smallest: iipsrv counts until one tile. */
void tg_resolutions_of(const tg_image *image, tg_resolutions *out)
{
    choose_tile(image, out);
    if (image->n_levels == 1 || !image->codec->stored_tile) {
        add_halvings(image, out);
        return;
    }
    out->n = image->n_levels;
    for (unsigned l = 0; l < out->n; l++)
        out->of[out->n - 1 - l] = stored(image, l);
}

/* A pixel of a halved level stands for up to 2^k of the image. */
static void span(uint32_t at, uint32_t part, unsigned k, uint32_t whole, double *from, double *len)
{
    uint64_t first = (uint64_t)at << k, end = (uint64_t)(at + part) << k;
    *from = (double)first;
    *len = (double)(TG_MIN(end, whole) - first);
}

void tg_resolution_job(const tg_image *image, const struct tg_resolution *r, tg_rect rect,
                       tg_job *job)
{
    if (r->level >= 0) {
        job->region = TG_REGION_LEVEL;
        job->level = (unsigned)r->level;
        job->rx = rect.x;
        job->ry = rect.y;
        job->rw = rect.w;
        job->rh = rect.h;
        return;
    }
    job->region = TG_REGION_PIXELS;
    span(rect.x, rect.w, r->halvings, tg_image_width_px(image), &job->rx, &job->rw);
    span(rect.y, rect.h, r->halvings, tg_image_height_px(image), &job->ry, &job->rh);
    job->size = TG_SIZE_EXACT;
    job->w = rect.w;
    job->h = rect.h;
    job->upscale = TG_UPSCALE_IMPLICIT;
}
