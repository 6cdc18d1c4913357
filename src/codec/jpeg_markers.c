#include "jpeg_markers.h"

#include <string.h>

#include "read_at.h"
#include "tegula/num.h"

#define WINDOW_BYTES    128
#define MAX_SEGMENTS    4096
#define MAX_FILL_BYTES  ((uint64_t)1 << 16) /* between two segments */
#define MAX_ICC_CHUNKS  255
#define ICC_HEAD_BYTES  14 /* "ICC_PROFILE", NUL, number, count */
#define SIGNATURE_BYTES 29 /* the longest one: that of XMP */

enum marker {
    SOF0 = 0xc0,
    SOF_LAST = 0xcf,
    DHT = 0xc4,
    JPG = 0xc8,
    DAC = 0xcc,
    RST0 = 0xd0,
    SOI = 0xd8,
    EOI = 0xd9,
    SOS = 0xda,
    COM = 0xfe,
    APP0 = 0xe0,
    APP1 = 0xe1,
    APP2 = 0xe2
};

typedef struct segment {
    uint8_t marker;
    uint64_t at; /* of the payload */
    uint32_t n;
} segment;

typedef struct walk {
    int fd;
    uint64_t at, size_bytes;
    unsigned segments;
    uint64_t window_at;
    size_t window_n;
    uint8_t window[WINDOW_BYTES];
} walk;

static int byte_at(walk *w, uint64_t at)
{
    if (at < w->window_at || at - w->window_at >= w->window_n) {
        w->window_at = at;
        w->window_n = at < w->size_bytes ? tg_read_up_to(w->fd, w->window, WINDOW_BYTES, at) : 0;
        if (w->window_n == 0)
            return -1;
    }
    return w->window[at - w->window_at];
}

/* At the next marker: any number of 0xff stands before its code; like libjpeg, other bytes before
 * it are passed over. -1 when there is none. */
static int next_marker(walk *w)
{
    uint64_t limit = w->at + MAX_FILL_BYTES;
    int last = 0;

    for (int c; w->at < limit && (c = byte_at(w, w->at)) >= 0; last = c) {
        w->at++;
        if (last == 0xff && c != 0xff && c != 0)
            return c;
    }
    return -1;
}

static bool stands_alone(int marker)
{
    return marker == 0x01 || (marker >= RST0 && marker <= SOI);
}

/* False at the end of the header: the first scan's segment was the last one, or there is no more.
 */
static bool next_segment(walk *w, segment *s)
{
    int marker, high, low;

    do
        marker = next_marker(w);
    while (marker >= 0 && stands_alone(marker) && ++w->segments < MAX_SEGMENTS);
    if (marker < 0 || marker == EOI || ++w->segments >= MAX_SEGMENTS)
        return false;
    high = byte_at(w, w->at);
    low = byte_at(w, w->at + 1);
    if (low < 0 || high << 8 < 2 - low)
        return false;
    s->marker = (uint8_t)marker;
    s->at = w->at + 2;
    s->n = (uint32_t)(high << 8 | low) - 2;
    w->at = s->at + s->n;
    return s->n <= w->size_bytes - s->at;
}

static bool is_frame(uint8_t marker)
{
    return marker >= SOF0 && marker <= SOF_LAST && marker != DHT && marker != JPG && marker != DAC;
}

static void take_frame(walk *w, const segment *s, tg_jpeg_header *h)
{
    uint8_t b[6 + 3 * 4] = {0};
    size_t n = tg_read_up_to(w->fd, b, TG_MIN(sizeof b, (size_t)s->n), s->at);

    if (n < 6 || s->n < 6 + 3u * b[5])
        return;
    h->sof = s->marker;
    h->precision = b[0];
    h->height_px = tg_be16(b + 1);
    h->width_px = tg_be16(b + 3);
    h->components = b[5];
    for (unsigned i = 0; i < 4 && i < h->components; i++) {
        h->h_factor[i] = b[6 + 3 * i + 1] >> 4;
        h->v_factor[i] = b[6 + 3 * i + 1] & 15;
    }
}

/* Densities count when they have a unit (JFIF 1.02: 1 per inch, 2 per centimetre). */
static void take_jfif(const uint8_t *b, size_t n, tg_jpeg_header *h)
{
    double per_inch;

    if (n < 12 || memcmp(b, "JFIF", 5) != 0)
        return;
    per_inch = b[7] == 1 ? 1 : b[7] == 2 ? 2.54 : 0;
    h->dpi_x = tg_be16(b + 8) * per_inch;
    h->dpi_y = tg_be16(b + 10) * per_inch;
}

