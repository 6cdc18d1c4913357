/* How keys of stored answers begin, for who stores and who purges. */
#ifndef TEGULA_CACHE_STORED_H
#define TEGULA_CACHE_STORED_H

#include "tegula/checksum.h"
#include "tegula/str.h"

/* "tegula1:<generation>:<file>:<hash of the key's text>" */
#define TG_STORED_PREFIX "tegula1:"

/* Beside each body under the key of a web server: an empty value under this and that key. Nobody
 * reads it, so that it is in every list of keys, where memcached leaves out what is being read. */
#define TG_PLAIN_PREFIX "tegula1@"

static inline uint64_t tg_cache_file_hash(tg_str file)
{
    return tg_checksum(file.p, file.n, 0);
}

#endif
