/* From samples as TIFF stores them to rows of the image's pixel format. */
#include <string.h>

#include "tiff.h"

/* n samples, each step bytes after the last, on both sides. */
static void copy_channel(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,
                         uint32_t n, size_t bytes)
{
    if (bytes == 1) {
        for (uint32_t i = 0; i < n; i++)
            dst[i * dst_step] = src[i * src_step];
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        memcpy(dst + i * dst_step, src + i * src_step, 2);
}

/* Sample i of a row packed with bits = 1, 2, 4 or 8, first sample in the high bits. */
static unsigned packed_sample(const uint8_t *row, uint32_t i, unsigned bits)
{
    unsigned per_byte = 8 / bits;

    return (row[i / per_byte] >> (8 - bits * (i % per_byte + 1))) & ((1u << bits) - 1);
}

static void place_palette(const tg_tiff_level *lv, uint8_t *dst, const uint8_t *row, uint32_t x,
                          uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, dst += 3)
        memcpy(dst, lv->palette[packed_sample(row, x + i, lv->dir.bits)], 3);
}

static void place_few_bits(const tg_tiff_dir *dir, uint8_t *dst, const uint8_t *row, uint32_t x,
                           uint32_t n)
{
    unsigned scale = 255 / ((1u << dir->bits) - 1); /* exact for 1, 2 and 4 bits */

    for (uint32_t i = 0; i < n; i++)
        dst[i] = (uint8_t)(packed_sample(row, x + i, dir->bits) * scale);
}

bool tg_tiff_same_layout(const tg_tiff_dir *dir)
{
    return !dir->planes && dir->samples == dir->fmt.channels && dir->bits == dir->fmt.bits;
}

void tg_tiff_place(const tg_tiff_level *lv, uint8_t *dst, const uint8_t *row, uint32_t x,
                   uint32_t n)
{
    const tg_tiff_dir *dir = &lv->dir;
    size_t bytes = dir->fmt.bits / 8, src_step = bytes * dir->samples;

    if (lv->palette)
        place_palette(lv, dst, row, x, n);
    else if (dir->bits < 8)
        place_few_bits(dir, dst, row, x, n);
    else if (tg_tiff_same_layout(dir))
        memcpy(dst, row + x * src_step, n * src_step);
    else
        for (unsigned c = 0; c < dir->fmt.channels; c++)
            copy_channel(dst + c * bytes, bytes * dir->fmt.channels,
                         row + x * src_step + tg_tiff_sample(dir, c) * bytes, src_step, n, bytes);
}

void tg_tiff_place_plane(const tg_tiff_level *lv, uint8_t *dst, const uint8_t *row, uint32_t x,
                         uint32_t n, unsigned channel)
{
    size_t bytes = lv->dir.fmt.bits / 8;

    copy_channel(dst + channel * bytes, bytes * lv->dir.fmt.channels, row + x * bytes, bytes, n,
                 bytes);
}

static void invert(uint8_t *row, tg_pixfmt fmt, uint32_t n)
{
    size_t bytes = fmt.bits / 8, step = tg_pixfmt_bytes(fmt);

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

void tg_tiff_finish(const tg_tiff_dir *dir, uint8_t *row, uint32_t n)
{
    if (dir->photometric == PHOTOMETRIC_MINISWHITE)
        invert(row, dir->fmt, n);
    if (!dir->alpha || !dir->premultiplied)
        return;
    if (dir->fmt.bits == 8)
        unpremultiply_8(row, dir->fmt.channels, n);
    else
        unpremultiply_16((uint16_t *)(void *)row, dir->fmt.channels, n);
}
