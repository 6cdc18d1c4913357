/* What a tile costs OpenJPEG. It allocates by itself, so its memory is reckoned before. */
#include <string.h>

#include "j2k_opj.h"

#include "tegula/num.h"

#define BLOCK_BYTES    520 /* a code-block: its record, its first ten segments, its tag tree nodes */
#define PRECINCT_BYTES 400
#define WHOLE_BYTES    6  /* of a sample of a tile that is decoded whole */
#define PART_MARGIN    80 /* samples beside a part whose code-blocks are decoded too */

/* Not whole numbers: a hostile header makes them larger than any of those. */
typedef struct count {
    double precincts, blocks;
} count;

/* Precincts that [a, b) touches; 2^log2 samples each. */
static uint64_t touched(uint32_t a, uint32_t b, unsigned log2)
{
    return b > a ? (((uint64_t)b - 1) >> log2) - (a >> log2) + 1 : 0;
}

/* One side of all code-blocks of a subband; precincts break them. */
static double blocks_along(uint32_t a, uint32_t b, uint64_t precincts, unsigned precinct_log2,
                           unsigned block_log2, bool low)
{
    unsigned side = low ? precinct_log2 : precinct_log2 ? precinct_log2 - 1u : 0;
    uint64_t samples = low ? b - a : (b - a) / 2 + 1;

    return (double)((samples >> TG_MIN(side, block_log2)) + precincts + 1);
}

static count count_resolution(const tg_j2k_coding *coding, const tg_j2k_component *c,
                              const tg_j2k_area *tile, unsigned r)
{
    unsigned k = coding->levels - r;
    unsigned w_log2 = coding->precinct_log2[r] & 15, h_log2 = coding->precinct_log2[r] >> 4;
    uint32_t x0 = tg_j2k_coordinate(tile->x0, c->dx, k), x1 = tg_j2k_coordinate(tile->x1, c->dx, k);
    uint32_t y0 = tg_j2k_coordinate(tile->y0, c->dy, k), y1 = tg_j2k_coordinate(tile->y1, c->dy, k);
    uint64_t across = touched(x0, x1, w_log2), down = touched(y0, y1, h_log2);

    if (across == 0 || down == 0)
        return (count){0, 0};
    return (count){(double)across * (double)down,
                   blocks_along(x0, x1, across, w_log2, coding->block_w_log2, r == 0) *
                       blocks_along(y0, y1, down, h_log2, coding->block_h_log2, r == 0) *
                       (r == 0 ? 1 : 3)};
}

static count count_tile(const tg_j2k_header *h, const tg_j2k_area *tile)
{
    count all = {0, 0};

    for (unsigned i = 0; i < h->n_components; i++) {
        unsigned known = TG_MIN(i, TG_J2K_MAX_COMPONENTS - 1u);
        const tg_j2k_coding *coding = &h->coding[TG_MIN(i, (unsigned)TG_J2K_MAX_COMPONENTS)];

        for (unsigned r = 0; r <= coding->levels; r++) {
            count n = count_resolution(coding, &h->component[known], tile, r);

            all.precincts += n.precincts;
            all.blocks += n.blocks;
        }
    }
    return all;
}

static uint64_t saturated(double v)
{
    return v < 1e18 ? (uint64_t)v : UINT64_MAX;
}

uint64_t tg_j2k_packets(const tg_j2k_header *h, const tg_j2k_area *tile)
{
    return saturated(count_tile(h, tile).precincts * h->layers);
}

uint64_t tg_j2k_decode_bytes(const tg_j2k_header *h, const tg_j2k_area *tile,
                             const tg_j2k_area *wanted, unsigned k, uint32_t n_components)
{
    count n = count_tile(h, tile);
    const tg_j2k_component *c = h->component;
    double w = tg_j2k_coordinate(wanted->x1, c->dx, k) - tg_j2k_coordinate(wanted->x0, c->dx, k);
    double v = tg_j2k_coordinate(wanted->y1, c->dy, k) - tg_j2k_coordinate(wanted->y0, c->dy, k);
    bool whole = memcmp(wanted, tile, sizeof *tile) == 0;
    double samples = whole ? w * v : (w + PART_MARGIN) * (v + PART_MARGIN);

    return saturated(n.blocks * BLOCK_BYTES + n.precincts * PRECINCT_BYTES +
                     samples * n_components * (whole ? WHOLE_BYTES : TG_J2K_PART_BYTES));
}
