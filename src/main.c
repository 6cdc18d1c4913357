/* argv and nothing else. */
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tegula/config.h"
#include "tegula/log.h"
#include "tegula/num.h"
#include "tegula/serve.h"

#define EXIT_USAGE  2
#define MAX_WORKERS 1024

extern char **environ;

static const char usage[] =
    "Usage: tegula [OPTION]...\n"
    "       tegula purge ID|URL... | --all\n"
    "A FastCGI image server for IIIF, between a web server and files of many formats.\n"
    "\n"
    "  --bind ADDRESS     listen on HOST:PORT, [IPv6]:PORT, :PORT or the path of a Unix socket;\n"
    "                     without it the socket is descriptor 0, as a web server passes it\n"
    "  --backlog N        connections that may wait, 1 to 65535 (2048)\n"
    "  --socket-mode MODE access to the Unix socket, octal (0660)\n"
    "  --workers N        processes that serve, 1 to 1024; without it this process serves\n"
    "  --check-config     print the configuration in force; exit status 1 if anything is wrong\n"
    "  --explain URL      print how an image URL would be answered\n"
    "  --formats          print what is read and what can be sent\n"
    "  --help, --version\n"
    "\n"
    "purge takes away what memcached servers hold of images, or all that is tegula's.\n"
    "\n"
    "Everything else is set by environment variables such as FILESYSTEM_PREFIX: see tegula(8).\n";

/* tegula purge ID|URL...; tegula purge --all */
static int purge(int n, char **named)
{
    tg_config config;
    int status = 0;
    bool all = n == 1 && strcmp(named[0], "--all") == 0;
    for (int i = 0; i < n && !all; i++)
        if (named[i][0] == '-' || !named[i][0])
            n = 0;
    if (n < 1) {
        fputs("tegula: purge takes identifiers or URLs of images, or --all\n", stderr);
        return EXIT_USAGE;
    }
    tg_config_read(&config, environ, stderr);
    if (all)
        return tg_serve_purge(&config, NULL, stdout);
    for (int i = 0; i < n; i++)
        status |= tg_serve_purge(&config, named[i], stdout);
    return status;
}

typedef enum action {
    ACT_SERVE,
    ACT_CHECK,
    ACT_EXPLAIN,
    ACT_FORMATS,
    ACT_HELP,
    ACT_VERSION
} action;

typedef struct arguments {
    action action;
    const char *url;
    tg_serve_options serve;
} arguments;

static bool complain(const char *option, const char *value, const char *allowed)
{
    fprintf(stderr, "tegula: --%s %s: allowed is %s\n", option, value, allowed);
    return false;
}

static bool parse_count(const char *value, int highest, int *out)
{
    uint64_t n;
    if (!tg_parse_u64(tg_str_of(value), &n) || n < 1 || n > (uint64_t)highest)
        return false;
    *out = (int)n;
    return true;
}

static bool parse_mode(const char *value, unsigned *out)
{
    size_t digits = strspn(value, "01234567");
    if (digits < 1 || digits > 4 || value[digits])
        return false;
    *out = (unsigned)strtoul(value, NULL, 8); /* lint:allow octal, checked above */
    return *out <= 0777;
}

static bool take_option(int option, const char *value, arguments *out)
{
    switch (option) {
    case 'b':
        out->serve.bind = value;
        return value[0] || complain("bind", "\"\"", "HOST:PORT or a path");
    case 'l':
        return parse_count(value, 65535, &out->serve.backlog) ||
               complain("backlog", value, "1 to 65535");
    case 'w':
        return parse_count(value, MAX_WORKERS, &out->serve.workers) ||
               complain("workers", value, "1 to 1024");
    case 'm':
        return parse_mode(value, &out->serve.socket_mode) ||
               complain("socket-mode", value, "an octal mode up to 0777");
    case 'e':
        out->action = ACT_EXPLAIN;
        out->url = value;
        return true;
    case 'c':
        out->action = ACT_CHECK;
        return true;
    case 'f':
        out->action = ACT_FORMATS;
        return true;
    case 'h':
        out->action = ACT_HELP;
        return true;
    case 'v':
        out->action = ACT_VERSION;
        return true;
    default:
        return false; /* getopt has said why */
    }
}

static bool parse_arguments(int argc, char **argv, arguments *out)
{
    static const struct option options[] = {
        {"bind", required_argument, NULL, 'b'},    {"backlog", required_argument, NULL, 'l'},
        {"workers", required_argument, NULL, 'w'}, {"socket-mode", required_argument, NULL, 'm'},
        {"explain", required_argument, NULL, 'e'}, {"check-config", no_argument, NULL, 'c'},
        {"formats", no_argument, NULL, 'f'},       {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},       {NULL, 0, NULL, 0},
    };
    int option;
    *out = (arguments){.serve = {.backlog = 2048, .socket_mode = 0660}};
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (!take_option(option, optarg, out))
            return false;
    if (optind == argc)
        return true;
    fprintf(stderr, "tegula: %s: there are only options, see --help\n", argv[optind]);
    return false;
}

static int check_config(void)
{
    tg_config config;
    unsigned problems = tg_config_read(&config, environ, stderr);
    problems += tg_config_look(&config, stderr);
    problems += tg_serve_look(&config, stderr);
    tg_config_print(&config, environ, stdout);
    return problems ? 1 : 0;
}

static int explain(const char *url)
{
    tg_config config;
    tg_config_read(&config, environ, stderr);
    return tg_serve_explain(&config, url, stdout);
}

static void log_lines(char *text)
{
    for (char *next, *line = text; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        tg_log(TG_LOG_ERROR, "%s", line);
    }
}

/* What is wrong with the configuration goes to the log that the configuration names. */
static int serve(const tg_serve_options *options)
{
    tg_config config;
    char *text = NULL;
    size_t n = 0;
    if (!tg_serve_has_socket(options))
        return 1;
    FILE *report = open_memstream(&text, &n);
    tg_config_read(&config, environ, report);
    if (report) {
        tg_config_look(&config, report);
        fclose(report);
    }
    tg_log_open(config.log_file, config.verbosity);
    log_lines(text ? text : (char[]){""});
    free(text);
    return tg_serve(&config, options);
}

/* Nothing opened later may become standard input, output or error. */
static void fill_standard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    arguments args;
    fill_standard_descriptors();
    if (argc > 1 && strcmp(argv[1], "purge") == 0)
        return purge(argc - 2, argv + 2);
    if (!parse_arguments(argc, argv, &args))
        return EXIT_USAGE;
    switch (args.action) {
    case ACT_HELP:
        fputs(usage, stdout);
        return 0;
    case ACT_VERSION:
        puts("tegula " PACKAGE_VERSION);
        return 0;
    case ACT_CHECK:
        return check_config();
    case ACT_EXPLAIN:
        return explain(args.url);
    case ACT_FORMATS:
        tg_formats_print(stdout);
        return 0;
    case ACT_SERVE:
        break;
    }
    return serve(&args.serve);
}
