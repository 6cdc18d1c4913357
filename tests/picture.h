/* The pictures that mkpyramid paints, row by row, so that any size fits in little memory. */
#ifndef TEGULA_TESTS_PICTURE_H
#define TEGULA_TESTS_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct picture picture;

/* kind:
 *   ramp           red 255 x / (width-1), green 255 y / (height-1), blue a 16-px checkerboard;
 *                  gray: 255 x / (width-1)
 *   corners        gray 128 with 100-px squares: red top left, green top right, blue bottom left,
 *                  white bottom right
 *   flat:R,G,B     one colour of 8-bit values, turned R -> G -> B -> R from page to page
 *   sample         a map of an invented archipelago, with detail at every scale
 * channels: 1 gray, 3 RGB; with alpha one more: 0 in the left half, opaque in the right.
 * bits: 8 or 16. Values are rounded to nearest. NULL when kind is unknown. */
picture *picture_new(const char *kind, uint32_t width_px, uint32_t height_px, unsigned channels,
                     bool alpha, unsigned bits, unsigned page);
void picture_free(picture *p);

/* Row y of interleaved samples. The sample picture wants its rows in order. */
void picture_row(picture *p, uint32_t y, void *row);

#endif
