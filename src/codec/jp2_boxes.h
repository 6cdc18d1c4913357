/* Boxes of the JP2 family of files (ISO/IEC 15444-1 Annex I; JPX, ISO/IEC 15444-2 Annex M; JPH,
 * ISO/IEC 15444-15 Annex D). Private to src/codec. */
#ifndef TEGULA_JP2_BOXES_H
#define TEGULA_JP2_BOXES_H

#include "j2k_source.h"

#define TG_JP2_TYPE(a, b, c, d)                                                                    \
    ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

typedef struct tg_jp2_box {
    uint32_t type;
    tg_j2k_source contents; /* cut where the file ends */
    bool cut;
} tg_jp2_box;

/* The box at *at, which goes on to the next; false at the end. */
bool tg_jp2_next_box(const tg_j2k_source *boxes, uint64_t *at, tg_jp2_box *out);

/* Whether a file begins as a raw codestream, or as one of the family. */
bool tg_jp2_is_codestream(const uint8_t *head, size_t n);
bool tg_jp2_is_family(const uint8_t *head, size_t n);

/* The first codestream of a file of the family, or all of a raw one. */
bool tg_jp2_find_codestream(const tg_j2k_source *file, tg_j2k_source *out, tg_err *err);

#endif
