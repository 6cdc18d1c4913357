/* IIIF Image API 3.0 and 2.1.1: URIs to jobs, info.json, canonical URIs, Link headers. */
#ifndef TEGULA_IIIF_H
#define TEGULA_IIIF_H

#include <stdbool.h>

#include "tegula/arena.h"
#include "tegula/buf.h"
#include "tegula/config.h"
#include "tegula/err.h"
#include "tegula/geometry.h"
#include "tegula/http.h"
#include "tegula/job.h"
#include "tegula/str.h"

typedef enum tg_iiif_kind {
    TG_IIIF_IMAGE, /* …/ID/region/size/rotation/quality.format */
    TG_IIIF_INFO,  /* …/ID/info.json */
    TG_IIIF_BASE   /* …/ID: to be redirected to info.json if it names an image, else 404 */
} tg_iiif_kind;

typedef struct tg_iiif {
    tg_iiif_kind kind;
    int version;       /* 2 or 3 */
    tg_str identifier; /* decoded once */
    tg_str base_path;  /* path up to and with the identifier as received, e.g.
                          "/iiif/3/sub%2Fx.tif", for ids, links and redirects */
    tg_job job;        /* for TG_IIIF_IMAGE */
} tg_iiif;

/* rest: the raw path behind the mapped prefix and its slash
 * ("3/sub%2Fx.tif/full/max/0/default.jpg"); prefix_path: what stood in front ("/iiif/"). A first
 * segment "2" or "3" sets the version when an identifier remains behind it; otherwise
 * config->iiif_version. Split at raw '/' first, from the right, then each piece is decoded once;
 * raw slashes in identifiers therefore work.
 *
 * What has the shape of an image request (four or more segments behind the identifier's first, the
 * last with a '.') is one, and a malformed parameter is TG_ERR_BAD_REQUEST naming it ("region: …").
 * Everything else is a base URI. */
bool tg_iiif_parse(const tg_config *config, tg_str prefix_path, tg_str rest, tg_arena *arena,
                   tg_iiif *out, tg_err *err);

/* The four parameters of an image request, already split but not decoded. For tests and reuse. */
bool tg_iiif_parse_params(int version, tg_str region, tg_str size, tg_str rotation,
                          tg_str quality_format, tg_arena *arena, tg_job *job, tg_err *err);

/* What an info document tells of an image; independent of its codec. */
typedef struct tg_iiif_image {
    uint32_t width_px, height_px;
    uint32_t tile_w_px, tile_h_px; /* advertised tile, see tg_iiif_advertised_tile */
    bool color;                    /* has colour: `color` quality advertised */
    double dpi_x;                  /* 0 = unknown: no physical dimensions service */
} tg_iiif_image;

/* The absolute id: X-IIIF-ID if it is an http(s) URL, else BASE_URL and the identifier as received,
 * else the request's origin and base_path. Never a slash at the end. */
tg_str tg_iiif_id(const tg_config *config, const tg_request *request, const tg_iiif *iiif,
                  tg_arena *arena);

/* Appends the info.json document (checklist sections 4 and 5): @context first; sizes: ceil(W/f) by
 * ceil(H/f) for the power-of-two factors f > 1 within the limits, ascending, at least one entry;
 * tiles: one entry, factors 1, 2, 4 … until one tile holds the image in both axes, never cut by the
 * limits. */
void tg_iiif_info(const tg_config *config, const tg_iiif_image *image, const tg_limits *limits,
                  int version, tg_str id, tg_arena *arena, tg_buf *out);

/* Tile to advertise for a file's own tile size and kind: the file's own when tiled and within
 * 64..2048 px a side and no larger than the limits, else 256 (or the limits if smaller). */
void tg_iiif_advertised_tile(bool tiled, uint32_t tile_w_px, uint32_t tile_h_px,
                             const tg_limits *limits, uint32_t *w, uint32_t *h);

/* Content-Type of info.json by version and Accept (checklist section 3). */
tg_str tg_iiif_info_type(int version, tg_str accept);

/* Canonical path behind the id, "full/max/0/default.jpg" (checklist section 14, by version).
 * color: the image has colour. */
tg_str tg_iiif_canonical(int version, const tg_job *job, const tg_geometry *geometry, bool color,
                         tg_arena *arena);

/* Compliance URI "http://iiif.io/api/image/3/level2.json". */
tg_str tg_iiif_profile(int version);

#endif
