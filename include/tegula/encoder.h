/* Encoders: rows in, a finished stream of one of the output formats in a buffer out. */
#ifndef TEGULA_ENCODER_H
#define TEGULA_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/buf.h"
#include "tegula/err.h"
#include "tegula/pixel.h"
#include "tegula/str.h"

/* The two that IIIF's level 2 asks for, then the others by extension: lists keep this order. */
typedef enum tg_format {
    TG_FORMAT_JPEG,
    TG_FORMAT_PNG,
    TG_FORMAT_AVIF,
    TG_FORMAT_GIF,
    TG_FORMAT_JP2,
    TG_FORMAT_PDF,
    TG_FORMAT_TIFF,
    TG_FORMAT_WEBP,
    TG_FORMATS
} tg_format;

typedef struct tg_format_info {
    const char *extension;  /* as IIIF names it: "jpg", "tif" */
    const char *media_type; /* "image/jpeg" */
    uint32_t max_side_px;
    bool alpha;       /* can carry an alpha channel */
    uint8_t max_bits; /* per sample: 8 or 16 */
    bool icc;         /* has a place for a colour profile */
} tg_format_info;

extern const tg_format_info tg_formats[TG_FORMATS];

/* The library, or the part of one, that it takes to write a format and that is missing: in this
 * build or, where it is loaded, on this host. NULL when nothing is. */
const char *tg_format_lacks(tg_format format);

bool tg_format_available(tg_format format);

/* By the numbers of TIFF_COMPRESSION. */
typedef enum tg_tiff_compression {
    TG_TIFF_NONE,
    TG_TIFF_LZW,
    TG_TIFF_DEFLATE,
    TG_TIFF_JPEG,
    TG_TIFF_WEBP,
    TG_TIFF_ZSTD
} tg_tiff_compression;

/* What goes into the file beside the pixels; views that outlive the encoder, empty = leave out.
 * A format that has no place for one leaves it out. Orientation is never written. */
typedef struct tg_embed {
    tg_str icc;       /* a profile that fits the rows' channels */
    tg_str xmp;       /* a packet; left out of JPEG beyond 65502 bytes (XMP part 3, 1.1.3) */
    tg_str copyright; /* UTF-8 text without NUL, at most some kilobytes */
} tg_embed;

typedef struct tg_encode_spec {
    tg_format format;
    uint32_t width_px, height_px;
    tg_pixfmt fmt; /* of the rows, within what tg_formats says */
    bool bitonal;  /* every sample is 0 or max and there is 1 channel: PNG and TIFF take 1 bit */
    int quality;   /* JPEG 1..100 (baseline, integer DCT, 4:2:0), PDF the same; WebP and AVIF
                      0..100, -1 lossless; PNG 0..9 zlib level; JP2 1..100, a signal-to-noise ratio
                      that is the same for all pictures; TIFF by its compression; GIF none */
    double dpi_x, dpi_y; /* 0 = unknown; then JFIF 1:1 without unit, no pHYs, PDF 1 px = 1/72 in;
                            GIF has no place for it */
    tg_tiff_compression compression; /* TIFF: deflate instead where this cannot hold the pixels */
    tg_embed embed;
    int png_filter; /* libpng's mask of row filters, 0 = what suits quality; not for rows of bits */
} tg_encode_spec;

typedef struct tg_encoder tg_encoder;

/* Begins a stream at the end of out. out must outlive the encoder. NULL with err on failure:
 * TG_ERR_BAD_REQUEST when the format cannot hold the size, TG_ERR_NOT_IMPLEMENTED when it is not
 * available. */
tg_encoder *tg_encoder_new(const tg_encode_spec *spec, tg_buf *out, tg_err *err);

/* Memory for pixels that an encoder holds besides its output, as an estimate: WebP, AVIF and GIF
 * need the whole raster, JP2 one row of its tiles, the others some rows. */
uint64_t tg_encoder_cost_bytes(const tg_encode_spec *spec);

/* Takes the next n rows; exactly height_px in all. */
bool tg_encoder_rows(tg_encoder *e, const void *rows, size_t stride, uint32_t n, tg_err *err);

/* Completes the stream. Only after true does out hold a picture. */
bool tg_encoder_finish(tg_encoder *e, tg_err *err);

/* At any time, NULL is fine. What was appended to out stays; the caller drops it on failure. */
void tg_encoder_free(tg_encoder *e);

/* Puts density and embed of spec into the complete JPEG or WebP that begins at out[start], in the
 * places where the encoder of spec->format puts them: stored tiles and encoded ones carry the same.
 * A density that a JFIF marker tells already stays. False when out failed or the stream is none. */
bool tg_stored_embed(tg_buf *out, size_t start, const tg_encode_spec *spec);

#endif
