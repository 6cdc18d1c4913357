/* Every kind of setting, good and bad, with the value that is then in force; and that the manual
 * page tells all of them. */
#include <stdlib.h>

#include "check.h"
#include "tegula/config.h"
#include "tegula/num.h"

#define MAX_SET 8

typedef struct outcome {
    tg_config config;
    unsigned problems;
    char report[4096];
} outcome;

/* FILESYSTEM_PREFIX is added, so that its absence is no problem everywhere. */
static void read_env(char *const set[], outcome *out)
{
    char *envp[MAX_SET + 2] = {(char[]){"FILESYSTEM_PREFIX=/srv/"}};
    for (int i = 0; set[i]; i++)
        envp[i + 1] = set[i];
    memset(out->report, 0, sizeof out->report);
    FILE *report = fmemopen(out->report, sizeof out->report, "w");
    out->problems = tg_config_read(&out->config, envp, report);
    fclose(report);
}

#define READ(out, ...) read_env((char *const[]){__VA_ARGS__, NULL}, out)

/* The value in force as tg_config_print shows it. */
static void shown(const tg_config *config, const char *name, char *value, size_t size)
{
    char *text = NULL, *const none[] = {NULL};
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    tg_config_print(config, none, out);
    fclose(out);
    value[0] = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *end = strstr(line, "   (");
        size_t k = strlen(name);
        if (strncmp(line, name, k) != 0 || strncmp(line + k, " = ", 3) != 0 || !end)
            continue;
        snprintf(value, size, "%.*s", (int)(end - line - (int)k - 3), line + k + 3);
    }
    free(text);
}

