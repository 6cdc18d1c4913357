#include "jp2_info.h"

#include <math.h>
#include <string.h>

#include "tegula/num.h"

#define MAX_BOXES        1024 /* of a file or superbox; more say nothing */
#define MAX_DEPTH        3    /* jplh, cgrp, colr */
#define INCHES_PER_METRE (1 / 0.0254)
#define ICC_HEAD_BYTES   20 /* as far as the data colour space */

/* What is wrong with a box that is optional counts as its absence; a box that pixels depend on and
 * that cannot be is an error. */
static bool corrupt(tg_err *err, const char *box)
{
    tg_fail(err, TG_ERR_CORRUPT, "the JP2 file is damaged");
    return tg_fail_detail(err, "box %s", box);
}

static bool read_at(const tg_jp2_box *b, uint64_t at, void *to, size_t n)
{
    tg_err ignored = {0};

    return tg_j2k_read(&b->contents, at, to, n, &ignored);
}

/* ---- colr, section I.5.3.3; JPX, M.11.7.3 ---- */

static bool read_enumerated(const tg_jp2_box *b, tg_jp2_colour *c)
{
    uint8_t p[4 + 24];

    if (!read_at(b, 3, p, 4))
        return false;
    c->method = TG_JP2_ENUMERATED;
    c->space = tg_be32(p);
    c->has_parameters = c->space == TG_JP2_LAB && read_at(b, 3, p, sizeof p);
    for (unsigned i = 0; c->has_parameters && i < 6; i++)
        c->parameters[i] = tg_be32(p + 4 + 4 * i);
    return true;
}

static bool read_profile(const tg_jp2_box *b, tg_jp2_colour *c)
{
    uint8_t p[ICC_HEAD_BYTES];

    if (!read_at(b, 3, p, sizeof p))
        return false;
    c->method = TG_JP2_ICC;
    c->icc_space = tg_be32(p + 16);
    c->profile = tg_j2k_part(&b->contents, 3, UINT64_MAX);
    return true;
}

/* Parameterized (JPH): code points of ITU-T H.273; what matters is the matrix. */
static bool read_code_points(const tg_jp2_box *b, tg_jp2_colour *c)
{
    uint8_t p[6];
    uint32_t matrix;

    if (!read_at(b, 3, p, sizeof p))
        return false;
    matrix = tg_be16(p + 4);
    c->method = TG_JP2_ENUMERATED;
    c->space = matrix == 0                  ? TG_JP2_SRGB
               : matrix == 1                ? TG_JP2_YCBCR_1
               : matrix >= 4 && matrix <= 7 ? TG_JP2_YCBCR_2
                                            : UINT32_MAX;
    return c->space != UINT32_MAX;
}

/* The first box that is understood counts: a reader of Part 1 ignores the others, a JPX file puts
 * the best first. */
static void read_colour(const tg_jp2_box *b, tg_jp2_info *info)
{
    tg_jp2_colour c = {0};
    uint8_t method;
    bool ok = info->colour.method == TG_JP2_NO_COLOUR && read_at(b, 0, &method, 1) &&
              (method == 1   ? read_enumerated(b, &c)
               : method == 2 ? read_profile(b, &c)
               : method == 3 ? read_profile(b, &c)
               : method == 5 ? read_code_points(b, &c)
                             : false);

    if (ok)
        info->colour = c;
}

/* ---- pclr, section I.5.3.4 ---- */

static bool read_palette(const tg_jp2_box *b, tg_jp2_info *info, tg_err *err)
{
    tg_jp2_palette *p = &info->palette;
    uint8_t head[3 + TG_JP2_MAX_CHANNELS];
    size_t row_bytes = 0;

    if (p->n_entries)
        return true;
    if (!read_at(b, 0, head, 3) || head[2] == 0 || head[2] > TG_JP2_MAX_CHANNELS ||
        !read_at(b, 3, head + 3, head[2]))
        return corrupt(err, "pclr");
    p->n_entries = (uint16_t)tg_be16(head);
    p->n_columns = head[2];
    if (p->n_entries == 0 || p->n_entries > 1024)
        return corrupt(err, "pclr");
    for (unsigned i = 0; i < p->n_columns; i++) {
        p->bits[i] = (uint8_t)((head[3 + i] & 0x7f) + 1);
        p->is_signed[i] = head[3 + i] >> 7;
        if (p->bits[i] > 38)
            return corrupt(err, "pclr");
        row_bytes += (p->bits[i] + 7u) / 8;
    }
    p->values = tg_j2k_part(&b->contents, 3u + p->n_columns, p->n_entries * row_bytes);
    return p->values.n_bytes == p->n_entries * row_bytes || corrupt(err, "pclr");
}

/* ---- cmap and cdef, sections I.5.3.5 and I.5.3.6 ---- */

static bool read_mappings(const tg_jp2_box *b, tg_jp2_info *info, tg_err *err)
{
    uint64_t n = TG_MIN(b->contents.n_bytes / 4, (uint64_t)TG_JP2_MAX_CHANNELS);

    for (uint64_t i = 0; i < n && info->n_mappings == i; i++) {
        uint8_t p[4];

        if (!read_at(b, 4 * i, p, sizeof p) || p[2] > 1)
            return corrupt(err, "cmap");
        info->mapping[info->n_mappings++] = (tg_jp2_mapping){
            .component = (uint16_t)tg_be16(p), .by_palette = p[2] == 1, .column = p[3]};
    }
    return true;
}

