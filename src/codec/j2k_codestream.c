#include "j2k_codestream.h"

#include <stdlib.h>
#include <string.h>

#include "tegula/mem.h"
#include "tegula/num.h"

#define MAX_PARTS        ((uint32_t)1 << 19) /* tile-parts looked for; more take too long */
#define SIZ_AT           2                   /* in the main header */
#define MAX_HEADER_BYTES ((size_t)1 << 20)   /* of what a decoder needs of the main header */
#define ZERO_BYTES       ((size_t)64 << 10)
#define ZERO_PIECES      16

static bool corrupt(tg_err *err, const char *what)
{
    tg_fail(err, TG_ERR_CORRUPT, "the JPEG 2000 codestream is damaged");
    return tg_fail_detail(err, "%s", what);
}

bool tg_j2k_codestream_open(tg_j2k_codestream *s, const tg_j2k_source *source, tg_err *err)
{
    const tg_j2k_header *h = &s->header;

    *s = (tg_j2k_codestream){.source = *source};
    if (!tg_j2k_header_read(source, &s->header, err))
        return false;
    /* Every tile has a part of its own, were it empty. */
    if ((uint64_t)h->cols * h->rows * (TG_J2K_SOT_BYTES + 2) > source->n_bytes)
        return corrupt(err, "it is too short for its tiles");
    return true;
}

void tg_j2k_codestream_close(tg_j2k_codestream *s)
{
    tg_image_free(s->part);
    tg_image_free(s->first_part);
    tg_image_free(s->main_header);
}

/* ---- index of tile-parts ---- */

static bool grow(tg_j2k_codestream *s, tg_err *err)
{
    uint32_t room = TG_MAX(s->part_room * 2, s->header.cols * s->header.rows);
    tg_j2k_tile_part *part = tg_image_alloc(room, sizeof *part, err);

    if (!part)
        return false;
    if (s->n_parts)
        memcpy(part, s->part, s->n_parts * sizeof *part);
    tg_image_free(s->part);
    s->part = part;
    s->part_room = room;
    return true;
}

static bool add_part(tg_j2k_codestream *s, uint32_t tile, uint64_t at, uint64_t n_bytes,
                     tg_err *err)
{
    uint32_t i = s->n_parts;

    if (i == s->part_room && !grow(s, err))
        return false;
    s->part[i] = (tg_j2k_tile_part){.at = at,
                                    .n_bytes = TG_MIN(n_bytes, s->source.n_bytes - at),
                                    .next = TG_J2K_NO_PART,
                                    .cut = n_bytes > s->source.n_bytes - at};
    if (s->first_part[tile] == TG_J2K_NO_PART)
        s->first_part[tile] = i;
    else
        s->part[s->last_part[tile]].next = i;
    s->last_part[tile] = i;
    s->n_parts++;
    return true;
}

/* A length of 0: up to the end, where EOC is not part of it (section A.4.2). */
static uint64_t rest(const tg_j2k_codestream *s, uint64_t at)
{
    tg_err ignored = {0};
    uint8_t end[2];
    bool eoc = s->source.n_bytes >= at + TG_J2K_SOT_BYTES + 4 &&
               tg_j2k_read(&s->source, s->source.n_bytes - 2, end, 2, &ignored) &&
               tg_be16(end) == TG_J2K_EOC;

    return s->source.n_bytes - at - (eoc ? 2 : 0);
}

/* From SOT to SOT. What is not one ends the search: tiles that were not found are missed when they
 * are wanted. */
