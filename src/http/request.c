#include "tegula/http.h"

static tg_method method_of(tg_str name)
{
    static const struct {
        const char *name;
        tg_method method;
    } known[] = {{"", TG_GET},
                 {"GET", TG_GET},
                 {"HEAD", TG_HEAD},
                 {"POST", TG_POST},
                 {"OPTIONS", TG_OPTIONS}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (tg_str_is(name, known[i].name))
            return known[i].method;
    return TG_OTHER_METHOD;
}

static bool starts_nocase(tg_str s, tg_str prefix)
{
    return s.n >= prefix.n && tg_str_eq_nocase((tg_str){s.p, prefix.n}, prefix);
}

/* Behind scheme and authority of an absolute form; s itself when it is none. */
static tg_str origin_form(tg_str s)
{
    tg_str scheme = starts_nocase(s, TG_STR("http://"))    ? TG_STR("http://")
                    : starts_nocase(s, TG_STR("https://")) ? TG_STR("https://")
                                                           : TG_STR("");
    if (scheme.n == 0)
        return s;
    size_t i = scheme.n;
    while (i < s.n && s.p[i] != '/' && s.p[i] != '?')
        i++;
    return (tg_str){s.p + i, s.n - i};
}

static tg_str path_of(tg_str uri)
{
    tg_str path, query;
    tg_str_cut(origin_form(uri), '?', &path, &query);
    return path.n || uri.n == 0 ? path : TG_STR("/");
}

static bool has_control(tg_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return true;
    return false;
}

bool tg_request_read(const char *(*get)(void *ctx, const char *name), void *ctx, tg_request *out,
                     tg_err *err)
{
    *out = (tg_request){
        .method = method_of(tg_str_of(get(ctx, "REQUEST_METHOD"))),
        .uri = tg_str_of(get(ctx, "REQUEST_URI")),
        .query = tg_str_of(get(ctx, "QUERY_STRING")),
        .https = tg_str_of(get(ctx, "HTTPS")),
        .host = tg_str_of(get(ctx, "HTTP_HOST")),
        .server_name = tg_str_of(get(ctx, "SERVER_NAME")),
        .server_port = tg_str_of(get(ctx, "SERVER_PORT")),
        .forwarded_proto = tg_str_of(get(ctx, "HTTP_X_FORWARDED_PROTO")),
        .forwarded_host = tg_str_of(get(ctx, "HTTP_X_FORWARDED_HOST")),
        .forwarded_port = tg_str_of(get(ctx, "HTTP_X_FORWARDED_PORT")),
        .x_iiif_id = tg_str_of(get(ctx, "HTTP_X_IIIF_ID")),
        .accept = tg_str_of(get(ctx, "HTTP_ACCEPT")),
        .if_none_match = tg_str_of(get(ctx, "HTTP_IF_NONE_MATCH")),
        .if_modified_since = tg_str_of(get(ctx, "HTTP_IF_MODIFIED_SINCE")),
        .cache_key = tg_str_of(get(ctx, "TEGULA_CACHE_KEY")),
    };
    out->path = path_of(out->uri);
    if (out->path.n > TG_MAX_URI_BYTES || out->query.n > TG_MAX_URI_BYTES)
        return tg_fail(err, TG_ERR_URI_TOO_LONG, "the URI is longer than %d bytes",
                       TG_MAX_URI_BYTES);
    if (has_control(out->uri))
        return tg_fail(err, TG_ERR_BAD_REQUEST, "control byte in the URI");
    return true;
}
