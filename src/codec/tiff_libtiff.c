/* Tiles and strips that libtiff decodes: whole, or line by line. */
#include <string.h>

#include "scratch.h"
#include "tegula/num.h"
#include "tiff.h"

/* Strips up to this size are decoded whole, which is faster; larger ones line by line, so that
 * reading them in bands takes one pass and little memory. */
#define WHOLE_STRIP_BYTES ((size_t)4 << 20)
#define WHOLE_STRIP_ROWS  256
/* A larger tile, or a strip that cannot be read by line, is not worth the memory. */
#define WHOLE_MOST_BYTES  ((size_t)192 << 20)

static unsigned block_lines(const tg_tiff_dir *dir)
{
    return dir->planes ? 1 : dir->coarse_v;
}

/* Bytes of a row of a tile, and rows (of blocks) of a tile or strip, as stored; the last strip ends
 * with the image. */
static size_t stored_row_bytes(const tg_tiff_dir *dir, unsigned channel)
{
    unsigned h = tg_tiff_plane_h(dir, channel);

    return h == 1 ? dir->row_bytes : (size_t)tg_ceil_div_u32(dir->tile_w_px, h) * (dir->bits / 8u);
}

static uint32_t stored_rows(const tg_tiff_dir *dir, uint32_t row, unsigned channel)
{
    uint32_t left = dir->height_px - row * dir->tile_h_px;
    uint32_t rows = dir->tiled ? dir->tile_h_px : TG_MIN(dir->tile_h_px, left);

    return tg_ceil_div_u32(rows, block_lines(dir) * tg_tiff_plane_v(dir, channel));
}

/* ---- chroma of planes: to libtiff a picture of its own ---- */

static bool make_coarse(tg_tiff_file *f, const tg_tiff_dir *dir)
{
    unsigned h = dir->coarse_h, v = dir->coarse_v;
    uint32_t tile_h = tg_ceil_div_u32(dir->tile_h_px, v);
    bool ok = TIFFSetField(f->tif, TIFFTAG_IMAGEWIDTH, tg_ceil_div_u32(dir->width_px, h)) &&
              TIFFSetField(f->tif, TIFFTAG_IMAGELENGTH, tg_ceil_div_u32(dir->height_px, v));

    if (!dir->tiled)
        return ok && TIFFSetField(f->tif, TIFFTAG_ROWSPERSTRIP, tile_h);
    return ok && TIFFSetField(f->tif, TIFFTAG_TILEWIDTH, tg_ceil_div_u32(dir->tile_w_px, h)) &&
           TIFFSetField(f->tif, TIFFTAG_TILELENGTH, tile_h);
}

/* Old-style JPEG is decoded forwards only: to go back, start again. */
static void rewind_if_past(tg_tiff_level *lv, uint32_t index)
{
    tg_tiff_file *f = lv->file[0];

    if (lv->dir.compression != COMPRESSION_OJPEG || !f)
        return;
    if (index < f->next_tile) {
        tg_tiff_file_close(f);
        lv->file[0] = NULL;
    }
}

static tg_tiff_file *channel_file(tg_tiff *t, unsigned level, unsigned channel, bool by_line,
                                  tg_err *err)
{
    const tg_tiff_dir *dir = &t->level[level].dir;
    bool coarse = tg_tiff_plane_h(dir, channel) * tg_tiff_plane_v(dir, channel) > 1;
    bool is_new = coarse && !t->level[level].file[channel];
    tg_tiff_file *f = tg_tiff_level_file(t, level, coarse || by_line ? channel : 0, err);

    if (f && is_new && !make_coarse(f, dir)) {
        tg_tiff_file_fail(f, err);
        return NULL;
    }
    return f;
}

/* ---- whole tiles ---- */

typedef struct whole {
    tg_tiff_file *f;
    unsigned channel;
    uint32_t index, rows;
    size_t row_bytes;
} whole;

/* Some of libtiff's decoders (ThunderScan is one) succeed without having written every byte; what
 * memory held before must not show. */
static void clear_first(const tg_tiff_dir *dir, uint8_t *dst, size_t n_bytes)
{
    switch (dir->compression) {
    case COMPRESSION_NONE:
    case COMPRESSION_LZW:
    case COMPRESSION_PACKBITS:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_ZSTD:
    case COMPRESSION_LZMA:
        break;
    default:
        memset(dst, 0, n_bytes);
    }
}

static bool decode(const tg_tiff_dir *dir, const whole *w, uint8_t *dst, tg_err *err)
{
    tmsize_t want = (tmsize_t)(w->rows * w->row_bytes), got;

    clear_first(dir, dst, (size_t)want);
    got = dir->tiled ? TIFFReadEncodedTile(w->f->tif, w->index, dst, want)
                     : TIFFReadEncodedStrip(w->f->tif, w->index, dst, want);

    w->f->next_row = UINT32_MAX;
    w->f->next_tile = w->index + 1;
    return (got == want && !w->f->complaint.doubtful) || tg_tiff_file_fail(w->f, err);
}

static void place_whole(const tg_tiff *t, const tg_tiff_part *p, const whole *w,
                        const uint8_t *tile)
{
    const tg_tiff_dir *dir = &t->level[p->level].dir;
    unsigned lines = block_lines(dir), v = tg_tiff_plane_v(dir, w->channel);

    for (uint32_t i = 0; i < p->in.h; i++) {
        uint32_t y = p->in.y + i;
        const uint8_t *row = tile + y / lines / v * w->row_bytes;

        if (dir->planes)
            tg_tiff_place_plane(t, p, i, row, p->in.x, w->channel);
        else
            tg_tiff_place(t, p, i, row, p->in.x, y % lines);
    }
}

