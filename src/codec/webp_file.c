/* WebP files by libwebp, which decodes from the top of the picture always: what is wanted of it,
 * reduced and cut to the wanted columns, is held until the rows have been read. */
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

#include "codecs.h"
#include "flat.h"
#include "read_at.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "webp_riff.h"

/* Smooth chroma upsampling looks at the neighbour, which a crop would lack at its ends. */
#define MARGIN_PX        2
/* libwebp's own rows of a lossy picture, per column: samples, filter and top contexts. */
#define BYTES_PER_COLUMN 256

typedef struct webp_file {
    tg_flat flat;
    tg_webp_header header;
    bool whole;        /* the frame is all of the canvas */
    unsigned halvings; /* of the raster's height that are left to do: see halvings_left */
    uint8_t *raster;   /* while the decoder is live; its rows have f->w pixels, */
    size_t stride;     /* or those of the frame where that is not the canvas */
} webp_file;

static bool webp_probe(const uint8_t *head, size_t n)
{
    return tg_webp_is(head, n);
}

static const tg_flat_ops webp_ops;

static void describe(webp_file *w)
{
    const tg_webp_header *h = &w->header;
    tg_image *img = &w->flat.base;

    w->whole = h->frame.w == h->width_px && h->frame.h == h->height_px;
    img->native = (tg_native){.space = TG_SPACE_RGB, .alpha = h->alpha || !w->whole, .bits = 8};
    /* libwebp averages a lossy picture without regard to its alpha. */
    if (w->whole && !h->alpha_chunk)
        img->level[0].max_reduction = tg_flat_reduction(&w->flat, 3);
    tg_part_take_exif(h->exif, img);
    img->held_bytes = sizeof *w;
    w->flat.costly = true;
}

static tg_image *webp_open(int fd, uint64_t size_bytes, unsigned page, tg_err *err)
{
    tg_webp_header header;
    webp_file *w;

    if (page > 0) {
        tg_fail(err, TG_ERR_NOT_FOUND, "of a WebP file there is only the first picture");
        return NULL;
    }
    if (!tg_webp_header_read(fd, size_bytes, &header, err))
        return NULL;
    w = tg_new(sizeof *w);
    tg_flat_init(&w->flat, &tg_webp_codec, &webp_ops, fd, size_bytes, header.width_px,
                 header.height_px);
    w->header = header;
    describe(w);
    return &w->flat.base;
}

/* What libwebp allocates by itself for the stream: of a lossless one all pixels, of ALPH all
 * samples. */
static uint64_t library_bytes(const tg_webp_header *h)
{
    uint64_t px = (uint64_t)h->frame.w * h->frame.h;

    return (uint64_t)BYTES_PER_COLUMN * h->frame.w + (h->lossless      ? 4 * px
                                                      : h->alpha_chunk ? 2 * px
                                                                       : 0);
}

/* libwebp leaves out its deblocking filter when it reduces a lossy picture both ways. So it does
 * one way, and the rows are averaged here. */
static unsigned halvings_left(const webp_file *w, unsigned k)
{
    return w->header.lossless ? 0 : k;
}

/* The part of the frame to decode, reduced: of a whole picture the columns that are wanted with a
 * margin. Not when libwebp reduces it, because the rounding would depend on the width. */
static tg_rect wanted(const webp_file *w, unsigned k, uint32_t x, uint32_t width)
{
    uint32_t whole_w = tg_reduced_px(w->header.frame.w, k);
    uint32_t whole_h = tg_reduced_px(w->header.frame.h, k);
    uint32_t from = x > MARGIN_PX ? (x - MARGIN_PX) & ~1u : 0;

    if (!w->whole || k > 0)
        return (tg_rect){0, 0, whole_w, whole_h};
    return (tg_rect){from, 0, TG_MIN(x + width + MARGIN_PX, whole_w) - from, whole_h};
}

static void configure(WebPDecoderConfig *config, const webp_file *w, unsigned k, tg_rect rect)
{
    config->output.colorspace = w->flat.base.native.alpha ? MODE_RGBA : MODE_RGB;
    config->output.is_external_memory = 1;
    config->output.u.RGBA.rgba = w->raster;
    config->output.u.RGBA.stride = (int)w->stride;
    config->output.u.RGBA.size = w->stride * (rect.h << w->halvings);
    /* A multiple of 2^k, so that every reduced pixel is the mean of its square. */
    config->options.use_cropping = 1;
    config->options.crop_left = (int)(rect.x << k);
    config->options.crop_width = (int)(rect.w << k);
    config->options.crop_height = (int)(rect.h << k);
    config->options.use_scaling = k > 0;
    config->options.scaled_width = (int)rect.w;
    config->options.scaled_height = (int)(rect.h << w->halvings);
}

static bool fail_status(VP8StatusCode status, tg_err *err)
{
    if (status == VP8_STATUS_OUT_OF_MEMORY)
        tg_fail(err, TG_ERR_BUSY, "no memory for decoding WebP");
    else if (status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED)
        tg_fail(err, TG_ERR_CORRUPT, "the image file is cut short");
    else
        tg_fail(err, TG_ERR_CORRUPT, "the WebP data cannot be decoded");
    return tg_fail_detail(err, "libwebp: status %d", (int)status);
}

