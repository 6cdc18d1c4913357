/* Point and geometric operations on rows and rasters, all formats of tg_pixfmt.
 * (Alpha, gray, bitonal, depth, mirror, quarter turns, arbitrary rotation.) */
#ifndef TEGULA_RASTER_H
#define TEGULA_RASTER_H

#include <stddef.h>
#include <stdint.h>

#include "tegula/pixel.h"

/* Row operations: n pixels; dst may be src unless said otherwise. Results are rounded to nearest.
 */

/* 16 bit to 8 bit: round(v * 255 / 65535). n_samples = pixels * channels. */
void tg_row_16_to_8(uint8_t *dst, const uint16_t *src, size_t n_samples);
/* Alpha over an opaque gray-or-RGB background; 4 -> 3 or 2 -> 1 channels. bg: one 8-bit sample per
 * colour channel (scaled by 257 for 16 bit). */
void tg_row_flatten(void *dst, const void *src, tg_pixfmt src_fmt, size_t n, const uint8_t bg[3]);
/* Rec. 601 luma, (19595 R + 38470 G + 7471 B + 32768) >> 16; 3 -> 1 or 4 -> 2 channels. */
void tg_row_gray(void *dst, const void *src, tg_pixfmt src_fmt, size_t n);
/* Gray (1 channel) to 0 or the maximum; v >= half gives the maximum. */
void tg_row_bitonal(void *dst, const void *src, tg_pixfmt fmt, size_t n);
/* Adds an alpha channel, fully opaque; 1 -> 2 or 3 -> 4 channels; dst must not overlap src. */
void tg_row_add_alpha(void *dst, const void *src, tg_pixfmt src_fmt, size_t n);
/* 1 -> 3 or 2 -> 4 channels; dst must not overlap src. */
void tg_row_gray_to_rgb(void *dst, const void *src, tg_pixfmt src_fmt, size_t n);
/* Adds to the colours of dst, up to the maximum. addend: pixels of dst_fmt without its alpha. */
void tg_row_add(void *dst, const void *addend, tg_pixfmt dst_fmt, size_t n);
/* Left-right mirror in place. */
void tg_row_mirror(void *row, tg_pixfmt fmt, size_t n);

/* Whole rasters; strides in bytes. */

/* Clockwise by quarter = 1, 2 or 3 quarter turns; dst is h x w pixels for 1 and 3. No overlap. */
void tg_raster_turn(void *dst, size_t dst_stride, const void *src, size_t src_stride, tg_pixfmt fmt,
                    uint32_t w, uint32_t h, unsigned quarter);

/* Size of the tight box around w x h turned clockwise by degrees:
 * |w cos| + |h sin| by |h cos| + |w sin|, rounded up but for 1e-6. */
void tg_rotated_size(uint32_t w, uint32_t h, double degrees, uint32_t *out_w, uint32_t *out_h);

/* Clockwise rotation about the centre into a raster of tg_rotated_size. fmt must have alpha: pixels
 * outside the source become transparent, the border is antialiased through alpha; cubic sampling
 * (Catmull-Rom) with alpha premultiplied. Rows [y0, y1) of the output only, written from dst. */
void tg_raster_rotate(void *dst, size_t dst_stride, const void *src, size_t src_stride,
                      tg_pixfmt fmt, uint32_t w, uint32_t h, double degrees, uint32_t y0,
                      uint32_t y1);

#endif
