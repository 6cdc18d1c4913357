/* OpenJPEG: one picture out of a codestream that may lie in pieces. Private to src/codec. */
#ifndef TEGULA_J2K_OPJ_H
#define TEGULA_J2K_OPJ_H

#include <openjpeg.h>

#include "j2k_header.h"

typedef struct tg_j2k_request {
    const tg_j2k_source *piece; /* that make up the codestream, in order */
    size_t n_pieces;
    unsigned k;                /* resolutions left out */
    int max_layers;            /* 0 and below = all */
    bool lenient;              /* what is in doubt is logged, not refused */
    const tg_j2k_area *area;   /* on the reference grid at full size; NULL = all of it */
    const uint32_t *component; /* the only ones wanted, rising; NULL = all. Without the transform of
                                  the first three */
    uint32_t n_components;
    uint64_t memory_bytes; /* of tg_j2k_decode_bytes and the pieces: what the ceiling must allow */
} tg_j2k_request;

/* To be freed with opj_image_destroy; every wanted component has its samples. NULL with err. */
opj_image_t *tg_j2k_decode(const tg_j2k_request *r, tg_err *err);

/* Of each sample of a part of a tile: coefficients twice, the result, its margin. */
#define TG_J2K_PART_BYTES 16

/* Memory that decoding `wanted` of a tile at reduction k takes besides the codestream's own bytes,
 * as an estimate from above; UINT64_MAX for what would not end. tile, wanted: on the reference
 * grid. n_components: how many are wanted. */
uint64_t tg_j2k_decode_bytes(const tg_j2k_header *h, const tg_j2k_area *tile,
                             const tg_j2k_area *wanted, unsigned k, uint32_t n_components);

/* Packets that a tile has (section B.10). */
uint64_t tg_j2k_packets(const tg_j2k_header *h, const tg_j2k_area *tile);

#endif