static void take_app1(const segment *s, const uint8_t *b, size_t n, tg_jpeg_header *h)
{
    static const char exif[6] = "Exif\0", xmp[SIGNATURE_BYTES] = "http://ns.adobe.com/xap/1.0/";

    if (!h->exif.at && n >= sizeof exif && memcmp(b, exif, sizeof exif) == 0)
        h->exif = (tg_part){s->at + sizeof exif, s->n - (uint32_t)sizeof exif};
    else if (!h->xmp.at && n >= sizeof xmp && memcmp(b, xmp, sizeof xmp) == 0)
        h->xmp = (tg_part){s->at + sizeof xmp, s->n - (uint32_t)sizeof xmp};
}

static void take_application(walk *w, const segment *s, tg_jpeg_header *h)
{
    uint8_t b[SIGNATURE_BYTES];
    size_t n;

    if (s->marker != APP0 && s->marker != APP1)
        return;
    n = tg_read_up_to(w->fd, b, TG_MIN(sizeof b, (size_t)s->n), s->at);
    if (s->marker == APP0)
        take_jfif(b, n, h);
    else
        take_app1(s, b, n, h);
}

/* Progressive frames have many scans by their nature, sequential ones when the first scan does not
 * hold all components. */
static void take_scan(walk *w, const segment *s, tg_jpeg_header *h)
{
    uint8_t in_scan = 0;
    bool progressive = (h->sof & 3) == 2;

    tg_read_up_to(w->fd, &in_scan, s->n > 0, s->at);
    h->many_scans = progressive || in_scan < h->components;
}

bool tg_jpeg_header_read(int fd, uint64_t size_bytes, tg_jpeg_header *h, tg_err *err)
{
    walk w = {.fd = fd, .size_bytes = size_bytes};
    segment s;

    *h = (tg_jpeg_header){0};
    while (next_segment(&w, &s)) {
        if (is_frame(s.marker) && !h->sof)
            take_frame(&w, &s, h);
        else if (s.marker == COM && !h->comment.at)
            h->comment = (tg_part){s.at, s.n};
        else
            take_application(&w, &s, h);
        if (s.marker != SOS)
            continue;
        take_scan(&w, &s, h);
        return h->sof || tg_fail(err, TG_ERR_CORRUPT, "the JPEG file has no frame header");
    }
    return tg_fail(err, TG_ERR_CORRUPT, "the JPEG file ends within its header");
}

typedef struct chunks {
    uint64_t at[MAX_ICC_CHUNKS];
    uint32_t n[MAX_ICC_CHUNKS];
    bool there[MAX_ICC_CHUNKS];
    unsigned count; /* as the first chunk says */
} chunks;

/* False when the chunk contradicts the others. */
static bool take_icc(walk *w, const segment *s, chunks *c)
{
    uint8_t b[ICC_HEAD_BYTES];
    unsigned number;

    if (s->marker != APP2 || s->n < sizeof b ||
        tg_read_up_to(w->fd, b, sizeof b, s->at) < sizeof b || memcmp(b, "ICC_PROFILE", 12) != 0)
        return true;
    number = b[12];
    if (number == 0 || number > b[13] || (c->count && c->count != b[13]) || c->there[number - 1])
        return false;
    c->count = b[13];
    c->there[number - 1] = true;
    c->at[number - 1] = s->at + sizeof b;
    c->n[number - 1] = s->n - (uint32_t)sizeof b;
    return true;
}

void tg_jpeg_icc(int fd, uint64_t size_bytes, size_t limit_bytes, tg_buf *out)
{
    walk w = {.fd = fd, .size_bytes = size_bytes};
    chunks c = {.count = 0};
    size_t start = out->len, total = 0;
    bool ok = true;

    for (segment s; ok && next_segment(&w, &s) && s.marker != SOS;)
        ok = take_icc(&w, &s, &c);
    for (unsigned i = 0; ok && i < c.count; i++) {
        total += c.n[i];
        ok = c.there[i] && total <= limit_bytes && tg_append_at(out, fd, c.n[i], c.at[i]);
    }
    if (!ok)
        out->len = start;
}
