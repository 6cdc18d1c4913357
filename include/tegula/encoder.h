/* Encoders: rows in, a finished JPEG, PNG or WebP stream in a buffer out. */
#ifndef TEGULA_ENCODER_H
#define TEGULA_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/buf.h"
#include "tegula/err.h"
#include "tegula/pixel.h"

typedef enum tg_format { TG_FORMAT_JPEG, TG_FORMAT_PNG, TG_FORMAT_WEBP, TG_FORMATS } tg_format;

typedef struct tg_format_info {
    const char *extension;  /* as IIIF names it: "jpg", "png", "webp" */
    const char *media_type; /* "image/jpeg" */
    uint32_t max_side_px;   /* 65500, 2^31-1, 16383 */
    bool alpha;             /* can carry an alpha channel */
    uint8_t max_bits;       /* 8, or 16 for PNG */
} tg_format_info;

extern const tg_format_info tg_formats[TG_FORMATS];

typedef struct tg_encode_spec {
    tg_format format;
    uint32_t width_px, height_px;
    tg_pixfmt fmt;       /* of the rows; JPEG: 1 or 3 channels of 8 bit; WebP: 8 bit */
    bool bitonal;        /* every sample is 0 or max and there is 1 channel: PNG may use 1 bit */
    int quality;         /* JPEG 1..100 (baseline, integer DCT, 4:2:0); WebP 0..100, -1 lossless;
                            PNG 0..9 zlib level */
    double dpi_x, dpi_y; /* 0 = unknown, then JFIF 1:1 without unit and no pHYs */
} tg_encode_spec;

typedef struct tg_encoder tg_encoder;

/* Begins a stream at the end of out. out must outlive the encoder. NULL with err on failure:
 * TG_ERR_BAD_REQUEST when the format cannot hold the size. WebP keeps the whole raster (through
 * tg_image_alloc); JPEG and PNG keep rows. */
tg_encoder *tg_encoder_new(const tg_encode_spec *spec, tg_buf *out, tg_err *err);

/* Takes the next n rows; exactly height_px in all. */
bool tg_encoder_rows(tg_encoder *e, const void *rows, size_t stride, uint32_t n, tg_err *err);

/* Completes the stream. Only after true does out hold a picture. */
bool tg_encoder_finish(tg_encoder *e, tg_err *err);

/* At any time, NULL is fine. What was appended to out stays; the caller drops it on failure. */
void tg_encoder_free(tg_encoder *e);

#endif
