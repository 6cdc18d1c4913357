#include <string.h>

#include "serve/service.h"
#include "tegula/num.h"

tg_tiles_image tg_tiles_over(const tg_config *config, tg_protocol protocol, tg_image *image)
{
    tg_tiles_image out = {.width_px = tg_image_width_px(image),
                          .height_px = tg_image_height_px(image)};
    uint32_t h;
    tg_limits limits;
    tg_limits_from_config(config, out.width_px, out.height_px, &limits);
    tg_iiif_advertised_tile(image->tiled, tg_image_tile_width_px(image),
                            tg_image_tile_height_px(image), &limits, &out.tile_px, &h);
    if (protocol == TG_PROTOCOL_XYZ)
        out.map = tg_image_georef(image);
    return out;
}

#define MAX_RIGHTS_BYTES 65536

/* "https://host" of BASE_URL, whose path is that of IIIF; else of the request. */
static tg_str origin(tg_service *s, const tg_request *request)
{
    tg_str base = tg_str_of(s->config->base_url);
    const char *host = base.n ? strstr(base.p, "://") : NULL;
    if (!host)
        return tg_request_origin(request, s->arena);
    size_t n = (size_t)(host - base.p) + 3;
    return (tg_str){base.p, n + strcspn(base.p + n, "/?#")};
}

/* The document's own address up to its name. */
static tg_str tiles_base(tg_service *s, const tg_request *request, tg_str head, tg_str rest)
{
    tg_str folder, name;
    tg_str_rcut(rest, '/', &folder, &name);
    return tg_arena_printf(s->arena, "%.*s%.*s%.*s/", TG_STR_ARG(origin(s, request)),
                           TG_STR_ARG(tg_uri_clean_form(head, s->arena)),
                           TG_STR_ARG(tg_uri_clean(folder, s->arena)));
}

static void put_tilejson(tg_service *s, const tg_request *request, tg_str base,
                         const tg_tiles *tiles, const tg_tiles_image *image,
                         const tg_source *source, tg_response *r)
{
    tg_buf rights = {0};
    tg_image_text(source->image, TG_TEXT_RIGHTS, TG_MAX_RIGHTS_BYTES, &rights);
    tg_tilejson about = {.base = base,
                         .name = tiles->identifier,
                         .attribution =
                             rights.len ? tg_buf_view(&rights) : tg_str_of(s->config->copyright),
                         .alpha = tg_pixfmt_alpha(source->image->fmt) ||
                                  image->map.projection != TG_PROJECTION_NONE};
    tg_tilejson_document(image, &about, &r->body);
    tg_buf_free(&rights);
    tg_answer_vary(s, request, TG_VARY_ORIGIN, r);
}

static bool answer_document(tg_service *s, const tg_request *request, tg_str base,
                            const tg_tiles *tiles, const tg_tiles_image *image,
                            const tg_source *source, tg_response *r, tg_err *err)
{
    bool xyz = tiles->protocol == TG_PROTOCOL_XYZ;
    if (xyz && !tg_xyz_can(image, err))
        return false;
    if (xyz)
        put_tilejson(s, request, base, tiles, image, source, r);
    else
        tg_tiles_document(tiles->protocol, image, &r->body);
    if (tg_answer_validators(s, request, &source->identity, tg_buf_view(&r->body), r)) {
        r->body.len = 0;
        return true;
    }
    r->status = 200;
    tg_header(r, "Content-Type", xyz ? TG_STR("application/json") : TG_STR("application/xml"));
    return true;
}

tg_str tg_tiles_picture_name(tg_service *s, const tg_tiles *tiles, const tg_tiles_image *image,
                             const tg_source *source, const tg_job *job)
{
    return tg_arena_printf(s->arena, "tiles%d|%u|%u|%.*s|%.*s", tiles->protocol, source->page,
                           image->tile_px, TG_STR_ARG(tg_tiles_canonical(tiles, s->arena)),
                           TG_STR_ARG(tg_job_modifiers(job, s->arena)));
}

static bool answer_tile(tg_service *s, const tg_request *request, const tg_tiles *tiles,
                        const tg_tiles_image *image, const tg_job *modifiers, tg_source *source,
                        tg_response *r, tg_err *err)
{
    tg_job job;
    tg_plan plan;
    if (!tg_tiles_job(tiles, image, &job, err))
        return false;
    tg_job_modify(&job, modifiers);
    if (!tg_plan_make(s->config, source->image, &job, &plan, err))
        return false;
    tg_str name = tg_tiles_picture_name(s, tiles, image, source, &job);
    return tg_answer_picture(s, request, source, &plan, name, tiles->identifier, r, err);
}

bool tg_answer_tiles(tg_service *s, const tg_request *request, tg_protocol protocol, tg_str head,
                     tg_str rest, const tg_job *modifiers, tg_response *r, tg_err *err)
{
    tg_tiles tiles;
    if (!tg_tiles_parse(protocol, rest, s->arena, &tiles, err))
        return false;
    tg_source *source = tg_source_get(s->sources, tiles.identifier, err);
    if (!source)
        return false;
    tg_tiles_image image = tg_tiles_over(s->config, protocol, source->image);
    bool ok = tiles.document ? answer_document(s, request, tiles_base(s, request, head, rest),
                                               &tiles, &image, source, r, err)
                             : answer_tile(s, request, &tiles, &image, modifiers, source, r, err);
    tg_source_release(s->sources, source);
    return ok;
}
