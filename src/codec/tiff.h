/* What the files of the TIFF codec share. Private to src/codec.
 *
 * One file descriptor, read with pread only (no mmap: a file cut short under a mapping kills the
 * process). Each level has libtiff handles of its own, opened at first use, so that no request
 * re-reads a directory because the last one looked at another level. */
#ifndef TEGULA_TIFF_H
#define TEGULA_TIFF_H

#include <tiffio.h>

#include "jpeg_read.h"
#include "tegula/codec.h"
#include "tegula/num.h"
#include "tiff_options.h"

/* A libtiff handle and what its callbacks need. */
typedef struct tg_tiff_file {
    TIFF *tif;
    int fd;
    uint64_t size_bytes, at_bytes;
    bool io_failed; /* the system refused a read, as against a file that is too short */
    char text[TG_TIFF_TEXT_BYTES]; /* libtiff's last complaint */
    uint32_t next_row;             /* where the line decoder stands; UINT32_MAX: nowhere */
} tg_tiff_file;

/* offset 0: the first directory. */
tg_tiff_file *tg_tiff_file_open(int fd, uint64_t size_bytes, uint64_t offset_bytes, tg_err *err);
void tg_tiff_file_close(tg_tiff_file *f); /* not the descriptor; NULL is fine */
/* libtiff refused something: sets TG_ERR_CORRUPT or TG_ERR_IO; returns false. */
bool tg_tiff_file_fail(tg_tiff_file *f, tg_err *err);

/* Who turns stored tiles into samples. */
typedef enum tg_tiff_route {
    TG_TIFF_BY_LIBTIFF,
    TG_TIFF_BY_JPEG,
    TG_TIFF_BY_WEBP,
    TG_TIFF_BY_RGBA /* libtiff's colour conversion to 8-bit RGB */
} tg_tiff_route;

/* A directory, checked: no value here can make arithmetic overflow. */
typedef struct tg_tiff_dir {
    uint64_t offset_bytes;
    uint32_t width_px, height_px;
    uint32_t tile_w_px, tile_h_px, cols, rows; /* as in tg_level */
    uint32_t subfile;                          /* NewSubfileType */
    uint16_t compression, photometric, bits, samples;
    uint16_t n_subifds;
    bool tiled;
    bool planes;        /* PlanarConfiguration 2 and more than one sample */
    bool premultiplied; /* associated alpha */
    uint8_t alpha;      /* sample that holds alpha, 0 = none */
    tg_tiff_route route;
    size_t row_bytes;    /* of one row of a decoded tile or strip (of one plane) */
    double dpi_x, dpi_y; /* 0 = unknown */
    tg_pixfmt fmt;       /* what read() makes of it */
    const char *refusal; /* why this kind cannot be read; NULL = it can */
} tg_tiff_dir;

/* Describes the directory f stands at. False (TG_ERR_CORRUPT, TG_ERR_TOO_LARGE) when it contradicts
 * itself or the file; an unknown kind is true with a refusal. */
bool tg_tiff_dir_read(tg_tiff_file *f, tg_tiff_dir *dir, tg_err *err);

/* The directories of image number `page`, largest first. Returns their number, 0 with err. */
unsigned tg_tiff_find_levels(tg_tiff_file *f, unsigned page, tg_tiff_dir out[TG_MAX_LEVELS],
                             tg_err *err);

typedef struct tg_tiff_level {
    tg_tiff_dir dir;
    tg_tiff_file *file[4]; /* [0]; for the line decoder of a planar file, one per channel */
    uint8_t (*palette)[3]; /* 256 colours */
    const uint8_t *tables; /* JPEGTables, in file[0]'s keeping */
    uint32_t tables_bytes;
    uint8_t *prefix; /* what a stored tile begins with; see tiff_stored.c */
    size_t prefix_bytes;
    uint16_t prefix_has; /* tables in prefix */
} tg_tiff_level;

