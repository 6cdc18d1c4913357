/* Only the first directory is looked at, once: what matters of it needs no other, so that no chain
 * or loop can be followed (CIPA DC-008-2019, section 4.6; TIFF 6.0, section 2). */
#include "exif.h"

#include <math.h>
#include <string.h>

#include "text.h"

#define HEADER_BYTES 8
#define ENTRY_BYTES  12
#define MAGIC        42
#define MAX_DPI      1e6 /* above it the number is noise; nothing scans at 25 nm */

enum tag {
    TAG_ORIENTATION = 0x112,
    TAG_X_RESOLUTION = 0x11a,
    TAG_Y_RESOLUTION = 0x11b,
    TAG_RESOLUTION_UNIT = 0x128
};

enum type {
    TYPE_BYTE = 1,
    TYPE_ASCII = 2,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    TYPE_RATIONAL = 5,
    TYPE_UTF8 = 129 /* Exif 3.0 */
};

enum unit { UNIT_INCH = 2, UNIT_CM = 3 };

typedef struct block {
    const uint8_t *data;
    size_t n;
    bool big_endian;
} block;

typedef struct entry {
    uint32_t tag, type, count;
    size_t at; /* of the values: in the entry or elsewhere, inside the block */
} entry;

/* Reads inside the block; at + bytes <= n is the caller's to know. */
static uint32_t number(const block *b, size_t at, unsigned bytes)
{
    uint32_t v = 0;

    for (unsigned i = 0; i < bytes; i++)
        v = v << 8 | b->data[at + (b->big_endian ? i : bytes - 1 - i)];
    return v;
}

static bool has(const block *b, size_t at, size_t bytes)
{
    return at <= b->n && bytes <= b->n - at;
}

static unsigned type_bytes(uint32_t type)
{
    switch (type) {
    case TYPE_BYTE:
    case TYPE_ASCII:
    case TYPE_UTF8:
        return 1;
    case TYPE_SHORT:
        return 2;
    case TYPE_LONG:
        return 4;
    case TYPE_RATIONAL:
        return 8;
    default: /* none of the tags here */
        return 0;
    }
}

/* False when the values do not lie in the block. */
static bool read_entry(const block *b, size_t at, entry *e)
{
    uint64_t bytes;

    e->tag = number(b, at, 2);
    e->type = number(b, at + 2, 2);
    e->count = number(b, at + 4, 4);
    bytes = (uint64_t)type_bytes(e->type) * e->count;
    e->at = bytes <= 4 ? at + 8 : number(b, at + 8, 4);
    return bytes > 0 && bytes <= b->n && has(b, e->at, (size_t)bytes);
}

/* Readers accept any unsigned type for a whole number (TIFF 6.0, section 2). */
static uint32_t whole(const block *b, const entry *e)
{
    bool fits =
        e->count == 1 && (e->type == TYPE_BYTE || e->type == TYPE_SHORT || e->type == TYPE_LONG);

    return fits ? number(b, e->at, type_bytes(e->type)) : 0;
}

static double ratio(const block *b, const entry *e)
{
    double v;

    if (e->count != 1 || e->type != TYPE_RATIONAL)
        return whole(b, e);
    v = (double)number(b, e->at, 4) / number(b, e->at + 4, 4);
    return isfinite(v) ? v : 0;
}

/* Of rights there are photographer, NUL, editor, NUL (section 4.6.5, Copyright); a photographer of
 * one blank stands for none. */
static tg_str first_text(const block *b, const entry *e)
{
    const char *p = (const char *)b->data + e->at;

    if (e->type != TYPE_ASCII && e->type != TYPE_UTF8)
        return TG_STR("");
    return tg_str_trim((tg_str){p, strnlen(p, e->count)});
}

typedef struct found {
    uint32_t orientation, unit;
    double x, y;
    tg_str text[TG_TEXTS];
} found;

static void take_text(const block *b, const entry *e, found *f)
{
    for (unsigned i = 0; i < TG_TEXTS; i++)
        if (tg_text_tag(i) == e->tag && e->tag)
            f->text[i] = first_text(b, e);
}

static void take(const block *b, const entry *e, found *f)
{
    switch (e->tag) {
    case TAG_ORIENTATION:
        f->orientation = whole(b, e);
        break;
    case TAG_X_RESOLUTION:
        f->x = ratio(b, e);
        break;
    case TAG_Y_RESOLUTION:
        f->y = ratio(b, e);
        break;
    case TAG_RESOLUTION_UNIT:
        f->unit = whole(b, e);
        break;
    default:
        take_text(b, e, f);
        break;
    }
}

