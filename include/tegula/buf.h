/* Growable byte buffer with a sticky failure: append freely, ask once at the end. */
#ifndef TEGULA_BUF_H
#define TEGULA_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/str.h"

typedef struct tg_buf {
    uint8_t *data; /* NULL while empty */
    size_t len, cap;
    size_t max;  /* ceiling in bytes, 0 = TG_BUF_DEFAULT_MAX */
    bool failed; /* ceiling passed or out of memory; len stays at the last good append */
} tg_buf;

#define TG_BUF_DEFAULT_MAX ((size_t)1 << 30)

/* {0} is a valid empty buffer. */
void tg_buf_free(tg_buf *b);
/* len = 0, failed = false; keeps up to 1 MiB of memory for the next use. */
void tg_buf_reset(tg_buf *b);
/* Room for n more bytes at data + len; NULL on failure. The caller adds to len what it wrote. */
uint8_t *tg_buf_reserve(tg_buf *b, size_t n);
void tg_buf_append(tg_buf *b, const void *p, size_t n);
/* Puts n bytes in front of what begins at data[at], at <= len. p lies outside the buffer. */
void tg_buf_insert(tg_buf *b, size_t at, const void *p, size_t n);
void tg_buf_str(tg_buf *b, tg_str s);
void tg_buf_z(tg_buf *b, const char *z);
void tg_buf_printf(tg_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline tg_str tg_buf_view(const tg_buf *b)
{
    return (tg_str){b->data ? (const char *)b->data : "", b->len};
}

#endif
