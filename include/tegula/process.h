/* Image processing: what IIP's commands ask of the pixels before they are scaled, and its kernels.
 *
 * A pixel is up to four floats, black 0 and white 1, in planes: a row of each channel. The steps
 * are always taken in this order, whatever the order of the commands, and only the last one clamps,
 * but for those that say so: range     v = (v - min) / (max - min), clamped; per channel, in units
 * of the stored samples; or the image's own used range shade     a map of normals (3 channels)
 * under a light, to 1 channel matrix    a linear map of the channels gamma     v ^ g or ln(1 + 255
 * v) / ln 256 of v clamped invert    1 - v map       the first channel, clamped, through a colour
 * map to 3 channels kernel    convolution, the edge repeated contrast  v * f, clamped, rounded to 8
 * or 16 bit Alpha is no colour: it takes part in the matrix only. */
#ifndef TEGULA_PROCESS_H
#define TEGULA_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/arena.h"
#include "tegula/pixel.h"
#include "tegula/str.h"

#define TG_PROCESS_CHANNELS 4
#define TG_KERNEL_SIDE_MAX  5

typedef enum tg_colour_map {
    TG_MAP_NONE,
    TG_MAP_HOT,  /* black, red, yellow, white; breaks at 1/3 and 2/3 */
    TG_MAP_COLD, /* black, blue, cyan, white; the same breaks */
    TG_MAP_JET,  /* dark blue, blue, cyan, yellow, red, dark red; at 1/8, 3/8, 5/8, 7/8 */
    TG_MAP_BLUE,
    TG_MAP_GREEN,
    TG_MAP_RED,
    TG_MAPS
} tg_colour_map;

typedef enum tg_gamma { TG_GAMMA_NONE, TG_GAMMA_POWER, TG_GAMMA_LOG } tg_gamma;

/* Which steps, with the numbers of the commands. All zero: none. */
typedef struct tg_process {
    bool stretch;    /* the range that the image uses, before any other */
    unsigned ranges; /* bit c: range of channel c is given */
    double range_min[TG_PROCESS_CHANNELS], range_max[TG_PROCESS_CHANNELS];
    bool shade;
    double azimuth, elevation; /* degrees; azimuth clockwise from 12 o'clock */
    unsigned matrix_rows;      /* 0 none, 1, 3 or 4 */
    float matrix[TG_PROCESS_CHANNELS][TG_PROCESS_CHANNELS]; /* [to][from] */
    tg_gamma gamma;
    float exponent;
    bool invert;
    tg_colour_map map;
    unsigned kernel_side;                                  /* 0 none, 1, 3 or 5 */
    float kernel[TG_KERNEL_SIDE_MAX * TG_KERNEL_SIDE_MAX]; /* rows, sums to 1 where it can */
    bool has_contrast;
    float contrast;
} tg_process;

bool tg_process_any(const tg_process *process);

/* Channels, alpha among them, that leave the steps when `in` enter. */
uint8_t tg_process_channels(const tg_process *process, uint8_t in);

/* All of it as text, the same for all ways of saying the same. */
tg_str tg_process_text(const tg_process *process, tg_arena *arena);

/* The kernel as it must lie over pixels that will be mirrored left-right and then turned clockwise
 * by quarter turns. */
void tg_process_turn_kernel(tg_process *process, bool mirror, unsigned quarter);

/* ---- kernels ---- */

/* Constants of the steps between loading and convolution, resolved for an image. */
typedef struct tg_process_steps {
    uint8_t in, out; /* channels, alpha among them */
    bool alpha;      /* the last one of in is alpha */
    /* value = sample * scale + offset, clamped to 0 .. 1 */
    float scale[TG_PROCESS_CHANNELS], offset[TG_PROCESS_CHANNELS];
    bool shade;
    float light[3];
    unsigned matrix_rows;
    float matrix[TG_PROCESS_CHANNELS][TG_PROCESS_CHANNELS];
    tg_gamma gamma;
    float exponent;
    bool invert;
    tg_colour_map map;
} tg_process_steps;

/* As the steps of process for pixels of fmt, but for the range: scale is 1 / the largest sample. */
void tg_process_steps_init(tg_process_steps *steps, const tg_process *process, tg_pixfmt fmt);

/* Planes are `plane` floats apart; there is room for TG_PROCESS_CHANNELS of them everywhere. */
typedef struct tg_process_dsp {
    /* n samples of each of steps->in channels, bits 8 or 16, to planes. */
    void (*load)(float *planes, size_t plane, const void *src, unsigned bits, size_t n,
                 const tg_process_steps *steps);
    /* From shade to map, in place. */
    void (*steps)(float *planes, size_t plane, size_t n, const tg_process_steps *steps);
    /* dst[x] = sum of kernel[side * j + i] * row[j][x + i]; row[j] has n + side - 1 values. */
    void (*convolve)(float *dst, const float *const row[TG_KERNEL_SIDE_MAX], const float *kernel,
                     unsigned side, size_t n);
    /* v * gain of the colours, v of the alpha behind them, clamped to 0 .. 1 and rounded. */
    void (*store)(void *dst, const float *planes, size_t plane, tg_pixfmt fmt, float gain,
                  size_t n);
} tg_process_dsp;

/* flags: of tg_cpu_flags. All give the same bits. */
void tg_process_dsp_init(tg_process_dsp *dsp, unsigned flags);

/* ---- histograms of 8-bit samples ---- */

void tg_histogram_add(uint64_t bins[256], const uint8_t *samples, size_t n);

/* v -> round(255 (c(v) - c(first)) / (N - c(first))), c being the count of samples up to v and
 * first the smallest that occurs. One value only: v -> v. */
void tg_histogram_equalise(const uint64_t bins[256], uint8_t lut[256]);

/* v -> 0 up to Otsu's threshold (the one that parts the samples into two classes of greatest
 * variance between them; the first of equals), 255 above. One value only: 255 from 128. */
void tg_histogram_binarise(const uint64_t bins[256], uint8_t lut[256]);

#endif