static bool find_parts(tg_j2k_codestream *s, tg_err *err)
{
    uint32_t n_tiles = s->header.cols * s->header.rows;
    uint64_t at = s->header.n_bytes;
    uint8_t sot[TG_J2K_SOT_BYTES];

    while (s->n_parts < MAX_PARTS &&
           tg_j2k_read_some(&s->source, at, sot, sizeof sot) == sizeof sot &&
           tg_be16(sot) == TG_J2K_SOT && tg_be16(sot + 2) == TG_J2K_SOT_BYTES - 2) {
        uint32_t tile = tg_be16(sot + 4);
        uint64_t n_bytes = tg_be32(sot + 6);

        if (n_bytes == 0)
            n_bytes = rest(s, at);
        if (tile >= n_tiles || n_bytes < TG_J2K_SOT_BYTES + 2)
            break;
        if (!add_part(s, tile, at, n_bytes, err))
            return false;
        at += n_bytes;
    }
    return err->kind == TG_ERR_NONE;
}

static bool make_index(tg_j2k_codestream *s, tg_err *err)
{
    uint32_t n_tiles = s->header.cols * s->header.rows;

    if (s->first_part)
        return true;
    s->first_part = tg_image_alloc(n_tiles, 2 * sizeof *s->first_part, err);
    if (!s->first_part)
        return false;
    s->last_part = s->first_part + n_tiles;
    memset(s->first_part, 0xff, n_tiles * sizeof *s->first_part);
    if (find_parts(s, err)) {
        s->held_bytes += n_tiles * 2 * sizeof *s->first_part + s->part_room * sizeof *s->part;
        return true;
    }
    tg_image_free(s->first_part);
    s->first_part = NULL;
    s->n_parts = 0;
    return false;
}

/* ---- the main header for one tile ---- */

/* Those that speak of other tiles, or that a decoder does not need. */
static bool is_left_out(uint32_t marker)
{
    return marker == TG_J2K_TLM || marker == TG_J2K_PLM || marker == TG_J2K_CRG ||
           marker == TG_J2K_COM;
}

/* Copies what is kept; to = NULL only counts. */
static bool copy_segments(const tg_j2k_codestream *s, uint8_t *to, size_t *n, tg_err *err)
{
    tg_j2k_cursor c = {.source = &s->source, .at = 2};

    for (*n = 2; c.at < s->header.n_bytes;) {
        const uint8_t *p = tg_j2k_peek(&c, 4, err);
        uint64_t at = c.at;
        uint32_t length = p ? 2 + tg_be16(p + 2) : 0;

        if (!p)
            return false;
        c.at += length;
        if (is_left_out(tg_be16(p)))
            continue;
        if (*n + length > MAX_HEADER_BYTES)
            return tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "the main header is too long");
        if (to && !tg_j2k_read(&s->source, at, to + *n, length, err))
            return false;
        *n += length;
    }
    return true;
}

static bool make_main_header(tg_j2k_codestream *s, tg_err *err)
{
    uint8_t *header;
    size_t n;

    if (s->main_header)
        return true;
    if (!copy_segments(s, NULL, &n, err))
        return false;
    header = tg_image_alloc(n, 1, err);
    if (!header)
        return false;
    tg_j2k_put_u16(header, TG_J2K_SOC);
    if (!copy_segments(s, header, &n, err)) {
        tg_image_free(header);
        return false;
    }
    s->main_header = header;
    s->main_header_bytes = n;
    s->held_bytes += n;
    return true;
}

/* One tile on the same reference grid: the same samples, precincts and code-blocks. */
static void put_size(uint8_t *main_header, const tg_j2k_area *tile, uint32_t tile_x0,
                     uint32_t tile_y0)
{
    uint8_t *siz = main_header + SIZ_AT + 6; /* after marker, length and capabilities */

    tg_j2k_put_u32(siz, tile->x1);
    tg_j2k_put_u32(siz + 4, tile->y1);
    tg_j2k_put_u32(siz + 8, tile->x0);
    tg_j2k_put_u32(siz + 12, tile->y0);
    tg_j2k_put_u32(siz + 24, tile_x0);
    tg_j2k_put_u32(siz + 28, tile_y0);
}

/* ---- a tile as a codestream ---- */

