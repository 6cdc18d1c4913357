#include "tegula/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tegula/mem.h"
#include "tegula/num.h"

#define BLOCK_BYTES ((size_t)32 << 10)
#define ALIGN       ((size_t)16)

typedef struct block {
    struct block *next;
    size_t size, used;
    _Alignas(16) uint8_t data[];
} block;

struct tg_arena {
    block *head;
};

static block *block_new(size_t size, block *next)
{
    block *b = tg_new(sizeof *b + size);
    b->size = size;
    b->next = next;
    return b;
}

tg_arena *tg_arena_new(void)
{
    tg_arena *a = tg_new(sizeof *a);
    a->head = block_new(BLOCK_BYTES, NULL);
    return a;
}

static void free_blocks_until(tg_arena *a, block *last)
{
    while (a->head != last) {
        block *b = a->head;
        a->head = b->next;
        free(b);
    }
}

void tg_arena_free(tg_arena *a)
{
    if (!a)
        return;
    free_blocks_until(a, NULL);
    free(a);
}

void tg_arena_reset(tg_arena *a)
{
    block *first = a->head;
    while (first->next)
        first = first->next;
    free_blocks_until(a, first);
    memset(first->data, 0, first->used);
    first->used = 0;
}

void *tg_arena_alloc(tg_arena *a, size_t size)
{
    size = (TG_MAX(size, 1) + ALIGN - 1) & ~(ALIGN - 1);
    if (a->head->size - a->head->used < size)
        a->head = block_new(TG_MAX(size, BLOCK_BYTES), a->head);
    void *p = a->head->data + a->head->used;
    a->head->used += size;
    return p;
}

char *tg_arena_strdup(tg_arena *a, tg_str s)
{
    char *p = tg_arena_alloc(a, s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    return p;
}

tg_str tg_arena_printf(tg_arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    size_t len = n > 0 ? (size_t)n : 0;
    char *p = tg_arena_alloc(a, len + 1);
    vsnprintf(p, len + 1, fmt, again);
    va_end(again);
    return (tg_str){p, len};
}
