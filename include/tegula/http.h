/* HTTP as it reaches a FastCGI responder: requests, responses, and the rules between them. Knows
 * nothing of images and nothing of libfcgi. */
#ifndef TEGULA_HTTP_H
#define TEGULA_HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "tegula/arena.h"
#include "tegula/buf.h"
#include "tegula/err.h"
#include "tegula/str.h"

typedef enum tg_method { TG_GET, TG_HEAD, TG_POST, TG_OPTIONS, TG_OTHER_METHOD } tg_method;

#define TG_MAX_URI_BYTES 8192 /* longer paths or queries: 414 */

/* Absent parameters are empty strings. */
typedef struct tg_request {
    tg_method method;
    tg_str uri;   /* REQUEST_URI as received */
    tg_str path;  /* uri up to the first '?', still percent-encoded */
    tg_str query; /* QUERY_STRING as received */
    tg_str https, host, server_name, server_port;
    tg_str forwarded_proto, forwarded_host, forwarded_port, x_iiif_id;
    tg_str accept, if_none_match, if_modified_since;
    tg_str cache_key; /* under which the web server looks for the answer; not from a client */
} tg_request;

/* Fills *out from a lookup of FastCGI parameters (get returns NULL for an absent one; its strings
 * must outlive the request). A REQUEST_URI in absolute form (RFC 9112, 3.2.2) is reduced to its
 * path. TG_ERR_URI_TOO_LONG, TG_ERR_BAD_REQUEST (control bytes in REQUEST_URI). TG_ERR_METHOD is
 * left to the caller, so that the reply can have its headers. */
bool tg_request_read(const char *(*get)(void *ctx, const char *name), void *ctx, tg_request *out,
                     tg_err *err);

/* The scheme and authority clients see, "https://img.example.org:8443", without a slash at the end:
 * X-Forwarded-Proto, -Host, -Port (first of a list), else HTTPS (set and not "off") and Host, else
 * SERVER_NAME and SERVER_PORT. A standard port is left out. Hosts with bytes outside
 * [A-Za-z0-9.:_~-] and brackets are refused: then the next source is used, at last "localhost". */
tg_str tg_request_origin(const tg_request *request, tg_arena *arena);

/* Decodes %XX exactly once; '+' stays a plus. Fails with TG_ERR_BAD_REQUEST ("what" names the part)
 * on a broken escape, an encoded NUL or control byte (< 0x20, 0x7f), or invalid UTF-8. */
bool tg_percent_decode(tg_str s, tg_arena *arena, const char *what, tg_str *out, tg_err *err);

/* Makes s safe inside a URI path: bytes illegal in RFC 3986 pchar or '/' become %XX; what is
 * already an escape stays. */
tg_str tg_uri_clean(tg_str s, tg_arena *arena);

/* The same for a path that may have a query behind it; what is there takes the same bytes. */
tg_str tg_uri_clean_form(tg_str s, tg_arena *arena);

/* An absolute http or https URL of nothing but bytes that RFC 3986 allows in one; safe in headers
 * and between angle brackets. */
bool tg_is_http_url(tg_str s);

/* "Tue, 01 Dec 2026 00:00:00 GMT" (RFC 9110, 5.6.7); buf holds at least 30 bytes. */
void tg_http_date(time_t t, char buf[30]);
/* All three forms of RFC 9110, 5.6.7. False when it is none. */
bool tg_http_date_parse(tg_str s, time_t *out);

/* A strong entity tag of 128 bits from any bytes: `"…"` with the quotes. Not cryptographic. */
tg_str tg_etag(tg_arena *arena, const void *bytes, size_t n);

/* True when the request's validators say the client has this representation: If-None-Match (lists,
 * `*`, weak comparison), else If-Modified-Since (RFC 9110, 13.1.2 and 13.1.3). GET and HEAD only.
 * changed: when the file last changed in any way. A file may be replaced by one that was modified
 * earlier: a date that is not last_modified itself has to be no earlier than that, either. */
bool tg_not_modified(const tg_request *request, tg_str etag, time_t last_modified, time_t changed);

/* Quality in 0..1000 that an Accept header gives a media type: the most specific matching range
 * counts, parameters other than q are ignored; an empty header gives 1000 (RFC 9110, 12.5.1).
 * *specific is set when the type was named itself rather than by a wildcard. */
int tg_accept_quality(tg_str accept, tg_str type, tg_str subtype, bool *specific);

/* Response headers are "Name: value" pairs built in order; values are checked: CR, LF and other
 * control bytes are dropped with the header. */
typedef struct tg_response {
    int status;
    tg_buf head; /* "Name: value\r\n" lines without Status and Content-Length */
    tg_buf body; /* owned; reset for the next request */
} tg_response;

void tg_response_reset(tg_response *r);
void tg_response_free(tg_response *r);
void tg_header(tg_response *r, const char *name, tg_str value);
void tg_header_f(tg_response *r, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Reason phrase of a status. */
const char *tg_status_reason(int status);

/* Looks a header up in r->head (tests, access log); empty when absent. */
tg_str tg_response_header(const tg_response *r, const char *name);

#endif
