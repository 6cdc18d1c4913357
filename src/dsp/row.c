/* Point operations on rows. */
#include <stdbool.h>
#include <string.h>

#include "tegula/raster.h"

#define BLOCK 16

#define SAMPLE  uint8_t
#define MAX     255u
#define NAME(x) x##8
#include "row_tmpl.h"

#define SAMPLE  uint16_t
#define MAX     65535u
#define NAME(x) x##16
#include "row_tmpl.h"

/* round(v / 257), exact for all 65536 values; every step fits 16 bits. */
static inline uint8_t to_8(uint16_t v)
{
    uint16_t scaled = (uint16_t)(v - (v >> 8) + 128 - ((v >> 7) & 1));
    return (uint8_t)(scaled >> 8);
}

void tg_row_16_to_8(uint8_t *dst, const uint16_t *src, size_t n_samples)
{
    size_t i = 0;
    /* Blocks of a constant length, with no store among the loads, are compiled to vectors. */
    for (; i + BLOCK <= n_samples; i += BLOCK) {
        uint8_t block[BLOCK];
        for (size_t k = 0; k < BLOCK; k++)
            block[k] = to_8(src[i + k]);
        memcpy(dst + i, block, BLOCK);
    }
    for (; i < n_samples; i++)
        dst[i] = to_8(src[i]);
}

void tg_row_flatten(void *dst, const void *src, tg_pixfmt src_fmt, size_t n, const uint8_t bg[3])
{
    if (src_fmt.bits == 8)
        flatten_any8(dst, src, src_fmt.channels - 1u, n, bg);
    else
        flatten_any16(dst, src, src_fmt.channels - 1u, n, bg);
}

void tg_row_gray(void *dst, const void *src, tg_pixfmt src_fmt, size_t n)
{
    if (src_fmt.bits == 8)
        gray8(dst, src, src_fmt.channels == 4, n);
    else
        gray16(dst, src, src_fmt.channels == 4, n);
}

void tg_row_bitonal(void *dst, const void *src, tg_pixfmt fmt, size_t n)
{
    if (fmt.bits == 8)
        bitonal8(dst, src, n);
    else
        bitonal16(dst, src, n);
}

void tg_row_add_alpha(void *dst, const void *src, tg_pixfmt src_fmt, size_t n)
{
    if (src_fmt.bits == 8)
        add_alpha_any8(dst, src, src_fmt.channels, n);
    else
        add_alpha_any16(dst, src, src_fmt.channels, n);
}

void tg_row_gray_to_rgb(void *dst, const void *src, tg_pixfmt src_fmt, size_t n)
{
    if (src_fmt.bits == 8)
        gray_to_rgb8(dst, src, src_fmt.channels == 2, n);
    else
        gray_to_rgb16(dst, src, src_fmt.channels == 2, n);
}

void tg_row_add(void *dst, const void *addend, tg_pixfmt dst_fmt, size_t n)
{
    if (dst_fmt.bits == 8)
        add_any8(dst, addend, dst_fmt.channels, n);
    else
        add_any16(dst, addend, dst_fmt.channels, n);
}

void tg_row_mirror(void *row, tg_pixfmt fmt, size_t n)
{
    if (fmt.bits == 8)
        mirror8(row, fmt.channels, n);
    else
        mirror16(row, fmt.channels, n);
}
