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
typedef int32_t ints4 __attribute__((vector_size(16)));

/* The four weights around a place, for its fraction in 1/PHASES. */
static const float (*kernel(void))[4]
{
    static float table[PHASES + 1][4];
    for (int i = 0; table[PHASES][2] != 1 && i <= PHASES; i++) {
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
    const float (*kernel)[4];
} image;

/* A pixel's colours in the first three lanes, 1 in the last; alpha apart. RGBA lanes hold what
 * SCALE undoes, for that is how four bytes become four floats without a shuffle. */
typedef struct pixel {
    vec4 colour;
    float alpha;
} pixel;

static const vec4 SCALE8 = {1, 1 / 256.0f, 1 / 65536.0f, 1}, SCALE16 = {1, 1, 1, 1};

static inline pixel rgba8(const uint8_t *px)
{
    const ints4 mask = {0xff, 0xff00, 0xff0000, 0}, one = {0, 0, 0, 1};
    uint32_t word = px[0] | (uint32_t)px[1] << 8 | (uint32_t)px[2] << 16 | (uint32_t)px[3] << 24;
    int32_t v = (int32_t)word;
    return (pixel){__builtin_convertvector(((ints4){v, v, v, v} & mask) | one, vec4),
                   (float)(word >> 24)};
}

static inline pixel rgba16(const uint16_t *px)
{
    return (pixel){__builtin_convertvector((ints4){px[0], px[1], px[2], 1}, vec4), px[3]};
}

/* How much of a pixel's length, centred on x, lies on [0, length): 0..1. */
static inline float overlap(double x, double length)
{
    double inside = (x < length - x ? x : length - x) + 0.5;
    return inside <= 0 ? 0 : inside >= 1 ? 1 : (float)inside;
}

static inline int64_t clamp(int64_t v, int64_t last)
{
    return v < 0 ? 0 : v > last ? last : v;
}

/* A place's taps and weights on one axis. */
typedef struct taps {
    int64_t at[4];
    const float *weight;
} taps;

/* The pixel at place is at least touched: place > -0.5. */
static inline taps taps_at(const float (*table)[4], double place, int64_t length)
{
    double shifted = place - 0.5;
    int64_t whole = (int64_t)(shifted + 1) - 1; /* floor */
    taps t = {{whole - 1, whole, whole + 1, whole + 2}, NULL};
    if (t.at[0] < 0 || t.at[3] >= length)
        for (int k = 0; k < 4; k++)
            t.at[k] = clamp(t.at[k], length - 1);
    t.weight = table[(int)((shifted - (double)whole) * PHASES + 0.5)];
    return t;
}

#define SAMPLE  uint8_t
#define RGBA    rgba8
#define SCALE   SCALE8
#define MAX     255
#define NAME(x) x##8
#include "rotate_tmpl.h"

#define SAMPLE  uint16_t
#define RGBA    rgba16
#define SCALE   SCALE16
#define MAX     65535
#define NAME(x) x##16
#include "rotate_tmpl.h"

void tg_raster_rotate(void *dst, size_t dst_stride, const void *src, size_t src_stride,
                      tg_pixfmt fmt, uint32_t w, uint32_t h, double degrees, uint32_t y0,
                      uint32_t y1)
{
    image im = {src, src_stride, w, h, kernel()};
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
