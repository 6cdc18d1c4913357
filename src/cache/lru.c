#include "cache/lru.h"

#include <stdlib.h>

#include "tegula/checksum.h"
#include "tegula/mem.h"

/* One answer takes at most this share: a large one would push out all those that are hot. */
#define LARGEST_SHARE  8
#define BYTES_A_BUCKET ((size_t)4 << 10) /* about the smallest answers there are */
#define MAX_BUCKETS    ((size_t)1 << 16)

typedef struct entry {
    struct entry *next_in_bucket;
    struct entry *newer, *older;
    uint64_t hash;
    size_t bytes;
    tg_str key;
    tg_cached value;
    char text[]; /* key, type, etag, body */
} entry;

struct tg_lru {
    size_t budget_bytes, held_bytes;
    entry *newest, *oldest;
    size_t n_buckets; /* a power of two */
    entry **bucket;
};

tg_lru *tg_lru_new(size_t budget_bytes)
{
    tg_lru *lru = tg_new(sizeof *lru);
    lru->budget_bytes = budget_bytes;
    lru->n_buckets = 1;
    while (lru->n_buckets * BYTES_A_BUCKET < budget_bytes && lru->n_buckets < MAX_BUCKETS)
        lru->n_buckets *= 2;
    lru->bucket = tg_new(lru->n_buckets * sizeof *lru->bucket);
    return lru;
}

void tg_lru_free(tg_lru *lru)
{
    if (!lru)
        return;
    tg_lru_clear(lru);
    free(lru->bucket);
    free(lru);
}

static entry **place_of(tg_lru *lru, uint64_t hash, tg_str key)
{
    entry **at = &lru->bucket[hash & (lru->n_buckets - 1)];
    while (*at && !((*at)->hash == hash && tg_str_eq((*at)->key, key)))
        at = &(*at)->next_in_bucket;
    return at;
}

static void list_push(tg_lru *lru, entry *e)
{
    e->newer = NULL;
    e->older = lru->newest;
    *(lru->newest ? &lru->newest->newer : &lru->oldest) = e;
    lru->newest = e;
}

static void list_remove(tg_lru *lru, entry *e)
{
    *(e->newer ? &e->newer->older : &lru->newest) = e->older;
    *(e->older ? &e->older->newer : &lru->oldest) = e->newer;
}

static void drop(tg_lru *lru, entry *e)
{
    *place_of(lru, e->hash, e->key) = e->next_in_bucket;
    list_remove(lru, e);
    lru->held_bytes -= e->bytes;
    tg_image_free(e);
}

void tg_lru_clear(tg_lru *lru)
{
    while (lru->oldest)
        drop(lru, lru->oldest);
}

void tg_lru_shrink(tg_lru *lru, size_t bytes)
{
    size_t goal = bytes < lru->held_bytes ? lru->held_bytes - bytes : 0;
    while (lru->held_bytes > goal)
        drop(lru, lru->oldest);
}

bool tg_lru_get(tg_lru *lru, tg_str key, tg_cached *out)
{
    entry *e = *place_of(lru, tg_checksum(key.p, key.n, 0), key);
    if (!e)
        return false;
    list_remove(lru, e);
    list_push(lru, e);
    *out = e->value;
    return true;
}

static tg_str keep(char **to, tg_str s)
{
    tg_str kept = {*to, s.n};
    if (s.n)
        memcpy(*to, s.p, s.n);
    *to += s.n;
    return kept;
}

void tg_lru_put(tg_lru *lru, tg_str key, const tg_cached *value)
{
    tg_err err = {0};
    size_t bytes = sizeof(entry) + key.n + value->type.n + value->etag.n + value->body.n;
    uint64_t hash = tg_checksum(key.p, key.n, 0);
    entry *old = *place_of(lru, hash, key);
    if (old)
        drop(lru, old);
    if (bytes > lru->budget_bytes / LARGEST_SHARE)
        return;
    if (lru->held_bytes + bytes > lru->budget_bytes)
        tg_lru_shrink(lru, lru->held_bytes + bytes - lru->budget_bytes);
    entry *e = tg_image_alloc(1, bytes, &err);
    if (!e)
        return;
    char *to = e->text;
    *e = (entry){.hash = hash, .bytes = bytes, .value = *value};
    e->key = keep(&to, key);
    e->value.type = keep(&to, value->type);
    e->value.etag = keep(&to, value->etag);
    e->value.body = keep(&to, value->body);
    entry **at = place_of(lru, hash, e->key);
    e->next_in_bucket = *at;
    *at = e;
    list_push(lru, e);
    lru->held_bytes += bytes;
}
