/* The main header of a JPEG 2000 codestream (ISO/IEC 15444-1 Annex A), as far as it says how to cut
 * the picture up: OpenJPEG reads it again for the pixels. Private to src/codec. */
#ifndef TEGULA_J2K_HEADER_H
#define TEGULA_J2K_HEADER_H

#include "j2k_source.h"

#define TG_J2K_MAX_COMPONENTS  8  /* known by name; a codestream may have more */
#define TG_J2K_MAX_LEVELS      32 /* decompositions, section A.6.1 */
#define TG_J2K_SOT_BYTES       12
#define TG_J2K_MAIN_HEADER_MAX ((uint64_t)16 << 20)

/* Marker codes. */
enum {
    TG_J2K_SOC = 0xff4f,
    TG_J2K_CAP = 0xff50,
    TG_J2K_SIZ = 0xff51,
    TG_J2K_COD = 0xff52,
    TG_J2K_COC = 0xff53,
    TG_J2K_TLM = 0xff55,
    TG_J2K_PLM = 0xff57,
    TG_J2K_PLT = 0xff58,
    TG_J2K_POC = 0xff5f,
    TG_J2K_PPM = 0xff60,
    TG_J2K_PPT = 0xff61,
    TG_J2K_CRG = 0xff63,
    TG_J2K_COM = 0xff64,
    TG_J2K_SOT = 0xff90,
    TG_J2K_SOP = 0xff91,
    TG_J2K_EPH = 0xff92,
    TG_J2K_SOD = 0xff93,
    TG_J2K_EOC = 0xffd9
};

typedef struct tg_j2k_component {
    uint8_t bits; /* 1 .. 38 */
    bool is_signed;
    uint8_t dx, dy; /* distance of its samples on the reference grid */
    uint16_t off_x; /* of its samples from the grid's points, in 1/65536 of dx (CRG) */
    uint16_t off_y;
} tg_j2k_component;

/* What COD and COC say of code-blocks and precincts. */
typedef struct tg_j2k_coding {
    uint8_t levels;                               /* decompositions */
    uint8_t block_w_log2, block_h_log2;           /* code-blocks */
    uint8_t block_style;                          /* table A.19 */
    uint8_t precinct_log2[TG_J2K_MAX_LEVELS + 1]; /* height << 4 | width, lowest resolution first */
    bool own;                                     /* of a COC, which COD does not change */
} tg_j2k_coding;

typedef struct tg_j2k_header {
    /* All on the reference grid: the image area, the tiles' first corner, their size. */
    uint32_t x0, y0, x1, y1;
    uint32_t tile_x0, tile_y0, tile_w, tile_h;
    uint32_t cols, rows;

    uint16_t n_components; /* as many as there are */
    tg_j2k_component component[TG_J2K_MAX_COMPONENTS];
    tg_j2k_coding coding[TG_J2K_MAX_COMPONENTS + 1]; /* the last: the finest of all others */
    uint8_t levels_min;                              /* of all components */
    bool sop, eph;                                   /* packets have start and end markers */
    uint8_t progression;                             /* 0 LRCP, 1 RLCP, 2 RPCL, 3 PCRL, 4 CPRL */
    bool poc;                                        /* progression changes on the way */
    bool in_tile_part;                               /* read by tg_j2k_tile_part_read, ... */
    bool tile_coding;                                /* ... and it has COD or COC of its own */
    uint16_t layers;
    bool mct;             /* the first three components are transformed together */
    bool high_throughput; /* some code-blocks are of Part 15 */
    bool packed_headers;  /* PPM or PPT: packet headers are not with their packets */
    uint64_t n_bytes;     /* up to the first SOT marker, or up to and with SOD */
} tg_j2k_header;

/* TG_ERR_CORRUPT for what cannot be, TG_ERR_NOT_IMPLEMENTED for what OpenJPEG cannot. */
bool tg_j2k_header_read(const tg_j2k_source *codestream, tg_j2k_header *out, tg_err *err);

/* The header of a tile-part, from its SOT marker on: changes h, which was the main header's, to
 * what holds for the tile. h->n_bytes becomes its length with SOD. */
bool tg_j2k_tile_part_read(const tg_j2k_source *tile_part, tg_j2k_header *h, tg_err *err);

/* Sides on the reference grid of what a tile covers of the image: x0, y0, x1, y1. */
typedef struct tg_j2k_area {
    uint32_t x0, y0, x1, y1;
} tg_j2k_area;

tg_j2k_area tg_j2k_tile_area(const tg_j2k_header *h, uint32_t col, uint32_t row);

/* ceil(ceil(v / d) / 2^k): a coordinate of the reference grid in the samples of a component. */
static inline uint32_t tg_j2k_coordinate(uint32_t v, uint32_t d, unsigned k)
{
    uint64_t sample = v / d + (v % d != 0);

    return (uint32_t)((sample + ((uint64_t)1 << k) - 1) >> k);
}

#endif
