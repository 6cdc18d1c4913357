#include <math.h>

#include "serve/service.h"

void tg_answer_vary(tg_service *s, const tg_request *request, unsigned on, tg_response *r)
{
    bool by_id = on & TG_VARY_ID && request->x_iiif_id.n;
    bool id_decides = by_id && tg_is_http_url(tg_str_trim(request->x_iiif_id));
    bool by_origin = !id_decides && !s->config->base_url[0];
    const struct {
        bool counts;
        tg_str value;
        const char *name;
    } asked[] = {{by_id, request->x_iiif_id, "X-IIIF-ID"},
                 {by_origin, request->forwarded_proto, "X-Forwarded-Proto"},
                 {by_origin, request->forwarded_host, "X-Forwarded-Host"},
                 {by_origin, request->forwarded_port, "X-Forwarded-Port"}};
    tg_str names = on & TG_VARY_ACCEPT ? TG_STR("Accept") : TG_STR("");
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
        if (asked[i].counts && asked[i].value.n)
            names = tg_arena_printf(s->arena, "%.*s%s%s", TG_STR_ARG(names), names.n ? ", " : "",
                                    asked[i].name);
    if (names.n)
        tg_header(r, "Vary", names);
}

static void put_links(const tg_iiif *iiif, tg_str id, tg_str canonical, tg_response *r)
{
    tg_header_f(r, "Link", "<%.*s/%.*s>;rel=\"canonical\",<%.*s>;rel=\"profile\"", TG_STR_ARG(id),
                TG_STR_ARG(canonical), TG_STR_ARG(tg_iiif_profile(iiif->version)));
}

void tg_answer_iiif_headers(tg_service *s, const tg_request *request, const tg_iiif *iiif,
                            tg_str canonical, tg_response *r)
{
    put_links(iiif, tg_iiif_id(s->config, request, iiif, s->arena), canonical, r);
    tg_answer_vary(s, request, TG_VARY_ID, r);
}

/* One for both versions and all spellings: the picture is the same. */
tg_str tg_iiif_picture_name(tg_service *s, const tg_iiif *iiif, const tg_plan *plan, bool color)
{
    tg_job job = iiif->job;
    if (job.quality == TG_QUALITY_COLOR)
        job.quality = TG_QUALITY_DEFAULT;
    tg_str canonical = tg_iiif_canonical(3, &job, &plan->geometry, color, s->arena);
    return tg_arena_printf(s->arena, "iiif|%.*s|%.*s", TG_STR_ARG(canonical),
                           TG_STR_ARG(tg_job_modifiers(&job, s->arena)));
}

static bool answer_image(tg_service *s, const tg_request *request, tg_iiif *iiif,
                         const tg_job *modifiers, tg_source *source, tg_response *r, tg_err *err)
{
    tg_plan plan;
    bool color = source->image->fmt.channels >= 3;
    tg_job_modify(&iiif->job, modifiers);
    if (!tg_plan_make(s->config, source->image, &iiif->job, &plan, err))
        return false;
    tg_str canonical =
        tg_iiif_canonical(iiif->version, &iiif->job, &plan.geometry, color, s->arena);
    s->after.canonical = canonical;
    tg_answer_iiif_headers(s, request, iiif, canonical, r);
    return tg_answer_picture(s, request, source, &plan, tg_iiif_picture_name(s, iiif, &plan, color),
                             iiif->identifier, r, err);
}

/* The service has one resolution for both axes (IIIF Physical Dimensions 1.0): none where the
 * pixels are not square. */
static double square_dpi(const tg_image *image)
{
    bool square = fabs(image->dpi_x - image->dpi_y) <= 0.01 * image->dpi_x;
    return square ? image->dpi_x : 0;
}

static void write_info(tg_service *s, tg_image *image, int version, tg_str id, tg_buf *out)
{
    tg_limits limits;
    tg_iiif_image facts = {.width_px = tg_image_width_px(image),
                           .height_px = tg_image_height_px(image),
                           .color = image->fmt.channels >= 3,
                           .dpi_x = square_dpi(image)};
    tg_buf copyright = {0};
    tg_image_text(image, TG_TEXT_RIGHTS, TG_MAX_RIGHTS_BYTES, &copyright);
    facts.copyright = tg_buf_view(&copyright);
    tg_limits_from_config(s->config, facts.width_px, facts.height_px, &limits);
    tg_iiif_advertised_tile(image->tiled, tg_image_tile_width_px(image),
                            tg_image_tile_height_px(image), &limits, &facts.tile_w_px,
                            &facts.tile_h_px);
    tg_iiif_info(s->config, &facts, &limits, version, id, s->arena, out);
    tg_buf_free(&copyright);
}

