/* libtiff on a file descriptor: pread callbacks, limits, complaints kept for the log. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tegula/mem.h"
#include "tegula/num.h"
#include "tiff.h"

/* libtiff fetches every tag of a directory, among them layers of editors with hundreds of
 * megabytes; of those it does without. Directories may share one large tag, so that their number
 * alone bounds neither time nor memory. */
#define MAX_TAG_READ_BYTES ((tmsize_t)4 << 20)
#define MAX_DIR_BYTES      ((uint64_t)32 << 20)
#define MAX_CHAIN_BYTES    ((uint64_t)256 << 20)

static bool refuses(const tg_tiff_file *f, tmsize_t n)
{
    return f->in_directory &&
           (n > MAX_TAG_READ_BYTES || f->read_bytes + (uint64_t)n > f->limit_bytes);
}

static tmsize_t on_read(thandle_t handle, void *buf, tmsize_t n)
{
    tg_tiff_file *f = handle;
    tmsize_t done = 0;

    if (refuses(f, n))
        return 0;
    f->read_bytes += (uint64_t)n;
    while (done < n) {
        ssize_t got = pread(f->fd, (char *)buf + done, (size_t)(n - done), (off_t)f->at_bytes);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            f->io_failed = true;
        if (got <= 0)
            break;
        done += got;
        f->at_bytes += (uint64_t)got;
    }
    return done;
}

static tmsize_t on_write(thandle_t handle, void *buf, tmsize_t n)
{
    (void)handle;
    (void)buf;
    (void)n;
    return -1;
}

static toff_t on_seek(thandle_t handle, toff_t offset, int whence)
{
    tg_tiff_file *f = handle;
    uint64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? f->at_bytes : f->size_bytes;
    uint64_t to = base + offset;

    if (to < base || to > INT64_MAX)
        return (toff_t)-1;
    return f->at_bytes = to;
}

static int on_close(thandle_t handle)
{
    (void)handle; /* the descriptor is the image's */
    return 0;
}

static toff_t on_size(thandle_t handle)
{
    return ((tg_tiff_file *)handle)->size_bytes;
}

/* r read; O offsets of tiles fetched as they are asked for; h without the first directory. */
static TIFF *open_handle(tg_tiff_file *f, const char *mode)
{
    TIFFOpenOptions *options = tg_tiff_options(&f->complaint);
    TIFF *tif;

    if (!options)
        return NULL;
    tif = TIFFClientOpenExt("image", mode, f, on_read, on_write, on_seek, on_close, on_size, NULL,
                            NULL, options);
    TIFFOpenOptionsFree(options);
    return tif;
}

/* The directory lies behind the end of the file; told in words only. */
static bool is_cut_short(const tg_tiff_file *f)
{
    static const char words[] = "directory at offset ";
    const char *at = strstr(f->complaint.text, words);
    uint64_t offset_bytes;

    return at && tg_parse_u64(tg_str_of(at + sizeof words - 1), &offset_bytes) &&
           offset_bytes >= f->size_bytes;
}

tg_tiff_file *tg_tiff_file_open(int fd, uint64_t size_bytes, uint64_t offset_bytes, tg_err *err)
{
    tg_tiff_file *f = tg_new(sizeof *f);

    f->fd = fd;
    f->size_bytes = size_bytes;
    f->next_row = UINT32_MAX;
    f->in_directory = true;
    f->limit_bytes = MAX_DIR_BYTES;
    f->tif = open_handle(f, offset_bytes ? "rhO" : "rO");
    if (f->tif && (offset_bytes == 0 || TIFFSetSubDirectory(f->tif, offset_bytes))) {
        f->in_directory = offset_bytes == 0;
        return f;
    }
    /* Told in words only. */
    if (strstr(f->complaint.text, "different values per"))
        tg_fail(err, TG_ERR_NOT_IMPLEMENTED,
                "this kind of TIFF is not supported: samples of different depth or format");
    else if (is_cut_short(f))
        tg_fail(err, TG_ERR_CORRUPT, "the image file is cut short");
    tg_tiff_file_fail(f, err);
    tg_tiff_file_close(f);
    return NULL;
}

bool tg_tiff_file_may_go_on(tg_tiff_file *f)
{
    f->limit_bytes = f->read_bytes + MAX_DIR_BYTES;
    return f->read_bytes <= MAX_CHAIN_BYTES;
}

void tg_tiff_file_close(tg_tiff_file *f)
{
    if (!f)
        return;
    if (f->tif)
        TIFFClose(f->tif);
    free(f);
}

bool tg_tiff_file_fail(tg_tiff_file *f, tg_err *err)
{
    if (f->io_failed)
        tg_fail(err, TG_ERR_IO, "the image file cannot be read");
    else
        tg_fail(err, TG_ERR_CORRUPT, "the image file is damaged");
    tg_fail_detail(err, "%s", f->complaint.text);
    f->io_failed = false;
    f->complaint = (tg_tiff_complaint){0};
    return false;
}
