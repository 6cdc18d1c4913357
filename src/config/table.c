#include "table.h"

#include <string.h>

/* The part of a row behind its documentation. */
#define ROW(kind, offset, lowest, highest) TG_KIND_##kind, offset, lowest, highest
#define FIELD(kind, member)                ROW(kind, offsetof(tg_config, member), 0, 0)
#define NUMBER(kind, member, lowest, highest)                                                      \
    ROW(kind, offsetof(tg_config, member), lowest, highest)
#define UNUSED ROW(NONE, (size_t)-1, 0, 0)

const struct tg_png_filter tg_png_filters[TG_PNG_FILTERS] = {
    {"AUTO", 0}, {"NONE", 8}, {"SUB", 16}, {"UP", 32}, {"AVG", 64}, {"PAETH", 128}, {"ALL", 248}};

const tg_filter tg_filter_numbers[TG_FILTER_NUMBERS] = {TG_FILTER_NEAREST, TG_FILTER_BILINEAR,
                                                        TG_FILTER_LANCZOS3};

/* In the order of --check-config and the manual page. Where two names mean one setting, the one
 * that wins stands first. */
const tg_variable tg_variables[] = {
    /* log */
    {{"VERBOSITY", "1", "0 to 6",
      "what is logged: 0 nothing, 1 start, stop and errors, 2 requests, 3 and up why they were "
      "refused"},
     NUMBER(INT, verbosity, 0, 6)},
    {{"LOGFILE", "", "a path, syslog, or empty", "where the log goes; empty is standard error"},
     FIELD(TEXT, log_file)},

    /* files */
    {{"FILESYSTEM_PREFIX", "", "a directory with a slash at its end",
      "put before every identifier, nothing between"},
     FIELD(TEXT, filesystem_prefix)},
    {{"FILESYSTEM_SUFFIX", "", "text", "put behind every identifier, nothing between"},
     FIELD(TEXT, filesystem_suffix)},
    {{"FOLLOW_SYMLINKS", "1", "0 or 1",
      "0: no symbolic link may lead out of the directory of FILESYSTEM_PREFIX"},
     FIELD(BOOL, follow_symlinks)},
    {{"FILENAME_PATTERN", "_pyr_", "text", "stands before the numbers of an image sequence"},
     FIELD(TEXT, filename_pattern)},
    {{"MAX_METADATA_CACHE_SIZE", "1000", "-1 or more",
      "images kept open per worker; 0 none, -1 as many as there are descriptors"},
     NUMBER(INT64, metadata_cache_entries, -1, INT32_MAX)},
    {{"MAX_IMAGE_METADATA_CACHE_SIZE", NULL, "-1 or more",
      "another name of MAX_METADATA_CACHE_SIZE"},
     NUMBER(INT64, metadata_cache_entries, -1, INT32_MAX)},
    {{"MAX_HEADERS_IN_METADATA_CACHE", NULL, "0 or more",
      "another name of MAX_METADATA_CACHE_SIZE"},
     NUMBER(INT64, metadata_cache_entries, 0, INT32_MAX)},
    {{"MAX_IMAGES_IN_METADATA_CACHE", NULL, "0 or more", "another name of MAX_METADATA_CACHE_SIZE"},
     NUMBER(INT64, metadata_cache_entries, 0, INT32_MAX)},

    /* output */
    {{"JPEG_QUALITY", "75", "1 to 100", "quality of JPEG output, and of JPEG 2000 and PDF"},
     NUMBER(INT, jpeg_quality, 1, 100)},
    {{"PNG_COMPRESSION_LEVEL", NULL, "-1 to 9 or the name of a zlib constant",
      "another name of PNG_QUALITY, which it overrides; -1 is zlib's default, 6"},
     FIELD(ZLIB, png_quality)},
    {{"PNG_QUALITY", "1", "0 to 9", "effort of PNG output, 0 = stored, 9 = smallest"},
     NUMBER(INT, png_quality, 0, 9)},
    {{"PNG_FILTER_TYPE", "AUTO", "AUTO, NONE, SUB, UP, AVG, PAETH, ALL or a number of libpng",
      "row filter of PNG output, AUTO by its effort"},
     FIELD(PNG_FILTER, png_filter)},
    {{"WEBP_QUALITY", "50", "-1 to 100", "quality of WebP output, -1 = lossless"},
     NUMBER(INT, webp_quality, -1, 100)},
    {{"AVIF_QUALITY", "50", "-1 to 100", "quality of AVIF output, -1 = lossless"},
     NUMBER(INT, avif_quality, -1, 100)},
    {{"AVIF_CODEC", "0", "0 to 3", "coder of AVIF output"}, UNUSED},
    {{"TIFF_COMPRESSION", "2", "0 to 5",
      "compression of TIFF output: 0 none, 1 LZW, 2 deflate, 3 JPEG, 4 WebP, 5 Zstandard"},
     NUMBER(INT, tiff_compression, 0, 5)},
    {{"TIFF_QUALITY", "1", "0 to 100",
      "effort of TIFF output with deflate (at most 9) or Zstandard (19), quality with JPEG or "
      "WebP"},
     NUMBER(INT, tiff_quality, 0, 100)},
    {{"MAX_CVT", "5000", "-1, or 1 to 2147483647; 0 = 5000",
      "longest side of an output image in pixels, -1 = no limit"},
     FIELD(SIDE, max_cvt)},
    {{"MEMORY_LIMIT", "512", "64 to 1048576",
      "MiB of image memory a worker may hold; a request that needs more gets 413"},
     NUMBER(MIB, memory_bytes, 64, 1048576)},
    {{"ALLOW_UPSCALING", "1", "0 or 1", "0: no output larger than the region it shows"},
     FIELD(BOOL, allow_upscaling)},
    {{"INTERPOLATION", "2", "0, 1 or 2", "0 nearest pixel, 1 bilinear, 2 Lanczos of 3 lobes"},
     FIELD(FILTER, filter)},
    {{"OVERSAMPLING_FACTOR", "1", "1 to 2",
      "decode from a level at least this many times the output's size, if there is one"},
     NUMBER(DECIMAL, oversampling, 1, 2)},
    {{"CODEC_PASSTHROUGH", "1", "0 or 1",
      "send stored tiles as they stand where the request allows it"},
     FIELD(BOOL, codec_passthrough)},
    {{"BACKGROUND", "#ffffff", "#rrggbb or r,g,b",
      "colour under transparent pixels in JPEG and PDF output"},
     FIELD(COLOUR, background)},
    {{"MAX_LAYERS", "0", "-1 or more", "quality layers of JPEG 2000 to decode, 0 or -1 = all"},
     NUMBER(INT, max_layers, -1, INT32_MAX)},
    {{"RETAIN_SOURCE_ICC_PROFILE", "0", "0 or 1",
      "1: gray and RGB keep their colour profile, which is embedded; 0: convert to sRGB"},
     FIELD(BOOL, retain_icc)},
    {{"EMBED_ICC", NULL, "0 or 1", "another name of RETAIN_SOURCE_ICC_PROFILE"},
     FIELD(BOOL, retain_icc)},
    {{"MAX_ICC", "65536", "-1 or more",
      "largest colour profile to embed, in bytes; pictures with a larger one are converted, -1 = "
      "no limit"},
     NUMBER(INT64, max_icc_bytes, -1, INT32_MAX)},
    {{"KEEP_METADATA", "0", "0 or 1",
      "1: XMP and the rights statement of the file go into outputs"},
     FIELD(BOOL, keep_metadata)},
    {{"STRICT", "1", "0 or 1",
      "0: show what there is of a damaged picture, with a line in the log, instead of an error"},
     FIELD(BOOL, strict)},
    {{"WATERMARK", "", "the path of a picture, or empty", "added to every output, empty = none"},
     FIELD(TEXT, watermark)},
    {{"WATERMARK_PROBABILITY", "1", "0 to 1", "share of outputs with the watermark"},
     NUMBER(DECIMAL, watermark_probability, 0, 1)},
    {{"WATERMARK_OPACITY", "1", "0 to 1", "what the watermark's pixels are multiplied by"},
     NUMBER(DECIMAL, watermark_opacity, 0, 1)},

    /* HTTP and URLs */
    {{"CACHE_CONTROL", "max-age=86400", "text without control characters",
      "Cache-Control header of good answers, empty = none"},
     FIELD(LINE, cache_control)},
    {{"CORS", "", "text without control characters",
      "Access-Control-Allow-Origin header of all answers, empty = no CORS headers"},
     FIELD(LINE, cors)},
    {{"BASE_URL", "", "an http or https URL, or empty",
      "what clients see in place of scheme, host and prefix; empty = take it from the request"},
     FIELD(URL, base_url)},
    {{"URI_MAP", TG_DEFAULT_URI_MAP, "prefix=>protocol, ... of IIIF, IIP, Zoomify, DeepZoom, XYZ",
      "the path prefixes that are served; the default holds while IIIF_PREFIX is unset, too"},
     FIELD(MAPS, uri_map)},
    {{"IIIF_PREFIX", NULL, "a path", "/iiif is the same as iiif=>IIIF in URI_MAP; added to it"},
     FIELD(PREFIX, uri_map)},

    /* IIIF */
    {{"IIIF_VERSION", "3", "1, 2 or 3",
      "version of the Image API where the URL names none; 1 is 2 with the qualities native and "
      "grey"},
     FIELD(VERSION, iiif_version)},
    {{"IIIF_DELIMITER", "", "text",
      "stands between a file's name and a page number from 0, empty = no page numbers"},
     FIELD(TEXT, iiif_delimiter)},
    {{"COPYRIGHT", "", "text", "rights statement in info.json and in outputs, empty = none"},
     FIELD(TEXT, copyright)},
    {{"IIIF_EXTRA_INFO", "", "members of a JSON object, none that tegula sets itself",
      "added to info.json; a service stands beside tegula's own"},
     FIELD(MEMBERS, iiif_extra_info)},
    {{"IIIF_EXTENSIONS", "0", "0 or 1",
      "1: the qualities equalization, log, negative and stretch, besides those of the Image API"},
     FIELD(BOOL, iiif_extensions)},

    /* caches */
    {{"MAX_IMAGE_CACHE_SIZE", "10", "0 to 1048576",
      "MiB that a worker keeps: 3/4 decoded tiles, 1/4 answers, 0 = none"},
     NUMBER(DECIMAL, image_cache_mib, 0, 1048576)},
    {{"MEMCACHED_SERVERS", "", "host[:port] or a socket's path, up to 32, with commas between",
      "memcached servers (1.6 or newer) that keep answers, empty = none"},
     FIELD(SERVERS, memcached_servers)},
    {{"MEMCACHED_TIMEOUT", "86400", "0 or more",
      "seconds memcached keeps an answer, 0 = while there is room"},
     NUMBER(INT, memcached_timeout_s, 0, INT32_MAX)},
    {{"MEMCACHED_CONNECT_TIMEOUT", "40", "1 to 10000",
      "milliseconds in which a connection has to be made"},
     NUMBER(INT, memcached_connect_ms, 1, 10000)},
    {{"MEMCACHED_POLL_TIMEOUT", "40", "1 to 10000",
      "milliseconds that a request waits for a server before all leave that one alone"},
     NUMBER(INT, memcached_poll_ms, 1, 10000)},
    {{"DISABLE_PRIMARY_MEMCACHE", "0", "0 or 1", "1: keep no answers in memcached"},
     FIELD(BOOL, disable_memcached)},
    {{"CACHE_LAYOUT", "", "nginx, or empty",
      "nginx: bodies are also stored where nginx finds them by the address"},
     FIELD(LAYOUT, cache_layout)},

    /* of iipsrv's decoders */
    {{"KAKADU_READMODE", NULL, "anything", "of another decoder"}, UNUSED},
    {{"DECODER_MODULES", NULL, "anything", "of another decoder"}, UNUSED},
    {{"OMP_NUM_THREADS", NULL, "anything", "a worker has one thread"}, UNUSED},
    {{"MAX_SAMPLE_SIZE", NULL, "anything", "of another decoder"}, UNUSED},
};

const unsigned tg_n_variables = sizeof tg_variables / sizeof tg_variables[0];

bool tg_config_variable(unsigned i, tg_variable_doc *out)
{
    if (i >= tg_n_variables)
        return false;
    *out = tg_variables[i].doc;
    return true;
}

const char *tg_variable_in(char *const envp[], const char *name)
{
    size_t n = strlen(name);
    for (; *envp; envp++)
        if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
            return *envp + n + 1;
    return NULL;
}

const tg_variable *tg_variable_in_force(const tg_variable *v, char *const envp[])
{
    if (v->kind == TG_KIND_NONE || v->kind == TG_KIND_MAPS || v->kind == TG_KIND_PREFIX)
        return v;
    for (unsigned i = 0; i < tg_n_variables; i++) {
        const tg_variable *other = &tg_variables[i];
        if (other->offset == v->offset && tg_variable_in(envp, other->doc.name))
            return other;
    }
    return v;
}
