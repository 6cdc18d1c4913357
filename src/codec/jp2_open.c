#include <stdlib.h>
#include <unistd.h>

#include "codecs.h"
#include "exif.h"
#include "jp2.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/tile_cache.h"
#include "text.h"

#define MIN_TILE_PX     128 /* tiles of the codestream between these are offered as they are */
#define MAX_TILE_PX     1024
#define SMALL_TILE_PX   256 /* smaller ones and precincts are taken together up to this */
#define PLAIN_TILE_PX   512 /* offered where the codestream has no grid worth the name */
#define MIN_BAND_PX     64
#define EXIF_HEAD_BYTES ((size_t)32 << 10)
#define EXIF_MAX_BYTES  ((size_t)1 << 20)

static bool jp2_probe(const uint8_t *head, size_t n)
{
    return tg_jp2_is_family(head, n) || tg_jp2_is_codestream(head, n);
}

/* ---- levels ---- */

/* At low resolutions a small tile, or its chroma, may have no sample at all; OpenJPEG does not
 * decode those. [x0, x1) of the tile: of one axis. */
static bool has_samples(const tg_jp2 *j, uint32_t x0, uint32_t x1, bool vertical, unsigned k)
{
    const tg_j2k_component *pixel = tg_jp2_pixel(j);
    uint32_t d = vertical ? pixel->dy : pixel->dx;

    if (tg_j2k_coordinate(x0, d, k) == tg_j2k_coordinate(x1, d, k))
        return true; /* and no pixel to be missed */
    for (unsigned i = 1; i < j->form.n_components; i++) {
        const tg_j2k_component *c = &j->codestream.header.component[j->form.component[i]];

        d = vertical ? c->dy : c->dx;
        if (tg_j2k_coordinate(x0, d, k) == tg_j2k_coordinate(x1, d, k))
            return false;
    }
    return true;
}

static bool has_level(const tg_jp2 *j, unsigned k)
{
    const tg_j2k_header *h = &j->codestream.header;

    for (uint32_t i = 0; i < h->cols; i++) {
        tg_j2k_area a = tg_j2k_tile_area(h, i, 0);

        if (!has_samples(j, a.x0, a.x1, false, k))
            return false;
    }
    for (uint32_t i = 0; i < h->rows; i++) {
        tg_j2k_area a = tg_j2k_tile_area(h, 0, i);

        if (!has_samples(j, a.y0, a.y1, true, k))
            return false;
    }
    return true;
}

static uint32_t doubled_to(uint32_t side_px, uint32_t least_px)
{
    side_px = TG_MAX(side_px, 1u); /* a tile may be smaller than a pixel */
    while (side_px < least_px)
        side_px *= 2;
    return side_px;
}

/* The unit of one axis that costs no more than it shows. tile: of the codestream, in pixels;
 * n_tiles of them. */
static uint32_t cheap_side(uint32_t tile, uint32_t n_tiles, unsigned precinct_log2)
{
    if (n_tiles > 1 && tile <= MAX_TILE_PX)
        return tile >= MIN_TILE_PX ? tile : doubled_to(tile, SMALL_TILE_PX);
    if (precinct_log2 <= 10 && precinct_log2 >= 4)
        return doubled_to(1u << precinct_log2, SMALL_TILE_PX);
    return PLAIN_TILE_PX;
}

static tg_level make_level(const tg_jp2 *j, unsigned k)
{
    const tg_j2k_header *h = &j->codestream.header;
    const tg_j2k_component *c = tg_jp2_pixel(j);
    uint8_t precinct = h->coding[j->form.component[0]].precinct_log2[h->levels_min];
    uint32_t w = cheap_side(h->tile_w / c->dx, h->cols, precinct & 15);
    uint32_t v = cheap_side(h->tile_h / c->dy, h->rows, precinct >> 4);
    tg_level level = {
        .width_px = tg_j2k_coordinate(h->x1, c->dx, k) - tg_j2k_coordinate(h->x0, c->dx, k),
        .height_px = tg_j2k_coordinate(h->y1, c->dy, k) - tg_j2k_coordinate(h->y0, c->dy, k)};

    /* Of a tiled codestream the same tiles at every level, so that a row of them is a band. */
    level.tile_w_px = h->cols > 1 ? doubled_to(w >> k, MIN_BAND_PX) : w;
    level.tile_h_px = h->rows > 1 ? doubled_to(v >> k, MIN_BAND_PX) : v;
    if (h->high_throughput && h->cols * h->rows == 1) {
        level.tile_w_px = level.width_px; /* decoded whole: to be read at once */
        level.tile_h_px = level.height_px;
    }
    if (level.width_px && level.height_px) {
        level.cols = tg_ceil_div_u32(level.width_px, level.tile_w_px);
        level.rows = tg_ceil_div_u32(level.height_px, level.tile_h_px);
    }
    return level;
}

/* The lower resolutions of an index are means of indices, which name other colours. */
static bool is_indexed(const tg_j2k_form *form)
{
    for (unsigned i = 0; i < form->n_channels; i++)
        if (form->channel[i].palette)
            return true;
    return false;
}

