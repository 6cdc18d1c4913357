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
    uint64_t read_bytes, limit_bytes; /* read so far; refused beyond */
    bool in_directory;                /* large reads are of tags that nobody asked for */
    tg_tiff_complaint complaint;
    uint32_t next_row;  /* where the line decoder stands; UINT32_MAX: nowhere */
    uint32_t next_tile; /* behind the one decoded last */
    uint64_t n_offsets; /* tiles that the directory really tells of */
} tg_tiff_file;

/* offset 0: the first directory, to look for others from there; else to read the pixels, too. */
tg_tiff_file *tg_tiff_file_open(int fd, uint64_t size_bytes, uint64_t offset_bytes, tg_err *err);
/* Allows what one directory may take; false when all together took more than is sound. */
bool tg_tiff_file_may_go_on(tg_tiff_file *f);
void tg_tiff_file_close(tg_tiff_file *f); /* not the descriptor; NULL is fine */
/* libtiff refused something: sets TG_ERR_CORRUPT or TG_ERR_IO; returns false. */
bool tg_tiff_file_fail(tg_tiff_file *f, tg_err *err);

/* tiff_entry.c: number of values of a tag in the directory at an offset, 0 = not there. */
uint64_t tg_tiff_entry_count(const tg_tiff_file *f, uint64_t dir_offset_bytes, unsigned tag);

/* tiff_geo.c: codec->georef. */
void tg_tiff_georef(tg_image *img, tg_georef *out);

/* Who turns stored tiles into samples. */
typedef enum tg_tiff_route {
    TG_TIFF_BY_LIBTIFF,
    TG_TIFF_BY_JPEG,
    TG_TIFF_BY_WEBP,
    TG_TIFF_BY_J2K
} tg_tiff_route;

typedef enum tg_tiff_number { TG_TIFF_UNSIGNED, TG_TIFF_SIGNED, TG_TIFF_FLOAT } tg_tiff_number;

/* What the colour samples, spread to 8 or 16 bits, still lack to be what the codec delivers. */
typedef enum tg_tiff_coding {
    TG_TIFF_PLAIN,
    TG_TIFF_NEGATIVE, /* 0 = white, or no ink */
    TG_TIFF_INDEXED,  /* one sample, looked up in the palette */
    TG_TIFF_YCC,
    TG_TIFF_LAB
} tg_tiff_coding;

/* A directory, checked: no value here can make arithmetic overflow. */
typedef struct tg_tiff_dir {
    uint64_t offset_bytes;
    uint32_t width_px, height_px;
    uint32_t tile_w_px, tile_h_px, cols, rows; /* as in tg_level */
    uint32_t subfile;                          /* NewSubfileType */
    uint16_t compression, photometric, bits, samples, format;
    uint16_t orientation;
    uint16_t n_subifds;
    bool tiled;
    bool planes;        /* PlanarConfiguration 2 and more than one sample */
    bool premultiplied; /* associated alpha */
    bool ranged;        /* samples are numbers whose display range must be known */
    uint8_t alpha;      /* sample that holds alpha, 0 = none */
    /* Of chroma, 1, 2 or 4 each, where the route delivers it coarser than luma: contiguous rows
     * are then rows of blocks of h x v luma samples, Cb and Cr (TIFF 6.0, section 21). */
    uint8_t coarse_h, coarse_v;
    /* Rows as the route delivers them: samples of a pixel, bits of a sample. */
    uint8_t raw_samples, raw_bits;
    tg_tiff_number number;
    tg_tiff_coding coding;
    tg_tiff_route route;
    size_t row_bytes;         /* of one row (of blocks) of a tile or strip, of one plane */
    double dpi_x, dpi_y;      /* 0 = unknown */
    tg_native native;         /* what read() makes of it */
    const char *refusal;      /* why this kind cannot be read; NULL = it can */
    tg_err_kind refusal_kind; /* unknown kind, or known and not implemented */
} tg_tiff_dir;

/* Describes the directory f stands at. False (TG_ERR_CORRUPT, TG_ERR_TOO_LARGE) when it contradicts
 * itself or the file; an unknown kind is true with a refusal. */
bool tg_tiff_dir_read(tg_tiff_file *f, tg_tiff_dir *dir, tg_err *err);
bool tg_tiff_is_ccitt(const tg_tiff_dir *dir);

/* The directories of image number `page`, largest first. Returns their number, 0 with err. */
unsigned tg_tiff_find_levels(tg_tiff_file *f, unsigned page, tg_tiff_dir out[TG_MAX_LEVELS],
                             tg_err *err);

#define TG_TIFF_CHANNELS 5 /* most of a tg_native */

/* YCbCr to RGB: R = y + red_cr Cr, G = y + green_cb Cb + green_cr Cr, B = y + blue_cb Cb, where
 * y = (Y - y_black) y_scale and chroma counts from its zero. */
typedef struct tg_tiff_ycc {
    float y_black, y_scale, cb_zero, cr_zero;
    float red_cr, green_cb, green_cr, blue_cb;
} tg_tiff_ycc;

