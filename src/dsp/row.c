/* Point operations on rows. */
#include <stdbool.h>

#include "tegula/raster.h"

#define SAMPLE  uint8_t
#define MAX     255u
#define NAME(x) x##8
#include "row_tmpl.h"

#define SAMPLE  uint16_t
#define MAX     65535u
#define NAME(x) x##16
#include "row_tmpl.h"

void tg_row_16_to_8(uint8_t *dst, const uint16_t *src, size_t n_samples)
{
    for (size_t i = 0; i < n_samples; i++)
        dst[i] = (uint8_t)((src[i] * 255u + 32895u) >> 16); /* exact for all 65536 values */
}

void tg_row_flatten(void *dst, const void *src, tg_pixfmt src_fmt, size_t n, const uint8_t bg[3])
{
    if (src_fmt.bits == 8)
        flatten8(dst, src, src_fmt.channels - 1u, n, bg);
    else
        flatten16(dst, src, src_fmt.channels - 1u, n, bg);
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
        add_alpha8(dst, src, src_fmt.channels, n);
    else
        add_alpha16(dst, src, src_fmt.channels, n);
}

void tg_row_gray_to_rgb(void *dst, const void *src, tg_pixfmt src_fmt, size_t n)
{
    if (src_fmt.bits == 8)
        gray_to_rgb8(dst, src, src_fmt.channels == 2, n);
    else
        gray_to_rgb16(dst, src, src_fmt.channels == 2, n);
}

void tg_row_mirror(void *row, tg_pixfmt fmt, size_t n)
{
    if (fmt.bits == 8)
        mirror8(row, fmt.channels, n);
    else
        mirror16(row, fmt.channels, n);
}
