/* Inside of the service, shared by the files that answer requests. */
#ifndef TEGULA_SERVE_SERVICE_H
#define TEGULA_SERVE_SERVICE_H

#include "tegula/arena.h"
#include "tegula/iiif.h"
#include "tegula/serve.h"
#include "tegula/source.h"

struct tg_service {
    const tg_config *config;
    tg_sources *sources;
    tg_arena *arena; /* reset before each request */
};

/* The map that a path falls under: the longest prefix that ends at a slash or at the path's end.
 * *head: "/iiif/" as received, *rest: what stands behind it. NULL when there is none. */
const tg_uri_map *tg_route(const tg_config *config, tg_str path, tg_str *head, tg_str *rest);

/* A IIIF request, parsed from the mapped path; fills the response or sets err. */
bool tg_answer_iiif(tg_service *service, const tg_request *request, tg_str head, tg_str rest,
                    tg_response *response, tg_err *err);

/* ETag and Last-Modified of what a file, an address and the configuration give; sets both headers
 * and Cache-Control, and answers 304 (returning true) when the client has it already. */
bool tg_answer_validators(tg_service *service, const tg_request *request,
                          const tg_identity *identity, tg_str what, tg_response *response);

/* The short page for load balancers and the curious. */
void tg_answer_home(tg_response *response);

#endif
