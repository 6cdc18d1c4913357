/* Exif blocks, built here byte by byte after TIFF 6.0: what is read of good ones in both byte
 * orders, and that bad ones count as absent. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "codec/exif.h"
#include "codec/text.h"
#include "fixture.h"

enum { BYTE = 1, ASCII, SHORT, LONG, RATIONAL, SBYTE, UNDEFINED };

typedef struct block {
    uint8_t data[512];
    size_t n;
    bool big;
    unsigned entries;
} block;

static void put_at(block *b, size_t at, uint32_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        b->data[at + i] = (uint8_t)(v >> 8 * (b->big ? bytes - 1 - i : i));
}

static void put(block *b, uint32_t v, unsigned bytes)
{
    put_at(b, b->n, v, bytes);
    b->n += bytes;
}

static block start(bool big)
{
    block b = {.big = big};

    memcpy(b.data, big ? "MM" : "II", 2);
    b.n = 2;
    put(&b, 42, 2);
    put(&b, 8, 4);
    put(&b, 0, 2);
    return b;
}

/* value: that of the entry's last field; shorts are left-justified there. */
static void add(block *b, unsigned tag, unsigned type, uint32_t count, uint32_t value)
{
    put(b, tag, 2);
    put(b, type, 2);
    put(b, count, 4);
    if (type == SHORT && count == 1) {
        put(b, value, 2);
        put(b, 0, 2);
    } else {
        put(b, value, 4);
    }
    put_at(b, 8, ++b->entries, 2);
}

static tg_exif read(const block *b)
{
    /* Exactly as long as the block, so that a sanitizer sees a byte too far. */
    uint8_t *copy = malloc(b->n ? b->n : 1);
    tg_exif exif;

    if (!copy)
        abort();
    memcpy(copy, b->data, b->n);
    exif = tg_exif_read(copy, b->n);
    for (unsigned i = 0; i < TG_TEXTS; i++) {
        tg_str *t = &exif.text[i];
        CHECK(t->n == 0 || (t->p >= (char *)copy && t->p + t->n <= (char *)copy + b->n));
        t->p = t->n ? (const char *)b->data + (t->p - (char *)copy) : "";
    }
    free(copy);
    return exif;
}

/* Two entries of resolution, unit, copyright; values behind the directory at 8 + 2 + 5 * 12 + 4. */
static block full(bool big)
{
    enum { VALUES = 74 };
    block b = start(big);

    add(&b, 0x112, SHORT, 1, 6);
    add(&b, 0x11a, RATIONAL, 1, VALUES);
    add(&b, 0x11b, RATIONAL, 1, VALUES + 8);
    add(&b, 0x128, SHORT, 1, 3);
    add(&b, 0x8298, ASCII, 10, VALUES + 16);
    put(&b, 0, 4);
    put(&b, 1181, 4), put(&b, 10, 4);
    put(&b, 50, 4), put(&b, 1, 4);
    memcpy(b.data + b.n, "Ann\0 Bob \0", 10);
    b.n += 10;
    return b;
}

static void test_both_orders(void)
{
    for (int big = 0; big < 2; big++) {
        block b = full(big);
        tg_exif e = read(&b);

        CHECK_INT(e.orientation, 6);
        CHECK(fabs(e.dpi_x - 118.1 * 2.54) < 1e-9);
        CHECK(fabs(e.dpi_y - 127) < 1e-9);
        CHECK_TEXT(e.text[TG_TEXT_RIGHTS].p, e.text[TG_TEXT_RIGHTS].n, "Ann");
    }
}

/* Tags of TIFF 6.0, section 8. */
static void test_all_texts(void)
{
    static const struct {
        uint32_t tag;
        tg_text text;
    } rows[] = {{269, TG_TEXT_TITLE},   {270, TG_TEXT_DESCRIPTION}, {271, TG_TEXT_MAKE},
                {272, TG_TEXT_MODEL},   {305, TG_TEXT_SOFTWARE},    {306, TG_TEXT_DATE},
                {315, TG_TEXT_CREATOR}, {33432, TG_TEXT_RIGHTS}};
    enum { N = sizeof rows / sizeof rows[0] };
    block b = start(true);

    for (unsigned i = 0; i < N; i++)
        add(&b, rows[i].tag, ASCII, 4, (uint32_t)('a' + i) << 24 | 'x' << 16); /* "ax", "bx", ... */
    put(&b, 0, 4);
    tg_exif e = read(&b);
    for (unsigned i = 0; i < N; i++) {
        tg_str got = e.text[rows[i].text];
        CHECK(got.n == 2 && got.p[0] == (char)('a' + i) && got.p[1] == 'x');
    }
    CHECK_INT(e.text[TG_TEXT_COMMENT].n, 0);
}

