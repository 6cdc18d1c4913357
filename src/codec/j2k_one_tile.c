/* One tile as a codestream of its own: on the same reference grid, so with the same samples,
 * precincts and code-blocks. Where its packets lie by resolution, a reduced tile is that of a
 * smaller picture, which is all that OpenJPEG then gets to see. */
#include <string.h>

#include "j2k_codestream.h"
#include "tegula/log.h"
#include "tegula/mem.h"
#include "tegula/num.h"

#define SIZ_AT       2 /* in the main header */
#define MAX_PARTS    255
#define ZERO_BYTES   ((size_t)64 << 10)
#define ZERO_PIECES  16
#define PART_PIECES  2 /* SOT, and the rest */
#define OTHER_PIECES 2 /* main header, EOC */
#define SPARE_BYTES  4096

typedef struct one_tile {
    const tg_j2k_codestream *s;
    const tg_j2k_wanted *w;
    uint32_t index;
    tg_j2k_header header; /* what holds for the tile */
    tg_j2k_area tile, area;
    unsigned shrink, k; /* w->k: by a smaller picture, and left for OpenJPEG */
    bool limited;       /* not all of its bytes are given */
    bool among_others;  /* OpenJPEG gets all of the codestream */

    void *memory; /* of the following */
    tg_j2k_source *piece;
    size_t n_pieces;
    uint64_t n_bytes;
    uint8_t (*sot)[TG_J2K_SOT_BYTES];
    uint32_t n_sots;
    uint8_t *main_header;
    size_t main_header_bytes;
} one_tile;

static bool corrupt(tg_err *err, const char *what)
{
    tg_fail(err, TG_ERR_CORRUPT, "the JPEG 2000 codestream is damaged");
    return tg_fail_detail(err, "%s", what);
}

/* ---- what the tile's own headers say ---- */

static const tg_j2k_tile_part *first_part(const one_tile *t)
{
    uint32_t i = t->s->first_part[t->index];

    return i == TG_J2K_NO_PART ? NULL : &t->s->part[i];
}

static const tg_j2k_tile_part *next_part(const one_tile *t, const tg_j2k_tile_part *part)
{
    return part->next == TG_J2K_NO_PART ? NULL : &t->s->part[part->next];
}

static bool read_headers(one_tile *t, uint32_t *n_parts, uint64_t *n_bytes, tg_err *err)
{
    t->header = t->s->header;
    for (const tg_j2k_tile_part *p = first_part(t); p; p = next_part(t, p)) {
        tg_j2k_source part = tg_j2k_part(&t->s->source, p->at, p->n_bytes);

        if (p->cut && !t->w->lenient)
            return corrupt(err, "it ends in the middle of a tile");
        if (p->cut)
            tg_log_file(
                "a JPEG 2000 codestream ends in the middle of a tile, shown as far as it goes");
        if (!tg_j2k_tile_part_read(&part, &t->header, err))
            return false;
        *n_bytes += p->n_bytes;
        if (++*n_parts > MAX_PARTS)
            return corrupt(err, "more than 255 parts of a tile");
    }
    return *n_parts > 0 || corrupt(err, "a tile is missing");
}

/* ---- a smaller picture ---- */

static bool is_on_one_grid(const tg_j2k_header *h)
{
    for (unsigned i = 1; i < TG_MIN(h->n_components, TG_J2K_MAX_COMPONENTS); i++)
        if (h->component[i].dx != h->component[0].dx || h->component[i].dy != h->component[0].dy)
            return false;
    return h->n_components <= TG_J2K_MAX_COMPONENTS;
}

/* Packets of the lower resolutions come first, whatever other components and tile-parts there are,
 * and their order does not hang on the reference grid's fine print (section B.12.1). */
