/* Pixels: a rectangle cut into the codestream's tiles, each decoded whole where it is worth
 * keeping, else as much of it as is wanted. */
#include <string.h>

#include "jp2.h"
#include "tegula/log.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/tile_cache.h"

/* A part of a tile is decoded at once as long as OpenJPEG needs no more for its samples. */
#define PART_BYTES  ((uint64_t)40 << 20)
#define MIN_PART_PX 64

/* One tile of the codestream at a level, and what of it is wanted. Coordinates are pixels of the
 * level from the reference grid's origin, as tg_j2k_place has them. */
typedef struct tile_part {
    uint32_t col, row;
    unsigned k;
    tg_rect tile, wanted;
    uint8_t *dst;
    size_t stride;
} tile_part;

static bool same_rect(const tg_rect *a, const tg_rect *b)
{
    return a->x == b->x && a->y == b->y && a->w == b->w && a->h == b->h;
}

/* ---- from pixels to the reference grid ---- */

static uint32_t to_grid(uint32_t pixel, uint32_t d, unsigned k)
{
    uint64_t at = ((uint64_t)pixel << k) * d;

    return (uint32_t)TG_MIN(at, (uint64_t)UINT32_MAX);
}

/* What of the tile has to be decoded for these pixels. Where components lie on different grids a
 * pixel is made of the samples around it, up to the tile's edges. */
static tg_j2k_area area_of(const tg_jp2 *j, const tile_part *p, const tg_rect *r)
{
    const tg_j2k_header *h = &j->codestream.header;
    const tg_j2k_component *c = tg_jp2_pixel(j);
    tg_j2k_area tile = tg_j2k_tile_area(h, p->col, p->row), a;
    uint32_t around = 0;

    for (unsigned i = 1; i < j->form.n_components; i++) {
        const tg_j2k_component *other = &h->component[j->form.component[i]];

        if (tg_j2k_is_subsampled(&j->form, h))
            around = TG_MAX(around, 2u * TG_MAX(other->dx, other->dy) << p->k);
    }
    a = (tg_j2k_area){to_grid(r->x, c->dx, p->k), to_grid(r->y, c->dy, p->k),
                      to_grid(r->x + r->w, c->dx, p->k), to_grid(r->y + r->h, c->dy, p->k)};
    a.x0 = TG_MAX(a.x0 - TG_MIN(a.x0, around), tile.x0);
    a.y0 = TG_MAX(a.y0 - TG_MIN(a.y0, around), tile.y0);
    a.x1 = TG_MIN(a.x1 + around, tile.x1);
    a.y1 = TG_MIN(a.y1 + around, tile.y1);
    return a;
}

/* ---- decoding ---- */

static bool decode(tg_jp2 *j, const tile_part *p, const tg_rect *r, uint8_t *dst, size_t stride,
                   tg_err *err)
{
    const tg_j2k_header *h = &j->codestream.header;
    bool whole = same_rect(r, &p->tile) || h->high_throughput; /* see decode_parts */
    tg_j2k_wanted w = {.col = p->col,
                       .row = p->row,
                       .k = p->k,
                       .max_layers = j->base.options.max_layers,
                       .lenient = j->base.options.lenient,
                       .component = j->form.component,
                       .n_components = j->form.n_components};
    opj_image_t *image;
    bool ok;

    w.area = whole ? tg_j2k_tile_area(h, p->col, p->row) : area_of(j, p, r);
    image = tg_j2k_decode_tile(&j->codestream, &w, err);
    if (!image)
        return false;
    ok = tg_j2k_place(&j->form, h, image, p->k, *r, dst, stride, err);
    opj_image_destroy(image);
    return ok;
}

/* Side of the parts that a tile is decoded in. OpenJPEG 2.5.0 gives flat grey for a part of a tile
 * of HTJ2K, so that those go whole. */
