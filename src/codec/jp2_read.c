/* Pixels: a rectangle cut into the codestream's tiles, of each as much decoded as is wanted. What
 * is wanted again and again is decoded whole and kept. */
#include <string.h>

#include "jp2.h"
#include "tegula/log.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/tile_cache.h"

/* Memory that OpenJPEG may take for the samples of a part. One of a codestream without tiles has a
 * price before its first sample, so that it is to have many. */
#define PART_BYTES       ((uint64_t)40 << 20)
#define LARGE_PART_BYTES ((uint64_t)128 << 20)
#define MIN_PART_PX      64

#define PART_PRICE 4

#define UNIT_PX 1024 /* decoded at once to be kept; a tile that is not much larger is one unit */
#define CELL_PX 512  /* kept in pieces of this, so that few decoders' tiles fill the cache */

/* One tile of the codestream at a level, or a unit of it, and what of it is wanted. Coordinates are
 * pixels of the level from the reference grid's origin, as tg_j2k_place has them. */
typedef struct tile_part {
    uint32_t col, row;
    unsigned k;
    tg_rect tile, unit, wanted;
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
    uint64_t around = 0;

    for (unsigned i = 1; i < j->form.n_components; i++) {
        const tg_j2k_component *other = &h->component[j->form.component[i]];

        if (tg_j2k_is_subsampled(&j->form, h))
            around = TG_MAX(around, (uint64_t)2 * TG_MAX(other->dx, other->dy) << p->k);
    }
    a = (tg_j2k_area){to_grid(r->x, c->dx, p->k), to_grid(r->y, c->dy, p->k),
                      to_grid(r->x + r->w, c->dx, p->k), to_grid(r->y + r->h, c->dy, p->k)};
    a.x0 = TG_MAX(a.x0 - (uint32_t)TG_MIN(a.x0, around), tile.x0);
    a.y0 = TG_MAX(a.y0 - (uint32_t)TG_MIN(a.y0, around), tile.y0);
    a.x1 = (uint32_t)TG_MIN(a.x1 + around, (uint64_t)tile.x1);
    a.y1 = (uint32_t)TG_MIN(a.y1 + around, (uint64_t)tile.y1);
    return a;
}

/* ---- decoding ---- */

/* OpenJPEG 2.5 gives flat grey for a part of a tile of HTJ2K: those are decoded whole. */
static bool is_decoded_whole(const tg_jp2 *j)
{
    return j->codestream.header.high_throughput;
}

static opj_image_t *decode(tg_jp2 *j, const tile_part *p, const tg_rect *r, tg_err *err)
{
    const tg_j2k_header *h = &j->codestream.header;
    tg_j2k_wanted w = {.col = p->col,
                       .row = p->row,
                       .k = p->k,
                       .max_layers = j->base.options.max_layers,
                       .lenient = j->base.options.lenient,
                       .component = j->form.component,
                       .n_components = j->form.n_components};

    w.area = is_decoded_whole(j) || same_rect(r, &p->tile) ? tg_j2k_tile_area(h, p->col, p->row)
                                                           : area_of(j, p, r);
    return tg_j2k_decode_tile(&j->codestream, &w, err);
}

static uint8_t *pixel_of(const tg_jp2 *j, const tile_part *p, uint32_t x, uint32_t y)
{
    return p->dst + (y - p->wanted.y) * p->stride +
           (x - p->wanted.x) * tg_native_bytes(j->base.native);
}

static bool place(const tg_jp2 *j, const tile_part *p, const opj_image_t *image, const tg_rect *r,
                  tg_err *err)
{
    return tg_j2k_place(&j->form, &j->codestream.header, image, p->k, *r,
                        pixel_of(j, p, r->x, r->y), p->stride, err);
}

