/* Few colours for a picture of many. Private to src/codec.
 *
 * Count every row, make the palette, then turn the same rows into indices. A picture that has no
 * more colours than the palette keeps them exactly; any other gets a palette by splitting the
 * colour space where its variance is largest, and its rows are dithered (Floyd and Steinberg). */
#ifndef TEGULA_PALETTE_H
#define TEGULA_PALETTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TG_PALETTE_MAX  256
#define TG_PALETTE_BITS 6 /* of each channel that tell bins apart */
#define TG_PALETTE_BINS (1 << 3 * TG_PALETTE_BITS)

typedef struct tg_colour_bin {
    uint64_t sum[3];
    uint64_t n;
} tg_colour_bin;

/* All zeros is the valid start. 9 MB: too large for the stack. */
typedef struct tg_palette {
    tg_colour_bin bin[TG_PALETTE_BINS];
    int16_t nearest[TG_PALETTE_BINS]; /* colour + 1 of a bin's middle; 0 = not looked for yet */
    /* Colours seen, open addressing; 0 is a free slot. Full once many is set. */
    uint32_t seen[4 * TG_PALETTE_MAX];
    uint8_t seen_index[4 * TG_PALETTE_MAX];
    unsigned n_seen;
    bool many;  /* more colours than fit */
    bool holes; /* some pixels are transparent */
    unsigned n; /* colours */
    uint8_t rgb[TG_PALETTE_MAX][3];
} tg_palette;

/* Pixels are 0xAARRGGBB; those of alpha below 128 are transparent, all others opaque. */
void tg_palette_count(tg_palette *p, const uint32_t *argb, size_t n);

/* Sets n and rgb. With holes there are at most 255 colours, and index n means transparent. */
void tg_palette_make(tg_palette *p);

/* Sixteenths of errors that a row takes over and hands on; zeros before the first row. */
static inline size_t tg_palette_error_items(size_t width_px)
{
    return 3 * (width_px + 2);
}

/* error and next: tg_palette_error_items each; swap them after each row. */
void tg_palette_row(tg_palette *p, uint8_t *index, const uint32_t *argb, size_t n,
                    const int16_t *error, int16_t *next);

#endif
