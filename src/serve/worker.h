/* One process that answers requests, one at a time. */
#ifndef TEGULA_SERVE_WORKER_H
#define TEGULA_SERVE_WORKER_H

#include <signal.h>

#include "serve/socket.h"
#include "tegula/config.h"

/* Serves until SIGTERM, SIGINT or SIGUSR1, finishing the request in hand; returns the exit status.
 */
int tg_worker_run(const tg_config *config, const tg_listener *listener);

/* Blocks the signals that tegula acts on, so that they wait until somebody asks for them and never
 * interrupt a read, a write or a decoder; ignores SIGPIPE. */
void tg_signals_block(sigset_t *blocked);

#endif
