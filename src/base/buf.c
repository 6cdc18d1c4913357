#include "tegula/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tegula/num.h"

#define FIRST_BYTES ((size_t)4 << 10)
#define KEEP_BYTES  ((size_t)1 << 20)

void tg_buf_free(tg_buf *b)
{
    free(b->data);
    *b = (tg_buf){.max = b->max};
}

void tg_buf_reset(tg_buf *b)
{
    if (b->cap > KEEP_BYTES)
        tg_buf_free(b);
    b->len = 0;
    b->failed = false;
}

/* Doubles up to 16 MiB, then grows by an eighth: a large reply then holds at most an eighth more
 * than it needs (realloc of that size moves pages, not bytes). */
static size_t grown(size_t cap, size_t want)
{
    size_t next = cap < ((size_t)16 << 20) ? cap * 2 : cap + cap / 8;
    return TG_MAX(TG_MAX(next, FIRST_BYTES), want);
}

uint8_t *tg_buf_reserve(tg_buf *b, size_t n)
{
    size_t want, max = b->max ? b->max : TG_BUF_DEFAULT_MAX;
    if (b->failed)
        return NULL;
    if (!tg_add_size(b->len, n, &want) || want > max) {
        b->failed = true;
        return NULL;
    }
    if (want > b->cap) {
        size_t cap = TG_MIN(grown(b->cap, want), max);
        uint8_t *p = realloc(b->data, cap); /* lint:allow the one growing buffer */
        if (!p) {
            b->failed = true;
            return NULL;
        }
        b->data = p;
        b->cap = cap;
    }
    return b->data ? b->data + b->len : NULL;
}

void tg_buf_append(tg_buf *b, const void *p, size_t n)
{
    uint8_t *at = n ? tg_buf_reserve(b, n) : NULL;
    if (!at)
        return;
    memcpy(at, p, n);
    b->len += n;
}

void tg_buf_insert(tg_buf *b, size_t at, const void *p, size_t n)
{
    if (!n || !tg_buf_reserve(b, n))
        return;
    memmove(b->data + at + n, b->data + at, b->len - at);
    memcpy(b->data + at, p, n);
    b->len += n;
}

void tg_buf_str(tg_buf *b, tg_str s)
{
    tg_buf_append(b, s.p, s.n);
}

void tg_buf_z(tg_buf *b, const char *z)
{
    tg_buf_append(b, z, strlen(z));
}

void tg_buf_printf(tg_buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *at = n >= 0 ? (char *)tg_buf_reserve(b, (size_t)n + 1) : NULL;
    if (at) {
        vsnprintf(at, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}
