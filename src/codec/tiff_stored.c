/* Stored tiles as they stand: read, checked, tables spliced in, sent without decoding.
 *
 * A tile of a TIFF file is an abbreviated JPEG stream: its tables lie in the directory, and no
 * marker tells a browser what the components mean. What goes out is SOI, JFIF (YCbCr, gray) or
 * Adobe (RGB) marker, the directory's tables, the tile from behind its SOI on without APPn and
 * comments of its own, up to EOI. Of a tile that reaches beyond the image's edge only the visible
 * part goes out, cut without decoding, so that it is of one quality with its neighbours. */
#include <webp/decode.h>

#include <stdlib.h>
#include <string.h>

#include "jpeg_common.h"
#include "jpeg_crop.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tiff.h"

enum {
    SOF0 = 0xc0,
    SOF1 = 0xc1,
    DHT = 0xc4,
    RST0 = 0xd0,
    RST7 = 0xd7,
    SOI = 0xd8,
    EOI = 0xd9,
    SOS = 0xda,
    DQT = 0xdb,
    DRI = 0xdd,
    APP0 = 0xe0,
    APP14 = 0xee,
    APP15 = 0xef,
    COM = 0xfe
};

#define DQT_BIT(id)        (1u << (id))                /* id 0..3 */
#define DHT_BIT(cls, id)   (0x10u << ((cls)*4 + (id))) /* class 0 DC, 1 AC */
#define MAX_TABLES_BYTES   65536
#define MAX_OVERHEAD_BYTES 65536

static bool cannot(tg_err *err, const char *why)
{
    tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "this tile cannot be sent as it is stored");
    return tg_fail_detail(err, "stored tile: %s", why);
}

static unsigned get16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

/* A marker segment: p points to its length field. */
typedef struct segment {
    unsigned marker;
    const uint8_t *p;
    size_t n; /* length field included */
} segment;

/* The segment at *at, which moves behind it. False where there is none or it is cut short. */
static bool next_segment(const uint8_t **at, const uint8_t *end, segment *s)
{
    const uint8_t *p = *at;

    if (end - p < 2 || p[0] != 0xff)
        return false;
    while (p < end && *p == 0xff) /* fill bytes */
        p++;
    if (end - p < 3)
        return false;
    s->marker = *p++;
    s->p = p;
    s->n = get16(p);
    if (s->n < 2 || s->n > (size_t)(end - p))
        return false;
    *at = p + s->n;
    return true;
}

/* The quantisation tables a DQT segment defines. */
static unsigned dqt_has(const segment *s)
{
    unsigned has = 0;

    for (size_t i = 2; i < s->n; i += s->p[i] >> 4 ? 129 : 65)
        has |= (s->p[i] & 15) < 4 ? DQT_BIT(s->p[i] & 15) : 0;
    return has;
}

/* The Huffman tables a DHT segment defines. */
static unsigned dht_has(const segment *s)
{
    unsigned has = 0;

    for (size_t i = 2; i + 17 <= s->n;) {
        unsigned cls = s->p[i] >> 4, id = s->p[i] & 15, codes = 0;

        for (unsigned b = 1; b <= 16; b++)
            codes += s->p[i + b];
        if (cls < 2 && id < 4)
            has |= DHT_BIT(cls, id);
        i += 17 + codes;
    }
    return has;
}

static unsigned tables_in(const segment *s)
{
    return s->marker == DQT ? dqt_has(s) : s->marker == DHT ? dht_has(s) : 0;
}

/* SOI and the marker that says what the components are; returns its length, at most 20. */
static size_t write_head(const tg_tiff *t, const tg_tiff_dir *dir, uint8_t *out)
{
    static const uint8_t adobe_rgb[] = {0xff, SOI, 0xff, 0xee, 0, 14, 'A', 'd', 'o',
                                        'b',  'e', 0,    100,  0, 0,  0,   0,   0};
    uint8_t jfif[] = {0xff, SOI, 0xff, APP0, 0, 16, 'J', 'F', 'I', 'F',
                      0,    1,   1,    0,    0, 1,  0,   1,   0,   0};
    uint16_t x = tg_jfif_dpi(t->base.dpi_x * dir->width_px / t->level[0].dir.width_px);
    uint16_t y = tg_jfif_dpi(t->base.dpi_y * dir->height_px / t->level[0].dir.height_px);

    if (dir->photometric == PHOTOMETRIC_RGB) {
        memcpy(out, adobe_rgb, sizeof adobe_rgb);
        return sizeof adobe_rgb;
    }
    if (x && y) {
        const uint8_t density[] = {1, (uint8_t)(x >> 8), (uint8_t)x, (uint8_t)(y >> 8), (uint8_t)y};
        memcpy(jfif + 13, density, sizeof density);
    }
    memcpy(out, jfif, sizeof jfif);
    return sizeof jfif;
}

