/* The service: request lifecycle, listening socket, worker processes. */
#ifndef TEGULA_SERVE_H
#define TEGULA_SERVE_H

#include <stdbool.h>
#include <stdio.h>

#include "tegula/config.h"
#include "tegula/http.h"
#include "tegula/watermark.h"

/* What one worker holds: configuration, open sources, caches, arena. */
typedef struct tg_service tg_service;

/* mark: NULL = none; it has to outlive the service. */
tg_service *tg_service_new(const tg_config *config, const tg_watermark *mark);
void tg_service_free(tg_service *service);
/* SIGHUP: drop the in-process caches. */
void tg_service_reload(tg_service *service);

/* Answers one request: always a complete response, never fails. request's strings must live until
 * the call returns; response is reset first and is the caller's. */
void tg_service_answer(tg_service *service, const tg_request *request, tg_response *response);

/* When the reply is out, with response as it was: stores the answer where others find it. */
void tg_service_finish(tg_service *service, const tg_response *response);

/* How the last answer was made, in words for the log; may be empty. */
const char *tg_service_how(const tg_service *service);

/* The reply to a request that failed with err, also one that could not be read as a whole (absent
 * parts of request are empty). */
void tg_service_refuse(const tg_service *service, const tg_request *request, const tg_err *err,
                       tg_response *response);

/* --explain: the plan of a URL or path ("/iiif/3/x.tif/full/max/0/default.jpg") as text on out.
 * Returns an exit status: 0 planned, 1 the request would be an error (said on out). */
int tg_serve_explain(const tg_config *config, const char *url, FILE *out);

/* --check-config, beyond tg_config_look: can what the configuration names be read? One line each on
 * report; returns their number. */
unsigned tg_serve_look(const tg_config *config, FILE *report);

/* `tegula purge`: takes away what memcached servers hold of a file, named by its identifier or any
 * URL of it; all there is with NULL. What was done goes to out. Returns an exit status: 0 done, 1 a
 * server could not be reached. */
int tg_serve_purge(const tg_config *config, const char *named, FILE *out);

/* --formats: what this build reads and what it can send. */
void tg_formats_print(FILE *out);

/* HTTP status of an error kind. */
int tg_status_of(tg_err_kind kind);

typedef struct tg_serve_options {
    const char *bind;     /* see tg_listen in src/serve/socket.h; NULL for descriptor 0 */
    int backlog;          /* 1..65535 */
    int workers;          /* 0: serve in this process; N: supervise N forked workers */
    unsigned socket_mode; /* of a Unix socket */
} tg_serve_options;

/* Whether there is a socket to serve on; false after one line on standard error that says what is
 * needed. For programs started by hand. */
bool tg_serve_has_socket(const tg_serve_options *options);

/* Serves until SIGTERM, SIGINT or SIGUSR1; returns the exit status: 0 stopped, 1 could not start,
 * which one line on standard error explains. The log is already open. */
int tg_serve(const tg_config *config, const tg_serve_options *options);

#endif
