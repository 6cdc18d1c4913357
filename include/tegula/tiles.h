/* Deep Zoom, Zoomify and XYZ (with TileJSON 3.0.0): pyramids of square tiles over any image, and
 * the small documents that tell of them. All levels exist whatever the file holds. */
#ifndef TEGULA_TILES_H
#define TEGULA_TILES_H

#include <stdbool.h>
#include <stdint.h>

#include "tegula/arena.h"
#include "tegula/buf.h"
#include "tegula/config.h"
#include "tegula/err.h"
#include "tegula/georef.h"
#include "tegula/job.h"
#include "tegula/str.h"

/* One request, as its address says it; nothing is known of the image yet. */
typedef struct tg_tiles {
    tg_protocol protocol; /* TG_PROTOCOL_DEEPZOOM, _ZOOMIFY or _XYZ */
    bool document;        /* the description, not a tile */
    tg_str identifier;    /* decoded once */
    uint64_t level, x, y; /* of a tile; level 0 is the smallest */
    bool twice;           /* XYZ: the same area with 512 px instead of 256 */
    tg_format format;
} tg_tiles;

/* The image as its pyramid is laid over it. */
typedef struct tg_tiles_image {
    uint32_t width_px, height_px; /* as shown */
    uint32_t tile_px;             /* side of the squares */
    tg_georef map;                /* of XYZ alone */
} tg_tiles_image;

/* raw, percent-encoded: for Deep Zoom "ID.dzi", "ID.xml" or "ID_files/L/X_Y.jpg" (or .png,
 * .webp, and .avif where it is built), for Zoomify "ID/ImageProperties.xml" or
 * "ID/TileGroupN/Z-X-Y.jpg"; N is not looked at, since clients count it in three ways; for XYZ
 * "ID/tilejson.json", "ID/Z/X/Y.jpg" or "ID/Z/X/Y@2x.jpg", with the formats of Deep Zoom.
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
 * is level 0. XYZ: level 0 is one tile that holds the image at its top left, each
 * further one halves the px, up to full size; of an image in web mercator, level 0 is the world,
 * and the last one is the first as fine as the image. Tiles are always whole squares. */
bool tg_tiles_job(const tg_tiles *tiles, const tg_tiles_image *image, tg_job *out, tg_err *err);

/* What a TileJSON document says beside the grid; texts are UTF-8. */
typedef struct tg_tilejson {
    tg_str base; /* the tiles' address up to "{z}", with a slash at the end */
    tg_str name;
    tg_str attribution; /* plain text; empty: none */
    bool alpha;         /* the image has some, or a rim on the map: tiles in WebP */
} tg_tilejson;

/* application/json. An image that lies nowhere is laid over the world of web mercator with its top
 * left. */
void tg_tilejson_document(const tg_tiles_image *image, const tg_tilejson *about, tg_buf *out);

/* TG_ERR_NOT_IMPLEMENTED for an image on a map of another projection. */
bool tg_xyz_can(const tg_tiles_image *image, tg_err *err);

/* Of XYZ: the number of the full-size level, ceil(log2(longer side / 256)), at least 0; on a map
 * the same of the world at the image's resolution, at most 30. */
unsigned tg_xyz_top(const tg_tiles_image *image);

/* tg_tiles_job of XYZ. */
bool tg_xyz_job(const tg_tiles *tiles, const tg_tiles_image *image, tg_job *out, tg_err *err);

/* "L/X_Y.jpg": what tells one answer of a protocol and image from the others. */
tg_str tg_tiles_canonical(const tg_tiles *tiles, tg_arena *arena);

#endif
