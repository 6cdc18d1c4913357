/* Requests, URIs, dates, validators and Accept. Values from RFC 9110, RFC 9112, RFC 3986. */
#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "tegula/http.h"
#include "tegula/utf8.h"

#define HEADERS 16

/* FastCGI parameters as pairs, name before value, ended by NULL. */
static const char *lookup(void *ctx, const char *name)
{
    for (const char *const *pair = ctx; *pair; pair += 2)
        if (strcmp(pair[0], name) == 0)
            return pair[1];
    return NULL;
}

static bool read_request(const char *const *pairs, tg_request *r, tg_err *err)
{
    *err = (tg_err){0};
    return tg_request_read(lookup, (void *)(uintptr_t)pairs, r, err);
}

static void test_request(void)
{
    static const struct {
        int line;
        const char *method, *uri;
        tg_method want;
        const char *path;
    } rows[] = {
        {__LINE__, "GET", "/a%2Fb/c?d=e?f", TG_GET, "/a%2Fb/c"},
        {__LINE__, NULL, "/a", TG_GET, "/a"},
        {__LINE__, "HEAD", "/?x", TG_HEAD, "/"},
        {__LINE__, "POST", "/a", TG_POST, "/a"},
        {__LINE__, "OPTIONS", "*", TG_OPTIONS, "*"},
        {__LINE__, "get", "/a", TG_OTHER_METHOD, "/a"}, /* methods are case-sensitive */
        {__LINE__, "DELETE", "/a", TG_OTHER_METHOD, "/a"},
        {__LINE__, "GET", "http://h.example/a/b?c", TG_GET, "/a/b"}, /* RFC 9112, 3.2.2 */
        {__LINE__, "GET", "HTTPS://h.example:8443/a", TG_GET, "/a"},
        {__LINE__, "GET", "http://h.example", TG_GET, "/"},
        {__LINE__, "GET", "http://h.example?q", TG_GET, "/"},
        {__LINE__, "GET", NULL, TG_GET, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *pairs[] = {"X", "", "X", "", NULL};
        tg_request r;
        tg_err err;
        if (rows[i].method)
            pairs[0] = "REQUEST_METHOD", pairs[1] = rows[i].method;
        if (rows[i].uri)
            pairs[2] = "REQUEST_URI", pairs[3] = rows[i].uri;
        bool ok = read_request(pairs, &r, &err);
        CHECK_ROW(rows[i].line, ok && r.method == rows[i].want && tg_str_is(r.path, rows[i].path),
                  "method %d, path \"%.*s\"", (int)r.method, TG_STR_ARG(r.path));
    }
}

static void test_request_refused(void)
{
    static char uri[TG_MAX_URI_BYTES + 3];
    tg_request r;
    tg_err err;
    memset(uri, 'a', sizeof uri - 1);
    uri[0] = '/';
    const char *long_path[] = {"REQUEST_METHOD", "HEAD", "REQUEST_URI", uri, NULL};
    CHECK(!read_request(long_path, &r, &err) && err.kind == TG_ERR_URI_TOO_LONG);
    CHECK(r.method == TG_HEAD); /* the refusal must know that it has no body */
    const char *long_query[] = {"REQUEST_URI", "/", "QUERY_STRING", uri, NULL};
    CHECK(!read_request(long_query, &r, &err) && err.kind == TG_ERR_URI_TOO_LONG);
    uri[TG_MAX_URI_BYTES] = '\0';
    CHECK(read_request(long_path, &r, &err) && r.path.n == TG_MAX_URI_BYTES);
    const char *control[] = {"REQUEST_URI", "/a\nb", NULL};
    CHECK(!read_request(control, &r, &err) && err.kind == TG_ERR_BAD_REQUEST);
    const char *del[] = {"REQUEST_URI", "/a\x7f", NULL};
    CHECK(!read_request(del, &r, &err) && err.kind == TG_ERR_BAD_REQUEST);
}

/* Case 19 of the field list, and what clients may write into these headers. */
static void test_origin(tg_arena *arena)
{
    static const struct {
        int line;
        const char *pairs[HEADERS];
        const char *want;
    } rows[] = {
        {__LINE__, {"HTTP_HOST", "h.example"}, "http://h.example"},
        {__LINE__, {"HTTP_HOST", "h.example", "HTTPS", ""}, "http://h.example"},
        {__LINE__, {"HTTP_HOST", "h.example", "HTTPS", "off"}, "http://h.example"},
        {__LINE__, {"HTTP_HOST", "h.example", "HTTPS", "OFF"}, "http://h.example"},
        {__LINE__, {"HTTP_HOST", "h.example", "HTTPS", "on"}, "https://h.example"},
        {__LINE__, {"HTTP_HOST", "h.example:8080"}, "http://h.example:8080"},
        {__LINE__, {"HTTP_HOST", "h.example:80"}, "http://h.example"},
        {__LINE__, {"HTTP_HOST", "h.example:443", "HTTPS", "on"}, "https://h.example"},
        {__LINE__, {"HTTP_HOST", "h.example:80", "HTTPS", "on"}, "https://h.example:80"},
        {__LINE__,
         {"HTTP_HOST", "10.0.0.1:9000", "HTTP_X_FORWARDED_PROTO", "https", "HTTP_X_FORWARDED_HOST",
          "img.example.org", "HTTP_X_FORWARDED_PORT", "8443"},
         "https://img.example.org:8443"},
        {__LINE__,
         {"HTTP_HOST", "inner", "HTTP_X_FORWARDED_PROTO", "https, http", "HTTP_X_FORWARDED_HOST",
          "img.example.org, inner.example", "HTTP_X_FORWARDED_PORT", "443"},
         "https://img.example.org"},
        {__LINE__,
         {"HTTP_HOST", "h.example", "HTTPS", "on", "HTTP_X_FORWARDED_PROTO", "http"},
         "http://h.example"},
        {__LINE__,
         {"HTTP_HOST", "h.example", "HTTP_X_FORWARDED_PROTO", "javascript"},
         "http://h.example"},
        {__LINE__, {"HTTP_HOST", "[2001:db8::1]:8080"}, "http://[2001:db8::1]:8080"},
        {__LINE__, {"HTTP_HOST", "[2001:db8::1]"}, "http://[2001:db8::1]"},
        {__LINE__, {"SERVER_NAME", "s.example", "SERVER_PORT", "80"}, "http://s.example"},
        {__LINE__, {"SERVER_NAME", "s.example", "SERVER_PORT", "81"}, "http://s.example:81"},
        {__LINE__,
         {"HTTP_HOST", "a\"b", "SERVER_NAME", "s.example", "SERVER_PORT", "80"},
         "http://s.example"},
        {__LINE__,
         {"HTTP_X_FORWARDED_HOST", "evil/../x", "HTTP_HOST", "h.example"},
         "http://h.example"},
        {__LINE__, {"HTTP_HOST", "user@h.example"}, "http://localhost"},
        {__LINE__, {"HTTP_HOST", "h.example:99999"}, "http://localhost"},
        {__LINE__, {"HTTP_HOST", "h.example:"}, "http://localhost"},
        {__LINE__, {"HTTP_HOST", "h.example:8a"}, "http://localhost"},
        {__LINE__, {"HTTP_HOST", "[::1"}, "http://localhost"},
        {__LINE__, {"HTTP_HOST", "[::1]x"}, "http://localhost"},
        {__LINE__, {"HTTP_HOST", ""}, "http://localhost"},
        {__LINE__,
         {"HTTP_HOST", "h.example", "HTTP_X_FORWARDED_PORT", "80\r\nX: y"},
         "http://h.example"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_request r;
        tg_err err;
        read_request(rows[i].pairs, &r, &err);
        tg_str got = tg_request_origin(&r, arena);
        CHECK_ROW(rows[i].line, tg_str_is(got, rows[i].want), "%.*s, expected %s", TG_STR_ARG(got),
                  rows[i].want);
    }
}

static void test_decode(tg_arena *arena)
{
    static const struct {
        int line;
        const char *in, *want; /* NULL: refused */
    } rows[] = {
        {__LINE__, "", ""},
        {__LINE__, "a%2Fb", "a/b"},
        {__LINE__, "a%2fb", "a/b"},
        {__LINE__, "a%252Fb", "a%2Fb"}, /* once only */
        {__LINE__, "a+b", "a+b"},
        {__LINE__, "%C3%A9", "\xC3\xA9"},
        {__LINE__, "\xC3\xA9", "\xC3\xA9"},
        {__LINE__, "%40%5B%5D%3F%23%25", "@[]?#%"},
        {__LINE__, "%E2%82%AC%F0%9F%98%80", "\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {__LINE__, "%", NULL},
        {__LINE__, "%4", NULL},
        {__LINE__, "%zz", NULL},
        {__LINE__, "a%%2Fb", NULL},
        {__LINE__, "%00", NULL},
        {__LINE__, "x.tif%00.jpg", NULL},
        {__LINE__, "x%0d%0aSet-Cookie:a=b", NULL},
        {__LINE__, "%7f", NULL},
        {__LINE__, "%ff", NULL},
        {__LINE__, "%C3", NULL},
        {__LINE__, "%C0%AF", NULL},          /* overlong slash */
        {__LINE__, "%E0%80%AF", NULL},       /* the same in three bytes */
        {__LINE__, "%ED%A0%80", NULL},       /* surrogate */
        {__LINE__, "%F4%90%80%80", NULL},    /* above U+10FFFF */
        {__LINE__, "%F8%88%80%80%80", NULL}, /* five bytes */
        {__LINE__, "%80", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_err err = {0};
        tg_str got = {0};
        bool ok = tg_percent_decode(tg_str_of(rows[i].in), arena, "identifier", &got, &err);
        CHECK_ROW(rows[i].line,
                  ok == (rows[i].want != NULL) &&
                      (ok ? tg_str_is(got, rows[i].want)
                          : err.kind == TG_ERR_BAD_REQUEST && strstr(err.msg, "identifier")),
                  "%s gives %d \"%.*s\"", rows[i].in, ok, TG_STR_ARG(got));
    }
}

static void test_clean(tg_arena *arena)
{
    static const struct {
        int line;
        const char *in, *want;
    } rows[] = {
        {__LINE__, "/iiif/3/sub%2fx.tif", "/iiif/3/sub%2fx.tif"},
        {__LINE__, "a:b;c,d(e)+f@g!h$i&j'k*l=m-n._~", "a:b;c,d(e)+f@g!h$i&j'k*l=m-n._~"},
        {__LINE__, "a b\"<>\\^`{|}[]#?", "a%20b%22%3C%3E%5C%5E%60%7B%7C%7D%5B%5D%23%3F"},
        {__LINE__, "100%", "100%25"},
        {__LINE__, "%zz", "%25zz"},
        {__LINE__, "\xC3\xA9", "%C3%A9"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_str got = tg_uri_clean(tg_str_of(rows[i].in), arena);
        CHECK_ROW(rows[i].line, tg_str_is(got, rows[i].want), "%.*s", TG_STR_ARG(got));
        CHECK_ROW(rows[i].line, tg_str_eq(tg_uri_clean(got, arena), got), "not idempotent");
    }
    CHECK(tg_is_http_url(TG_STR("https://example.org/a?b#c")));
    CHECK(tg_is_http_url(TG_STR("http://[::1]:80/a")));
    CHECK(!tg_is_http_url(TG_STR("ftp://example.org/")));
    CHECK(!tg_is_http_url(TG_STR("http://")));
    CHECK(!tg_is_http_url(TG_STR("http:///a")));
    CHECK(!tg_is_http_url(TG_STR("http:x")));
    CHECK(!tg_is_http_url(TG_STR("http://a b/")));
    CHECK(!tg_is_http_url(TG_STR("http://a/>;rel=x")));
    CHECK(!tg_is_http_url(TG_STR("http://a/\r\nX: y")));
    CHECK(!tg_is_http_url(TG_STR("")));
}

/* RFC 9110, 5.6.7: its three spellings of one moment, 784111777 seconds after the epoch. */
static void test_dates(void)
{
    static const struct {
        int line;
        const char *text;
        bool ok;
        time_t want;
    } rows[] = {
        {__LINE__, "Sun, 06 Nov 1994 08:49:37 GMT", true, 784111777},
        {__LINE__, "Sunday, 06-Nov-94 08:49:37 GMT", true, 784111777},
        {__LINE__, "Sun Nov  6 08:49:37 1994", true, 784111777},
        {__LINE__, "Thu, 01 Jan 1970 00:00:00 GMT", true, 0},
        {__LINE__, "Thu Jan 15 00:00:00 1970", true, 14 * 86400},
        {__LINE__, "Tue, 29 Feb 2000 12:00:00 GMT", true, 951825600},
        {__LINE__, "Thu, 29 Feb 2001 12:00:00 GMT", false, 0},
        {__LINE__, "Sun, 06 Nov 1994 08:49:37 UTC", false, 0},
        {__LINE__, "Sun, 06 Nov 1994 24:49:37 GMT", false, 0},
        {__LINE__, "Sun, 06 Nov 1994 08:60:37 GMT", false, 0},
        {__LINE__, "Sun, 00 Nov 1994 08:49:37 GMT", false, 0},
        {__LINE__, "Sun, 6 Nov 1994 08:49:37 GMT", false, 0},
        {__LINE__, "sun, 06 nov 1994 08:49:37 gmt", false, 0},
        {__LINE__, "Sun, 06 Nov 1994 08:49:37 GMT, x", false, 0},
        {__LINE__, "784111777", false, 0},
        {__LINE__, "Sun", false, 0},
        {__LINE__, "", false, 0},
    };
    char text[30];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        time_t t = -1;
        bool ok = tg_http_date_parse(tg_str_of(rows[i].text), &t);
        CHECK_ROW(rows[i].line, ok == rows[i].ok && (!ok || t == rows[i].want), "%s: %d %lld",
                  rows[i].text, ok, (long long)t);
    }
    tg_http_date(784111777, text);
    CHECK_TEXT(text, strlen(text), "Sun, 06 Nov 1994 08:49:37 GMT");
    tg_http_date(-5, text);
    CHECK_TEXT(text, strlen(text), "Thu, 01 Jan 1970 00:00:00 GMT");
    tg_http_date(INT64_MAX, text);
    CHECK_TEXT(text, strlen(text), "Fri, 31 Dec 9999 23:59:59 GMT");
}

static void test_etag(tg_arena *arena)
{
    tg_str a = tg_etag(arena, "abcdefghij", 10), b = tg_etag(arena, "abcdefghik", 10);
    CHECK(a.n == 34 && a.p[0] == '"' && a.p[33] == '"');
    CHECK(strspn(a.p + 1, "0123456789abcdef") == 32);
    CHECK(tg_str_eq(a, tg_etag(arena, "abcdefghij", 10)));
    CHECK(!tg_str_eq(a, b));
    CHECK(memcmp(a.p + 1, b.p + 1, 16) != 0 && memcmp(a.p + 17, b.p + 17, 16) != 0);
    CHECK(!tg_str_eq(tg_etag(arena, "\0\0", 1), tg_etag(arena, "\0\0", 2)));
    CHECK(tg_etag(arena, "", 0).n == 34);
}

static void test_not_modified(void)
{
    static const struct {
        int line;
        tg_method method;
        const char *none_match, *since;
        bool want;
    } rows[] = {
        {__LINE__, TG_GET, "", "", false},
        {__LINE__, TG_GET, "\"abc\"", "", true},
        {__LINE__, TG_HEAD, "\"abc\"", "", true},
        {__LINE__, TG_POST, "\"abc\"", "", false},
        {__LINE__, TG_GET, "W/\"abc\"", "", true}, /* weak comparison */
        {__LINE__, TG_GET, "\"x\", \"abc\"", "", true},
        {__LINE__, TG_GET, "\"x\",W/\"y,z\" ,\"abc\"", "", true},
        {__LINE__, TG_GET, "\"x\"", "", false},
        {__LINE__, TG_GET, "\"abcd\"", "", false},
        {__LINE__, TG_GET, "abc", "", false},
        {__LINE__, TG_GET, "\"abc", "", false},
        {__LINE__, TG_GET, "W/", "", false},
        {__LINE__, TG_GET, "*", "", true},
        /* If-None-Match decides alone (RFC 9110, 13.2.2) */
        {__LINE__, TG_GET, "\"x\"", "Sun, 06 Nov 1994 08:49:37 GMT", false},
        {__LINE__, TG_GET, "", "Sun, 06 Nov 1994 08:49:37 GMT", true},
        {__LINE__, TG_GET, "", "Sun, 06 Nov 1994 08:49:38 GMT", false}, /* may be of another file */
        {__LINE__, TG_GET, "", "Sun, 06 Nov 1994 08:49:47 GMT", true},
        {__LINE__, TG_GET, "", "Sun, 06 Nov 1994 08:49:36 GMT", false},
        {__LINE__, TG_GET, "", "yesterday", false},
        {__LINE__, TG_POST, "", "Sun, 06 Nov 1994 08:49:37 GMT", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_request r = {.method = rows[i].method,
                        .if_none_match = tg_str_of(rows[i].none_match),
                        .if_modified_since = tg_str_of(rows[i].since)};
        CHECK_ROW(rows[i].line,
                  tg_not_modified(&r, TG_STR("\"abc\""), 784111777, 784111787) == rows[i].want,
                  "If-None-Match %s, If-Modified-Since %s", rows[i].none_match, rows[i].since);
    }
}

static void test_accept(void)
{
    static const struct {
        int line;
        const char *accept;
        int json, ld;
    } rows[] = {
        {__LINE__, "", 1000, 1000},
        {__LINE__, "  ", 1000, 1000},
        {__LINE__, "*/*", 1000, 1000},
        {__LINE__, "application/json", 1000, 0},
        {__LINE__, "application/ld+json", 0, 1000},
        {__LINE__, "Application/LD+JSON", 0, 1000},
        {__LINE__, "text/html", 0, 0},
        {__LINE__, "text/*, image/*;q=0.5", 0, 0},
        {__LINE__, "application/*;q=0.3", 300, 300},
        {__LINE__, "application/json;q=0.9, application/ld+json;q=0.1", 900, 100},
        {__LINE__, "*/*;q=0.2, application/*;q=0.4, application/json;q=0", 0, 400},
        {__LINE__, "application/ld+json;profile=\"http://iiif.io/a,b;c\";q=0.7, */*;q=0.1", 100,
         700},
        {__LINE__, "application/ld+json; charset=utf-8", 0, 1000},
        {__LINE__, "application/json ; Q=0.25 ", 250, 0},
        {__LINE__, "application/json;q=1.000", 1000, 0},
        {__LINE__, "application/json;q=1.001", 0, 0}, /* malformed: no such range */
        {__LINE__, "application/json;q=", 0, 0},
        {__LINE__, "application/json;q=-1, */*;q=0.5", 500, 500},
        {__LINE__, ",,application/json,,", 1000, 0},
        {__LINE__, "application", 0, 0},
        {__LINE__, "*/json", 0, 0},
        {__LINE__, "application/json;x=\"unclosed", 1000, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool named;
        tg_str accept = tg_str_of(rows[i].accept);
        int json = tg_accept_quality(accept, TG_STR("application"), TG_STR("json"), &named);
        int ld = tg_accept_quality(accept, TG_STR("application"), TG_STR("ld+json"), &named);
        CHECK_ROW(rows[i].line, json == rows[i].json && ld == rows[i].ld, "%s: json %d, ld %d",
                  rows[i].accept, json, ld);
    }
    bool named = true;
    tg_accept_quality(TG_STR("application/*"), TG_STR("application"), TG_STR("json"), &named);
    CHECK(!named);
    tg_accept_quality(TG_STR("*/*, application/json;q=0.1"), TG_STR("application"), TG_STR("json"),
                      &named);
    CHECK(named);
}

static void test_response(void)
{
    tg_response r = {0};
    tg_response_reset(&r);
    tg_header(&r, "Content-Type", TG_STR("image/png"));
    tg_header(&r, "X-Bad", TG_STR("a\r\nSet-Cookie: b"));
    tg_header_f(&r, "X-Bad", "%s", "a\nb");
    tg_header_f(&r, "Link", "<%s>;rel=\"%s\"", "http://h/x", "canonical");
    tg_header(&r, "X-Empty", TG_STR(""));
    tg_str head = tg_buf_view(&r.head);
    CHECK_TEXT(head.p, head.n,
               "Content-Type: image/png\r\nLink: <http://h/x>;rel=\"canonical\"\r\nX-Empty: \r\n");
    CHECK(tg_str_is(tg_response_header(&r, "content-type"), "image/png"));
    CHECK(tg_str_is(tg_response_header(&r, "Link"), "<http://h/x>;rel=\"canonical\""));
    CHECK(tg_response_header(&r, "X-Bad").n == 0);
    tg_buf_z(&r.body, "x");
    tg_response_reset(&r);
    CHECK(r.status == 200 && r.head.len == 0 && r.body.len == 0);
    tg_response_free(&r);
    CHECK(strcmp(tg_status_reason(404), "Not Found") == 0);
    CHECK(strcmp(tg_status_reason(303), "See Other") == 0);
    CHECK(strcmp(tg_status_reason(414), "URI Too Long") == 0);
}

static uint64_t seed = 9110;

static uint32_t rnd(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % n);
}

/* Random text from the letters these parsers treat specially, in exact heap blocks so that a
 * sanitizer sees any byte too far. */
static void test_fuzz(tg_arena *arena)
{
    static const char alphabet[] = "%%%2f/0Cc3a9Ff,;=\"\\*qW. :-GMTSunNov\x80\xff\x01";
    for (int i = 0; i < 50000; i++) {
        size_t n = rnd(24);
        char *text = malloc(n + (n == 0));
        for (size_t k = 0; k < n; k++)
            text[k] = alphabet[rnd(sizeof alphabet - 1)];
        tg_str s = {text, n}, out;
        tg_err err = {0};
        bool named;
        time_t t;
        if (tg_percent_decode(s, arena, "text", &out, &err))
            CHECK(out.n <= n && tg_utf8_valid(out) && !memchr(out.p, 0, out.n));
        else
            CHECK(err.kind == TG_ERR_BAD_REQUEST);
        out = tg_uri_clean(s, arena);
        CHECK(tg_str_eq(tg_uri_clean(out, arena), out));
        int q = tg_accept_quality(s, TG_STR("a"), TG_STR("c"), &named);
        CHECK(q >= 0 && q <= 1000);
        tg_http_date_parse(s, &t);
        tg_request r = {.method = TG_GET,
                        .if_none_match = s,
                        .host = s,
                        .forwarded_host = s,
                        .forwarded_proto = s,
                        .forwarded_port = s};
        tg_not_modified(&r, TG_STR("\"a\""), 1, 2);
        CHECK(tg_is_http_url(tg_request_origin(&r, arena)));
        free(text);
        tg_arena_reset(arena);
    }
}

int main(void)
{
    tg_arena *arena = tg_arena_new();
    test_request();
    test_request_refused();
    test_origin(arena);
    test_decode(arena);
    test_clean(arena);
    test_dates();
    test_etag(arena);
    test_not_modified();
    test_accept();
    test_response();
    test_fuzz(arena);
    tg_arena_free(arena);
    return check_done();
}