/* Appends the document; returns its tag, which is made of its bytes: whatever shapes them, a change
 * shows. It is made faster than memcached answers, and so kept in this worker alone. */
static tg_str put_info(tg_service *s, const tg_source *source, int version, tg_str type, tg_str id,
                       tg_buf *out)
{
    tg_cached info;
    const tg_identity *file = &source->identity;
    tg_str asked = tg_arena_printf(s->arena, "info|%u|%d|%.*s|%.*s", source->page, version,
                                   TG_STR_ARG(type), TG_STR_ARG(id));
    tg_cache_key key = tg_answer_key(s, file, asked);
    if (tg_cache_get_here(s->cache, &key, &info)) {
        tg_buf_str(out, info.body);
        return info.etag;
    }
    write_info(s, source->image, version, id, out);
    tg_str bytes = tg_arena_printf(s->arena, "%u|%.*s|%.*s", source->page, TG_STR_ARG(type),
                                   TG_STR_ARG(tg_buf_view(out)));
    tg_cache_key tag = tg_answer_key(s, file, bytes);
    info = (tg_cached){.status = 200,
                       .type = type,
                       .etag = tg_answer_etag(&tag),
                       .modified_s = file->mtime_s,
                       .body = tg_buf_view(out)};
    tg_cache_put_here(s->cache, &key, &info);
    return info.etag;
}

static bool answer_info(tg_service *s, const tg_request *request, const tg_iiif *iiif,
                        const tg_source *source, tg_response *r)
{
    tg_str id = tg_iiif_id(s->config, request, iiif, s->arena);
    int version = tg_iiif_info_version(iiif, request->accept);
    tg_str type = tg_iiif_info_type(version, request->accept);
    tg_answer_vary(s, request, TG_VARY_ID | TG_VARY_ACCEPT, r);
    tg_header_f(r, "Link", "<%.*s>;rel=\"profile\"", TG_STR_ARG(tg_iiif_profile(version)));
    tg_str etag = put_info(s, source, version, type, id, &r->body);
    if (tg_answer_tagged(s, request, &source->identity, etag, r)) {
        r->body.len = 0;
        return true;
    }
    r->status = 200;
    tg_header(r, "Content-Type", type);
    return true;
}

/* 303 to the information document, in the form the client used (IIIF Image API 3.0, section 2). */
static bool answer_base(tg_service *s, const tg_request *request, const tg_iiif *iiif,
                        tg_response *r, tg_err *err)
{
    if (!tg_source_exists(s->sources, iiif->identifier, err))
        return false;
    r->status = 303;
    tg_answer_vary(s, request, TG_VARY_ID, r);
    tg_header_f(r, "Location", "%.*s/info.json",
                TG_STR_ARG(tg_iiif_id(s->config, request, iiif, s->arena)));
    tg_header(r, "Cache-Control", TG_STR("no-cache"));
    return true;
}

bool tg_answer_iiif(tg_service *s, const tg_request *request, tg_str head, tg_str rest,
                    const tg_job *modifiers, tg_response *r, tg_err *err)
{
    tg_iiif iiif;
    if (!tg_iiif_parse(s->config, head, rest, s->arena, &iiif, err))
        return false;
    if (iiif.kind == TG_IIIF_BASE)
        return answer_base(s, request, &iiif, r, err);
    if (iiif.kind == TG_IIIF_IMAGE && !modifiers &&
        tg_answer_remembered(s, request, &iiif, rest, r))
        return true;
    tg_source *source = tg_source_get(s->sources, iiif.identifier, err);
    if (!source)
        return false;
    bool ok = iiif.kind == TG_IIIF_INFO
                  ? answer_info(s, request, &iiif, source, r)
                  : answer_image(s, request, &iiif, modifiers, source, r, err);
    tg_source_release(s->sources, source);
    return ok;
}
