#include "tegula/tile_cache.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tegula/mem.h"

#define BUCKETS 256

typedef struct tile {
    tg_tile_key key;
    size_t bytes;
    uint8_t *pixels;
    struct tile *next_in_bucket;
    struct tile *newer, *older;
} tile;

/* The process-lifetime table. */
static struct {
    tile *bucket[BUCKETS];
    tile *newest, *oldest;
    size_t bytes, budget;
    uint64_t last_image;
} cache;

void tg_tile_cache_set_budget(size_t bytes)
{
    cache.budget = bytes;
}

size_t tg_tile_cache_budget(void)
{
    return cache.budget;
}

uint64_t tg_tile_cache_new_image(void)
{
    return ++cache.last_image;
}

static tile **bucket_of(const tg_tile_key *k)
{
    uint64_t h = k->image * 0x9e3779b97f4a7c15u + k->col * 0x85ebca6bu + k->row * 0xc2b2ae35u +
                 k->level * 31u + k->k;
    return &cache.bucket[(h ^ h >> 17) % BUCKETS];
}

static bool same(const tg_tile_key *a, const tg_tile_key *b)
{
    return a->image == b->image && a->col == b->col && a->row == b->row && a->level == b->level &&
           a->k == b->k;
}

static void unlink_age(tile *t)
{
    *(t->newer ? &t->newer->older : &cache.newest) = t->older;
    *(t->older ? &t->older->newer : &cache.oldest) = t->newer;
}

static void link_newest(tile *t)
{
    t->newer = NULL;
    t->older = cache.newest;
    *(cache.newest ? &cache.newest->newer : &cache.oldest) = t;
    cache.newest = t;
}

static tile *find(const tg_tile_key *key)
{
    tile *t = *bucket_of(key);
    while (t && !same(&t->key, key))
        t = t->next_in_bucket;
    return t;
}

static void remove_tile(tile *t)
{
    tile **at = bucket_of(&t->key);
    while (*at != t)
        at = &(*at)->next_in_bucket;
    *at = t->next_in_bucket;
    unlink_age(t);
    cache.bytes -= t->bytes;
    tg_image_free(t->pixels);
    free(t);
}

const uint8_t *tg_tile_cache_get(const tg_tile_key *key)
{
    tile *t = cache.bytes ? find(key) : NULL;
    if (!t)
        return NULL;
    unlink_age(t);
    link_newest(t);
    return t->pixels;
}

/* A tile larger than a quarter of the budget would drive out everything else. */
uint8_t *tg_tile_cache_put(const tg_tile_key *key, size_t bytes)
{
    tg_err ignored = {0};
    if (bytes == 0 || bytes > cache.budget / 4)
        return NULL;
    tg_tile_cache_drop(key);
    while (cache.bytes > cache.budget - bytes)
        remove_tile(cache.oldest);
    tile *t = tg_new(sizeof *t);
    t->pixels = tg_image_alloc(bytes, 1, &ignored);
    if (!t->pixels) {
        free(t);
        return NULL;
    }
    t->key = *key;
    t->bytes = bytes;
    t->next_in_bucket = *bucket_of(key);
    *bucket_of(key) = t;
    link_newest(t);
    cache.bytes += bytes;
    return t->pixels;
}

void tg_tile_cache_drop(const tg_tile_key *key)
{
    tile *t = find(key);
    if (t)
        remove_tile(t);
}

void tg_tile_cache_drop_image(uint64_t image)
{
    for (tile *t = cache.oldest, *newer; t; t = newer) {
        newer = t->newer;
        if (t->key.image == image)
            remove_tile(t);
    }
}

void tg_tile_cache_shrink(size_t bytes)
{
    size_t before = cache.bytes;
    while (cache.oldest != cache.newest && before - cache.bytes < bytes)
        remove_tile(cache.oldest);
}
