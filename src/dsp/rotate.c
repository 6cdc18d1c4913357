/* Rotation by any angle. The inverse map gives each output pixel a place in the source, where a
 * Catmull-Rom kernel is laid over premultiplied pixels, edges repeating; alpha is then multiplied
 * by how much of the pixel the source covers, which antialiases the border without touching colour.
 */
#include <math.h>
#include <string.h>

#include "tegula/num.h"
#include "tegula/raster.h"

#define PHASES 1024

/* Cosine and sine, exact at the quarter turns. */
static void turn_of(double degrees, double *c, double *s)
{
    static const double cosines[4] = {1, 0, -1, 0};
    double quarters = fmod(degrees, 360) / 90;
    if (quarters == floor(quarters)) {
        int q = (int)quarters & 3;
        *c = cosines[q];
        *s = cosines[(q + 3) & 3];
        return;
    }
    *c = cos(degrees * M_PI / 180);
    *s = sin(degrees * M_PI / 180);
}

void tg_rotated_size(uint32_t w, uint32_t h, double degrees, uint32_t *out_w, uint32_t *out_h)
{
    double c, s;
    turn_of(degrees, &c, &s);
    *out_w = (uint32_t)ceil(fabs(w * c) + fabs(h * s) - 1e-6);
    *out_h = (uint32_t)ceil(fabs(h * c) + fabs(w * s) - 1e-6);
}

typedef float vec4 __attribute__((vector_size(16)));

/* The four weights around a place, for its fraction in 1/PHASES. */
static const float (*kernel(void))[4]
{
    static float table[PHASES + 1][4];
    if (table[0][1] == 1)
        return (const float(*)[4])table;
    for (int i = PHASES; i >= 0; i--) {
        double f = (double)i / PHASES, g = 1 - f;
        table[i][0] = (float)(-0.5 * f * g * g);
        table[i][1] = (float)((1.5 * f - 2.5) * f * f + 1);
        table[i][2] = (float)((1.5 * g - 2.5) * g * g + 1);
        table[i][3] = (float)(-0.5 * g * f * f);
    }
    return (const float(*)[4])table;
}

typedef struct image {
    const uint8_t *at;
    size_t stride;
    int64_t w, h;
} image;

/* How much of the pixel centred on (x, y) lies on the image, 0..1. */
static float cover(const image *im, double x, double y)
{
    double dx = fmin(x, (double)im->w - x) + 0.5, dy = fmin(y, (double)im->h - y) + 0.5;
    return (float)(fmax(0, fmin(dx, 1)) * fmax(0, fmin(dy, 1)));
}

static int64_t clamp(int64_t v, int64_t last)
{
    return v < 0 ? 0 : v > last ? last : v;
}

/* The place's first tap and weights on one axis. */
static const float *taps_at(double place, int64_t last, int64_t tap[4])
{
    double shifted = place - 0.5, whole = floor(shifted);
    for (int t = 0; t < 4; t++)
        tap[t] = clamp((int64_t)whole - 1 + t, last);
    return kernel()[(int)((shifted - whole) * PHASES + 0.5)];
}

#define SAMPLE  uint8_t
#define MAX     255
#define NAME(x) x##8
#include "rotate_tmpl.h"

#define SAMPLE  uint16_t
#define MAX     65535
#define NAME(x) x##16
#include "rotate_tmpl.h"

void tg_raster_rotate(void *dst, size_t dst_stride, const void *src, size_t src_stride,
                      tg_pixfmt fmt, uint32_t w, uint32_t h, double degrees, uint32_t y0,
                      uint32_t y1)
{
    image im = {src, src_stride, w, h};
    uint32_t out_w, out_h;
    double c, s;
    turn_of(degrees, &c, &s);
    tg_rotated_size(w, h, degrees, &out_w, &out_h);
    for (uint32_t y = y0; y < y1; y++) {
        double right = 0.5 - out_w / 2.0, down = y + 0.5 - out_h / 2.0;
        double place[2] = {w / 2.0 + right * c + down * s, h / 2.0 - right * s + down * c};
        double move[2] = {c, -s};
        void *row = (uint8_t *)dst + (size_t)(y - y0) * dst_stride;
        if (fmt.bits == 8)
            rotate_row8(row, &im, fmt.channels, out_w, place, move);
        else
            rotate_row16(row, &im, fmt.channels, out_w, place, move);
    }
}
