/* Codecs: file formats behind one interface. A new input format is one file in src/codec/ and one
 * line in the registry (src/codec/registry.c). Only files in src/codec/ include a codec library's
 * header; a library's own error becomes a tg_err there. */
#ifndef TEGULA_CODEC_H
#define TEGULA_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/buf.h"
#include "tegula/err.h"
#include "tegula/pixel.h"

#define TG_MAX_LEVELS  32 /* a halving pyramid of 2^31 px has 31 */
#define TG_MAX_SIDE_PX 0x7fffffffu

/* What the stored tiles of a level are when sent as they stand. */
typedef enum tg_stored {
    TG_STORED_NONE, /* need decoding */
    TG_STORED_JPEG, /* complete baseline JPEG once the tables are spliced in */
    TG_STORED_WEBP
} tg_stored;

/* One resolution of the image, as the file has it. */
typedef struct tg_level {
    uint32_t width_px, height_px;
    uint32_t tile_w_px, tile_h_px; /* unit of storage; for strips: width_px x rows per strip */
    uint32_t cols, rows;           /* tiles across and down */
    uint8_t max_reduction;         /* the decoder can give 1/2^k for k = 0 .. this (JPEG: 3) */
    tg_stored stored;
} tg_level;

typedef struct tg_image tg_image;

typedef struct tg_codec {
    const char *name; /* "TIFF", as messages write it */
    const char *help; /* one line for --formats */

    /* True if the first n bytes (up to 64) are this format's. */
    bool (*probe)(const uint8_t *head, size_t n);

    /* Reads headers only. Takes fd on success, leaves it to the caller on failure. page: 0 = the
     * first image of the file; TG_ERR_NOT_FOUND when there are fewer. */
    tg_image *(*open)(int fd, uint64_t size_bytes, unsigned page, tg_err *err);

    /* Pixels of a rectangle of a level at reduction k, in the image's fmt, into dst.
     * The level at reduction k has max(1, width_px >> k) x max(1, height_px >> k) pixels; reduced
     * pixel (i, j) stands for the source square [i << k, (i+1) << k) x [j << k, (j+1) << k).
     * Padding beyond the level's edge is never shown. rect lies inside the reduced level. Cheapest
     * when rect's top and bottom lie on multiples of tile_h_px >> k and successive calls go
     * downwards (a codec may keep a cursor). Anything missing or damaged is an error: never half a
     * picture. */
    bool (*read)(tg_image *img, unsigned level, unsigned k, tg_rect rect, void *dst,
                 size_t dst_stride, tg_err *err);

    /* Appends the stored tile as a complete stream of level's `stored` format whose size is exactly
     * the tile's visible part, with JFIF (YCbCr, gray) or Adobe (RGB) marker. A JPEG tile that
     * reaches beyond the level's edge is cropped without decoding: same coefficients, same tables
     * of quantisation. Fails with TG_ERR_NOT_IMPLEMENTED, leaving out as it was, when this tile
     * cannot be sent so (padded WebP, stream that disagrees with the directory, damaged, not
     * baseline); the caller then decodes. */
    bool (*stored_tile)(tg_image *img, unsigned level, uint32_t col, uint32_t row, tg_buf *out,
                        tg_err *err);

    void (*close)(tg_image *img); /* frees img, closes its fd */
} tg_codec;

/* Parsed header; the codec embeds it as the first member of its own struct. */
struct tg_image {
    const tg_codec *codec;
    tg_pixfmt fmt; /* what read() delivers, every level alike */
    unsigned n_levels;
    tg_level level[TG_MAX_LEVELS]; /* largest first */
    bool tiled;                    /* level[0] is stored in tiles, not strips */
    double dpi_x, dpi_y;           /* 0 = unknown */
    int fd;                        /* of the file, for fstat; the codec closes it */
    bool keep_tiles;               /* set by who reads: decoded tiles may go to the tile cache */
    size_t held_bytes;             /* memory held while open, for the cache's accounts */
};

/* The registry, most specific first, NULL-terminated. */
extern const tg_codec *const tg_codecs[];

/* Opens by magic bytes: reads the head of fd, asks every codec. TG_ERR_NOT_IMAGE when none knows it
 * (also for an empty file). fd is taken on success and left open for the caller on failure. */
tg_image *tg_image_open(int fd, uint64_t size_bytes, unsigned page, tg_err *err);
void tg_image_close(tg_image *img); /* NULL is fine */

/* Width and height of a level at reduction k (see read). */
static inline uint32_t tg_reduced_px(uint32_t px, unsigned k)
{
    return px >> k ? px >> k : 1;
}

#endif
