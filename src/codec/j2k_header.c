#include "j2k_header.h"

#include <limits.h>
#include <string.h>

#include "tegula/num.h"

#define MAX_SEGMENTS 70000 /* COC, QCC and RGN of 16384 components; what is more is an attack */
#define MAX_TILES    65535 /* table A.9 */
#define CODING_BYTES (5u + TG_J2K_MAX_LEVELS + 1)

/* One marker segment: its length field, then what follows, of which at most 256 bytes are seen. */
typedef struct segment {
    uint32_t marker, n_bytes; /* without marker and length */
    uint64_t at;
} segment;

static bool corrupt(tg_err *err, const char *what)
{
    tg_fail(err, TG_ERR_CORRUPT, "the JPEG 2000 codestream is damaged");
    return tg_fail_detail(err, "main header: %s", what);
}

static bool next_segment(tg_j2k_cursor *c, segment *s, tg_err *err)
{
    const uint8_t *p = tg_j2k_peek(c, 4, err);

    if (!p)
        return false;
    s->marker = tg_be16(p);
    s->at = c->at + 4;
    s->n_bytes = tg_be16(p + 2);
    if (s->marker < 0xff00 || s->n_bytes < 2)
        return corrupt(err, "no marker where one has to be");
    s->n_bytes -= 2;
    return true;
}

static const uint8_t *body(tg_j2k_cursor *c, const segment *s, uint32_t from, uint32_t n,
                           tg_err *err)
{
    if (from + n > s->n_bytes) {
        corrupt(err, "a marker segment is too short");
        return NULL;
    }
    c->at = s->at + from;
    return tg_j2k_peek(c, n, err);
}

/* ---- SIZ, section A.5.1 ---- */

static bool check_size(tg_j2k_header *h, tg_err *err)
{
    uint64_t cols, rows;

    if (h->x1 <= h->x0 || h->y1 <= h->y0)
        return corrupt(err, "the picture is empty");
    if (h->tile_w == 0 || h->tile_h == 0 || h->tile_x0 > h->x0 || h->tile_y0 > h->y0 ||
        h->x0 - h->tile_x0 >= h->tile_w || h->y0 - h->tile_y0 >= h->tile_h)
        return corrupt(err, "the tiles do not cover the picture");
    if (h->x1 > INT_MAX || h->y1 > INT_MAX) {
        tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "the picture is larger than this version reads");
        return tg_fail_detail(err, "it ends at %u, %u", h->x1, h->y1);
    }
    cols = tg_ceil_div_u32(h->x1 - h->tile_x0, h->tile_w);
    rows = tg_ceil_div_u32(h->y1 - h->tile_y0, h->tile_h);
    if (cols * rows > MAX_TILES)
        return corrupt(err, "more than 65535 tiles");
    h->cols = (uint32_t)cols;
    h->rows = (uint32_t)rows;
    return true;
}

static bool read_components(tg_j2k_cursor *c, const segment *s, tg_j2k_header *h, tg_err *err)
{
    for (uint32_t i = 0; i < TG_MIN(h->n_components, TG_J2K_MAX_COMPONENTS); i++) {
        const uint8_t *p = body(c, s, 36 + 3 * i, 3, err);

        if (!p)
            return false;
        h->component[i] = (tg_j2k_component){
            .bits = (uint8_t)((p[0] & 0x7f) + 1), .is_signed = p[0] >> 7, .dx = p[1], .dy = p[2]};
        if (p[1] == 0 || p[2] == 0 || h->component[i].bits > 38)
            return corrupt(err, "a component has no size");
        if (tg_j2k_coordinate(h->x0, p[1], 0) == tg_j2k_coordinate(h->x1, p[1], 0) ||
            tg_j2k_coordinate(h->y0, p[2], 0) == tg_j2k_coordinate(h->y1, p[2], 0))
            return corrupt(err, "a component has no samples");
    }
    return true;
}

static bool read_siz(tg_j2k_cursor *c, const segment *s, tg_j2k_header *h, tg_err *err)
{
    const uint8_t *p = body(c, s, 0, 36, err);

    if (!p)
        return false;
    h->x1 = tg_be32(p + 2);
    h->y1 = tg_be32(p + 6);
    h->x0 = tg_be32(p + 10);
    h->y0 = tg_be32(p + 14);
    h->tile_w = tg_be32(p + 18);
    h->tile_h = tg_be32(p + 22);
    h->tile_x0 = tg_be32(p + 26);
    h->tile_y0 = tg_be32(p + 30);
    h->n_components = (uint16_t)tg_be16(p + 34);
    if (h->n_components == 0 || s->n_bytes != 36 + 3 * (uint32_t)h->n_components)
        return corrupt(err, "SIZ and its components disagree");
    return check_size(h, err) && read_components(c, s, h, err);
}

