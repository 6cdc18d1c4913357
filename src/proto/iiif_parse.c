/* From the raw path to its parts. Split first and from the right, then decode each part once: only
 * so do encoded and raw slashes both work in identifiers. */
#include "iiif_params.h"
#include "tegula/num.h"

/* Cuts up to n segments off the right end of *left into raw[0..n-1]; false when there are fewer or
 * nothing would remain. */
static bool cut_right(tg_str *left, tg_str *raw, unsigned n)
{
    for (unsigned i = n; i-- > 0;)
        if (!tg_str_rcut(*left, '/', left, &raw[i]))
            return false;
    return left->n > 0;
}

/* A leading "2/" or "3/" in front of an identifier. */
static int take_version(tg_str *identifier)
{
    if (identifier->n < 3 || identifier->p[1] != '/' ||
        (identifier->p[0] != '2' && identifier->p[0] != '3'))
        return 0;
    int version = identifier->p[0] - '0';
    *identifier = (tg_str){identifier->p + 2, identifier->n - 2};
    return version;
}

/* The last segment decoded; empty when it cannot be. */
static tg_str last_name(tg_str raw, tg_arena *arena)
{
    tg_str text;
    tg_err ignored = {0};
    return tg_percent_decode(raw, arena, "name", &text, &ignored) ? text : TG_STR("");
}

static bool is_image(const tg_str raw[TG_IIIF_PARAMS], bool extended, tg_arena *arena)
{
    tg_str name = last_name(raw[TG_IIIF_PARAMS - 1], arena);
    return name.n && memchr(name.p, '.', name.n) && tg_iiif_params_plausible(raw, extended, arena);
}

/* Sets kind, and cuts *left down to version and identifier. */
static void find_kind(tg_str *left, tg_str raw[TG_IIIF_PARAMS], bool extended, tg_arena *arena,
                      tg_iiif *out)
{
    tg_str shorter = *left;
    out->kind = TG_IIIF_BASE;
    if (cut_right(&shorter, raw, 1) && tg_str_is(last_name(raw[0], arena), "info.json")) {
        out->kind = TG_IIIF_INFO;
        *left = shorter;
        return;
    }
    shorter = *left;
    if (cut_right(&shorter, raw, TG_IIIF_PARAMS) && is_image(raw, extended, arena)) {
        out->kind = TG_IIIF_IMAGE;
        *left = shorter;
    }
}

bool tg_iiif_parse(const tg_config *config, tg_str prefix_path, tg_str rest, tg_arena *arena,
                   tg_iiif *out, tg_err *err)
{
    tg_str raw[TG_IIIF_PARAMS], left = rest, identifier;
    *out = (tg_iiif){0};
    find_kind(&left, raw, config->iiif_extensions, arena, out);
    identifier = left;
    int named = take_version(&identifier), version = named ? named : config->iiif_version;
    out->version_named = named != 0;
    out->version = TG_MAX(version, 2);
    if (identifier.n == 0 || tg_str_ends(identifier, TG_STR("/")))
        return tg_fail(err, TG_ERR_NOT_FOUND, "no identifier");
    if (!tg_percent_decode(identifier, arena, "identifier", &out->identifier, err))
        return false;
    out->id_path = tg_uri_clean(left, arena);
    out->base_path =
        tg_arena_printf(arena, "%.*s%.*s", TG_STR_ARG(tg_uri_clean_form(prefix_path, arena)),
                        TG_STR_ARG(out->id_path));
    return out->kind != TG_IIIF_IMAGE ||
           tg_iiif_parse_params(version, config->iiif_extensions, raw[0], raw[1], raw[2], raw[3],
                                arena, &out->job, err);
}