static const struct {
    const char *set;   /* NAME=value */
    unsigned problems; /* 0 or 1 */
    const char *value; /* in force */
} rows[] = {
    {"VERBOSITY=0", 0, "0"},
    {"VERBOSITY=6", 0, "6"},
    {"VERBOSITY=-1", 1, "0"},
    {"VERBOSITY=10", 1, "6"},
    {"VERBOSITY=two", 1, "1"},
    {"VERBOSITY=", 1, "1"},
    {"VERBOSITY= 2 ", 0, "2"},
    {"LOGFILE=syslog", 0, "syslog"},
    {"FILESYSTEM_SUFFIX=.tif", 0, ".tif"},
    {"FOLLOW_SYMLINKS=0", 0, "0"},
    {"FOLLOW_SYMLINKS=-7", 0, "1"}, /* any other whole number is yes */
    {"FOLLOW_SYMLINKS=no", 1, "1"},
    {"MAX_METADATA_CACHE_SIZE=-1", 0, "-1"},
    {"MAX_METADATA_CACHE_SIZE=-2", 1, "-1"},
    {"MAX_METADATA_CACHE_SIZE=0", 0, "0"},
    {"MAX_METADATA_CACHE_SIZE=99999999999", 1, "2147483647"},
    {"JPEG_QUALITY=1", 0, "1"},
    {"JPEG_QUALITY=100", 0, "100"},
    {"JPEG_QUALITY=0", 1, "1"},
    {"JPEG_QUALITY=101", 1, "100"},
    {"JPEG_QUALITY=80.5", 1, "75"},
    {"JPEG_QUALITY=99999999999999999999", 1, "75"},
    {"JPEG_QUALITY=0x50", 1, "75"},
    {"PNG_QUALITY=9", 0, "9"},
    {"PNG_QUALITY=10", 1, "9"},
    {"WEBP_QUALITY=-1", 0, "-1"},
    {"WEBP_QUALITY=-2", 1, "-1"},
    {"WEBP_QUALITY=100", 0, "100"},
    {"TIFF_COMPRESSION=5", 0, "5"},
    {"TIFF_COMPRESSION=6", 1, "5"},
    {"TIFF_COMPRESSION=lzw", 1, "2"},
    {"TIFF_QUALITY=-1", 1, "0"},
    {"MAX_CVT=-1", 0, "-1"},
    {"MAX_CVT=0", 0, "5000"},
    {"MAX_CVT=1", 0, "1"},
    {"MAX_CVT=-2", 1, "1"},
    {"MAX_CVT=2147483648", 1, "2147483647"},
    {"MAX_CVT=big", 1, "5000"},
    {"MEMORY_LIMIT=64", 0, "64"},
    {"MEMORY_LIMIT=63", 1, "64"},
    {"MEMORY_LIMIT=0", 1, "64"},
    {"MEMORY_LIMIT=4096", 0, "4096"},
    {"ALLOW_UPSCALING=0", 0, "0"},
    {"INTERPOLATION=0", 0, "0"},
    {"INTERPOLATION=1", 0, "1"},
    {"INTERPOLATION=3", 1, "2"},
    {"INTERPOLATION=-1", 1, "2"},
    {"OVERSAMPLING_FACTOR=1.5", 0, "1.5"},
    {"OVERSAMPLING_FACTOR=2.5", 1, "2"},
    {"OVERSAMPLING_FACTOR=0", 1, "1"},
    {"OVERSAMPLING_FACTOR=1e0", 1, "1"},
    {"CODEC_PASSTHROUGH=0", 0, "0"},
    {"BACKGROUND=#0a0B0c", 0, "#0a0b0c"},
    {"BACKGROUND=10, 11,12", 0, "#0a0b0c"},
    {"BACKGROUND=#0a0b0", 1, "#ffffff"},
    {"BACKGROUND=#0a0b0g", 1, "#ffffff"},
    {"BACKGROUND=1,2", 1, "#ffffff"},
    {"BACKGROUND=1,2,3,4", 1, "#ffffff"},
    {"BACKGROUND=1,2,256", 1, "#ffffff"},
    {"CACHE_CONTROL=", 0, ""},
    {"CACHE_CONTROL=no-cache", 0, "no-cache"},
    {"CACHE_CONTROL=a\nSet-Cookie: b", 1, "max-age=86400"},
    {"CORS=*", 0, "*"},
    {"CORS=*\r\nX: y", 1, ""},
    {"BASE_URL=https://cdn.example.org/iiif", 0, "https://cdn.example.org/iiif"},
    {"BASE_URL=", 0, ""},
    {"BASE_URL=cdn.example.org", 1, ""},
    {"URI_MAP=iiif=>IIIF", 0, "iiif=>IIIF"},
    {"URI_MAP=/a/b/=>iiif, =>IIIF", 0, "a/b=>IIIF, =>IIIF"},
    {"URI_MAP=", 0, "iiif=>IIIF"},
    {"URI_MAP=iiif=>ABC", 1, "iiif=>IIIF"},
    {"URI_MAP=iiif", 1, "iiif=>IIIF"},
    {"URI_MAP=x=>IIIF, y", 1, "x=>IIIF"},
    {"URI_MAP=x=>IIIF, x=>IIP", 1, "x=>IIIF"},
    {"IIIF_VERSION=2", 0, "2"},
    {"IIIF_VERSION=1", 0, "1"},
    {"IIIF_VERSION=0", 1, "3"},
    {"IIIF_VERSION=4", 1, "3"},
    {"IIIF_DELIMITER=;;", 0, ";;"},
    {"COPYRIGHT=\xc2\xa9 Library", 0, "\xc2\xa9 Library"},
    {"MAX_IMAGE_CACHE_SIZE=0.5", 0, "0.5"},
    {"MAX_IMAGE_CACHE_SIZE=-1", 1, "0"},
    {"MEMCACHED_TIMEOUT=60", 0, "60"},
    {"MEMCACHED_TIMEOUT=-1", 1, "0"},
    {"MEMCACHED_CONNECT_TIMEOUT=0", 1, "1"},
    {"MEMCACHED_POLL_TIMEOUT=25", 0, "25"},
    {"MEMCACHED_SERVERS=10.0.0.1, cache:11212,[::1]:9,/run/m.sock,unix:/run/m", 0,
     "10.0.0.1, cache:11212,[::1]:9,/run/m.sock,unix:/run/m"},
    {"MEMCACHED_SERVERS=10.0.0.1:", 1, ""},
    {"MEMCACHED_SERVERS=cache:0", 1, ""},
    {"MEMCACHED_SERVERS=a,,b", 1, ""},
    {"MEMCACHED_SERVERS=::1", 1, ""},
    {"MEMCACHED_SERVERS=[::1]9", 1, ""},
    {"MEMCACHED_SERVERS=[]:9", 1, ""},
    {"DISABLE_PRIMARY_MEMCACHE=1", 0, "1"},
    {"CACHE_LAYOUT=nginx", 0, "nginx"},
    {"CACHE_LAYOUT=varnish", 1, ""},
};

