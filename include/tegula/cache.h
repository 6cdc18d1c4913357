/* The response cache: finished bodies, first in this worker, then in memcached, which all workers
 * of all hosts share. Costs nothing but speed when it fails: every call returns within the timeouts
 * of the configuration, and what cannot be had is a miss. */
#ifndef TEGULA_CACHE_H
#define TEGULA_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "tegula/buf.h"
#include "tegula/config.h"
#include "tegula/str.h"

typedef struct tg_cache tg_cache;

/* Counted since the worker began. */
typedef struct tg_cache_counts {
    uint64_t hits_here, hits_shared, misses, stored, too_large, damaged, failures, waits;
} tg_cache_counts;

/* Never fails: without servers, or with servers that do not answer, it is a cache that holds
 * nothing of others. config must outlive it. */
tg_cache *tg_cache_new(const tg_config *config);
void tg_cache_free(tg_cache *cache);
/* SIGHUP: drop what this worker holds. */
void tg_cache_clear(tg_cache *cache);

typedef enum tg_cache_found {
    TG_CACHE_HIT,  /* appended to body, checksum right */
    TG_CACHE_MISS, /* render it; the caller holds the lock, tg_cache_put or tg_cache_give_up ends it
                    */
    TG_CACHE_ALONE /* render it, without a lock: no server, or whoever had it took too long */
} tg_cache_found;

/* key: any bytes; everything that shapes the body is in it. Of many who miss at once one gets MISS,
 * the others wait a short while for it. */
tg_cache_found tg_cache_get(tg_cache *cache, tg_str key, tg_buf *body);

/* A complete body. uri: the raw path of the request for CACHE_LAYOUT=nginx, else not looked at. */
void tg_cache_put(tg_cache *cache, tg_str key, tg_str uri, tg_str body);

/* After MISS when there is nothing to store: lets the next one try. */
void tg_cache_give_up(tg_cache *cache, tg_str key);

tg_cache_counts tg_cache_counted(const tg_cache *cache);

#endif
