/* Entity tags: two 64-bit lanes over little-endian words, so that hosts of any byte order sharing a
 * cache make the same tag. Each step is a bijection of the lane, hence a single changed word always
 * changes both. */
#include "tegula/http.h"

#include <inttypes.h>

static uint64_t scramble(uint64_t x)
{
    x = (x ^ (x >> 31)) * UINT64_C(0xD1B54A32D192ED03);
    x = (x ^ (x >> 29)) * UINT64_C(0xAEF17502108EF2D9);
    return x ^ (x >> 32);
}

static uint64_t word_at(const uint8_t *p, size_t n)
{
    uint64_t w = 0;
    for (size_t i = 0; i < n && i < 8; i++)
        w |= (uint64_t)p[i] << (8 * i);
    return w;
}

tg_str tg_etag(tg_arena *arena, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    /* The length is part of the seed: trailing zero bytes count. */
    uint64_t a = scramble(UINT64_C(0x243F6A8885A308D3) + n);
    uint64_t b = scramble(UINT64_C(0x13198A2E03707344) + n);
    for (size_t i = 0; i < n; i += 8) {
        uint64_t w = word_at(p + i, n - i);
        a = scramble(a ^ w);
        b = scramble(b + (w << 32 | w >> 32));
    }
    return tg_arena_printf(arena, "\"%016" PRIx64 "%016" PRIx64 "\"", a, b);
}
