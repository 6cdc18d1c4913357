#include "serve/service.h"
#include "tegula/iip.h"

static bool below(tg_str path, tg_str prefix, tg_str *head, tg_str *rest)
{
    if (!path.n || path.p[0] != '/')
        return false;
    tg_str inner = {path.p + 1, path.n - 1};
    if (!tg_str_starts(inner, prefix))
        return false;
    size_t at = 1 + prefix.n;
    if (prefix.n) {
        if (at < path.n && path.p[at] != '/')
            return false;
        at += at < path.n;
    }
    *head = (tg_str){path.p, at};
    *rest = (tg_str){path.p + at, path.n - at};
    return true;
}

static const tg_uri_map *map_of(const tg_config *config, tg_str path, tg_str *head, tg_str *rest)
{
    const tg_uri_map *best = NULL;
    size_t best_n = 0;
    for (unsigned i = 0; i < config->n_uri_maps; i++) {
        tg_str prefix = config->uri_map[i].prefix, h, r;
        if (!below(path, prefix, &h, &r) || (best && prefix.n <= best_n))
            continue;
        best = &config->uri_map[i];
        best_n = prefix.n;
        *head = h;
        *rest = r;
    }
    return best;
}

/* Where load balancers look: the root, the program itself, a mapped prefix alone. Anything else
 * that is no request is an error, never this page. */
static bool is_home(tg_str path, tg_str query, bool mapped)
{
    if (mapped)
        return !tg_iip_asks(query);
    return query.n == 0 && (path.n <= 1 || tg_str_ends(path, TG_STR(".fcgi")) ||
                            tg_str_ends(path, TG_STR("/tegula")));
}

/* Behind a prefix of IIP stand commands, the first of them, FIF, without its name; what stands in
 * the query follows them. */
static tg_str mapped_commands(tg_str rest, tg_str query, tg_arena *arena)
{
    return tg_arena_printf(arena, "FIF=%.*s%s%.*s", TG_STR_ARG(rest), query.n ? "&" : "",
                           TG_STR_ARG(query));
}

static void route_mapped(const tg_uri_map *map, tg_str query, tg_arena *arena, tg_route *out)
{
    out->protocol = map->protocol;
    if (map->protocol == TG_PROTOCOL_IIP)
        out->rest = mapped_commands(out->rest, query, arena);
}

/* "IIIF=" as the first command takes all of the query, '&' included. */
static bool is_iiif(tg_str path, tg_str query, tg_arena *arena, tg_route *out)
{
    tg_str name, rest;
    if (!tg_str_cut(query, '=', &name, &rest) || !tg_str_eq_nocase(name, TG_STR("IIIF")))
        return false;
    out->head = tg_arena_printf(arena, "%.*s?%.*s=", TG_STR_ARG(path), TG_STR_ARG(name));
    out->rest = rest;
    return true;
}

bool tg_route_find(const tg_config *config, tg_str path, tg_str query, tg_arena *arena,
                   tg_route *out, tg_err *err)
{
    *out = (tg_route){.protocol = TG_PROTOCOL_IIIF, .head = TG_STR(""), .rest = TG_STR("")};
    const tg_uri_map *map = map_of(config, path, &out->head, &out->rest);
    if (map && out->rest.n) {
        route_mapped(map, query, arena, out);
        return true;
    }
    if (is_iiif(path, query, arena, out))
        return true;
    out->home = is_home(path, query, map != NULL);
    if (!out->home && query.n == 0)
        return tg_fail(err, TG_ERR_NOT_FOUND, "no such address");
    out->protocol = TG_PROTOCOL_IIP;
    out->rest = query;
    return true;
}
