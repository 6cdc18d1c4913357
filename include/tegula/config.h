/* Configuration by environment: one table (src/config/table.c) of name, type, default, range, help,
 * read once at start into a struct that never changes afterwards. */
#ifndef TEGULA_CONFIG_H
#define TEGULA_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tegula/filter.h"

typedef enum tg_protocol {
    TG_PROTOCOL_IIIF,
    TG_PROTOCOL_IIP,
    TG_PROTOCOL_ZOOMIFY,
    TG_PROTOCOL_DEEPZOOM,
    TG_PROTOCOLS
} tg_protocol;

#define TG_MAX_URI_MAPS 16

/* One "prefix=>protocol" of URI_MAP; prefix without slashes at its ends, may be empty. */
typedef struct tg_uri_map {
    const char *prefix;
    tg_protocol protocol;
} tg_uri_map;

typedef struct tg_config {
    /* log */
    int verbosity;
    const char *log_file;
    /* files */
    const char *filesystem_prefix, *filesystem_suffix;
    bool follow_symlinks;
    int64_t metadata_cache_entries; /* parsed images kept open; 0 off, -1 no limit */
    /* output */
    int jpeg_quality, png_quality, webp_quality;
    uint32_t max_cvt;      /* largest output side, px; 0 = no limit (MAX_CVT=-1) */
    uint64_t memory_bytes; /* ceiling of pixels in memory for one request (MEMORY_LIMIT, MiB) */
    bool allow_upscaling;
    tg_filter filter;
    double oversampling; /* 1..2 */
    bool codec_passthrough;
    uint8_t background[3]; /* under transparent pixels in JPEG; RGB, default white */
    /* HTTP */
    const char *cors;          /* "" = off */
    const char *cache_control; /* "" = none */
    const char *base_url;      /* "" = from the request */
    tg_uri_map uri_map[TG_MAX_URI_MAPS];
    unsigned n_uri_maps;
    /* IIIF */
    int iiif_version;           /* 2 or 3 */
    const char *copyright;      /* "" = none */
    const char *iiif_delimiter; /* between file name and page number; "" = off */
    /* response cache, used by src/cache */
    double image_cache_mib;
    const char *memcached_servers;
    int memcached_timeout_s;
} tg_config;

/* Reads the environment (envp: NULL-terminated "NAME=value" strings). Every bad value gets one line
 * on report, naming the variable, the value and what is allowed, and the default or clamp is used.
 * Unknown variables are not looked at, except near misses of known names (one line each).
 * Returns the number of lines reported. Strings point into envp or static text and are never freed.
 */
unsigned tg_config_read(tg_config *config, char *const envp[], FILE *report);

/* The defaults alone (tests). */
void tg_config_defaults(tg_config *config);

/* Everything in force, one "NAME = value   (default|environment)  help" line each. */
void tg_config_print(const tg_config *config, char *const envp[], FILE *out);

#endif