static bool can_shrink(const one_tile *t)
{
    const tg_j2k_header *h = &t->header;
    bool by_resolution =
        h->progression == 1 || h->progression == 2 || (h->progression == 0 && h->layers == 1);

    for (unsigned i = 0; i <= TG_J2K_MAX_COMPONENTS; i++)
        if (h->coding[i].own)
            return false;
    return by_resolution && !h->poc && !h->packed_headers && !h->tile_coding &&
           (is_on_one_grid(h) || (t->tile.x0 == 0 && t->tile.y0 == 0));
}

static uint32_t halved(uint32_t v, unsigned k)
{
    return tg_j2k_coordinate(v, 1, k);
}

static tg_j2k_area shrunk(const tg_j2k_area *a, unsigned k)
{
    return (tg_j2k_area){halved(a->x0, k), halved(a->y0, k), halved(a->x1, k), halved(a->y1, k)};
}

static void set_geometry(one_tile *t)
{
    t->tile = tg_j2k_tile_area(&t->s->header, t->w->col, t->w->row);
    t->area = t->w->area;
    t->k = t->w->k;
    if (t->k == 0 || !can_shrink(t))
        return;
    t->shrink = t->k;
    t->k = 0;
    t->tile = shrunk(&t->tile, t->shrink);
    t->area = shrunk(&t->area, t->shrink);
    for (unsigned i = 0; i <= TG_J2K_MAX_COMPONENTS; i++)
        t->header.coding[i].levels -= (uint8_t)t->shrink;
}

/* Fewer resolutions: precinct sizes are listed from the lowest on (section A.6.1), quantization
 * steps as well and may be too many. */
static void shrink_cod(uint8_t *cod, unsigned shrink)
{
    bool precincts = cod[4] & 1;

    cod[9] = (uint8_t)(cod[9] - shrink);
    if (precincts)
        tg_j2k_put_u16(cod + 2, tg_be16(cod + 2) - shrink);
}

/* Segments of the main header are whole: they were copied as such. */
static void make_main_header(one_tile *t)
{
    const uint8_t *from = t->s->main_header, *end = from + t->s->main_header_bytes;
    uint8_t *to = t->main_header;

    memcpy(to, from, 2);
    for (from += 2, to += 2; from < end;) {
        uint32_t n = 2u + tg_be16(from + 2);

        memcpy(to, from, n);
        if (t->shrink && tg_be16(to) == TG_J2K_COD)
            shrink_cod(to, t->shrink);
        from += n;
        to += 2u + tg_be16(to + 2);
    }
    t->main_header_bytes = (size_t)(to - t->main_header);
}

static void put_size(one_tile *t)
{
    uint8_t *siz = t->main_header + SIZ_AT + 6; /* after marker, length and capabilities */
    const tg_j2k_header *h = &t->s->header;
    uint32_t x0 = h->tile_x0 + t->w->col * h->tile_w, y0 = h->tile_y0 + t->w->row * h->tile_h;

    tg_j2k_put_u32(siz, t->tile.x1);
    tg_j2k_put_u32(siz + 4, t->tile.y1);
    tg_j2k_put_u32(siz + 8, t->tile.x0);
    tg_j2k_put_u32(siz + 12, t->tile.y0);
    tg_j2k_put_u32(siz + 16, t->shrink ? t->tile.x1 - t->tile.x0 : h->tile_w);
    tg_j2k_put_u32(siz + 20, t->shrink ? t->tile.y1 - t->tile.y0 : h->tile_h);
    tg_j2k_put_u32(siz + 24, t->shrink ? t->tile.x0 : x0);
    tg_j2k_put_u32(siz + 28, t->shrink ? t->tile.y0 : y0);
}

/* More than the packets of a smaller picture can be expected to take: its samples as they are. */
static uint64_t expected_bytes(const one_tile *t)
{
    const tg_j2k_component *c = t->header.component;
    uint64_t n = SPARE_BYTES + 16 * tg_j2k_packets(&t->header, &t->tile);

    for (unsigned i = 0; i < TG_MIN(t->header.n_components, TG_J2K_MAX_COMPONENTS); i++)
        n += (uint64_t)((t->tile.x1 - t->tile.x0) / c[i].dx + 1) *
             ((t->tile.y1 - t->tile.y0) / c[i].dy + 1) * ((c[i].bits + 7u) / 8) * 5 / 4;
    return n;
}

