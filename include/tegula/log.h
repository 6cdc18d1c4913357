/* The log: a file in append mode, syslog, or standard error. One line per call, written with one
 * write(2), so lines of several workers never mix. Control bytes in arguments are escaped. */
#ifndef TEGULA_LOG_H
#define TEGULA_LOG_H

#include <stdbool.h>

#include "tegula/str.h"

/* VERBOSITY at and above which a line is written. */
typedef enum tg_log_level {
    TG_LOG_ERROR = 1, /* start, stop, errors */
    TG_LOG_REQUEST = 2,
    TG_LOG_PLAN = 3, /* how a request was answered, timings of its stages */
    TG_LOG_DEBUG = 4
} tg_log_level;

/* target: path, "syslog", or "" for standard error. An unwritable path falls back to standard error
 * with a line saying so. Call again for SIGHUP (tg_log_reopen). */
void tg_log_open(const char *target, int verbosity);
void tg_log_reopen(void);
bool tg_log_wants(tg_log_level level);
void tg_log(tg_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What this process is busy with, the path of a request; empty for nothing. A view, in use until
 * the next call. */
void tg_log_about(tg_str what);
/* A line of TG_LOG_ERROR by code that knows bytes of a file, and not which file: what the process
 * is busy with stands behind it in brackets. */
void tg_log_file(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
