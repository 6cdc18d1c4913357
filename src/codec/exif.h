/* Exif blocks (CIPA DC-008, a TIFF directory in a box): what matters of one, and a small one of our
 * own. Used by every format that can carry one. Private to src/codec. */
#ifndef TEGULA_EXIF_H
#define TEGULA_EXIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/buf.h"
#include "tegula/codec.h"

typedef struct tg_exif {
    uint8_t orientation;   /* 1 .. 8; 1 when absent or nonsense */
    double dpi_x, dpi_y;   /* 0 = unknown */
    tg_str text[TG_TEXTS]; /* views into the block, n 0 where it has none; of rights the first of
                              its two texts */
} tg_exif;

/* block: from the byte order mark on ("II" or "MM"). Hostile input: whatever is wrong counts as
 * absent. Never fails. */
tg_exif tg_exif_read(const uint8_t *block, size_t n_bytes);

/* Appends a block with the density and the rights of exif where it has them, from the byte order
 * mark on. Never an orientation. */
void tg_exif_write(tg_buf *out, const tg_exif *exif);

#endif
