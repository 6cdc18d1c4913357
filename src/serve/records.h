/* FastCGI 1.0 as a responder speaks it with a web server: one request at a time, no multiplexing.
 * No library does it here: libfcgi believes the lengths that the peer writes, and dies or writes
 * beyond its memory where they are lies. */
#ifndef TEGULA_SERVE_RECORDS_H
#define TEGULA_SERVE_RECORDS_H

#include <stdbool.h>

#include "tegula/buf.h"

#define TG_MAX_PARAMS_BYTES ((size_t)1 << 20) /* web servers take less of headers */
#define TG_MAX_BODY_BYTES   ((size_t)64 << 10)

/* Section 8: the head of a record, and its types. */
typedef struct tg_record_head {
    unsigned char version, type, request_id[2], content_bytes[2], padding_bytes, reserved;
} tg_record_head;

enum {
    TG_RECORD_BEGIN_REQUEST = 1,
    TG_RECORD_ABORT_REQUEST,
    TG_RECORD_END_REQUEST,
    TG_RECORD_PARAMS,
    TG_RECORD_STDIN,
    TG_RECORD_STDOUT,
    TG_RECORD_GET_VALUES = 9,
    TG_RECORD_GET_VALUES_RESULT,
    TG_RECORD_UNKNOWN_TYPE
};

/* What END_REQUEST says. */
enum { TG_REQUEST_COMPLETE, TG_REQUEST_CANT_MULTIPLEX, TG_REQUEST_UNKNOWN_ROLE = 3 };

tg_record_head tg_record_head_of(unsigned request_id, int type, size_t content_bytes,
                                 size_t padding_bytes);

/* A request as it was sent. {0} is valid; its memory serves one request after the other. */
typedef struct tg_received {
    unsigned request_id;
    bool begun;
    bool keep;       /* the web server wants the connection left open, and nothing waits in it */
    bool has_params; /* all of them */
    bool whole_body; /* to its end */
    tg_buf params;   /* name NUL value NUL, ... */
    tg_buf body;     /* failed: longer than TG_MAX_BODY_BYTES */
} tg_received;

/* Reads a request, up to the end of its body or of what of it is taken. False when the connection
 * brings none, or none that can be understood: it is to be closed. */
bool tg_records_receive(int fd, tg_received *out);
/* NULL when it was not sent. Valid until the next request is read. */
const char *tg_received_param(const tg_received *r, const char *name);
void tg_received_free(tg_received *r);

/* Sends head and body as standard output of the request, then its end. The bytes leave where they
 * lie, a tile in one call. False, with errno, when the peer has gone or takes nothing any more. */
bool tg_records_send(int fd, unsigned request_id, tg_str head, tg_str body);

#endif
