/* Where the bytes of boxes and codestreams are: in memory, or a part of an open file. Private to
 * src/codec. */
#ifndef TEGULA_J2K_SOURCE_H
#define TEGULA_J2K_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read_at.h"
#include "tegula/err.h"

typedef struct tg_j2k_source {
    const uint8_t *memory; /* NULL: the file */
    int fd;
    uint64_t first_byte, n_bytes; /* the part of the file; memory begins at its first byte */
} tg_j2k_source;

/* [at, at + n) of a source as one of its own; cut at its end. */
tg_j2k_source tg_j2k_part(const tg_j2k_source *s, uint64_t at, uint64_t n);

/* Copies n bytes from `at`; TG_ERR_CORRUPT when the source ends before. */
bool tg_j2k_read(const tg_j2k_source *s, uint64_t at, void *to, size_t n, tg_err *err);

/* As much of it as there is. */
size_t tg_j2k_read_some(const tg_j2k_source *s, uint64_t at, void *to, size_t n);

/* Reads forward in small steps, so that few calls of the system do. */
typedef struct tg_j2k_cursor {
    const tg_j2k_source *source;
    uint64_t at; /* of the next byte */
    uint64_t window_at;
    size_t window_bytes;
    uint8_t window[512];
} tg_j2k_cursor;

/* The next n bytes, at most 256, without going on; NULL with err. Valid until the next call. */
const uint8_t *tg_j2k_peek(tg_j2k_cursor *c, size_t n, tg_err *err);

static inline uint64_t tg_j2k_u64(const uint8_t *p)
{
    return (uint64_t)tg_be32(p) << 32 | tg_be32(p + 4);
}

static inline void tg_j2k_put_u16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void tg_j2k_put_u32(uint8_t *p, uint32_t v)
{
    tg_j2k_put_u16(p, v >> 16);
    tg_j2k_put_u16(p + 2, v);
}

#endif
