#include "tegula/serve.h"

#include <unistd.h>

#include "serve/service.h"
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

/* Before there are workers, so that they share its pages. report: NULL = the log. */
static tg_watermark *read_mark(const tg_config *config, FILE *report)
{
    static const char line[] = "WATERMARK=%s: %s; pictures go out without it";
    tg_err err = {0};
    tg_watermark *mark = tg_watermark_read(config, &err);
    if (!err.kind)
        return mark;
    if (report) {
        fprintf(report, line, config->watermark, err.msg);
        fputc('\n', report);
    } else {
        tg_log(TG_LOG_ERROR, line, config->watermark, err.msg);
    }
    return NULL;
}

unsigned tg_serve_look(const tg_config *config, FILE *report)
{
    tg_watermark *mark = read_mark(config, report);
    bool missed = config->watermark[0] && !mark;
    tg_watermark_free(mark);
    return missed ? 1 : 0;
}

int tg_serve_explain(const tg_config *config, const char *url, FILE *out)
{
    tg_watermark *mark = read_mark(config, stderr);
    tg_service *service = tg_service_new(config, mark);
    int status = tg_service_explain(service, url, out);
    tg_service_free(service);
    tg_watermark_free(mark);
    return status;
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
    tg_watermark *mark = read_mark(config, NULL);
    const tg_common common = {config, mark, &listener};
    int status = options->workers ? tg_supervise(&common, (unsigned)options->workers)
                                  : tg_worker_run(&common);
    tg_watermark_free(mark);
    tg_listener_close(&listener);
    tg_log(TG_LOG_ERROR, "tegula stopped");
    return status;
}