/* ---- COD and COC, sections A.6.1 and A.6.2 ---- */

/* p: SPcod or SPcoc, n bytes of it. */
static bool read_coding(const uint8_t *p, uint32_t n, bool precincts, tg_j2k_coding *out,
                        tg_err *err)
{
    if (n < 5 || p[0] > TG_J2K_MAX_LEVELS || (precincts && n < 6u + p[0]))
        return corrupt(err, "coding style");
    *out = (tg_j2k_coding){.levels = p[0],
                           .block_w_log2 = (uint8_t)((p[1] & 15) + 2),
                           .block_h_log2 = (uint8_t)((p[2] & 15) + 2),
                           .block_style = p[3]};
    if (out->block_w_log2 > 10 || out->block_h_log2 > 10 ||
        out->block_w_log2 + out->block_h_log2 > 12)
        return corrupt(err, "size of code-blocks");
    memset(out->precinct_log2, 0xff, sizeof out->precinct_log2);
    if (precincts)
        memcpy(out->precinct_log2, p + 5, 1u + p[0]);
    return true;
}

static bool read_cod(tg_j2k_cursor *c, const segment *s, tg_j2k_header *h, tg_err *err)
{
    uint32_t n = TG_MIN(s->n_bytes, CODING_BYTES + 5u);
    const uint8_t *p = body(c, s, 0, n, err);
    tg_j2k_coding coding;

    if (!p || n < 10)
        return p && corrupt(err, "COD is too short");
    h->sop = p[0] & 2;
    h->eph = p[0] & 4;
    h->progression = p[1];
    h->layers = (uint16_t)tg_be16(p + 2);
    h->mct = p[4] & 1;
    if (h->layers == 0 || h->progression > 4)
        return corrupt(err, "progression");
    if (!read_coding(p + 5, n - 5, p[0] & 1, &coding, err))
        return false;
    for (unsigned i = 0; i <= TG_J2K_MAX_COMPONENTS; i++)
        if (!h->coding[i].own)
            h->coding[i] = coding;
    return true;
}

/* The fewest levels, the smallest blocks and precincts of both. */
static tg_j2k_coding finest(const tg_j2k_coding *a, const tg_j2k_coding *b)
{
    tg_j2k_coding f = *a;

    f.levels = TG_MIN(a->levels, b->levels);
    f.block_w_log2 = TG_MIN(a->block_w_log2, b->block_w_log2);
    f.block_h_log2 = TG_MIN(a->block_h_log2, b->block_h_log2);
    f.block_style |= b->block_style;
    for (unsigned i = 0; i <= TG_J2K_MAX_LEVELS; i++) {
        uint8_t w = TG_MIN(a->precinct_log2[i] & 15, b->precinct_log2[i] & 15);
        uint8_t h = TG_MIN(a->precinct_log2[i] >> 4, b->precinct_log2[i] >> 4);

        f.precinct_log2[i] = (uint8_t)(h << 4 | w);
    }
    return f;
}

static bool read_coc(tg_j2k_cursor *c, const segment *s, tg_j2k_header *h, tg_err *err)
{
    uint32_t wide = h->n_components < 257 ? 1 : 2;
    uint32_t n = TG_MIN(s->n_bytes, wide + 1 + CODING_BYTES);
    const uint8_t *p = body(c, s, 0, n, err);
    tg_j2k_coding coding;
    uint32_t component;

    if (!p || n < wide + 1)
        return p && corrupt(err, "COC is too short");
    component = wide == 1 ? p[0] : tg_be16(p);
    if (!read_coding(p + wide + 1, n - wide - 1, p[wide] & 1, &coding, err))
        return false;
    if (component >= TG_J2K_MAX_COMPONENTS) {
        component = TG_J2K_MAX_COMPONENTS;
        if (h->layers) /* COD came before, as it has to */
            coding = finest(&h->coding[component], &coding);
    }
    coding.own = true;
    h->coding[component] = coding;
    return true;
}

/* What follows from the coding of all components. */
static void sum_up(tg_j2k_header *h)
{
    unsigned n = TG_MIN(h->n_components, TG_J2K_MAX_COMPONENTS + 1u);

    h->levels_min = TG_J2K_MAX_LEVELS;
    for (unsigned i = 0; i < n; i++) {
        h->levels_min = TG_MIN(h->levels_min, h->coding[i].levels);
        if (h->coding[i].block_style & 0x40) /* ISO/IEC 15444-15, table A.19 as it changes it */
            h->high_throughput = true;
    }
}

