/* From identifier to open image: path below the root, identity, cache of parsed files. */
#ifndef TEGULA_SOURCE_H
#define TEGULA_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "tegula/arena.h"
#include "tegula/codec.h"
#include "tegula/config.h"
#include "tegula/err.h"
#include "tegula/str.h"

/* What makes a file this file: any difference means it was replaced, or written to. The time of its
 * last change of any kind cannot be set back, as that of its contents can. */
typedef struct tg_identity {
    uint64_t device, inode, size_bytes;
    int64_t mtime_s, ctime_s;
    uint32_t mtime_ns, ctime_ns;
    /* Of an open source only: the same on all hosts that have the same files, where the above is of
     * one host. */
    tg_str name;          /* behind FILESYSTEM_PREFIX; lives as long as the source */
    uint64_t fingerprint; /* of samples of the contents, to tell files apart that have the same
                             name, size and time of modification */
} tg_identity;

typedef struct tg_source {
    tg_image *image;
    tg_identity identity;
    unsigned page;
} tg_source;

typedef struct tg_sources tg_sources; /* the cache */

tg_sources *tg_sources_new(const tg_config *config);
void tg_sources_free(tg_sources *cache);
/* SIGHUP: close everything nobody holds. */
void tg_sources_clear(tg_sources *cache);

/* identifier is decoded bytes, may hold slashes; FILESYSTEM_PREFIX and _SUFFIX are put around it,
 * nothing between; IIIF_DELIMITER splits off a page number when no file has the whole name.
 * Refused: a ".." segment, NUL (TG_ERR_BAD_REQUEST), an empty identifier or prefix, directories,
 * FIFOs, devices (TG_ERR_NOT_FOUND), unreadable files (TG_ERR_IO); paths over PATH_MAX are
 * TG_ERR_NOT_FOUND. With FOLLOW_SYMLINKS=0 every step of the open stays below the directory part of
 * the prefix. The file is stat'ed at every call, so a replaced file is seen at once.
 * Returns a source to give back with tg_source_release, NULL on failure. */
tg_source *tg_source_get(tg_sources *cache, tg_str identifier, tg_err *err);

/* What may be named beside the identifier. Where no file has that name, page and vertical are the
 * numbers of a file of a sequence (FILENAME_PATTERN). */
typedef struct tg_view {
    unsigned page;     /* 0: as the identifier says */
    unsigned vertical; /* of sequences only */
    int layers;        /* of JPEG 2000, at most the configuration's; 0: as the configuration says */
} tg_view;

#define TG_VIEW_VERTICAL 90 /* the one that is shown when none is named */

tg_source *tg_source_get_view(tg_sources *cache, tg_str identifier, tg_view view, tg_err *err);

#define TG_VIEWS_MAX 1024

/* The views of a sequence, in order; none when the identifier names a file. */
typedef struct tg_views {
    unsigned n_horizontal, n_vertical;
    unsigned horizontal[TG_VIEWS_MAX], vertical[TG_VIEWS_MAX];
} tg_views;

void tg_source_views(tg_sources *cache, tg_str identifier, tg_views *out);
void tg_source_release(tg_sources *cache, tg_source *source); /* NULL is fine */

/* Is the file behind a source still what it was when it was opened? One written in place while it
 * is read can give a picture of two halves. TG_ERR_BUSY when it is not. */
bool tg_source_unchanged(const tg_source *source, tg_err *err);

/* As far as tg_source_get's stat, without opening: *out is what would be opened, with no image and
 * no fingerprint. *open: this cache has it open already. */
bool tg_source_look(tg_sources *cache, tg_str identifier, tg_arena *arena, tg_source *out,
                    bool *open, tg_err *err);

/* As far as tg_source_get's stat, without opening: is there a regular file? */
bool tg_source_exists(tg_sources *cache, tg_str identifier, tg_err *err);

#endif