/* Size of the parts that what is wanted is decoded in. */
static tg_rect part_size(const tg_jp2 *j, const tile_part *p)
{
    const tg_j2k_header *h = &j->codestream.header;
    uint64_t bytes = (uint64_t)h->cols * h->rows == 1 ? LARGE_PART_BYTES : PART_BYTES;
    uint64_t px = bytes / (TG_J2K_PART_BYTES * (uint64_t)j->form.n_components);
    tg_rect r = p->wanted;

    if (is_decoded_whole(j) || same_rect(&p->wanted, &p->tile))
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
    tg_rect size = part_size(j, p), r;
    bool ok = true;

    for (uint32_t y = 0; ok && y < p->wanted.h; y += size.h)
        for (uint32_t x = 0; ok && x < p->wanted.w; x += size.w) {
            opj_image_t *image;

            r = (tg_rect){p->wanted.x + x, p->wanted.y + y, TG_MIN(size.w, p->wanted.w - x),
                          TG_MIN(size.h, p->wanted.h - y)};
            image = decode(j, p, &r, err);
            ok = image && place(j, p, image, &r, err);
            opj_image_destroy(image);
        }
    return ok;
}

/* ---- cells kept ---- */

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

/* Squares of a tile from its corner on; the n-th of each axis. */
static tg_rect square(const tg_rect *tile, uint32_t side_px, uint32_t col, uint32_t row)
{
    uint32_t x = col * side_px, y = row * side_px;

    return (tg_rect){tile->x + x, tile->y + y, TG_MIN(side_px, tile->w - x),
                     TG_MIN(side_px, tile->h - y)};
}

/* Squares that a rectangle of the tile touches: [x, x + w) x [y, y + h) of them. */
static tg_rect squares(const tg_rect *tile, uint32_t side_px, const tg_rect *r)
{
    uint32_t x = (r->x - tile->x) / side_px, y = (r->y - tile->y) / side_px;

    return (tg_rect){x, y, (r->x + r->w - 1 - tile->x) / side_px - x + 1,
                     (r->y + r->h - 1 - tile->y) / side_px - y + 1};
}

/* Cells are numbered through all tiles. */
static tg_tile_key cell_key(const tg_jp2 *j, const tile_part *p, uint32_t col, uint32_t row)
{
    const tg_j2k_header *h = &j->codestream.header;

    return (tg_tile_key){j->cache_id, p->col * (h->tile_w / CELL_PX + 1) + col,
                         p->row * (h->tile_h / CELL_PX + 1) + row, (uint16_t)p->k, 0};
}

static void copy_cell(const tg_jp2 *j, const tile_part *p, const tg_rect *cell,
                      const uint8_t *pixels)
{
    size_t pixel = tg_native_bytes(j->base.native);
    tg_rect r;

    if (!intersect(cell, &p->wanted, &r))
        return;
    pixels += ((size_t)(r.y - cell->y) * cell->w + (r.x - cell->x)) * pixel;
    for (uint32_t y = 0; y < r.h; y++)
        memcpy(pixel_of(j, p, r.x, r.y + y), pixels + (size_t)y * cell->w * pixel, r.w * pixel);
}

/* False when a cell is not there. */
static bool copy_cells(const tg_jp2 *j, const tile_part *p)
{
    tg_rect n = squares(&p->tile, CELL_PX, &p->wanted);

    for (uint32_t row = n.y; row < n.y + n.h; row++)
        for (uint32_t col = n.x; col < n.x + n.w; col++) {
            tg_tile_key key = cell_key(j, p, col, row);
            const uint8_t *pixels = tg_tile_cache_get(&key);
            tg_rect cell = square(&p->tile, CELL_PX, col, row);

            if (!pixels)
                return false;
            copy_cell(j, p, &cell, pixels);
        }
    return true;
}