/* Once per level. */
static bool build_prefix(const tg_tiff *t, tg_tiff_level *lv, tg_err *err)
{
    const uint8_t *at = lv->tables, *end = at ? at + lv->tables_bytes : NULL;
    segment s;

    if (lv->tables_bytes > MAX_TABLES_BYTES)
        return cannot(err, "tables too large");
    if (lv->tables_bytes && (lv->tables_bytes < 2 || get16(at) != (0xff00 | SOI)))
        return cannot(err, "tables are no JPEG stream");
    lv->prefix = tg_new(32 + lv->tables_bytes);
    lv->prefix_bytes = write_head(t, &lv->dir, lv->prefix);
    if (lv->tables_bytes)
        at += 2;
    while (next_segment(&at, end, &s)) {
        if (s.marker != DQT && s.marker != DHT && s.marker != DRI)
            continue;
        lv->prefix[lv->prefix_bytes++] = 0xff;
        lv->prefix[lv->prefix_bytes++] = (uint8_t)s.marker;
        memcpy(lv->prefix + lv->prefix_bytes, s.p, s.n);
        lv->prefix_bytes += s.n;
        lv->prefix_has |= (uint16_t)tables_in(&s);
    }
    return true;
}

/* The part of a tile that lies in the image, and where its bytes are. */
typedef struct stored {
    uint32_t w_px, h_px;
    uint64_t offset_bytes;
    size_t n_bytes;
} stored;

/* What the frame header asks for, to compare with what the tables give. */
typedef struct frame {
    uint32_t w_px, h_px;
    uint8_t *header; /* its length field, where the finished stream has it */
    unsigned n;      /* components, 0 = no frame header yet */
    bool restarts;
    uint8_t id[4], quant[4];
} frame;

/* Some writers cut the last tiles at the image's edge, most fill them up. */
static bool read_frame(const tg_tiff_dir *dir, const stored *tile, const segment *s, frame *f,
                       tg_err *err)
{
    f->n = s->n >= 8 ? s->p[7] : 0;
    if (f->n != dir->samples || s->n < 8 + 3 * (size_t)f->n)
        return cannot(err, "components disagree with the directory");
    if (s->p[2] != 8)
        return cannot(err, "not of 8 bit");
    f->h_px = get16(s->p + 3);
    f->w_px = get16(s->p + 5);
    if (f->w_px < tile->w_px || f->w_px > dir->tile_w_px || f->h_px < tile->h_px ||
        f->h_px > dir->tile_h_px)
        return cannot(err, "size disagrees with the directory");
    for (unsigned c = 0; c < f->n; c++) {
        const uint8_t *component = s->p + 8 + 3 * c;
        unsigned h = component[1] >> 4, v = component[1] & 15;

        if (h < 1 || h > 4 || v < 1 || v > 4 || component[2] > 3)
            return cannot(err, "absurd frame header");
        if (dir->photometric == PHOTOMETRIC_RGB && component[1] != s->p[9])
            return cannot(err, "subsampled RGB");
        f->id[c] = component[0];
        f->quant[c] = component[2];
    }
    return true;
}

/* Streams of YCbCr in files of RGB; our own marker would say otherwise. */
static bool contradicts(const tg_tiff_dir *dir, const segment *s)
{
    bool jfif = s->marker == APP0 && s->n >= 7 && memcmp(s->p + 2, "JFIF", 5) == 0;
    bool adobe = s->marker == APP14 && s->n >= 14 && memcmp(s->p + 2, "Adobe", 5) == 0;

    return dir->photometric == PHOTOMETRIC_RGB && (jfif || (adobe && s->p[13] == 1));
}

