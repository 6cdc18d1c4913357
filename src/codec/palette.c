#include "palette.h"

#include <string.h>

#include "tegula/num.h"

#define SHIFT  (8 - TG_PALETTE_BITS)
#define SIDE   (1 << TG_PALETTE_BITS)
#define OPAQUE 0xff000000u

static bool transparent(uint32_t argb)
{
    return argb < 0x80000000u;
}

static unsigned channel(uint32_t argb, unsigned c)
{
    return argb >> (16 - 8 * c) & 255;
}

static unsigned bin_at(unsigned r, unsigned g, unsigned b)
{
    return (r * SIDE + g) * SIDE + b;
}

/* ---- counting ---- */

/* The colour's slot, or the free one where it would go. */
static unsigned slot_of(const tg_palette *p, uint32_t colour)
{
    enum { SLOTS = sizeof p->seen / sizeof *p->seen };
    unsigned i = (colour * 0x9e3779b1u) >> 22;

    while (p->seen[i] && p->seen[i] != colour)
        i = (i + 1) % SLOTS;
    return i;
}

static void note(tg_palette *p, uint32_t colour)
{
    unsigned i;

    if (p->many)
        return;
    i = slot_of(p, colour);
    if (p->seen[i])
        return;
    if (p->n_seen == TG_PALETTE_MAX) {
        p->many = true;
        return;
    }
    p->seen[i] = colour;
    p->n_seen++;
}

void tg_palette_count(tg_palette *p, const uint32_t *argb, size_t n)
{
    uint32_t last = 0; /* no opaque colour */

    for (size_t i = 0; i < n; i++) {
        uint32_t colour = argb[i] | OPAQUE;
        unsigned r = channel(colour, 0), g = channel(colour, 1), b = channel(colour, 2);
        tg_colour_bin *bin = &p->bin[bin_at(r >> SHIFT, g >> SHIFT, b >> SHIFT)];

        if (transparent(argb[i])) {
            p->holes = true;
            continue;
        }
        bin->sum[0] += r;
        bin->sum[1] += g;
        bin->sum[2] += b;
        bin->n++;
        if (colour != last)
            note(p, colour);
        last = colour;
    }
}

/* ---- splitting ---- */

/* Some of the occupied bins, which lie side by side. */
typedef struct box {
    tg_colour_bin *bin;
    size_t n_bins;
    double n, sum[3];
    double spread[3]; /* sum of squared distances from the mean; 0 on all axes: cannot be split */
} box;

static double place(const tg_colour_bin *bin, int c)
{
    return (double)bin->sum[c] / (double)bin->n;
}

static box measured(tg_colour_bin *bin, size_t n_bins)
{
    box b = {.bin = bin, .n_bins = n_bins};
    double squares[3] = {0};

    for (size_t i = 0; i < n_bins; i++) {
        b.n += (double)bin[i].n;
        for (int c = 0; c < 3; c++) {
            b.sum[c] += (double)bin[i].sum[c];
            squares[c] += (double)bin[i].sum[c] * place(&bin[i], c);
        }
    }
    for (int c = 0; c < 3 && n_bins > 1; c++)
        b.spread[c] = squares[c] - b.sum[c] * b.sum[c] / b.n;
    return b;
}

static int widest_axis(const box *b)
{
    int c = b->spread[1] >= b->spread[0] ? 1 : 0;

    return b->spread[2] > b->spread[c] ? 2 : c;
}

/* Moves the bins below the mean to the front; returns their number. */
static size_t part(const box *b, int c)
{
    double mean = b->sum[c] / b->n;
    size_t below = 0;

    for (size_t i = 0; i < b->n_bins; i++) {
        tg_colour_bin bin = b->bin[i];

        if (place(&bin, c) >= mean)
            continue;
        b->bin[i] = b->bin[below];
        b->bin[below++] = bin;
    }
    return below;
}

/* False when rounding left all bins on one side; the box then stays and is not tried again. */
static bool split(box *b, box *other)
{
    size_t below = part(b, widest_axis(b));

    if (below == 0 || below == b->n_bins) {
        memset(b->spread, 0, sizeof b->spread);
        return false;
    }
    *other = measured(b->bin + below, b->n_bins - below);
    *b = measured(b->bin, below);
    return true;
}