static void read_directory(const block *b, found *f)
{
    size_t at = number(b, 4, 4);
    uint32_t n;

    if (!has(b, at, 2))
        return;
    n = number(b, at, 2);
    for (at += 2; n-- > 0 && has(b, at, ENTRY_BYTES); at += ENTRY_BYTES) {
        entry e;

        if (read_entry(b, at, &e))
            take(b, &e, f);
    }
}

static double as_dpi(double resolution, uint32_t unit)
{
    double dpi = unit == UNIT_INCH ? resolution : unit == UNIT_CM ? resolution * 2.54 : 0;

    return dpi > 0 && dpi <= MAX_DPI ? dpi : 0;
}

tg_exif tg_exif_read(const uint8_t *data, size_t n_bytes)
{
    block b = {data, n_bytes, false};
    found f = {.orientation = 1, .unit = UNIT_INCH};
    tg_exif exif = {.orientation = 1};

    for (unsigned i = 0; i < TG_TEXTS; i++)
        f.text[i] = exif.text[i] = TG_STR("");
    if (n_bytes < HEADER_BYTES || data[0] != data[1] || (data[0] != 'I' && data[0] != 'M'))
        return exif;
    b.big_endian = data[0] == 'M';
    if (number(&b, 2, 2) != MAGIC)
        return exif;
    read_directory(&b, &f);
    if (f.orientation >= 1 && f.orientation <= 8)
        exif.orientation = (uint8_t)f.orientation;
    exif.dpi_x = as_dpi(f.x, f.unit);
    exif.dpi_y = as_dpi(f.y, f.unit);
    memcpy(exif.text, f.text, sizeof exif.text);
    return exif;
}

static void put(tg_buf *out, uint32_t v, unsigned bytes)
{
    uint8_t le[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};

    tg_buf_append(out, le, bytes);
}

static void put_entry(tg_buf *out, uint32_t tag, uint32_t type, uint32_t count, uint32_t value)
{
    put(out, tag, 2);
    put(out, type, 2);
    put(out, count, 4);
    put(out, value, 4);
}

/* Thousandths where it is no whole number. */
static void put_ratio(tg_buf *out, double v)
{
    bool whole_number = v == floor(v);

    put(out, (uint32_t)(whole_number ? v : v * 1000 + 0.5), 4);
    put(out, whole_number ? 1 : 1000, 4);
}

/* Values of up to four bytes lie in the entry itself, left-justified. */
static void put_rights(tg_buf *out, tg_str text, uint32_t at)
{
    uint32_t in_entry = 0;

    for (size_t i = 0; i < text.n && i < 4; i++)
        in_entry |= (uint32_t)(uint8_t)text.p[i] << 8 * i;
    put_entry(out, tg_text_tag(TG_TEXT_RIGHTS), TYPE_ASCII, (uint32_t)text.n + 1,
              text.n < 4 ? in_entry : at);
}

void tg_exif_write(tg_buf *out, const tg_exif *exif)
{
    tg_str rights = exif->text[TG_TEXT_RIGHTS];
    tg_str text = {rights.p, rights.n ? strnlen(rights.p, rights.n) : 0};
    bool density =
        exif->dpi_x > 0 && exif->dpi_x <= MAX_DPI && exif->dpi_y > 0 && exif->dpi_y <= MAX_DPI;
    uint32_t entries = 3 * density + (text.n > 0);
    uint32_t values = HEADER_BYTES + 2 + entries * ENTRY_BYTES + 4;

    tg_buf_append(out, "II", 2);
    put(out, MAGIC, 2);
    put(out, HEADER_BYTES, 4);
    put(out, entries, 2);
    if (density) {
        put_entry(out, TAG_X_RESOLUTION, TYPE_RATIONAL, 1, values);
        put_entry(out, TAG_Y_RESOLUTION, TYPE_RATIONAL, 1, values + 8);
        put_entry(out, TAG_RESOLUTION_UNIT, TYPE_SHORT, 1, UNIT_INCH);
    }
    if (text.n)
        put_rights(out, text, values + 16 * density);
    put(out, 0, 4); /* no further directory */
    if (density) {
        put_ratio(out, exif->dpi_x);
        put_ratio(out, exif->dpi_y);
    }
    if (text.n >= 4) {
        tg_buf_str(out, text);
        put(out, 0, 1);
    }
}
