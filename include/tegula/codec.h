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
#include "tegula/georef.h"
#include "tegula/pixel.h"
#include "tegula/texts.h"

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
    uint32_t tile_w_px, tile_h_px; /* unit of storage; for strips: width_px x rows per strip; for
                                      pictures in one piece: what is decoded at once */
    uint32_t cols, rows;           /* tiles across and down */
    uint8_t max_reduction;         /* the decoder can give 1/2^k for k = 0 .. this (JPEG: 3) */
    tg_stored stored;
} tg_level;

/* What a stored sample means. */
typedef enum tg_space {
    TG_SPACE_GRAY, /* 0 = black */
    TG_SPACE_RGB,
    TG_SPACE_CMYK, /* 0 = no ink */
    TG_SPACE_LAB   /* CIE L*a*b* of D50 as ICC v4 codes it: L * 255 / 100, a + 128, b + 128;
                      with 16 bits L * 65535 / 100 and 257 times (a + 128), (b + 128) */
} tg_space;

/* Pixels as read() delivers them: interleaved in native byte order, the colours of the space, then
 * straight alpha. Palettes, YCbCr, MinIsWhite, other depths, signed and floating samples are gone
 * here: a codec spreads n-bit samples to 0 .. 255 or 0 .. 65535. */
typedef struct tg_native {
    tg_space space;
    bool alpha;
    uint8_t bits; /* 8 or 16 */
} tg_native;

static inline unsigned tg_native_channels(tg_native n)
{
    static const uint8_t colours[] = {
        [TG_SPACE_GRAY] = 1, [TG_SPACE_RGB] = 3, [TG_SPACE_CMYK] = 4, [TG_SPACE_LAB] = 3};
    return colours[n.space] + (n.alpha ? 1u : 0u);
}

static inline size_t tg_native_bytes(tg_native n)
{
    return (size_t)tg_native_channels(n) * (n.bits / 8);
}

/* Blocks that a file carries beside its pixels. */
typedef enum tg_block {
    TG_BLOCK_ICC, /* the profile as it stands, not checked */
    TG_BLOCK_XMP  /* the packet as it stands */
} tg_block;

/* How doubtful input is taken; given at opening. */
typedef struct tg_read_options {
    bool lenient;   /* STRICT=0: serve what there is of a damaged picture, with a log line */
    int max_layers; /* quality layers of JPEG 2000; 0 and below = all */
} tg_read_options;

typedef struct tg_image tg_image;

typedef struct tg_codec {
    const char *name; /* "TIFF", as messages write it */
    const char *help; /* one line for --formats */

    /* True if the first n bytes (up to 64) are this format's. */
    bool (*probe)(const uint8_t *head, size_t n);

    /* Reads headers only. Takes fd on success, leaves it to the caller on failure. page: 0 = the
     * first image of the file; TG_ERR_NOT_FOUND when there are fewer. */
    tg_image *(*open)(int fd, uint64_t size_bytes, unsigned page, tg_err *err);

    /* Pixels of a rectangle of a level at reduction k, as img->native says, into dst.
     * The level at reduction k has max(1, width_px >> k) x max(1, height_px >> k) pixels; reduced
     * pixel (i, j) stands for the source square [i << k, (i+1) << k) x [j << k, (j+1) << k).
     * Padding beyond the level's edge is never shown. rect lies inside the reduced level. Cheapest
     * when rect's top and bottom lie on multiples of tile_h_px >> k and successive calls go
     * downwards (a codec may keep a cursor). Anything missing or damaged is an error: never half a
     * picture; only with options.lenient is it logged and what there is delivered, the rest
     * white. */
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

    /* Memory that read() holds for its own work on this rectangle besides dst, in bytes, as an
     * estimate from above. NULL: no more than some rows and a tile of the level. */
    uint64_t (*working_bytes)(const tg_image *img, unsigned level, unsigned k, tg_rect rect);

    /* Appends a block of the file; nothing when it has none, when it is longer than limit_bytes
     * or damaged. Blocks are fetched when wanted, so that opening reads headers only. NULL: the
     * format has none. */
    void (*block)(tg_image *img, tg_block which, size_t limit_bytes, tg_buf *out);

    /* The same of a text, as UTF-8 without NULs, blanks around it left out. */
    void (*text)(tg_image *img, tg_text which, size_t limit_bytes, tg_buf *out);

    /* Sets range_min and range_max where only the pixels tell them, which may take reading the
     * smallest level. read() does so by itself. NULL: known since opening. */
    bool (*find_range)(tg_image *img, tg_err *err);

    /* Where the picture lies on a map; fetched when wanted. NULL: nowhere. */
    void (*georef)(tg_image *img, tg_georef *out);

    /* Nobody reads the image for now: gives back what read() holds beyond held_bytes. NULL: it
     * holds nothing more. */
    void (*rest)(tg_image *img);

    void (*close)(tg_image *img); /* frees img, closes its fd */
} tg_codec;

