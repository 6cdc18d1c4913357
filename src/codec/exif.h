/* Exif blocks (CIPA DC-008, a TIFF directory in a box): what matters of one, and a small one of our
 * own. Used by every format that can carry one. Private to src/codec. */
#ifndef TEGULA_EXIF_H
#define TEGULA_EXIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/buf.h"
#include "tegula/str.h"

typedef struct tg_exif {
    uint8_t orientation; /* 1 .. 8; 1 when absent or nonsense */
    double dpi_x, dpi_y; /* 0 = unknown */
    tg_str copyright;    /* view into the block, of the first of its two texts, may be empty */
} tg_exif;

/* block: from the byte order mark on ("II" or "MM"). Hostile input: whatever is wrong counts as
 * absent. Never fails. */
tg_exif tg_exif_read(const uint8_t *block, size_t n_bytes);

/* Appends a block with the density and the copyright of exif where it has them, from the byte order
 * mark on. Never an orientation. */
void tg_exif_write(tg_buf *out, const tg_exif *exif);

#endif
