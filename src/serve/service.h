/* Inside of the service, shared by the files that answer requests. */
#ifndef TEGULA_SERVE_SERVICE_H
#define TEGULA_SERVE_SERVICE_H

#include "tegula/arena.h"
#include "tegula/cache.h"
#include "tegula/iiif.h"
#include "tegula/plan.h"
#include "tegula/serve.h"
#include "tegula/source.h"
#include "tegula/tiles.h"

/* What is left to do when the reply is out: nobody waits for it then. */
typedef struct tg_after {
    tg_cache_key key;
    bool locked; /* others wait for this answer */
    bool store;
    bool is_picture;
    tg_str type;
    int64_t modified_s;
    tg_str plain_key; /* for a web server to find the body by; empty: not asked for */
    /* what to remember of the request's words, see tg_answer_remembered */
    tg_str words, canonical, ending;
} tg_after;

struct tg_service {
    const tg_config *config;
    const tg_watermark *mark; /* NULL: none */
    tg_sources *sources;
    tg_cache *cache;
    tg_arena *lasting; /* as long as the service */
    tg_arena *arena;   /* reset before each request */
    tg_str settings;   /* see tg_answer_settings */
    tg_after after;
    const char *how; /* the answer was made, for the log */
};

/* Where a request goes: to the home page, or to a protocol with the text split into what stood in
 * front ("/iiif/", "/fcgi-bin/tegula?IIIF=") and the rest, still percent-encoded. */
typedef struct tg_route {
    bool home;
    tg_protocol protocol;
    tg_str head, rest;
} tg_route;

/* A URL or path without scheme and authority, split at its first '?'. */
void tg_url_split(const char *url, tg_str *path, tg_str *query);

/* A path below a prefix of URI_MAP (the longest that ends at a slash or at the path's end), else
 * "IIIF=…" as the query, else the query as commands of IIP, whatever the path. Of IIP rest is a
 * whole query. TG_ERR_NOT_FOUND for what is no address at all. */
bool tg_route_find(const tg_config *config, tg_str path, tg_str query, tg_arena *arena,
                   tg_route *out, tg_err *err);

/* A IIIF request, parsed from the mapped path; fills the response or sets err. modifiers: of IIP,
 * in front of it; NULL = none. */
bool tg_answer_iiif(tg_service *service, const tg_request *request, tg_str head, tg_str rest,
                    const tg_job *modifiers, tg_response *response, tg_err *err);

/* Addresses hold what a client's headers said of scheme and host; those of IIIF rather what
 * X-IIIF-ID says. Where some did, a shared cache must not give the answer to others (RFC 9110,
 * section 12.5.5). Where BASE_URL decides, they say nothing. */
typedef enum tg_vary {
    TG_VARY_ORIGIN = 0,
    TG_VARY_ID = 1,    /* X-IIIF-ID before scheme and host */
    TG_VARY_ACCEPT = 2 /* the Accept header in any case */
} tg_vary;

void tg_answer_vary(tg_service *service, const tg_request *request, unsigned on,
                    tg_response *response);

/* A request of Deep Zoom, Zoomify or XYZ; as tg_answer_iiif. */
bool tg_answer_tiles(tg_service *service, const tg_request *request, tg_protocol protocol,
                     tg_str head, tg_str rest, const tg_job *modifiers, tg_response *response,
                     tg_err *err);

/* A request of IIP: its commands, raw. */
bool tg_answer_iip(tg_service *service, const tg_request *request, tg_str query,
                   tg_response *response, tg_err *err);

#define TG_ALLOW "GET, HEAD, POST, OPTIONS"

/* The reply to a request that failed, with err's text as body. */
void tg_answer_refusal(const tg_request *request, const tg_err *err, const char *media_type,
                       tg_response *response);

/* Squares as wide as the file's own tiles, where it has any that are worth keeping. */
tg_tiles_image tg_tiles_over(const tg_config *config, tg_protocol protocol, tg_image *image);

/* What tells a picture from all others of its file, by protocol. */
tg_str tg_iiif_picture_name(tg_service *service, const tg_iiif *iiif, const tg_plan *plan,
                            bool color);
tg_str tg_tiles_picture_name(tg_service *service, const tg_tiles *tiles,
                             const tg_tiles_image *image, const tg_source *source,
                             const tg_job *job);

/* Puts the watermark into the plan of the picture of that name. */
bool tg_answer_mark(tg_service *service, const tg_source *source, tg_plan *plan, tg_str what,
                    tg_err *err);

/* The picture that a plan of source gives: 200, or 304 when the client has it. what: its name.
 * identifier: for the name to save it under. */
bool tg_answer_picture(tg_service *service, const tg_request *request, tg_source *source,
                       tg_plan *plan, tg_str what, tg_str identifier, tg_response *response,
                       tg_err *err);

/* Everything of the configuration that shapes pixels and what is embedded beside them. Sizes are a
 * part of what is asked. Hosts that share a cache have to agree on it to share answers. */
tg_str tg_answer_settings(const tg_config *config, const tg_watermark *mark, tg_arena *arena);

/* What tells an answer of a file from all others: on all hosts the same that have the same file
 * under the same name, and that are configured alike. */
tg_cache_key tg_answer_key(tg_service *service, const tg_identity *identity, tg_str what);

/* The key of such a text. */
tg_cache_key tg_answer_key_of(tg_service *service, tg_str text, tg_str file);

/* The key's hash in its quotes, between which tg_answer_key has left it. */
static inline tg_str tg_answer_etag(const tg_cache_key *key)
{
    return (tg_str){key->hash.p - 1, key->hash.n + 2};
}

/* A picture of IIIF by the very words of its request and what the file looks like from outside:
 * when somebody has asked so before, its key is known without opening the file. False when it is
 * not, or the picture is no longer there; nothing has been answered then. */
bool tg_answer_remembered(tg_service *service, const tg_request *request, const tg_iiif *iiif,
                          tg_str words, tg_response *response);

/* For the next one who asks so; when the reply is out. */
void tg_answer_remember(tg_service *service);

/* Link and Vary of a picture. */
void tg_answer_iiif_headers(tg_service *service, const tg_request *request, const tg_iiif *iiif,
                            tg_str canonical, tg_response *response);

/* What answers have beside the body when it is there. */
void tg_answer_found(tg_service *service, const tg_request *request, tg_str media_type,
                     tg_str identifier, tg_str ending, tg_response *response);

/* ETag and Last-Modified of what a file, an address and the configuration give; sets both headers
 * and Cache-Control, and answers 304 (returning true) when the client has it already. */
bool tg_answer_validators(tg_service *service, const tg_request *request,
                          const tg_identity *identity, tg_str what, tg_response *response);

/* Validators and type around a body that is text; what: tells it from others of the file, the body
 * itself when empty. */
void tg_answer_text(tg_service *s, const tg_request *request, const tg_source *source, tg_str what,
                    const char *media_type, tg_response *r);

/* As tg_answer_validators, for a tag that is known already. */
bool tg_answer_tagged(tg_service *service, const tg_request *request, const tg_identity *identity,
                      tg_str etag, tg_response *response);

/* The name to save a picture under: the identifier's file name without extension, and ending. A
 * second, encoded form stands beside it for names that ASCII cannot hold (RFC 6266, section 4.3).
 */
void tg_answer_disposition(tg_arena *arena, bool attachment, tg_str identifier, tg_str ending,
                           tg_response *response);

/* See tg_serve_explain. */
int tg_service_explain(tg_service *service, const char *url, FILE *out);

/* The short page for load balancers and the curious. */
void tg_answer_home(tg_response *response);

#endif