static void make_levels(tg_jp2 *j)
{
    tg_image *img = &j->base;
    unsigned stored = is_indexed(&j->form) ? 1u : j->codestream.header.levels_min + 1u;
    unsigned most = TG_MIN(stored, (unsigned)TG_MAX_LEVELS);

    for (unsigned k = 0; k < most; k++) {
        tg_level level = make_level(j, k);

        if (k && (level.width_px == 0 || level.height_px == 0 || !has_level(j, k) ||
                  (img->level[k - 1].width_px == 1 && img->level[k - 1].height_px == 1)))
            break;
        img->level[img->n_levels++] = level;
    }
    img->tiled = true;
}

/* ---- metadata ---- */

/* The front of it: the first directory lies there, and so do its numbers; texts may be long. */
static tg_exif read_exif(const tg_jp2_info *info, size_t limit_bytes, tg_buf *block)
{
    size_t n = (size_t)TG_MIN(info->exif.n_bytes, (uint64_t)limit_bytes);
    uint8_t *to = n ? tg_buf_reserve(block, n) : NULL;

    if (to)
        block->len += tg_j2k_read_some(&info->exif, 0, to, n);
    return tg_exif_read(block->data, block->len);
}

static void read_metadata(tg_jp2 *j)
{
    const tg_jp2_info *info = &j->info;
    tg_buf block = {0};
    tg_exif exif = read_exif(info, EXIF_HEAD_BYTES, &block);

    tg_buf_free(&block);
    j->base.orientation = exif.orientation;
    j->base.dpi_x = exif.dpi_x;
    j->base.dpi_y = exif.dpi_y;
    /* What was scanned, before how it is to be shown: dots per inch of the object (section
     * I.5.3.7). */
    if (info->capture_dpi_x > 0 && info->capture_dpi_y > 0) {
        j->base.dpi_x = info->capture_dpi_x;
        j->base.dpi_y = info->capture_dpi_y;
    } else if (info->display_dpi_x > 0 && info->display_dpi_y > 0) {
        j->base.dpi_x = info->display_dpi_x;
        j->base.dpi_y = info->display_dpi_y;
    }
}

static void append(const tg_j2k_source *s, size_t limit_bytes, tg_buf *out)
{
    tg_err ignored = {0};
    uint8_t *to =
        s->n_bytes && s->n_bytes <= limit_bytes ? tg_buf_reserve(out, (size_t)s->n_bytes) : NULL;

    if (to && tg_j2k_read(s, 0, to, (size_t)s->n_bytes, &ignored))
        out->len += (size_t)s->n_bytes;
}

static void jp2_block(tg_image *img, tg_block which, size_t limit_bytes, tg_buf *out)
{
    const tg_jp2 *j = (const tg_jp2 *)img;

    if (which == TG_BLOCK_ICC && j->info.colour.method == TG_JP2_ICC)
        append(&j->info.colour.profile, limit_bytes, out);
    else if (which == TG_BLOCK_XMP)
        append(&j->info.xmp, limit_bytes, out);
}

static void jp2_text(tg_image *img, tg_text which, size_t limit_bytes, tg_buf *out)
{
    tg_buf block = {0};
    tg_exif exif = read_exif(&((const tg_jp2 *)img)->info, EXIF_MAX_BYTES, &block);

    tg_text_append(out, exif.text[which], limit_bytes);
    tg_buf_free(&block);
}

/* ---- opening ---- */

static void jp2_close(tg_image *img)
{
    tg_jp2 *j = (tg_jp2 *)img;

    tg_tile_cache_drop_image(j->cache_id);
    tg_j2k_codestream_close(&j->codestream);
    tg_image_free(j->palette);
    close(img->fd);
    free(j);
}

static bool read_headers(tg_jp2 *j, tg_err *err)
{
    return tg_jp2_info_read(&j->file, &j->info, err) &&
           tg_j2k_codestream_open(&j->codestream, &j->info.codestream, err) &&
           tg_jp2_make_form(&j->info, &j->codestream.header, &j->base.native, &j->form, &j->palette,
                            err);
}

static tg_image *jp2_open(int fd, uint64_t size_bytes, unsigned page, tg_err *err)
{
    tg_jp2 *j;

    if (page > 0) {
        tg_fail(err, TG_ERR_NOT_FOUND, "the file has one page");
        return NULL;
    }
    j = tg_new(sizeof *j);
    j->file = (tg_j2k_source){.fd = fd, .n_bytes = size_bytes};
    if (!read_headers(j, err)) {
        free(j);
        return NULL;
    }
    j->base.codec = &tg_jp2_codec;
    j->base.fd = fd;
    j->base.stored_bits = tg_jp2_pixel(j)->bits;
    j->base.held_bytes = sizeof *j;
    j->cache_id = tg_tile_cache_new_image();
    make_levels(j);
    read_metadata(j);
    return &j->base;
}

const tg_codec tg_jp2_codec = {
    .name = "JPEG 2000",
    .help = "JP2, JPX, JPH and raw codestreams, with or without tiles",
    .probe = jp2_probe,
    .open = jp2_open,
    .read = tg_jp2_read,
    .working_bytes = tg_jp2_working_bytes,
    .block = jp2_block,
    .text = jp2_text,
    .close = jp2_close,
};
