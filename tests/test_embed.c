/* What is embedded, read back by the libraries or by the specifications. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <webp/decode.h>

#include "check.h"
#include "encoding.h"
#include "fixture.h"
#include "tegula/codec.h"

#define RIGHTS "\xc2\xa9 1998 A. N. Archive"

static char icc[200000], xmp[70000];

static void fill(void)
{
    for (size_t i = 0; i < sizeof icc; i++)
        icc[i] = (char)fixture_random(256);
    memset(xmp, ' ', sizeof xmp);
    memcpy(xmp, "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">", 36);
    memcpy(xmp + 30000 - 12, "</x:xmpmeta>", 12);
}

static tg_encode_spec spec_of(tg_format format, unsigned channels, size_t icc_bytes,
                              size_t xmp_bytes, const char *rights, double dpi)
{
    return (tg_encode_spec){
        .format = format,
        .width_px = 70,
        .height_px = 50,
        .fmt = {(uint8_t)channels, 8},
        .quality = 85,
        .dpi_x = dpi,
        .dpi_y = dpi,
        .embed = {{icc, icc_bytes}, {xmp, xmp_bytes}, tg_str_of(rights)},
    };
}

static tg_buf encoded(const tg_encode_spec *s)
{
    uint8_t *px = paint(s);
    tg_buf out = {0};
    tg_err err = {0};

    tg_buf_z(&out, "head");
    CHECK(encode(s, px, 16, &out, &err));
    free(px);
    return out;
}

/* Encoding plainly and embedding afterwards gives the same bytes. */
static void check_stored(const tg_encode_spec *s, const tg_buf *want)
{
    tg_encode_spec plain = *s;
    tg_buf out;

    plain.embed = (tg_embed){0};
    if (s->format == TG_FORMAT_WEBP)
        plain.dpi_x = plain.dpi_y = 0;
    out = encoded(&plain);
    CHECK(tg_stored_embed(&out, 4, s));
    CHECK(out.len == want->len && memcmp(out.data, want->data, out.len) == 0);
    tg_buf_free(&out);
}

/* ---- JPEG ---- */

typedef struct segments {
    size_t icc_bytes, xmp_bytes, exif_bytes;
    bool icc_same, jfif;
    char order[64]; /* "0" JFIF, "e" Exif, "x" XMP, "i" ICC, "?" */
} segments;

static void take_segment(segments *s, const uint8_t *p, size_t n, unsigned marker)
{
    char kind = '?';

    if (marker == 0xe0 && memcmp(p, "JFIF", 5) == 0) {
        kind = '0';
        s->jfif = true;
    } else if (marker == 0xe1 && memcmp(p, "Exif\0", 6) == 0) {
        kind = 'e';
        s->exif_bytes = n - 6;
    } else if (marker == 0xe1 && memcmp(p, "http://ns.adobe.com/xap/1.0/", 29) == 0) {
        kind = 'x';
        s->xmp_bytes = n - 29;
        CHECK(memcmp(p + 29, xmp, n - 29) == 0);
    } else if (marker == 0xe2 && memcmp(p, "ICC_PROFILE", 12) == 0) {
        kind = 'i';
        CHECK(p[12] == strlen(s->order) - strcspn(s->order, "i") + 1);
        s->icc_same &= memcmp(p + 14, icc + s->icc_bytes, n - 14) == 0;
        s->icc_bytes += n - 14;
    }
    s->order[strlen(s->order)] = kind;
}

/* Up to the first table. */
static segments segments_of(const uint8_t *jpeg, size_t n)
{
    segments s = {.icc_same = true};
    size_t at = 2;

    CHECK(n > 4 && jpeg[0] == 0xff && jpeg[1] == 0xd8);
    while (at + 4 < n && jpeg[at] == 0xff && jpeg[at + 1] >= 0xe0) {
        size_t length = (size_t)jpeg[at + 2] << 8 | jpeg[at + 3];

        take_segment(&s, jpeg + at + 4, length - 2, jpeg[at + 1]);
        at += 2 + length;
    }
    CHECK(jpeg[at] == 0xff && jpeg[at + 1] == 0xdb);
    return s;
}

static void check_decodes(const uint8_t *jpeg, size_t n)
{
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    uint8_t rows[70 * 3];

    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, jpeg, n);
    jpeg_read_header(&cinfo, TRUE);
    jpeg_start_decompress(&cinfo);
    while (cinfo.output_scanline < cinfo.output_height) {
        JSAMPROW row = rows;
        jpeg_read_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_decompress(&cinfo);
    CHECK_INT(errors.num_warnings, 0);
    jpeg_destroy_decompress(&cinfo);
}