/* Parsed header; the codec embeds it as the first member of its own struct. */
struct tg_image {
    const tg_codec *codec;
    tg_native native;    /* what read() delivers, every level alike */
    tg_pixfmt fmt;       /* what tg_image_read delivers; set by tg_image_open */
    uint8_t orientation; /* as EXIF and TIFF number it, 1 .. 8; levels are as stored */
    uint8_t stored_bits; /* of a sample in the file, for those who ask; 0 = native.bits */
    double range_min[5]; /* by channel: the stored values that became 0 and the maximum; */
    double range_max[5]; /* both 0 = the whole range of stored_bits */
    unsigned n_levels;
    tg_level level[TG_MAX_LEVELS]; /* largest first */
    bool tiled;                    /* level[0] is stored in tiles, not strips */
    double dpi_x, dpi_y;           /* 0 = unknown */
    int fd;                        /* of the file, for fstat; the codec closes it */
    bool keep_tiles;               /* set by who reads: decoded tiles may go to the tile cache */
    size_t held_bytes;             /* memory held while open, for the cache's accounts */
    tg_read_options options;       /* set by tg_image_open */
    bool colour_resolved;
    const struct tg_colour *colour; /* NULL until tg_colour_resolve; released by tg_image_close */
    void *kept; /* what render/tone knows of it; NULL or from tg_new, freed by tg_image_close */
};

/* The registry, most specific first, NULL-terminated. */
extern const tg_codec *const tg_codecs[];

/* What could be read with a library that was missing when this was built. */
typedef struct tg_codec_missing {
    const char *name, *library;
} tg_codec_missing;

/* The last has no name. */
extern const tg_codec_missing tg_codecs_missing[];

/* Opens by magic bytes: reads the head of fd, asks every codec. TG_ERR_NOT_IMAGE when none knows it
 * (also for an empty file). fd is taken on success and left open for the caller on failure.
 * options: NULL = strict, all layers. */
tg_image *tg_image_open(int fd, uint64_t size_bytes, unsigned page, const tg_read_options *options,
                        tg_err *err);
void tg_image_close(tg_image *img); /* NULL is fine */
void tg_image_rest(tg_image *img);  /* when a request is done with it */

/* As codec->read, in img->fmt: what the resampler cannot hold (CMYK, Lab) has become RGB on the
 * way. Gray and RGB come in the file's own primaries; tg_colour_row is for the result. */
bool tg_image_read(tg_image *img, unsigned level, unsigned k, tg_rect rect, void *dst,
                   size_t dst_stride, tg_err *err);

/* As codec->block, for what goes into outputs: XMP says that the picture is upright, as it is then,
 * and is left out when it cannot say so in as many bytes. */
void tg_image_block(tg_image *img, tg_block which, size_t limit_bytes, tg_buf *out);

/* As codec->text. */
void tg_image_text(tg_image *img, tg_text which, size_t limit_bytes, tg_buf *out);

/* As codec->georef. */
tg_georef tg_image_georef(tg_image *img);

/* For who asks for the range before any pixel was read; cheap once it is known. */
bool tg_image_find_range(tg_image *img, tg_err *err);

/* The stored values of channel c that read() gives as 0 and as the maximum. */
static inline void tg_image_range(const tg_image *img, unsigned c, double *low, double *high)
{
    unsigned bits = img->stored_bits ? img->stored_bits : img->native.bits;
    *low = c < 5 ? img->range_min[c] : 0;
    *high = c < 5 ? img->range_max[c] : 0;
    if (*low == *high) {
        *low = 0;
        *high = (double)(((uint64_t)1 << (bits < 63 ? bits : 63)) - 1);
    }
}

/* Memory of tg_image_read besides dst, bytes. */
uint64_t tg_image_working_bytes(const tg_image *img, unsigned level, unsigned k, tg_rect rect);

/* Orientations 5 to 8 lie on their side: shown width is stored height. */
static inline bool tg_image_on_side(const tg_image *img)
{
    return img->orientation >= 5;
}

/* Size as shown. */
static inline uint32_t tg_image_width_px(const tg_image *img)
{
    return tg_image_on_side(img) ? img->level[0].height_px : img->level[0].width_px;
}

static inline uint32_t tg_image_height_px(const tg_image *img)
{
    return tg_image_on_side(img) ? img->level[0].width_px : img->level[0].height_px;
}

/* Unit of storage of the largest level, as shown. */
static inline uint32_t tg_image_tile_width_px(const tg_image *img)
{
    return tg_image_on_side(img) ? img->level[0].tile_h_px : img->level[0].tile_w_px;
}

static inline uint32_t tg_image_tile_height_px(const tg_image *img)
{
    return tg_image_on_side(img) ? img->level[0].tile_w_px : img->level[0].tile_h_px;
}

/* Width and height of a level at reduction k (see read). */
static inline uint32_t tg_reduced_px(uint32_t px, unsigned k)
{
    return px >> k ? px >> k : 1;
}

#endif
