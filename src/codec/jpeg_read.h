/* Decodes a JPEG stream that lies in part of a file, row by row. Private to src/codec. */
#ifndef TEGULA_JPEG_READ_H
#define TEGULA_JPEG_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jpeg_common.h"

typedef struct tg_jpeg_reader {
    struct jpeg_decompress_struct cinfo;
    tg_jpeg_errors errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    int fd;
    uint64_t at_bytes, end_bytes; /* what of the file is still to be read */
    bool many_scans;
    bool ended;            /* the data were cut short, which is overlooked (errors.lenient) */
    bool told;             /* by a line in the log */
    uint32_t last_row;     /* once ended: where what there is ends */
    uint8_t buffer[32768]; /* most 256 px tiles fit */
} tg_jpeg_reader;

/* Starts on n bytes at offset of fd, reading tables (a stream of their own, may be NULL) first.
 * After true, r->cinfo holds the header; the caller checks it, sets the colour spaces and, to get
 * what there is of damaged data, errors.lenient. */
bool tg_jpeg_reader_begin(tg_jpeg_reader *r, int fd, uint64_t offset_bytes, uint64_t n_bytes,
                          const uint8_t *tables, size_t n_tables, tg_err *err);

/* Decodes at 1/2^k, k = 0..3; r->cinfo.output_width and _height then tell the size. */
bool tg_jpeg_reader_start(tg_jpeg_reader *r, unsigned k, tg_err *err);

/* After start: only columns [x, x + w) are wanted. Rows then begin at the returned column, at or
 * before x, and have cinfo.output_width pixels, the same as without cropping; all of them where
 * cropping would save little. UINT32_MAX on failure. */
uint32_t tg_jpeg_reader_crop(tg_jpeg_reader *r, uint32_t x, uint32_t w, tg_err *err);

/* The next n rows; a NULL dst drops them. */
bool tg_jpeg_reader_rows(tg_jpeg_reader *r, uint8_t *dst, size_t stride, uint32_t n, tg_err *err);

/* Frees all but r itself; also after a failure. */
void tg_jpeg_reader_end(tg_jpeg_reader *r);

#endif
