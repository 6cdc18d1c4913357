#include "tegula/serve.h"

#include <unistd.h>

#include "serve/socket.h"
#include "serve/supervisor.h"
#include "serve/worker.h"
#include "tegula/cache.h"
#include "tegula/log.h"

/* Whoever starts the service reads standard error, whatever LOGFILE and VERBOSITY say. */
static int refuse_start(const tg_config *config, const tg_err *err)
{
    fprintf(stderr, "tegula: %s\n", err->msg);
    if (config->log_file[0])
        tg_log(TG_LOG_ERROR, "not started: %s", err->msg);
    return 1;
}

bool tg_serve_has_socket(const tg_serve_options *options)
{
    bool has = options->bind || tg_is_listening(STDIN_FILENO);
    if (!has)
        fputs("tegula: no socket: start it from a web server, or with --bind (see --help)\n",
              stderr);
    return has;
}

int tg_serve(const tg_config *config, const tg_serve_options *options)
{
    tg_listener listener;
    tg_err err = {0};
    bool ok = options->bind ? tg_listen(options->bind, options->backlog, options->socket_mode,
                                        &listener, &err)
                            : tg_listen_inherited(&listener, &err);
    if (!ok)
        return refuse_start(config, &err);
    tg_log(TG_LOG_ERROR, "tegula " PACKAGE_VERSION " started on %s",
           options->bind ? options->bind : "descriptor 0");
    tg_cache_share_among_workers();
    int status = options->workers ? tg_supervise(config, &listener, (unsigned)options->workers)
                                  : tg_worker_run(config, &listener);
    tg_listener_close(&listener);
    tg_log(TG_LOG_ERROR, "tegula stopped");
    return status;
}