/* ---- CRG, section A.9.1 ---- */

static bool read_crg(tg_j2k_cursor *c, const segment *s, tg_j2k_header *h, tg_err *err)
{
    for (uint32_t i = 0; i < TG_MIN(h->n_components, TG_J2K_MAX_COMPONENTS); i++) {
        const uint8_t *p = body(c, s, 4 * i, 4, err);

        if (!p)
            return false;
        h->component[i].off_x = (uint16_t)tg_be16(p);
        h->component[i].off_y = (uint16_t)tg_be16(p + 2);
    }
    return true;
}

/* ---- all of it ---- */

static bool read_segment(tg_j2k_cursor *c, const segment *s, tg_j2k_header *h, tg_err *err)
{
    if (h->in_tile_part && (s->marker == TG_J2K_COD || s->marker == TG_J2K_COC))
        h->tile_coding = true;
    switch (s->marker) {
    case TG_J2K_COD:
        return read_cod(c, s, h, err);
    case TG_J2K_COC:
        return read_coc(c, s, h, err);
    case TG_J2K_CRG:
        return read_crg(c, s, h, err);
    case TG_J2K_POC:
        h->poc = true;
        return true;
    case TG_J2K_PPM:
    case TG_J2K_PPT:
        h->packed_headers = true;
        return true;
    case TG_J2K_SIZ:
    case TG_J2K_SOT:
    case TG_J2K_SOD:
    case TG_J2K_EOC:
        return corrupt(err, "a marker where it must not be");
    default:
        return true;
    }
}

/* Segments from the one after `s` up to the end marker, which is left in s. */
static bool read_segments(tg_j2k_cursor *c, segment *s, uint32_t end, tg_j2k_header *h, tg_err *err)
{
    for (unsigned i = 0;; i++) {
        const uint8_t *p;

        c->at = s->at + s->n_bytes;
        p = tg_j2k_peek(c, 2, err);
        if (!p)
            return false;
        if (tg_be16(p) == end)
            return true;
        if (i == MAX_SEGMENTS || c->at > TG_J2K_MAIN_HEADER_MAX)
            return corrupt(err, "it does not end");
        if (!next_segment(c, s, err) || !read_segment(c, s, h, err))
            return false;
    }
}

static bool is_supported(const tg_j2k_header *h, tg_err *err)
{
    for (uint32_t i = 0; i < TG_MIN(h->n_components, TG_J2K_MAX_COMPONENTS); i++)
        if (h->component[i].bits > 31)
            return tg_fail(err, TG_ERR_NOT_IMPLEMENTED,
                           "samples of more than 31 bits are not supported");
    return true;
}

bool tg_j2k_header_read(const tg_j2k_source *codestream, tg_j2k_header *out, tg_err *err)
{
    tg_j2k_cursor c = {.source = codestream};
    const uint8_t *p = tg_j2k_peek(&c, 4, err);
    segment s;

    *out = (tg_j2k_header){0};
    if (!p)
        return false;
    if (tg_be16(p) != TG_J2K_SOC || tg_be16(p + 2) != TG_J2K_SIZ)
        return corrupt(err, "it does not begin with SOC and SIZ");
    c.at = 2;
    if (!next_segment(&c, &s, err) || !read_siz(&c, &s, out, err) ||
        !read_segments(&c, &s, TG_J2K_SOT, out, err))
        return false;
    if (out->layers == 0)
        return corrupt(err, "no COD");
    out->n_bytes = c.at;
    sum_up(out);
    return is_supported(out, err);
}

bool tg_j2k_tile_part_read(const tg_j2k_source *tile_part, tg_j2k_header *h, tg_err *err)
{
    tg_j2k_cursor c = {.source = tile_part};
    segment s = {.at = TG_J2K_SOT_BYTES};

    h->in_tile_part = true;
    if (!read_segments(&c, &s, TG_J2K_SOD, h, err))
        return false;
    h->n_bytes = c.at + 2;
    sum_up(h);
    return true;
}

tg_j2k_area tg_j2k_tile_area(const tg_j2k_header *h, uint32_t col, uint32_t row)
{
    uint64_t x = h->tile_x0 + (uint64_t)col * h->tile_w, y = h->tile_y0 + (uint64_t)row * h->tile_h;

    return (tg_j2k_area){(uint32_t)TG_MAX(x, (uint64_t)h->x0), (uint32_t)TG_MAX(y, (uint64_t)h->y0),
                         (uint32_t)TG_MIN(x + h->tile_w, (uint64_t)h->x1),
                         (uint32_t)TG_MIN(y + h->tile_h, (uint64_t)h->y1)};
}
