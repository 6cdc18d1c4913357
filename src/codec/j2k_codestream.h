/* A codestream by its tiles: where each one's parts are, and each as a codestream of its own, so
 * that OpenJPEG reads no more than the tile wanted. Private to src/codec. */
#ifndef TEGULA_J2K_CODESTREAM_H
#define TEGULA_J2K_CODESTREAM_H

#include "j2k_opj.h"

typedef struct tg_j2k_tile_part {
    uint64_t at, n_bytes; /* from its SOT marker on */
    uint32_t next;        /* of the same tile; TG_J2K_NO_PART */
    bool cut;             /* the codestream ends before it does */
} tg_j2k_tile_part;

#define TG_J2K_NO_PART UINT32_MAX

typedef struct tg_j2k_codestream {
    tg_j2k_source source;
    tg_j2k_header header;
    /* The rest is there after tg_j2k_codestream_index. */
    tg_j2k_tile_part *part;
    uint32_t n_parts, part_room;
    uint32_t *first_part, *last_part; /* by tile */
    uint8_t *main_header;             /* as far as it matters for a single tile */
    size_t main_header_bytes;
    size_t held_bytes;
} tg_j2k_codestream;

/* Reads the main header. */
bool tg_j2k_codestream_open(tg_j2k_codestream *s, const tg_j2k_source *source, tg_err *err);
void tg_j2k_codestream_close(tg_j2k_codestream *s);

/* Finds the tile-parts and reads the main header, once. */
bool tg_j2k_codestream_index(tg_j2k_codestream *s, tg_err *err);

typedef struct tg_j2k_wanted {
    uint32_t col, row;
    tg_j2k_area area; /* inside the tile */
    unsigned k;
    int max_layers;
    bool lenient;
    const uint32_t *component;
    uint32_t n_components;
} tg_j2k_wanted;

/* The area of a tile, by j2k_one_tile.c; NULL with err. TG_ERR_CORRUPT also when the tile is not
 * there. */
opj_image_t *tg_j2k_decode_tile(tg_j2k_codestream *s, const tg_j2k_wanted *w, tg_err *err);

#endif
