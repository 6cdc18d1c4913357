/* Parts of a file by position. Private to src/codec. */
#ifndef TEGULA_READ_AT_H
#define TEGULA_READ_AT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/buf.h"
#include "tegula/err.h"

/* All n bytes at the offset; TG_ERR_CORRUPT when the file ends before. */
bool tg_read_at(int fd, void *dst, size_t n, uint64_t offset_bytes, tg_err *err);

/* Up to n bytes, fewer only at the end of the file; 0 also when it cannot be read. */
size_t tg_read_up_to(int fd, void *dst, size_t n, uint64_t offset_bytes);

/* Appends n bytes at the offset, or leaves out as it was and returns false. */
bool tg_append_at(tg_buf *out, int fd, size_t n, uint64_t offset_bytes);

/* The file from front to back, for libraries that ask for a few bytes at a time. */
typedef struct tg_reader {
    int fd;
    uint64_t at_bytes, end_bytes;       /* what of the file is still to be read */
    size_t buffer_at, buffer_n, next_n; /* next_n: to read at once, small at the front */
    uint8_t buffer[32768];
} tg_reader;

void tg_reader_begin(tg_reader *r, int fd, uint64_t end_bytes);
/* Up to n bytes, fewer only at the end. */
size_t tg_reader_take(tg_reader *r, void *dst, size_t n);

static inline uint16_t tg_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t tg_be32(const uint8_t *p)
{
    return (uint32_t)tg_be16(p) << 16 | tg_be16(p + 2);
}

static inline uint32_t tg_le24(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
}

static inline uint32_t tg_le32(const uint8_t *p)
{
    return tg_le24(p) | (uint32_t)p[3] << 24;
}

#endif
