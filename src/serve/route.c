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

const tg_uri_map *tg_route(const tg_config *config, tg_str path, tg_str *head, tg_str *rest)
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
