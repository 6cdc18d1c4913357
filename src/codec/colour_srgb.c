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

/* NaN becomes 0. */
static inline float unit(float linear)
{
    return linear > 0 ? TG_MIN(linear, 1.0F) : 0;
}

static inline uint8_t code_8(float linear)
{
    return coded_8[(int)(unit(linear) * NODES + 0.5F)];
}

static inline uint16_t code_16(float linear)
{
    float at = unit(linear) * NODES;
    int i = (int)at;

    return (uint16_t)(coded_16[i] + (coded_16[i + 1] - coded_16[i]) * (at - (float)i) + 0.5F);
}

static inline void transform(float out[3], const tg_affine *m, const float in[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = m->at[i][0] * in[0] + m->at[i][1] * in[1] + m->at[i][2] * in[2] + m->plus[i];
}

static inline void put(tg_pixfmt fmt, void *dst, size_t i, const float linear[3])
{
    if (fmt.bits == 8) {
        uint8_t *to = (uint8_t *)dst + i * fmt.channels;

        for (int c = 0; c < 3; c++)
            to[c] = code_8(linear[c]);
    } else {
        uint16_t *to = (uint16_t *)dst + i * fmt.channels;

        for (int c = 0; c < 3; c++)
            to[c] = code_16(linear[c]);
    }
}

/* ---- CIE L*a*b* ---- */

/* CIE 15, 8.2.1.1, the other way. */
static inline float light_of(float f)
{
    return f > 6.0F / 29 ? f * f * f : (f - 4.0F / 29) * (108.0F / 841);
}

static inline void xyz_of_lab(float xyz[3], const float lab[3])
{
    float fy = (lab[0] + 16) * (1 / 116.0F);

    xyz[0] = d50[0] * light_of(fy + lab[1] * (1 / 500.0F));
    xyz[1] = d50[1] * light_of(fy);
    xyz[2] = d50[2] * light_of(fy - lab[2] * (1 / 200.0F));
}

void tg_srgb_of_lab(tg_pixfmt dst_fmt, void *dst, const float *lab, const tg_affine *of_xyz,
                    size_t n_px)
{
    for (size_t i = 0; i < n_px; i++) {
        float xyz[3], linear[3];

        xyz_of_lab(xyz, lab + 3 * i);
        transform(linear, of_xyz, xyz);
        put(dst_fmt, dst, i, linear);
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

void tg_srgb_of_matrix(tg_pixfmt fmt, void *dst, const void *src, float *const linear[3],
                       const tg_affine *to, size_t n_px)
{
    const uint8_t *p8 = src;
    const uint16_t *p16 = src;

    for (size_t i = 0; i < n_px; i++, p8 += fmt.channels, p16 += fmt.channels) {
        float device[3], light[3];

        for (int c = 0; c < 3; c++)
            device[c] = linear[c][fmt.bits == 8 ? p8[c] : p16[c]];
        transform(light, to, device);
        put(fmt, dst, i, light);
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
