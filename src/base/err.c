#include "tegula/err.h"

#include <stdarg.h>
#include <stdio.h>

/* clang-format off */
static const char *const kind_names[TG_ERR_KINDS] = {
    [TG_ERR_NONE] = "none",
    [TG_ERR_BAD_REQUEST] = "bad-request",
    [TG_ERR_NOT_FOUND] = "not-found",
    [TG_ERR_METHOD] = "method",
    [TG_ERR_TOO_LARGE] = "too-large",
    [TG_ERR_URI_TOO_LONG] = "uri-too-long",
    [TG_ERR_ABANDONED] = "abandoned",
    [TG_ERR_NOT_IMAGE] = "not-image",
    [TG_ERR_CORRUPT] = "corrupt",
    [TG_ERR_IO] = "io",
    [TG_ERR_INTERNAL] = "internal",
    [TG_ERR_NOT_IMPLEMENTED] = "not-implemented",
    [TG_ERR_BUSY] = "busy",
};
/* clang-format on */

bool tg_fail(tg_err *err, tg_err_kind kind, const char *fmt, ...)
{
    if (err->kind != TG_ERR_NONE)
        return false;
    err->kind = kind;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    return false;
}

bool tg_fail_detail(tg_err *err, const char *fmt, ...)
{
    if (err->detail[0])
        return false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->detail, sizeof err->detail, fmt, ap);
    va_end(ap);
    return false;
}

const char *tg_err_kind_name(tg_err_kind kind)
{
    return (unsigned)kind < TG_ERR_KINDS ? kind_names[kind] : "unknown";
}
