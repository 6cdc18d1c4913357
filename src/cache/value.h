/* An answer as memcached keeps it: a head that says what it is, then the body. */
#ifndef TEGULA_CACHE_VALUE_H
#define TEGULA_CACHE_VALUE_H

#include "tegula/buf.h"
#include "tegula/cache.h"

/* Appends the head of a value; the body follows it as it is. The head holds the key as well: what
 * comes back under it is proved to be of this key, whatever happened on the way. */
void tg_value_head(tg_str key, const tg_cached *value, tg_buf *out);

/* The value of this key in bytes that came from a server, as views into them. False when they are
 * damaged in any way, or another's. */
bool tg_value_read(tg_str bytes, tg_str key, tg_cached *out);

#endif
