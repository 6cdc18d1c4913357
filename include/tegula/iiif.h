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
    int version;        /* 2 or 3 */
    bool version_named; /* by the URI's own first segment */
    tg_str identifier;  /* decoded once */
    tg_str base_path;   /* path up to and with the identifier as received, bytes that are illegal
                           in a URI encoded: "/iiif/3/sub%2Fx.tif", for ids, links, redirects */
    tg_str id_path;     /* its part behind the prefix: "3/sub%2Fx.tif" */
    tg_job job;         /* for TG_IIIF_IMAGE */
} tg_iiif;

/* rest: the raw path behind the mapped prefix and its slash
 * ("3/sub%2Fx.tif/full/max/0/default.jpg"); prefix_path: what stood in front ("/iiif/", or
 * "/fcgi-bin/tegula?IIIF=" for the query form). A first segment "2" or "3" sets the version when an
 * identifier remains behind it; otherwise config->iiif_version, 1 answered as 2. Split at raw '/'
 * first, from the right, then each piece is decoded once; raw slashes in identifiers therefore
 * work.
 *
 * What has the shape of an image request (four segments behind the identifier, the last with a '.',
 * and a valid region, size or quality.format among them) is one, and a malformed parameter is
 * TG_ERR_BAD_REQUEST naming it ("region: …"). Everything else is a base URI, so that
 * "a/b/c/d/e.tif" can name a file. TG_ERR_NOT_FOUND when the identifier is empty or ends in a raw
 * slash. */
bool tg_iiif_parse(const tg_config *config, tg_str prefix_path, tg_str rest, tg_arena *arena,
                   tg_iiif *out, tg_err *err);

/* The four parameters of an image request, already split but not decoded. version: 1 to 3; 1 has
 * version 2's and two more names of qualities. extended: with the qualities of IIIF_EXTENSIONS. For
 * tests and reuse. */
bool tg_iiif_parse_params(int version, bool extended, tg_str region, tg_str size, tg_str rotation,
                          tg_str quality_format, tg_arena *arena, tg_job *job, tg_err *err);

/* What an info document tells of an image; independent of its codec. */
typedef struct tg_iiif_image {
    uint32_t width_px, height_px;
    uint32_t tile_w_px, tile_h_px; /* advertised tile, see tg_iiif_advertised_tile */
    bool color;                    /* has colour: `color` quality advertised */
    double dpi_x;                  /* 0 = unknown: no physical dimensions service */
    tg_str copyright; /* the file's rights statement: a URI or any text; empty = COPYRIGHT */
} tg_iiif_image;

/* The absolute id: X-IIIF-ID if it is an http(s) URL, else BASE_URL (which stands for the prefix)
 * and id_path, else the request's origin and base_path. Never a slash at the end. */
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

/* The version to answer an information request in: the one its URI names, else the one whose
 * context Accept names ("…/image/2/context.json"), else the configured one. */
int tg_iiif_info_version(const tg_iiif *iiif, tg_str accept);

/* Content-Type of info.json by version and Accept (checklist section 3). */
tg_str tg_iiif_info_type(int version, tg_str accept);

/* Canonical path behind the id, "full/max/0/default.jpg" (checklist section 14, by version).
 * color: the image has colour. */
tg_str tg_iiif_canonical(int version, const tg_job *job, const tg_geometry *geometry, bool color,
                         tg_arena *arena);

/* Compliance URI "http://iiif.io/api/image/3/level2.json". */
tg_str tg_iiif_profile(int version);

#endif
