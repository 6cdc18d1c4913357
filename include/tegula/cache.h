/* The response cache: finished answers, first in this worker, then in memcached servers, which all
 * workers of all hosts share. It costs nothing but speed when it fails: every call ends within the
 * time limits of the configuration, and what cannot be had is a miss. */
#ifndef TEGULA_CACHE_H
#define TEGULA_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tegula/arena.h"
#include "tegula/config.h"
#include "tegula/str.h"

typedef struct tg_cache tg_cache;

/* What an answer is found by. The whole text is compared, so that no collision of hashes can bring
 * up another's picture. */
typedef struct tg_cache_key {
    tg_str text; /* everything that shapes the answer */
    tg_str hash; /* of text, hex digits, at most 64 */
    tg_str file; /* name of the file that it was made of, for `tegula purge` */
} tg_cache_key;

/* A complete answer, without the headers that depend on who asks. */
typedef struct tg_cached {
    int status;
    tg_str type, etag;
    int64_t modified_s;
    tg_str body;
} tg_cached;

/* Counted since the worker began. */
typedef struct tg_cache_counts {
    uint64_t here, shared, missed; /* answers found in this worker, in memcached, nowhere */
    uint64_t waited;               /* of those found in memcached, after another had rendered */
    uint64_t stored, too_large, damaged;
    uint64_t failures; /* servers that did not answer or could not store */
} tg_cache_counts;

/* Before workers are forked: they then share notes, and tell each other which servers do not
 * answer, so that a dead one is waited for once and not once by each. */
void tg_cache_share_among_workers(void);

/* config must outlive it. Waits for connections to servers, but no longer than
 * MEMCACHED_CONNECT_TIMEOUT in all. Never fails: with servers that do not answer it holds nothing
 * of others. */
tg_cache *tg_cache_new(const tg_config *config);
void tg_cache_free(tg_cache *cache);
/* SIGHUP: drop what this worker holds; look the servers' names up again. */
void tg_cache_clear(tg_cache *cache);
/* Gives up at least so many bytes of what was asked for least lately. For tg_image_on_pressure. */
void tg_cache_shrink(tg_cache *cache, size_t bytes);

/* Is there anything but this worker's own memory? */
bool tg_cache_is_shared(const tg_cache *cache);

/* Once for each request, before it asks for anything: from now on it waits for servers that do not
 * answer no longer than MEMCACHED_POLL_TIMEOUT in all. Drops what was purged. */
void tg_cache_begin(tg_cache *cache);

typedef enum tg_cache_found {
    TG_CACHE_HERE,   /* in this worker */
    TG_CACHE_SHARED, /* in memcached, its checksum right */
    TG_CACHE_MISS,   /* render it; others wait until tg_cache_put or tg_cache_give_up, or a limit */
    TG_CACHE_ALONE   /* render it; nobody waits: no server, or whoever renders it takes too long */
} tg_cache_found;

/* Of many who miss at once one gets MISS; the others wait for its answer a short while. *out holds
 * views that are valid until the next call. */
tg_cache_found tg_cache_get(tg_cache *cache, const tg_cache_key *key, tg_cached *out);
void tg_cache_put(tg_cache *cache, const tg_cache_key *key, const tg_cached *value);
/* After MISS when there is nothing to store: lets the next one try. */
void tg_cache_give_up(tg_cache *cache, const tg_cache_key *key);

/* Looks in memory and in memcached, without a lock and without waiting. */
tg_cache_found tg_cache_look(tg_cache *cache, const tg_cache_key *key, tg_cached *out);

/* The same in this worker's memory only, for what is made faster than memcached answers. */
bool tg_cache_get_here(tg_cache *cache, const tg_cache_key *key, tg_cached *out);
void tg_cache_put_here(tg_cache *cache, const tg_cache_key *key, const tg_cached *value);

/* Notes: short texts that the workers of this host find again, found by the whole of a key. Both
 * together have about 1000 bytes; what is longer is not kept. Any may be forgotten at any time. An
 * empty text when there is none. */
bool tg_notes_open(void);
tg_str tg_notes_find(tg_str key, tg_arena *arena);
void tg_notes_put(tg_str key, tg_str note);

/* CACHE_LAYOUT=nginx: the body alone, under a key that a web server can make of the address.
 * Nothing is stored when the key is none that memcached takes. */
void tg_cache_put_plain(tg_cache *cache, tg_str key, tg_str body);

const tg_cache_counts *tg_cache_counted(const tg_cache *cache);
/* One line of the log. */
void tg_cache_log(const tg_cache *cache);

/* What `tegula purge` takes away. */
typedef struct tg_cache_purge {
    bool all;
    tg_str file; /* else: answers made of this file, and ... */
    /* ... bodies stored under keys of web servers that this says belong to it */
    bool (*owns)(void *ctx, tg_str key);
    void *ctx;
} tg_cache_purge;

/* On all servers, which is allowed to take its time. Says on out what was done, one line for each
 * server. False when a server could not be reached. */
bool tg_cache_purge_all(const tg_config *config, const tg_cache_purge *what, FILE *out);

#endif
