/* Opening a TIFF image: the levels as the codec interface tells them, handles on demand. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/tile_cache.h"
#include "tiff.h"

/* What a level takes once used, roughly: libtiff's handle and tables of offsets; then, where
 * libtiff decodes, its decoder and a compressed tile. */
#define HANDLE_BYTES  12288
#define DECODER_BYTES 98304

static bool tiff_probe(const uint8_t *head, size_t n)
{
    static const uint8_t magic[4][4] = {
        {'I', 'I', 42, 0}, {'M', 'M', 0, 42}, {'I', 'I', 43, 0}, {'M', 'M', 0, 43}};

    for (unsigned i = 0; n >= 4 && i < 4; i++)
        if (memcmp(head, magic[i], 4) == 0)
            return true;
    return false;
}

/* Largest k with side >> k > 0 and every tile boundary on a multiple of 2^k. */
static unsigned axis_reduction(uint32_t side_px, uint32_t tile_px, uint32_t tiles)
{
    unsigned k = 0;

    while (k < 3 && side_px >> (k + 1) && (tiles == 1 || tile_px % (2u << k) == 0))
        k++;
    return k;
}

static unsigned max_reduction(const tg_tiff_dir *d)
{
    if (d->route != TG_TIFF_BY_JPEG || d->coarse_h * d->coarse_v > 1)
        return 0;
    return TG_MIN(axis_reduction(d->width_px, d->tile_w_px, d->cols),
                  axis_reduction(d->height_px, d->tile_h_px, d->rows));
}

static tg_stored stored_kind(const tg_tiff_dir *d)
{
    bool jpeg = d->route == TG_TIFF_BY_JPEG && d->coding == TG_TIFF_PLAIN &&
                d->native.space != TG_SPACE_CMYK && tg_tiff_same_layout(d) && !d->native.alpha;
    bool webp = d->route == TG_TIFF_BY_WEBP && d->samples == d->raw_samples && !d->premultiplied;

    if (!d->tiled || d->planes)
        return TG_STORED_NONE;
    if (jpeg && d->tile_w_px <= 65500 && d->tile_h_px <= 65500)
        return TG_STORED_JPEG;
    return webp ? TG_STORED_WEBP : TG_STORED_NONE;
}

static void describe(tg_image *img, const tg_tiff_dir *d, unsigned i)
{
    img->level[i] = (tg_level){
        .width_px = d->width_px,
        .height_px = d->height_px,
        .tile_w_px = d->tile_w_px,
        .tile_h_px = d->tile_h_px,
        .cols = d->cols,
        .rows = d->rows,
        .max_reduction = (uint8_t)max_reduction(d),
        .stored = stored_kind(d),
    };
}

static void tiff_rest(tg_image *img)
{
    tg_tiff *t = (tg_tiff *)img;

    tg_tiff_jpeg_stop(t);
    tg_tiff_unkeep(t);
}

static void tiff_close(tg_image *img)
{
    tg_tiff *t = (tg_tiff *)img;

    tiff_rest(img);
    tg_tiff_jpeg_close(t);
    tg_tile_cache_drop_image(t->cache_id);
    for (unsigned i = 0; i < img->n_levels; i++) {
        tg_tiff_level *lv = &t->level[i];

        for (unsigned c = 0; c < TG_TIFF_CHANNELS; c++)
            tg_tiff_file_close(lv->file[c]);
        free(lv->palette);
        free(lv->prefix);
    }
    close(t->fd);
    free(t);
}

static tg_image *tiff_open(int fd, uint64_t size_bytes, unsigned page, tg_err *err)
{
    tg_tiff_dir dirs[TG_MAX_LEVELS];
    tg_tiff_file *f = tg_tiff_file_open(fd, size_bytes, 0, err);
    unsigned n = f ? tg_tiff_find_levels(f, page, dirs, err) : 0;
    tg_tiff *t;

    tg_tiff_file_close(f);
    if (n == 0)
        return NULL;
    t = tg_new(sizeof *t);
    t->base.codec = &tg_tiff_codec;
    t->base.native = dirs[0].native;
    t->base.orientation = (uint8_t)dirs[0].orientation;
    t->base.stored_bits = (uint8_t)dirs[0].bits;
    t->base.n_levels = n;
    t->base.tiled = dirs[0].tiled;
    t->base.dpi_x = dirs[0].dpi_x;
    t->base.dpi_y = dirs[0].dpi_y;
    t->base.held_bytes = sizeof *t + sizeof *t->jpeg;
    t->fd = fd;
    t->size_bytes = size_bytes;
    t->cache_id = tg_tile_cache_new_image();
    for (unsigned i = 0; i < n; i++) {
        t->level[i].dir = dirs[i];
        t->base.held_bytes += HANDLE_BYTES;
        t->base.held_bytes += dirs[i].route == TG_TIFF_BY_LIBTIFF ? DECODER_BYTES : 0;
        describe(&t->base, &dirs[i], i);
    }
    return &t->base;
}

