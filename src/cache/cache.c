#include "tegula/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cache/lru.h"
#include "cache/pool.h"
#include "cache/stored.h"
#include "cache/value.h"
#include "tegula/abandon.h"
#include "tegula/clock.h"
#include "tegula/log.h"
#include "tegula/mem.h"
#include "tegula/num.h"

#define MS              ((uint64_t)1000) /* in microseconds */
#define WAIT_US         (1000 * MS)      /* for another's rendering, before it is rendered here */
#define FIRST_LOOK_US   (1 * MS)
#define LONGEST_LOOK_US (16 * MS)
#define FILE_DIGITS     16
#define HASH_DIGITS     64
#define MEMORY_SHARE    8 /* of MEMORY_LIMIT, at most */

struct tg_cache {
    const tg_config *config;
    tg_lru *lru;
    tg_pool pool;
    tg_buf head;      /* of the value that is stored */
    uint64_t left_us; /* that this request may still wait for servers */
    tg_cache_counts counts;
};

static uint64_t connect_until(const tg_config *config)
{
    return tg_clock_us() + (uint64_t)config->memcached_connect_ms * MS;
}

static uint64_t poll_until(const tg_cache *c)
{
    return tg_clock_us() + (uint64_t)c->config->memcached_poll_ms * MS;
}

/* A request that one server has kept waiting asks no other: what is left of its time would be too
 * short for a server in order, which would be taken for one that fails. */
static bool may_ask(const tg_cache *c)
{
    return c->left_us >= (uint64_t)c->config->memcached_poll_ms * MS / 2;
}

static void spend(tg_cache *c, uint64_t since_us)
{
    c->left_us -= TG_MIN(c->left_us, tg_clock_us() - since_us);
}

static size_t budget(const tg_config *config)
{
    uint64_t share = (uint64_t)(config->image_cache_mib * TG_ANSWERS_SHARE * 1048576);
    return (size_t)TG_MIN(share, config->memory_bytes / MEMORY_SHARE);
}

tg_cache *tg_cache_new(const tg_config *config)
{
    tg_cache *c = tg_new(sizeof *c);
    c->config = config;
    c->lru = tg_lru_new(budget(config));
    if (!config->disable_memcached)
        tg_pool_init(&c->pool, config, &c->counts.failures);
    tg_pool_connect(&c->pool, connect_until(config));
    return c;
}

void tg_cache_free(tg_cache *c)
{
    if (!c)
        return;
    tg_pool_free(&c->pool);
    tg_lru_free(c->lru);
    tg_buf_free(&c->head);
    free(c);
}

void tg_cache_clear(tg_cache *c)
{
    tg_lru_clear(c->lru);
    tg_pool_disconnect(&c->pool);
    tg_pool_connect(&c->pool, connect_until(c->config));
}

void tg_cache_shrink(tg_cache *c, size_t bytes)
{
    tg_lru_shrink(c->lru, bytes);
}

bool tg_cache_is_shared(const tg_cache *c)
{
    return c->pool.n > 0;
}

/* A key as servers have it. place says where on the ring it lies, and is the same for all hosts;
 * whole has the server's generation in front. The file in the middle is for `tegula purge`. */
typedef struct stored_key {
    char place[FILE_DIGITS + 1 + HASH_DIGITS + 1], whole[TG_MAX_KEY_BYTES];
} stored_key;

static tg_server *find_server(tg_cache *c, const tg_cache_key *key, uint64_t until_us,
                              stored_key *out)
{
    snprintf(out->place, sizeof out->place, "%016llx:%.*s",
             (unsigned long long)tg_cache_file_hash(key->file),
             (int)TG_MIN(key->hash.n, HASH_DIGITS), key->hash.p);
    tg_server *s = tg_pool_find(&c->pool, tg_str_of(out->place), until_us);
    if (s)
        snprintf(out->whole, sizeof out->whole, TG_STORED_PREFIX "%s:%s", s->tokens.generation,
                 out->place);
    return s;
}

/* A picture that servers do not take leaves a mark in its place: nobody need wait for it. */
#define TOO_LARGE_STATUS 0

static tg_cache_found judge(tg_cache *c, tg_str value, const tg_cache_key *key, tg_cached *out)
{
    if (!tg_value_read(value, key->text, out)) {
        c->counts.damaged++;
        return TG_CACHE_ALONE;
    }
    return out->status == TOO_LARGE_STATUS ? TG_CACHE_ALONE : TG_CACHE_SHARED;
}

static void nap(uint64_t us)
{
    struct timespec t = {.tv_nsec = (long)us * 1000};
    nanosleep(&t, NULL);
}

/* Another renders it: looks now and then whether it has come. Should the other have given up, or
 * have died, the lock goes over to somebody who looks. */
static tg_cache_found wait_for_other(tg_cache *c, tg_server *s, const tg_cache_key *key,
                                     tg_str stored, tg_cached *out)
{
    uint64_t end = tg_clock_us() + WAIT_US, pause = FIRST_LOOK_US;
    while (tg_clock_us() < end && !tg_abandoned() && tg_server_is_up(s)) {
        tg_str value;
        nap(pause);
        pause = TG_MIN(2 * pause, LONGEST_LOOK_US);
        switch (tg_server_get(s, stored, true, poll_until(c), &value)) {
        case TG_GOT_VALUE: {
            tg_cache_found found = judge(c, value, key, out);
            c->counts.waited += found == TG_CACHE_SHARED;
            return found;
        }
        case TG_GOT_LOCK:
            return TG_CACHE_MISS;
        case TG_GOT_NOTHING:
            return TG_CACHE_ALONE;
        case TG_GOT_LOCKED:
            break;
        }
    }
    return TG_CACHE_ALONE;
}

