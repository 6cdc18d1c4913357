/* Pixels: a rectangle cut into the tiles or strips that hold it, each read by its route. */
#include <string.h>

#include "scratch.h"
#include "tegula/num.h"
#include "tegula/tile_cache.h"
#include "tiff.h"

/* Strips up to this size are decoded whole, which is faster; larger ones line by line, so that
 * reading them in bands takes one pass and little memory. */
#define WHOLE_STRIP_BYTES ((size_t)4 << 20)
#define WHOLE_STRIP_ROWS  256

static bool (*const routes[])(tg_tiff *, const tg_tiff_part *, tg_err *) = {
    [TG_TIFF_BY_LIBTIFF] = tg_tiff_libtiff_part,
    [TG_TIFF_BY_JPEG] = tg_tiff_jpeg_part,
    [TG_TIFF_BY_WEBP] = tg_tiff_webp_part,
    [TG_TIFF_BY_RGBA] = tg_tiff_rgba_part,
};

static bool read_part(tg_tiff *t, const tg_tiff_part *p, tg_err *err)
{
    const tg_tiff_dir *dir = &t->level[p->level].dir;

    if (!routes[dir->route](t, p, err))
        return false;
    for (uint32_t i = 0; i < p->in.h; i++)
        tg_tiff_finish(dir, p->dst + i * p->stride, p->in.w);
    return true;
}

/* The tile's visible size at the part's reduction. */
static void visible_size(const tg_tiff *t, const tg_tiff_part *p, uint32_t tw, uint32_t th,
                         uint32_t *w, uint32_t *h)
{
    const tg_level *lv = &t->base.level[p->level];

    *w = TG_MIN(tw, tg_reduced_px(lv->width_px, p->k) - p->col * tw);
    *h = TG_MIN(th, tg_reduced_px(lv->height_px, p->k) - p->row * th);
}

/* Decodes the whole tile into the cache; NULL without an error when it is not worth it: a decoder
 * can stop early, so a part of few rows is cheaper by itself. */
static const uint8_t *fill_cache(tg_tiff *t, const tg_tiff_part *p, const tg_tile_key *key,
                                 uint32_t w, uint32_t h, tg_err *err)
{
    size_t stride = w * tg_pixfmt_bytes(t->base.fmt);
    tg_tiff_part whole = *p;

    if (!t->base.keep_tiles || p->in.h < h / 2)
        return NULL;
    whole.dst = tg_tile_cache_put(key, h * stride);
    if (!whole.dst)
        return NULL;
    whole.in = (tg_rect){0, 0, w, h};
    whole.stride = stride;
    if (read_part(t, &whole, err))
        return whole.dst;
    tg_tile_cache_drop(key);
    return NULL;
}

static bool read_cached(tg_tiff *t, const tg_tiff_part *p, uint32_t tw, uint32_t th, tg_err *err)
{
    tg_tile_key key = {t->cache_id, p->col, p->row, (uint16_t)p->level, (uint16_t)p->k};
    size_t px_bytes = tg_pixfmt_bytes(t->base.fmt);
    const uint8_t *tile;
    uint32_t w, h;

    visible_size(t, p, tw, th, &w, &h);
    tile = tg_tile_cache_get(&key);
    if (!tile)
        tile = fill_cache(t, p, &key, w, h, err);
    if (!tile)
        return err->kind == TG_ERR_NONE && read_part(t, p, err);
    for (uint32_t i = 0; i < p->in.h; i++)
        memcpy(p->dst + i * p->stride, tile + ((size_t)(p->in.y + i) * w + p->in.x) * px_bytes,
               p->in.w * px_bytes);
    return true;
}

/* [from, from + n) of the reduced axis cut at tile t: first and length inside the tile. */
static void cut(uint32_t from, uint32_t n, uint32_t tile, uint32_t tile_px, uint32_t *in,
                uint32_t *len)
{
    uint64_t start = (uint64_t)tile * tile_px, end = start + tile_px;
    uint64_t a = TG_MAX((uint64_t)from, start), b = TG_MIN((uint64_t)from + n, end);

    *in = (uint32_t)(a - start);
    *len = (uint32_t)(b - a);
}

static uint32_t reduced_tile(uint32_t tile_px, uint32_t tiles, uint32_t side_px, unsigned k)
{
    return tiles == 1 ? tg_reduced_px(side_px, k) : tile_px >> k;
}

