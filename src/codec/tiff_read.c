/* Pixels: a rectangle cut into the tiles or strips that hold it, each read by its route. */
#include <string.h>

#include "scratch.h"
#include "tegula/log.h"
#include "tegula/num.h"
#include "tegula/tile_cache.h"
#include "tiff.h"

#define DEFLATE_RATIO 1032
#define SMALL_BYTES   65536 /* pictures up to 64 MiB may be all white */

static bool (*const routes[])(tg_tiff *, tg_tiff_part *, tg_err *) = {
    [TG_TIFF_BY_LIBTIFF] = tg_tiff_libtiff_part,
    [TG_TIFF_BY_JPEG] = tg_tiff_jpeg_part,
    [TG_TIFF_BY_WEBP] = tg_tiff_webp_part,
    [TG_TIFF_BY_J2K] = tg_tiff_j2k_part,
};

bool tg_tiff_each_plane(tg_tiff *t, tg_tiff_part *p, tg_tiff_plane_fn *read, tg_err *err)
{
    const tg_tiff_dir *dir = &t->level[p->level].dir;
    unsigned channels = dir->planes ? tg_native_channels(dir->native) : 1;

    for (unsigned c = 0, next; c < channels; c = next) {
        /* a palette's three colours come of one plane */
        next = dir->coding == TG_TIFF_INDEXED && c == 0 ? TG_MIN(3u, channels) : c + 1;
        if (read(t, p, c, err))
            continue;
        if (next < channels)
            p->done = 0;
        return false;
    }
    return true;
}

/* No ink, full light, opaque: every bit set, but for CMYK and the two zeros of Lab. */
static void fill_white(tg_native native, uint8_t *row, uint32_t n)
{
    size_t bytes = native.bits / 8, px_bytes = tg_native_bytes(native);
    unsigned middle = native.bits == 8 ? 128 : 128 * 257;
    uint16_t wide = (uint16_t)middle;

    if (native.space == TG_SPACE_GRAY || native.space == TG_SPACE_RGB) {
        memset(row, 0xff, n * px_bytes);
        return;
    }
    for (uint32_t i = 0; i < n; i++, row += px_bytes) {
        memset(row, native.space == TG_SPACE_CMYK ? 0 : 0xff, px_bytes);
        if (native.space == TG_SPACE_CMYK && native.alpha)
            memset(row + 4 * bytes, 0xff, bytes);
        for (unsigned c = 1; native.space == TG_SPACE_LAB && c < 3; c++) {
            if (native.bits == 8)
                row[c] = (uint8_t)middle;
            else
                memcpy(row + c * bytes, &wide, bytes);
        }
    }
}

static tg_tiff_broken place_of(const tg_tiff_part *p)
{
    return (tg_tiff_broken){true, p->level, p->k, p->col, p->row, p->in.y + p->done};
}

/* A file too small for the whole level even at deflate's greatest ratio was never a picture of that
 * size; filling gigapixels with white for it is what its maker wants. */
static bool could_hold(const tg_tiff *t, const tg_tiff_dir *dir)
{
    double bytes = (double)dir->row_bytes * dir->tile_h_px * dir->cols * dir->rows;

    return bytes / DEFLATE_RATIO <= (double)t->size_bytes + SMALL_BYTES;
}

/* Damage may be served as white where it was asked for; that the file cannot be read may not. */
static bool forgive(tg_tiff *t, const tg_tiff_part *p, tg_err *err)
{
    if (!t->base.options.lenient || err->kind != TG_ERR_CORRUPT ||
        !could_hold(t, &t->level[p->level].dir))
        return false;
    t->broken = place_of(p);
    tg_log_file("tile %u, %u in level %u of a TIFF file is left white from row %u on: %s%s%s",
                (unsigned)p->col, (unsigned)p->row, p->level, (unsigned)t->broken.from, err->msg,
                err->detail[0] ? ": " : "", err->detail);
    *err = (tg_err){0};
    return true;
}

/* Of a strip that is read in bands, those behind the damage need not run into it again. */
static bool known_broken(const tg_tiff *t, const tg_tiff_part *p)
{
    const tg_tiff_broken *b = &t->broken;

    return b->is && b->level == p->level && b->k == p->k && b->col == p->col && b->row == p->row &&
           b->from <= p->in.y;
}

static bool read_part(tg_tiff *t, tg_tiff_part *p, tg_err *err)
{
    const tg_tiff_level *lv = &t->level[p->level];

    p->done = 0;
    if (!known_broken(t, p)) {
        if (routes[lv->dir.route](t, p, err))
            p->done = p->in.h;
        else if (!forgive(t, p, err))
            return false;
    }
    for (uint32_t i = 0; i < p->in.h; i++) {
        if (i < p->done)
            tg_tiff_finish(lv, p->dst + i * p->stride, p->in.w);
        else
            fill_white(lv->dir.native, p->dst + i * p->stride, p->in.w);
    }
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
    size_t stride = w * tg_native_bytes(t->base.native);
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

static bool read_cached(tg_tiff *t, tg_tiff_part *p, uint32_t tw, uint32_t th, tg_err *err)
{
    tg_tile_key key = {t->cache_id, p->col, p->row, (uint16_t)p->level, (uint16_t)p->k};
    size_t px_bytes = tg_native_bytes(t->base.native);
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
    bool ok = tg_tiff_find_range(img, err);

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

/* A tile as stored, decoded; of JPEG 2000 also the decoder's words of 32 bits. */
uint64_t tg_tiff_working_bytes(const tg_image *img, unsigned level, unsigned k, tg_rect rect)
{
    const tg_tiff_dir *dir = &((const tg_tiff *)img)->level[level].dir;
    uint64_t tile_px =
        (uint64_t)TG_MIN(dir->tile_w_px, dir->width_px) * TG_MIN(dir->tile_h_px, dir->height_px);

    (void)k;
    (void)rect;
    switch (dir->route) {
    case TG_TIFF_BY_LIBTIFF:
        return tg_tiff_libtiff_bytes(dir);
    case TG_TIFF_BY_J2K:
        return tile_px * dir->raw_samples * (4 + dir->raw_bits / 8u);
    case TG_TIFF_BY_WEBP:
        return tile_px * 2 * dir->raw_samples;
    case TG_TIFF_BY_JPEG:
        break;
    }
    return (uint64_t)dir->tile_w_px * dir->raw_samples * 32;
}
