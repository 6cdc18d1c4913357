/* One JPEG 2000 codestream in memory (or a JP2 file: told by its first bytes) decoded whole: the
 * tiles of a TIFF with compression 33003, 33005 or 34712. Private to src/codec. */
#ifndef TEGULA_J2K_TILE_H
#define TEGULA_J2K_TILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/err.h"

typedef struct tg_j2k_tile {
    uint32_t width_px, height_px; /* of the codestream's image at the reduction */
    uint8_t channels;             /* components delivered, 1 .. 5 */
    uint8_t bits;                 /* of dst's samples: 8 for precisions up to 8, else 16 */
} tg_j2k_tile;

/* What the header says; no pixels. TG_ERR_CORRUPT, TG_ERR_NOT_IMPLEMENTED. */
bool tg_j2k_tile_info(const uint8_t *data, size_t n_bytes, unsigned k, tg_j2k_tile *out,
                      tg_err *err);

/* Decodes at 1 / 2^k into interleaved samples spread to the full range of out->bits, all components
 * brought to the first one's size. ycc: the components are YCbCr and become RGB. dst has room for
 * width_px x height_px as tg_j2k_tile_info said. lenient: what is missing is left as OpenJPEG
 * leaves it. */
bool tg_j2k_tile_decode(const uint8_t *data, size_t n_bytes, unsigned k, bool ycc, bool lenient,
                        void *dst, size_t stride, tg_err *err);

#endif
