#include "tegula/num.h"
#include "tegula/tiles.h"

/* One level: its size, and how many pixels of the full image one of its pixels stands for. */
typedef struct grid {
    uint32_t width_px, height_px;
    uint64_t factor;
    uint32_t cols, rows;
} grid;

static grid make_grid(const tg_tiles_image *image, uint32_t w, uint32_t h, uint64_t factor)
{
    return (grid){w, h, factor, tg_ceil_div_u32(w, image->tile_px),
                  tg_ceil_div_u32(h, image->tile_px)};
}

static uint32_t ceil_shift(uint32_t px, unsigned k)
{
    return (uint32_t)(((uint64_t)px + ((uint64_t)1 << k) - 1) >> k);
}

static grid deepzoom_grid(const tg_tiles_image *image, unsigned k)
{
    return make_grid(image, ceil_shift(image->width_px, k), ceil_shift(image->height_px, k),
                     (uint64_t)1 << k);
}

static grid zoomify_grid(const tg_tiles_image *image, unsigned k)
{
    return make_grid(image, TG_MAX(image->width_px >> k, 1), TG_MAX(image->height_px >> k, 1),
                     (uint64_t)1 << k);
}

/* The number of the full-size level: how often the image is halved to reach level 0. */
static unsigned top_level(tg_protocol protocol, const tg_tiles_image *image)
{
    uint32_t side = TG_MAX(image->width_px, image->height_px);
    unsigned k = 0;
    if (protocol == TG_PROTOCOL_DEEPZOOM)
        while (ceil_shift(side, k) > 1)
            k++;
    else
        while (side >> k > image->tile_px)
            k++;
    return k;
}

static grid grid_of(tg_protocol protocol, const tg_tiles_image *image, unsigned k)
{
    return protocol == TG_PROTOCOL_DEEPZOOM ? deepzoom_grid(image, k) : zoomify_grid(image, k);
}

void tg_tiles_document(tg_protocol protocol, const tg_tiles_image *image, tg_buf *out)
{
    uint64_t tiles = 0;
    if (protocol == TG_PROTOCOL_DEEPZOOM) {
        tg_buf_printf(out,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
                      "<Image xmlns=\"http://schemas.microsoft.com/deepzoom/2008\" TileSize=\"%u\" "
                      "Overlap=\"0\" Format=\"jpg\"><Size Width=\"%u\" Height=\"%u\"/></Image>",
                      image->tile_px, image->width_px, image->height_px);
        return;
    }
    for (unsigned k = 0; k <= top_level(protocol, image); k++) {
        grid g = grid_of(protocol, image, k);
        tiles += (uint64_t)g.cols * g.rows;
    }
    tg_buf_printf(out,
                  "<IMAGE_PROPERTIES WIDTH=\"%u\" HEIGHT=\"%u\" NUMTILES=\"%llu\" NUMIMAGES=\"1\" "
                  "VERSION=\"1.8\" TILESIZE=\"%u\"/>",
                  image->width_px, image->height_px, (unsigned long long)tiles, image->tile_px);
}

/* One axis: tile number n of a level that is level_px long over an image that is full_px long. */
static void tile_axis(uint64_t n, uint32_t tile_px, uint32_t level_px, uint64_t factor,
                      uint32_t full_px, double *at, double *part, uint64_t *out_px)
{
    uint64_t first = n * tile_px, end = TG_MIN(first + tile_px, level_px);
    *at = (double)(first * factor);
    *part = (double)(TG_MIN(end * factor, full_px) - first * factor);
    *out_px = end - first;
}

bool tg_tiles_job(const tg_tiles *t, const tg_tiles_image *image, tg_job *out, tg_err *err)
{
    if (t->protocol == TG_PROTOCOL_XYZ)
        return tg_xyz_job(t, image, out, err);
    unsigned top = top_level(t->protocol, image);
    if (t->level > top)
        return tg_fail(err, TG_ERR_NOT_FOUND, "level: there are 0 to %u", top);
    grid g = grid_of(t->protocol, image, top - (unsigned)t->level);
    if (t->x >= g.cols || t->y >= g.rows)
        return tg_fail(err, TG_ERR_NOT_FOUND, "tile: level %u has %u by %u", (unsigned)t->level,
                       g.cols, g.rows);
    *out = (tg_job){.region = TG_REGION_PIXELS,
                    .size = TG_SIZE_EXACT,
                    .upscale = TG_UPSCALE_IMPLICIT,
                    .format = t->format};
    tile_axis(t->x, image->tile_px, g.width_px, g.factor, image->width_px, &out->rx, &out->rw,
              &out->w);
    tile_axis(t->y, image->tile_px, g.height_px, g.factor, image->height_px, &out->ry, &out->rh,
              &out->h);
    return true;
}