static bool read_definitions(const tg_jp2_box *b, tg_jp2_info *info, tg_err *err)
{
    uint8_t p[6];
    uint32_t n;

    if (!read_at(b, 0, p, 2))
        return corrupt(err, "cdef");
    n = TG_MIN(tg_be16(p), (uint32_t)TG_JP2_MAX_CHANNELS);
    for (uint32_t i = 0; i < n && info->n_definitions == i; i++) {
        if (!read_at(b, 2 + 6 * (uint64_t)i, p, sizeof p))
            return corrupt(err, "cdef");
        info->definition[info->n_definitions++] = (tg_jp2_definition){
            (uint16_t)tg_be16(p), (uint16_t)tg_be16(p + 2), (uint16_t)tg_be16(p + 4)};
    }
    return true;
}

/* ---- resc and resd, section I.5.3.7 ---- */

static double dots_per_inch(const uint8_t *fraction, uint8_t exponent)
{
    uint32_t divisor = tg_be16(fraction + 2);
    double per_metre = divisor ? tg_be16(fraction) / (double)divisor : 0;
    double dpi = per_metre * pow(10, (int8_t)exponent) / INCHES_PER_METRE;

    return dpi >= 0.01 && dpi <= 1e6 ? dpi : 0;
}

static void read_resolution(const tg_jp2_box *b, double *dpi_x, double *dpi_y)
{
    uint8_t p[10];

    if (!read_at(b, 0, p, sizeof p))
        return;
    *dpi_y = dots_per_inch(p, p[8]);
    *dpi_x = dots_per_inch(p + 4, p[9]);
}

/* ---- uuid, section I.7.2 ---- */

static const uint8_t xmp_uuid[16] = {0xbe, 0x7a, 0xcf, 0xcb, 0x97, 0xa9, 0x42, 0xe8,
                                     0x9c, 0x71, 0x99, 0x94, 0x91, 0xe3, 0xaf, 0xac};

static void read_uuid(const tg_jp2_box *b, tg_jp2_info *info)
{
    uint8_t p[16 + 6];

    if (!read_at(b, 0, p, 16) || b->cut)
        return;
    if (memcmp(p, xmp_uuid, 16) == 0 && info->xmp.n_bytes == 0)
        info->xmp = tg_j2k_part(&b->contents, 16, UINT64_MAX);
    if (memcmp(p, "JpgTiffExif->JP2", 16) == 0 && info->exif.n_bytes == 0) {
        bool prefixed = read_at(b, 16, p + 16, 6) && memcmp(p + 16, "Exif\0\0", 6) == 0;

        info->exif = tg_j2k_part(&b->contents, prefixed ? 22 : 16, UINT64_MAX);
    }
}

/* ---- all boxes ---- */

static bool read_boxes(const tg_j2k_source *boxes, unsigned depth, tg_jp2_info *info, tg_err *err);

static bool read_box(const tg_jp2_box *b, unsigned depth, tg_jp2_info *info, tg_err *err)
{
    switch (b->type) {
    case TG_JP2_TYPE('j', 'p', '2', 'h'): /* defaults for all codestreams and layers of a JPX */
    case TG_JP2_TYPE('j', 'p', 'c', 'h'): /* JPX: of the codestream, of the compositing layer */
    case TG_JP2_TYPE('j', 'p', 'l', 'h'):
    case TG_JP2_TYPE('c', 'g', 'r', 'p'):
    case TG_JP2_TYPE('r', 'e', 's', ' '):
        return depth == MAX_DEPTH || read_boxes(&b->contents, depth + 1, info, err);
    case TG_JP2_TYPE('c', 'o', 'l', 'r'):
        read_colour(b, info);
        return true;
    case TG_JP2_TYPE('p', 'c', 'l', 'r'):
        return read_palette(b, info, err);
    case TG_JP2_TYPE('c', 'm', 'a', 'p'):
        return read_mappings(b, info, err);
    case TG_JP2_TYPE('c', 'd', 'e', 'f'):
        return read_definitions(b, info, err);
    case TG_JP2_TYPE('r', 'e', 's', 'c'):
        read_resolution(b, &info->capture_dpi_x, &info->capture_dpi_y);
        return true;
    case TG_JP2_TYPE('r', 'e', 's', 'd'):
        read_resolution(b, &info->display_dpi_x, &info->display_dpi_y);
        return true;
    case TG_JP2_TYPE('u', 'u', 'i', 'd'):
        read_uuid(b, info);
        return true;
    case TG_JP2_TYPE('j', 'p', '2', 'c'):
        if (depth == 0 && info->codestream.n_bytes == 0) {
            info->codestream = b->contents;
            info->cut = b->cut;
        }
        return true;
    default:
        return true;
    }
}

static bool read_boxes(const tg_j2k_source *boxes, unsigned depth, tg_jp2_info *info, tg_err *err)
{
    uint64_t at = 0;
    tg_jp2_box box;

    for (unsigned i = 0; i < MAX_BOXES && tg_jp2_next_box(boxes, &at, &box); i++)
        if (!read_box(&box, depth, info, err))
            return false;
    return err->kind == TG_ERR_NONE;
}

bool tg_jp2_info_read(const tg_j2k_source *file, tg_jp2_info *out, tg_err *err)
{
    uint8_t head[4];

    *out = (tg_jp2_info){0};
    if (!tg_j2k_read(file, 0, head, sizeof head, err))
        return false;
    out->raw = tg_jp2_is_codestream(head, sizeof head);
    if (out->raw)
        out->codestream = *file;
    else if (!read_boxes(file, 0, out, err))
        return false;
    return out->codestream.n_bytes > 0 ||
           tg_fail(err, TG_ERR_CORRUPT, "the file holds no JPEG 2000 codestream");
}
