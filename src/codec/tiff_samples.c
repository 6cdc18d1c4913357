/* Samples as they lie in decoded rows, one channel at a time, to 8 or 16 bits: packed ones of any
 * width are spread so that their greatest value becomes the greatest, numbers (signed, real, or of
 * more than 16 bits) by a display range. */
#include <math.h>
#include <string.h>

#include "tiff.h"

/* The text of a short real number is that of a long one. */
#define NODATA_ALIKE 1e-7

/* Up to 16 bits, the first one the highest (TIFF 6.0, FillOrder 1); no byte beyond is read. */
unsigned tg_tiff_packed(const uint8_t *row, uint64_t bit, unsigned bits)
{
    const uint8_t *p = row + bit / 8;
    unsigned from = bit % 8, have = 8 - from, v = *p & (0xffu >> from);

    while (have < bits) {
        v = v << 8 | *++p;
        have += 8;
    }
    return v >> (have - bits);
}

static unsigned raw_sample(const tg_tiff_channel *c, uint64_t i, unsigned bits)
{
    return tg_tiff_packed(c->row, c->first_bit + i * c->step_bits, bits);
}

/* 1-bit samples that follow each other, by bytes. */
static void spread_bilevel(const tg_tiff_channel *c, uint32_t n)
{
    const uint8_t *p = c->row + c->first_bit / 8;
    unsigned mask = 0x80u >> c->first_bit % 8;

    for (uint32_t i = 0; i < n; i++) {
        c->dst[i * c->dst_step] = *p & mask ? 255 : 0;
        mask >>= 1;
        if (mask == 0) {
            mask = 0x80;
            p++;
        }
    }
}

static void spread_few_bits(const tg_tiff_channel *c, unsigned bits, uint32_t n)
{
    uint8_t to[128];
    unsigned max = (1u << bits) - 1;

    for (unsigned v = 0; v <= max; v++)
        to[v] = (uint8_t)((v * 255 + max / 2) / max);
    for (uint32_t i = 0; i < n; i++)
        c->dst[i * c->dst_step] = to[raw_sample(c, i, bits)];
}

static void spread_bytes(const tg_tiff_channel *c, uint32_t n)
{
    const uint8_t *src = c->row + c->first_bit / 8;
    size_t step = c->step_bits / 8;

    for (uint32_t i = 0; i < n; i++)
        c->dst[i * c->dst_step] = src[i * step];
}

static void put_16(const tg_tiff_channel *c, uint32_t i, uint16_t v)
{
    memcpy(c->dst + i * c->dst_step, &v, sizeof v);
}

static void spread_words(const tg_tiff_channel *c, uint32_t n)
{
    const uint8_t *src = c->row + c->first_bit / 8;
    size_t step = c->step_bits / 8;

    for (uint32_t i = 0; i < n; i++)
        memcpy(c->dst + i * c->dst_step, src + i * step, 2);
}

static void spread_many_bits(const tg_tiff_channel *c, unsigned bits, uint32_t n)
{
    unsigned max = (1u << bits) - 1;

    for (uint32_t i = 0; i < n; i++)
        put_16(c, i, (uint16_t)((raw_sample(c, i, bits) * 65535u + max / 2) / max));
}

/* ---- numbers ---- */

/* Sign, exponent and mantissa of a short real number; exponent and mantissa 0 are zero. */
static double short_real(uint32_t v, unsigned exponent_bits, unsigned mantissa_bits)
{
    uint32_t mantissa = v & ((1u << mantissa_bits) - 1), top = (1u << exponent_bits) - 1;
    uint32_t exponent = v >> mantissa_bits & top;
    int bias = (int)(top >> 1);
    double x;

    if (exponent == top)
        x = mantissa ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        x = ldexp(mantissa, 1 - bias - (int)mantissa_bits);
    else
        x = ldexp(mantissa + (double)(1u << mantissa_bits),
                  (int)exponent - bias - (int)mantissa_bits);
    return v >> (exponent_bits + mantissa_bits) & 1 ? -x : x;
}

static uint32_t load_24(const uint8_t *p)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
#else
    return (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
#endif
}

#define NUMBER(name, type)                                                                         \
    static double load_##name(const uint8_t *p)                                                    \
    {                                                                                              \
        type v;                                                                                    \
                                                                                                   \
        memcpy(&v, p, sizeof v);                                                                   \
        return (double)v;                                                                          \
    }
NUMBER(i8, int8_t)
NUMBER(i16, int16_t)
NUMBER(i32, int32_t)
NUMBER(i64, int64_t)
NUMBER(u32, uint32_t)
NUMBER(u64, uint64_t)
NUMBER(f32, float)
NUMBER(f64, double)

