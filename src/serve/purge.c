/* `tegula purge`: what operators name, as caches know it. */
#include "serve/iip.h"

typedef struct target {
    const tg_config *config;
    tg_arena *arena;    /* for as long as it takes */
    tg_arena *one;      /* for one key */
    tg_str identifier;  /* empty: all of them */
    tg_str of_document; /* the identifier without a page number */
} target;

static bool in_tiles(tg_protocol protocol, tg_str rest, tg_arena *arena, tg_str *out)
{
    tg_err err = {0};
    tg_tiles tiles;
    bool ok = tg_tiles_parse(protocol, rest, arena, &tiles, &err);
    *out = ok ? tiles.identifier : TG_STR("");
    return ok;
}

static bool in_iiif(const tg_config *config, tg_str head, tg_str rest, tg_arena *arena, tg_str *out)
{
    tg_err err = {0};
    tg_iiif iiif;
    bool ok = tg_iiif_parse(config, head, rest, arena, &iiif, &err);
    *out = ok ? iiif.identifier : TG_STR("");
    return ok;
}

/* Its commands name an image themselves, or hold an address of another protocol. */
static bool in_iip(const tg_config *config, tg_str query, tg_arena *arena, tg_str *out)
{
    tg_iip *iip = tg_arena_alloc(arena, sizeof *iip);
    tg_iip_error wrong = {0};
    if (!tg_iip_parse(config, query, arena, iip, &wrong))
        return false;
    switch (iip->output) {
    case TG_IIP_IIIF:
        return in_iiif(config, TG_STR(""), iip->argument, arena, out);
    case TG_IIP_DEEPZOOM:
    case TG_IIP_ZOOMIFY:
    case TG_IIP_XYZ:
        return in_tiles(tg_iip_protocol(iip), iip->argument, arena, out);
    default:
        *out = iip->image.identifier;
        return out->n > 0;
    }
}

/* The identifier of an address; false when it is none of an image. */
static bool identifier_of(const tg_config *config, tg_str path, tg_str query, tg_arena *arena,
                          tg_str *out)
{
    tg_err err = {0};
    tg_route route;
    if (!tg_route_find(config, path, query, arena, &route, &err) || route.home)
        return false;
    if (route.protocol == TG_PROTOCOL_IIIF)
        return in_iiif(config, route.head, route.rest, arena, out);
    if (route.protocol == TG_PROTOCOL_IIP)
        return in_iip(config, route.rest, arena, out);
    return in_tiles(route.protocol, route.rest, arena, out);
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
    bool is_address = identifier_of(t->config, path, query, t->arena, &t->identifier);
    if (!is_address)
        t->identifier = text;
    t->of_document = without_page(t->config, t->identifier);
    bool ok = purge_file(t, t->identifier, out);
    tg_str spaced = tg_iip_with_blanks(t->identifier, t->arena);
    if (is_address && !tg_str_eq(spaced, t->identifier))
        ok &= purge_file(t, spaced, out);
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
