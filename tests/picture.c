#include "picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OCTAVES 14

typedef void paint_fn(picture *p, uint32_t y, uint16_t *rgb);

struct picture {
    uint32_t width_px, height_px;
    unsigned channels, bits;
    bool alpha;
    paint_fn *paint; /* 16-bit RGB of a row */
    uint16_t flat[3];
    uint16_t *rgb; /* a row of it */
    /* The map: heights of this row and the one above. */
    float *height, *above, *lattice;
    unsigned octaves;
    float first_cell_px;
};

static uint32_t divide(uint64_t a, uint64_t b)
{
    return (uint32_t)(b ? (a + b / 2) / b : 0);
}

/* 16-bit values that become exactly round(255 i / (n - 1)) when 257 of them make one of 8 bits
 * would lose the rounding, so ramp keeps its own arithmetic for each depth. */
static uint16_t ramp_value(const picture *p, uint32_t i, uint32_t n)
{
    if (p->bits == 8)
        return (uint16_t)(257 * divide(255ull * i, n - 1));
    return (uint16_t)divide(65535ull * i, n - 1);
}

static void paint_ramp(picture *p, uint32_t y, uint16_t *rgb)
{
    uint16_t green = ramp_value(p, y, p->height_px);

    for (uint32_t x = 0; x < p->width_px; x++, rgb += 3) {
        rgb[0] = ramp_value(p, x, p->width_px);
        rgb[1] = green;
        rgb[2] = (x / 16 + y / 16) & 1 ? 65535 : 0;
        if (p->channels == 1)
            rgb[1] = rgb[2] = rgb[0];
    }
}

static void paint_corners(picture *p, uint32_t y, uint16_t *rgb)
{
    static const uint16_t colour[2][2][3] = {{{65535, 0, 0}, {0, 65535, 0}},
                                             {{0, 0, 65535}, {65535, 65535, 65535}}};
    static const uint16_t gray[3] = {128 * 257, 128 * 257, 128 * 257};
    bool top = y < 100, bottom = y >= p->height_px - 100;

    for (uint32_t x = 0; x < p->width_px; x++, rgb += 3) {
        bool left = x < 100, right = x >= p->width_px - 100;
        bool corner = (top || bottom) && (left || right);

        memcpy(rgb, corner ? colour[!top][!left] : gray, sizeof gray);
    }
}

static void paint_flat(picture *p, uint32_t y, uint16_t *rgb)
{
    (void)y;
    for (uint32_t x = 0; x < p->width_px; x++, rgb += 3)
        memcpy(rgb, p->flat, sizeof p->flat);
}

/* The map. */

/* A well mixed value in [0, 1) for a lattice point. */
static float noise_at(uint32_t x, uint32_t y, uint32_t octave)
{
    uint32_t h = x * 0x8da6b343u ^ y * 0xd8163841u ^ octave * 0xcb1ab31fu;

    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    h ^= h >> 15;
    return (float)(h >> 8) * (1.0f / 16777216.0f);
}

static float smooth(float t)
{
    return t * t * (3 - 2 * t);
}

/* Adds one octave of value noise, cells of cell_px, to the heights of row y. */
static void add_octave(picture *p, uint32_t y, unsigned octave, float cell_px, float weight)
{
    float fy = (float)y / cell_px, ty = smooth(fy - floorf(fy));
    uint32_t cy = (uint32_t)fy, cells = (uint32_t)((float)p->width_px / cell_px) + 2;
    float step = 1 / cell_px, t = 0;
    uint32_t cell = 0;

    for (uint32_t i = 0; i < cells; i++) {
        float a = noise_at(i, cy, octave), b = noise_at(i, cy + 1, octave);

        p->lattice[i] = weight * (a + (b - a) * ty);
    }
    for (uint32_t x = 0; x < p->width_px; x++) {
        float from = p->lattice[cell], to = p->lattice[cell + 1];

        p->height[x] += from + (to - from) * smooth(t);
        t += step;
        if (t >= 1) {
            t -= 1;
            cell += cell + 2 < cells;
        }
    }
}

static void map_heights(picture *p, uint32_t y)
{
    float *swap = p->above, cell_px = p->first_cell_px, weight = 0.5f;

    p->above = p->height;
    p->height = swap;
    memset(p->height, 0, p->width_px * sizeof *p->height);
    for (unsigned i = 0; i < p->octaves; i++, cell_px /= 2, weight *= 0.52f)
        add_octave(p, y, i, cell_px, weight);
    if (y == 0)
        memcpy(p->above, p->height, p->width_px * sizeof *p->height);
}

typedef struct stop {
    float at;
    float rgb[3];
} stop;

