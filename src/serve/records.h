/* A reply as FastCGI records. libfcgi's own stream copies into 8 KiB buffers and writes each with a
 * call of its own; here records only frame the bytes where they lie, and a tile leaves in one call.
 */
#ifndef TEGULA_SERVE_RECORDS_H
#define TEGULA_SERVE_RECORDS_H

#include <stdbool.h>

#include "tegula/str.h"

/* Sends head and body as standard output of the request, then its end. False, with errno, when the
 * peer has gone or takes nothing any more. */
bool tg_records_send(int fd, int request_id, tg_str head, tg_str body);

#endif
