/* Application segments of a JPEG (ISO/IEC 10918-1, B.2.4.6). Each holds at most 65533 bytes; what
 * has no way of going on in another one is left out when it is longer. */
#include "embed.h"
#include "tegula/num.h"

#define SEGMENT_MAX_BYTES 65533
#define SOI_BYTES         2
#define APP(n)            (0xe0 + (n))

/* With its closing NUL where the signature has one. */
#define SIGNATURE(literal) ((tg_str){literal, sizeof(literal)})

#define XMP_MAX_BYTES 65502 /* XMP part 3, 1.1.3 */
#define ICC_PART_MAX  65519 /* ICC.1, B.4: signature, number and count stand in front */

static void put_marker(tg_buf *out, unsigned marker, size_t payload_bytes)
{
    size_t n = payload_bytes + 2;
    const uint8_t head[] = {0xff, (uint8_t)marker, (uint8_t)(n >> 8), (uint8_t)n};

    tg_buf_append(out, head, sizeof head);
}

static void put_segment(tg_buf *out, unsigned marker, tg_str signature, tg_str data)
{
    put_marker(out, marker, signature.n + data.n);
    tg_buf_str(out, signature);
    tg_buf_str(out, data);
}

static void put_exif(tg_buf *out, const tg_encode_spec *spec, bool jfif)
{
    tg_encode_spec rest = *spec;
    tg_buf block = {0};

    if (jfif)
        rest.dpi_x = rest.dpi_y = 0;
    tg_embed_exif(&block, &rest);
    if (block.len && block.len + 6 <= SEGMENT_MAX_BYTES)
        put_segment(out, APP(1), (tg_str){"Exif\0", 6}, tg_buf_view(&block));
    tg_buf_free(&block);
}

static void put_icc(tg_buf *out, tg_str icc)
{
    size_t parts = (icc.n + ICC_PART_MAX - 1) / ICC_PART_MAX;

    if (parts > 255)
        return;
    for (size_t i = 0; i < parts; i++) {
        const uint8_t of[] = {(uint8_t)(i + 1), (uint8_t)parts};
        size_t n = TG_MIN(icc.n - i * ICC_PART_MAX, (size_t)ICC_PART_MAX);
        tg_str signature = SIGNATURE("ICC_PROFILE");

        put_marker(out, APP(2), signature.n + sizeof of + n);
        tg_buf_str(out, signature);
        tg_buf_append(out, of, sizeof of);
        tg_buf_append(out, icc.p + i * ICC_PART_MAX, n);
    }
}

void tg_jpeg_segments(tg_buf *out, const tg_encode_spec *spec, bool jfif)
{
    tg_str xmp = spec->embed.xmp;

    put_exif(out, spec, jfif);
    if (xmp.n && xmp.n <= XMP_MAX_BYTES)
        put_segment(out, APP(1), SIGNATURE("http://ns.adobe.com/xap/1.0/"), xmp);
    put_icc(out, spec->embed.icc);
}

/* Length of the segment at p when it is of this marker and signature, else 0. */
static size_t segment_bytes(const uint8_t *p, size_t n, unsigned marker, const char *signature)
{
    size_t length;

    if (n < 10 || p[0] != 0xff || p[1] != marker || memcmp(p + 4, signature, 5) != 0)
        return 0;
    length = 2 + ((size_t)p[2] << 8 | p[3]);
    return length <= n ? length : 0;
}

void tg_jpeg_embed(tg_buf *out, size_t start, const tg_encode_spec *spec)
{
    size_t at = start + SOI_BYTES, jfif;
    tg_buf segments = {0};

    jfif = segment_bytes(out->data + at, out->len - at, APP(0), "JFIF");
    at += jfif;
    at += segment_bytes(out->data + at, out->len - at, APP(14), "Adobe");
    tg_jpeg_segments(&segments, spec, jfif > 0);
    tg_buf_insert(out, at, segments.data, segments.len);
    tg_buf_free(&segments);
}
