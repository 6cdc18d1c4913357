#include "colour_srgb.h"

#include <math.h>
#include <stdbool.h>

#include "tegula/num.h"

/* From the chromaticities of IEC 61966-2-1 and Bradford's cone responses (ICC.1, annex E). */
const tg_affine tg_srgb_of_xyz = {
    {{3.134186364F, -1.617208959F, -0.490694064F},
     {-0.978748504F, 1.916130097F, 0.033433399F},
     {0.071963928F, -0.228993873F, 1.405753733F}},
    {0, 0, 0},
};

/* White of D50 as ICC.1 codes it, section 7.2.16. */
static const float d50[3] = {0.9642F, 1, 0.8249F};

tg_affine tg_srgb_of_xyz_above(const float black[3])
{
    tg_affine to = tg_srgb_of_xyz;

    for (int c = 0; c < 3; c++) {
        float scale = d50[c] / (d50[c] - black[c]);

        for (int i = 0; i < 3; i++) {
            to.at[i][c] *= scale;
            to.plus[i] -= to.at[i][c] * black[c];
        }
    }
    return to;
}

/* The slope at black is 12.92: an index is a fifth of a step of 8 bits there, so rounding by the
 * table errs by a tenth of a step. 16 bits are interpolated, which errs by a tenth of one of
 * theirs. */
#define NODES 16384

static uint8_t coded_8[NODES + 1];
static float coded_16[NODES + 2];

