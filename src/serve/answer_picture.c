#include "serve/service.h"
#include "tegula/render.h"

/* From the caches. What they hold under this key can only be this picture; a look at its tag costs
 * nothing. */
static bool find(tg_service *s, const tg_cache_key *key, tg_response *r)
{
    tg_cached found;
    tg_cache_found where = tg_cache_get(s->cache, key, &found);
    s->after.locked = where == TG_CACHE_MISS;
    if (where != TG_CACHE_HERE && where != TG_CACHE_SHARED)
        return false;
    if (found.status != 200 || !tg_str_eq(found.etag, tg_answer_etag(key)))
        return false;
    tg_buf_str(&r->body, found.body);
    s->how = where == TG_CACHE_HERE ? "from memory" : "from memcached";
    return !r->body.failed;
}

static bool render(tg_service *s, tg_source *source, const tg_plan *plan, tg_response *r,
                   tg_err *err)
{
    r->body.len = 0;
    s->how = plan->stored ? "as stored" : "rendered";
    return tg_render(s->config, plan, source->image, &r->body, err) &&
           tg_source_unchanged(source, err);
}

/* A tile that is sent as it is stored has nothing to gain: memcached answers no faster than the
 * file. */
static bool find_or_render(tg_service *s, const tg_cache_key *key, tg_source *source,
                           const tg_plan *plan, tg_response *r, tg_err *err)
{
    if (plan->stored)
        return render(s, source, plan, r, err);
    s->after.key = *key;
    s->after.modified_s = source->identity.mtime_s;
    if (find(s, key, r))
        return true;
    if (!render(s, source, plan, r, err))
        return false;
    s->after.store = true;
    return true;
}

/* "Its region, its size": `what` may say both in words that depend on the configuration. */
static tg_str picture_text(tg_service *s, const tg_source *source, const tg_plan *plan, tg_str what)
{
    const tg_geometry *g = &plan->geometry;
    return tg_arena_printf(s->arena, "%u|%u,%u,%u,%u|%ux%u|%.*s", source->page, g->region.x,
                           g->region.y, g->region.w, g->region.h, g->w, g->h, TG_STR_ARG(what));
}

void tg_answer_found(tg_service *s, const tg_request *request, tg_str media_type, tg_str identifier,
                     tg_str ending, tg_response *r)
{
    r->status = 200;
    tg_header(r, "Content-Type", media_type);
    tg_answer_disposition(s->arena, request->method == TG_POST, identifier, ending, r);
    s->after.type = media_type;
    s->after.is_picture = true;
}

/* Not the file's times nor the settings: hosts where they differ still show the same. */
bool tg_answer_mark(tg_service *s, const tg_source *source, tg_plan *plan, tg_str what, tg_err *err)
{
    if (!s->mark)
        return true;
    tg_str name = tg_arena_printf(s->arena, "%.*s|%.*s", TG_STR_ARG(source->identity.name),
                                  TG_STR_ARG(picture_text(s, source, plan, what)));
    return tg_plan_mark(plan, source->image, s->mark, name, err);
}

bool tg_answer_picture(tg_service *s, const tg_request *request, tg_source *source, tg_plan *plan,
                       tg_str what, tg_str identifier, tg_response *r, tg_err *err)
{
    if (!tg_answer_mark(s, source, plan, what, err))
        return false;
    tg_cache_key key = tg_answer_key(s, &source->identity, picture_text(s, source, plan, what));
    tg_str etag = tg_answer_etag(&key);
    if (tg_answer_tagged(s, request, &source->identity, etag, r))
        return true;
    if (!find_or_render(s, &key, source, plan, r, err))
        return false;
    tg_encode_spec spec = tg_plan_encode_spec(plan);
    s->after.ending = tg_arena_printf(s->arena, "_%ux%u.%s", spec.width_px, spec.height_px,
                                      tg_formats[plan->format].extension);
    tg_answer_found(s, request, tg_str_of(tg_formats[plan->format].media_type), identifier,
                    s->after.ending, r);
    return true;
}