typedef struct pieces {
    tg_j2k_source *piece;
    uint8_t (*sot)[TG_J2K_SOT_BYTES];
    size_t n;
    uint64_t n_bytes;
} pieces;

static void add_memory(pieces *p, const uint8_t *memory, size_t n)
{
    p->piece[p->n++] = (tg_j2k_source){.memory = memory, .fd = -1, .n_bytes = n};
    p->n_bytes += n;
}

static uint32_t count_parts(const tg_j2k_codestream *s, uint32_t tile)
{
    uint32_t n = 0;

    for (uint32_t i = s->first_part[tile]; i != TG_J2K_NO_PART; i = s->part[i].next)
        n++;
    return n;
}

/* Zeros instead of what is missing: a packet that begins with one is empty (section B.10.3). */
static uint64_t add_padding(pieces *p, const tg_j2k_header *h, const tg_j2k_area *tile)
{
    static const uint8_t zeros[ZERO_BYTES];
    uint64_t n = TG_MIN(tg_j2k_packets(h, tile) + ZERO_BYTES, ZERO_PIECES * ZERO_BYTES), left = n;

    for (; left; left -= TG_MIN(left, ZERO_BYTES))
        add_memory(p, zeros, TG_MIN(left, ZERO_BYTES));
    return n;
}

static bool add_part_pieces(const tg_j2k_codestream *s, const tg_j2k_wanted *w,
                            const tg_j2k_header *h, const tg_j2k_tile_part *part, uint32_t i,
                            uint32_t n_parts, pieces *p, tg_err *err)
{
    static const uint8_t eoc[] = {TG_J2K_EOC >> 8, TG_J2K_EOC & 0xff};
    tg_j2k_area tile = tg_j2k_tile_area(&s->header, w->col, w->row);
    uint64_t n_bytes = part->n_bytes;
    uint8_t *sot = p->sot[i];

    if (part->cut && !w->lenient)
        return corrupt(err, "it ends in the middle of a tile");
    tg_j2k_put_u16(sot, TG_J2K_SOT);
    tg_j2k_put_u16(sot + 2, TG_J2K_SOT_BYTES - 2);
    tg_j2k_put_u16(sot + 4, 0);
    sot[10] = (uint8_t)i;
    sot[11] = (uint8_t)n_parts;
    add_memory(p, sot, TG_J2K_SOT_BYTES);
    p->piece[p->n] =
        tg_j2k_part(&s->source, part->at + TG_J2K_SOT_BYTES, part->n_bytes - TG_J2K_SOT_BYTES);
    p->n_bytes += p->piece[p->n++].n_bytes;
    if (part->cut)
        n_bytes += add_padding(p, h, &tile);
    tg_j2k_put_u32(sot + 6, (uint32_t)TG_MIN(n_bytes, (uint64_t)UINT32_MAX));
    if (i + 1 == n_parts)
        add_memory(p, eoc, sizeof eoc);
    return true;
}

static bool add_tile_pieces(tg_j2k_codestream *s, const tg_j2k_wanted *w, const tg_j2k_header *h,
                            uint32_t tile, uint32_t n_parts, pieces *p, tg_err *err)
{
    tg_j2k_area area = tg_j2k_tile_area(h, w->col, w->row);
    uint32_t i = 0;

    put_size(s->main_header, &area, h->tile_x0 + w->col * h->tile_w,
             h->tile_y0 + w->row * h->tile_h);
    add_memory(p, s->main_header, s->main_header_bytes);
    for (uint32_t part = s->first_part[tile]; part != TG_J2K_NO_PART; part = s->part[part].next)
        if (!add_part_pieces(s, w, h, &s->part[part], i++, n_parts, p, err))
            return false;
    return true;
}

