#include "png_chunks.h"

#include <string.h>
#include <zlib.h>

#include "read_at.h"
#include "tegula/num.h"
#include "text.h"

#define SIGNATURE_BYTES 8
#define HEAD_BYTES      8    /* of a chunk: length and type */
#define FRAME_BYTES     12   /* head and CRC */
#define MAX_CHUNKS      4096 /* looked at; what matters rarely stands behind the pixels */
#define KEYWORD_BYTES   80   /* with its NUL */

bool tg_png_is(const uint8_t *head, size_t n)
{
    static const uint8_t signature[SIGNATURE_BYTES] = {137, 'P', 'N', 'G', 13, 10, 26, 10};

    return n >= sizeof signature && memcmp(head, signature, sizeof signature) == 0;
}

typedef struct chunk {
    uint8_t type[4];
    uint64_t at;
    uint32_t n;
} chunk;

static bool is(const chunk *c, const char *type)
{
    return memcmp(c->type, type, 4) == 0;
}

/* The chunk whose head lies at *at, which moves behind it; false at the end or when it runs beyond
 * the file. */
static bool next_chunk(int fd, uint64_t size_bytes, uint64_t *at, chunk *c)
{
    uint8_t head[HEAD_BYTES];

    if (tg_read_up_to(fd, head, sizeof head, *at) < sizeof head)
        return false;
    c->n = tg_be32(head);
    memcpy(c->type, head + 4, 4);
    c->at = *at + HEAD_BYTES;
    *at += (uint64_t)FRAME_BYTES + c->n;
    return c->n <= 0x7fffffff && *at <= size_bytes && !is(c, "IEND");
}

static bool read_ihdr(int fd, tg_png_header *h, tg_err *err)
{
    enum { IHDR_BYTES = 13, CRC_AT = HEAD_BYTES + IHDR_BYTES };
    uint8_t b[CRC_AT + 4];

    if (!tg_read_at(fd, b, sizeof b, SIGNATURE_BYTES, err))
        return false;
    if (tg_be32(b) != IHDR_BYTES || memcmp(b + 4, "IHDR", 4) != 0)
        return tg_fail(err, TG_ERR_CORRUPT, "the PNG file does not begin with its header");
    if (tg_be32(b + CRC_AT) != crc32(0, b + 4, 4 + IHDR_BYTES))
        return tg_fail(err, TG_ERR_CORRUPT, "the header of the PNG file is damaged");
    h->width_px = tg_be32(b + 8);
    h->height_px = tg_be32(b + 12);
    h->bits = b[16];
    h->colour_type = b[17];
    h->interlaced = b[20] != 0;
    if (h->width_px == 0 || h->height_px == 0 || h->width_px > 0x7fffffff ||
        h->height_px > 0x7fffffff)
        return tg_fail(err, TG_ERR_CORRUPT, "the PNG file has no valid size");
    return true;
}

/* Table 11.1 of the specification. */
static bool valid_depth(const tg_png_header *h)
{
    static const uint8_t depths[7] = {
        [0] = 1 | 2 | 4 | 8 | 16, [2] = 8 | 16, [3] = 1 | 2 | 4 | 8, [4] = 8 | 16, [6] = 8 | 16};
    bool one_bit = h->bits && !(h->bits & (h->bits - 1));

    return h->colour_type < sizeof depths && one_bit && (depths[h->colour_type] & h->bits);
}

static void take_physical(const uint8_t *b, tg_png_header *h)
{
    bool per_metre = b[8] == 1;

    h->dpi_x = per_metre ? tg_be32(b) * 0.0254 : 0;
    h->dpi_y = per_metre ? tg_be32(b + 4) * 0.0254 : 0;
}

static bool fits_transparency(const tg_png_header *h, uint32_t n)
{
    switch (h->colour_type) {
    case 0:
        return n == 2;
    case TG_PNG_RGB:
        return n == 6;
    case TG_PNG_RGB | TG_PNG_PALETTE:
        return n > 0 && n <= 256;
    default: /* has alpha already */
        return false;
    }
}