/* One scan of all components with tables that exist. */
static bool check_scan(const segment *s, const frame *f, unsigned has, tg_err *err)
{
    unsigned n = s->n >= 3 ? s->p[2] : 0;

    if (f->n == 0 || n != f->n || s->n != 6 + 2 * (size_t)n)
        return cannot(err, "more than one scan");
    for (unsigned c = 0; c < n; c++) {
        const uint8_t *component = s->p + 3 + 2 * c;
        unsigned dc = component[1] >> 4, ac = component[1] & 15;

        if (component[0] != f->id[c] || dc > 3 || ac > 3)
            return cannot(err, "absurd scan header");
        if (!(has & DHT_BIT(0, dc)) || !(has & DHT_BIT(1, ac)) || !(has & DQT_BIT(f->quant[c])))
            return cannot(err, "tables missing");
    }
    return true;
}

/* Writers fill up with one byte value; anything else behind the end marker means that the marker is
 * not where the data ended. */
static bool only_padding(const uint8_t *p, const uint8_t *end)
{
    for (const uint8_t *at = p; at < end; at++)
        if (*at != 0 && *at != 0xff)
            return false;
    return true;
}

/* A run of 64 zeros or fill bytes: a coder hardly writes one, a hole in a file is one. */
static bool has_hole(const uint8_t *p, const uint8_t *end)
{
    unsigned words = 0;

    for (; end - p >= 8; p += 8) {
        uint64_t word;

        memcpy(&word, p, sizeof word);
        words = word == 0 || word == UINT64_MAX ? words + 1 : 0;
        if (words == 8)
            return true;
    }
    return false;
}

/* Behind the EOI that ends the entropy-coded data, NULL where something else comes first, such as a
 * restart marker although none are due. The tile is then decoded, which finds out. */
static const uint8_t *find_end(const uint8_t *p, const uint8_t *end, bool restarts)
{
    const uint8_t *start = p;

    while (end - p >= 2 && (p = memchr(p, 0xff, (size_t)(end - p - 1))) != NULL) {
        unsigned next = p[1];

        if (next == EOI)
            return only_padding(p + 2, end) && !has_hole(start, p) ? p + 2 : NULL;
        if (next != 0 && next != 0xff && (!restarts || next < RST0 || next > RST7))
            return NULL;
        p += next == 0xff ? 1 : 2;
    }
    return NULL;
}

/* Looks at a segment that stays: adds its tables to *has, reads or checks headers. */
static bool check_segment(const tg_tiff_dir *dir, const stored *tile, const segment *s, frame *f,
                          unsigned *has, tg_err *err)
{
    switch (s->marker) {
    case DQT:
    case DHT:
        *has |= tables_in(s);
        return true;
    case DRI:
        f->restarts = true;
        return true;
    case SOF0:
    case SOF1:
        return f->n == 0 ? read_frame(dir, tile, s, f, err) : cannot(err, "two frames");
    case SOS:
        return check_scan(s, f, *has, err);
    default:
        return cannot(err, "not baseline");
    }
}

/* Walks the markers of the stream in [at, end), moving the segments that stay down to `to`. Returns
 * the end of the finished stream, NULL when it cannot be sent. */
static uint8_t *splice(const tg_tiff_level *lv, const stored *tile, frame *f, uint8_t *to,
                       const uint8_t *at, const uint8_t *end, tg_err *err)
{
    unsigned has = lv->prefix_has;
    segment s = {0};

    while (s.marker != SOS) {
        const uint8_t *from = at;

        if (!next_segment(&at, end, &s)) {
            cannot(err, "markers cut short");
            return NULL;
        }
        if (contradicts(&lv->dir, &s)) {
            cannot(err, "YCbCr where the directory says RGB");
            return NULL;
        }
        if ((s.marker >= APP0 && s.marker <= APP15) || s.marker == COM)
            continue;
        if (!check_segment(&lv->dir, tile, &s, f, &has, err))
            return NULL;
        if (to != from)
            memmove(to, from, (size_t)(at - from));
        if (s.marker == SOF0 || s.marker == SOF1)
            f->header = to + (s.p - from);
        to += at - from;
    }
    end = find_end(at, end, f->restarts);
    if (!end) {
        cannot(err, "no end marker behind its one scan");
        return NULL;
    }
    if (to != at)
        memmove(to, at, (size_t)(end - at));
    return to + (end - at);
}

