#include <netdb.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

#include "table.h"
#include "tegula/num.h"

#define DEFAULT_PORT "11211"

static bool port_ok(tg_str port)
{
    uint64_t n;
    return tg_parse_u64(port, &n) && n >= 1 && n <= 65535;
}

/* A colon outside of brackets separates a port; a second one is of an IPv6 address without any. */
static bool parse_host(tg_str text, tg_str *host, tg_str *port)
{
    tg_str inner, tail, more;
    if (text.n && text.p[0] == '[') {
        if (!tg_str_cut(text, ']', &inner, &tail) || (tail.n && tail.p[0] != ':'))
            return false;
        *host = (tg_str){text.p, inner.n + 1};
        if (tail.n)
            *port = (tg_str){tail.p + 1, tail.n - 1};
        return inner.n > 1;
    }
    if (tg_str_cut(text, ':', host, &tail))
        *port = tail;
    return host->n > 0 && !tg_str_cut(*port, ':', &inner, &more);
}

bool tg_server_parse(tg_str text, tg_str *host, tg_str *port)
{
    text = tg_str_trim(text);
    if (tg_str_starts(text, TG_STR("unix:")))
        text = (tg_str){text.p + 5, text.n - 5};
    if (text.n && text.p[0] == '/') {
        *host = text;
        *port = TG_STR("");
        return text.n < sizeof((struct sockaddr_un *)0)->sun_path;
    }
    *port = TG_STR(DEFAULT_PORT);
    return parse_host(text, host, port) && host->n < NI_MAXHOST && port_ok(*port);
}

bool tg_servers_ok(tg_str list)
{
    unsigned n = 0;
    for (tg_str one, host, port; list.n; n++) {
        tg_str_cut(list, ',', &one, &list);
        if (n == TG_MAX_SERVERS || !tg_server_parse(one, &host, &port))
            return false;
    }
    return true;
}