static void keep_cells(const tg_jp2 *j, const tile_part *p, const opj_image_t *image)
{
    tg_rect n = squares(&p->tile, CELL_PX, &p->unit);

    for (uint32_t row = n.y; row < n.y + n.h; row++)
        for (uint32_t col = n.x; col < n.x + n.w; col++) {
            tg_tile_key key = cell_key(j, p, col, row);
            tg_rect cell = square(&p->tile, CELL_PX, col, row);
            size_t stride = cell.w * tg_native_bytes(j->base.native);
            uint8_t *pixels = tg_tile_cache_put(&key, cell.h * stride);
            tg_err err = {0};

            if (pixels && !tg_j2k_place(&j->form, &j->codestream.header, image, p->k, cell, pixels,
                                        stride, &err))
                tg_tile_cache_drop(&key);
        }
}

static bool decode_unit(tg_jp2 *j, const tile_part *p, tg_err *err)
{
    opj_image_t *image = decode(j, p, &p->unit, err);
    bool ok = image && place(j, p, image, &p->wanted, err);

    if (ok)
        keep_cells(j, p, image);
    opj_image_destroy(image);
    return ok;
}

/* Whether parts have by now cost as much as all of the unit; a part of some pixels costs as much as
 * PART_PRICE times as many of the whole. */
static bool is_paid_for(tg_jp2 *j, const tile_part *p)
{
    uint64_t all = (uint64_t)p->unit.w * p->unit.h, some = (uint64_t)p->wanted.w * p->wanted.h;
    tg_jp2_touch *t = j->touched;

    while (t < j->touched + TG_JP2_TOUCHES &&
           (t->level != p->k + 1 || t->x != p->unit.x || t->y != p->unit.y))
        t++;
    if (t == j->touched + TG_JP2_TOUCHES) {
        t = &j->touched[j->next_touch++ % TG_JP2_TOUCHES];
        *t = (tg_jp2_touch){p->k + 1, p->unit.x, p->unit.y, 0};
    }
    t->px += some;
    return t->px * PART_PRICE >= all;
}

/* The first parts of a unit are decoded by themselves. After some the rest is likely to be asked
 * for, too, and together it costs less. */
static bool read_unit(tg_jp2 *j, const tile_part *p, tg_err *err)
{
    uint64_t all = (uint64_t)p->unit.w * p->unit.h, some = (uint64_t)p->wanted.w * p->wanted.h;
    size_t bytes = all * tg_native_bytes(j->base.native);

    if (copy_cells(j, p))
        return true;
    if (bytes <= tg_tile_cache_budget() / 2 &&
        (some >= all / 2 || is_decoded_whole(j) || is_paid_for(j, p)))
        return decode_unit(j, p, err);
    return decode_parts(j, p, err);
}

/* What has no use for the cache is not cut into units: a part of a large tile has its price. */
static bool read_tile(tg_jp2 *j, const tile_part *p, tg_err *err)
{
    uint64_t all = (uint64_t)p->tile.w * p->tile.h;
    uint32_t side_px = is_decoded_whole(j) || all <= 2 * UNIT_PX * UNIT_PX
                           ? TG_MAX(p->tile.w, p->tile.h)
                           : UNIT_PX;
    tg_rect n = squares(&p->tile, side_px, &p->wanted);

    if (!j->base.keep_tiles)
        return decode_parts(j, p, err);
    for (uint32_t row = n.y; row < n.y + n.h; row++)
        for (uint32_t col = n.x; col < n.x + n.w; col++) {
            tile_part unit = *p;

            unit.unit = square(&p->tile, side_px, col, row);
            intersect(&unit.unit, &p->wanted, &unit.wanted);
            unit.dst = pixel_of(j, p, unit.wanted.x, unit.wanted.y);
            if (!read_unit(j, &unit, err))
                return false;
        }
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
    if (!j->told) /* of one tile for all */
        tg_log_file("tile %u, %u of a JPEG 2000 codestream is left white: %s", p->col, p->row,
                    err->detail[0] ? err->detail : err->msg);
    j->told = true;
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
        if (!is_decoded_whole(j))
            area = area_of(j, &p, &p.wanted);
    }
    return tg_j2k_decode_bytes(h, &tile, &area, level, h->n_components) +
           j->codestream.source.n_bytes / per_tile;
}