static tg_rect part_size(const tg_jp2 *j, const tile_part *p)
{
    uint64_t px = PART_BYTES / (TG_J2K_PART_BYTES * (uint64_t)j->form.n_components);
    tg_rect r = p->wanted;

    if (j->codestream.header.high_throughput || same_rect(&p->wanted, &p->tile))
        return r;
    if ((uint64_t)r.w * r.h > px)
        r.w = (uint32_t)TG_MAX(px / TG_MIN(r.h, (uint32_t)px), MIN_PART_PX);
    if ((uint64_t)r.w * r.h > px)
        r.h = (uint32_t)TG_MAX(px / TG_MIN(r.w, (uint32_t)px), MIN_PART_PX);
    r.w = TG_MIN(r.w, p->wanted.w);
    r.h = TG_MIN(r.h, p->wanted.h);
    return r;
}

static bool decode_parts(tg_jp2 *j, const tile_part *p, tg_err *err)
{
    size_t pixel = tg_native_bytes(j->base.native);
    tg_rect size = part_size(j, p), r = size;

    for (uint32_t y = 0; y < p->wanted.h; y += size.h)
        for (uint32_t x = 0; x < p->wanted.w; x += size.w) {
            r.x = p->wanted.x + x;
            r.y = p->wanted.y + y;
            r.w = TG_MIN(size.w, p->wanted.w - x);
            r.h = TG_MIN(size.h, p->wanted.h - y);
            if (!decode(j, p, &r, p->dst + y * p->stride + x * pixel, p->stride, err))
                return false;
        }
    return true;
}

/* ---- tiles kept ---- */

/* A tile of which much is wanted is decoded whole when it can be kept: what is around a view is
 * asked for next. */
static bool is_worth_keeping(const tg_jp2 *j, const tile_part *p)
{
    uint64_t all = (uint64_t)p->tile.w * p->tile.h, some = (uint64_t)p->wanted.w * p->wanted.h;

    return j->base.keep_tiles && (j->codestream.header.high_throughput || some >= all / 4);
}

static const uint8_t *fill_cache(tg_jp2 *j, const tile_part *p, const tg_tile_key *key, tg_err *err)
{
    size_t stride = p->tile.w * tg_native_bytes(j->base.native);
    uint8_t *tile = is_worth_keeping(j, p) ? tg_tile_cache_put(key, p->tile.h * stride) : NULL;

    if (!tile || decode(j, p, &p->tile, tile, stride, err))
        return tile;
    tg_tile_cache_drop(key);
    return NULL;
}

static bool read_tile(tg_jp2 *j, const tile_part *p, tg_err *err)
{
    tg_tile_key key = {j->cache_id, p->col, p->row, (uint16_t)p->k, 0};
    size_t pixel = tg_native_bytes(j->base.native);
    const uint8_t *tile = tg_tile_cache_get(&key);

    if (!tile)
        tile = fill_cache(j, p, &key, err);
    if (!tile)
        return err->kind == TG_ERR_NONE && decode_parts(j, p, err);
    tile += ((size_t)(p->wanted.y - p->tile.y) * p->tile.w + (p->wanted.x - p->tile.x)) * pixel;
    for (uint32_t y = 0; y < p->wanted.h; y++)
        memcpy(p->dst + y * p->stride, tile + (size_t)y * p->tile.w * pixel, p->wanted.w * pixel);
    return true;
}

/* With STRICT=0: a tile that is not to be had is white. */
static bool read_or_blank(tg_jp2 *j, const tile_part *p, tg_err *err)
{
    size_t n = p->wanted.w * tg_native_bytes(j->base.native);

    if (read_tile(j, p, err))
        return true;
    if (!j->base.options.lenient || err->kind != TG_ERR_CORRUPT)
        return false;
    tg_log(TG_LOG_ERROR, "tile %u, %u of a JPEG 2000 codestream is left white: %s", p->col, p->row,
           err->detail[0] ? err->detail : err->msg);
    for (uint32_t y = 0; y < p->wanted.h; y++)
        memset(p->dst + y * p->stride, 0xff, n);
    *err = (tg_err){0};
    return true;
}

/* ---- rectangles ---- */

static tg_rect tile_rect(const tg_jp2 *j, uint32_t col, uint32_t row, unsigned k)
{
    tg_j2k_area a = tg_j2k_tile_area(&j->codestream.header, col, row);
    const tg_j2k_component *c = tg_jp2_pixel(j);
    tg_rect r = {tg_j2k_coordinate(a.x0, c->dx, k), tg_j2k_coordinate(a.y0, c->dy, k), 0, 0};

    r.w = tg_j2k_coordinate(a.x1, c->dx, k) - r.x;
    r.h = tg_j2k_coordinate(a.y1, c->dy, k) - r.y;
    return r;
}