/* Rows above the damage, into the raster, which was white; false when there are none. */
static bool decode_front(const webp_file *w, const uint8_t *data, WebPDecoderConfig *config)
{
    WebPIDecoder *decoder = WebPIDecode(NULL, 0, config);
    int rows = 0;

    if (!decoder)
        return false;
    WebPIUpdate(decoder, data, w->header.stream.n);
    if (!WebPIDecGetRGB(decoder, &rows, NULL, NULL, NULL))
        rows = 0;
    WebPIDelete(decoder);
    return rows > 0;
}

static bool decode(webp_file *w, const uint8_t *data, tg_rect rect, tg_err *err)
{
    WebPDecoderConfig config;
    VP8StatusCode status;

    if (!WebPInitDecoderConfig(&config))
        return tg_fail(err, TG_ERR_INTERNAL, "libwebp is of another version");
    configure(&config, w, w->flat.k, rect);
    status = WebPDecode(data, w->header.stream.n, &config);
    if (status == VP8_STATUS_OK)
        return true;
    fail_status(status, err);
    return w->flat.base.options.lenient && decode_front(w, data, &config) &&
           tg_flat_overlook(&w->flat, err);
}

static bool webp_start(tg_flat *f, tg_err *err)
{
    webp_file *w = (webp_file *)f;
    const tg_part *stream = &w->header.stream;
    tg_rect rect = wanted(w, f->k, f->x, f->w);
    uint8_t *data;
    bool ok;

    f->x = w->whole ? rect.x : 0;
    f->w = w->whole ? rect.w : w->header.width_px;
    w->halvings = halvings_left(w, f->k);
    w->stride = rect.w * tg_native_bytes(f->base.native);
    if (!tg_flat_admit(library_bytes(&w->header), err))
        return false;
    w->raster = tg_image_alloc((size_t)rect.h << w->halvings, w->stride, err);
    data = w->raster ? tg_image_alloc(stream->n, 1, err) : NULL;
    ok = data && tg_read_at(f->base.fd, data, stream->n, stream->at, err);
    if (ok) {
        memset(w->raster, 0xff, w->stride * (rect.h << w->halvings));
        ok = decode(w, data, rect, err);
    }
    tg_image_free(data);
    return ok;
}

/* A row of a canvas that the first frame does not cover: transparent around it. */
static void place_row(const webp_file *w, uint8_t *dst, uint32_t y)
{
    const tg_rect *frame = &w->header.frame;
    size_t px_bytes = tg_native_bytes(w->flat.base.native);

    memset(dst, 0, w->flat.w * px_bytes);
    if (y >= frame->y && y - frame->y < frame->h)
        memcpy(dst + frame->x * px_bytes, w->raster + (y - frame->y) * w->stride, w->stride);
}

static void average_row(const webp_file *w, uint8_t *dst, uint32_t y)
{
    unsigned n = 1u << w->halvings;
    const uint8_t *from = w->raster + (size_t)y * n * w->stride;

    for (size_t i = 0; i < w->stride; i++) {
        unsigned sum = n / 2;

        for (unsigned row = 0; row < n; row++)
            sum += from[row * w->stride + i];
        dst[i] = (uint8_t)(sum >> w->halvings);
    }
}

static bool webp_rows(tg_flat *f, uint8_t *dst, size_t stride, uint32_t n, tg_err *err)
{
    const webp_file *w = (const webp_file *)f;

    (void)err;
    if (dst && w->whole && !w->halvings)
        tg_flat_copy(f, w->raster, dst, stride, n);
    else
        for (uint32_t i = 0; dst && i < n; i++)
            (w->whole ? average_row : place_row)(w, dst + i * stride, f->next_row + i);
    return true;
}

static void webp_stop(tg_flat *f)
{
    webp_file *w = (webp_file *)f;

    tg_image_free(w->raster);
    w->raster = NULL;
}

static const tg_flat_ops webp_ops = {webp_start, webp_rows, webp_stop};

static uint64_t webp_working_bytes(const tg_image *img, unsigned level, unsigned k, tg_rect rect)
{
    const webp_file *w = (const webp_file *)img;
    tg_rect columns = wanted(w, k, rect.x, rect.w);

    (void)level;
    return library_bytes(&w->header) + w->header.stream.n +
           ((uint64_t)columns.w * columns.h << halvings_left(w, k)) * tg_native_bytes(img->native);
}

static void webp_block(tg_image *img, tg_block which, size_t limit_bytes, tg_buf *out)
{
    const tg_webp_header *h = &((const webp_file *)img)->header;

    switch (which) {
    case TG_BLOCK_ICC:
        tg_part_append(h->icc, img->fd, limit_bytes, out);
        break;
    case TG_BLOCK_XMP:
        tg_part_append(h->xmp, img->fd, limit_bytes, out);
        break;
    }
}

static void webp_text(tg_image *img, tg_text which, size_t limit_bytes, tg_buf *out)
{
    tg_part_append_text(((const webp_file *)img)->header.exif, img->fd, which, limit_bytes, out);
}

static void webp_close(tg_image *img)
{
    tg_flat_close((tg_flat *)img);
    free(img);
}

const tg_codec tg_webp_codec = {
    .name = "WebP",
    .help = "WebP, lossy or lossless; of an animation the first frame",
    .probe = webp_probe,
    .open = webp_open,
    .read = tg_flat_read,
    .rest = tg_flat_rest,
    .working_bytes = webp_working_bytes,
    .block = webp_block,
    .text = webp_text,
    .close = webp_close,
};
