/* Decoded tiles of open images, kept in the worker while they are likely to be asked for again: a
 * thumbnail's few tiles, the neighbours of a view that is off the tile grid. Least recently used
 * tiles go first. One per process; a worker has one thread. */
#ifndef TEGULA_TILE_CACHE_H
#define TEGULA_TILE_CACHE_H

#include <stddef.h>
#include <stdint.h>

typedef struct tg_tile_key {
    uint64_t image; /* from tg_tile_cache_new_image */
    uint32_t col, row;
    uint16_t level, k; /* k: reduction */
} tg_tile_key;

/* What all tiles together may take (MAX_IMAGE_CACHE_SIZE); 0 keeps none. */
void tg_tile_cache_set_budget(size_t bytes);
size_t tg_tile_cache_budget(void);

/* A number no other open image has, now or later. */
uint64_t tg_tile_cache_new_image(void);
/* Forgets the tiles of an image that is closed. */
void tg_tile_cache_drop_image(uint64_t image);

/* The tile's pixels, or NULL. Valid until the next put or drop, or tg_image_alloc. */
const uint8_t *tg_tile_cache_get(const tg_tile_key *key);

/* Room for a tile's pixels, to be filled by the caller at once; NULL when it is not worth keeping
 * or there is no memory. A tile that could not be filled is taken back with tg_tile_cache_drop. */
uint8_t *tg_tile_cache_put(const tg_tile_key *key, size_t bytes);
void tg_tile_cache_drop(const tg_tile_key *key);

/* Gives up at least so many bytes of the oldest tiles, but never the newest, which may be about to
 * be filled. For tg_image_on_pressure. */
void tg_tile_cache_shrink(size_t bytes);

#endif
