/* Consistent hashing: which server has a key. When one goes, only its keys move. The points on the
 * ring are those of nginx's `hash KEY consistent` (and of Cache::Memcached::Fast), so that an nginx
 * which names the same servers finds what tegula has stored. */
#ifndef TEGULA_CACHE_RING_H
#define TEGULA_CACHE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "tegula/config.h"
#include "tegula/str.h"

#define TG_RING_POINTS 160 /* of each server */

typedef struct tg_ring_point {
    uint32_t at;
    unsigned server;
} tg_ring_point;

typedef struct tg_ring {
    tg_ring_point point[TG_RING_POINTS * TG_MAX_SERVERS]; /* sorted by at, then server */
    unsigned n;
} tg_ring;

/* Before the next call of tg_ring_sort. host: a name or address, or the path of a Unix socket with
 * an empty port. */
void tg_ring_add(tg_ring *ring, unsigned server, tg_str host, tg_str port);
void tg_ring_sort(tg_ring *ring);

/* The first server from the key's place on that is usable; -1 if none is. */
int tg_ring_find(const tg_ring *ring, tg_str key, bool (*usable)(void *ctx, unsigned server),
                 void *ctx);

#endif
