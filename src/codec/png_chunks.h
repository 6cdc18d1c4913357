/* The chunks of a PNG file, without libpng: what matters of the header, and the blocks beside the
 * pixels (PNG, third edition, clause 11). Private to src/codec. */
#ifndef TEGULA_PNG_CHUNKS_H
#define TEGULA_PNG_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parts.h"

typedef enum tg_png_colour { /* bits of the colour type */
                             TG_PNG_PALETTE = 1,
                             TG_PNG_RGB = 2,
                             TG_PNG_ALPHA = 4
} tg_png_colour;

typedef struct tg_png_header {
    uint32_t width_px, height_px;
    uint8_t bits, colour_type;
    bool interlaced;
    bool transparency;   /* tRNS that fits the colour type */
    double dpi_x, dpi_y; /* 0 = unknown */
    bool srgb;           /* sRGB chunk */
    uint32_t gamma;      /* gAMA times 100000; 0 = none */
    bool has_code_points;
    uint8_t code_points[4]; /* cICP: primaries, transfer, matrix, full range */
    bool has_chromaticities;
    uint32_t chromaticity[8]; /* cHRM times 100000: white, red, green, blue; x, y */
    tg_part icc, exif, xmp;
    struct {
        tg_part part;
        char type[4]; /* tEXt, zTXt or iTXt */
    } text[TG_TEXTS];
} tg_png_header;

bool tg_png_is(const uint8_t *head, size_t n);
bool tg_png_header_read(int fd, uint64_t size_bytes, tg_png_header *h, tg_err *err);

/* Append the block, decompressed where need be, or nothing when it is damaged or longer than
 * limit_bytes. Texts become UTF-8. */
void tg_png_icc(int fd, const tg_png_header *h, size_t limit_bytes, tg_buf *out);
void tg_png_xmp(int fd, const tg_png_header *h, size_t limit_bytes, tg_buf *out);
void tg_png_text(int fd, const tg_png_header *h, tg_text which, size_t limit_bytes, tg_buf *out);

/* Appends the ICC profile of the file: the embedded one as it stands, or one that cICP, gAMA and
 * cHRM amount to; nothing for sRGB, by whichever chunk. */
void tg_png_profile(int fd, const tg_png_header *h, size_t limit_bytes, tg_buf *out);

#endif
