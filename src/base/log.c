#include "tegula/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "tegula/num.h"

#define LINE_BYTES 4096

/* Process-lifetime: where the log goes. */
static struct {
    const char *target;
    int fd;
    int verbosity;
    bool to_syslog;
    tg_str about;
} log_state = {.target = "", .fd = STDERR_FILENO, .verbosity = TG_LOG_ERROR};

static void open_target(void)
{
    if (log_state.fd != STDERR_FILENO)
        close(log_state.fd);
    log_state.fd = STDERR_FILENO;
    log_state.to_syslog = strcmp(log_state.target, "syslog") == 0;
    if (log_state.to_syslog) {
        openlog("tegula", LOG_PID, LOG_DAEMON);
        return;
    }
    if (!log_state.target[0])
        return;
    int fd = open(log_state.target, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0640);
    if (fd >= 0)
        log_state.fd = fd;
    else
        tg_log(TG_LOG_ERROR, "LOGFILE %s cannot be opened (%s), logging to standard error",
               log_state.target, strerror(errno));
}

void tg_log_open(const char *target, int verbosity)
{
    log_state.target = target ? target : "";
    log_state.verbosity = verbosity;
    open_target();
}

void tg_log_reopen(void)
{
    open_target();
}

bool tg_log_wants(tg_log_level level)
{
    return log_state.verbosity >= (int)level;
}

/* Bytes below blank and DEL become \xNN, so that no argument can forge a line. */
static size_t escaped(char *dst, size_t cap, const char *src)
{
    static const char hex[] = "0123456789abcdef";
    size_t n = 0;
    for (; *src && n + 5 < cap; src++) {
        unsigned char c = (unsigned char)*src;
        if (c >= 0x20 && c != 0x7f) {
            dst[n++] = (char)c;
            continue;
        }
        memcpy(dst + n, "\\x", 2);
        dst[n + 2] = hex[c >> 4];
        dst[n + 3] = hex[c & 15];
        n += 4;
    }
    return n;
}

void tg_log(tg_log_level level, const char *fmt, ...)
{
    char text[LINE_BYTES], line[LINE_BYTES + 64];
    if (!tg_log_wants(level))
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t n = 0;
    if (!log_state.to_syslog) {
        struct timespec now;
        struct tm tm;
        clock_gettime(CLOCK_REALTIME, &now);
        gmtime_r(&now.tv_sec, &tm);
        n = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S", &tm);
        n += (size_t)snprintf(line + n, sizeof line - n, ".%03ldZ [%d] ", now.tv_nsec / 1000000,
                              (int)getpid());
    }
    n += escaped(line + n, sizeof line - n - 1, text);
    if (log_state.to_syslog) {
        syslog(level == TG_LOG_ERROR ? LOG_ERR : LOG_INFO, "%.*s", (int)n, line);
        return;
    }
    line[n++] = '\n';
    if (write(log_state.fd, line, n) < 0)
        return; /* a full disk must not stop the service */
}

void tg_log_about(tg_str what)
{
    log_state.about = what;
}

void tg_log_file(const char *fmt, ...)
{
    char text[LINE_BYTES];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (log_state.about.n)
        tg_log(TG_LOG_ERROR, "%s (%.*s)", text, TG_STR_ARG(log_state.about));
    else
        tg_log(TG_LOG_ERROR, "%s", text);
}
