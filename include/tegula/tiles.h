/* Deep Zoom and Zoomify: pyramids of square tiles over any image, and the small documents that tell
 * of them. All levels exist whatever the file holds. */
#ifndef TEGULA_TILES_H
#define TEGULA_TILES_H

#include <stdbool.h>
#include <stdint.h>

#include "tegula/arena.h"
#include "tegula/buf.h"
#include "tegula/config.h"
#include "tegula/err.h"
#include "tegula/job.h"
#include "tegula/str.h"

/* One request, as its address says it; nothing is known of the image yet. */
typedef struct tg_tiles {
    tg_protocol protocol; /* TG_PROTOCOL_DEEPZOOM or TG_PROTOCOL_ZOOMIFY */
    bool document;        /* the description, not a tile */
    tg_str identifier;    /* decoded once */
    uint64_t level, x, y; /* of a tile; level 0 is the smallest */
    tg_format format;
} tg_tiles;

/* The image as its pyramid is laid over it. */
typedef struct tg_tiles_image {
    uint32_t width_px, height_px; /* as shown */
    uint32_t tile_px;             /* side of the squares */
} tg_tiles_image;

/* raw, percent-encoded: for Deep Zoom "ID.dzi", "ID.xml" or "ID_files/L/X_Y.jpg" (or .png,
 * .webp, and .avif where it is built), for Zoomify "ID/ImageProperties.xml" or
 * "ID/TileGroupN/Z-X-Y.jpg"; N is not looked at, since clients count it in three ways.
 * TG_ERR_NOT_FOUND when it has neither shape, TG_ERR_BAD_REQUEST when a tile's format is none of
 * these. */
bool tg_tiles_parse(tg_protocol protocol, tg_str raw, tg_arena *arena, tg_tiles *out, tg_err *err);

/* The description: one element, application/xml. Zoomify's attributes stand in an order that
 * clients count on. */
void tg_tiles_document(tg_protocol protocol, const tg_tiles_image *image, tg_buf *out);

/* The tile as a job: exactly its area at exactly its size. TG_ERR_NOT_FOUND outside the pyramid.
 *
 * Deep Zoom: with M = ceil(log2(max(W, H))), level L of 0 .. M has ceil(W / 2^(M-L)) by
 * ceil(H / 2^(M-L)) pixels. Zoomify: full size halved with floor until both sides fit a tile; that
 * is level 0. */
bool tg_tiles_job(const tg_tiles *tiles, const tg_tiles_image *image, tg_job *out, tg_err *err);

/* "L/X_Y.jpg": what tells one answer of a protocol and image from the others. */
tg_str tg_tiles_canonical(const tg_tiles *tiles, tg_arena *arena);

#endif