static void check_absent(int line, const tg_exif *e)
{
    CHECK_ROW(line,
              e->orientation == 1 && e->dpi_x == 0 && e->dpi_y == 0 &&
                  e->text[TG_TEXT_RIGHTS].n == 0,
              "something was read: orientation %d, dpi %g x %g, copyright %zu bytes",
              e->orientation, e->dpi_x, e->dpi_y, e->text[TG_TEXT_RIGHTS].n);
}

#define CHECK_ABSENT(b)                                                                            \
    do {                                                                                           \
        tg_exif e_ = read(b);                                                                      \
        check_absent(__LINE__, &e_);                                                               \
    } while (0)

static void test_headers(void)
{
    block b = full(false);

    b.data[1] = 'M';
    CHECK_ABSENT(&b);
    b = full(false), b.data[2] = 43; /* BigTIFF is no Exif */
    CHECK_ABSENT(&b);
    b = full(true), put_at(&b, 4, 0xffffffff, 4);
    CHECK_ABSENT(&b);
    b = full(true), put_at(&b, 4, (uint32_t)b.n - 1, 4);
    CHECK_ABSENT(&b);
    b = full(true), b.n = 7;
    CHECK_ABSENT(&b);
    b = full(true), b.n = 0;
    CHECK_ABSENT(&b);
    b = full(true), put_at(&b, 4, 0, 4); /* the header as a directory */
    (void)read(&b);
}

