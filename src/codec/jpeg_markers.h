/* The header of a JPEG file, marker by marker, without libjpeg: what lies in application segments
 * is hopped over, so that a file with megabytes of them costs a few kilobytes of reading (ISO/IEC
 * 10918-1, annex B). Private to src/codec. */
#ifndef TEGULA_JPEG_MARKERS_H
#define TEGULA_JPEG_MARKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parts.h"

typedef struct tg_jpeg_header {
    uint8_t sof; /* the frame's marker, 0xc0 .. 0xcf */
    uint8_t precision, components;
    uint16_t width_px, height_px;
    uint8_t h_factor[4], v_factor[4]; /* of the first four components */
    bool many_scans;                  /* libjpeg will hold all coefficients */
    double dpi_x, dpi_y;              /* of JFIF; 0 = unknown */
    tg_part exif, xmp;                /* behind their signatures */
    tg_part comment;                  /* the first */
} tg_jpeg_header;

/* Reads up to the first scan. */
bool tg_jpeg_header_read(int fd, uint64_t size_bytes, tg_jpeg_header *h, tg_err *err);

/* Appends the ICC profile, put together of its numbered APP2 chunks (ICC.1:2010, B.4) in whatever
 * order they stand; nothing when one is missing, doubled, or the whole longer than limit_bytes. */
void tg_jpeg_icc(int fd, uint64_t size_bytes, size_t limit_bytes, tg_buf *out);

#endif
