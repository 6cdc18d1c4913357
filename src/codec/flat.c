#include "flat.h"

#include <string.h>
#include <unistd.h>

#include "scratch.h"
#include "tegula/abandon.h"
#include "tegula/log.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/tile_cache.h"

/* Of the rows that a tile wants, the cache gets as many columns as a few tiles have: those above
 * must be decoded anyway, for each tile again. At any reduction. */
#define BAND_PX  64
#define BLOCK_PX 2048
#define SKIP_PX  512 /* rows between two questions whether the answer is still wanted */

void tg_flat_init(tg_flat *f, const tg_codec *codec, const tg_flat_ops *ops, int fd,
                  uint64_t size_bytes, uint32_t width_px, uint32_t height_px)
{
    f->base.codec = codec;
    f->base.fd = fd;
    f->base.orientation = 1;
    f->base.n_levels = 1;
    f->base.level[0] = (tg_level){.width_px = width_px,
                                  .height_px = height_px,
                                  .tile_w_px = TG_MIN(width_px, (uint32_t)BLOCK_PX),
                                  .tile_h_px = TG_MIN(height_px, (uint32_t)BAND_PX),
                                  .cols = tg_ceil_div_u32(width_px, BLOCK_PX),
                                  .rows = tg_ceil_div_u32(height_px, BAND_PX)};
    f->ops = ops;
    f->size_bytes = size_bytes;
    f->cache_id = tg_tile_cache_new_image();
}

uint8_t tg_flat_reduction(const tg_flat *f, unsigned max)
{
    const tg_level *lv = &f->base.level[0];
    unsigned k = 0;

    while (k < max && lv->width_px >> (k + 1) && lv->height_px >> (k + 1))
        k++;
    return (uint8_t)k;
}

bool tg_flat_admit(uint64_t bytes, tg_err *err)
{
    size_t ceiling = tg_image_ceiling(), in_use = tg_image_in_use();

    if (in_use <= ceiling && bytes <= ceiling - in_use)
        return true;
    return tg_fail(err, TG_ERR_TOO_LARGE, "the image needs more memory than this server allows");
}

void tg_flat_copy(const tg_flat *f, const uint8_t *raster, uint8_t *dst, size_t stride, uint32_t n)
{
    size_t row_bytes = f->w * tg_native_bytes(f->base.native);

    for (uint32_t i = 0; i < n; i++)
        memcpy(dst + i * stride, raster + (f->next_row + i) * row_bytes, row_bytes);
}

static void stop(tg_flat *f)
{
    if (f->live)
        f->ops->stop(f);
    f->live = false;
}

void tg_flat_rest(tg_image *img)
{
    tg_flat *f = (tg_flat *)img;

    if (f->costly)
        stop(f);
}

void tg_flat_close(tg_flat *f)
{
    stop(f);
    tg_tile_cache_drop_image(f->cache_id);
    close(f->base.fd);
}

static uint32_t height_px(const tg_flat *f, unsigned k)
{
    return tg_reduced_px(f->base.level[0].height_px, k);
}

static void blank(const tg_flat *f, uint8_t *dst, size_t stride, uint32_t n)
{
    bool ink = f->base.native.space == TG_SPACE_CMYK;

    for (uint32_t i = 0; dst && i < n; i++)
        memset(dst + i * stride, ink ? 0 : 0xff, f->w * tg_native_bytes(f->base.native));
}

bool tg_flat_overlook(const tg_flat *f, tg_err *err)
{
    if (!f->base.options.lenient || err->kind != TG_ERR_CORRUPT)
        return false;
    tg_log_file("a %s file is damaged and shown as far as it goes: %s%s%s", f->base.codec->name,
                err->msg, err->detail[0] ? ": " : "", err->detail);
    *err = (tg_err){0};
    return true;
}

/* One row at a time where damage may have to be found; of dropped rows it does not matter which. */
static bool next_rows(tg_flat *f, uint8_t *dst, size_t stride, uint32_t n, tg_err *err)
{
    uint32_t step = f->base.options.lenient && dst ? 1 : n;

    for (uint32_t done = 0; done < n; done += step) {
        uint8_t *to = dst ? dst + done * stride : NULL;

        if (!f->broken && !f->ops->rows(f, to, stride, step, err)) {
            if (f->next_row == 0 || !tg_flat_overlook(f, err))
                return false; /* without a first row there is nothing to show */
            f->broken = true;
        }
        if (f->broken)
            blank(f, to, stride, step);
        f->next_row += step;
    }
    return true;
}

static bool goes_on(const tg_flat *f, unsigned k, uint32_t x, uint32_t w, uint32_t y)
{
    return f->live && f->k == k && f->next_row <= y && f->x <= x && x + w <= f->x + f->w;
}

static bool start(tg_flat *f, unsigned k, uint32_t x, uint32_t w, tg_err *err)
{
    stop(f);
    f->live = true;
    f->broken = false;
    f->k = k;
    f->x = x;
    f->w = w;
    f->next_row = 0;
    return f->ops->start(f, err);
}

