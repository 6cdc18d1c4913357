/* Hashes of the cache. Not cryptographic: they guard against accidents. */
#ifndef TEGULA_CACHE_CHECKSUM_H
#define TEGULA_CACHE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* 64 bits of any bytes, the same on hosts of any byte order. seed: 0, or the sum of what stood in
 * front. Four lanes side by side, since it runs over every body that comes from memcached. */
uint64_t tg_checksum(const void *bytes, size_t n, uint64_t seed);

/* CRC-32 of ISO 3309, as gzip and PNG have it. crc: 0, or that of what stood in front. */
uint32_t tg_crc32(const void *bytes, size_t n, uint32_t crc);

#endif
