/* Errors: the leaf that detects a fault sets it once, callers propagate, serve/status.c maps the
 * kind to an HTTP status. */
#ifndef TEGULA_ERR_H
#define TEGULA_ERR_H

#include <stdbool.h>

typedef enum tg_err_kind {
    TG_ERR_NONE = 0,
    TG_ERR_BAD_REQUEST,     /* malformed or out of range: 400 */
    TG_ERR_NOT_FOUND,       /* no such identifier, page, tile: 404 */
    TG_ERR_METHOD,          /* 405 */
    TG_ERR_TOO_LARGE,       /* would cost more than the ceiling: 413 */
    TG_ERR_URI_TOO_LONG,    /* 414 */
    TG_ERR_ABANDONED,       /* nobody waits for the answer any more: 499, in the log only */
    TG_ERR_NOT_IMAGE,       /* file is no image tegula reads: 415 */
    TG_ERR_CORRUPT,         /* file is damaged, truncated or lies about itself: 500 */
    TG_ERR_IO,              /* file unreadable: 500 */
    TG_ERR_INTERNAL,        /* a library failed where it must not: 500 */
    TG_ERR_NOT_IMPLEMENTED, /* valid, switched off here: 501 */
    TG_ERR_BUSY,            /* out of memory or descriptors: 503 */
    TG_ERR_KINDS
} tg_err_kind;

typedef struct tg_err {
    tg_err_kind kind;
    char msg[192];    /* for the client: no path, no library internals */
    char detail[512]; /* for the log only: may name a path or a library's own words; may be empty */
} tg_err;

/* Sets kind and msg (printf format) and returns false, so that a leaf can `return tg_fail(…)`.
 * Keeps the first error: a second call on an error already set only returns false. err may not be
 * NULL. */
bool tg_fail(tg_err *err, tg_err_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), nonnull(1)));

/* Adds what only the operator may see, once; returns false. */
bool tg_fail_detail(tg_err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), nonnull(1)));

/* Name of a kind for the log, such as "not-found". */
const char *tg_err_kind_name(tg_err_kind kind);

#endif
