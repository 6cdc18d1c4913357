/* One process that answers requests, one at a time. */
#ifndef TEGULA_SERVE_WORKER_H
#define TEGULA_SERVE_WORKER_H

#include <signal.h>

#include "serve/socket.h"
#include "tegula/config.h"
#include "tegula/watermark.h"

/* What all workers have in common, and outlives them. */
typedef struct tg_common {
    const tg_config *config;
    const tg_watermark *mark; /* NULL: none */
    const tg_listener *listener;
} tg_common;

/* Serves until SIGTERM, SIGINT or SIGUSR1, finishing the request in hand; returns the exit status.
 */
int tg_worker_run(const tg_common *common);

/* Blocks the signals that tegula acts on, so that they wait until somebody asks for them and never
 * interrupt a read, a write or a decoder; ignores SIGPIPE. */
void tg_signals_block(sigset_t *blocked);

#endif
