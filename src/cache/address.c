/* Where a server is. */
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cache/server.h"
#include "tegula/log.h"

static void resolve_path(tg_server *s)
{
    struct sockaddr_un *un = (struct sockaddr_un *)&s->address[0];
    *un = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(un->sun_path, s->host.p, s->host.n);
    s->address_bytes[0] = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + s->host.n + 1);
    s->n_addresses = 1;
}

void tg_server_resolve(tg_server *s)
{
    char host[NI_MAXHOST], port[8];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    if (!s->port.n) {
        resolve_path(s);
        return;
    }
    bool bracketed = s->host.p[0] == '[';
    snprintf(host, sizeof host, "%.*s", (int)s->host.n - 2 * bracketed, s->host.p + bracketed);
    snprintf(port, sizeof port, "%.*s", TG_STR_ARG(s->port));
    int error = getaddrinfo(host, port, &hints, &found);
    if (error) {
        tg_log(TG_LOG_ERROR, "memcached %s: %s; the name is looked up again at SIGHUP", host,
               gai_strerror(error));
        return;
    }
    s->n_addresses = s->address_at = 0;
    for (struct addrinfo *a = found; a && s->n_addresses < TG_MAX_ADDRESSES; a = a->ai_next) {
        memcpy(&s->address[s->n_addresses], a->ai_addr, a->ai_addrlen);
        s->address_bytes[s->n_addresses++] = a->ai_addrlen;
    }
    freeaddrinfo(found);
}
