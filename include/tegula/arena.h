/* Request arena: many small allocations, one reset. */
#ifndef TEGULA_ARENA_H
#define TEGULA_ARENA_H

#include <stddef.h>

#include "tegula/str.h"

typedef struct tg_arena tg_arena;

tg_arena *tg_arena_new(void);
void tg_arena_free(tg_arena *a);
/* Frees everything handed out; keeps one block for the next request. */
void tg_arena_reset(tg_arena *a);

/* 16-byte aligned, zeroed; lives until the next reset; never NULL. For texts and lists bounded by
 * the request's own length, not for pixels. */
void *tg_arena_alloc(tg_arena *a, size_t size) __attribute__((returns_nonnull));
/* NUL-terminated copy. */
char *tg_arena_strdup(tg_arena *a, tg_str s) __attribute__((returns_nonnull));
/* Formatted text, NUL-terminated. */
tg_str tg_arena_printf(tg_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
