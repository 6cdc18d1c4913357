#include "serve/service.h"
#include "tegula/render.h"

bool tg_answer_picture(tg_service *s, const tg_request *request, tg_source *source,
                       const tg_plan *plan, tg_str what, tg_str identifier, tg_response *r,
                       tg_err *err)
{
    if (tg_answer_validators(s, request, &source->identity, what, r))
        return true;
    if (!tg_render(s->config, plan, source->image, &r->body, err) ||
        !tg_source_unchanged(source, err))
        return false;
    r->status = 200;
    tg_header(r, "Content-Type", tg_str_of(tg_formats[plan->format].media_type));
    tg_answer_disposition(s->arena, request->method == TG_POST, identifier,
                          tg_arena_printf(s->arena, "_%ux%u.%s", plan->out_w, plan->out_h,
                                          tg_formats[plan->format].extension),
                          r);
    return true;
}
