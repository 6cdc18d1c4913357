#include "serve/iip.h"
#include "tegula/plan.h"

void tg_url_split(const char *url, tg_str *path, tg_str *query)
{
    const char *authority = strstr(url, "://");
    if (authority) {
        const char *slash = strchr(authority + 3, '/');
        url = slash ? slash : "/";
    }
    tg_str_cut(tg_str_of(url), '?', path, query);
}

static void explain_plan(tg_service *s, tg_source *source, tg_plan *plan, tg_str name, tg_buf *out,
                         tg_err *err)
{
    if (tg_answer_mark(s, source, plan, name, err))
        tg_plan_print(plan, source->image, out);
}

static tg_source *explain_source(tg_service *s, tg_str identifier, tg_buf *out, tg_err *err)
{
    tg_source *source = tg_source_get(s->sources, identifier, err);
    if (source)
        tg_buf_printf(out, "identifier: %.*s\n", TG_STR_ARG(identifier));
    return source;
}

static void explain_picture(tg_service *s, tg_source *source, const tg_iiif *iiif, tg_buf *out,
                            tg_err *err)
{
    tg_plan plan;
    bool color = source->image->fmt.channels >= 3;
    if (tg_plan_make(s->config, source->image, &iiif->job, &plan, err))
        explain_plan(s, source, &plan, tg_iiif_picture_name(s, iiif, &plan, color), out, err);
}

static void explain_iiif(tg_service *s, tg_str head, tg_str rest, const tg_job *modifiers,
                         tg_buf *out, tg_err *err)
{
    tg_iiif iiif;
    if (!tg_iiif_parse(s->config, head, rest, s->arena, &iiif, err))
        return;
    tg_job_modify(&iiif.job, modifiers);
    tg_source *source = explain_source(s, iiif.identifier, out, err);
    if (source && iiif.kind == TG_IIIF_IMAGE)
        explain_picture(s, source, &iiif, out, err);
    else if (source)
        tg_buf_z(out,
                 iiif.kind == TG_IIIF_INFO ? "answer: info.json\n" : "answer: 303 to info.json\n");
    tg_source_release(s->sources, source);
}

static void explain_tiles(tg_service *s, tg_protocol protocol, tg_str rest, const tg_job *modifiers,
                          tg_buf *out, tg_err *err)
{
    tg_tiles tiles;
    tg_job job;
    tg_plan plan;
    if (!tg_tiles_parse(protocol, rest, s->arena, &tiles, err))
        return;
    tg_source *source = explain_source(s, tiles.identifier, out, err);
    if (source && tiles.document) {
        tg_buf_z(out, "answer: the document of the pyramid\n");
    } else if (source) {
        tg_tiles_image image = tg_tiles_over(s->config, protocol, source->image);
        if (tg_tiles_job(&tiles, &image, &job, err)) {
            tg_job_modify(&job, modifiers);
            if (tg_plan_make(s->config, source->image, &job, &plan, err))
                explain_plan(s, source, &plan,
                             tg_tiles_picture_name(s, &tiles, &image, source, &job), out, err);
        }
    }
    tg_source_release(s->sources, source);
}

static void explain_view(tg_service *s, tg_iip *iip, tg_buf *out, tg_err *err)
{
    static const char *const answers[] = {[TG_IIP_OBJECTS] = "facts about the image",
                                          [TG_IIP_TILES] = "several tiles",
                                          [TG_IIP_PROFILE] = "samples along a line",
                                          [TG_IIP_SPECTRUM] = "samples of a pixel"};
    tg_plan plan;
    bool picture = iip->output == TG_IIP_VIEW || iip->output == TG_IIP_TILE;
    if (!picture)
        tg_buf_printf(out, "answer: %s\n", answers[iip->output]);
    tg_source *source = picture ? tg_iip_source(s, &iip->image, err) : NULL;
    if (!source)
        return;
    tg_buf_printf(out, "identifier: %.*s\n", TG_STR_ARG(iip->image.identifier));
    if (tg_iip_resolve(iip, source->image, err) &&
        tg_plan_make(s->config, source->image, &iip->job, &plan, err))
        explain_plan(s, source, &plan, tg_iip_picture_name(s, iip, source, &plan), out, err);
    tg_source_release(s->sources, source);
}

static void explain_iip(tg_service *s, tg_str path, tg_str query, tg_buf *out, tg_err *err)
{
    tg_iip *iip = tg_arena_alloc(s->arena, sizeof *iip);
    tg_iip_error wrong = {0};
    if (!tg_iip_parse(s->config, query, s->arena, iip, &wrong)) {
        tg_iip_error_text(&wrong, out);
        tg_fail(err, TG_ERR_BAD_REQUEST, "IIP error");
        return;
    }
    if (iip->output == TG_IIP_IIIF)
        explain_iiif(s, tg_iip_head(s, path, query, iip), iip->argument, &iip->job, out, err);
    else if (iip->output == TG_IIP_DEEPZOOM || iip->output == TG_IIP_ZOOMIFY ||
             iip->output == TG_IIP_XYZ)
        explain_tiles(s, tg_iip_protocol(iip), iip->argument, &iip->job, out, err);
    else
        explain_view(s, iip, out, err);
}

int tg_service_explain(tg_service *s, const char *url, FILE *out)
{
    tg_err err = {0};
    tg_buf text = {0};
    tg_str path, query;
    tg_route route;
    tg_arena_reset(s->arena);
    tg_url_split(url, &path, &query);
    if (tg_route_find(s->config, path, query, s->arena, &route, &err)) {
        if (route.home)
            tg_buf_z(&text, "answer: the home page\n");
        else if (route.protocol == TG_PROTOCOL_IIIF)
            explain_iiif(s, route.head, route.rest, NULL, &text, &err);
        else if (route.protocol == TG_PROTOCOL_IIP)
            explain_iip(s, path, route.rest, &text, &err);
        else
            explain_tiles(s, route.protocol, route.rest, NULL, &text, &err);
    }
    fprintf(out, "%.*s", TG_STR_ARG(tg_buf_view(&text)));
    if (err.kind)
        fprintf(out, "answer: %d %s%s%s\n", tg_status_of(err.kind), err.msg,
                err.detail[0] ? ": " : "", err.detail);
    tg_buf_free(&text);
    return err.kind ? 1 : 0;
}