/* Chunks of a fixed length that come before the pixels. */
static void take_small(int fd, const chunk *c, tg_png_header *h)
{
    uint8_t b[32];

    if (c->n > sizeof b || tg_read_up_to(fd, b, c->n, c->at) < c->n)
        return;
    if (is(c, "pHYs") && c->n == 9) {
        take_physical(b, h);
    } else if (is(c, "gAMA") && c->n == 4) {
        h->gamma = tg_be32(b);
    } else if (is(c, "cHRM") && c->n == 32) {
        h->has_chromaticities = true;
        for (unsigned i = 0; i < 8; i++)
            h->chromaticity[i] = tg_be32(b + 4 * i);
    } else if (is(c, "cICP") && c->n == 4) {
        h->has_code_points = true;
        memcpy(h->code_points, b, 4);
    } else if (is(c, "sRGB") && c->n == 1) {
        h->srgb = true;
    }
}

static void keep_first(tg_part *part, const chunk *c)
{
    if (!part->at)
        *part = (tg_part){c->at, c->n};
}

/* Of the registered ones (11.3.3.2). */
static const char *const keywords[TG_TEXTS] = {
    [TG_TEXT_RIGHTS] = "Copyright",        [TG_TEXT_TITLE] = "Title",
    [TG_TEXT_DESCRIPTION] = "Description", [TG_TEXT_CREATOR] = "Author",
    [TG_TEXT_DATE] = "Creation Time",      [TG_TEXT_SOFTWARE] = "Software",
    [TG_TEXT_COMMENT] = "Comment",
};

static void take_text(int fd, const chunk *c, tg_png_header *h)
{
    char keyword[KEYWORD_BYTES];
    size_t n = tg_read_up_to(fd, keyword, TG_MIN(sizeof keyword, (size_t)c->n), c->at);

    if (n > 18 && memcmp(keyword, "XML:com.adobe.xmp", 18) == 0 && is(c, "iTXt"))
        keep_first(&h->xmp, c);
    for (unsigned i = 0; i < TG_TEXTS; i++) {
        size_t word = keywords[i] ? strlen(keywords[i]) + 1 : n;
        if (n <= word || memcmp(keyword, keywords[i], word) != 0 || h->text[i].part.at)
            continue;
        keep_first(&h->text[i].part, c);
        memcpy(h->text[i].type, c->type, 4);
    }
}

static void take_chunk(int fd, const chunk *c, bool in_front, tg_png_header *h)
{
    if (is(c, "tEXt") || is(c, "zTXt") || is(c, "iTXt"))
        take_text(fd, c, h);
    else if (is(c, "eXIf"))
        keep_first(&h->exif, c);
    else if (in_front && is(c, "iCCP"))
        keep_first(&h->icc, c);
    else if (in_front && is(c, "tRNS"))
        h->transparency = h->transparency || fits_transparency(h, c->n);
    else if (in_front)
        take_small(fd, c, h);
}

bool tg_png_header_read(int fd, uint64_t size_bytes, tg_png_header *h, tg_err *err)
{
    uint64_t at = SIGNATURE_BYTES;
    bool in_front = true;
    chunk c;

    *h = (tg_png_header){0};
    if (!read_ihdr(fd, h, err))
        return false;
    if (!valid_depth(h))
        return tg_fail(err, TG_ERR_CORRUPT,
                       "the PNG file has no valid combination of bits and colour");
    for (unsigned i = 0; i < MAX_CHUNKS && next_chunk(fd, size_bytes, &at, &c); i++) {
        in_front = in_front && !is(&c, "IDAT");
        if (!is(&c, "IDAT"))
            take_chunk(fd, &c, in_front, h);
    }
    return true;
}

typedef struct inflating {
    z_stream z;
    int fd;
    uint64_t at, end;
    uint8_t in[4096];
} inflating;

static bool refill(inflating *s)
{
    size_t want = (size_t)TG_MIN(sizeof s->in, s->end - s->at);
    size_t got = tg_read_up_to(s->fd, s->in, want, s->at);

    s->at += got;
    s->z.next_in = s->in;
    s->z.avail_in = (uInt)got;
    return got > 0;
}

