/* The input formats, and opening a file by its first bytes. */
#include <errno.h>
#include <unistd.h>

#include "tegula/codec.h"
#include "tegula/num.h"
#include "tiff.h"

const tg_codec *const tg_codecs[] = {&tg_tiff_codec, NULL};

#define HEAD_BYTES 64

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
            return (*codec)->open(fd, size_bytes, page, err);
    tg_fail(err, TG_ERR_NOT_IMAGE, "the file is not a TIFF, and no other kind is read here");
    return NULL;
}

void tg_image_close(tg_image *img)
{
    if (img)
        img->codec->close(img);
}