typedef struct tg_tiff_level {
    tg_tiff_dir dir;
    tg_tiff_file *file[TG_TIFF_CHANNELS]; /* [0]; one per channel where planes need it */
    uint8_t (*palette)[3];                /* 1 << bits colours */
    tg_tiff_ycc ycc;
    double nodata;         /* GDAL's, NAN = none */
    const uint8_t *tables; /* JPEGTables, in file[0]'s keeping */
    uint32_t tables_bytes;
    uint8_t *prefix; /* what a stored tile begins with; see tiff_stored.c */
    size_t prefix_bytes;
    uint16_t prefix_has; /* tables in prefix */
} tg_tiff_level;

/* Where the tile damaged last is white from. */
typedef struct tg_tiff_broken {
    bool is;
    unsigned level, k;
    uint32_t col, row, from;
} tg_tiff_broken;

typedef struct tg_tiff {
    tg_image base;
    int fd;
    uint64_t size_bytes;
    uint64_t cache_id; /* of its tiles in the tile cache */
    tg_tiff_level level[TG_MAX_LEVELS];
    bool range_known; /* base.range_min and range_max hold */
    /* The JPEG decoder; kept at work from call to call inside a strip too large to start again. */
    tg_jpeg_reader *jpeg;
    bool jpeg_live;
    unsigned jpeg_level, jpeg_k;
    uint32_t jpeg_strip;
    uint32_t jpeg_x; /* its rows begin at this column */
    /* What was decoded whole; see tiff_kept.c. */
    uint8_t *kept;
    unsigned kept_level;
    uint32_t kept_index;
    size_t kept_row_bytes;
    tg_tiff_broken broken;
} tg_tiff;

/* Least and greatest of the finite samples looked at. */
typedef struct tg_tiff_extremes {
    double min, max;
} tg_tiff_extremes;

/* A rectangle of one tile or strip and where it goes. */
typedef struct tg_tiff_part {
    unsigned level, k;
    uint32_t col, row; /* of the tile */
    tg_rect in;        /* in the tile, in reduced px */
    uint8_t *dst;
    size_t stride;
    uint32_t done;              /* after a failure: first rows of it that are whole all the same */
    tg_tiff_extremes *extremes; /* not NULL: samples are looked at, not placed */
} tg_tiff_part;

/* The level's handle for a channel (0 unless planes), with palette and tables loaded. */
tg_tiff_file *tg_tiff_level_file(tg_tiff *t, unsigned level, unsigned channel, tg_err *err);

/* The sample that holds a channel of dir.native; colours beyond what is stored are the last one. */
static inline unsigned tg_tiff_sample(const tg_tiff_dir *dir, unsigned channel)
{
    if (dir->alpha && channel + 1u == tg_native_channels(dir->native))
        return dir->alpha;
    return dir->coding == TG_TIFF_INDEXED ? 0 : channel;
}

/* True if the channel's plane is coarse_h x coarse_v times smaller than the image. */
static inline bool tg_tiff_is_coarse(const tg_tiff_dir *dir, unsigned channel)
{
    return dir->planes && dir->coding == TG_TIFF_YCC && (channel == 1 || channel == 2);
}

static inline unsigned tg_tiff_plane_h(const tg_tiff_dir *dir, unsigned channel)
{
    return tg_tiff_is_coarse(dir, channel) ? dir->coarse_h : 1;
}

