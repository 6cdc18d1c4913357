/* Allocation. Small fixed objects: tg_new (aborts the request, not the process, is not worth it for
 * them: a failed 200-byte allocation ends the process and the supervisor starts a new one).
 * Everything whose size comes from a file or a request: tg_image_alloc. */
#ifndef TEGULA_MEM_H
#define TEGULA_MEM_H

#include <stddef.h>

#include "tegula/err.h"

/* Zeroed memory for small, fixed-size objects. Never returns NULL; ends the process when the system
 * is out of memory. Free with free(). */
void *tg_new(size_t size) __attribute__((returns_nonnull, malloc, alloc_size(1)));

/* Memory for n items of size bytes, 64-byte aligned, not cleared. The only way to allocate what a
 * file or a request sizes. NULL and TG_ERR_TOO_LARGE when the product overflows or the bytes in use
 * would pass the ceiling; TG_ERR_BUSY when the system refuses. Free with tg_image_free. */
void *tg_image_alloc(size_t n, size_t size, tg_err *err) __attribute__((nonnull(3)));
void tg_image_free(void *p);

/* Who can give memory back (the cache of tiles) is asked to when the ceiling is met, before a
 * request is refused. NULL: nobody. */
void tg_image_on_pressure(void (*give_back)(size_t bytes));

/* The ceiling in bytes for all of tg_image_alloc together (default 512 MiB), and what is in use. */
void tg_image_set_ceiling(size_t bytes);
size_t tg_image_ceiling(void);
size_t tg_image_in_use(void);

/* How the system's allocator returns what is freed, for processes that serve for weeks: settle once
 * at the start, rest whenever there is nothing to do for a while. Both do nothing where the C
 * library has no such settings. */
void tg_memory_settle(void);
void tg_memory_rest(void);

#endif
