/* WebP tiles, by libwebp directly. Always decoded whole: its chroma upsampling is not the same at
 * the edge of a crop. */
#include <webp/decode.h>

#include <string.h>

#include "scratch.h"
#include "tegula/num.h"
#include "tiff.h"

static bool damaged(tg_err *err, const char *what)
{
    tg_fail(err, TG_ERR_CORRUPT, "the image file is damaged");
    return tg_fail_detail(err, "WebP tile: %s", what);
}

static bool check_size(const tg_tiff_dir *dir, const tg_tiff_part *p, const uint8_t *data, size_t n,
                       int *w, int *h, tg_err *err)
{
    if (!WebPGetInfo(data, n, w, h))
        return damaged(err, "no header");
    if ((uint32_t)*w > dir->tile_w_px || (uint32_t)*h > dir->tile_h_px)
        return damaged(err, "larger than the directory says");
    if (p->in.x + p->in.w > (uint32_t)*w || p->in.y + p->in.h > (uint32_t)*h)
        return damaged(err, "smaller than the directory says");
    return true;
}

static bool decode(const tg_tiff_dir *dir, const uint8_t *data, size_t n, uint8_t *dst,
                   size_t stride, size_t size, tg_err *err)
{
    uint8_t *done = dir->native.alpha ? WebPDecodeRGBAInto(data, n, dst, size, (int)stride)
                                      : WebPDecodeRGBInto(data, n, dst, size, (int)stride);

    return done || damaged(err, "cannot be decoded");
}

bool tg_tiff_webp_part(tg_tiff *t, tg_tiff_part *p, tg_err *err)
{
    const tg_tiff_dir *dir = &t->level[p->level].dir;
    tg_tiff_file *f = tg_tiff_level_file(t, p->level, 0, err);
    size_t px = tg_native_bytes(dir->native), raster_bytes, row_bytes = dir->tile_w_px * px;
    uint64_t offset, n;
    uint8_t *raster, *data;
    int w, h;

    if (!f || !tg_tiff_extent(t, f, tg_tiff_index(dir, p->col, p->row, 0), &offset, &n, err))
        return false;
    if (n == 0)
        return tg_tiff_absent_part(t, p, 0, err);
    if (!tg_mul_size(row_bytes, dir->tile_h_px, &raster_bytes) ||
        !tg_add_size(raster_bytes, (size_t)n, &raster_bytes))
        return tg_fail(err, TG_ERR_TOO_LARGE, "the tiles of the image are too large");
    raster = tg_scratch(raster_bytes, 1, err);
    if (!raster)
        return false;
    data = raster + raster_bytes - n;
    if (!tg_tiff_pread(t, data, (size_t)n, offset, err) ||
        !check_size(dir, p, data, (size_t)n, &w, &h, err))
        return false;
    if (p->in.w == (uint32_t)w && p->in.h == (uint32_t)h)
        return decode(dir, data, (size_t)n, p->dst, p->stride, p->stride * p->in.h, err);
    if (!decode(dir, data, (size_t)n, raster, row_bytes, row_bytes * dir->tile_h_px, err))
        return false;
    for (uint32_t i = 0; i < p->in.h; i++)
        memcpy(p->dst + i * p->stride, raster + (p->in.y + i) * row_bytes + p->in.x * px,
               p->in.w * px);
    return true;
}
