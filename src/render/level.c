#include "render/level.h"

#include <math.h>

#include "tegula/num.h"

static bool divides(uint32_t full, uint32_t part, double f)
{
    return fabs(full / f - part) < 1;
}

static tg_ratio shown(const tg_image *image, double x, double y)
{
    return tg_image_on_side(image) ? (tg_ratio){y, x} : (tg_ratio){x, y};
}

/* The power of two is tried first: of a small level several whole numbers could be the ratio. */
tg_ratio tg_level_ratio(const tg_image *image, unsigned level)
{
    const tg_level *full = &image->level[0], *l = &image->level[level];
    double x = (double)full->width_px / l->width_px, y = (double)full->height_px / l->height_px;
    double by_longer_side = full->width_px >= full->height_px ? x : y;
    double tries[] = {exp2(round(log2(by_longer_side))), round(by_longer_side)};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        if (tries[i] >= 1 && divides(full->width_px, l->width_px, tries[i]) &&
            divides(full->height_px, l->height_px, tries[i]))
            return (tg_ratio){tries[i], tries[i]};
    return shown(image, x, y);
}

/* One axis: does part of the image at this ratio have enough pixels for out?
 *
 * Tolerance: a pixel, because viewers round a tile's size either way and all tiles of a scale must
 * come from one level; less than a pixel for small results of whole sides, where a pixel is much.
 * A strip at the far edge may be a fraction of a pixel wide at its scale: there a pixel always. */
static bool enough(uint32_t at, uint32_t part, uint32_t whole, double ratio, uint32_t out,
                   double oversampling)
{
    double have = part / ratio;
    bool edge_strip = at > 0 && at + part == whole;
    double tolerance = edge_strip ? 1 : TG_MIN(1.0, out / 64.0);
    if (fabs(have - out) <= tolerance)
        return true;
    return have >= out * oversampling;
}

static bool level_has_enough(const tg_image *image, const tg_geometry *g, unsigned level,
                             unsigned k, double oversampling)
{
    uint32_t w = tg_image_width_px(image), h = tg_image_height_px(image);
    tg_ratio r = tg_level_ratio(image, level);
    double reduced = (double)(1u << k);
    return enough(g->region.x, g->region.w, w, r.x * reduced, g->w, oversampling) &&
           enough(g->region.y, g->region.h, h, r.y * reduced, g->h, oversampling);
}

/* A single pixel for the far corner says nothing of its scale; the region's own size does: a viewer
 * that divides by f asks for the corner of up to f x f pixels. Among the levels that could be
 * meant, the finest. */
static bool is_corner_pixel(const tg_image *image, const tg_geometry *g)
{
    const tg_rect *r = &g->region;
    return g->w == 1 && g->h == 1 && r->x > 0 && r->y > 0 &&
           r->x + r->w == tg_image_width_px(image) && r->y + r->h == tg_image_height_px(image);
}

static unsigned corner_level(const tg_image *image, const tg_geometry *g)
{
    unsigned l = 0;
    double side = TG_MAX(g->region.w, g->region.h);
    while (l + 1 < image->n_levels && tg_level_ratio(image, l).x < side)
        l++;
    return l;
}

/* A reduced level of 1 bit has lost its grays: the one above has some, as pairs of pixels. */
static double least_oversampling(const tg_image *image, double wanted)
{
    return image->stored_bits == 1 ? TG_MAX(wanted, 2.0) : wanted;
}

void tg_level_choose(const tg_image *image, const tg_geometry *geometry, double wanted,
                     unsigned *level, unsigned *reduction)
{
    unsigned l = image->n_levels - 1, k = 0;
    double oversampling = least_oversampling(image, wanted);
    if (is_corner_pixel(image, geometry)) {
        *level = corner_level(image, geometry);
        *reduction = 0;
        return;
    }
    while (l > 0 && !level_has_enough(image, geometry, l, 0, oversampling))
        l--;
    while (k < image->level[l].max_reduction &&
           level_has_enough(image, geometry, l, k + 1, oversampling))
        k++;
    *level = l;
    *reduction = k;
}