static void check_jpeg(int line, size_t icc_bytes, size_t xmp_bytes, const char *rights,
                       const char *order)
{
    tg_encode_spec s = spec_of(TG_FORMAT_JPEG, 3, icc_bytes, xmp_bytes, rights, 150);
    tg_buf out = encoded(&s);
    segments found = segments_of(out.data + 4, out.len - 4);

    CHECK_ROW(line, strcmp(found.order, order) == 0, "segments %s, expected %s", found.order,
              order);
    CHECK_ROW(line, found.icc_same && (found.icc_bytes == icc_bytes || !strchr(order, 'i')),
              "other profile");
    CHECK_ROW(line, found.xmp_bytes == (strchr(order, 'x') ? xmp_bytes : 0), "other XMP");
    check_decodes(out.data + 4, out.len - 4);
    check_stored(&s, &out);
    tg_buf_free(&out);
}

static void test_jpeg(void)
{
    check_jpeg(__LINE__, 0, 0, "", "0");
    check_jpeg(__LINE__, 3144, 30000, RIGHTS, "0exi");
    check_jpeg(__LINE__, 65519, 0, "", "0i");
    check_jpeg(__LINE__, 65520, 65502, "", "0xii");
    check_jpeg(__LINE__, 200000, 65503, "", "0iiii"); /* XMP whole or not at all */
}

/* Adobe's marker excludes JFIF's: the density moves into Exif. */
static void test_adobe_jpeg(void)
{
    static const uint8_t head[] = {0xff, 0xd8, 0xff, 0xee, 0, 14, 'A', 'd', 'o',  'b',
                                   'e',  0,    100,  0,    0, 0,  0,   0,   0xff, 0xdb,
                                   0,    2,    0,    0,    0, 0,  0,   0};
    /* Exif: 150 = 0x96 as a rational at 8 + 2 + 3 * 12 + 4 */
    static const uint8_t want[] = {'I',  'I', 42, 0, 8, 0, 0, 0, 3, 0,
                                   0x1a, 1,   5,  0, 1, 0, 0, 0, 50};
    tg_encode_spec s = spec_of(TG_FORMAT_JPEG, 3, 100, 0, "", 150);
    segments found;
    tg_buf out = {0};

    tg_buf_append(&out, head, sizeof head);
    CHECK(tg_stored_embed(&out, 0, &s));
    CHECK(memcmp(out.data, head, 18) == 0);
    found = segments_of(out.data, out.len);
    CHECK_TEXT(found.order, strlen(found.order), "?ei");
    CHECK(memcmp(out.data + 18 + 10, want, sizeof want) == 0 && out.data[18 + 10 + 50] == 150);
    tg_buf_free(&out);
}

/* ---- WebP (RFC 9649) ---- */

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void chunks_of(const uint8_t *webp, size_t n, tg_buf *order)
{
    CHECK(memcmp(webp, "RIFF", 4) == 0 && le32(webp + 4) == n - 8);
    for (size_t at = 12; at + 8 <= n; at += 8 + ((size_t)le32(webp + at + 4) + 1) / 2 * 2) {
        tg_buf_append(order, webp + at, 4);
        CHECK(le32(webp + at + 4) <= n - at - 8);
        if (memcmp(webp + at, "ICCP", 4) == 0)
            CHECK(memcmp(webp + at + 8, icc, le32(webp + at + 4)) == 0);
        if (memcmp(webp + at, "XMP ", 4) == 0)
            CHECK(memcmp(webp + at + 8, xmp, le32(webp + at + 4)) == 0);
        if (memcmp(webp + at, "EXIF", 4) == 0)
            CHECK(memcmp(webp + at + 8, "II*", 4) == 0);
    }
}

static void check_webp(int line, tg_encode_spec s, const char *order, int flags)
{
    tg_buf out = encoded(&s);
    const uint8_t *webp = out.data + 4;
    tg_buf found = {0};
    int w, h;
    uint8_t *px = WebPDecodeRGBA(webp, out.len - 4, &w, &h);

    chunks_of(webp, out.len - 4, &found);
    CHECK_ROW(line, tg_str_is(tg_buf_view(&found), order), "chunks %.*s, expected %s",
              TG_STR_ARG(tg_buf_view(&found)), order);
    CHECK_ROW(line, px && w == 70 && h == 50, "does not decode");
    if (flags >= 0) {
        CHECK_ROW(line, webp[20] == flags, "flags %#x, expected %#x", webp[20], flags);
        CHECK(webp[24] == 69 && webp[25] == 0 && webp[27] == 49 && webp[28] == 0);
    }
    WebPFree(px);
    tg_buf_free(&found);
    check_stored(&s, &out);
    tg_buf_free(&out);
}

static void test_webp(void)
{
    tg_encode_spec lossless = spec_of(TG_FORMAT_WEBP, 4, 0, 30001, "", 0);

    lossless.quality = -1;
    check_webp(__LINE__, spec_of(TG_FORMAT_WEBP, 3, 0, 0, "", 0), "VP8 ", -1);
    check_webp(__LINE__, spec_of(TG_FORMAT_WEBP, 3, 3145, 30001, RIGHTS, 0), "VP8XICCPVP8 EXIFXMP ",
               0x2c);
    check_webp(__LINE__, spec_of(TG_FORMAT_WEBP, 3, 0, 0, "", 300), "VP8XVP8 EXIF", 0x08);
    check_webp(__LINE__, spec_of(TG_FORMAT_WEBP, 4, 3144, 0, "", 0), "VP8XICCPALPHVP8 ", 0x30);
    check_webp(__LINE__, lossless, "VP8XVP8LXMP ", 0x14);
}

