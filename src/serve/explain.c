#include "serve/service.h"
#include "tegula/plan.h"

/* A URL without scheme and authority, split at its first '?'. */
static void split_url(const char *url, tg_str *path, tg_str *query)
{
    const char *authority = strstr(url, "://");
    if (authority) {
        const char *slash = strchr(authority + 3, '/');
        url = slash ? slash : "/";
    }
    tg_str_cut(tg_str_of(url), '?', path, query);
}

static bool explain_job(tg_service *s, tg_source *source, const tg_job *job, tg_buf *out,
                        tg_err *err)
{
    tg_plan plan;
    if (!tg_plan_make(s->config, source->image, job, &plan, err))
        return false;
    tg_plan_print(&plan, source->image, out);
    return true;
}

static tg_source *explain_source(tg_service *s, tg_str identifier, tg_buf *out, tg_err *err)
{
    tg_source *source = tg_source_get(s->sources, identifier, err);
    if (source)
        tg_buf_printf(out, "identifier: %.*s\n", TG_STR_ARG(identifier));
    return source;
}

static void explain_iiif(tg_service *s, const tg_route *route, tg_buf *out, tg_err *err)
{
    tg_iiif iiif;
    if (!tg_iiif_parse(s->config, route->head, route->rest, s->arena, &iiif, err))
        return;
    tg_source *source = explain_source(s, iiif.identifier, out, err);
    if (source && iiif.kind == TG_IIIF_IMAGE)
        explain_job(s, source, &iiif.job, out, err);
    else if (source)
        tg_buf_z(out,
                 iiif.kind == TG_IIIF_INFO ? "answer: info.json\n" : "answer: 303 to info.json\n");
    tg_source_release(s->sources, source);
}

static void explain_tiles(tg_service *s, const tg_route *route, tg_buf *out, tg_err *err)
{
    tg_tiles tiles;
    tg_job job;
    if (!tg_tiles_parse(route->protocol, route->rest, s->arena, &tiles, err))
        return;
    tg_source *source = explain_source(s, tiles.identifier, out, err);
    if (source && tiles.document) {
        tg_buf_z(out, "answer: the document of the pyramid\n");
    } else if (source) {
        tg_tiles_image image = tg_tiles_over(s->config, source->image);
        if (tg_tiles_job(&tiles, &image, &job, err))
            explain_job(s, source, &job, out, err);
    }
    tg_source_release(s->sources, source);
}

int tg_service_explain(tg_service *s, const char *url, FILE *out)
{
    tg_err err = {0};
    tg_buf text = {0};
    tg_str path, query;
    tg_route route;
    tg_arena_reset(s->arena);
    split_url(url, &path, &query);
    if (tg_route_find(s->config, path, query, s->arena, &route, &err)) {
        if (route.home)
            tg_buf_z(&text, "answer: the home page\n");
        else if (route.protocol == TG_PROTOCOL_IIIF)
            explain_iiif(s, &route, &text, &err);
        else
            explain_tiles(s, &route, &text, &err);
    }
    fprintf(out, "%.*s", TG_STR_ARG(tg_buf_view(&text)));
    if (err.kind)
        fprintf(out, "answer: %d %s%s%s\n", tg_status_of(err.kind), err.msg,
                err.detail[0] ? ": " : "", err.detail);
    tg_buf_free(&text);
    return err.kind ? 1 : 0;
}
