/* Pixel layout and rectangles, shared by every module that touches pixels. */
#ifndef TEGULA_PIXEL_H
#define TEGULA_PIXEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Interleaved samples in native byte order. channels: 1 gray, 2 gray+alpha, 3 RGB, 4 RGBA.
 * Alpha is always the last channel and straight (not premultiplied) outside the resampler. */
typedef struct tg_pixfmt {
    uint8_t channels; /* 1..4 */
    uint8_t bits;     /* 8 or 16 per sample */
} tg_pixfmt;

static inline bool tg_pixfmt_alpha(tg_pixfmt f)
{
    return f.channels == 2 || f.channels == 4;
}

static inline size_t tg_pixfmt_bytes(tg_pixfmt f)
{
    return (size_t)f.channels * (f.bits / 8);
}

typedef struct tg_rect {
    uint32_t x, y, w, h; /* px */
} tg_rect;

#endif
