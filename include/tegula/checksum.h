/* A hash for tables and against accidents; not cryptographic. */
#ifndef TEGULA_CHECKSUM_H
#define TEGULA_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* 64 bits of any bytes, the same on hosts of any byte order. seed: 0, or the sum of what stood in
 * front. Four lanes side by side, since it runs over every body that comes from memcached. */
uint64_t tg_checksum(const void *bytes, size_t n, uint64_t seed);

#endif