/* A strip of which no part can be decoded by itself stays until its last row was read. */
static uint8_t *whole_strip(tg_tiff *t, const tg_tiff_part *p, const whole *w, tg_err *err)
{
    const tg_tiff_dir *dir = &t->level[p->level].dir;
    uint8_t *strip = tg_tiff_kept(t, p->level, w->index);

    if (strip)
        return strip;
    strip = tg_tiff_keep(t, p->level, w->index, w->row_bytes, w->rows, err);
    if (strip && !decode(dir, w, strip, err)) {
        tg_tiff_unkeep(t);
        return NULL;
    }
    return strip;
}

static bool read_kept(tg_tiff *t, const tg_tiff_part *p, const whole *w, tg_err *err)
{
    uint8_t *strip = whole_strip(t, p, w, err);

    if (!strip)
        return false;
    place_whole(t, p, w, strip);
    tg_tiff_kept_until(t, p);
    return true;
}

static bool read_whole(tg_tiff *t, const tg_tiff_part *p, const whole *w, tg_err *err)
{
    const tg_tiff_dir *dir = &t->level[p->level].dir;
    bool direct = tg_tiff_same_layout(dir) && p->in.h == w->rows && p->stride == w->row_bytes &&
                  p->in.w == dir->tile_w_px;
    uint8_t *tile;

    if (w->row_bytes > WHOLE_MOST_BYTES / w->rows)
        return tg_fail(err, TG_ERR_TOO_LARGE, "the tiles of the image are too large");
    if (!dir->tiled && w->rows * w->row_bytes > WHOLE_STRIP_BYTES && !dir->planes)
        return read_kept(t, p, w, err);
    tile = direct ? p->dst : tg_scratch(w->rows, w->row_bytes, err);
    if (!tile || !decode(dir, w, tile, err))
        return false;
    if (!direct)
        place_whole(t, p, w, tile);
    return true;
}

/* ---- line by line ---- */

/* Decodes lines in order from the start of the strip, or from where the last call ended. */
static bool read_lines(tg_tiff *t, tg_tiff_part *p, const whole *w, tg_err *err)
{
    const tg_tiff_dir *dir = &t->level[p->level].dir;
    tg_tiff_file *f = w->f;
    uint32_t strip = p->row * dir->tile_h_px, first = strip + p->in.y, end = first + p->in.h;
    bool goes_on = f->next_row != UINT32_MAX && f->next_row > strip && f->next_row <= first;
    uint16_t plane = dir->planes ? (uint16_t)tg_tiff_sample(dir, w->channel) : 0;
    uint8_t *line = tg_scratch(dir->row_bytes, 1, err);
    uint32_t y = goes_on ? f->next_row : strip;

    for (; line && y < end; y++) {
        clear_first(dir, line, dir->row_bytes);
        if (TIFFReadScanline(f->tif, line, y, plane) != 1 || f->complaint.doubtful) {
            p->done = y > first ? y - first : 0;
            f->next_row = UINT32_MAX;
            return tg_tiff_file_fail(f, err);
        }
        f->next_row = y + 1;
        if (y >= first && dir->planes)
            tg_tiff_place_plane(t, p, y - first, line, p->in.x, w->channel);
        else if (y >= first)
            tg_tiff_place(t, p, y - first, line, p->in.x, 0);
    }
    return line != NULL;
}

/* libtiff's lines of subsampled YCbCr are no lines, and some of its decoders do nothing by line. */
static bool has_lines(const tg_tiff_dir *dir)
{
    return !dir->tiled && dir->coarse_h * dir->coarse_v == 1 &&
           dir->compression != COMPRESSION_JBIG && dir->compression != COMPRESSION_OJPEG;
}

static bool better_by_line(const tg_tiff_dir *dir)
{
    return has_lines(dir) && (dir->tile_h_px > WHOLE_STRIP_ROWS ||
                              dir->row_bytes > WHOLE_STRIP_BYTES / dir->tile_h_px);
}

static bool read_channel(tg_tiff *t, tg_tiff_part *p, unsigned channel, tg_err *err)
{
    const tg_tiff_dir *dir = &t->level[p->level].dir;
    bool by_line = better_by_line(dir) || (t->base.options.lenient && has_lines(dir));
    whole w = {.channel = channel,
               .index = tg_tiff_index(dir, p->col, p->row, channel),
               .rows = stored_rows(dir, p->row, channel),
               .row_bytes = stored_row_bytes(dir, channel)};
    uint64_t offset, n;

    rewind_if_past(&t->level[p->level], w.index);
    w.f = channel_file(t, p->level, channel, by_line, err);
    if (!w.f || !tg_tiff_extent(t, w.f, w.index, &offset, &n, err))
        return false;
    if (n == 0)
        return tg_tiff_absent_part(t, p, channel, err);
    if (by_line)
        return read_lines(t, p, &w, err);
    return read_whole(t, p, &w, err);
}

bool tg_tiff_libtiff_part(tg_tiff *t, tg_tiff_part *p, tg_err *err)
{
    return tg_tiff_each_plane(t, p, read_channel, err);
}

uint64_t tg_tiff_libtiff_bytes(const tg_tiff_dir *dir)
{
    uint64_t rows = better_by_line(dir) ? 1 : dir->tile_h_px;

    return rows * dir->row_bytes;
}