static inline unsigned tg_tiff_plane_v(const tg_tiff_dir *dir, unsigned channel)
{
    return tg_tiff_is_coarse(dir, channel) ? dir->coarse_v : 1;
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

/* Where a tile's bytes are; 0 bytes at offset 0: a tile that was never written, all nodata.
 * TG_ERR_CORRUPT when it has none otherwise or they end beyond the file (lenient: up to its end).
 */
bool tg_tiff_extent(const tg_tiff *t, tg_tiff_file *f, uint32_t index, uint64_t *offset_bytes,
                    uint64_t *n_bytes, tg_err *err);
/* pread of exactly n bytes; TG_ERR_IO or TG_ERR_CORRUPT. */
bool tg_tiff_pread(const tg_tiff *t, void *dst, size_t n, uint64_t offset_bytes, tg_err *err);

/* tiff_kind.c: sets what depends on photometric interpretation, samples and compression, or
 * refusal. */
void tg_tiff_classify(TIFF *tif, tg_tiff_dir *dir);

/* tiff_palette.c */
bool tg_tiff_palette_load(tg_tiff_level *lv, TIFF *tif);

/* tiff_ycc.c */
void tg_tiff_ycc_load(tg_tiff_level *lv, TIFF *tif);
void tg_tiff_ycc_to_rgb(const tg_tiff_level *lv, void *row, uint32_t n);
/* n pixels from x on of line `line` of a row of blocks. */
void tg_tiff_ycc_unblock(const tg_tiff_dir *dir, uint8_t *dst, const uint8_t *blocks, unsigned line,
                         uint32_t x, uint32_t n);

/* tiff_lab.c: in place, from the codings of TIFF to that of TG_SPACE_LAB. */
void tg_tiff_lab(const tg_tiff_dir *dir, void *row, uint32_t n);

/* tiff_samples.c: one sample of n pixels, first_bit and step_bits counted in the row, to a channel
 * of 8 or 16 bits, step bytes apart. min and max (of ranged samples) become 0 and the maximum. */
typedef struct tg_tiff_channel {
    const uint8_t *row;
    uint64_t first_bit;
    uint32_t step_bits;
    double min, max;
    uint8_t *dst;
    size_t dst_step;
} tg_tiff_channel;

void tg_tiff_spread(const tg_tiff_dir *dir, const tg_tiff_channel *c, uint32_t n);
/* An index into the palette. */
unsigned tg_tiff_packed(const uint8_t *row, uint64_t bit, unsigned bits);
/* Widens extremes by the colour samples of n pixels of a row; nodata is passed over. */
void tg_tiff_extremes_row(const tg_tiff_level *lv, tg_tiff_extremes *e, const uint8_t *row,
                          uint32_t x, uint32_t n);
/* A sample of the directory's kind with this value, nearest to it. */
void tg_tiff_store(const tg_tiff_dir *dir, uint8_t *sample, double value);

/* tiff_range.c: sets base.range_min and range_max, if they depend on the pixels. */
bool tg_tiff_find_range(tg_image *img, tg_err *err);

/* Rows of samples as the route decodes them to rows of dir.native, but for tg_tiff_finish: n
 * pixels from pixel x on, of `line` of a row of blocks. */
void tg_tiff_place(const tg_tiff *t, const tg_tiff_part *p, uint32_t i, const uint8_t *row,
                   uint32_t x, unsigned line);
/* The same of one plane, whose row may be coarser; x is counted in the image. */
void tg_tiff_place_plane(const tg_tiff *t, const tg_tiff_part *p, uint32_t i, const uint8_t *row,
                         uint32_t x, unsigned channel);
/* True if a row of samples is already a row of dir.native (but for tg_tiff_finish). */
bool tg_tiff_same_layout(const tg_tiff_dir *dir);
/* What is left to do in place once all channels are there: colours, straight alpha. */
void tg_tiff_finish(const tg_tiff_level *lv, uint8_t *row, uint32_t n);
/* tiff_nodata.c: the value of no data, NAN = none; and a tile that was never written. */
double tg_tiff_nodata(TIFF *tif);
bool tg_tiff_absent_part(tg_tiff *t, tg_tiff_part *p, unsigned channel, tg_err *err);

/* The routes. */
bool tg_tiff_libtiff_part(tg_tiff *t, tg_tiff_part *p, tg_err *err);
bool tg_tiff_jpeg_part(tg_tiff *t, tg_tiff_part *p, tg_err *err);
bool tg_tiff_webp_part(tg_tiff *t, tg_tiff_part *p, tg_err *err);
bool tg_tiff_j2k_part(tg_tiff *t, tg_tiff_part *p, tg_err *err);
void tg_tiff_jpeg_stop(tg_tiff *t); /* gives up a strip half read */
void tg_tiff_jpeg_close(tg_tiff *t);

/* Reads the planes one by one, each as a channel; with contiguous samples all at once as 0. */
typedef bool tg_tiff_plane_fn(tg_tiff *t, tg_tiff_part *p, unsigned channel, tg_err *err);
bool tg_tiff_each_plane(tg_tiff *t, tg_tiff_part *p, tg_tiff_plane_fn *read, tg_err *err);

/* tiff_kept.c: NULL when it is another tile, or none, that is kept. */
uint8_t *tg_tiff_kept(const tg_tiff *t, unsigned level, uint32_t index);
uint8_t *tg_tiff_keep(tg_tiff *t, unsigned level, uint32_t index, size_t row_bytes, uint32_t rows,
                      tg_err *err);
void tg_tiff_unkeep(tg_tiff *t);
/* The part was read; gives the tile back if it was the last of it. */
void tg_tiff_kept_until(tg_tiff *t, const tg_tiff_part *p);

/* What the libtiff route decodes at a time. */
uint64_t tg_tiff_libtiff_bytes(const tg_tiff_dir *dir);

/* The codec's operations. */
bool tg_tiff_read(tg_image *img, unsigned level, unsigned k, tg_rect rect, void *dst,
                  size_t dst_stride, tg_err *err);
uint64_t tg_tiff_working_bytes(const tg_image *img, unsigned level, unsigned k, tg_rect rect);
void tg_tiff_block(tg_image *img, tg_block which, size_t limit_bytes, tg_buf *out);
void tg_tiff_text(tg_image *img, tg_text which, size_t limit_bytes, tg_buf *out);
bool tg_tiff_stored_tile(tg_image *img, unsigned level, uint32_t col, uint32_t row, tg_buf *out,
                         tg_err *err);

extern const tg_codec tg_tiff_codec;

#endif
