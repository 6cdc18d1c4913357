/* The input formats, and opening a file by its first bytes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tegula/codec.h"
#include "tegula/num.h"
#include "tiff.h"

const tg_codec *const tg_codecs[] = {&tg_tiff_codec, NULL};

#define HEAD_BYTES 64

/* With the names of what would have been read, parted by "or". */
static void fail_unknown(tg_err *err)
{
    char names[128] = "";
    for (const tg_codec *const *codec = tg_codecs; *codec; codec++) {
        size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, "%s%s", n ? " or " : "", (*codec)->name);
    }
    tg_fail(err, TG_ERR_NOT_IMAGE, "the file is not %s, and this version reads nothing else",
            names);
}

static tg_image *opened(tg_image *img, int fd)
{
    if (img)
        img->fd = fd;
    return img;
}

tg_image *tg_image_open(int fd, uint64_t size_bytes, unsigned page, tg_err *err)
{
    uint8_t head[HEAD_BYTES];
    ssize_t n;

    do
        n = pread(fd, head, sizeof head, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        tg_fail(err, TG_ERR_IO, "the image file cannot be read");
        return NULL;
    }
    for (const tg_codec *const *codec = tg_codecs; *codec; codec++)
        if ((*codec)->probe(head, (size_t)n))
            return opened((*codec)->open(fd, size_bytes, page, err), fd);
    fail_unknown(err);
    return NULL;
}

void tg_image_close(tg_image *img)
{
    if (img)
        img->codec->close(img);
}
