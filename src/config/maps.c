#include "table.h"

static const char *const protocol_names[TG_PROTOCOLS] = {
    [TG_PROTOCOL_IIIF] = "IIIF",       [TG_PROTOCOL_IIP] = "IIP",
    [TG_PROTOCOL_ZOOMIFY] = "Zoomify", [TG_PROTOCOL_DEEPZOOM] = "DeepZoom",
    [TG_PROTOCOL_XYZ] = "XYZ",
};

const char *tg_protocol_name(tg_protocol protocol)
{
    return protocol_names[protocol];
}

static bool protocol_by_name(tg_str name, tg_protocol *out)
{
    for (unsigned i = 0; i < TG_PROTOCOLS; i++) {
        if (!tg_str_eq_nocase(name, tg_str_of(protocol_names[i])))
            continue;
        *out = (tg_protocol)i;
        return true;
    }
    return false;
}

static tg_str without_slashes(tg_str s)
{
    while (s.n && s.p[0] == '/')
        s.p++, s.n--;
    while (s.n && s.p[s.n - 1] == '/')
        s.n--;
    return s;
}

bool tg_maps_add(tg_str prefix, tg_protocol protocol, tg_config *config)
{
    prefix = without_slashes(prefix);
    for (unsigned i = 0; i < config->n_uri_maps; i++)
        if (tg_str_eq(config->uri_map[i].prefix, prefix))
            return config->uri_map[i].protocol == protocol;
    if (config->n_uri_maps == TG_MAX_URI_MAPS)
        return false;
    config->uri_map[config->n_uri_maps++] = (tg_uri_map){prefix, protocol};
    return true;
}

static bool parse_pair(tg_str pair, tg_config *config)
{
    tg_str prefix, name;
    tg_protocol protocol;
    if (!tg_str_rcut(pair, '>', &prefix, &name) || !tg_str_ends(prefix, TG_STR("=")) ||
        !protocol_by_name(tg_str_trim(name), &protocol))
        return false;
    prefix.n--;
    return tg_maps_add(tg_str_trim(prefix), protocol, config);
}

bool tg_maps_parse(tg_str text, tg_config *config)
{
    bool ok = true, more = true;
    while (more) {
        tg_str pair;
        more = tg_str_cut(text, ',', &pair, &text);
        ok &= parse_pair(tg_str_trim(pair), config);
    }
    return ok;
}