static void tint(float h, float rgb[3])
{
    static const stop stops[] = {{0.00f, {22, 48, 92}},     {0.40f, {58, 110, 158}},
                                 {0.495f, {150, 196, 208}}, {0.50f, {222, 210, 168}},
                                 {0.515f, {126, 164, 104}}, {0.60f, {168, 178, 112}},
                                 {0.68f, {188, 150, 98}},   {0.76f, {146, 112, 92}},
                                 {0.84f, {236, 234, 232}},  {1.50f, {255, 255, 255}}};
    unsigned i = 0;

    while (h >= stops[i + 1].at && i + 2 < sizeof stops / sizeof *stops)
        i++;
    float t = (h - stops[i].at) / (stops[i + 1].at - stops[i].at);
    for (unsigned c = 0; c < 3; c++)
        rgb[c] = stops[i].rgb[c] + (stops[i + 1].rgb[c] - stops[i].rgb[c]) * t;
}

/* Light from the upper left, contour lines, a grid, and a grain like paper. */
static float shade(const picture *p, uint32_t x, uint32_t y)
{
    float h = p->height[x], left = p->height[x ? x - 1 : 0], up = p->above[x];
    float slope = ((h - left) + (h - up)) * p->first_cell_px * 0.12f;
    float light = 1 + (h >= 0.5f ? 0.55f : 0.12f) * fmaxf(-1, fminf(slope, 1));
    bool contour = (int)(h * 64) != (int)(left * 64) || (int)(h * 64) != (int)(up * 64);
    bool grid = x % 1024 == 0 || y % 1024 == 0;

    light *= 0.97f + 0.06f * noise_at(x, y, 99);
    return light * (grid ? 0.55f : contour ? 0.80f : 1);
}

static void paint_map(picture *p, uint32_t y, uint16_t *rgb)
{
    map_heights(p, y);
    for (uint32_t x = 0; x < p->width_px; x++, rgb += 3) {
        float colour[3], light = shade(p, x, y);

        tint(p->height[x], colour);
        for (unsigned c = 0; c < 3; c++)
            rgb[c] = (uint16_t)(257 * fmaxf(0, fminf(colour[c] * light, 255)));
    }
}

static void *get(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static void init_map(picture *p)
{
    uint32_t longer = p->width_px > p->height_px ? p->width_px : p->height_px;

    p->first_cell_px = fmaxf(8, (float)longer / 5);
    for (float cell = p->first_cell_px; cell >= 3 && p->octaves < MAX_OCTAVES; cell /= 2)
        p->octaves++;
    p->height = get(p->width_px, sizeof *p->height);
    p->above = get(p->width_px, sizeof *p->above);
    p->lattice = get((size_t)p->width_px + 4, sizeof *p->lattice);
}

static bool choose(picture *p, const char *kind, unsigned page)
{
    unsigned rgb[3];

    if (strcmp(kind, "ramp") == 0) {
        p->paint = paint_ramp;
    } else if (strcmp(kind, "corners") == 0) {
        p->paint = paint_corners;
    } else if (strcmp(kind, "sample") == 0) {
        p->paint = paint_map;
        init_map(p);
    } else if (sscanf(kind, "flat:%u,%u,%u", &rgb[0], &rgb[1], &rgb[2]) == 3) {
        p->paint = paint_flat;
        for (unsigned c = 0; c < 3; c++)
            p->flat[(c + page) % 3] = (uint16_t)(257 * (rgb[c] & 255));
    }
    return p->paint != NULL;
}

picture *picture_new(const char *kind, uint32_t width_px, uint32_t height_px, unsigned channels,
                     bool alpha, unsigned bits, unsigned page)
{
    picture *p = get(1, sizeof *p);

    p->width_px = width_px;
    p->height_px = height_px;
    p->channels = channels;
    p->alpha = alpha;
    p->bits = bits;
    p->rgb = get(width_px, 3 * sizeof *p->rgb);
    if (choose(p, kind, page))
        return p;
    picture_free(p);
    return NULL;
}

void picture_free(picture *p)
{
    free(p->rgb);
    free(p->height);
    free(p->above);
    free(p->lattice);
    free(p);
}

void picture_row(picture *p, uint32_t y, void *row)
{
    const uint16_t *rgb = p->rgb;
    uint8_t *out8 = row;
    uint16_t *out16 = row;

    p->paint(p, y, p->rgb);
    for (uint32_t x = 0; x < p->width_px; x++, rgb += 3) {
        uint16_t px[4] = {rgb[0], rgb[1], rgb[2]};
        unsigned n = p->channels;

        if (p->alpha)
            px[n++] = x < p->width_px / 2 ? 0 : 65535;
        for (unsigned c = 0; c < n; c++)
            if (p->bits == 8)
                *out8++ = (uint8_t)(px[c] >> 8);
            else
                *out16++ = px[c];
    }
}
