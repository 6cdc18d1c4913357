/* The process's cache of coefficient tables: tiles of one level ask for the same few again and
 * again. Least recently used first out; a table in use outlives its eviction by its count. */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "filter_table.h"
#include "tegula/mem.h"

#define SLOTS       32
#define BYTES_LIMIT ((size_t)8 << 20)

typedef struct entry {
    tg_filter_table *table;
    unsigned users;
    unsigned long used_at; /* the clock's tick of the last get */
    bool cached;           /* still in the cache; otherwise freed with the last user */
    struct entry *next;
} entry;

static struct {
    entry *entries; /* cached ones and evicted ones still in use */
    unsigned long clock;
} cache;

static bool same_axis(const tg_axis *a, const tg_axis *b)
{
    return a->origin == b->origin && a->step == b->step && a->in_px == b->in_px &&
           a->out_px == b->out_px;
}

static void drop(entry *dead)
{
    entry **link = &cache.entries;
    while (*link != dead)
        link = &(*link)->next;
    *link = dead->next;
    tg_filter_table_free(dead->table);
    free(dead);
}

/* The least recently used cached entry, when there are too many of them. */
static entry *surplus(void)
{
    entry *oldest = NULL;
    size_t bytes = 0;
    unsigned count = 0;
    for (entry *e = cache.entries; e; e = e->next) {
        if (!e->cached)
            continue;
        bytes += tg_filter_table_bytes(e->table);
        count++;
        if (!oldest || e->used_at < oldest->used_at)
            oldest = e;
    }
    return count > SLOTS || bytes > BYTES_LIMIT ? oldest : NULL;
}

static void trim(void)
{
    entry *e;
    while ((e = surplus())) {
        e->cached = false;
        if (!e->users)
            drop(e);
    }
}

static entry *find(const tg_axis *axis, tg_filter filter, tg_precision precision)
{
    for (entry *e = cache.entries; e; e = e->next)
        if (e->cached && e->table->filter == filter && e->table->precision == precision &&
            same_axis(&e->table->axis, axis))
            return e;
    return NULL;
}

const tg_filter_table *tg_filter_table_get(const tg_axis *axis, tg_filter filter,
                                           tg_precision precision, tg_err *err)
{
    entry *e = find(axis, filter, precision);
    if (!e) {
        tg_filter_table *table = tg_filter_table_build(axis, filter, precision, err);
        if (!table)
            return NULL;
        e = tg_new(sizeof *e);
        *e = (entry){.table = table, .cached = true, .next = cache.entries};
        cache.entries = e;
    }
    e->users++;
    e->used_at = ++cache.clock;
    trim();
    return e->table;
}

void tg_filter_table_release(const tg_filter_table *table)
{
    entry *e = cache.entries;
    while (e && e->table != table)
        e = e->next;
    assert(e && e->users);
    if (--e->users == 0 && !e->cached)
        drop(e);
}

void tg_filter_cache_clear(void)
{
    for (entry *e = cache.entries, *next; e; e = next) {
        next = e->next;
        if (!e->users)
            drop(e);
    }
}
