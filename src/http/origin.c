/* Scheme and authority as clients see them. Every source is a header that a client may have written
 * itself, so nothing goes on unchecked into identifiers, links and redirects. */
#include "tegula/http.h"
#include "tegula/num.h"

typedef struct authority {
    tg_str host, port; /* port may be empty */
} authority;

static tg_str first_of_list(tg_str s)
{
    tg_str head, rest;
    tg_str_cut(s, ',', &head, &rest);
    return tg_str_trim(head);
}

static bool port_ok(tg_str port)
{
    uint64_t n;
    return port.n <= 5 && tg_parse_u64(port, &n) && n >= 1 && n <= 65535;
}

static bool host_bytes_ok(tg_str s, const char *more)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool word = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!word && (c == '\0' || !strchr(more, c)))
            return false;
    }
    return s.n > 0;
}

/* host, host:port, [v6] or [v6]:port. */
static bool authority_parse(tg_str s, authority *out)
{
    bool bracketed = s.n && s.p[0] == '[';
    tg_str tail;
    if (!bracketed) {
        bool has_port = tg_str_cut(s, ':', &out->host, &out->port);
        return host_bytes_ok(out->host, "._~-") && (!has_port || port_ok(out->port));
    }
    if (!tg_str_cut((tg_str){s.p + 1, s.n - 1}, ']', &out->host, &tail) ||
        !host_bytes_ok(out->host, ".:"))
        return false;
    out->host = (tg_str){s.p, out->host.n + 2};
    out->port = tail.n ? (tg_str){tail.p + 1, tail.n - 1} : tail;
    return tail.n == 0 || (tail.p[0] == ':' && port_ok(out->port));
}

static authority find_authority(const tg_request *r)
{
    authority a;
    if (!authority_parse(first_of_list(r->forwarded_host), &a) && !authority_parse(r->host, &a)) {
        if (!authority_parse(r->server_name, &a))
            a = (authority){TG_STR("localhost"), TG_STR("")};
        if (a.port.n == 0 && port_ok(r->server_port))
            a.port = r->server_port;
    }
    /* A port inside the host is what the client itself typed; the header names a proxy's listener
     * and stands in for it only where the host has none. */
    tg_str forwarded = first_of_list(r->forwarded_port);
    if (a.port.n == 0 && port_ok(forwarded))
        a.port = forwarded;
    return a;
}

static bool is_https(const tg_request *r)
{
    tg_str proto = first_of_list(r->forwarded_proto);
    if (tg_str_eq_nocase(proto, TG_STR("https")))
        return true;
    if (tg_str_eq_nocase(proto, TG_STR("http")))
        return false;
    return r->https.n > 0 && !tg_str_eq_nocase(r->https, TG_STR("off"));
}

tg_str tg_request_origin(const tg_request *request, tg_arena *arena)
{
    bool https = is_https(request);
    authority a = find_authority(request);
    bool plain = a.port.n == 0 || tg_str_is(a.port, https ? "443" : "80");
    return tg_arena_printf(arena, "%s://%.*s%s%.*s", https ? "https" : "http", TG_STR_ARG(a.host),
                           plain ? "" : ":", plain ? 0 : (int)a.port.n, a.port.p);
}