/* Appends up to limit bytes; true at the stream's end. */
static bool inflate_all(inflating *s, size_t limit_bytes, tg_buf *out)
{
    enum { STEP_BYTES = 16384 };
    size_t start = out->len;
    int state = Z_OK;

    while (state == Z_OK && out->len - start <= limit_bytes) {
        uint8_t *to = tg_buf_reserve(out, STEP_BYTES);

        if (!to || (s->z.avail_in == 0 && !refill(s)))
            return false;
        s->z.next_out = to;
        s->z.avail_out = STEP_BYTES;
        state = inflate(&s->z, Z_NO_FLUSH);
        out->len += STEP_BYTES - s->z.avail_out;
    }
    return state == Z_STREAM_END && out->len - start <= limit_bytes;
}

static bool append_inflated(int fd, uint64_t at, uint64_t end, size_t limit_bytes, tg_buf *out)
{
    inflating s = {.fd = fd, .at = at, .end = end};
    bool ok;

    if (inflateInit(&s.z) != Z_OK)
        return false;
    ok = inflate_all(&s, limit_bytes, out);
    inflateEnd(&s.z);
    return ok;
}

/* Text or profile behind its heading: `skip` bytes, compressed or not. */
static void append_part(int fd, tg_part part, size_t skip, bool compressed, size_t limit_bytes,
                        tg_buf *out)
{
    size_t start = out->len;
    uint64_t at = part.at + skip, end = part.at + part.n;
    bool ok;

    if (at > end)
        return;
    ok = compressed ? append_inflated(fd, at, end, limit_bytes, out)
                    : end - at <= limit_bytes && tg_append_at(out, fd, (size_t)(end - at), at);
    if (!ok)
        out->len = start;
}

/* Bytes up to and with the first NUL from `from` on; 0 when there is none. */
static size_t past_nul(const uint8_t *head, size_t n, size_t from)
{
    const uint8_t *nul = from < n ? memchr(head + from, 0, n - from) : NULL;

    return nul ? (size_t)(nul - head) + 1 : 0;
}

void tg_png_icc(int fd, const tg_png_header *h, size_t limit_bytes, tg_buf *out)
{
    uint8_t head[KEYWORD_BYTES];
    size_t n = tg_read_up_to(fd, head, TG_MIN(sizeof head, (size_t)h->icc.n), h->icc.at);
    size_t name = past_nul(head, n, 0);

    if (h->icc.at && name)
        append_part(fd, h->icc, name + 1, true, limit_bytes, out);
}

/* Keyword, flag of compression, method, language, keyword translated (11.3.3.4). */
static void append_itxt(int fd, tg_part part, size_t limit_bytes, tg_buf *out)
{
    uint8_t head[512];
    size_t n = tg_read_up_to(fd, head, TG_MIN(sizeof head, (size_t)part.n), part.at);
    size_t keyword = past_nul(head, n, 0), language = past_nul(head, n, keyword + 2);
    size_t text = past_nul(head, n, language);

    if (keyword && language && text)
        append_part(fd, part, text, head[keyword] == 1, limit_bytes, out);
}

void tg_png_xmp(int fd, const tg_png_header *h, size_t limit_bytes, tg_buf *out)
{
    if (h->xmp.at)
        append_itxt(fd, h->xmp, limit_bytes, out);
}

void tg_png_text(int fd, const tg_png_header *h, tg_text which, size_t limit_bytes, tg_buf *out)
{
    const char *type = h->text[which].type;
    tg_part part = h->text[which].part;
    tg_buf raw = {0};
    bool deflated = memcmp(type, "zTXt", 4) == 0;

    if (!part.at)
        return;
    if (memcmp(type, "iTXt", 4) == 0)
        append_itxt(fd, part, limit_bytes, &raw);
    else
        append_part(fd, part, strlen(keywords[which]) + 1 + deflated, deflated, limit_bytes, &raw);
    tg_text_append(out, tg_buf_view(&raw), limit_bytes);
    tg_buf_free(&raw);
}
