/* The display range of samples that are numbers: signed, real, or of more than 16 bits.
 *
 * What SMinSampleValue and SMaxSampleValue say; else, of CIE L*a*b*, the ranges of its definition;
 * else from the least to the greatest sample of the smallest level, one range for all colours, so
 * that their balance stays. Integers that use more than half of what their bits hold are taken as
 * pictures in the whole range, not as measurements. Alpha is 0 to 1, of integers to the greatest.
 */
#include <math.h>

#include "tegula/num.h"
#include "tiff.h"

/* Of a level without smaller ones only parts are looked at, evenly spread, about so much. */
#define LOOK_PX ((uint64_t)1 << 24)

static bool look_at(tg_tiff *t, unsigned level, uint32_t col, uint32_t row,
                    tg_tiff_extremes *extremes, tg_err *err)
{
    const tg_tiff_dir *dir = &t->level[level].dir;
    uint32_t w = tg_tiff_visible_px(dir->width_px, col, dir->tile_w_px);
    uint32_t h = tg_tiff_visible_px(dir->height_px, row, dir->tile_h_px);
    tg_tiff_part p = {.level = level, .col = col, .row = row, .extremes = extremes};

    p.in = (tg_rect){0, 0, w, (uint32_t)TG_MIN((uint64_t)h, LOOK_PX / w + 1)};
    return tg_tiff_libtiff_part(t, &p, err);
}

static bool look(tg_tiff *t, tg_tiff_extremes *extremes, tg_err *err)
{
    unsigned level = t->base.n_levels - 1;
    const tg_tiff_dir *dir = &t->level[level].dir;
    uint64_t tile_px = (uint64_t)dir->tile_w_px * dir->tile_h_px;
    uint64_t tiles = (uint64_t)dir->cols * dir->rows, step = 1;

    if (tile_px < LOOK_PX)
        step += tiles / (LOOK_PX / tile_px);
    else
        step = TG_MAX(tiles, (uint64_t)1);
    for (uint64_t i = 0; i < tiles; i += step) {
        if (look_at(t, level, (uint32_t)(i % dir->cols), (uint32_t)(i / dir->cols), extremes, err))
            continue;
        if (err->kind != TG_ERR_CORRUPT || !t->base.options.lenient)
            return false;
        *err = (tg_err){0}; /* what cannot be read has no say */
    }
    return true;
}

/* Nothing but infinities, one value only: a range it lies at the end of. */
static void widen(tg_tiff_extremes *e)
{
    if (!(e->min <= e->max))
        *e = (tg_tiff_extremes){0, 0};
    if (e->min < e->max)
        return;
    e->min = TG_MIN(e->min, 0.0);
    e->max = TG_MAX(e->max, e->min == 0 && e->max == 0 ? 1.0 : 0.0);
}

static tg_tiff_extremes whole_range(const tg_tiff_dir *dir)
{
    double span = ldexp(1, dir->raw_bits);

    return dir->number == TG_TIFF_SIGNED ? (tg_tiff_extremes){-span / 2, span / 2 - 1}
                                         : (tg_tiff_extremes){0, span - 1};
}

static tg_tiff_extremes displayed(const tg_tiff_dir *dir, tg_tiff_extremes e)
{
    tg_tiff_extremes whole = whole_range(dir);

    widen(&e);
    if (dir->number != TG_TIFF_FLOAT && e.max - e.min > (whole.max - whole.min) / 2)
        return whole;
    return e;
}

static bool tagged(TIFF *tif, uint32_t tag, double *value)
{
    return TIFFGetField(tif, tag, value) && isfinite(*value);
}

static bool find_extremes(tg_tiff *t, tg_tiff_extremes *e, tg_err *err)
{
    const tg_tiff_dir *dir = &t->level[0].dir;
    tg_tiff_file *f = tg_tiff_level_file(t, 0, 0, err);
    double min = 0, max = 0;
    bool has_min, has_max;

    if (!f)
        return false;
    has_min = tagged(f->tif, TIFFTAG_SMINSAMPLEVALUE, &min);
    has_max = tagged(f->tif, TIFFTAG_SMAXSAMPLEVALUE, &max);
    if (has_min && has_max && min < max) {
        *e = (tg_tiff_extremes){min, max};
        return true;
    }
    *e = (tg_tiff_extremes){INFINITY, -INFINITY};
    if (!look(t, e, err))
        return false;
    *e = displayed(dir, *e);
    if (has_min && !has_max && min < e->max)
        e->min = min;
    if (has_max && !has_min && max > e->min)
        e->max = max;
    return true;
}

static void set_all(tg_tiff *t, const tg_tiff_extremes *e)
{
    const tg_tiff_dir *dir = &t->level[0].dir;
    unsigned channels = tg_native_channels(dir->native);

    for (unsigned c = 0; c < channels; c++) {
        t->base.range_min[c] = e->min;
        t->base.range_max[c] = e->max;
    }
    if (dir->native.alpha) {
        t->base.range_min[channels - 1] = 0;
        t->base.range_max[channels - 1] = dir->number == TG_TIFF_FLOAT ? 1 : whole_range(dir).max;
    }
    t->range_known = true;
}

/* In the units of L*, a* and b* themselves. */
static void set_lab(tg_tiff *t)
{
    static const tg_tiff_extremes lab[4] = {{0, 100}, {-128, 127}, {-128, 127}, {0, 1}};

    for (unsigned c = 0; c < tg_native_channels(t->base.native); c++) {
        t->base.range_min[c] = lab[c].min;
        t->base.range_max[c] = lab[c].max;
    }
    t->range_known = true;
}

bool tg_tiff_find_range(tg_image *img, tg_err *err)
{
    tg_tiff *t = (tg_tiff *)img;
    const tg_tiff_dir *dir = &t->level[0].dir;
    tg_tiff_extremes e = {0, 0};

    if (t->range_known || !dir->ranged)
        return true;
    if (dir->coding == TG_TIFF_LAB)
        set_lab(t);
    else if (find_extremes(t, &e, err))
        set_all(t, &e);
    else
        return false;
    return true;
}