static void test_values(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char set[256], name[64], value[256];
        outcome o;
        snprintf(set, sizeof set, "%s", rows[i].set);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(set, "="), set);
        READ(&o, set);
        shown(&o.config, name, value, sizeof value);
        if (o.problems != rows[i].problems || strcmp(value, rows[i].value) != 0)
            printf("in row %zu, %s:\n", i, rows[i].set);
        CHECK_INT(o.problems, rows[i].problems);
        CHECK_TEXT(value, strlen(value), rows[i].value);
        if (rows[i].problems) { /* one line, with the name in front */
            CHECK_INT(strcspn(o.report, "\n") + 1, strlen(o.report));
            CHECK(strncmp(o.report, name, strlen(name)) == 0);
        }
    }
}

/* What print and read share cannot hide an error: the fields themselves. */
static void test_fields(void)
{
    outcome o;
    READ(&o, "MAX_CVT=-1", "MEMORY_LIMIT=100", "INTERPOLATION=1", "BACKGROUND=1,2,3",
         "FOLLOW_SYMLINKS=0", "OVERSAMPLING_FACTOR=1.25");
    CHECK_INT(o.problems, 0);
    CHECK_INT(o.config.max_cvt, 0);
    CHECK_INT(o.config.memory_bytes, 104857600);
    CHECK_INT(o.config.filter, TG_FILTER_BILINEAR);
    CHECK(o.config.background[0] == 1 && o.config.background[2] == 3);
    CHECK(!o.config.follow_symlinks && o.config.allow_upscaling && o.config.codec_passthrough);
    CHECK(o.config.oversampling == 1.25);
    CHECK_INT(o.config.jpeg_quality, 75);
    CHECK_INT(o.config.png_quality, 1);
    CHECK_INT(o.config.webp_quality, 50);
    CHECK_INT(o.config.tiff_compression, 2);
    CHECK_INT(o.config.tiff_quality, 1);
    CHECK_INT(o.config.metadata_cache_entries, 1000);
    CHECK_INT(o.config.memcached_timeout_s, 86400);
    tg_config_defaults(&o.config);
    CHECK_INT(o.config.filter, TG_FILTER_LANCZOS3);
    CHECK_INT(o.config.max_cvt, 5000);
    CHECK_INT(o.config.iiif_version, 3);
    CHECK_TEXT(o.config.filesystem_prefix, strlen(o.config.filesystem_prefix), "");
}

static void test_names_of_one_setting(void)
{
    outcome o;
    READ(&o, "MAX_IMAGE_METADATA_CACHE_SIZE=5");
    CHECK_INT(o.config.metadata_cache_entries, 5);
    READ(&o, "MAX_HEADERS_IN_METADATA_CACHE=-1");
    CHECK_INT(o.problems, 1);
    CHECK_INT(o.config.metadata_cache_entries, 0);
    READ(&o, "MAX_IMAGES_IN_METADATA_CACHE=7", "MAX_METADATA_CACHE_SIZE=9");
    CHECK_INT(o.problems, 0);
    CHECK_INT(o.config.metadata_cache_entries, 9);
    CHECK(strstr(o.report, "MAX_IMAGES_IN_METADATA_CACHE is not used"));
    READ(&o, "PNG_QUALITY=3", "PNG_COMPRESSION_LEVEL=Z_BEST_COMPRESSION");
    CHECK_INT(o.config.png_quality, 9);
    READ(&o, "PNG_COMPRESSION_LEVEL=-1");
    CHECK_INT(o.config.png_quality, 6);
    static const struct {
        const char *set;
        int mask; /* png.h */
    } filters[] = {{"PNG_FILTER_TYPE=SUB", 0x10}, {"PNG_FILTER_TYPE=PNG_FILTER_PAETH", 0x80},
                   {"PNG_FILTER_TYPE=avg", 0x40}, {"PNG_FILTER_TYPE=PNG_ALL_FILTERS", 0xf8},
                   {"PNG_FILTER_TYPE=2", 0x20},   {"PNG_FILTER_TYPE=0", 0x08},
                   {"PNG_FILTER_TYPE=56", 0x38},  {"PNG_FILTER_TYPE=AUTO", 0}};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        READ(&o, (char *)filters[i].set);
        CHECK_INT(o.problems, 0);
        CHECK_INT(o.config.png_filter, filters[i].mask);
    }
    READ(&o, "PNG_FILTER_TYPE=5");
    CHECK_INT(o.problems, 1);
    CHECK_INT(o.config.png_filter, 0);
    READ(&o, "PNG_COMPRESSION_LEVEL=Z_FAST");
    CHECK_INT(o.problems, 1);
    CHECK_INT(o.config.png_quality, 1);
}

