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

static bool explain_iiif(tg_service *s, tg_str head, tg_str rest, tg_buf *out, tg_err *err)
{
    tg_iiif iiif;
    tg_plan plan;
    if (!tg_iiif_parse(s->config, head, rest, s->arena, &iiif, err))
        return false;
    tg_source *source = tg_source_get(s->sources, iiif.identifier, err);
    if (!source)
        return false;
    tg_buf_printf(out, "identifier: %.*s\n", TG_STR_ARG(iiif.identifier));
    bool ok = true;
    if (iiif.kind == TG_IIIF_IMAGE) {
        ok = tg_plan_make(s->config, source->image, &iiif.job, &plan, err);
        if (ok)
            tg_plan_print(&plan, source->image, out);
    } else {
        tg_buf_z(out,
                 iiif.kind == TG_IIIF_INFO ? "answer: info.json\n" : "answer: 303 to info.json\n");
    }
    tg_source_release(s->sources, source);
    return ok;
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
        else
            explain_iiif(s, route.head, route.rest, &text, &err);
    }
    fprintf(out, "%.*s", TG_STR_ARG(tg_buf_view(&text)));
    if (err.kind)
        fprintf(out, "answer: %d %s%s%s\n", tg_status_of(err.kind), err.msg,
                err.detail[0] ? ": " : "", err.detail);
    tg_buf_free(&text);
    return err.kind ? 1 : 0;
}
