#include <stdlib.h>

#include "serve/service.h"
#include "tegula/log.h"
#include "tegula/mem.h"
#include "tegula/tile_cache.h"

#define ALLOW "GET, HEAD, POST, OPTIONS"

tg_service *tg_service_new(const tg_config *config)
{
    tg_service *s = tg_new(sizeof *s);
    s->config = config;
    s->sources = tg_sources_new(config);
    s->arena = tg_arena_new();
    tg_image_set_ceiling(config->memory_bytes);
    tg_tile_cache_set_budget((size_t)(config->image_cache_mib * 1048576));
    return s;
}

void tg_service_free(tg_service *s)
{
    if (!s)
        return;
    tg_sources_free(s->sources);
    tg_arena_free(s->arena);
    free(s);
}

void tg_service_reload(tg_service *s)
{
    tg_sources_clear(s->sources);
    tg_filter_cache_clear();
}

/* On every reply, errors and 304 included, or scripts cannot read the status (Fetch, CORS protocol;
 * IIIF Image API 3.0, section 7). */
static void put_cors(const tg_config *config, tg_response *r)
{
    if (!config->cors[0])
        return;
    tg_header(r, "Access-Control-Allow-Origin", tg_str_of(config->cors));
    tg_header(r, "Access-Control-Allow-Methods", TG_STR(ALLOW));
    tg_header(
        r, "Access-Control-Allow-Headers",
        TG_STR("Accept, Authorization, Content-Type, If-Modified-Since, If-None-Match, Range, "
               "X-Requested-With"));
    tg_header(r, "Access-Control-Expose-Headers", TG_STR("ETag, Link, Retry-After"));
    tg_header(r, "Access-Control-Max-Age", TG_STR("86400"));
}

void tg_service_refuse(const tg_service *s, const tg_request *request, const tg_err *err,
                       tg_response *r)
{
    tg_response_reset(r);
    r->status = tg_status_of(err->kind);
    tg_header(r, "Content-Type", TG_STR("text/plain; charset=utf-8"));
    tg_header(r, "Cache-Control", TG_STR("no-store"));
    if (err->kind == TG_ERR_METHOD)
        tg_header(r, "Allow", TG_STR(ALLOW));
    if (err->kind == TG_ERR_BUSY)
        tg_header(r, "Retry-After", TG_STR("1"));
    put_cors(s->config, r);
    tg_buf_printf(&r->body, "%s\n", err->msg);
    if (r->status >= 500 || tg_log_wants(TG_LOG_PLAN))
        tg_log(TG_LOG_ERROR, "%d %s: %s%s%s (%.*s)", r->status, tg_err_kind_name(err->kind),
               err->msg, err->detail[0] ? ": " : "", err->detail, TG_STR_ARG(request->uri));
}

void tg_answer_home(tg_response *r)
{
    r->status = 200;
    tg_header(r, "Content-Type", TG_STR("text/html; charset=utf-8"));
    tg_header(r, "Cache-Control", TG_STR("no-store"));
    tg_buf_z(&r->body,
             "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
             "<title>tegula</title></head>\n<body><h1>tegula " PACKAGE_VERSION
             "</h1>\n<p>An image server: IIIF Image API 3.0 and 2.1.</p></body></html>\n");
}

/* Where load balancers look: the root, the program itself, a mapped prefix alone. Anything else
 * that is no request is an error, never this page. */
static bool is_home(const tg_request *request, bool mapped, tg_str rest)
{
    if (mapped)
        return rest.n == 0;
    return request->query.n == 0 &&
           (request->path.n <= 1 || tg_str_ends(request->path, TG_STR(".fcgi")) ||
            tg_str_ends(request->path, TG_STR("tegula")));
}

/* "IIIF=id/…" as the query of an unmapped path. */
static bool iiif_query(tg_str query, tg_str *head, tg_str *rest)
{
    tg_str name;
    if (!tg_str_cut(query, '=', &name, rest) || !tg_str_eq_nocase(name, TG_STR("IIIF")))
        return false;
    *head = (tg_str){query.p, query.n - rest->n};
    return true;
}

static bool dispatch(tg_service *s, const tg_request *request, tg_response *r, tg_err *err)
{
    tg_str head = {"", 0}, rest = {"", 0};
    const tg_uri_map *map = tg_route(s->config, request->path, &head, &rest);
    if (is_home(request, map != NULL, rest)) {
        tg_answer_home(r);
        return true;
    }
    if (map && map->protocol == TG_PROTOCOL_IIIF)
        return tg_answer_iiif(s, request, head, rest, r, err);
    if (map)
        return tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "this protocol is not served here");
    if (iiif_query(request->query, &head, &rest)) {
        head = tg_arena_printf(s->arena, "%.*s?%.*s", TG_STR_ARG(request->path), TG_STR_ARG(head));
        return tg_answer_iiif(s, request, head, rest, r, err);
    }
    if (request->query.n)
        return tg_fail(err, TG_ERR_BAD_REQUEST, "no command this server knows");
    return tg_fail(err, TG_ERR_NOT_FOUND, "no such address");
}

static void answer_options(tg_response *r)
{
    r->status = 204;
    tg_header(r, "Allow", TG_STR(ALLOW));
}

void tg_service_answer(tg_service *s, const tg_request *request, tg_response *r)
{
    tg_err err = {0};
    tg_arena_reset(s->arena);
    tg_response_reset(r);
    r->body.max = s->config->memory_bytes; /* a reply waits in memory until it is whole */
    if (request->method == TG_OPTIONS)
        answer_options(r);
    else if (request->method == TG_OTHER_METHOD)
        tg_fail(&err, TG_ERR_METHOD, "method: GET, HEAD, POST and OPTIONS work here");
    else
        dispatch(s, request, r, &err);
    if (err.kind)
        tg_service_refuse(s, request, &err, r);
    else
        put_cors(s->config, r);
}
