/* Several workers on one socket. */
#ifndef TEGULA_SERVE_SUPERVISOR_H
#define TEGULA_SERVE_SUPERVISOR_H

#include "serve/worker.h"

/* Forks n workers and keeps that many: one that dies is replaced, after a pause that doubles while
 * they die young. SIGHUP is passed on; SIGTERM, SIGINT and SIGUSR1 stop all workers, which finish
 * the requests they have. Returns the exit status. */
int tg_supervise(const tg_common *common, unsigned n);

#endif
