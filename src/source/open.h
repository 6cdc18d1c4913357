/* Files as sources: regular, below the root, identified. */
#ifndef TEGULA_SOURCE_OPEN_H
#define TEGULA_SOURCE_OPEN_H

#include "path.h"
#include "tegula/source.h"

/* Identity of the regular file at path, without opening it for reading. TG_ERR_NOT_FOUND when there
 * is none (or only a directory, FIFO, device), TG_ERR_IO, TG_ERR_BUSY. confined: no symbolic link
 * may lead out of the path's directory part. */
bool tg_file_stat(const tg_path *path, bool confined, tg_identity *out, tg_err *err);

/* Descriptor of that file opened for reading, -1 on failure; *out is what was opened. Never blocks
 * on a FIFO, never becomes a terminal's. */
int tg_file_open(const tg_path *path, bool confined, tg_identity *out, tg_err *err);

/* The folder that the file at path is in or would be in, opened for reading; -1 on failure. */
int tg_folder_open(const tg_path *path, bool confined);

/* A sum over the ends and some places between of an open file, over all of a small one. */
uint64_t tg_file_fingerprint(int fd, uint64_t size_bytes);

static inline bool tg_identity_eq(const tg_identity *a, const tg_identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
           a->mtime_s == b->mtime_s && a->mtime_ns == b->mtime_ns && a->ctime_s == b->ctime_s &&
           a->ctime_ns == b->ctime_ns;
}

#endif
