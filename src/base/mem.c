#include "tegula/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "tegula/num.h"

/* In front of every image allocation: its size, so that free can settle the account. One cache
 * line, which keeps the pixels 64-byte aligned. */
#define HEAD_BYTES 64

/* The process-lifetime account: a worker has one thread, so no locks. */
static size_t ceiling_bytes = (size_t)512 << 20;
static size_t in_use_bytes;
static void (*give_back_bytes)(size_t bytes);

void *tg_new(size_t size)
{
    void *p = calloc(1, size ? size : 1); /* lint:allow */
    if (!p) {
        fputs("tegula: out of memory\n", stderr);
        abort();
    }
    return p;
}

static bool fits(size_t bytes)
{
    return bytes <= ceiling_bytes && in_use_bytes <= ceiling_bytes - bytes;
}

/* Room below the ceiling, if need be made by those who keep what can be made again. */
static bool make_room(size_t bytes)
{
    if (!fits(bytes) && bytes <= ceiling_bytes && give_back_bytes)
        give_back_bytes(in_use_bytes - (ceiling_bytes - bytes));
    return fits(bytes);
}

void *tg_image_alloc(size_t n, size_t size, tg_err *err)
{
    size_t bytes, total;
    if (!tg_mul_size(n, size, &bytes) || !tg_add_size(bytes, 2 * HEAD_BYTES - 1, &total) ||
        !make_room(bytes)) {
        tg_fail(err, TG_ERR_TOO_LARGE, "the request needs more memory than this server allows");
        tg_fail_detail(err, "%zu x %zu bytes wanted, %zu of %zu in use", n, size, in_use_bytes,
                       ceiling_bytes);
        return NULL;
    }
    total &= ~(size_t)(HEAD_BYTES - 1); /* aligned_alloc wants a multiple of the alignment */
    uint8_t *p = aligned_alloc(HEAD_BYTES, total);
    if (!p) {
        tg_fail(err, TG_ERR_BUSY, "out of memory");
        return NULL;
    }
    *(size_t *)p = bytes;
    in_use_bytes += bytes;
    return p + HEAD_BYTES;
}

void tg_image_free(void *p)
{
    if (!p)
        return;
    uint8_t *head = (uint8_t *)p - HEAD_BYTES;
    in_use_bytes -= *(size_t *)head;
    free(head);
}

void tg_image_on_pressure(void (*give_back)(size_t bytes))
{
    give_back_bytes = give_back;
}

void tg_image_set_ceiling(size_t bytes)
{
    ceiling_bytes = bytes;
}

size_t tg_image_ceiling(void)
{
    return ceiling_bytes;
}

size_t tg_image_in_use(void)
{
    return in_use_bytes;
}

/* Blocks from this size on are mapped, and unmapped when freed. Left to itself glibc starts lower,
 * but doubles the size for each larger block it sees, up to 32 MiB, and keeps twice that unused:
 * over 10,000 mixed requests a worker then rests at 84 MB instead of 29. Decoded tiles of up to
 * 512 px stay below, since caches change them all the time: mapped, those of 256 px cost a
 * processed tile a third more (0.61 ms for 0.46). Views of 3000 px cost 2 % more. */
#define MAPPED_BYTES (1 << 20)
#define UNUSED_BYTES (1 << 20) /* may stay at the heap's end */

void tg_memory_settle(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    mallopt(M_TRIM_THRESHOLD, UNUSED_BYTES);
#endif
}

/* The gaps, too, that small blocks which live on leave in the heap. */
void tg_memory_rest(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