static size_t gather_occupied(tg_palette *p)
{
    size_t n = 0;

    for (size_t i = 0; i < TG_PALETTE_BINS; i++)
        if (p->bin[i].n)
            p->bin[n++] = p->bin[i];
    return n;
}

static void split_colours(tg_palette *p, unsigned max)
{
    box boxes[TG_PALETTE_MAX];

    boxes[0] = measured(p->bin, gather_occupied(p));
    for (p->n = 1; p->n < max;) {
        box *worst = &boxes[0];

        for (unsigned i = 1; i < p->n; i++)
            if (boxes[i].spread[widest_axis(&boxes[i])] > worst->spread[widest_axis(worst)])
                worst = &boxes[i];
        if (worst->spread[widest_axis(worst)] <= 0)
            break;
        p->n += split(worst, &boxes[p->n]);
    }
    for (unsigned i = 0; i < p->n; i++)
        for (int c = 0; c < 3; c++)
            p->rgb[i][c] = (uint8_t)(boxes[i].sum[c] / boxes[i].n + 0.5);
}

static void take_seen(tg_palette *p)
{
    for (size_t i = 0; i < sizeof p->seen / sizeof *p->seen; i++) {
        if (!p->seen[i])
            continue;
        p->seen_index[i] = (uint8_t)p->n;
        for (unsigned c = 0; c < 3; c++)
            p->rgb[p->n][c] = (uint8_t)channel(p->seen[i], c);
        p->n++;
    }
}

void tg_palette_make(tg_palette *p)
{
    unsigned max = TG_PALETTE_MAX - p->holes;

    p->n = 0;
    p->many |= p->n_seen > max;
    if (p->many)
        split_colours(p, max);
    else
        take_seen(p);
}

/* ---- indices ---- */

static unsigned search(const tg_palette *p, const int want[3])
{
    unsigned best = 0, least = UINT32_MAX;

    for (unsigned i = 0; i < p->n; i++) {
        int r = p->rgb[i][0] - want[0], g = p->rgb[i][1] - want[1], b = p->rgb[i][2] - want[2];
        unsigned distance = (unsigned)(r * r + g * g + b * b);

        if (distance < least) {
            least = distance;
            best = i;
        }
    }
    return best;
}

static uint8_t nearest(tg_palette *p, const int v[3])
{
    unsigned at = bin_at((unsigned)v[0] >> SHIFT, (unsigned)v[1] >> SHIFT, (unsigned)v[2] >> SHIFT);

    if (!p->nearest[at]) {
        int middle[3];

        for (int c = 0; c < 3; c++)
            middle[c] = (v[c] >> SHIFT << SHIFT) + (1 << SHIFT) / 2;
        p->nearest[at] = (int16_t)(search(p, middle) + 1);
    }
    return (uint8_t)(p->nearest[at] - 1);
}

/* right: sixteenths for the pixel to the right; below: for the three beneath, in next. */
static uint8_t dither(tg_palette *p, uint32_t argb, const int16_t *error, int right[3],
                      int16_t *below)
{
    int v[3];
    uint8_t index;

    for (unsigned c = 0; c < 3; c++) {
        int sixteenths = (int)channel(argb, c) * 16 + error[c] + right[c] + 8;

        v[c] = TG_MAX(0, TG_MIN(sixteenths >> 4, 255));
    }
    index = nearest(p, v);
    for (int c = 0; c < 3; c++) {
        int off = v[c] - p->rgb[index][c];

        right[c] = 7 * off;
        below[c] = (int16_t)(below[c] + 3 * off);
        below[3 + c] = (int16_t)(below[3 + c] + 5 * off);
        below[6 + c] = (int16_t)(below[6 + c] + off);
    }
    return index;
}

void tg_palette_row(tg_palette *p, uint8_t *index, const uint32_t *argb, size_t n,
                    const int16_t *error, int16_t *next)
{
    int right[3] = {0};

    memset(next, 0, tg_palette_error_items(n) * sizeof *next);
    for (size_t i = 0; i < n; i++) {
        if (transparent(argb[i])) {
            index[i] = (uint8_t)p->n;
            memset(right, 0, sizeof right); /* what is not seen neither takes nor makes errors */
        } else if (p->many) {
            index[i] = dither(p, argb[i], error + 3 * (i + 1), right, next + 3 * i);
        } else {
            index[i] = p->seen_index[slot_of(p, argb[i] | OPAQUE)];
        }
    }
}
