#include "j2k_codestream.h"

#include <stdlib.h>
#include <string.h>

#include "tegula/mem.h"
#include "tegula/num.h"

#define MAX_PARTS        ((uint32_t)1 << 19) /* tile-parts looked for; more take too long */
#define MAX_HEADER_BYTES ((size_t)1 << 20)   /* of what a decoder needs of the main header */

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

bool tg_j2k_codestream_index(tg_j2k_codestream *s, tg_err *err)
{
    return make_index(s, err) && make_main_header(s, err);
}
