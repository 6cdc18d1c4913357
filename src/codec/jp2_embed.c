#include "jp2_embed.h"

#include "embed.h"

#define BOX_BYTES 8

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void set_be(uint8_t *p, uint32_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
}

static void add_be(uint8_t *p, size_t n)
{
    set_be(p, get32(p) + (uint32_t)n, 4);
}

/* The first box of a type in [at, end), as its place; end when there is none. */
static size_t find_box(const tg_buf *out, size_t at, size_t end, const char *type)
{
    while (end - at >= BOX_BYTES) {
        uint32_t n = get32(out->data + at);

        if (memcmp(out->data + at + 4, type, 4) == 0)
            return at;
        if (n < BOX_BYTES || n > end - at)
            break;
        at += n;
    }
    return end;
}

/* ---- resolution (ISO/IEC 15444-1, I.5.3.7) ---- */

/* Samples per metre as numerator / denominator * 10^exponent: dots per inch over 254 times 10^4, so
 * that whole numbers stay exact. */
static void set_ratio(uint8_t ratio[4], uint8_t *exponent, double dpi)
{
    int tens = 4;

    for (; dpi * 10 <= 65535 && dpi != (uint32_t)dpi; tens--)
        dpi *= 10;
    for (; dpi > 65535; tens++)
        dpi /= 10;
    set_be(ratio, (uint32_t)(dpi + 0.5), 2);
    set_be(ratio + 2, 254, 2);
    *exponent = (uint8_t)tens;
}

/* As the header's last box. */
static void put_resolution(tg_buf *out, size_t header, const tg_encode_spec *spec)
{
    uint8_t box[BOX_BYTES + BOX_BYTES + 10] = {0, 0, 0, 26, 'r', 'e', 's', ' ',
                                               0, 0, 0, 18, 'r', 'e', 's', 'c'};

    set_ratio(box + 16, box + 24, spec->dpi_y);
    set_ratio(box + 20, box + 25, spec->dpi_x);
    tg_buf_insert(out, header + get32(out->data + header), box, sizeof box);
    add_be(out->data + header, sizeof box);
}

/* ---- profile (I.5.3.3) ---- */

/* The colour space of method 1; the profile of method 2 begins in its place. */
#define ENUMERATED_BYTES 4

/* OpenJPEG writes an enumerated colour space and cannot do otherwise. */
static void put_profile(tg_buf *out, size_t header, tg_str icc)
{
    size_t end = header + get32(out->data + header);
    size_t colr = find_box(out, header + BOX_BYTES, end, "colr");
    size_t at = colr + BOX_BYTES + 3, more = icc.n - ENUMERATED_BYTES;

    if (colr == end || icc.n <= ENUMERATED_BYTES || end - at < ENUMERATED_BYTES)
        return;
    out->data[colr + BOX_BYTES] = 2;
    memcpy(out->data + at, icc.p, ENUMERATED_BYTES);
    tg_buf_insert(out, at + ENUMERATED_BYTES, icc.p + ENUMERATED_BYTES, more);
    add_be(out->data + colr, more);
    add_be(out->data + header, more);
}

/* ---- UUID boxes (I.7.2) ---- */

static void put_uuid(tg_buf *out, const char uuid[16], tg_str data)
{
    uint8_t head[BOX_BYTES] = {0, 0, 0, 0, 'u', 'u', 'i', 'd'};

    if (!data.n)
        return;
    set_be(head, (uint32_t)(sizeof head + 16 + data.n), 4);
    tg_buf_append(out, head, sizeof head);
    tg_buf_append(out, uuid, 16);
    tg_buf_str(out, data);
}

/* The density stands in the header already. */
static void put_exif(tg_buf *out, const tg_encode_spec *spec)
{
    tg_encode_spec rights = *spec;
    tg_buf block = {0};

    rights.dpi_x = rights.dpi_y = 0;
    tg_embed_exif(&block, &rights);
    put_uuid(out, "JpgTiffExif->JP2", tg_buf_view(&block));
    tg_buf_free(&block);
}

void tg_jp2_embed(tg_buf *out, size_t start, const tg_encode_spec *spec)
{
    size_t header = find_box(out, start, out->len, "jp2h");

    if (header == out->len || get32(out->data + header) > out->len - header)
        return;
    if (spec->embed.icc.n)
        put_profile(out, header, spec->embed.icc);
    if (spec->dpi_x >= 0.01 && spec->dpi_x < 1e9 && spec->dpi_y >= 0.01 && spec->dpi_y < 1e9)
        put_resolution(out, header, spec);
    put_exif(out, spec);
    put_uuid(out, "\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac",
             spec->embed.xmp); /* XMP part 3, 1.1.4 */
}