static tg_cache_found get_shared(tg_cache *c, const tg_cache_key *key, uint64_t until_us,
                                 tg_cached *out)
{
    stored_key stored;
    tg_str value;
    tg_server *s = find_server(c, key, until_us, &stored);
    if (!s)
        return TG_CACHE_ALONE;
    tg_str whole = tg_str_of(stored.whole);
    switch (tg_server_get(s, whole, true, until_us, &value)) {
    case TG_GOT_VALUE:
        return judge(c, value, key, out);
    case TG_GOT_LOCK:
        return TG_CACHE_MISS;
    case TG_GOT_LOCKED:
        return wait_for_other(c, s, key, whole, out);
    case TG_GOT_NOTHING:
        break;
    }
    return TG_CACHE_ALONE;
}

bool tg_cache_get_here(tg_cache *c, const tg_cache_key *key, tg_cached *out)
{
    return tg_lru_get(c->lru, key->text, out);
}

void tg_cache_put_here(tg_cache *c, const tg_cache_key *key, const tg_cached *value)
{
    tg_lru_put(c->lru, key->text, value);
}

void tg_cache_begin(tg_cache *c)
{
    uint64_t now = tg_clock_us();
    c->left_us = (uint64_t)c->config->memcached_poll_ms * MS;
    if (!c->pool.n)
        return;
    if (tg_pool_tend(&c->pool, now + c->left_us))
        tg_lru_clear(c->lru);
    spend(c, now);
}

/* What came from a server is kept here, too. */
static tg_cache_found found_in(tg_cache *c, tg_cache_found where, const tg_cache_key *key,
                               const tg_cached *value)
{
    c->counts.here += where == TG_CACHE_HERE;
    c->counts.shared += where == TG_CACHE_SHARED;
    if (where == TG_CACHE_SHARED)
        tg_cache_put_here(c, key, value);
    return where;
}

tg_cache_found tg_cache_look(tg_cache *c, const tg_cache_key *key, tg_cached *out)
{
    stored_key stored;
    tg_str value;
    if (tg_cache_get_here(c, key, out))
        return found_in(c, TG_CACHE_HERE, key, out);
    uint64_t now = tg_clock_us(), until = now + c->left_us;
    tg_server *s = may_ask(c) ? find_server(c, key, until, &stored) : NULL;
    bool there =
        s && tg_server_get(s, tg_str_of(stored.whole), false, until, &value) == TG_GOT_VALUE;
    spend(c, now);
    return there ? found_in(c, judge(c, value, key, out), key, out) : TG_CACHE_ALONE;
}

tg_cache_found tg_cache_get(tg_cache *c, const tg_cache_key *key, tg_cached *out)
{
    if (tg_cache_get_here(c, key, out))
        return found_in(c, TG_CACHE_HERE, key, out);
    uint64_t now = tg_clock_us();
    tg_cache_found found = may_ask(c) ? get_shared(c, key, now + c->left_us, out) : TG_CACHE_ALONE;
    spend(c, now);
    c->counts.missed += found != TG_CACHE_SHARED;
    return found_in(c, found, key, out);
}

void tg_cache_put(tg_cache *c, const tg_cache_key *key, const tg_cached *value)
{
    stored_key stored;
    tg_cached mark = {.status = TOO_LARGE_STATUS};
    tg_cache_put_here(c, key, value);
    tg_server *s = find_server(c, key, poll_until(c), &stored);
    if (!s)
        return;
    tg_str whole = tg_str_of(stored.whole);
    c->head.len = 0;
    tg_value_head(key->text, value, &c->head);
    bool fits = tg_server_takes(s, whole.n, c->head.len + value->body.n);
    if (!fits) {
        c->counts.too_large++;
        c->head.len = 0;
        value = &mark;
        tg_value_head(key->text, value, &c->head);
    }
    if (tg_server_set(s, whole, tg_buf_view(&c->head), value->body))
        c->counts.stored += fits;
}

void tg_cache_give_up(tg_cache *c, const tg_cache_key *key)
{
    stored_key stored;
    tg_server *s = find_server(c, key, poll_until(c), &stored);
    if (s)
        tg_server_delete(s, tg_str_of(stored.whole));
}

/* The mark first: no body is ever without. */
void tg_cache_put_plain(tg_cache *c, tg_str key, tg_str body)
{
    char mark[TG_MAX_KEY_BYTES + 1];
    int n = snprintf(mark, sizeof mark, TG_PLAIN_PREFIX "%.*s", TG_STR_ARG(key));
    bool fits = (size_t)n < sizeof mark && tg_is_cache_key(key) && body.n;
    tg_server *s = fits ? tg_pool_find(&c->pool, key, poll_until(c)) : NULL;
    if (!s)
        return;
    if (!tg_server_takes(s, key.n, body.n))
        c->counts.too_large++;
    else if (tg_server_set(s, tg_str_of(mark), TG_STR(""), TG_STR("")) &&
             tg_server_set(s, key, TG_STR(""), body))
        c->counts.stored++;
}

const tg_cache_counts *tg_cache_counted(const tg_cache *c)
{
    return &c->counts;
}

void tg_cache_log(const tg_cache *c)
{
    const tg_cache_counts *n = &c->counts;
    tg_log(TG_LOG_ERROR,
           "cache: %llu answers from memory, %llu from memcached (%llu of them after waiting), "
           "%llu missed, %llu stored, %llu too large, %llu damaged, %llu failures of servers",
           (unsigned long long)n->here, (unsigned long long)n->shared,
           (unsigned long long)n->waited, (unsigned long long)n->missed,
           (unsigned long long)n->stored, (unsigned long long)n->too_large,
           (unsigned long long)n->damaged, (unsigned long long)n->failures);
}