static void test_maps(void)
{
    outcome o;
    READ(&o, "IIIF_PREFIX=/images/");
    CHECK_INT(o.config.n_uri_maps, 1);
    CHECK_TEXT(o.config.uri_map[0].prefix.p, o.config.uri_map[0].prefix.n, "images");
    READ(&o, "IIIF_PREFIX=/images", "URI_MAP=/iiif=>IIIF,fcgi=>IIP,z=>zoomify,dz=>DEEPZOOM");
    CHECK_INT(o.problems, 0);
    CHECK_INT(o.config.n_uri_maps, 5);
    CHECK_INT(o.config.uri_map[1].protocol, TG_PROTOCOL_IIP);
    CHECK_INT(o.config.uri_map[2].protocol, TG_PROTOCOL_ZOOMIFY);
    CHECK_INT(o.config.uri_map[3].protocol, TG_PROTOCOL_DEEPZOOM);
    CHECK_TEXT(o.config.uri_map[4].prefix.p, o.config.uri_map[4].prefix.n, "images");
    CHECK(!strstr(o.report, "not served"));
    char many[256] = "URI_MAP=a0=>IIIF";
    for (int i = 1; i <= TG_MAX_URI_MAPS; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), ",a%d=>IIIF", i);
    READ(&o, many);
    CHECK_INT(o.problems, 1);
    CHECK_INT(o.config.n_uri_maps, TG_MAX_URI_MAPS);
}

static void test_other_names(void)
{
    outcome o;
    READ(&o, "AVIF_QUALITY=5", "AVIF_CODEC=1");
    CHECK_INT(o.problems, 0);
    CHECK(strstr(o.report, "AVIF_CODEC is known, but has no effect"));
    READ(&o, "WATERMARK=/x.tif", "WATERMARK_OPACITY=0.25", "WATERMARK_PROBABILITY=5");
    CHECK_INT(o.problems, 1);
    CHECK_TEXT(o.config.watermark, strlen(o.config.watermark), "/x.tif");
    CHECK(o.config.watermark_opacity == 0.25 && o.config.watermark_probability == 1);
    READ(&o, "jpeg_quality=5", "Cors=*", "http_proxy=x");
    CHECK_INT(o.problems, 2);
    CHECK(strstr(o.report, "is JPEG_QUALITY meant") && strstr(o.report, "is CORS meant"));
    READ(&o, "TEGULA_CPU=sse41, avx2,c");
    CHECK_INT(o.problems, 0);
    READ(&o, "TEGULA_CPU=sse41 sse4.1");
    CHECK_INT(o.problems, 1);
    CHECK(strstr(o.report, "TEGULA_CPU: sse4.1 is none of"));
    READ(&o, "FILESYSTEM_PREFX=/a", "JPEG_QUALTIY=3", "COR=*");
    CHECK_INT(o.problems, 3);
    CHECK(strstr(o.report, "is FILESYSTEM_PREFIX meant"));
    CHECK(strstr(o.report, "is JPEG_QUALITY meant") && strstr(o.report, "is CORS meant"));
    READ(&o, "IIIF_SERVICE_HOST=10.0.0.1", "FILESYSTEM_ROOT=/");
    CHECK_INT(o.problems, 0);
    CHECK(strstr(o.report, "FILESYSTEM_ROOT is no variable of tegula; the nearest is FILESYSTEM_"));
    READ(&o, "JPEG_Q=5", "MEMCACHED_PORT=tcp://10.0.0.1:11211");
    CHECK_INT(o.problems, 0);
    CHECK(strstr(o.report, "JPEG_Q is no variable of tegula; the nearest is JPEG_QUALITY\n"));
    CHECK(!strstr(o.report, "MEMCACHED_"));
    READ(&o, "PATH=/bin", "HOME=/", "LANG=C", "LOGNAME=x", "USER=x", "SHELL=/bin/sh", "TERM=x");
    CHECK_INT(strlen(o.report), 0);
}

static void test_empty_prefix(void)
{
    char *const none[] = {NULL};
    tg_config config;
    CHECK_INT(tg_config_read(&config, none, NULL), 1);
}

static char *read_file(const char *path)
{
    static char text[1 << 17];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    return text;
}

