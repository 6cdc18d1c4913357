/* From identifier to path. */
#ifndef TEGULA_SOURCE_PATH_H
#define TEGULA_SOURCE_PATH_H

#include <limits.h>

#include "tegula/config.h"
#include "tegula/err.h"
#include "tegula/str.h"

typedef struct tg_path {
    char text[PATH_MAX]; /* NUL-terminated */
    size_t n;
    size_t directory_n; /* FILESYSTEM_PREFIX up to and with its last slash; 0 = working directory */
    unsigned page;
    int layers; /* of JPEG 2000, instead of the configuration's; 0 = those */
} tg_path;

/* The path of an identifier as a whole, page 0. On failure *out is no path, but safe to compare. */
bool tg_path_whole(const tg_config *config, tg_str identifier, tg_path *out, tg_err *err);

/* The identifier split at the last IIIF_DELIMITER that only digits follow. False without an error
 * when there is no page number in it. */
bool tg_path_paged(const tg_config *config, tg_str identifier, tg_path *out, tg_err *err);

#endif