static double coded(double linear)
{
    return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

void tg_srgb_init(void)
{
    if (coded_8[NODES])
        return;
    for (int i = 0; i <= NODES; i++) {
        double v = coded((double)i / NODES);

        coded_8[i] = (uint8_t)(v * 255 + 0.5);
        coded_16[i] = (float)(v * 65535);
    }
    coded_16[NODES + 1] = 65535;
}

/* Pixels are taken in batches, their arithmetic four at a time and without a branch: which way
 * colours leave the gamut cannot be predicted. */
#define BATCH_PX 64

typedef float four __attribute__((vector_size(16)));
typedef int32_t four_bits __attribute__((vector_size(16)));

typedef union plane {
    float px[BATCH_PX];
    four at[BATCH_PX / 4];
} plane;

typedef struct batch {
    plane c[3];
} batch;

static inline four choose(four_bits first, four a, four b)
{
    return (four)((first & (four_bits)a) | (~first & (four_bits)b));
}

/* Cut to 0 .. 1, NaN to 0, as a place among the nodes. */
static inline four place(four linear)
{
    const four zero = {0}, one = {1, 1, 1, 1};
    four v = choose(linear > zero, linear, zero);

    return choose(v < one, v, one) * NODES;
}

/* In place, to places among the nodes. */
static void transform(batch *b, const tg_affine *m)
{
    for (size_t i = 0; i < BATCH_PX / 4; i++) {
        const four x = b->c[0].at[i], y = b->c[1].at[i], z = b->c[2].at[i];

        for (int k = 0; k < 3; k++)
            b->c[k].at[i] = place(m->at[k][0] * x + m->at[k][1] * y + m->at[k][2] * z + m->plus[k]);
    }
}

static inline uint16_t code_16(float at)
{
    int i = (int)at;

    return (uint16_t)(coded_16[i] + (coded_16[i + 1] - coded_16[i]) * (at - (float)i) + 0.5F);
}

/* Codes the first n of b as pixels. */
static void put(tg_pixfmt fmt, void *dst, const batch *b, size_t n)
{
    uint8_t *to8 = dst;
    uint16_t *to16 = dst;

    if (fmt.bits == 8)
        for (size_t i = 0; i < n; i++, to8 += fmt.channels)
            for (int c = 0; c < 3; c++)
                to8[c] = coded_8[(int)(b->c[c].px[i] + 0.5F)];
    else
        for (size_t i = 0; i < n; i++, to16 += fmt.channels)
            for (int c = 0; c < 3; c++)
                to16[c] = code_16(b->c[c].px[i]);
}

/* ---- CIE L*a*b* ---- */

/* CIE 15, 8.2.1.1, the other way. */
static inline four light_of(four f)
{
    return choose(f > 6.0F / 29, f * f * f, (f - 4.0F / 29) * (108.0F / 841));
}

static void xyz_of_lab(batch *b)
{
    for (size_t i = 0; i < BATCH_PX / 4; i++) {
        const four fy = (b->c[0].at[i] + 16.0F) * (1 / 116.0F);
        const four fx = fy + b->c[1].at[i] * (1 / 500.0F);
        const four fz = fy - b->c[2].at[i] * (1 / 200.0F);

        b->c[0].at[i] = d50[0] * light_of(fx);
        b->c[1].at[i] = d50[1] * light_of(fy);
        b->c[2].at[i] = d50[2] * light_of(fz);
    }
}

void tg_srgb_of_lab(tg_pixfmt dst_fmt, void *dst, const float *lab, const tg_affine *of_xyz,
                    size_t n_px)
{
    batch b = {0};
    uint8_t *to = dst;

    for (size_t at = 0, n; at < n_px; at += n, to += n * tg_pixfmt_bytes(dst_fmt)) {
        n = TG_MIN(n_px - at, (size_t)BATCH_PX);
        for (size_t i = 0; i < n; i++, lab += 3)
            for (int c = 0; c < 3; c++)
                b.c[c].px[i] = lab[c];
        xyz_of_lab(&b);
        transform(&b, of_xyz);
        put(dst_fmt, to, &b, n);
    }
}

void tg_lab_of_coded(float *lab, const uint16_t *coded, size_t n_px)
{
    for (size_t i = 0; i < n_px; i++, lab += 3, coded += 3) {
        lab[0] = (float)coded[0] * (100.0F / 65535);
        lab[1] = (float)coded[1] * (1.0F / 257) - 128;
        lab[2] = (float)coded[2] * (1.0F / 257) - 128;
    }
}

/* ---- matrix and curves ---- */

static void light_of_pixels(batch *b, tg_pixfmt fmt, const void *src, float *const linear[3],
                            size_t n)
{
    const uint8_t *p8 = src;
    const uint16_t *p16 = src;

    if (fmt.bits == 8)
        for (size_t i = 0; i < n; i++, p8 += fmt.channels)
            for (int c = 0; c < 3; c++)
                b->c[c].px[i] = linear[c][p8[c]];
    else
        for (size_t i = 0; i < n; i++, p16 += fmt.channels)
            for (int c = 0; c < 3; c++)
                b->c[c].px[i] = linear[c][p16[c]];
}

void tg_srgb_of_matrix(tg_pixfmt fmt, void *dst, const void *src, float *const linear[3],
                       const tg_affine *to, size_t n_px)
{
    size_t pixel_bytes = tg_pixfmt_bytes(fmt);
    batch b = {0};

    for (size_t at = 0, n; at < n_px; at += n) {
        n = TG_MIN(n_px - at, (size_t)BATCH_PX);
        light_of_pixels(&b, fmt, (const uint8_t *)src + at * pixel_bytes, linear, n);
        transform(&b, to);
        put(fmt, (uint8_t *)dst + at * pixel_bytes, &b, n);
    }
}

/* ---- CMYK without a profile ---- */

void tg_srgb_of_cmyk(tg_pixfmt dst_fmt, void *dst, const void *cmyk, size_t n_px)
{
    const uint8_t *p8 = cmyk;
    const uint16_t *p16 = cmyk;
    uint8_t *to8 = dst;
    uint16_t *to16 = dst;

    if (dst_fmt.bits == 8)
        for (size_t i = 0; i < n_px; i++, p8 += 4, to8 += dst_fmt.channels)
            for (int c = 0; c < 3; c++)
                to8[c] = (uint8_t)(((255u - p8[c]) * (255u - p8[3]) + 127) / 255);
    else
        for (size_t i = 0; i < n_px; i++, p16 += 4, to16 += dst_fmt.channels)
            for (int c = 0; c < 3; c++)
                to16[c] = (uint16_t)(((65535ull - p16[c]) * (65535ull - p16[3]) + 32767) / 65535);
}
