/* The input formats, and opening a file by its first bytes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codecs.h"
#include "tegula/colour.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tiff.h"
#include "xmp.h"

const tg_codec *const tg_codecs[] = {
    &tg_tiff_codec, &tg_jpeg_codec, &tg_jp2_codec, &tg_png_codec, &tg_webp_codec,
#ifdef HAVE_GIF
    &tg_gif_codec,
#endif
#ifdef HAVE_HEIF
    &tg_heif_codec,
#endif
    NULL,
};

const tg_codec_missing tg_codecs_missing[] = {
#ifndef HAVE_GIF
    {"GIF", "giflib"},
#endif
#ifndef HAVE_HEIF
    {"HEIF", "libheif"},
#endif
    {NULL, NULL},
};

#define HEAD_BYTES 64

/* With the names of what would have been read. */
static void fail_unknown(tg_err *err)
{
    char names[128] = "";
    for (const tg_codec *const *codec = tg_codecs; *codec; codec++) {
        size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", (*codec)->name);
    }
    tg_fail(err, TG_ERR_NOT_IMAGE, "the file is not a picture that this version reads (%s)", names);
}

static bool fits_resampler(tg_native n)
{
    return n.space == TG_SPACE_GRAY || n.space == TG_SPACE_RGB;
}

static tg_image *opened(tg_image *img, int fd, const tg_read_options *options)
{
    if (!img)
        return NULL;
    tg_native n = img->native;
    img->fd = fd;
    img->fmt.channels = (uint8_t)((n.space == TG_SPACE_GRAY ? 1 : 3) + n.alpha);
    img->fmt.bits = n.bits;
    if (img->orientation < 1 || img->orientation > 8)
        img->orientation = 1;
    if (options)
        img->options = *options;
    return img;
}

tg_image *tg_image_open(int fd, uint64_t size_bytes, unsigned page, const tg_read_options *options,
                        tg_err *err)
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
            return opened((*codec)->open(fd, size_bytes, page, err), fd, options);
    fail_unknown(err);
    return NULL;
}

void tg_image_close(tg_image *img)
{
    if (!img)
        return;
    tg_colour_release(img->colour);
    free(img->kept);
    img->codec->close(img);
}

void tg_image_rest(tg_image *img)
{
    if (img->codec->rest)
        img->codec->rest(img);
}

static bool read_as_rgb(tg_image *img, unsigned level, unsigned k, tg_rect rect, void *dst,
                        size_t dst_stride, tg_err *err)
{
    size_t stride = rect.w * tg_native_bytes(img->native);
    uint8_t *rows = tg_image_alloc(rect.h, stride, err);
    bool ok = rows && img->codec->read(img, level, k, rect, rows, stride, err);
    for (uint32_t y = 0; ok && y < rect.h; y++)
        tg_colour_to_rgb(img->colour, img->native, (uint8_t *)dst + y * dst_stride,
                         rows + y * stride, rect.w);
    tg_image_free(rows);
    return ok;
}

bool tg_image_read(tg_image *img, unsigned level, unsigned k, tg_rect rect, void *dst,
                   size_t dst_stride, tg_err *err)
{
    return fits_resampler(img->native) ? img->codec->read(img, level, k, rect, dst, dst_stride, err)
                                       : read_as_rgb(img, level, k, rect, dst, dst_stride, err);
}

void tg_image_block(tg_image *img, tg_block which, size_t limit_bytes, tg_buf *out)
{
    size_t start = out->len;

    if (!img->codec->block)
        return;
    img->codec->block(img, which, limit_bytes, out);
    if (which != TG_BLOCK_XMP)
        return;
    while (out->len > start && out->data[out->len - 1] == 0) /* as C programs leave them */
        out->len--;
    if (out->len > start && !tg_xmp_upright((char *)out->data + start, out->len - start))
        out->len = start;
}

void tg_image_text(tg_image *img, tg_text which, size_t limit_bytes, tg_buf *out)
{
    if (img->codec->text)
        img->codec->text(img, which, limit_bytes, out);
}

bool tg_image_find_range(tg_image *img, tg_err *err)
{
    return !img->codec->find_range || img->codec->find_range(img, err);
}

tg_georef tg_image_georef(tg_image *img)
{
    tg_georef georef = {0};
    if (img->codec->georef)
        img->codec->georef(img, &georef);
    return georef;
}

uint64_t tg_image_working_bytes(const tg_image *img, unsigned level, unsigned k, tg_rect rect)
{
    uint64_t bytes = img->codec->working_bytes ? img->codec->working_bytes(img, level, k, rect) : 0;
    if (!fits_resampler(img->native))
        bytes += (uint64_t)rect.w * rect.h * tg_native_bytes(img->native);
    return bytes;
}