/* ---- the pieces ---- */

static void add_memory(one_tile *t, const uint8_t *memory, size_t n)
{
    t->piece[t->n_pieces++] = (tg_j2k_source){.memory = memory, .fd = -1, .n_bytes = n};
    t->n_bytes += n;
}

/* Zeros instead of what is missing: a packet that begins with one is empty (section B.10.3). */
static uint64_t add_padding(one_tile *t)
{
    static const uint8_t zeros[ZERO_BYTES];
    uint64_t packets = tg_j2k_packets(&t->header, &t->tile);
    uint64_t n = TG_MIN(packets, (ZERO_PIECES - 1) * ZERO_BYTES) + ZERO_BYTES;

    for (uint64_t left = n; left; left -= TG_MIN(left, ZERO_BYTES))
        add_memory(t, zeros, TG_MIN(left, ZERO_BYTES));
    return n;
}

/* The part's first n bytes, under a SOT marker of this codestream. */
static void add_part(one_tile *t, const tg_j2k_tile_part *part, uint64_t n)
{
    uint8_t *sot = t->sot[t->n_sots];

    tg_j2k_put_u16(sot, TG_J2K_SOT);
    tg_j2k_put_u16(sot + 2, TG_J2K_SOT_BYTES - 2);
    tg_j2k_put_u16(sot + 4, 0);
    sot[10] = (uint8_t)t->n_sots++;
    add_memory(t, sot, TG_J2K_SOT_BYTES);
    t->piece[t->n_pieces++] =
        tg_j2k_part(&t->s->source, part->at + TG_J2K_SOT_BYTES, n - TG_J2K_SOT_BYTES);
    t->n_bytes += n - TG_J2K_SOT_BYTES;
    if (part->cut)
        n += add_padding(t);
    tg_j2k_put_u32(sot + 6, (uint32_t)TG_MIN(n, (uint64_t)UINT32_MAX));
}

/* limit: of what follows the parts' headers. */
static bool add_parts(one_tile *t, uint64_t limit, tg_err *err)
{
    static const uint8_t eoc[] = {TG_J2K_EOC >> 8, TG_J2K_EOC & 0xff};

    for (const tg_j2k_tile_part *p = first_part(t); p && limit; p = next_part(t, p)) {
        tg_j2k_source part = tg_j2k_part(&t->s->source, p->at, p->n_bytes);
        tg_j2k_header h = t->s->header;
        uint64_t data;

        if (!tg_j2k_tile_part_read(&part, &h, err))
            return false;
        data = TG_MIN(p->n_bytes - TG_MIN(h.n_bytes, p->n_bytes), limit);
        add_part(t, p, TG_MIN(h.n_bytes, p->n_bytes) + data);
        limit -= data;
        t->limited = limit == 0;
    }
    for (uint32_t i = 0; i < t->n_sots; i++)
        t->sot[i][11] = (uint8_t)t->n_sots;
    add_memory(t, eoc, sizeof eoc);
    return true;
}

static bool allocate(one_tile *t, uint32_t n_parts, tg_err *err)
{
    size_t per_part = t->w->lenient ? PART_PIECES + ZERO_PIECES : PART_PIECES;
    size_t pieces = OTHER_PIECES + n_parts * per_part;

    t->memory = tg_image_alloc(
        pieces * sizeof *t->piece + n_parts * sizeof *t->sot + t->s->main_header_bytes, 1, err);
    if (!t->memory)
        return false;
    t->piece = t->memory;
    t->sot = (void *)(t->piece + pieces);
    t->main_header = (uint8_t *)(t->sot + n_parts);
    return true;
}

