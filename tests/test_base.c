/* Numbers, slices, buffers, arena, image memory. */
#include <stdint.h>

#include "check.h"
#include "tegula/arena.h"
#include "tegula/buf.h"
#include "tegula/json_text.h"
#include "tegula/mem.h"
#include "tegula/num.h"

static void test_u64(void)
{
    static const struct {
        const char *text;
        bool ok;
        uint64_t value;
    } rows[] = {
        {"0", true, 0},
        {"00017", true, 17},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", true, UINT64_MAX}, /* saturates, never wraps */
        {"99999999999999999999999999", true, UINT64_MAX},
        {"", false, 0},
        {"-1", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"0x10", false, 0},
        {"1.0", false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t v = 0;
        CHECK_INT(tg_parse_u64(tg_str_of(rows[i].text), &v), rows[i].ok);
        if (rows[i].ok)
            CHECK(v == rows[i].value);
    }
}

static void test_i64(void)
{
    int64_t v;
    CHECK(tg_parse_i64(TG_STR("-42"), &v) && v == -42);
    CHECK(tg_parse_i64(TG_STR("9223372036854775807"), &v) && v == INT64_MAX);
    CHECK(!tg_parse_i64(TG_STR("9223372036854775808"), &v));
    CHECK(!tg_parse_i64(TG_STR("-"), &v));
    CHECK(!tg_parse_i64(TG_STR("--1"), &v));
}

static void test_decimal(void)
{
    static const struct {
        const char *text;
        bool ok;
        double value;
    } rows[] = {
        {"0", true, 0},
        {"90", true, 90},
        {"22.5", true, 22.5},
        {".5", true, 0.5},
        {"10.50", true, 10.5},
        {"41.6", true, 41.6},
        {"0.1", true, 0.1},
        {"007.25", true, 7.25},
        {"90.", false, 0},
        {".", false, 0},
        {"", false, 0},
        {"1e1", false, 0},
        {"+1", false, 0},
        {"-1", false, 0},
        {"1.2.3", false, 0},
        {"NaN", false, 0},
        {"inf", false, 0},
        {"0x1", false, 0},
        {"1,5", false, 0},
        {" 1", false, 0},
        {"33.3333333333333333333333", true, 33.3333333333333333},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double v = -1;
        CHECK_INT(tg_parse_decimal(tg_str_of(rows[i].text), &v), rows[i].ok);
        if (rows[i].ok)
            CHECK(fabs(v - rows[i].value) <= 1e-15 * rows[i].value);
    }
}

static void test_decimal_out(void)
{
    static const struct {
        double v;
        const char *text;
    } rows[] = {{0, "0"},     {90, "90"},   {22.5, "22.5"},
                {0.5, "0.5"}, {0.1, "0.1"}, {359.99, "359.99"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char buf[32];
        size_t n = tg_format_decimal(rows[i].v, buf);
        CHECK_TEXT(buf, n, rows[i].text);
    }
}

static void test_slices(void)
{
    tg_str head, tail;
    CHECK(tg_str_cut(TG_STR("a/b/c"), '/', &head, &tail));
    CHECK_TEXT(head.p, head.n, "a");
    CHECK_TEXT(tail.p, tail.n, "b/c");
    CHECK(tg_str_rcut(TG_STR("a/b/c"), '/', &head, &tail));
    CHECK_TEXT(head.p, head.n, "a/b");
    CHECK_TEXT(tail.p, tail.n, "c");
    CHECK(!tg_str_cut(TG_STR("abc"), '/', &head, &tail));
    CHECK_TEXT(head.p, head.n, "abc");
    CHECK(!tg_str_rcut(TG_STR("abc"), '/', &head, &tail));
    CHECK_TEXT(tail.p, tail.n, "abc");
    CHECK(tg_str_ends(TG_STR("x.fcgi"), TG_STR(".fcgi")));
    CHECK(!tg_str_ends(TG_STR("fcgi"), TG_STR(".fcgi")));
    CHECK(tg_str_eq_nocase(TG_STR("IIIF"), TG_STR("iiif")));
    head = tg_str_trim(TG_STR(" \t q=1 "));
    CHECK_TEXT(head.p, head.n, "q=1");
}

static void test_buffer(void)
{
    tg_buf b = {.max = 10};
    tg_buf_z(&b, "hello");
    tg_buf_printf(&b, "%d", 42);
    CHECK_TEXT((char *)b.data, b.len, "hello42");
    tg_buf_z(&b, "far too long");
    CHECK(b.failed);
    CHECK_INT(b.len, 7); /* the last good append stands */
    tg_buf_z(&b, "x");
    CHECK_INT(b.len, 7); /* failure sticks */
    tg_buf_reset(&b);
    tg_buf_z(&b, "x");
    CHECK_INT(b.len, 1);
    tg_buf_free(&b);
}

static void test_arena(void)
{
    tg_arena *a = tg_arena_new();
    for (int round = 0; round < 3; round++) {
        for (size_t n = 1; n < 200000; n = n * 3 + 1) {
            unsigned char *p = tg_arena_alloc(a, n);
            CHECK_INT((uintptr_t)p % 16, 0);
            CHECK(p[0] == 0 && p[n - 1] == 0);
            memset(p, 0xff, n);
        }
        tg_arena_reset(a);
    }
    tg_str s = tg_arena_printf(a, "%s-%d", "x", 7);
    CHECK_TEXT(s.p, s.n, "x-7");
    tg_arena_free(a);
}

static void test_image_memory(void)
{
    tg_err err = {0};
    size_t before = tg_image_ceiling();
    tg_image_set_ceiling(1000);
    char *p = tg_image_alloc(10, 90, &err);
    CHECK(p != NULL);
    CHECK_INT((uintptr_t)p % 64, 0);
    CHECK_INT(tg_image_in_use(), 900);
    CHECK(tg_image_alloc(101, 1, &err) == NULL);
    CHECK_INT(err.kind, TG_ERR_TOO_LARGE);
    err = (tg_err){0};
    CHECK(tg_image_alloc(SIZE_MAX / 2, 3, &err) == NULL); /* overflow */
    CHECK_INT(err.kind, TG_ERR_TOO_LARGE);
    tg_image_free(p);
    CHECK_INT(tg_image_in_use(), 0);
    tg_image_set_ceiling(before);
}

/* RFC 8259: how many members, -1 for what is no JSON. */
static void test_json_members(void)
{
    static const struct {
        const char *text;
        int members;
    } cases[] = {
        {"", 0},
        {"  ", 0},
        {"\"a\":1", 1},
        {" \"a\" : [ ] , \"b\":{} ", 2},
        {"\"a\":{\"b\":[1,-0.5e+3,true,null,\"x\\u00e9\\n\"]}", 1},
        {"\"a\":", -1},
        {"\"a\"", -1},
        {"a:1", -1},
        {"\"a\":1,", -1},
        {"\"a\":1 \"b\":2", -1},
        {"\"a\":01", -1},
        {"\"a\":1.", -1},
        {"\"a\":+1", -1},
        {"\"a\":tru", -1},
        {"\"a\":[1,]", -1},
        {"\"a\":{\"b\"}", -1},
        {"\"a\":\"\n\"", -1},
        {"\"a\":\"\\x\"", -1},
        {"\"a\":\"\\u12\"", -1},
        {"\"a\":\"\xff\"", -1},
        {"\"a\":1}", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tg_str rest = tg_str_of(cases[i].text), name, value;
        int members = 0;
        bool bad;
        while (tg_json_next_member(&rest, &name, &value, &bad))
            members++;
        CHECK_INT(bad ? -1 : members, cases[i].members);
    }
    char deep[400] = "\"a\":";
    memset(deep + 4, '[', 300);
    tg_str rest = tg_str_of(deep), name, value;
    bool bad;
    CHECK(!tg_json_next_member(&rest, &name, &value, &bad) && bad);
}

static void test_first_error_stays(void)
{
    tg_err err = {0};
    CHECK(!tg_fail(&err, TG_ERR_CORRUPT, "tile %d", 3));
    CHECK(!tg_fail(&err, TG_ERR_IO, "other"));
    CHECK_INT(err.kind, TG_ERR_CORRUPT);
    CHECK_TEXT(err.msg, strlen(err.msg), "tile 3");
}

/* As scripts and spreadsheets print numbers, and nothing that only looks like one. */
static void test_real(void)
{
    static const struct {
        const char *text;
        bool ok;
        double value;
    } rows[] = {
        {"0", true, 0},       {"-1.5", true, -1.5},   {"+.5", true, .5},   {"5.", true, 5},
        {"1e-7", true, 1e-7}, {"2.5E+3", true, 2500}, {"-0", true, 0},     {"1e-999", true, 0},
        {"", false, 0},       {".", false, 0},        {"-", false, 0},     {"--1", false, 0},
        {"1.2.3", false, 0},  {"5..", false, 0},      {"1e", false, 0},    {"e5", false, 0},
        {"1e5e5", false, 0},  {"1e1.5", false, 0},    {"nan", false, 0},   {"inf", false, 0},
        {"0x10", false, 0},   {" 1", false, 0},       {"1e999", false, 0}, {"1,5", false, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double v = 77;
        bool ok = tg_parse_real(tg_str_of(rows[i].text), &v);
        CHECK_ROW(__LINE__, ok == rows[i].ok, "\"%s\": %d", rows[i].text, ok);
        CHECK_ROW(__LINE__, !ok || fabs(v - rows[i].value) <= 1e-15 * fabs(rows[i].value),
                  "\"%s\" is %.17g", rows[i].text, v);
    }
}

int main(void)
{
    test_real();
    test_u64();
    test_i64();
    test_decimal();
    test_decimal_out();
    test_slices();
    test_buffer();
    test_arena();
    test_image_memory();
    test_json_members();
    test_first_error_stays();
    return check_done();
}
