#include "cache/pool.h"

#include <string.h>
#include <sys/mman.h>

#include "tegula/cache.h"
#include "tegula/clock.h"

#define TOKENS_US 1000000 /* how long what a purge has taken away may still be sent */

/* Until when all workers leave a server alone, by its number: process-lifetime, in memory that
 * workers share once tg_cache_share_among_workers was called. */
static _Atomic uint64_t own_marks[TG_MAX_SERVERS];
static _Atomic uint64_t *marks = own_marks;

void tg_cache_share_among_workers(void)
{
    void *page =
        mmap(NULL, sizeof own_marks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED)
        marks = page;
    tg_notes_open();
}

void tg_pool_init(tg_pool *p, const tg_config *config, uint64_t *failures)
{
    tg_str list = tg_str_of(config->memcached_servers), one;
    *p = (tg_pool){0};
    while (list.n && p->n < TG_MAX_SERVERS) {
        tg_server *s = &p->server[p->n];
        tg_str_cut(list, ',', &one, &list);
        if (!tg_server_parse(one, &s->host, &s->port))
            continue;
        s->config = config;
        s->wire.fd = -1;
        s->out = &marks[p->n];
        s->failures = failures;
        s->item_bytes = TG_ITEM_BYTES;
        s->state = TG_SERVER_DOWN;
        tg_ring_add(&p->ring, p->n++, s->host, s->port);
    }
    tg_ring_sort(&p->ring);
}

void tg_pool_free(tg_pool *p)
{
    tg_pool_disconnect(p);
}

void tg_pool_connect(tg_pool *p, uint64_t until_us)
{
    for (unsigned i = 0; i < p->n; i++) {
        tg_server_resolve(&p->server[i]);
        tg_server_tend(&p->server[i]);
    }
    for (unsigned i = 0; i < p->n; i++)
        tg_server_await(&p->server[i], until_us);
}

void tg_pool_disconnect(tg_pool *p)
{
    for (unsigned i = 0; i < p->n; i++)
        tg_server_disconnect(&p->server[i]);
}

/* What was purged is known by a token that changed; one seen for the first time says nothing. */
static bool read_tokens(tg_pool *p, unsigned i, uint64_t until_us)
{
    tg_server *s = &p->server[i];
    if (!tg_server_read_tokens(s, until_us) || !s->tokens.generation[0])
        return false;
    bool changed = p->purged[i][0] && strcmp(p->purged[i], s->tokens.purged) != 0;
    memcpy(p->purged[i], s->tokens.purged, sizeof p->purged[i]);
    return changed;
}

bool tg_pool_tend(tg_pool *p, uint64_t until_us)
{
    bool purged = false, asked = false;
    for (unsigned i = 0, first = p->next; i < p->n; i++) {
        unsigned at = (first + i) % p->n;
        tg_server *s = &p->server[at];
        tg_server_tend(s);
        if (asked || !tg_server_is_up(s) || tg_clock_us() - s->asked_us < TOKENS_US)
            continue;
        purged = read_tokens(p, at, until_us);
        p->next = at + 1;
        asked = true;
    }
    return purged;
}

static bool usable(void *ctx, unsigned server)
{
    return tg_server_is_up(&((const tg_pool *)ctx)->server[server]);
}

tg_server *tg_pool_find(tg_pool *p, tg_str key, uint64_t until_us)
{
    int i = p->n ? tg_ring_find(&p->ring, key, usable, p) : -1;
    if (i < 0)
        return NULL;
    tg_server *s = &p->server[i];
    if (!s->tokens.generation[0] && !s->asked_us)
        read_tokens(p, (unsigned)i, until_us);
    return tg_server_is_up(s) && s->tokens.generation[0] ? s : NULL;
}
