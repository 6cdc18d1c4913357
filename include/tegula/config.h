/* Configuration by environment: one table (src/config/table.c) of name, type, default, range, help,
 * read once at start into a struct that never changes afterwards. */
#ifndef TEGULA_CONFIG_H
#define TEGULA_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tegula/filter.h"
#include "tegula/str.h"

typedef enum tg_protocol {
    TG_PROTOCOL_IIIF,
    TG_PROTOCOL_IIP,
    TG_PROTOCOL_ZOOMIFY,
    TG_PROTOCOL_DEEPZOOM,
    TG_PROTOCOL_XYZ,
    TG_PROTOCOLS
} tg_protocol;

#define TG_MAX_URI_MAPS 16
#define TG_MAX_SERVERS  32 /* of memcached */

/* What is stored beside answers under keys of tegula's own. */
typedef enum tg_layout {
    TG_LAYOUT_OWN,  /* nothing */
    TG_LAYOUT_NGINX /* bodies of pictures, under keys that a web server makes of addresses */
} tg_layout;

/* One "prefix=>protocol" of URI_MAP; prefix without slashes at its ends, may be empty. */
typedef struct tg_uri_map {
    tg_str prefix;
    tg_protocol protocol;
} tg_uri_map;

/* Of MAX_IMAGE_CACHE_SIZE this share is for finished answers, the rest for decoded tiles, which
 * save more: each serves many answers. */
#define TG_ANSWERS_SHARE 0.25

typedef struct tg_config {
    /* log */
    int verbosity;
    const char *log_file;
    /* files */
    const char *filesystem_prefix, *filesystem_suffix;
    const char *filename_pattern; /* between the name of an image sequence and a view; "" = off */
    bool follow_symlinks;
    int64_t metadata_cache_entries; /* parsed images kept open; 0 off, -1 no limit */
    /* output */
    int jpeg_quality, png_quality, webp_quality, avif_quality, tiff_quality;
    int png_filter;        /* libpng's mask of row filters, 0 = as png_quality suggests */
    int tiff_compression;  /* a tg_tiff_compression */
    uint32_t max_cvt;      /* largest output side, px; 0 = no limit (MAX_CVT=-1) */
    uint64_t memory_bytes; /* ceiling of pixels in memory for one request (MEMORY_LIMIT, MiB) */
    bool allow_upscaling;
    tg_filter filter;
    double oversampling; /* 1..2 */
    bool codec_passthrough;
    uint8_t background[3]; /* under transparent pixels in JPEG; RGB, default white */
    int max_layers;        /* of JPEG 2000; <= 0 all */
    bool retain_icc;       /* embed profiles instead of converting to sRGB */
    int64_t max_icc_bytes; /* -1 = no limit */
    bool keep_metadata, strict;
    const char *watermark;                           /* a path; "" = none */
    double watermark_probability, watermark_opacity; /* 0..1 */
    /* HTTP */
    const char *cors;          /* "" = off */
    const char *cache_control; /* "" = none */
    const char *base_url;      /* "" = from the request */
    tg_uri_map uri_map[TG_MAX_URI_MAPS];
    unsigned n_uri_maps;
    /* IIIF */
    int iiif_version;            /* 1 to 3; 1 is 2 with the qualities native and grey */
    const char *copyright;       /* "" = none */
    const char *iiif_extra_info; /* members of a JSON object, checked; "" = none */
    bool iiif_extensions;        /* qualities that the Image API does not have */
    const char *iiif_delimiter;  /* between file name and page number; "" = off */
    /* answers kept, used by src/cache */
    double image_cache_mib; /* see TG_ANSWERS_SHARE */
    const char *memcached_servers;
    int memcached_timeout_s; /* life of an answer; 0 = no limit */
    int memcached_connect_ms, memcached_poll_ms;
    bool disable_memcached;
    tg_layout cache_layout;
} tg_config;

/* A known variable, for listings and their tests. default_text is NULL when it only has an effect
 * once it is set. */
typedef struct tg_variable_doc {
    const char *name, *default_text, *range, *help;
} tg_variable_doc;

/* The i-th known variable; false behind the last. */
bool tg_config_variable(unsigned i, tg_variable_doc *out);

/* One of MEMCACHED_SERVERS: "host", "host:port", "[IPv6]:port", "/path" or "unix:/path", which give
 * an empty port. False when it is none of these. */
bool tg_server_parse(tg_str text, tg_str *host, tg_str *port);

/* The prefix that is served when neither URI_MAP nor IIIF_PREFIX is set. */
#define TG_DEFAULT_URI_MAP "iiif=>IIIF"

/* Reads the environment (envp: NULL-terminated "NAME=value" strings). Every bad value gets one line
 * on report, naming the variable, the value and what is allowed, and the default or clamp is used.
 * So does a variable that nearly has a known name. Both are problems; their number is returned.
 * Known variables without an effect in this version get a line too, but are no problem. report may
 * be NULL. Strings point into envp or static text and are never freed. */
unsigned tg_config_read(tg_config *config, char *const envp[], FILE *report);

/* What parses and still cannot be right: a folder that is not there or lacks its slash, quotes, a
 * log in a folder that is not there. One line each on report; returns their number. Looks at the
 * file system, changes nothing. */
unsigned tg_config_look(const tg_config *config, FILE *report);

/* The defaults alone. filesystem_prefix is empty in them: no image can be served. */
void tg_config_defaults(tg_config *config);

/* Everything in force, one "NAME = value   (default|environment)  help" line each. */
void tg_config_print(const tg_config *config, char *const envp[], FILE *out);

#endif