/* What parses and cannot be right: found in the file system. */
static void test_look(void)
{
    static const struct {
        const char *prefix, *log, *base_url;
        const char *said; /* NULL: nothing */
    } cases[] = {
        {"/tmp/", "", "", NULL},
        {"/", "syslog", "https://img.example.org/iiif", NULL},
        {"/tmp/map-", "/tmp/tegula.log", "", NULL}, /* the prefix of names in a folder */
        {"/tmp", "", "", "a folder needs a slash"},
        {"/nonexistent/images/", "", "", "no such folder"},
        {"images/", "", "", "begin it with /"},
        {"\"/tmp/\"", "", "", "quotes"},
        {"/tmp/'", "", "", "quotes"},
        {"/tmp/", "/nonexistent/x.log", "", "no such folder"},
        {"/tmp/", "/tmp", "", "is a folder"},
        {"/tmp/", "Syslog", "", "is syslog meant?"},
        {"/tmp/", "", "https://img.example.org/?a=b", "? or #"},
        {"/tmp/", "", "img.example.org", "http://"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024] = "";
        FILE *report = fmemopen(text, sizeof text, "w");
        tg_config config;
        tg_config_defaults(&config);
        config.filesystem_prefix = cases[i].prefix;
        config.log_file = cases[i].log;
        config.base_url = cases[i].base_url;
        CHECK_INT(tg_config_look(&config, report), cases[i].said != NULL);
        fclose(report);
        CHECK(!cases[i].said || strstr(text, cases[i].said));
    }
}

static void test_servers(void)
{
    static const struct {
        const char *text, *host, *port; /* host NULL: refused */
    } cases[] = {
        {"localhost", "localhost", "11211"},
        {" 10.0.0.1:1234 ", "10.0.0.1", "1234"},
        {"[2001:db8::1]", "[2001:db8::1]", "11211"},
        {"[2001:db8::1]:99", "[2001:db8::1]", "99"},
        {"/run/memcached.sock", "/run/memcached.sock", ""},
        {"unix:/run/memcached.sock", "/run/memcached.sock", ""},
        {"", NULL, NULL},
        {":11211", NULL, NULL},
        {"a:65536", NULL, NULL},
        {"2001:db8::1", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tg_str host, port;
        bool ok = tg_server_parse(tg_str_of(cases[i].text), &host, &port);
        CHECK_INT(ok, cases[i].host != NULL);
        if (!ok || !cases[i].host)
            continue;
        CHECK_TEXT(host.p, host.n, cases[i].host);
        CHECK_TEXT(port.p, port.n, cases[i].port);
    }
}

/* Each variable has an entry `.BR NAME " (DEFAULT; RANGE)"`, in man's writing of - and backslash.
 */
static void test_manual(void)
{
    const char *page = read_file(TEST_MAN);
    tg_variable_doc doc;
    CHECK(page[0]);
    for (unsigned i = 0; tg_config_variable(i, &doc); i++) {
        char entry[256], want[512] = "";
        const char *text = !doc.default_text ? "unset" : doc.default_text;
        snprintf(entry, sizeof entry, "\n.BR %s \" (%s; %s)\"\n", doc.name,
                 text[0] ? text : "empty", doc.range);
        for (const char *p = entry; *p; p++)
            snprintf(want + strlen(want), sizeof want - strlen(want), *p == '-' ? "\\-" : "%c", *p);
        if (!strstr(page, want))
            printf("not in the manual page:%s", want);
        CHECK(strstr(page, want));
    }
}

/* The example file has each setting that does something, with its default behind a #; those that it
 * sets are excepted. */
static void test_example(void)
{
    const char *example = read_file(TEST_ENV);
    char *text = NULL, *const none[] = {NULL};
    size_t n = 0;
    tg_config config;
    tg_config_defaults(&config);
    FILE *out = open_memstream(&text, &n);
    tg_config_print(&config, none, out);
    fclose(out);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char want[256], set[80], *equals = strstr(line, " = "), *end = strstr(line, "   (");
        CHECK(equals && end);
        snprintf(set, sizeof set, "\n%.*s=", (int)(equals - line), line);
        snprintf(want, sizeof want, "\n#%.*s=%.*s\n", (int)(equals - line), line,
                 (int)(end - equals) - 3, equals + 3);
        if (!strstr(example, want) && !strstr(example, set))
            printf("not in the example:%s", want);
        CHECK(strstr(example, want) || strstr(example, set));
    }
    free(text);
}

int main(void)
{
    test_values();
    test_fields();
    test_names_of_one_setting();
    test_maps();
    test_other_names();
    test_empty_prefix();
    test_look();
    test_servers();
    test_manual();
    test_example();
    return check_done();
}
