#include "serve/iip.h"

#include "tegula/num.h"

static bool answer_picture(tg_service *s, const tg_request *request, tg_iip *iip, tg_response *r,
                           tg_err *err)
{
    tg_plan plan;
    tg_source *source = tg_iip_source(s, &iip->image, err);
    bool ok =
        source && tg_iip_resolve(iip, source->image, err) &&
        tg_plan_make(s->config, source->image, &iip->job, &plan, err) &&
        tg_answer_picture(s, request, source, &plan, tg_iip_picture_name(s, iip, source, &plan),
                          iip->image.identifier, r, err);
    tg_source_release(s->sources, source);
    return ok;
}

static bool answer(tg_service *s, const tg_request *request, tg_str query, tg_iip *iip,
                   tg_iip_error *wrong, tg_response *r, tg_err *err)
{
    switch (iip->output) {
    case TG_IIP_OBJECTS:
        return tg_answer_objects(s, request, iip, wrong, r, err);
    case TG_IIP_VIEW:
    case TG_IIP_TILE:
        return answer_picture(s, request, iip, r, err);
    case TG_IIP_TILES:
        return tg_answer_many_tiles(s, request, iip, r, err);
    case TG_IIP_PROFILE:
        return tg_answer_profile(s, request, iip, r, err);
    case TG_IIP_SPECTRUM:
        return tg_answer_spectrum(s, request, iip, r, err);
    case TG_IIP_DEEPZOOM:
    case TG_IIP_ZOOMIFY:
    case TG_IIP_XYZ:
        return tg_answer_tiles(s, request, tg_iip_protocol(iip),
                               tg_iip_head(s, request->path, query, iip), iip->argument, &iip->job,
                               r, err);
    case TG_IIP_IIIF:
        return tg_answer_iiif(s, request, tg_iip_head(s, request->path, query, iip), iip->argument,
                              &iip->job, r, err);
    case TG_IIP_NONE:
        break;
    }
    return tg_fail(err, TG_ERR_INTERNAL, "no output command");
}

/* What is wrong only for this image: the error's text begins with the parameter. */
static tg_iip_error wrong_for_image(const tg_err *err, tg_arena *arena)
{
    tg_str name, rest;
    tg_str_cut(tg_str_of(err->msg), ':', &name, &rest);
    return (tg_iip_error){TG_IIP_MALFORMED, {tg_arena_strdup(arena, name), name.n}};
}

static void refuse(const tg_request *request, const tg_iip_error *wrong, tg_response *r)
{
    tg_err err = {0};
    tg_fail(&err, TG_ERR_BAD_REQUEST, "IIP error %s %.*s", wrong->code,
            (int)TG_MIN(wrong->name.n, 64), wrong->name.p);
    tg_answer_refusal(request, &err, tg_iip_media_type(TG_IIP_NETFPX), r);
    r->body.len = 0;
    tg_iip_error_text(wrong, &r->body);
}

bool tg_answer_iip(tg_service *s, const tg_request *request, tg_str query, tg_response *r,
                   tg_err *err)
{
    tg_iip *iip = tg_arena_alloc(s->arena, sizeof *iip);
    tg_iip_error wrong = {0};
    bool ok = tg_iip_parse(s->config, query, s->arena, iip, &wrong) &&
              answer(s, request, query, iip, &wrong, r, err);
    bool ours = iip->output <= TG_IIP_SPECTRUM;
    if (!ok && !wrong.code && err->kind == TG_ERR_BAD_REQUEST && ours)
        wrong = wrong_for_image(err, s->arena);
    if (!wrong.code)
        return ok;
    *err = (tg_err){0};
    refuse(request, &wrong, r);
    return true;
}