/* Leaves the decoder before row y. */
static bool go_to(tg_flat *f, unsigned k, uint32_t x, uint32_t w, uint32_t y, tg_err *err)
{
    if (!goes_on(f, k, x, w, y) && !start(f, k, x, w, err))
        return false;
    while (f->next_row < y)
        if (!tg_still_wanted(err) ||
            !next_rows(f, NULL, 0, TG_MIN(y - f->next_row, (uint32_t)SKIP_PX), err))
            return false;
    return true;
}

static bool decode_rows(tg_flat *f, tg_rect rect, uint8_t *dst, size_t stride, tg_err *err)
{
    size_t px_bytes = tg_native_bytes(f->base.native);
    uint8_t *row;

    if (rect.x == f->x && rect.w == f->w)
        return next_rows(f, dst, stride, rect.h, err);
    row = tg_scratch(f->w, px_bytes, err);
    for (uint32_t i = 0; row && i < rect.h; i++) {
        if (!next_rows(f, row, 0, 1, err))
            return false;
        memcpy(dst + i * stride, row + (rect.x - f->x) * px_bytes, rect.w * px_bytes);
    }
    return row != NULL;
}

static bool decode(tg_flat *f, unsigned k, tg_rect rect, uint8_t *dst, size_t stride, tg_err *err)
{
    bool ok = go_to(f, k, rect.x, rect.w, rect.y, err) && decode_rows(f, rect, dst, stride, err);

    if (!ok || f->next_row == height_px(f, k))
        stop(f);
    return ok;
}

static uint32_t width_px(const tg_flat *f, unsigned k)
{
    return tg_reduced_px(f->base.level[0].width_px, k);
}

/* Where a part costs as much as all, all is kept if there is room. */
static bool keeps_all(const tg_flat *f, unsigned k)
{
    uint64_t px = (uint64_t)width_px(f, k) * height_px(f, k);

    return f->costly && px <= tg_tile_cache_budget() / 2 / tg_native_bytes(f->base.native);
}

/* What the cache holds as one: a block of BLOCK_PX columns, a whole band where all is kept. */
static tg_rect block_of(const tg_flat *f, const tg_tile_key *key)
{
    uint32_t w = width_px(f, key->k), each = keeps_all(f, key->k) ? w : BLOCK_PX;
    uint32_t x = key->col * each, y = key->row * BAND_PX;

    return (tg_rect){x, y, TG_MIN(each, w - x),
                     TG_MIN((uint32_t)BAND_PX, height_px(f, key->k) - y)};
}

/* A block decoded into the cache; NULL without an error when the cache does not take it. */
static const uint8_t *fill_block(tg_flat *f, const tg_tile_key *key, tg_err *err)
{
    tg_rect block = block_of(f, key);
    size_t stride = block.w * tg_native_bytes(f->base.native);
    uint8_t *pixels = tg_tile_cache_put(key, block.h * stride);

    if (!pixels || decode(f, key->k, block, pixels, stride, err))
        return pixels;
    tg_tile_cache_drop(key);
    return NULL;
}

static const uint8_t *cached_block(tg_flat *f, const tg_tile_key *key, tg_err *err)
{
    const uint8_t *pixels = tg_tile_cache_get(key);
    tg_tile_key each = *key;
    uint32_t bands = tg_ceil_div_u32(height_px(f, key->k), BAND_PX);

    if (pixels)
        return pixels;
    if (!keeps_all(f, key->k))
        return fill_block(f, key, err);
    for (each.row = 0; each.row < bands; each.row++)
        if (!tg_tile_cache_get(&each) && !fill_block(f, &each, err))
            return NULL;
    return tg_tile_cache_get(key);
}

/* rect lies within a band. Across blocks the decoder would go up and down between them. */
static bool read_band(tg_flat *f, unsigned k, tg_rect rect, uint8_t *dst, size_t stride,
                      tg_err *err)
{
    uint32_t col = keeps_all(f, k) ? 0 : rect.x / BLOCK_PX;
    tg_tile_key key = {f->cache_id, col, rect.y / BAND_PX, 0, (uint16_t)k};
    tg_rect block = block_of(f, &key);
    size_t px_bytes = tg_native_bytes(f->base.native), block_stride = block.w * px_bytes;
    bool inside = rect.x + rect.w <= block.x + block.w;
    const uint8_t *pixels = f->base.keep_tiles && inside ? cached_block(f, &key, err) : NULL;

    if (!pixels)
        return err->kind == TG_ERR_NONE && decode(f, k, rect, dst, stride, err);
    pixels += (rect.y - block.y) * block_stride + (rect.x - block.x) * px_bytes;
    for (uint32_t i = 0; i < rect.h; i++)
        memcpy(dst + i * stride, pixels + i * block_stride, rect.w * px_bytes);
    return true;
}

bool tg_flat_read(tg_image *img, unsigned level, unsigned k, tg_rect rect, void *dst,
                  size_t dst_stride, tg_err *err)
{
    tg_flat *f = (tg_flat *)img;
    uint8_t *line = dst;
    bool ok = true;

    (void)level;
    for (uint32_t end = rect.y + rect.h; ok && rect.w > 0 && rect.y < end; rect.y += rect.h) {
        rect.h = TG_MIN(BAND_PX - rect.y % BAND_PX, end - rect.y);
        ok = read_band(f, k, rect, line, dst_stride, err);
        line += rect.h * dst_stride;
    }
    tg_scratch_trim();
    return ok;
}
