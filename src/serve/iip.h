/* Inside of the answers to IIP. */
#ifndef TEGULA_SERVE_IIP_H
#define TEGULA_SERVE_IIP_H

#include "serve/service.h"
#include "tegula/iip.h"
#include "tegula/resolutions.h"

/* The image of FIF and SDS; a '+' in its name that leads nowhere is tried as the blank it stands
 * for in forms. Give back with tg_source_release. */
tg_source *tg_iip_source(tg_service *s, const tg_iip_image *image, tg_err *err);
tg_str tg_iip_with_blanks(tg_str identifier, tg_arena *arena);

/* Calls take with every horizontal view of the image, by its number; at least one. */
typedef bool tg_iip_take(void *ctx, unsigned view, tg_source *source, tg_err *err);
bool tg_iip_each_view(tg_service *s, const tg_iip_image *image, tg_iip_take *take, void *ctx,
                      tg_err *err);

/* The horizontal views of an image, and what they are called: as the file names its pages
 * (TIFF 6.0, PageName) when each has a name of its own, otherwise by their numbers. */
typedef struct tg_iip_views {
    unsigned n;
    unsigned number[TG_VIEWS_MAX];
    tg_str name[TG_VIEWS_MAX];
} tg_iip_views;

/* In the request's arena; NULL on failure. */
const tg_iip_views *tg_iip_views_of(tg_service *s, const tg_iip_image *image, tg_err *err);
/* Empty for a number that is none of them. */
tg_str tg_iip_view_name(const tg_iip_views *views, unsigned number);

/* Tile n of resolution r, as far as it lies in the image. TG_ERR_NOT_FOUND. */
bool tg_iip_tile(const tg_resolutions *all, int64_t r, int64_t n, tg_rect *out, tg_err *err);

/* Region and size of the view or tile that is asked for, put into iip->job. */
bool tg_iip_resolve(tg_iip *iip, const tg_image *image, tg_err *err);

/* See tg_iiif_picture_name. */
tg_str tg_iip_picture_name(tg_service *s, const tg_iip *iip, const tg_source *source,
                           const tg_plan *plan);

/* What stands in front of the identifier in "/path?FIF=x&CNT=2&IIIF=ID", of any such protocol. */
tg_str tg_iip_head(tg_service *s, tg_str path, tg_str query, const tg_iip *iip);
/* Of an output that is another protocol's. */
tg_protocol tg_iip_protocol(const tg_iip *iip);

/* The answers: OBJ, CVT and tiles, TIL, PFL and SPECTRA. tg_answer_objects may find the request
 * wrong. */
bool tg_answer_objects(tg_service *s, const tg_request *request, const tg_iip *iip,
                       tg_iip_error *wrong, tg_response *r, tg_err *err);
bool tg_answer_many_tiles(tg_service *s, const tg_request *request, tg_iip *iip, tg_response *r,
                          tg_err *err);
bool tg_answer_profile(tg_service *s, const tg_request *request, const tg_iip *iip, tg_response *r,
                       tg_err *err);
bool tg_answer_spectrum(tg_service *s, const tg_request *request, const tg_iip *iip, tg_response *r,
                        tg_err *err);

#endif
