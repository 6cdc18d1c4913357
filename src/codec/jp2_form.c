#include "jp2_form.h"

#include <math.h>
#include <string.h>

#include "tegula/log.h"
#include "tegula/mem.h"
#include "tegula/num.h"

/* A channel as the boxes make it, before it is anything's colour (section I.5.3.5). */
typedef struct source {
    uint16_t component;
    int column; /* of the palette; -1 = none */
    uint8_t bits;
    bool is_signed;
} source;

typedef struct making {
    const tg_jp2_info *info;
    const tg_j2k_header *header;
    source source[TG_JP2_MAX_CHANNELS];
    unsigned n_sources;
    unsigned chosen[TG_J2K_MAX_CHANNELS]; /* source of each channel, alpha last */
    unsigned n_colours;
    bool alpha, premultiplied;
    uint32_t space; /* enumerated; UINT32_MAX = unknown */
} making;

static bool corrupt(tg_err *err, const char *what)
{
    tg_fail(err, TG_ERR_CORRUPT, "the JP2 file is damaged");
    return tg_fail_detail(err, "%s", what);
}

/* ---- channels ---- */

static bool add_source(making *m, uint16_t component, int column, tg_err *err)
{
    const tg_jp2_palette *p = &m->info->palette;
    source *s = &m->source[m->n_sources++];

    if (component >= m->header->n_components || column >= p->n_columns)
        return corrupt(err, "cmap names what there is not");
    if (component >= TG_J2K_MAX_COMPONENTS)
        return tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "more components than this version reads");
    *s = (source){.component = component, .column = column};
    s->bits = column >= 0 ? p->bits[column] : m->header->component[component].bits;
    s->is_signed = column >= 0 ? p->is_signed[column] : m->header->component[component].is_signed;
    return true;
}

static bool add_sources(making *m, tg_err *err)
{
    const tg_jp2_info *info = m->info;
    bool palette = info->palette.n_entries > 0;
    unsigned n = palette ? info->palette.n_columns : m->header->n_components;

    if (palette && info->n_mappings) {
        for (unsigned i = 0; i < info->n_mappings; i++) {
            const tg_jp2_mapping *map = &info->mapping[i];

            if (!add_source(m, map->component, map->by_palette ? map->column : -1, err))
                return false;
        }
        return true;
    }
    for (unsigned i = 0; i < TG_MIN(n, (unsigned)TG_J2K_MAX_COMPONENTS); i++)
        if (!add_source(m, palette ? 0 : (uint16_t)i, palette ? (int)i : -1, err))
            return false;
    return true;
}

/* ---- colours ---- */

static unsigned colours_of_enumerated(uint32_t space)
{
    switch (space) {
    case TG_JP2_BILEVEL_1:
    case TG_JP2_BILEVEL_2:
    case TG_JP2_GRAY:
        return 1;
    case TG_JP2_CMYK:
    case TG_JP2_YCCK:
        return 4;
    default:
        return 3;
    }
}

static unsigned colours_of_profile(uint32_t icc_space)
{
    switch (icc_space) {
    case TG_JP2_TYPE('G', 'R', 'A', 'Y'):
        return 1;
    case TG_JP2_TYPE('C', 'M', 'Y', 'K'):
        return 4;
    default:
        return 3;
    }
}

static const tg_jp2_definition *definition_of(const making *m, unsigned channel)
{
    for (unsigned i = 0; i < m->info->n_definitions; i++)
        if (m->info->definition[i].channel == channel)
            return &m->info->definition[i];
    return NULL;
}

static bool is_colour(const making *m, unsigned channel)
{
    const tg_jp2_definition *d = definition_of(m, channel);

    return !d || d->type == 0;
}

/* How many colours there are when the colour box does not say, or says more than there are
 * channels: gray or RGB. Two or four channels that nothing is said about: the last is alpha, as
 * everyone writes them. */
static void count_colours(making *m)
{
    unsigned defined = 0;

    for (unsigned i = 0; i < m->n_sources; i++)
        defined += is_colour(m, i);
    m->n_colours = defined >= 3 ? 3 : 1;
    if (m->info->n_definitions == 0 && (m->n_sources == 2 || m->n_sources == 4)) {
        m->alpha = true;
        m->chosen[m->n_colours] = m->n_sources - 1;
    }
}

static void find_space(making *m)
{
    const tg_jp2_colour *c = &m->info->colour;
    unsigned wanted = c->method == TG_JP2_ENUMERATED ? colours_of_enumerated(c->space)
                      : c->method == TG_JP2_ICC      ? colours_of_profile(c->icc_space)
                                                     : 0;

    m->space = c->method == TG_JP2_ENUMERATED ? c->space : UINT32_MAX;
    if (c->method == TG_JP2_ICC && c->icc_space == TG_JP2_TYPE('C', 'M', 'Y', 'K'))
        m->space = TG_JP2_CMYK;
    m->n_colours = wanted;
    if (wanted == 0 || wanted > m->n_sources) {
        m->space = UINT32_MAX;
        count_colours(m);
    }
}

