/* From samples as TIFF stores them to rows of the image's native pixels. */
#include <string.h>

#include "tiff.h"

bool tg_tiff_same_layout(const tg_tiff_dir *dir)
{
    return !dir->planes && !dir->ranged && dir->coding != TG_TIFF_INDEXED &&
           dir->coarse_h * dir->coarse_v == 1 &&
           dir->raw_samples == tg_native_channels(dir->native) && dir->raw_bits == dir->native.bits;
}

static unsigned index_at(const tg_tiff_dir *dir, const uint8_t *row, uint64_t bit)
{
    uint16_t v;

    if (dir->raw_bits != 16)
        return tg_tiff_packed(row, bit, dir->raw_bits);
    memcpy(&v, row + bit / 8, sizeof v);
    return v;
}

static void place_indexed(const tg_tiff_level *lv, const tg_tiff_channel *c, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t bit = c->first_bit + (uint64_t)i * c->step_bits;

        memcpy(c->dst + i * c->dst_step, lv->palette[index_at(&lv->dir, c->row, bit)], 3);
    }
}

/* A channel of n pixels from x on, of a row with `samples` of them in each pixel. */
static void place_channel(const tg_tiff *t, const tg_tiff_part *p, uint8_t *dst, const uint8_t *row,
                          uint32_t x, unsigned channel, unsigned samples, unsigned sample)
{
    const tg_tiff_level *lv = &t->level[p->level];
    const tg_tiff_dir *dir = &lv->dir;
    unsigned step_bits = samples * dir->raw_bits;
    tg_tiff_channel c = {.row = row,
                         .first_bit = (uint64_t)x * step_bits + sample * dir->raw_bits,
                         .step_bits = step_bits,
                         .min = t->base.range_min[channel],
                         .max = t->base.range_max[channel],
                         .dst = dst + channel * (dir->native.bits / 8u),
                         .dst_step = tg_native_bytes(dir->native)};

    if (dir->coding == TG_TIFF_INDEXED && channel == 0)
        place_indexed(lv, &c, p->in.w);
    else if (dir->coding != TG_TIFF_INDEXED || channel > 2)
        tg_tiff_spread(dir, &c, p->in.w);
}

void tg_tiff_place(const tg_tiff *t, const tg_tiff_part *p, uint32_t i, const uint8_t *row,
                   uint32_t x, unsigned line)
{
    const tg_tiff_level *lv = &t->level[p->level];
    const tg_tiff_dir *dir = &lv->dir;
    size_t px_bytes = tg_native_bytes(dir->native);
    uint8_t *dst;

    if (p->extremes) {
        tg_tiff_extremes_row(lv, p->extremes, row, x, p->in.w);
        return;
    }
    dst = p->dst + i * p->stride;
    if (dir->coarse_h * dir->coarse_v > 1)
        tg_tiff_ycc_unblock(dir, dst, row, line, x, p->in.w);
    else if (tg_tiff_same_layout(dir))
        memcpy(dst, row + x * px_bytes, p->in.w * px_bytes);
    else
        for (unsigned c = 0; c < tg_native_channels(dir->native); c++)
            place_channel(t, p, dst, row, x, c, dir->raw_samples, tg_tiff_sample(dir, c));
}

static void place_coarse(const tg_tiff_dir *dir, uint8_t *dst, const uint8_t *row, uint32_t x,
                         uint32_t n, unsigned channel)
{
    unsigned bytes = dir->native.bits / 8, h = tg_tiff_plane_h(dir, channel);
    size_t step = tg_native_bytes(dir->native);

    for (uint32_t i = 0; i < n; i++)
        memcpy(dst + i * step + channel * bytes, row + (size_t)((x + i) / h) * bytes, bytes);
}

void tg_tiff_place_plane(const tg_tiff *t, const tg_tiff_part *p, uint32_t i, const uint8_t *row,
                         uint32_t x, unsigned channel)
{
    const tg_tiff_level *lv = &t->level[p->level];
    const tg_tiff_dir *dir = &lv->dir;
    bool alpha = dir->native.alpha && channel + 1 == tg_native_channels(dir->native);

    if (p->extremes && !alpha)
        tg_tiff_extremes_row(lv, p->extremes, row, x, p->in.w);
    if (p->extremes)
        return;
    if (tg_tiff_is_coarse(dir, channel))
        place_coarse(dir, p->dst + i * p->stride, row, x, p->in.w, channel);
    else
        place_channel(t, p, p->dst + i * p->stride, row, x, channel, 1, 0);
}

static void invert(uint8_t *row, tg_native native, uint32_t n)
{
    size_t step = tg_native_bytes(native);
    size_t bytes = (tg_native_channels(native) - native.alpha) * (native.bits / 8u);

    for (uint32_t i = 0; i < n; i++)
        for (size_t b = 0; b < bytes; b++)
            row[i * step + b] ^= 0xff;
}

static uint32_t straight(uint32_t v, uint32_t alpha, uint32_t max)
{
    uint32_t s = alpha ? (v * max + alpha / 2) / alpha : 0;

    return s < max ? s : max;
}

static void unpremultiply_8(uint8_t *px, unsigned channels, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, px += channels) {
        uint8_t alpha = px[channels - 1];

        for (unsigned c = 0; alpha != 255 && c < channels - 1; c++)
            px[c] = (uint8_t)straight(px[c], alpha, 255);
    }
}

static void unpremultiply_16(uint16_t *px, unsigned channels, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, px += channels) {
        uint16_t alpha = px[channels - 1];

        for (unsigned c = 0; alpha != 65535 && c < channels - 1; c++)
            px[c] = (uint16_t)straight(px[c], alpha, 65535);
    }
}

void tg_tiff_finish(const tg_tiff_level *lv, uint8_t *row, uint32_t n)
{
    const tg_tiff_dir *dir = &lv->dir;

    if (dir->coding == TG_TIFF_NEGATIVE)
        invert(row, dir->native, n);
    else if (dir->coding == TG_TIFF_YCC)
        tg_tiff_ycc_to_rgb(lv, row, n);
    else if (dir->coding == TG_TIFF_LAB && !dir->ranged)
        tg_tiff_lab(dir, row, n);
    /* Lab has no black to multiply with. */
    if (!dir->premultiplied || dir->native.space == TG_SPACE_LAB)
        return;
    if (dir->native.bits == 8)
        unpremultiply_8(row, tg_native_channels(dir->native), n);
    else
        unpremultiply_16((uint16_t *)(void *)row, tg_native_channels(dir->native), n);
}
