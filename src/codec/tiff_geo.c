/* Where a TIFF file lies on a map: the tags of GeoTIFF (OGC 19-008r4). Only web mercator is told in
 * full; of anything else it is known that it is one. */
#include <math.h>

#include "tiff.h"

#define TAG_PIXEL_SCALE    33550 /* section 7.2; ScaleX, ScaleY, ScaleZ */
#define TAG_TIEPOINT       33922 /* I, J, K, X, Y, Z */
#define TAG_TRANSFORMATION 34264 /* 4 x 4, row by row */
#define TAG_KEYS           34735

#define KEY_MODEL_TYPE     1024
#define KEY_RASTER_TYPE    1025
#define KEY_PROJECTED_CRS  3072
#define KEY_LINEAR_UNITS   3076
#define MODEL_PROJECTED    1
#define RASTER_PIXEL_POINT 2
#define METRE              9001
#define WHOLE_WORLD_M      4.1e7 /* more than the world is wide */

/* The values of a tag; NULL when they are of another type or fewer than that. */
static const void *values(TIFF *tif, uint32_t tag, TIFFDataType type, uint32_t at_least,
                          uint32_t *n)
{
    const TIFFField *field = TIFFFindField(tif, tag, type);
    void *data = NULL;

    *n = 0;
    if (!field || TIFFFieldReadCount(field) != TIFF_VARIABLE2 || !TIFFGetField(tif, tag, n, &data))
        return NULL;
    return *n < at_least ? NULL : data;
}

/* The value of a key that is held in the directory of keys itself. */
static unsigned key(const uint16_t *keys, unsigned n, unsigned id, unsigned otherwise)
{
    for (unsigned i = 4; i + 4 <= n; i += 4)
        if (keys[i] == id && keys[i + 1] == 0)
            return keys[i + 3];
    return otherwise;
}

static bool is_web_mercator(const uint16_t *keys, unsigned n)
{
    /* EPSG's number and the one before it; others do not fit a key of 16 bits. */
    unsigned crs = key(keys, n, KEY_PROJECTED_CRS, 0);

    if (key(keys, n, KEY_MODEL_TYPE, MODEL_PROJECTED) != MODEL_PROJECTED ||
        key(keys, n, KEY_LINEAR_UNITS, METRE) != METRE)
        return false;
    return crs == 3857 || crs == 3785;
}

static bool place_by_matrix(TIFF *tif, tg_georef *out)
{
    uint32_t n;
    const double *m = values(tif, TAG_TRANSFORMATION, TIFF_DOUBLE, 16, &n);

    if (!m || m[1] != 0 || m[4] != 0)
        return false;
    *out = (tg_georef){.west_m = m[3], .north_m = m[7], .px_w_m = m[0], .px_h_m = -m[5]};
    return true;
}

static bool place_by_tiepoint(TIFF *tif, tg_georef *out)
{
    uint32_t n;
    const double *scale = values(tif, TAG_PIXEL_SCALE, TIFF_DOUBLE, 2, &n);
    const double *tie = values(tif, TAG_TIEPOINT, TIFF_DOUBLE, 6, &n);

    if (!scale || !tie)
        return false;
    *out = (tg_georef){.west_m = tie[3] - tie[0] * scale[0],
                       .north_m = tie[4] + tie[1] * scale[1],
                       .px_w_m = scale[0],
                       .px_h_m = scale[1]};
    return true;
}

/* Values that calculations can bear. */
static bool is_sound(const tg_georef *g)
{
    return fabs(g->west_m) <= WHOLE_WORLD_M && fabs(g->north_m) <= WHOLE_WORLD_M &&
           g->px_w_m >= 1e-6 && g->px_w_m <= WHOLE_WORLD_M && g->px_h_m >= 1e-6 &&
           g->px_h_m <= WHOLE_WORLD_M;
}

void tg_tiff_georef(tg_image *img, tg_georef *out)
{
    tg_err ignored = {0};
    tg_tiff_file *f = tg_tiff_level_file((tg_tiff *)img, 0, 0, &ignored);
    uint32_t n = 0;
    const uint16_t *keys = f ? values(f->tif, TAG_KEYS, TIFF_SHORT, 4, &n) : NULL;
    tg_georef g;

    *out = (tg_georef){.projection = keys ? TG_PROJECTION_OTHER : TG_PROJECTION_NONE};
    if (!keys || !is_web_mercator(keys, n) || img->orientation > 1 ||
        !(place_by_matrix(f->tif, &g) || place_by_tiepoint(f->tif, &g)))
        return;
    if (key(keys, n, KEY_RASTER_TYPE, 0) == RASTER_PIXEL_POINT) {
        g.west_m -= g.px_w_m / 2;
        g.north_m += g.px_h_m / 2;
    }
    if (!is_sound(&g))
        return;
    g.projection = TG_PROJECTION_WEB_MERCATOR;
    *out = g;
}
