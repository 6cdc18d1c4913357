/* What libtiff does not tell of a directory: how many values an entry really has. */
#include <string.h>

#include "read_at.h"
#include "tiff.h"

#define MAX_ENTRIES 4096 /* no sound directory has so many; bounds the time */

typedef struct layout {
    bool big_endian;
    unsigned head_bytes, entry_bytes, count_bytes; /* TIFF 6.0, section 2; BigTIFF */
} layout;

static uint64_t number(const layout *l, const uint8_t *p, unsigned n)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < n; i++)
        v |= (uint64_t)p[i] << 8 * (l->big_endian ? n - 1 - i : i);
    return v;
}

/* Among n entries; UINT64_MAX when it is none of them. */
static uint64_t find(const layout *l, const uint8_t *entries, size_t n, unsigned tag)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *entry = entries + i * l->entry_bytes;

        if (number(l, entry, 2) == tag)
            return number(l, entry + 4, l->count_bytes);
    }
    return UINT64_MAX;
}

uint64_t tg_tiff_entry_count(const tg_tiff_file *f, uint64_t dir_offset_bytes, unsigned tag)
{
    bool big = TIFFIsBigTIFF(f->tif);
    layout l = {.big_endian = TIFFIsBigEndian(f->tif),
                .head_bytes = big ? 8 : 2,
                .entry_bytes = big ? 20 : 12,
                .count_bytes = big ? 8 : 4};
    uint8_t chunk[64 * 20];
    size_t per_chunk = sizeof chunk / l.entry_bytes;
    uint64_t at = dir_offset_bytes, left, count = UINT64_MAX;

    if (tg_read_up_to(f->fd, chunk, l.head_bytes, at) < l.head_bytes)
        return 0;
    at += l.head_bytes;
    left = number(&l, chunk, l.head_bytes);
    for (left = TG_MIN(left, (uint64_t)MAX_ENTRIES); left > 0 && count == UINT64_MAX;) {
        size_t n = (size_t)TG_MIN(left, (uint64_t)per_chunk);

        if (tg_read_up_to(f->fd, chunk, n * l.entry_bytes, at) < n * l.entry_bytes)
            return 0;
        count = find(&l, chunk, n, tag);
        at += n * l.entry_bytes;
        left -= n;
    }
    return count == UINT64_MAX ? 0 : count;
}
