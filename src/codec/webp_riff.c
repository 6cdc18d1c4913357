#include "webp_riff.h"

#include <string.h>
#include <webp/decode.h>

#include "read_at.h"
#include "tegula/num.h"

#define RIFF_BYTES  12 /* "RIFF", size, "WEBP" */
#define HEAD_BYTES  8  /* of a chunk: name and size */
#define FRAME_BYTES 16 /* of ANMF, before its own chunks */
#define MAX_CHUNKS  1024

bool tg_webp_is(const uint8_t *head, size_t n)
{
    return n >= RIFF_BYTES && memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "WEBP", 4) == 0;
}

typedef struct chunk {
    char name[4];
    uint64_t at;
    uint32_t n; /* what there is of it: less than it says when the file is cut short */
} chunk;

typedef struct walk {
    int fd;
    uint64_t at, end;
    unsigned seen;
} walk;

static bool is(const chunk *c, const char *name)
{
    return memcmp(c->name, name, 4) == 0;
}

static bool next_chunk(walk *w, chunk *c)
{
    uint8_t head[HEAD_BYTES];

    if (w->at + HEAD_BYTES > w->end || ++w->seen > MAX_CHUNKS ||
        tg_read_up_to(w->fd, head, sizeof head, w->at) < sizeof head)
        return false;
    memcpy(c->name, head, 4);
    c->at = w->at + HEAD_BYTES;
    c->n = (uint32_t)TG_MIN((uint64_t)tg_le32(head + 4), w->end - c->at);
    w->at = c->at + c->n + (c->n & 1);
    return true;
}

/* Size and alpha of the coded picture, by its first bytes. */
static bool take_stream(int fd, const chunk *c, const chunk *alpha, tg_webp_header *h)
{
    uint8_t head[64];
    size_t n =
        tg_read_up_to(fd, head, TG_MIN(sizeof head, (size_t)c->n + HEAD_BYTES), c->at - HEAD_BYTES);
    WebPBitstreamFeatures features;

    if (WebPGetFeatures(head, n, &features) != VP8_STATUS_OK)
        return false;
    h->frame.w = (uint32_t)features.width;
    h->frame.h = (uint32_t)features.height;
    h->lossless = is(c, "VP8L");
    h->alpha_chunk = alpha && !h->lossless;
    h->alpha = features.has_alpha || h->alpha_chunk;
    h->stream.at = (h->alpha_chunk ? alpha->at : c->at) - HEAD_BYTES;
    h->stream.n = (uint32_t)(c->at + c->n - h->stream.at);
    return true;
}

/* Of a still picture or a frame: the alpha plane stands before what it belongs to. */
static bool find_stream(walk *w, tg_webp_header *h)
{
    chunk c, alpha;
    bool has_alpha = false;

    while (next_chunk(w, &c)) {
        if (is(&c, "VP8 ") || is(&c, "VP8L"))
            return take_stream(w->fd, &c, has_alpha ? &alpha : NULL, h);
        if (is(&c, "ALPH") && !has_alpha) {
            alpha = c;
            has_alpha = true;
        }
    }
    return false;
}

static bool take_frame(const walk *outer, const chunk *c, tg_webp_header *h)
{
    uint8_t b[FRAME_BYTES];
    walk inner = {.fd = outer->fd, .at = c->at + FRAME_BYTES, .end = c->at + c->n};
    uint32_t w, height;

    if (c->n < FRAME_BYTES || tg_read_up_to(outer->fd, b, sizeof b, c->at) < sizeof b)
        return false;
    h->frame.x = 2 * tg_le24(b);
    h->frame.y = 2 * tg_le24(b + 3);
    w = tg_le24(b + 6) + 1;
    height = tg_le24(b + 9) + 1;
    return find_stream(&inner, h) && h->frame.w == w && h->frame.h == height;
}

static void take_block(const chunk *c, tg_webp_header *h)
{
    static const struct {
        char name[5];
        size_t offset;
    } blocks[] = {{"ICCP", offsetof(tg_webp_header, icc)},
                  {"EXIF", offsetof(tg_webp_header, exif)},
                  {"XMP ", offsetof(tg_webp_header, xmp)}};

    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        tg_part *part = (tg_part *)(void *)((char *)h + blocks[i].offset);

        if (is(c, blocks[i].name) && !part->at)
            *part = (tg_part){c->at, c->n};
    }
}

/* Some writers put JPEG's signature before the block. */
static void trim_exif(int fd, tg_part *exif)
{
    static const char signature[6] = "Exif\0";
    char b[sizeof signature];

    if (exif->at && exif->n > sizeof b && tg_read_up_to(fd, b, sizeof b, exif->at) == sizeof b &&
        memcmp(b, signature, sizeof b) == 0)
        *exif = (tg_part){exif->at + sizeof b, exif->n - (uint32_t)sizeof b};
}

/* The canvas of VP8X; false when it is cut short. */
static bool take_canvas(int fd, const chunk *c, tg_webp_header *h)
{
    uint8_t b[10];

    if (c->n < sizeof b || tg_read_up_to(fd, b, sizeof b, c->at) < sizeof b)
        return false;
    h->width_px = tg_le24(b + 4) + 1;
    h->height_px = tg_le24(b + 7) + 1;
    return true;
}

/* Extended files: the canvas, then blocks around the picture or the frames. */
static bool walk_extended(walk *w, tg_webp_header *h)
{
    chunk c;

    if (!next_chunk(w, &c) || !take_canvas(w->fd, &c, h))
        return false;
    while (next_chunk(w, &c)) {
        if (!h->stream.at && is(&c, "ANMF") && !take_frame(w, &c, h))
            return false;
        if (!h->stream.at && (is(&c, "ALPH") || is(&c, "VP8 ") || is(&c, "VP8L"))) {
            w->at = c.at - HEAD_BYTES;
            if (!find_stream(w, h) || h->frame.w != h->width_px || h->frame.h != h->height_px)
                return false;
        }
        take_block(&c, h);
    }
    trim_exif(w->fd, &h->exif);
    return h->stream.at > 0;
}

static bool walk_file(walk *w, tg_webp_header *h)
{
    walk first = *w;
    chunk c;

    if (!next_chunk(&first, &c))
        return false;
    if (is(&c, "VP8X"))
        return walk_extended(w, h);
    if (!find_stream(w, h))
        return false;
    h->width_px = h->frame.w;
    h->height_px = h->frame.h;
    return true;
}

static bool frame_on_canvas(const tg_webp_header *h)
{
    return (uint64_t)h->frame.x + h->frame.w <= h->width_px &&
           (uint64_t)h->frame.y + h->frame.h <= h->height_px;
}

bool tg_webp_header_read(int fd, uint64_t size_bytes, tg_webp_header *h, tg_err *err)
{
    walk w = {.fd = fd, .at = RIFF_BYTES, .end = size_bytes};

    *h = (tg_webp_header){0};
    if (walk_file(&w, h) && frame_on_canvas(h))
        return true;
    return tg_fail(err, TG_ERR_CORRUPT, "the WebP file is damaged or cut short");
}