/* The last tile that begins at or before a pixel of one axis. */
static uint32_t tile_at(uint32_t pixel, uint32_t d, unsigned k, uint32_t tile_0, uint32_t tile_side,
                        uint32_t n_tiles)
{
    uint64_t grid = ((uint64_t)pixel << k) * d;
    uint64_t i = grid > tile_0 ? (grid - tile_0) / tile_side : 0;

    return (uint32_t)TG_MIN(i, (uint64_t)n_tiles - 1);
}

static bool intersect(const tg_rect *a, const tg_rect *b, tg_rect *out)
{
    uint32_t x1 = TG_MIN(a->x + a->w, b->x + b->w), y1 = TG_MIN(a->y + a->h, b->y + b->h);

    out->x = TG_MAX(a->x, b->x);
    out->y = TG_MAX(a->y, b->y);
    if (x1 <= out->x || y1 <= out->y)
        return false;
    out->w = x1 - out->x;
    out->h = y1 - out->y;
    return true;
}

bool tg_jp2_read(tg_image *img, unsigned level, unsigned k, tg_rect rect, void *dst,
                 size_t dst_stride, tg_err *err)
{
    tg_jp2 *j = (tg_jp2 *)img;
    const tg_j2k_header *h = &j->codestream.header;
    const tg_j2k_component *c = tg_jp2_pixel(j);
    tile_part p = {.k = level, .stride = dst_stride};
    uint32_t first_col, first_row, last_col, last_row;

    (void)k; /* levels are all there is */
    if (rect.w == 0 || rect.h == 0)
        return true;
    rect.x += tg_j2k_coordinate(h->x0, c->dx, level);
    rect.y += tg_j2k_coordinate(h->y0, c->dy, level);
    first_col = tile_at(rect.x, c->dx, level, h->tile_x0, h->tile_w, h->cols);
    first_row = tile_at(rect.y, c->dy, level, h->tile_y0, h->tile_h, h->rows);
    last_col = tile_at(rect.x + rect.w - 1, c->dx, level, h->tile_x0, h->tile_w, h->cols);
    last_row = tile_at(rect.y + rect.h - 1, c->dy, level, h->tile_y0, h->tile_h, h->rows);
    for (p.row = first_row; p.row <= last_row; p.row++)
        for (p.col = first_col; p.col <= last_col; p.col++) {
            p.tile = tile_rect(j, p.col, p.row, level);
            if (!intersect(&rect, &p.tile, &p.wanted))
                continue;
            p.dst = (uint8_t *)dst + (p.wanted.y - rect.y) * dst_stride +
                    (p.wanted.x - rect.x) * tg_native_bytes(img->native);
            if (!read_or_blank(j, &p, err))
                return false;
        }
    return true;
}

/* The costliest of the tiles, of which there is one at a time: one in the middle or, whole, the
 * first. */
uint64_t tg_jp2_working_bytes(const tg_image *img, unsigned level, unsigned k, tg_rect rect)
{
    const tg_jp2 *j = (const tg_jp2 *)img;
    const tg_j2k_header *h = &j->codestream.header;
    tile_part p = {.k = level, .col = h->cols > 2, .row = h->rows > 2};
    tg_j2k_area tile = tg_j2k_tile_area(h, p.col, p.row), area = tile;
    uint64_t per_tile = h->cols * (uint64_t)h->rows;

    (void)k;
    p.tile = tile_rect(j, p.col, p.row, level);
    p.wanted = p.tile;
    if (rect.w < p.tile.w || rect.h < p.tile.h) {
        p.wanted.w = TG_MIN(rect.w, p.tile.w);
        p.wanted.h = TG_MIN(rect.h, p.tile.h);
        p.wanted = part_size(j, &p);
        if (!h->high_throughput)
            area = area_of(j, &p, &p.wanted);
    }
    return tg_j2k_decode_bytes(h, &tile, &area, level, h->n_components) +
           j->codestream.source.n_bytes / per_tile;
}
