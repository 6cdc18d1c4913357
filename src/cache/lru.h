/* Answers kept in this worker's memory, up to a number of bytes; what was asked for least lately
 * goes first. */
#ifndef TEGULA_CACHE_LRU_H
#define TEGULA_CACHE_LRU_H

#include "tegula/cache.h"

typedef struct tg_lru tg_lru;

tg_lru *tg_lru_new(size_t budget_bytes); /* 0 keeps nothing */
void tg_lru_free(tg_lru *lru);
void tg_lru_clear(tg_lru *lru);
void tg_lru_shrink(tg_lru *lru, size_t bytes);

/* *out holds views that are valid until the next call but this. */
bool tg_lru_get(tg_lru *lru, tg_str key, tg_cached *out);
/* Keeps a copy, unless it would fill much of the budget by itself. */
void tg_lru_put(tg_lru *lru, tg_str key, const tg_cached *value);

#endif
