/* Chunks of an extended WebP (RFC 9649, 2.7): VP8X first, the profile before the picture, Exif and
 * XMP behind it. */
#include <webp/decode.h>

#include "embed.h"

#define RIFF_BYTES  12 /* "RIFF", size, "WEBP" */
#define CHUNK_BYTES 8
#define VP8X_BYTES  (CHUNK_BYTES + 10)

enum flag { FLAG_XMP = 0x04, FLAG_EXIF = 0x08, FLAG_ALPHA = 0x10, FLAG_ICC = 0x20 };

static void set32(uint8_t *p, size_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* Chunks begin at even places. */
static void put_chunk(tg_buf *out, const char *name, tg_str data)
{
    uint8_t size[4];

    if (!data.n)
        return;
    set32(size, data.n);
    tg_buf_append(out, name, 4);
    tg_buf_append(out, size, 4);
    tg_buf_str(out, data);
    if (data.n % 2)
        tg_buf_append(out, "", 1);
}

static void put_vp8x(tg_buf *out, const WebPBitstreamFeatures *picture, uint8_t flags)
{
    uint8_t body[10] = {flags};

    set32(body + 4, (size_t)picture->width - 1);
    body[7] = (uint8_t)(picture->height - 1);
    body[8] = (uint8_t)((picture->height - 1) >> 8);
    put_chunk(out, "VP8X", (tg_str){(const char *)body, sizeof body});
}

static bool is_extended(const tg_buf *out, size_t start)
{
    return out->len - start >= RIFF_BYTES + VP8X_BYTES &&
           memcmp(out->data + start + RIFF_BYTES, "VP8X", 4) == 0;
}

/* The head up to the picture takes the place of what there is of it. */
static void put_head(tg_buf *out, size_t start, const WebPBitstreamFeatures *picture, uint8_t flags,
                     tg_str icc)
{
    size_t at = start + RIFF_BYTES;
    tg_buf head = {0};

    if (is_extended(out, start)) {
        out->data[at + CHUNK_BYTES] |= flags;
        at += VP8X_BYTES;
    } else {
        put_vp8x(&head, picture, flags);
    }
    put_chunk(&head, "ICCP", icc);
    tg_buf_insert(out, at, head.data, head.len);
    tg_buf_free(&head);
}

bool tg_webp_embed(tg_buf *out, size_t start, const tg_encode_spec *spec)
{
    const tg_embed *embed = &spec->embed;
    WebPBitstreamFeatures picture;
    tg_buf exif = {0};
    uint8_t flags;

    if (WebPGetFeatures(out->data + start, out->len - start, &picture) != VP8_STATUS_OK)
        return false;
    tg_embed_exif(&exif, spec);
    flags = (uint8_t)((picture.has_alpha ? FLAG_ALPHA : 0) | (embed->icc.n ? FLAG_ICC : 0) |
                      (exif.len ? FLAG_EXIF : 0) | (embed->xmp.n ? FLAG_XMP : 0));
    if (flags & ~FLAG_ALPHA) {
        put_head(out, start, &picture, flags, embed->icc);
        put_chunk(out, "EXIF", tg_buf_view(&exif));
        put_chunk(out, "XMP ", embed->xmp);
        set32(out->data + start + 4, out->len - start - CHUNK_BYTES);
    }
    tg_buf_free(&exif);
    return true;
}