static bool same_storage(const tg_tiff_dir *a, const tg_tiff_dir *b)
{
    return a->width_px == b->width_px && a->height_px == b->height_px &&
           a->tile_w_px == b->tile_w_px && a->tile_h_px == b->tile_h_px && a->bits == b->bits &&
           a->samples == b->samples && a->planes == b->planes && a->format == b->format &&
           a->photometric == b->photometric && a->compression == b->compression &&
           a->alpha == b->alpha && a->row_bytes == b->row_bytes && a->coding == b->coding &&
           a->coarse_h == b->coarse_h && a->coarse_v == b->coarse_v && !a->refusal && !b->refusal;
}

/* libtiff fills tables that are too short with zeros, which mean something else. */
static uint64_t count_offsets(const tg_tiff_file *f, uint64_t dir_offset_bytes)
{
    return TG_MAX(tg_tiff_entry_count(f, dir_offset_bytes, TIFFTAG_TILEOFFSETS),
                  tg_tiff_entry_count(f, dir_offset_bytes, TIFFTAG_STRIPOFFSETS));
}

/* The file may have been rewritten since tiff_open: everything computed from the directory must
 * still hold. */
static bool load_level(tg_tiff_level *lv, tg_tiff_file *f, tg_err *err)
{
    tg_tiff_dir now;
    void *tables;

    if (!tg_tiff_dir_read(f, &now, err))
        return false;
    if (!same_storage(&now, &lv->dir))
        return tg_fail(err, TG_ERR_CORRUPT, "the image file changed while it was open");
    if (lv->dir.coding == TG_TIFF_INDEXED && !lv->palette && !tg_tiff_palette_load(lv, f->tif))
        return tg_fail(err, TG_ERR_CORRUPT, "the image file changed while it was open");
    if (lv->dir.coding == TG_TIFF_YCC)
        tg_tiff_ycc_load(lv, f->tif);
    lv->nodata = tg_tiff_nodata(f->tif);
    f->n_offsets = count_offsets(f, lv->dir.offset_bytes);
    if (lv->dir.route == TG_TIFF_BY_JPEG &&
        TIFFGetField(f->tif, TIFFTAG_JPEGTABLES, &lv->tables_bytes, &tables))
        lv->tables = tables;
    return true;
}

tg_tiff_file *tg_tiff_level_file(tg_tiff *t, unsigned level, unsigned channel, tg_err *err)
{
    tg_tiff_level *lv = &t->level[level];
    tg_tiff_file *f = lv->file[channel];

    if (f)
        return f;
    f = tg_tiff_file_open(t->fd, t->size_bytes, lv->dir.offset_bytes, err);
    if (f && !load_level(lv, f, err)) {
        tg_tiff_file_close(f);
        return NULL;
    }
    return lv->file[channel] = f;
}

bool tg_tiff_extent(const tg_tiff *t, tg_tiff_file *f, uint32_t index, uint64_t *offset_bytes,
                    uint64_t *n_bytes, tg_err *err)
{
    int failed = 0;

    *offset_bytes = TIFFGetStrileOffsetWithErr(f->tif, index, &failed);
    if (!failed)
        *n_bytes = TIFFGetStrileByteCountWithErr(f->tif, index, &failed);
    if (failed)
        return tg_tiff_file_fail(f, err);
    if (*n_bytes == 0 && *offset_bytes == 0 && index < f->n_offsets)
        return true;
    if (*n_bytes == 0 || *offset_bytes == 0)
        return tg_fail(err, TG_ERR_CORRUPT, "part of the image is missing from its file");
    if (*offset_bytes < f->size_bytes && t->base.options.lenient)
        *n_bytes = TG_MIN(*n_bytes, f->size_bytes - *offset_bytes);
    if (*offset_bytes >= f->size_bytes || *n_bytes > f->size_bytes - *offset_bytes)
        return tg_fail(err, TG_ERR_CORRUPT, "the image file is cut short");
    return true;
}

bool tg_tiff_pread(const tg_tiff *t, void *dst, size_t n, uint64_t offset_bytes, tg_err *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(t->fd, (char *)dst + done, n - done, (off_t)(offset_bytes + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tg_fail(err, TG_ERR_IO, "the image file cannot be read");
        if (got == 0)
            return tg_fail(err, TG_ERR_CORRUPT, "the image file is cut short");
        done += (size_t)got;
    }
    return true;
}

const tg_codec tg_tiff_codec = {
    .name = "TIFF",
    .help = "TIFF and BigTIFF, tiled or striped, with or without reduced levels",
    .probe = tiff_probe,
    .open = tiff_open,
    .read = tg_tiff_read,
    .stored_tile = tg_tiff_stored_tile,
    .working_bytes = tg_tiff_working_bytes,
    .block = tg_tiff_block,
    .text = tg_tiff_text,
    .find_range = tg_tiff_find_range,
    .georef = tg_tiff_georef,
    .rest = tiff_rest,
    .close = tiff_close,
};
