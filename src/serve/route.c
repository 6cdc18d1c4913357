#include "serve/service.h"

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

/* The first command of a query whose name is among names; its argument up to the next '&', and
 * without what some viewers hang behind a second '?' to get past caches. */
static bool find_command(tg_str query, const char *const names[], size_t n, size_t *which,
                         tg_str *argument)
{
    while (query.n) {
        tg_str command, name, unused;
        tg_str_cut(query, '&', &command, &query);
        tg_str_cut(command, '=', &name, argument);
        tg_str_cut(*argument, '?', argument, &unused);
        for (size_t i = 0; i < n; i++)
            if (tg_str_eq_nocase(name, tg_str_of(names[i]))) {
                *which = i;
                return true;
            }
    }
    return false;
}

static bool asks_iip(tg_str query)
{
    static const char *const commands[] = {"FIF", "IIP"};
    size_t which;
    tg_str argument;
    return find_command(query, commands, 2, &which, &argument);
}

static bool asks_tiles(tg_str query, tg_route *out)
{
    static const char *const commands[] = {"DeepZoom", "Zoomify"};
    size_t which;
    tg_str argument;
    if (!find_command(query, commands, 2, &which, &argument) || argument.n == 0)
        return false;
    out->protocol = which == 0 ? TG_PROTOCOL_DEEPZOOM : TG_PROTOCOL_ZOOMIFY;
    out->rest = argument;
    return true;
}

/* Where load balancers look: the root, the program itself, a mapped prefix alone. Anything else
 * that is no request is an error, never this page. */
static bool is_home(tg_str path, tg_str query, bool mapped, tg_str rest)
{
    if (mapped)
        return rest.n == 0 && !asks_iip(query);
    return query.n == 0 && (path.n <= 1 || tg_str_ends(path, TG_STR(".fcgi")) ||
                            tg_str_ends(path, TG_STR("/tegula")));
}

static bool refuse_query(tg_str query, tg_err *err)
{
    if (asks_iip(query))
        return tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "this protocol is not served here");
    if (query.n)
        return tg_fail(err, TG_ERR_BAD_REQUEST, "no command this server knows");
    return tg_fail(err, TG_ERR_NOT_FOUND, "no such address");
}

bool tg_route_find(const tg_config *config, tg_str path, tg_str query, tg_arena *arena,
                   tg_route *out, tg_err *err)
{
    tg_str name;
    *out = (tg_route){.protocol = TG_PROTOCOL_IIIF, .head = TG_STR(""), .rest = TG_STR("")};
    const tg_uri_map *map = map_of(config, path, &out->head, &out->rest);
    if (map && out->rest.n) {
        out->protocol = map->protocol;
        return map->protocol != TG_PROTOCOL_IIP ||
               tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "this protocol is not served here");
    }
    if (asks_tiles(query, out))
        return true;
    out->home = is_home(path, query, map != NULL, out->rest);
    if (out->home)
        return true;
    if (!tg_str_cut(query, '=', &name, &out->rest) || !tg_str_eq_nocase(name, TG_STR("IIIF")))
        return refuse_query(query, err);
    out->head = tg_arena_printf(arena, "%.*s?%.*s=", TG_STR_ARG(path), TG_STR_ARG(name));
    return true;
}
