/* What parses and still cannot be right: looked for once, at start, in the file system. */
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "tegula/config.h"

typedef struct look {
    FILE *report;
    unsigned problems;
} look;

static void say(look *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(look *l, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vfprintf(l->report, fmt, ap);
    va_end(ap);
    l->problems++;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Is what stands up to the last slash a folder? A path without a slash lies in the current one. */
static bool has_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    if (n == 0 || n >= sizeof folder)
        return n == 0;
    memcpy(folder, path, n);
    folder[n] = '\0';
    return is_folder(folder);
}

static void look_at_prefix(look *l, const char *prefix)
{
    size_t n = strlen(prefix);
    if (n == 0)
        return;
    if (strchr("\"'", prefix[0]) || strchr("\"'", prefix[n - 1]))
        say(l, "FILESYSTEM_PREFIX=%s: the quotes are taken as part of the path\n", prefix);
    else if (prefix[0] != '/')
        say(l, "FILESYSTEM_PREFIX=%s: depends on where tegula is started; begin it with /\n",
            prefix);
    else if (!has_folder(prefix))
        say(l, "FILESYSTEM_PREFIX=%s: no such folder\n", prefix);
    else if (prefix[n - 1] != '/' && is_folder(prefix))
        say(l, "FILESYSTEM_PREFIX=%s: a folder needs a slash at its end\n", prefix);
}

static void look_at_log(look *l, const char *target)
{
    if (!target[0] || strcmp(target, "syslog") == 0)
        return;
    if (tg_str_eq_nocase(tg_str_of(target), TG_STR("syslog")))
        say(l, "LOGFILE=%s: is syslog meant?\n", target);
    else if (is_folder(target))
        say(l, "LOGFILE=%s: is a folder\n", target);
    else if (!has_folder(target))
        say(l, "LOGFILE=%s: no such folder\n", target);
}

static void look_at_base_url(look *l, const char *url)
{
    tg_str s = tg_str_of(url);
    if (!s.n)
        return;
    if (!tg_str_starts(s, TG_STR("http://")) && !tg_str_starts(s, TG_STR("https://")))
        say(l, "BASE_URL=%s: does not begin with http:// or https://\n", url);
    else if (strpbrk(url, "?#"))
        say(l, "BASE_URL=%s: identifiers cannot follow a ? or #\n", url);
}

unsigned tg_config_look(const tg_config *config, FILE *report)
{
    look l = {report, 0};
    look_at_prefix(&l, config->filesystem_prefix);
    look_at_log(&l, config->log_file);
    look_at_base_url(&l, config->base_url);
    return l.problems;
}
