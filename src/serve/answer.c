#include <stdlib.h>

#include "serve/service.h"
#include "tegula/log.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/tile_cache.h"

/* Process-lifetime: the cache of the one service. */
static tg_cache *pressed;

/* Decoded tiles first: an answer is worth more for its bytes. */
static void give_back(size_t bytes)
{
    size_t before = tg_image_in_use();
    tg_tile_cache_shrink(bytes);
    size_t given = before - tg_image_in_use();
    if (given < bytes)
        tg_cache_shrink(pressed, bytes - given);
}

tg_service *tg_service_new(const tg_config *config, const tg_watermark *mark)
{
    tg_service *s = tg_new(sizeof *s);
    s->config = config;
    s->mark = mark;
    s->how = "";
    s->sources = tg_sources_new(config);
    s->arena = tg_arena_new();
    s->lasting = tg_arena_new();
    s->settings = tg_answer_settings(config, mark, s->lasting);
    tg_image_set_ceiling(config->memory_bytes);
    double tiles = config->image_cache_mib * (1 - TG_ANSWERS_SHARE) * 1048576;
    tg_tile_cache_set_budget(TG_MIN((uint64_t)tiles, config->memory_bytes / 4));
    s->cache = tg_cache_new(config);
    pressed = s->cache;
    tg_image_on_pressure(give_back);
    return s;
}

void tg_service_free(tg_service *s)
{
    if (!s)
        return;
    pressed = NULL;
    tg_image_on_pressure(NULL);
    tg_sources_free(s->sources);
    tg_cache_free(s->cache);
    tg_arena_free(s->arena);
    tg_arena_free(s->lasting);
    free(s);
}

void tg_service_reload(tg_service *s)
{
    tg_cache_log(s->cache);
    tg_cache_clear(s->cache);
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
    tg_header(r, "Access-Control-Allow-Methods", TG_STR(TG_ALLOW));
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
    tg_answer_refusal(request, err, "text/plain; charset=utf-8", r);
    put_cors(s->config, r);
}

void tg_answer_home(tg_response *r)
{
    r->status = 200;
    tg_header(r, "Content-Type", TG_STR("text/html; charset=utf-8"));
    tg_header(r, "Cache-Control", TG_STR("no-store"));
    tg_buf_z(&r->body,
             "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
             "<title>tegula</title></head>\n<body><h1>tegula " PACKAGE_VERSION
             "</h1>\n<p>An image server: IIIF Image API 3.0 and 2.1, IIP, Deep "
             "Zoom, Zoomify, XYZ.</p></body></html>\n");
}

static bool dispatch(tg_service *s, const tg_request *request, tg_response *r, tg_err *err)
{
    tg_route route;
    if (!tg_route_find(s->config, request->path, request->query, s->arena, &route, err))
        return false;
    if (route.home) {
        tg_answer_home(r);
        return true;
    }
    if (route.protocol == TG_PROTOCOL_IIP)
        return tg_answer_iip(s, request, route.rest, r, err);
    return route.protocol == TG_PROTOCOL_IIIF
               ? tg_answer_iiif(s, request, route.head, route.rest, NULL, r, err)
               : tg_answer_tiles(s, request, route.protocol, route.head, route.rest, NULL, r, err);
}

static void answer_options(tg_response *r)
{
    r->status = 204;
    tg_header(r, "Allow", TG_STR(TG_ALLOW));
}

/* The address as nginx has it in $uri, unless it says itself under which key it looks. Only
 * pictures are the same for all who ask. */
static tg_str plain_key(tg_service *s, const tg_request *request, const tg_response *r)
{
    tg_err err = {0};
    tg_str key = TG_STR("");
    if (s->config->cache_layout != TG_LAYOUT_NGINX || !s->after.is_picture || r->status != 200 ||
        request->query.n || request->method == TG_POST)
        return key;
    if (request->cache_key.n)
        return request->cache_key;
    return tg_percent_decode(request->path, s->arena, "path", &key, &err) ? key : TG_STR("");
}

void tg_service_finish(tg_service *s, const tg_response *r)
{
    const tg_after *a = &s->after;
    tg_cached value = {.status = r->status,
                       .type = a->type,
                       .modified_s = a->modified_s,
                       .body = tg_buf_view(&r->body)};
    if (a->store && r->status == 200) {
        value.etag = tg_answer_etag(&a->key);
        tg_cache_put(s->cache, &a->key, &value);
    } else if (a->locked) {
        tg_cache_give_up(s->cache, &a->key);
    }
    if (r->status == 200 && a->is_picture)
        tg_answer_remember(s);
    if (a->plain_key.n)
        tg_cache_put_plain(s->cache, a->plain_key, value.body);
    s->after = (tg_after){0};
    s->how = "";
}

const char *tg_service_how(const tg_service *s)
{
    return s->how;
}

void tg_service_answer(tg_service *s, const tg_request *request, tg_response *r)
{
    tg_err err = {0};
    tg_arena_reset(s->arena);
    tg_response_reset(r);
    s->after = (tg_after){0};
    tg_cache_begin(s->cache);
    r->body.max = s->config->memory_bytes; /* a reply waits in memory until it is whole */
    if (request->method == TG_OPTIONS)
        answer_options(r);
    else if (request->method == TG_OTHER_METHOD)
        tg_fail(&err, TG_ERR_METHOD, "method: GET, HEAD, POST and OPTIONS work here");
    else
        dispatch(s, request, r, &err);
    if (err.kind) {
        tg_service_refuse(s, request, &err, r);
        return;
    }
    if (r->status == 200)
        tg_header(r, "Accept-Ranges", TG_STR("none"));
    put_cors(s->config, r);
    s->after.plain_key = plain_key(s, request, r);
}
