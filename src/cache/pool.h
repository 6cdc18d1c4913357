/* All memcached servers of the configuration, and which one has a key. */
#ifndef TEGULA_CACHE_POOL_H
#define TEGULA_CACHE_POOL_H

#include "cache/ring.h"
#include "cache/server.h"

typedef struct tg_pool {
    tg_ring ring;
    unsigned n, next; /* next: whose tokens are looked at next */
    tg_server server[TG_MAX_SERVERS];
    char purged[TG_MAX_SERVERS][TG_TOKEN_DIGITS + 1]; /* as last seen */
} tg_pool;

/* The servers of MEMCACHED_SERVERS; what does not parse is left out (the configuration has said
 * so). failures: counted there. Nothing is connected yet. */
void tg_pool_init(tg_pool *pool, const tg_config *config, uint64_t *failures);
void tg_pool_free(tg_pool *pool);

/* Looks names up, connects: for a start, when no request waits. */
void tg_pool_connect(tg_pool *pool, uint64_t until_us);
void tg_pool_disconnect(tg_pool *pool);

/* Once for each request: connections move on, tokens that are more than a second old are read anew,
 * of one server at most. True when something was purged since. */
bool tg_pool_tend(tg_pool *pool, uint64_t until_us);

/* The server of a key, its tokens known; NULL when none is there. */
tg_server *tg_pool_find(tg_pool *pool, tg_str key, uint64_t until_us);

#endif
