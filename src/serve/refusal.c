#include "serve/service.h"
#include "tegula/log.h"

void tg_answer_refusal(const tg_request *request, const tg_err *err, const char *media_type,
                       tg_response *r)
{
    tg_response_reset(r);
    r->status = tg_status_of(err->kind);
    tg_header(r, "Content-Type", tg_str_of(media_type));
    tg_header(r, "Cache-Control", TG_STR("no-store"));
    if (err->kind == TG_ERR_METHOD)
        tg_header(r, "Allow", TG_STR(TG_ALLOW));
    if (err->kind == TG_ERR_BUSY)
        tg_header(r, "Retry-After", TG_STR("1"));
    tg_buf_printf(&r->body, "%s\n", err->msg);
    if (r->status >= 500 || tg_log_wants(TG_LOG_PLAN))
        tg_log(TG_LOG_ERROR, "%d %s: %s%s%s (%.*s)", r->status, tg_err_kind_name(err->kind),
               err->msg, err->detail[0] ? ": " : "", err->detail, TG_STR_ARG(request->uri));
}
