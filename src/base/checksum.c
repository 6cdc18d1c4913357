#include "tegula/checksum.h"

#include <endian.h>
#include <string.h>

#define LANES 4

static uint64_t word_at(const uint8_t *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return le64toh(w);
}

/* A bijection of the lane for any word: one changed word always changes the sum. */
static uint64_t mix(uint64_t lane, uint64_t word)
{
    lane = (lane ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return lane ^ lane >> 29;
}

uint64_t tg_checksum(const void *bytes, size_t n, uint64_t seed)
{
    const uint8_t *p = bytes;
    uint64_t lane[LANES], sum = mix(seed, n);
    for (unsigned i = 0; i < LANES; i++)
        lane[i] = sum + i;
    for (; n >= 8 * LANES; n -= 8 * LANES, p += 8 * LANES)
        for (unsigned i = 0; i < LANES; i++)
            lane[i] = mix(lane[i], word_at(p + 8 * i));
    for (; n >= 8; n -= 8, p += 8)
        lane[0] = mix(lane[0], word_at(p));
    uint8_t rest[8] = {0};
    if (n)
        memcpy(rest, p, n);
    sum = mix(lane[0], word_at(rest));
    for (unsigned i = 1; i < LANES; i++)
        sum = mix(sum, lane[i]);
    return mix(sum, sum >> 32);
}