/* ---- decoding ---- */

static bool same_area(const tg_j2k_area *a, const tg_j2k_area *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static opj_image_t *decode_pieces(const one_tile *t, tg_err *err)
{
    const tg_j2k_header *h = &t->header;
    const tg_j2k_wanted *w = t->w;
    bool some = w->n_components < h->n_components &&
                !(h->mct && w->component[0] < 3); /* the transform needs all it made */
    uint32_t n_components = some ? w->n_components : h->n_components;
    uint64_t bytes = tg_j2k_decode_bytes(h, &t->tile, &t->area, t->k, n_components);
    tg_j2k_request r = {.piece = t->piece,
                        .n_pieces = t->n_pieces,
                        .k = t->k,
                        .max_layers = w->max_layers,
                        .lenient = w->lenient,
                        .area = same_area(&t->tile, &t->area) && !t->among_others ? NULL : &t->area,
                        .component = some ? w->component : NULL,
                        .n_components = some ? w->n_components : 0,
                        .memory_bytes = TG_MIN(bytes, UINT64_MAX / 2) + t->n_bytes};

    return tg_j2k_decode(&r, err);
}

static opj_image_t *decode(one_tile *t, uint64_t limit, tg_err *err)
{
    t->n_pieces = t->n_sots = 0;
    t->n_bytes = 0;
    t->limited = false;
    add_memory(t, t->main_header, t->main_header_bytes);
    return add_parts(t, limit, err) ? decode_pieces(t, err) : NULL;
}

/* With all its bytes if fewer were not enough. */
static opj_image_t *decode_limited(one_tile *t, tg_err *err)
{
    tg_err limited = {0};
    opj_image_t *image = decode(t, t->shrink ? expected_bytes(t) : UINT64_MAX, &limited);

    if (!image && limited.kind == TG_ERR_CORRUPT && t->limited)
        return decode(t, UINT64_MAX, err);
    if (!image)
        *err = limited;
    return image;
}

static bool is_decodable(const one_tile *t, uint64_t n_bytes, tg_err *err)
{
    uint64_t most = n_bytes + (t->w->lenient ? ZERO_PIECES * ZERO_BYTES : 0);

    if (t->w->k > t->header.levels_min)
        return tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "a tile has fewer resolutions than the others");
    /* Every packet has a byte; a header that says otherwise keeps a decoder busy for hours. */
    return tg_j2k_packets(&t->header, &t->tile) <= 2 * most || corrupt(err, "a tile is too short");
}

/* Packet headers of all tiles together in the main header (PPM): not to be taken apart. */
static opj_image_t *decode_among_others(one_tile *t, tg_err *err)
{
    t->header = t->s->header;
    t->area = t->w->area;
    t->k = t->w->k;
    t->piece = (tg_j2k_source[]){t->s->source};
    t->n_pieces = 1;
    t->n_bytes = t->s->source.n_bytes;
    t->among_others = true;
    return decode_pieces(t, err);
}

opj_image_t *tg_j2k_decode_tile(tg_j2k_codestream *s, const tg_j2k_wanted *w, tg_err *err)
{
    one_tile t = {.s = s, .w = w, .index = w->row * s->header.cols + w->col};
    opj_image_t *image = NULL;
    uint32_t n_parts = 0;
    uint64_t n_bytes = 0;

    t.tile = tg_j2k_tile_area(&s->header, w->col, w->row);
    if (s->header.packed_headers)
        return decode_among_others(&t, err);
    if (!tg_j2k_codestream_index(s, err) || !read_headers(&t, &n_parts, &n_bytes, err) ||
        !is_decodable(&t, n_bytes, err))
        return NULL;
    set_geometry(&t);
    if (!allocate(&t, n_parts, err))
        return NULL;
    make_main_header(&t);
    put_size(&t);
    image = decode_limited(&t, err);
    tg_image_free(t.memory);
    return image;
}
