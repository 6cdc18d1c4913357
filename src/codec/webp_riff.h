/* The chunks of a WebP file, without libwebp's container code: the picture, or the first frame of
 * an animation, and the blocks beside it (RFC 9649, section 2). Private to src/codec. */
#ifndef TEGULA_WEBP_RIFF_H
#define TEGULA_WEBP_RIFF_H

#include "parts.h"

typedef struct tg_webp_header {
    uint32_t width_px, height_px; /* of the canvas */
    tg_rect frame;                /* of the canvas that the stream below fills */
    tg_part stream;               /* ALPH and VP8, or VP8L, with their chunk headers */
    bool lossless, alpha;         /* of the stream */
    bool alpha_chunk;             /* alpha comes as ALPH beside VP8 */
    tg_part icc, exif, xmp;
} tg_webp_header;

bool tg_webp_is(const uint8_t *head, size_t n);
bool tg_webp_header_read(int fd, uint64_t size_bytes, tg_webp_header *h, tg_err *err);

#endif