/* Channel of each colour: the one defined to be it, else the one in its place (section I.5.3.6). */
static void choose_colours(making *m)
{
    for (unsigned i = 0; i < m->n_colours; i++)
        m->chosen[i] = i;
    for (unsigned i = 0; i < m->info->n_definitions; i++) {
        const tg_jp2_definition *d = &m->info->definition[i];

        if (d->channel >= m->n_sources)
            continue;
        if (d->type == 0 && d->association >= 1 && d->association <= m->n_colours)
            m->chosen[d->association - 1] = d->channel;
        if ((d->type == 1 || d->type == 2) && d->association == 0 && !m->alpha) {
            m->alpha = true;
            m->premultiplied = d->type == 2;
            m->chosen[m->n_colours] = d->channel;
        }
    }
}

/* ---- values ---- */

/* CIELab by its parameters (Part 2, section M.11.7.4.1) to the coding of TG_SPACE_LAB. */
static void lab_range(const tg_jp2_colour *c, const source *s, unsigned i, double max,
                      tg_j2k_channel *out)
{
    double steps = ldexp(1, s->bits) - 1;
    double range[] = {100, 170, 200};
    double origin[] = {0, ldexp(1, s->bits - 1), ldexp(1, s->bits - 2) + ldexp(1, s->bits - 3)};
    double from = s->is_signed ? ldexp(1, s->bits - 1) : 0;
    double span = i == 0 ? 100 : 255, zero = i == 0 ? 0 : 128;

    if (c->has_parameters) {
        range[i] = c->parameters[2 * i];
        origin[i] = c->parameters[2 * i + 1];
    }
    out->scale = range[i] / steps * max / span;
    out->offset = (from - origin[i]) * out->scale + zero * max / span;
}

/* Y of 16 .. 235 and chroma of 16 .. 240, in 8 bits. */
static void studio_range(unsigned i, double max, tg_j2k_channel *out)
{
    double stretch = i == 0 ? 255. / 219 : 255. / 224, fixed = i == 0 ? 16 / 219. : 0;

    out->offset = i == 0 ? out->offset * stretch - fixed * max
                         : (out->offset - max * 128 / 255) * stretch + max * 128 / 255;
    out->scale *= stretch;
}

/* e-sRGB (PIMA 7667): of n bits, 0 is at 2^(n-2) + 2^(n-3), 1 is 255 x 2^(n-9) above. */
static void extended_range(const source *s, double max, tg_j2k_channel *out)
{
    double zero = ldexp(1, s->bits - 2) + ldexp(1, s->bits - 3);
    double from = s->is_signed ? ldexp(1, s->bits - 1) : 0;

    out->scale = max / ldexp(255, s->bits - 9);
    out->offset = (from - zero) * out->scale;
}

static void invert(double max, tg_j2k_channel *out)
{
    out->scale = -out->scale;
    out->offset = max - out->offset;
}

static void set_range(const making *m, const source *s, unsigned i, unsigned bits,
                      tg_j2k_channel *out)
{
    tg_j2k_component as_component = {.bits = s->bits, .is_signed = s->is_signed};
    double max = ldexp(1, (int)bits) - 1;

    tg_j2k_full_range(out, &as_component, bits);
    if (i >= m->n_colours)
        return;
    switch (m->space) {
    case TG_JP2_LAB:
        lab_range(&m->info->colour, s, i, max, out);
        break;
    case TG_JP2_YCBCR_1:
    case TG_JP2_YCBCR_3:
        studio_range(i, max, out);
        break;
    case TG_JP2_ESRGB:
        extended_range(s, max, out);
        break;
    case TG_JP2_CMY:
    case TG_JP2_BILEVEL_1:
        invert(max, out);
        break;
    default:
        break;
    }
}

/* Values of the palette in the channel's own terms: entry after entry, column after column, each in
 * whole bytes. */
static void fill_palette(const tg_jp2_palette *p, const uint8_t *values, int column,
                         tg_j2k_channel *c, unsigned bits, uint16_t *out)
{
    size_t row_bytes = (size_t)p->values.n_bytes / p->n_entries, at = 0;
    double max = ldexp(1, (int)bits) - 1;
    unsigned bytes = (p->bits[column] + 7u) / 8;

    for (int i = 0; i < column; i++)
        at += (p->bits[i] + 7u) / 8;
    for (unsigned e = 0; e < p->n_entries; e++) {
        const uint8_t *v = values + e * row_bytes + at;
        int64_t raw = p->is_signed[column] ? (int8_t)v[0] : v[0];
        double d;

        for (unsigned i = 1; i < bytes; i++)
            raw = raw * 256 + v[i];
        d = (double)raw * c->scale + c->offset + 0.5;
        out[e] = (uint16_t)(d < 0 ? 0 : d > max ? max : d);
    }
    c->palette = out;
    c->palette_entries = p->n_entries;
}

