#include "tegula/http.h"

#include <stdarg.h>
#include <stdio.h>

void tg_response_reset(tg_response *r)
{
    r->status = 200;
    tg_buf_reset(&r->head);
    tg_buf_reset(&r->body);
}

void tg_response_free(tg_response *r)
{
    tg_buf_free(&r->head);
    tg_buf_free(&r->body);
}

static bool value_ok(tg_str value)
{
    for (size_t i = 0; i < value.n; i++)
        if (((unsigned char)value.p[i] < 0x20 && value.p[i] != '\t') || value.p[i] == 0x7f)
            return false;
    return true;
}

/* A header is whole or not there: what was appended since start is taken back when bad. */
static void finish(tg_buf *head, size_t start, size_t value)
{
    if (value_ok((tg_str){(const char *)head->data + value, head->len - value}))
        tg_buf_z(head, "\r\n");
    else
        head->len = start;
}

void tg_header(tg_response *r, const char *name, tg_str value)
{
    size_t start = r->head.len;
    tg_buf_printf(&r->head, "%s: ", name);
    size_t at = r->head.len;
    tg_buf_str(&r->head, value);
    if (!r->head.failed)
        finish(&r->head, start, at);
}

void tg_header_f(tg_response *r, const char *name, const char *fmt, ...)
{
    va_list ap, again;
    size_t start = r->head.len;
    tg_buf_printf(&r->head, "%s: ", name);
    size_t at = r->head.len;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *to = n >= 0 ? (char *)tg_buf_reserve(&r->head, (size_t)n + 1) : NULL;
    if (to) {
        vsnprintf(to, (size_t)n + 1, fmt, again);
        r->head.len += (size_t)n;
        finish(&r->head, start, at);
    }
    va_end(again);
    va_end(ap);
}

const char *tg_status_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } known[] = {
        {200, "OK"},
        {204, "No Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].status == status)
            return known[i].reason;
    return "Unknown";
}

tg_str tg_response_header(const tg_response *r, const char *name)
{
    tg_str rest = tg_buf_view(&r->head);
    while (rest.n) {
        tg_str line, key, value;
        tg_str_cut(rest, '\n', &line, &rest);
        if (tg_str_cut(line, ':', &key, &value) && tg_str_eq_nocase(key, tg_str_of(name))) {
            value.n -= tg_str_ends(value, TG_STR("\r"));
            return tg_str_trim(value);
        }
    }
    return TG_STR("");
}