static bool is_whole(const tg_j2k_area *a, const tg_j2k_area *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static opj_image_t *decode_pieces(const tg_j2k_codestream *s, const tg_j2k_wanted *w,
                                  const tg_j2k_header *h, const pieces *p, tg_err *err)
{
    tg_j2k_area tile = tg_j2k_tile_area(&s->header, w->col, w->row);
    bool some = w->n_components < h->n_components &&
                !(h->mct && w->component[0] < 3); /* the transform needs all it made */
    tg_j2k_request r = {.piece = p->piece,
                        .n_pieces = p->n,
                        .k = w->k,
                        .max_layers = w->max_layers,
                        .lenient = w->lenient,
                        .area = is_whole(&tile, &w->area) ? NULL : &w->area,
                        .component = some ? w->component : NULL,
                        .n_components = some ? w->n_components : 0};

    r.memory_bytes =
        tg_j2k_decode_bytes(h, &tile, &w->area, w->k, some ? w->n_components : h->n_components);
    r.memory_bytes = TG_MIN(r.memory_bytes, UINT64_MAX / 2) + p->n_bytes;
    return tg_j2k_decode(&r, err);
}

/* The main header as the tile's own header changes it. */
static bool read_tile_header(const tg_j2k_codestream *s, uint32_t tile, tg_j2k_header *h,
                             tg_err *err)
{
    *h = s->header;
    for (uint32_t i = s->first_part[tile]; i != TG_J2K_NO_PART; i = s->part[i].next) {
        tg_j2k_source part = tg_j2k_part(&s->source, s->part[i].at, s->part[i].n_bytes);

        if (!tg_j2k_tile_part_read(&part, h, err))
            return false;
    }
    return true;
}

/* Every packet has a byte at least; one that says otherwise keeps a decoder busy for hours. */
static bool has_its_packets(const tg_j2k_codestream *s, const tg_j2k_wanted *w,
                            const tg_j2k_header *h, uint32_t tile, tg_err *err)
{
    tg_j2k_area area = tg_j2k_tile_area(h, w->col, w->row);
    uint64_t n_bytes = w->lenient ? ZERO_PIECES * ZERO_BYTES : 0;

    for (uint32_t i = s->first_part[tile]; i != TG_J2K_NO_PART; i = s->part[i].next)
        n_bytes += s->part[i].n_bytes;
    return tg_j2k_packets(h, &area) <= 2 * n_bytes || corrupt(err, "a tile is too short");
}

static opj_image_t *decode_parts(tg_j2k_codestream *s, const tg_j2k_wanted *w,
                                 const tg_j2k_header *h, uint32_t tile, tg_err *err)
{
    uint32_t n_parts = count_parts(s, tile);
    size_t room = 2 + n_parts * (size_t)(w->lenient ? 2 + ZERO_PIECES : 2);
    pieces p = {.piece = tg_image_alloc(room, sizeof *p.piece + TG_J2K_SOT_BYTES, err)};
    opj_image_t *image = NULL;

    if (!p.piece)
        return NULL;
    p.sot = (void *)(p.piece + room);
    if (n_parts > 255)
        corrupt(err, "more than 255 parts of a tile");
    else if (add_tile_pieces(s, w, h, tile, n_parts, &p, err))
        image = decode_pieces(s, w, h, &p, err);
    tg_image_free(p.piece);
    return image;
}

opj_image_t *tg_j2k_decode_tile(tg_j2k_codestream *s, const tg_j2k_wanted *w, tg_err *err)
{
    uint32_t tile = w->row * s->header.cols + w->col;
    tg_j2k_header h;

    if (!make_index(s, err) || !make_main_header(s, err))
        return NULL;
    if (s->first_part[tile] == TG_J2K_NO_PART) {
        corrupt(err, "a tile is missing");
        return NULL;
    }
    if (!read_tile_header(s, tile, &h, err) || !has_its_packets(s, w, &h, tile, err))
        return NULL;
    if (w->k > h.levels_min) {
        tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "a tile has fewer resolutions than the others");
        return NULL;
    }
    return decode_parts(s, w, &h, tile, err);
}