static bool load_palette(making *m, tg_j2k_form *form, uint16_t **palette, tg_err *err)
{
    const tg_jp2_palette *p = &m->info->palette;
    uint8_t values[1024 * TG_JP2_MAX_CHANNELS * 5]; /* 38 bits are five bytes */

    if (p->n_entries == 0)
        return true;
    *palette = tg_image_alloc((size_t)p->n_entries * form->n_channels, sizeof **palette, err);
    if (!*palette || !tg_j2k_read(&p->values, 0, values, (size_t)p->values.n_bytes, err))
        return false;
    for (unsigned i = 0; i < form->n_channels; i++) {
        const source *s = &m->source[m->chosen[i]];

        if (s->column >= 0)
            fill_palette(p, values, s->column, &form->channel[i], form->bits,
                         *palette + (size_t)i * p->n_entries);
    }
    return true;
}

/* ---- the form ---- */

/* Chroma on a coarser grid than the first component: nobody stores green and blue so, whatever the
 * colour box says or is absent to say. */
static bool looks_like_ycc(const making *m)
{
    const tg_j2k_component *c = m->header->component;

    for (unsigned i = 0; i < 3; i++)
        if (m->source[m->chosen[i]].component != i || m->source[m->chosen[i]].column >= 0)
            return false;
    return !m->header->mct && c[1].dx == c[2].dx && c[1].dy == c[2].dy &&
           (c[1].dx > c[0].dx || c[1].dy > c[0].dy);
}

static tg_j2k_model model_of(const making *m)
{
    if (m->n_colours < 3)
        return TG_J2K_AS_IT_IS;
    switch (m->space) {
    case TG_JP2_YCBCR_1:
        return TG_J2K_YCC_709;
    case TG_JP2_YCBCR_2:
    case TG_JP2_YCBCR_3:
    case TG_JP2_SYCC:
    case TG_JP2_ESYCC:
        return TG_J2K_YCC_601;
    case TG_JP2_YCCK:
        return TG_J2K_YCCK;
    case TG_JP2_LAB:
    case TG_JP2_CMYK:
        return TG_J2K_AS_IT_IS;
    default:
        return looks_like_ycc(m) ? TG_J2K_YCC_601 : TG_J2K_AS_IT_IS;
    }
}

static tg_space space_of(const making *m)
{
    bool lab =
        m->space == TG_JP2_LAB || (m->info->colour.method == TG_JP2_ICC && m->n_colours == 3 &&
                                   m->info->colour.icc_space == TG_JP2_TYPE('L', 'a', 'b', ' '));

    return m->n_colours == 1   ? TG_SPACE_GRAY
           : m->n_colours == 4 ? TG_SPACE_CMYK
           : lab               ? TG_SPACE_LAB
                               : TG_SPACE_RGB;
}

static uint8_t bits_of(const making *m, unsigned n_channels)
{
    for (unsigned i = 0; i < n_channels; i++)
        if (m->source[m->chosen[i]].bits > 8)
            return 16;
    return 8;
}

static void want_components(const making *m, tg_j2k_form *form)
{
    for (unsigned c = 0; c < TG_J2K_MAX_COMPONENTS; c++)
        for (unsigned i = 0; i < form->n_channels; i++)
            if (m->source[m->chosen[i]].component == c)
                form->channel[i].component = tg_j2k_want(form, c);
}

bool tg_jp2_make_form(const tg_jp2_info *info, const tg_j2k_header *header, tg_native *native,
                      tg_j2k_form *form, uint16_t **palette, tg_err *err)
{
    making m = {.info = info, .header = header};

    *form = (tg_j2k_form){0};
    *palette = NULL;
    if (!add_sources(&m, err))
        return false;
    find_space(&m);
    choose_colours(&m);
    form->n_channels = (uint8_t)(m.n_colours + m.alpha);
    form->bits = bits_of(&m, form->n_channels);
    form->model = model_of(&m);
    form->premultiplied = m.alpha && m.premultiplied;
    want_components(&m, form);
    for (unsigned i = 0; i < form->n_channels; i++)
        set_range(&m, &m.source[m.chosen[i]], i, form->bits, &form->channel[i]);
    *native = (tg_native){.space = space_of(&m), .alpha = m.alpha, .bits = form->bits};
    if (load_palette(&m, form, palette, err))
        return true;
    tg_image_free(*palette);
    *palette = NULL;
    return false;
}