/* ---- JPEG 2000 (ISO/IEC 15444-1, annex I) ---- */

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void check_box(const uint8_t *box, uint32_t n)
{
    static const uint8_t density[] = {0, 150, 0, 254, 0, 150, 0, 254, 4, 4}; /* 150 / 254 * 10^4 */

    if (memcmp(box + 4, "colr", 4) == 0)
        CHECK(box[8] == 2 && n == 11 + 3144 && memcmp(box + 11, icc, 3144) == 0);
    if (memcmp(box + 4, "resc", 4) == 0)
        CHECK(n == 18 && memcmp(box + 8, density, sizeof density) == 0);
    if (memcmp(box + 4, "uuid", 4) == 0 && box[8] == 0xbe)
        CHECK(n == 24 + 30000 && memcmp(box + 24, xmp, 30000) == 0);
    if (memcmp(box + 4, "uuid", 4) == 0 && box[8] != 0xbe)
        CHECK(memcmp(box + 8, "JpgTiffExif->JP2II*", 20) == 0);
}

static void boxes_of(const uint8_t *jp2, size_t n, tg_buf *order)
{
    for (size_t at = 0; at + 8 <= n; at += be32(jp2 + at)) {
        uint32_t length = be32(jp2 + at);

        CHECK(length >= 8 && length <= n - at);
        if (length < 8 || length > n - at)
            return;
        tg_buf_append(order, jp2 + at + 4, 4);
        check_box(jp2 + at, length);
        if (memcmp(jp2 + at + 4, "jp2h", 4) == 0 || memcmp(jp2 + at + 4, "res ", 4) == 0) {
            tg_buf_z(order, "(");
            boxes_of(jp2 + at + 8, length - 8, order);
            tg_buf_z(order, ")");
        }
    }
}

static void test_jp2(void)
{
    tg_encode_spec s = spec_of(TG_FORMAT_JP2, 4, 3144, 30000, RIGHTS, 150);
    tg_buf order = {0}, out;

    if (!tg_format_available(TG_FORMAT_JP2))
        return;
    out = encoded(&s);
    boxes_of(out.data + 4, out.len - 4, &order);
    CHECK_TEXT((char *)order.data, order.len, "jP  ftypjp2h(ihdrcolrcdefres (resc))jp2cuuiduuid");
    tg_buf_free(&order);
    tg_buf_free(&out);
}

/* ---- XMP ---- */

static const char *packet;

static void give_packet(tg_image *img, tg_block which, size_t limit_bytes, tg_buf *out)
{
    (void)img, (void)limit_bytes;
    if (which == TG_BLOCK_XMP)
        tg_buf_append(out, packet, strlen(packet) + 1);
}

static void test_upright_xmp(void)
{
    static const struct {
        const char *in, *out; /* NULL: left out */
    } rows[] = {
        {"<a tiff:Orientation=\"6\"/>", "<a tiff:Orientation=\"1\"/>"},
        {"<a tiff:Orientation = '8' b=\"8\"/>", "<a tiff:Orientation = '1' b=\"8\"/>"},
        {"<t:Orientation> 3 </t:Orientation>", "<t:Orientation> 1 </t:Orientation>"},
        {"<a tiff:Orientation=\"1\"/>", "<a tiff:Orientation=\"1\"/>"},
        {"<tiff:Orientation>5</tiff:Orientation><tiff:Orientation>6</tiff:Orientation>",
         "<tiff:Orientation>1</tiff:Orientation><tiff:Orientation>1</tiff:Orientation>"},
        {"<a b:OrientationX=\"6\" Orientation=\"6\" c:ImageOrientation='7'/>",
         "<a b:OrientationX=\"6\" Orientation=\"6\" c:ImageOrientation='7'/>"},
        {"<a tiff:Orientation=\"16\"/>", NULL},
        {"<a tiff:Orientation=\"6'/>", NULL},
        {"<tiff:Orientation rdf:datatype='x'>6</tiff:Orientation>", NULL},
        {"<tiff:Orientation>", NULL},
        {"<a tiff:Orientation", "<a tiff:Orientation"},
        {"<a b=\"\xff\"/>", NULL},
        {"", NULL},
    };
    static const tg_codec codec = {.name = "test", .block = give_packet};
    tg_image img = {.codec = &codec};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_buf out = {0};

        packet = rows[i].in;
        tg_buf_z(&out, "head");
        tg_image_block(&img, TG_BLOCK_XMP, 1 << 20, &out);
        CHECK_TEXT((char *)out.data + 4, out.len - 4, rows[i].out ? rows[i].out : "");
        tg_buf_free(&out);
    }
}

int main(void)
{
    fill();
    test_jpeg();
    test_adobe_jpeg();
    test_webp();
    test_jp2();
    test_upright_xmp();
    return check_done();
}