bool tg_tiff_read(tg_image *img, unsigned level, unsigned k, tg_rect rect, void *dst,
                  size_t dst_stride, tg_err *err)
{
    tg_tiff *t = (tg_tiff *)img;
    const tg_level *lv = &img->level[level];
    uint32_t tw = reduced_tile(lv->tile_w_px, lv->cols, lv->width_px, k);
    uint32_t th = reduced_tile(lv->tile_h_px, lv->rows, lv->height_px, k);
    size_t px_bytes = tg_native_bytes(img->native);
    tg_tiff_part p = {.level = level, .k = k, .stride = dst_stride};
    uint8_t *line = dst;
    bool ok = true;

    if (rect.w == 0 || rect.h == 0)
        return true;
    for (p.row = rect.y / th; ok && p.row <= (rect.y + rect.h - 1) / th; p.row++) {
        cut(rect.y, rect.h, p.row, th, &p.in.y, &p.in.h);
        p.dst = line;
        for (p.col = rect.x / tw; ok && p.col <= (rect.x + rect.w - 1) / tw; p.col++) {
            cut(rect.x, rect.w, p.col, tw, &p.in.x, &p.in.w);
            ok = img->tiled ? read_cached(t, &p, tw, th, err) : read_part(t, &p, err);
            p.dst += p.in.w * px_bytes;
        }
        line += p.in.h * dst_stride;
    }
    tg_scratch_trim();
    return ok;
}

static void place_row(const tg_tiff_level *lv, const tg_tiff_part *p, uint32_t i,
                      const uint8_t *row, unsigned channel)
{
    uint8_t *dst = p->dst + i * p->stride;

    if (lv->dir.planes)
        tg_tiff_place_plane(lv, dst, row, p->in.x, p->in.w, channel);
    else
        tg_tiff_place(lv, dst, row, p->in.x, p->in.w);
}

/* Rows of a tile or strip as stored; the last strip ends with the image. */
static uint32_t stored_rows(const tg_tiff_dir *dir, uint32_t row)
{
    uint32_t from = row * dir->tile_h_px;

    return dir->tiled ? dir->tile_h_px : TG_MIN(dir->tile_h_px, dir->height_px - from);
}

static bool read_whole(tg_tiff_level *lv, tg_tiff_file *f, const tg_tiff_part *p, unsigned channel,
                       tg_err *err)
{
    const tg_tiff_dir *dir = &lv->dir;
    uint32_t index = tg_tiff_index(dir, p->col, p->row, channel);
    uint32_t rows = stored_rows(dir, p->row);
    bool direct = tg_tiff_same_layout(dir) && p->in.h == rows && p->stride == dir->row_bytes &&
                  p->in.w == dir->tile_w_px;
    uint8_t *tile = direct ? p->dst : tg_scratch(rows, dir->row_bytes, err);
    tmsize_t want, got;

    if (!tile)
        return false;
    want = (tmsize_t)(rows * dir->row_bytes);
    got = dir->tiled ? TIFFReadEncodedTile(f->tif, index, tile, want)
                     : TIFFReadEncodedStrip(f->tif, index, tile, want);
    f->next_row = UINT32_MAX;
    if (got != want)
        return tg_tiff_file_fail(f, err);
    for (uint32_t i = 0; !direct && i < p->in.h; i++)
        place_row(lv, p, i, tile + (p->in.y + i) * dir->row_bytes, channel);
    return true;
}

/* Decodes lines in order from the start of the strip, or from where the last call ended. */
static bool read_lines(tg_tiff_level *lv, tg_tiff_file *f, const tg_tiff_part *p, unsigned channel,
                       tg_err *err)
{
    const tg_tiff_dir *dir = &lv->dir;
    uint32_t strip = p->row * dir->tile_h_px, first = strip + p->in.y, end = first + p->in.h;
    bool goes_on = f->next_row != UINT32_MAX && f->next_row > strip && f->next_row <= first;
    uint16_t plane = dir->planes ? (uint16_t)tg_tiff_sample(dir, channel) : 0;
    uint8_t *line = tg_scratch(dir->row_bytes, 1, err);

    if (!line)
        return false;
    for (uint32_t y = goes_on ? f->next_row : strip; y < end; y++) {
        if (TIFFReadScanline(f->tif, line, y, plane) != 1) {
            f->next_row = UINT32_MAX;
            return tg_tiff_file_fail(f, err);
        }
        f->next_row = y + 1;
        if (y >= first)
            place_row(lv, p, y - first, line, channel);
    }
    return true;
}

static bool reads_by_line(const tg_tiff_dir *dir)
{
    return !dir->tiled && (dir->tile_h_px > WHOLE_STRIP_ROWS ||
                           dir->row_bytes > WHOLE_STRIP_BYTES / dir->tile_h_px);
}

bool tg_tiff_libtiff_part(tg_tiff *t, const tg_tiff_part *p, tg_err *err)
{
    tg_tiff_level *lv = &t->level[p->level];
    bool by_line = reads_by_line(&lv->dir);
    unsigned passes = lv->dir.planes ? lv->dir.fmt.channels : 1;

    for (unsigned c = 0; c < passes; c++) {
        tg_tiff_file *f = tg_tiff_level_file(t, p->level, by_line ? c : 0, err);
        uint64_t offset, n;

        if (!f || !tg_tiff_extent(f, tg_tiff_index(&lv->dir, p->col, p->row, c), &offset, &n, err))
            return false;
        if (!(by_line ? read_lines : read_whole)(lv, f, p, c, err))
            return false;
    }
    return true;
}