/* Whatever libjpeg finds wrong is for the decoder to judge: the visible part may be sound. */
static bool crop(tg_buf *out, size_t start, const stored *tile, const frame *f, tg_err *err)
{
    tg_err why = {0};

    /* what lies below the edge then is not even read */
    f->header[3] = (uint8_t)(tile->h_px >> 8);
    f->header[4] = (uint8_t)tile->h_px;
    return tg_jpeg_crop(out, start, tile->w_px, tile->h_px, &why) || cannot(err, why.detail);
}

static bool jpeg_tile(tg_tiff *t, tg_tiff_level *lv, const stored *tile, tg_buf *out, tg_err *err)
{
    size_t before = out->len, n = tile->n_bytes;
    frame f = {0};
    uint8_t *start, *stream, *end;

    if (!lv->prefix && !build_prefix(t, lv, err))
        return false;
    start = tg_buf_reserve(out, lv->prefix_bytes + n);
    if (!start)
        return tg_fail(err, TG_ERR_TOO_LARGE, "the tile is too large");
    /* So that what follows the tile's SOI lands behind the prefix and mostly can stay there. */
    stream = start + lv->prefix_bytes - 2;
    if (!tg_tiff_pread(t, stream, n, tile->offset_bytes, err))
        return false;
    if (n < 4 || get16(stream) != (0xff00 | SOI))
        return cannot(err, "no JPEG stream");
    end = splice(lv, tile, &f, stream + 2, stream + 2, stream + n, err);
    if (!end)
        return false;
    memcpy(start, lv->prefix, lv->prefix_bytes);
    out->len += (size_t)(end - start);
    return (f.w_px == tile->w_px && f.h_px == tile->h_px) || crop(out, before, tile, &f, err);
}

static bool webp_tile(tg_tiff *t, const tg_tiff_dir *dir, const stored *tile, tg_buf *out,
                      tg_err *err)
{
    WebPBitstreamFeatures is;
    size_t n = tile->n_bytes;
    uint8_t *data = tg_buf_reserve(out, n);
    size_t riff_bytes;

    if (!data)
        return tg_fail(err, TG_ERR_TOO_LARGE, "the tile is too large");
    if (!tg_tiff_pread(t, data, n, tile->offset_bytes, err))
        return false;
    if (n < 12 || memcmp(data, "RIFF", 4) != 0)
        return cannot(err, "no WebP file");
    riff_bytes = (size_t)(data[4] | data[5] << 8 | data[6] << 16 | (uint32_t)data[7] << 24) + 8;
    if (riff_bytes > n)
        return cannot(err, "cut short");
    if (WebPGetFeatures(data, riff_bytes, &is) != VP8_STATUS_OK || is.has_animation)
        return cannot(err, "WebP header");
    if ((uint32_t)is.width != tile->w_px || (uint32_t)is.height != tile->h_px ||
        (is.has_alpha && !dir->native.alpha))
        return cannot(err, "disagrees with the directory");
    out->len += riff_bytes;
    return true;
}

bool tg_tiff_stored_tile(tg_image *img, unsigned level, uint32_t col, uint32_t row, tg_buf *out,
                         tg_err *err)
{
    tg_tiff *t = (tg_tiff *)img;
    tg_tiff_level *lv = &t->level[level];
    const tg_tiff_dir *dir = &lv->dir;
    tg_stored kind = img->level[level].stored;
    stored tile = {.w_px = tg_tiff_visible_px(dir->width_px, col, dir->tile_w_px),
                   .h_px = tg_tiff_visible_px(dir->height_px, row, dir->tile_h_px)};
    uint64_t n, most;
    tg_tiff_file *f;

    if (kind == TG_STORED_NONE)
        return cannot(err, "not stored in a format that can be sent");
    f = tg_tiff_level_file(t, level, 0, err);
    if (!f || !tg_tiff_extent(t, f, tg_tiff_index(dir, col, row, 0), &tile.offset_bytes, &n, err))
        return false;
    if (n == 0)
        return cannot(err, "absent");
    most = 2 * (uint64_t)dir->row_bytes * dir->tile_h_px + MAX_OVERHEAD_BYTES;
    if (n > most)
        return cannot(err, "absurdly large");
    tile.n_bytes = (size_t)n;
    return kind == TG_STORED_JPEG ? jpeg_tile(t, lv, &tile, out, err)
                                  : webp_tile(t, dir, &tile, out, err);
}