static double load_u24(const uint8_t *p)
{
    return load_24(p);
}

static double load_f16(const uint8_t *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof v);
    return short_real(v, 5, 10);
}

/* As Photoshop writes it: 1 sign, 7 exponent, 16 mantissa. */
static double load_f24(const uint8_t *p)
{
    return short_real(load_24(p), 7, 16);
}

typedef double load_fn(const uint8_t *);

/* Indexed by number, bytes - 1. */
static load_fn *const loads[3][8] = {
    [TG_TIFF_UNSIGNED] = {[2] = load_u24, [3] = load_u32, [7] = load_u64},
    [TG_TIFF_SIGNED] = {[0] = load_i8, [1] = load_i16, [3] = load_i32, [7] = load_i64},
    [TG_TIFF_FLOAT] = {[1] = load_f16, [2] = load_f24, [3] = load_f32, [7] = load_f64},
};

static load_fn *load_of(const tg_tiff_dir *dir)
{
    return loads[dir->number][dir->raw_bits / 8 - 1];
}

/* What is no number is black, as is what lies below the range. */
static void spread_numbers(const tg_tiff_dir *dir, const tg_tiff_channel *c, uint32_t n)
{
    load_fn *load = load_of(dir);
    const uint8_t *src = c->row + c->first_bit / 8;
    size_t step = c->step_bits / 8;
    double top = dir->native.bits == 8 ? 255 : 65535, scale = top / (c->max - c->min);

    for (uint32_t i = 0; i < n; i++) {
        double v = (load(src + i * step) - c->min) * scale + 0.5;
        uint16_t out = v >= top ? (uint16_t)top : v > 0 ? (uint16_t)v : 0;

        if (dir->native.bits == 8)
            c->dst[i * c->dst_step] = (uint8_t)out;
        else
            put_16(c, i, out);
    }
}

void tg_tiff_spread(const tg_tiff_dir *dir, const tg_tiff_channel *c, uint32_t n)
{
    if (dir->ranged)
        spread_numbers(dir, c, n);
    else if (dir->raw_bits == 8)
        spread_bytes(c, n);
    else if (dir->raw_bits == 16)
        spread_words(c, n);
    else if (dir->raw_bits > 8)
        spread_many_bits(c, dir->raw_bits, n);
    else if (dir->raw_bits == 1 && c->step_bits == 1)
        spread_bilevel(c, n);
    else
        spread_few_bits(c, dir->raw_bits, n);
}

/* ---- the other way round ---- */

void tg_tiff_extremes_row(const tg_tiff_level *lv, tg_tiff_extremes *e, const uint8_t *row,
                          uint32_t x, uint32_t n)
{
    const tg_tiff_dir *dir = &lv->dir;
    load_fn *load = load_of(dir);
    unsigned bytes = dir->raw_bits / 8;
    unsigned colours = dir->planes ? 1 : tg_native_channels(dir->native) - dir->native.alpha;

    for (uint32_t i = x; i < x + n; i++)
        for (unsigned c = 0; c < colours; c++) {
            double v = load(row + ((size_t)i * dir->raw_samples + c) * bytes);

            if (!isfinite(v) || fabs(v - lv->nodata) <= NODATA_ALIKE * fabs(lv->nodata))
                continue;
            e->min = v < e->min ? v : e->min;
            e->max = v > e->max ? v : e->max;
        }
}

static uint64_t whole_number(double value, double least, double most)
{
    double v = round(value < least ? least : value > most ? most : value);

    return v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
}

void tg_tiff_store(const tg_tiff_dir *dir, uint8_t *sample, double value)
{
    unsigned bytes = dir->raw_bits / 8;
    double half = ldexp(1, dir->raw_bits - 1);
    uint64_t v = 0;
    float f = (float)value;

    if (isnan(value))
        return;
    if (dir->number == TG_TIFF_UNSIGNED)
        v = whole_number(value, 0, 2 * half - (dir->raw_bits == 64 ? 2048 : 1));
    else if (dir->number == TG_TIFF_SIGNED)
        v = whole_number(value, -half, half - (dir->raw_bits == 64 ? 1024 : 1));
    if (dir->number != TG_TIFF_FLOAT)
        for (unsigned i = 0; i < bytes; i++)
            sample[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? bytes - 1 - i : i] =
                (uint8_t)(v >> 8 * i);
    else if (bytes == sizeof f)
        memcpy(sample, &f, sizeof f);
    else if (bytes == sizeof value)
        memcpy(sample, &value, sizeof value);
}
