#include "cache/ring.h"

#include <stdlib.h>

/* CRC-32 of ISO 3309, as gzip has it. crc: 0, or that of what stood in front. */
static uint32_t crc32(const void *bytes, size_t n, uint32_t crc)
{
    const uint8_t *p = bytes;
    crc = ~crc;
    while (n--) {
        crc ^= *p++;
        for (unsigned i = 0; i < 8; i++)
            crc = crc >> 1 ^ (UINT32_C(0xEDB88320) & -(crc & 1));
    }
    return ~crc;
}

/* crc32(HOST, 0, PORT, previous point as four bytes, lowest first). */
void tg_ring_add(tg_ring *ring, unsigned server, tg_str host, tg_str port)
{
    uint32_t base = crc32("", 1, crc32(host.p, host.n, 0)), at = 0;
    base = crc32(port.p, port.n, base);
    for (unsigned i = 0; i < TG_RING_POINTS; i++) {
        const uint8_t before[4] = {(uint8_t)at, (uint8_t)(at >> 8), (uint8_t)(at >> 16),
                                   (uint8_t)(at >> 24)};
        at = crc32(before, sizeof before, base);
        ring->point[ring->n++] = (tg_ring_point){at, server};
    }
}

static int by_place(const void *a, const void *b)
{
    const tg_ring_point *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->server > y->server) - (x->server < y->server);
}

void tg_ring_sort(tg_ring *ring)
{
    qsort(ring->point, ring->n, sizeof ring->point[0], by_place);
}

int tg_ring_find(const tg_ring *ring, tg_str key, bool (*usable)(void *ctx, unsigned server),
                 void *ctx)
{
    uint32_t at = crc32(key.p, key.n, 0);
    unsigned low = 0, high = ring->n;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (ring->point[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    for (unsigned i = 0; i < ring->n; i++) {
        unsigned server = ring->point[(low + i) % ring->n].server;
        if (usable(ctx, server))
            return (int)server;
    }
    return -1;
}