static void test_wrong_entries(void)
{
    static const struct {
        int line;
        unsigned tag, type;
        uint32_t count, value;
    } rows[] = {
        {__LINE__, 0x112, SHORT, 1, 0},
        {__LINE__, 0x112, SHORT, 1, 9},
        {__LINE__, 0x112, SHORT, 2, 6},
        {__LINE__, 0x112, SHORT, 0, 6},
        {__LINE__, 0x112, SHORT, 0xffffffff, 6},
        {__LINE__, 0x112, ASCII, 2, 0x00360036},
        {__LINE__, 0x112, UNDEFINED, 1, 6},
        {__LINE__, 0x112, 0, 1, 6},
        {__LINE__, 0x112, 65535, 1, 6},
        {__LINE__, 0x11a, RATIONAL, 1, 0xfffffff8},
        {__LINE__, 0x11a, RATIONAL, 0x20000000, 8},
        {__LINE__, 0x11a, RATIONAL, 1, 19}, /* one byte short */
        {__LINE__, 0x11a, SHORT, 1, 0},
        {__LINE__, 0x8298, ASCII, 0xffffffff, 8},
        {__LINE__, 0x8298, ASCII, 20, 8},
        {__LINE__, 0x8298, LONG, 1, 0x41414141},
        {__LINE__, 0x8298, ASCII, 2, 0x00200020},
        {__LINE__, 0x8298, ASCII, 4, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        block b = start(i % 2);

        add(&b, rows[i].tag, rows[i].type, rows[i].count, rows[i].value);
        put(&b, 0, 4);
        tg_exif e = read(&b);
        check_absent(rows[i].line, &e);
    }
}

/* A bad entry takes nothing with it, an entry that lies beyond the end neither. */
static void test_good_beside_bad(void)
{
    block b = start(true);

    add(&b, 0x100, UNDEFINED, 0xffffffff, 0xffffffff);
    add(&b, 0x112, LONG, 1, 8);
    put_at(&b, 8, 65535, 2);
    CHECK_INT(read(&b).orientation, 8);
    b = start(false);
    add(&b, 0x112, SHORT, 1, 5);
    add(&b, 0x8769, LONG, 1, 8); /* a directory that is its own parent */
    put(&b, 8, 4);               /* and its own successor */
    CHECK_INT(read(&b).orientation, 5);
}

static void test_resolution(void)
{
    static const struct {
        int line;
        uint32_t num, den;
        int unit; /* -1: without the tag, which means inches */
        double dpi;
    } rows[] = {
        {__LINE__, 300, 1, 2, 300}, {__LINE__, 300, 1, -1, 300}, {__LINE__, 300, 1, 1, 0},
        {__LINE__, 300, 1, 7, 0},   {__LINE__, 300, 0, 2, 0},    {__LINE__, 0, 0, 2, 0},
        {__LINE__, 0, 1, 2, 0},     {__LINE__, 100, 1, 3, 254},  {__LINE__, 0xffffffff, 1, 2, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        block b = start(i % 2);
        uint32_t values = rows[i].unit < 0 ? 8 + 2 + 12 + 4 : 8 + 2 + 24 + 4;

        add(&b, 0x11a, RATIONAL, 1, values);
        if (rows[i].unit >= 0)
            add(&b, 0x128, SHORT, 1, (uint32_t)rows[i].unit);
        put(&b, 0, 4);
        put(&b, rows[i].num, 4), put(&b, rows[i].den, 4);
        tg_exif e = read(&b);
        CHECK_ROW(rows[i].line, fabs(e.dpi_x - rows[i].dpi) < 1e-9, "%g dpi", e.dpi_x);
    }
}

static void test_any_bytes(void)
{
    for (int round = 0; round < 20000; round++) {
        block b = full(round % 2);

        for (uint32_t n = fixture_random(8) + 1; n > 0; n--)
            b.data[8 + fixture_random((uint32_t)b.n - 8)] = (uint8_t)fixture_random(256);
        b.n -= fixture_random((uint32_t)b.n);
        tg_exif e = read(&b);
        CHECK(e.orientation >= 1 && e.orientation <= 8);
        CHECK(e.dpi_x >= 0 && e.dpi_x <= 1e6 && e.dpi_y >= 0 && e.dpi_y <= 1e6);
    }
}

static void test_write(void)
{
    static const char *const texts[] = {"", "abc", "abcd", "\xc2\xa9 1998 Rijksmuseum"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tg_buf out = {0};

        tg_exif_write(&out, &(tg_exif){.text = {[TG_TEXT_RIGHTS] = tg_str_of(texts[i])}});
        tg_exif e = tg_exif_read(out.data, out.len);
        CHECK_TEXT(e.text[TG_TEXT_RIGHTS].p, e.text[TG_TEXT_RIGHTS].n, texts[i]);
        CHECK_INT(e.orientation, 1);
        tg_buf_free(&out);
    }
    /* TIFF 6.0, section 2, by hand. */
    static const uint8_t want[] = {'I', 'I', 42, 0, 8, 0,   0,   0,   1, 0, 0x98, 0x82, 2,
                                   0,   4,   0,  0, 0, 'a', 'b', 'c', 0, 0, 0,    0,    0};
    tg_buf out = {0};
    tg_exif_write(&out, &(tg_exif){.orientation = 6, .text = {[TG_TEXT_RIGHTS] = TG_STR("abc")}});
    CHECK(out.len == sizeof want && memcmp(out.data, want, sizeof want) == 0);
    tg_buf_free(&out);
    tg_exif_write(
        &out,
        &(tg_exif){.dpi_x = 300, .dpi_y = 118.11, .text = {[TG_TEXT_RIGHTS] = TG_STR("abcd")}});
    tg_exif e = tg_exif_read(out.data, out.len);
    CHECK(e.dpi_x == 300 && fabs(e.dpi_y - 118.11) < 1e-3);
    CHECK_TEXT(e.text[TG_TEXT_RIGHTS].p, e.text[TG_TEXT_RIGHTS].n, "abcd");
    tg_buf_free(&out);
}

static void check_utf8(int line, const char *text, size_t n, size_t limit_bytes, const char *want)
{
    tg_buf out = {0};

    tg_text_append(&out, (tg_str){text, n}, limit_bytes);
    CHECK_ROW(line, tg_str_is(tg_buf_view(&out), want), "\"%.*s\", expected \"%s\"",
              TG_STR_ARG(tg_buf_view(&out)), want);
    tg_buf_free(&out);
}

static void test_text(void)
{
    check_utf8(__LINE__, "", 0, 9, "");
    check_utf8(__LINE__, NULL, 0, 9, "");
    check_utf8(__LINE__, "plain", 5, 5, "plain");
    check_utf8(__LINE__, "plain", 5, 4, "");
    check_utf8(__LINE__, " \tplain ", 8, 5, "plain");
    check_utf8(__LINE__, "\xa9 M\xfcller", 8, 10, "\xc2\xa9 M\xc3\xbcller");
    check_utf8(__LINE__, "\xa9 M\xfcller", 8, 9, ""); /* as UTF-8 it is too long */
    check_utf8(__LINE__, "\xc2\xa9 M\xc3\xbcller", 10, 10, "\xc2\xa9 M\xc3\xbcller");
    check_utf8(__LINE__, "\x93\x80 5\x94 \x96 \x8a", 9, 99,
               "\xe2\x80\x9c\xe2\x82\xac 5\xe2\x80\x9d \xe2\x80\x93 \xc5\xa0");
    check_utf8(__LINE__, "\x81", 1, 9, "\xc2\x81"); /* undefined there */
    check_utf8(__LINE__, "a\0b", 3, 9, "a");
}

int main(void)
{
    test_both_orders();
    test_all_texts();
    test_headers();
    test_wrong_entries();
    test_good_beside_bad();
    test_resolution();
    test_any_bytes();
    test_write();
    test_text();
    return check_done();
}
