/* `tegula purge`: what operators name, as caches know it. */
#include "serve/iip.h"

typedef struct target {
    const tg_config *config;
    tg_arena *arena;    /* for as long as it takes */
    tg_arena *one;      /* for one key */
    tg_str identifier;  /* empty: all of them */
    tg_str of_document; /* the identifier without a page number */
} target;

/* The identifier of an address; false when it is none of an image. */
static bool identifier_of(const tg_config *config, tg_str path, tg_str query, tg_arena *arena,
                          tg_str *out)
{
    tg_err err = {0};
    tg_route route;
    tg_iiif iiif;
    tg_tiles tiles;
    tg_iip *iip = tg_arena_alloc(arena, sizeof *iip);
    tg_iip_error wrong = {0};
    if (!tg_route_find(config, path, query, arena, &route, &err) || route.home)
        return false;
    if (route.protocol == TG_PROTOCOL_IIIF &&
        tg_iiif_parse(config, route.head, route.rest, arena, &iiif, &err)) {
        *out = iiif.identifier;
        return true;
    }
    if (route.protocol != TG_PROTOCOL_IIIF && route.protocol != TG_PROTOCOL_IIP &&
        tg_tiles_parse(route.protocol, route.rest, arena, &tiles, &err)) {
        *out = tiles.identifier;
        return true;
    }
    if (route.protocol == TG_PROTOCOL_IIP && tg_iip_parse(config, route.rest, arena, iip, &wrong)) {
        *out = iip->image.identifier;
        return out->n > 0;
    }
    return false;
}

/* "book.tif" of "book.tif;;2": a purge takes away the file, with all its pages. */
static tg_str without_page(const tg_config *config, tg_str identifier)
{
    tg_str delimiter = tg_str_of(config->iiif_delimiter), head = identifier;
    while (head.n && head.p[head.n - 1] >= '0' && head.p[head.n - 1] <= '9')
        head.n--;
    if (!delimiter.n || head.n == identifier.n || !tg_str_ends(head, delimiter))
        return identifier;
    head.n -= delimiter.n;
    return head;
}

/* A key that a web server made of an address, which it has decoded. */
static bool owns(void *ctx, tg_str key)
{
    target *t = ctx;
    tg_str identifier;
    tg_arena_reset(t->one);
    if (!key.n || key.p[0] != '/' ||
        !identifier_of(t->config, tg_uri_clean(key, t->one), TG_STR(""), t->one, &identifier))
        return false;
    return !t->identifier.n || tg_str_eq(identifier, t->identifier) ||
           tg_str_eq(without_page(t->config, identifier), t->of_document);
}

static bool purge_file(target *t, tg_str identifier, FILE *out)
{
    tg_cache_purge what = {.owns = owns, .ctx = t};
    what.file =
        tg_arena_printf(t->arena, "%.*s%s", TG_STR_ARG(identifier), t->config->filesystem_suffix);
    fprintf(out, "%.*s\n", TG_STR_ARG(what.file));
    return tg_cache_purge_all(t->config, &what, out);
}

static bool purge(target *t, const char *named, FILE *out)
{
    if (!named) {
        tg_cache_purge what = {.all = true, .owns = owns, .ctx = t};
        return tg_cache_purge_all(t->config, &what, out);
    }
    tg_str path, query, text = tg_str_of(named);
    tg_url_split(named, &path, &query);
    if (!identifier_of(t->config, path, query, t->arena, &t->identifier))
        t->identifier = text;
    t->of_document = without_page(t->config, t->identifier);
    bool ok = purge_file(t, t->identifier, out);
    if (t->of_document.n != t->identifier.n)
        ok &= purge_file(t, t->of_document, out);
    return ok;
}

int tg_serve_purge(const tg_config *config, const char *named, FILE *out)
{
    if (!config->memcached_servers[0]) {
        fputs(
            "MEMCACHED_SERVERS is empty: answers are only in the memory of workers, which drop "
            "them at SIGHUP\n",
            out);
        return 1;
    }
    target t = {.config = config, .arena = tg_arena_new(), .one = tg_arena_new()};
    bool ok = purge(&t, named, out);
    tg_arena_free(t.arena);
    tg_arena_free(t.one);
    return ok ? 0 : 1;
}
