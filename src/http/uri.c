#include "tegula/http.h"
#include "tegula/utf8.h"

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The byte of the escape at s.p[i], or -1. */
static int escape_at(tg_str s, size_t i)
{
    if (s.n - i < 3 || s.p[i] != '%' || hex(s.p[i + 1]) < 0 || hex(s.p[i + 2]) < 0)
        return -1;
    return hex(s.p[i + 1]) * 16 + hex(s.p[i + 2]);
}

bool tg_percent_decode(tg_str s, tg_arena *arena, const char *what, tg_str *out, tg_err *err)
{
    char *to = tg_arena_alloc(arena, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        int byte = (unsigned char)s.p[i];
        if (byte == '%') {
            byte = escape_at(s, i);
            if (byte < 0)
                return tg_fail(err, TG_ERR_BAD_REQUEST, "%s: broken percent escape", what);
            i += 2;
        }
        if (byte < 0x20 || byte == 0x7f)
            return tg_fail(err, TG_ERR_BAD_REQUEST, "%s: control byte", what);
        to[n++] = (char)byte;
    }
    *out = (tg_str){to, n};
    return tg_utf8_valid(*out) || tg_fail(err, TG_ERR_BAD_REQUEST, "%s: not UTF-8", what);
}

bool tg_is_http_url(tg_str s)
{
    tg_str scheme, rest;
    tg_str_cut(s, ':', &scheme, &rest);
    if (!tg_str_eq_nocase(scheme, TG_STR("http")) && !tg_str_eq_nocase(scheme, TG_STR("https")))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= 0x20 || s.p[i] >= 0x7f || strchr("\"<>\\^`{|}", s.p[i]))
            return false;
    return tg_str_starts(rest, TG_STR("//")) && rest.n > 2 && rest.p[2] != '/';
}

/* RFC 3986, 3.3: pchar without escapes, or '/'. */
static bool path_byte(char c)
{
    if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
        return true;
    return c != '\0' && strchr("-._~!$&'()*+,;=:@/", c);
}

tg_str tg_uri_clean(tg_str s, tg_arena *arena)
{
    static const char digits[] = "0123456789ABCDEF";
    char *to = tg_arena_alloc(arena, s.n * 3 + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char byte = (unsigned char)s.p[i];
        if (path_byte(s.p[i]) || escape_at(s, i) >= 0) {
            to[n++] = s.p[i];
        } else {
            to[n++] = '%';
            to[n++] = digits[byte >> 4];
            to[n++] = digits[byte & 15];
        }
    }
    return (tg_str){to, n};
}

tg_str tg_uri_clean_form(tg_str s, tg_arena *arena)
{
    tg_str path, query;
    bool form = tg_str_cut(s, '?', &path, &query);
    path = tg_uri_clean(path, arena);
    query = tg_uri_clean(query, arena);
    return tg_arena_printf(arena, "%.*s%s%.*s", TG_STR_ARG(path), form ? "?" : "",
                           TG_STR_ARG(query));
}