typedef struct tg_tiff {
    tg_image base;
    int fd;
    uint64_t size_bytes;
    uint64_t cache_id; /* of its tiles in the tile cache */
    tg_tiff_level level[TG_MAX_LEVELS];

    /* The JPEG decoder; kept at work from call to call inside a strip too large to start again. */
    tg_jpeg_reader *jpeg;
    bool jpeg_live;
    unsigned jpeg_level, jpeg_k;
    uint32_t jpeg_strip;
    uint32_t jpeg_x; /* its rows begin at this column */
} tg_tiff;

/* A rectangle of one tile or strip and where it goes. */
typedef struct tg_tiff_part {
    unsigned level, k;
    uint32_t col, row; /* of the tile */
    tg_rect in;        /* in the tile, in reduced px */
    uint8_t *dst;
    size_t stride;
} tg_tiff_part;

/* The level's handle for a channel (0 unless planes), with palette and tables loaded. */
tg_tiff_file *tg_tiff_level_file(tg_tiff *t, unsigned level, unsigned channel, tg_err *err);

/* The sample that holds a channel of dir.fmt. */
static inline unsigned tg_tiff_sample(const tg_tiff_dir *dir, unsigned channel)
{
    return dir->alpha && channel + 1u == dir->fmt.channels ? dir->alpha : channel;
}

/* libtiff's number of a tile or strip. */
static inline uint32_t tg_tiff_index(const tg_tiff_dir *dir, uint32_t col, uint32_t row,
                                     unsigned channel)
{
    uint32_t plane = dir->planes ? tg_tiff_sample(dir, channel) : 0;

    return (plane * dir->rows + row) * dir->cols + col;
}

/* How much of a tile lies in the image, along one side. */
static inline uint32_t tg_tiff_visible_px(uint32_t side_px, uint32_t tile, uint32_t tile_px)
{
    return TG_MIN(tile_px, side_px - tile * tile_px);
}

/* Where a tile's bytes are; TG_ERR_CORRUPT when it has none or they end beyond the file. */
bool tg_tiff_extent(tg_tiff_file *f, uint32_t index, uint64_t *offset_bytes, uint64_t *n_bytes,
                    tg_err *err);

/* pread of exactly n bytes; TG_ERR_IO or TG_ERR_CORRUPT. */
bool tg_tiff_pread(const tg_tiff *t, void *dst, size_t n, uint64_t offset_bytes, tg_err *err);

/* Rows of samples as decoded to rows of dir.fmt: n pixels from pixel x on. */
void tg_tiff_place(const tg_tiff_level *lv, uint8_t *dst, const uint8_t *row, uint32_t x,
                   uint32_t n);
/* The same of one plane. */
void tg_tiff_place_plane(const tg_tiff_level *lv, uint8_t *dst, const uint8_t *row, uint32_t x,
                         uint32_t n, unsigned channel);
/* True if a row of samples is already a row of dir.fmt (but for tg_tiff_finish). */
bool tg_tiff_same_layout(const tg_tiff_dir *dir);
/* What is left to do in place once all channels are there: negative to positive, straight alpha. */
void tg_tiff_finish(const tg_tiff_dir *dir, uint8_t *row, uint32_t n);

/* The routes. */
bool tg_tiff_libtiff_part(tg_tiff *t, const tg_tiff_part *p, tg_err *err);
bool tg_tiff_jpeg_part(tg_tiff *t, const tg_tiff_part *p, tg_err *err);
bool tg_tiff_webp_part(tg_tiff *t, const tg_tiff_part *p, tg_err *err);
bool tg_tiff_rgba_part(tg_tiff *t, const tg_tiff_part *p, tg_err *err);
void tg_tiff_jpeg_close(tg_tiff *t);

/* The codec's operations. */
bool tg_tiff_read(tg_image *img, unsigned level, unsigned k, tg_rect rect, void *dst,
                  size_t dst_stride, tg_err *err);
bool tg_tiff_stored_tile(tg_image *img, unsigned level, uint32_t col, uint32_t row, tg_buf *out,
                         tg_err *err);

extern const tg_codec tg_tiff_codec;

#endif
