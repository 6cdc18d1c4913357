/* IIIF URIs, canonical forms, identifiers, media types and information documents. Tags name the
 * item of the IIIF checklist (14.3) or a case seen in the field (case 19). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "tegula/iiif.h"
#include "tegula/json.h"
#include "tegula/utf8.h"

static const tg_config config = {.max_cvt = 5000,
                                 .memory_bytes = (uint64_t)512 << 20,
                                 .allow_upscaling = true,
                                 .cors = "*",
                                 .base_url = "",
                                 .iiif_version = 3,
                                 .copyright = "",
                                 .iiif_delimiter = ""};

#define IMAGE "/full/max/0/default.jpg"

/* ---- the path ---- */

static void test_paths(tg_arena *arena)
{
    static const struct {
        int line;
        const char *tag, *rest;
        tg_iiif_kind kind;
        int version;
        const char *identifier, *base_path;
    } rows[] = {
        {__LINE__, "1.1", "x.tif" IMAGE, TG_IIIF_IMAGE, 3, "x.tif", "/iiif/x.tif"},
        {__LINE__, "1.1", "3/x.tif" IMAGE, TG_IIIF_IMAGE, 3, "x.tif", "/iiif/3/x.tif"},
        {__LINE__, "1.1", "2/x.tif/full/full/0/default.jpg", TG_IIIF_IMAGE, 2, "x.tif",
         "/iiif/2/x.tif"},
        {__LINE__, "1.2", "x.tif/info.json", TG_IIIF_INFO, 3, "x.tif", "/iiif/x.tif"},
        {__LINE__, "1.2", "2/x.tif/info.json", TG_IIIF_INFO, 2, "x.tif", "/iiif/2/x.tif"},
        {__LINE__, "1.3", "x.tif", TG_IIIF_BASE, 3, "x.tif", "/iiif/x.tif"},
        {__LINE__, "1.3", "2/x.tif", TG_IIIF_BASE, 2, "x.tif", "/iiif/2/x.tif"},
        {__LINE__, "1.1", "x.tif/full/max/0", TG_IIIF_BASE, 3, "x.tif/full/max/0",
         "/iiif/x.tif/full/max/0"},
        {__LINE__, "13.5", "x.tif/full/max/0/default", TG_IIIF_BASE, 3, "x.tif/full/max/0/default",
         "/iiif/x.tif/full/max/0/default"},
        {__LINE__, "1.6", "sub%2Fx.tif" IMAGE, TG_IIIF_IMAGE, 3, "sub/x.tif", "/iiif/sub%2Fx.tif"},
        {__LINE__, "1.6", "sub%2fx.tif" IMAGE, TG_IIIF_IMAGE, 3, "sub/x.tif", "/iiif/sub%2fx.tif"},
        {__LINE__, "case 16", "sub/x.tif" IMAGE, TG_IIIF_IMAGE, 3, "sub/x.tif", "/iiif/sub/x.tif"},
        {__LINE__, "case 16", "sub/x.tif/info.json", TG_IIIF_INFO, 3, "sub/x.tif",
         "/iiif/sub/x.tif"},
        {__LINE__, "case 16", "sub/x.tif", TG_IIIF_BASE, 3, "sub/x.tif", "/iiif/sub/x.tif"},
        {__LINE__, "case 16", "a/b/c/d/e.tif", TG_IIIF_BASE, 3, "a/b/c/d/e.tif",
         "/iiif/a/b/c/d/e.tif"},
        {__LINE__, "case 16", "3/a/b/c/12/e.tif", TG_IIIF_BASE, 3, "a/b/c/12/e.tif",
         "/iiif/3/a/b/c/12/e.tif"},
        {__LINE__, "1.7", "a%252Fb/info.json", TG_IIIF_INFO, 3, "a%2Fb", "/iiif/a%252Fb"},
        {__LINE__, "1.8", "%40%5Bx%5D%23%3F.tif/info.json", TG_IIIF_INFO, 3, "@[x]#?.tif",
         "/iiif/%40%5Bx%5D%23%3F.tif"},
        {__LINE__, "1.8", "caf%C3%A9.tif/info.json", TG_IIIF_INFO, 3, "caf\xC3\xA9.tif",
         "/iiif/caf%C3%A9.tif"},
        {__LINE__, "1.9", "67352ccc%2Dd1b0/%66ull/m%61x/%30/default%2Ejpg", TG_IIIF_IMAGE, 3,
         "67352ccc-d1b0", "/iiif/67352ccc%2Dd1b0"},
        {__LINE__, "1.9", "x.tif/info%2Ejson", TG_IIIF_INFO, 3, "x.tif", "/iiif/x.tif"},
        {__LINE__, "1.10", "ark:%2F12025%2F654xz321/info.json", TG_IIIF_INFO, 3,
         "ark:/12025/654xz321", "/iiif/ark:%2F12025%2F654xz321"},
        {__LINE__, "1.10", "http:%2F%2Fexample.com%2F%3F54%23a/info.json", TG_IIIF_INFO, 3,
         "http://example.com/?54#a", "/iiif/http:%2F%2Fexample.com%2F%3F54%23a"},
        {__LINE__, "case 15", "a%2Bb%20c%2541%26d.tif/info.json", TG_IIIF_INFO, 3, "a+b c%41&d.tif",
         "/iiif/a%2Bb%20c%2541%26d.tif"},
        {__LINE__, "case 15", "a+b%20c%2541%26d.tif" IMAGE, TG_IIIF_IMAGE, 3, "a+b c%41&d.tif",
         "/iiif/a+b%20c%2541%26d.tif"},
        {__LINE__, "case 17", "dir%20one%2Fim%20age.tif/info.json", TG_IIIF_INFO, 3,
         "dir one/im age.tif", "/iiif/dir%20one%2Fim%20age.tif"},
        {__LINE__, "1.10", "full/full/max/0/default.jpg", TG_IIIF_IMAGE, 3, "full", "/iiif/full"},
        {__LINE__, "1.10", "info.json/info.json", TG_IIIF_INFO, 3, "info.json", "/iiif/info.json"},
        {__LINE__, "1.10", "info.json", TG_IIIF_BASE, 3, "info.json", "/iiif/info.json"},
        {__LINE__, "1.10", "3" IMAGE, TG_IIIF_IMAGE, 3, "3", "/iiif/3"},
        {__LINE__, "1.10", "2/info.json", TG_IIIF_INFO, 3, "2", "/iiif/2"},
        {__LINE__, "1.10", "2/3/info.json", TG_IIIF_INFO, 2, "3", "/iiif/2/3"},
        {__LINE__, "1.10", "3%2Fx.tif/info.json", TG_IIIF_INFO, 3, "3/x.tif", "/iiif/3%2Fx.tif"},
        {__LINE__, "1.15", "[frob]/info.json", TG_IIIF_INFO, 3, "[frob]", "/iiif/%5Bfrob%5D"},
        {__LINE__, "1.8", "a b\"c/info.json", TG_IIIF_INFO, 3, "a b\"c", "/iiif/a%20b%22c"},
        {__LINE__, "case 73", "2/x.tif/0,0,1000,700/125,/0/default.jpg", TG_IIIF_IMAGE, 2, "x.tif",
         "/iiif/2/x.tif"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_iiif iiif;
        tg_err err = {0};
        bool ok =
            tg_iiif_parse(&config, TG_STR("/iiif/"), tg_str_of(rows[i].rest), arena, &iiif, &err);
        CHECK_ROW(rows[i].line,
                  ok && iiif.kind == rows[i].kind && iiif.version == rows[i].version &&
                      tg_str_is(iiif.identifier, rows[i].identifier) &&
                      tg_str_is(iiif.base_path, rows[i].base_path) &&
                      tg_str_ends(iiif.base_path, iiif.id_path),
                  "%s: %s is kind %d v%d \"%.*s\" at \"%.*s\" %s", rows[i].tag, rows[i].rest,
                  (int)iiif.kind, iiif.version, TG_STR_ARG(iiif.identifier),
                  TG_STR_ARG(iiif.base_path), err.msg);
        tg_arena_reset(arena);
    }
}

static void test_paths_refused(tg_arena *arena)
{
    static const struct {
        int line;
        const char *tag, *rest;
        tg_err_kind want;
        const char *names; /* the part that the message must name */
    } rows[] = {
        {__LINE__, "1.4", "", TG_ERR_NOT_FOUND, ""},
        {__LINE__, "1.4", "x.tif/", TG_ERR_NOT_FOUND, ""},
        {__LINE__, "1.4", "3//", TG_ERR_NOT_FOUND, ""},
        {__LINE__, "1.1", "x.tif//full/max/0/default.jpg", TG_ERR_NOT_FOUND, ""},
        {__LINE__, "1.1", "x.tif/full/full/max/0/default.jpg/0", TG_ERR_NONE, ""},
        {__LINE__, "1.1", "x.tif/full/max/0/0/default.jpg", TG_ERR_BAD_REQUEST, "region"},
        {__LINE__, "1.1", "sub/x.tif/full/max/default.jpg", TG_ERR_BAD_REQUEST, "region"},
        {__LINE__, "1.13", "x%zz.tif/info.json", TG_ERR_BAD_REQUEST, "identifier"},
        {__LINE__, "1.13", "x%/info.json", TG_ERR_BAD_REQUEST, "identifier"},
        {__LINE__, "1.13", "x%ff/info.json", TG_ERR_BAD_REQUEST, "identifier"},
        {__LINE__, "1.13", "x.tif%00.jpg/info.json", TG_ERR_BAD_REQUEST, "identifier"},
        {__LINE__, "1.13", "x.tif%0d%0aSet-Cookie:a=b", TG_ERR_BAD_REQUEST, "identifier"},
        {__LINE__, "15.3", "x.tif/%zz/max/0/default.jpg", TG_ERR_BAD_REQUEST, "region"},
        {__LINE__, "15.3", "x.tif/full/max/%/default.jpg", TG_ERR_BAD_REQUEST, "rotation"},
        {__LINE__, "15.3", "x.tif/bad/max/0/default.jpg", TG_ERR_BAD_REQUEST, "region"},
        {__LINE__, "15.3", "x.tif/full/bad/0/default.jpg", TG_ERR_BAD_REQUEST, "size"},
        {__LINE__, "15.3", "x.tif/full/max/bad/default.jpg", TG_ERR_BAD_REQUEST, "rotation"},
        {__LINE__, "12.5", "x.tif/full/max/0/grey.jpg", TG_ERR_BAD_REQUEST, "quality"},
        {__LINE__, "13.4", "x.tif/full/max/0/default.bmp", TG_ERR_BAD_REQUEST, "format"},
        {__LINE__, "13.4", "x.tif/full/max/0/default.", TG_ERR_BAD_REQUEST, "format"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_iiif iiif;
        tg_err err = {0};
        tg_iiif_parse(&config, TG_STR("/iiif/"), tg_str_of(rows[i].rest), arena, &iiif, &err);
        CHECK_ROW(rows[i].line, err.kind == rows[i].want && strstr(err.msg, rows[i].names),
                  "%s: %s is %s \"%s\"", rows[i].tag, rows[i].rest, tg_err_kind_name(err.kind),
                  err.msg);
        tg_arena_reset(arena);
    }
}

/* ---- the four parameters ---- */

#define V2   2
#define V3   3
#define BOTH 0

static const struct {
    int line;
    const char *tag;
    int versions;
    const char *params;
    bool ok;
} params[] = {
    {__LINE__, "1.9", BOTH, "0%2C0%2C10%2C10/10%2C/0/default.jpg", true},
    {__LINE__, "1.9", BOTH, "pct%3A0,0,10,10/pct%3A50/%210/default.jpg", true},
    {__LINE__, "1.9", V3, "full/%5E%2110,10/0/default.jpg", true},
    {__LINE__, "1.7", BOTH, "full/%255Emax/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "-1,0,10,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "0,0,-10,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "0.5,0,10,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "+1,0,10,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "1e1,0,10,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "0x1,0,10,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "0, 0,10,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "0,%200,10,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "0,0,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "0,0,10,/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "0,0,10,10,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "0,0,10,10,/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "pct:/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "pct:0,0,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "pct:-1,0,10,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "pct:NaN,0,10,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "pct:0,0,Infinity,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "FULL/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "Square/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "PCT:0,0,10,10/max/0/default.jpg", false},
    {__LINE__, "7.9", BOTH, "full /max/0/default.jpg", false},
    {__LINE__, "7.11", BOTH, "pct:.5,10.50,10,10/max/0/default.jpg", true},
    {__LINE__, "7.11", BOTH, "pct:1e1,0,10,10/max/0/default.jpg", false},
    {__LINE__, "7.11", BOTH, "pct:+1,0,10,10/max/0/default.jpg", false},
    {__LINE__, "7.11", BOTH, "pct:1.2.3,0,10,10/max/0/default.jpg", false},
    {__LINE__, "7.11", BOTH, "pct:1.,0,10,10/max/0/default.jpg", false},
    {__LINE__, "8.1", V2, "full/full/0/default.jpg", true},
    {__LINE__, "8.2", V2, "full/max/0/default.jpg", true},
    {__LINE__, "8.11", V2, "full/^10,/0/default.jpg", false},
    {__LINE__, "9.1", V3, "full/full/0/default.jpg", false},
    {__LINE__, "9.1", V3, "full/^full/0/default.jpg", false},
    {__LINE__, "9.4", V3, "full/!^10,10/0/default.jpg", false},
    {__LINE__, "9.4", V3, "full/,^10/0/default.jpg", false},
    {__LINE__, "9.4", V3, "full/^^10,/0/default.jpg", false},
    {__LINE__, "9.8", V3, "full/^/0/default.jpg", false},
    {__LINE__, "9.8", V3, "full/^pct:/0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full//0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full/,/0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full/10/0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full/10,10,10/0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full/!10,/0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full/!,10/0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full/!max/0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full/-10,/0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full/10.5,/0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full/10, /0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full/1e2,/0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full/pct:-50/0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full/pct:50,50/0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full/pct:5e1/0/default.jpg", false},
    {__LINE__, "15.3", BOTH, "full/MAX/0/default.jpg", false},
    {__LINE__, "11.1", BOTH, "full/max/0/default.jpg", true},
    {__LINE__, "11.5", BOTH, "full/max/360/default.jpg", true},
    {__LINE__, "11.6", BOTH, "full/max/361/default.jpg", false},
    {__LINE__, "11.6", BOTH, "full/max/360.5/default.jpg", false},
    {__LINE__, "11.6", BOTH, "full/max/!360.1/default.jpg", false},
    {__LINE__, "11.6", BOTH, "full/max/99999999999999999999/default.jpg", false},
    {__LINE__, "11.6", BOTH, "full/max/-90/default.jpg", false},
    {__LINE__, "11.6", BOTH, "full/max/+90/default.jpg", false},
    {__LINE__, "11.6", BOTH, "full/max/90deg/default.jpg", false},
    {__LINE__, "11.6", BOTH, "full/max/0B/default.jpg", false},
    {__LINE__, "11.6", BOTH, "full/max/0Bi/default.jpg", false},
    {__LINE__, "11.6", BOTH, "full/max/1e1/default.jpg", false},
    {__LINE__, "11.6", BOTH, "full/max//default.jpg", false},
    {__LINE__, "11.6", BOTH, "full/max/!/default.jpg", false},
    {__LINE__, "11.6", BOTH, "full/max/!!90/default.jpg", false},
    {__LINE__, "11.6", BOTH, "full/max/90!/default.jpg", false},
    {__LINE__, "11.6", BOTH, "full/max/%2090/default.jpg", false},
    {__LINE__, "case 60", BOTH, "full/max/90./default.jpg", false},
    {__LINE__, "case 60", BOTH, "full/max/abc/default.jpg", false},
    {__LINE__, "11.9", BOTH, "full/max/090/default.jpg", true},
    {__LINE__, "12.1", BOTH, "full/max/0/default.png", true},
    {__LINE__, "12.2", BOTH, "full/max/0/color.png", true},
    {__LINE__, "12.2", BOTH, "full/max/0/gray.png", true},
    {__LINE__, "12.3", BOTH, "full/max/0/bitonal.png", true},
    {__LINE__, "12.5", BOTH, "full/max/0/grey.jpg", false},
    {__LINE__, "12.5", BOTH, "full/max/0/native.jpg", false},
    {__LINE__, "12.5", BOTH, "full/max/0/Default.jpg", false},
    {__LINE__, "12.5", BOTH, "full/max/0/.jpg", false},
    {__LINE__, "12.5", BOTH, "full/max/0/default.x.jpg", false},
    {__LINE__, "13.1", BOTH, "full/max/0/default.jpg", true},
    {__LINE__, "13.3", BOTH, "full/max/0/default.webp", true},
    {__LINE__, "13.4", BOTH, "full/max/0/default.jpeg", false},
    {__LINE__, "13.4", BOTH, "full/max/0/default.JPG", false},
    {__LINE__, "13.4", BOTH, "full/max/0/default.tiff", false},
    {__LINE__, "13.3", BOTH, "full/max/0/default.tif", true},
    {__LINE__, "13.3", BOTH, "full/max/0/default.pdf", true},
    {__LINE__, "13.4", BOTH, "full/max/0/default.bmp", false},
    {__LINE__, "13.4", BOTH, "full/max/0/default.jpx", false},
    {__LINE__, "13.4", BOTH, "full/max/0/default.", false},
    {__LINE__, "13.5", BOTH, "full/max/0/default", false},
};

static bool parse(tg_arena *arena, int version, const char *text, tg_job *job, tg_err *err)
{
    tg_str part[4], rest = tg_str_of(text);
    for (int k = 0; k < 4; k++)
        tg_str_cut(rest, '/', &part[k], &rest);
    return tg_iiif_parse_params(version, false, part[0], part[1], part[2], part[3], arena, job,
                                err);
}

static void test_params(tg_arena *arena)
{
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        for (int version = 2; version <= 3; version++) {
            tg_job job;
            tg_err err = {0};
            if (params[i].versions != BOTH && params[i].versions != version)
                continue;
            bool ok = parse(arena, version, params[i].params, &job, &err);
            CHECK_ROW(params[i].line, ok == params[i].ok && (ok || err.kind == TG_ERR_BAD_REQUEST),
                      "%s: v%d %s: %s", params[i].tag, version, params[i].params,
                      ok ? "accepted" : err.msg);
        }
        tg_arena_reset(arena);
    }
}

static void test_names_of_version_1(tg_arena *arena)
{
    tg_job job;
    tg_err err = {0};
    CHECK(parse(arena, 1, "full/full/0/native.jpg", &job, &err));
    CHECK_INT(job.quality, TG_QUALITY_DEFAULT);
    CHECK(parse(arena, 1, "full/100,/0/grey.jpg", &job, &err));
    CHECK_INT(job.quality, TG_QUALITY_GRAY);
    CHECK_INT(job.upscale, TG_UPSCALE_IMPLICIT);
    for (int version = 2; version <= 3; version++) {
        CHECK(!parse(arena, version, "full/100,/0/native.jpg", &job, &err));
        err = (tg_err){0};
        CHECK(!parse(arena, version, "full/100,/0/grey.jpg", &job, &err));
        err = (tg_err){0};
    }
    tg_arena_reset(arena);
}

/* What was not built is refused as any unknown name is (and test_info_documents does not find it).
 */
static void test_formats(tg_arena *arena)
{
    for (unsigned i = 0; i < TG_FORMATS; i++) {
        char text[64];
        tg_job job;
        tg_err err = {0};
        snprintf(text, sizeof text, "full/max/0/default.%s", tg_formats[i].extension);
        CHECK_INT(parse(arena, 3, text, &job, &err), tg_format_available(i));
        if (tg_format_available(i))
            CHECK_INT(job.format, i);
        else
            CHECK_INT(err.kind, TG_ERR_BAD_REQUEST);
    }
    tg_arena_reset(arena);
}

static void test_job_fields(tg_arena *arena)
{
    tg_job j;
    tg_err err = {0};
    CHECK(parse(arena, 3, "1,2,3,4/^!5,6/!22.5/bitonal.webp", &j, &err));
    CHECK(j.region == TG_REGION_PIXELS && j.rx == 1 && j.ry == 2 && j.rw == 3 && j.rh == 4);
    CHECK(j.size == TG_SIZE_CONFINE && j.w == 5 && j.h == 6 && j.upscale == TG_UPSCALE_CARET);
    CHECK(j.mirror && j.rotation == 22.5);
    CHECK(j.quality == TG_QUALITY_BITONAL && j.format == TG_FORMAT_WEBP);
    CHECK(parse(arena, 3, "pct:1.5,2,3,4/pct:12.5/360/gray.png", &j, &err));
    CHECK(j.region == TG_REGION_PERCENT && j.rx == 1.5 && j.pct == 12.5 && j.rotation == 0);
    CHECK(j.upscale == TG_UPSCALE_NO && j.quality == TG_QUALITY_GRAY && j.format == TG_FORMAT_PNG);
    CHECK(parse(arena, 2, "square/!5,6/0/color.jpg", &j, &err));
    CHECK(j.region == TG_REGION_SQUARE && j.upscale == TG_UPSCALE_IMPLICIT && !j.mirror);
    CHECK(j.quality == TG_QUALITY_COLOR && j.format == TG_FORMAT_JPEG);
    CHECK(parse(arena, 3, "99999999999999999999,0,1,1/99999999999999999999,/0/default.jpg", &j,
                &err));
    CHECK(j.rx == 9007199254740992.0 && j.w == UINT64_MAX); /* saturated, not wrapped */
}

/* More qualities, where they are switched on: then they work, have a canonical form, and make an
 * image request of a path; else they are a name like any other. */
static void test_extensions(tg_arena *arena)
{
    static const struct {
        const char *name;
        tg_quality quality;
    } rows[] = {{"equalization", TG_QUALITY_EQUALIZATION},
                {"log", TG_QUALITY_LOG},
                {"negative", TG_QUALITY_NEGATIVE},
                {"stretch", TG_QUALITY_STRETCH}};
    const tg_geometry g = {.full_region = true, .is_max = true};
    tg_config on = config;
    on.iiif_extensions = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_iiif iiif;
        tg_err err = {0}, off = {0}, none = {0};
        tg_str rest = tg_arena_printf(arena, "x.tif/full/max/0/%s.jpg", rows[i].name);
        tg_str file = tg_arena_printf(arena, "a/b/c/d/%s.jpg", rows[i].name);
        CHECK(tg_iiif_parse(&on, TG_STR("/iiif/"), rest, arena, &iiif, &err));
        CHECK_INT(iiif.job.quality, rows[i].quality);
        tg_str text = tg_iiif_canonical(3, &iiif.job, &g, true, arena);
        CHECK(tg_str_ends(rest, text) && tg_str_starts(text, TG_STR("full/max/0/")));
        CHECK(tg_str_eq(tg_iiif_canonical(3, &iiif.job, &g, false, arena), text));
        CHECK(!tg_iiif_parse(&config, TG_STR("/iiif/"), rest, arena, &iiif, &off));
        CHECK(off.kind == TG_ERR_BAD_REQUEST && strstr(off.msg, "quality.format: "));
        CHECK(tg_iiif_parse(&config, TG_STR("/iiif/"), file, arena, &iiif, &none));
        CHECK(iiif.kind == TG_IIIF_BASE && tg_str_eq(iiif.identifier, file));
    }
    tg_job binary = {.quality = TG_QUALITY_BINARY}; /* of IIP */
    CHECK(tg_str_is(tg_iiif_canonical(3, &binary, &g, true, arena), "full/max/0/default.jpg"));
    tg_arena_reset(arena);
}

/* ---- canonical URIs ---- */

static const tg_limits up5000 = {.max_w = 5000, .max_h = 5000, .allow_upscaling = true};

static const char *canonical(tg_arena *arena, int version, const char *request, uint32_t w,
                             uint32_t h, bool color)
{
    tg_job job;
    tg_geometry g;
    tg_err err = {0};
    if (!parse(arena, version, request, &job, &err) ||
        !tg_geometry_resolve(&job, w, h, &up5000, &g, &err))
        return err.msg[0] ? tg_arena_strdup(arena, tg_str_of(err.msg)) : "?";
    return tg_arena_strdup(arena, tg_iiif_canonical(version, &job, &g, color, arena));
}

static void test_canonical(tg_arena *arena)
{
    static const struct {
        int line;
        const char *tag;
        int version;
        uint32_t w, h;
        const char *request, *want;
    } rows[] = {
        {__LINE__, "14.1", 3, 1237, 911, "0,0,1237,911/max/0/default.jpg",
         "full/max/0/default.jpg"},
        {__LINE__, "14.1", 3, 1237, 911, "pct:0,0,100,100/max/0/default.jpg",
         "full/max/0/default.jpg"},
        {__LINE__, "14.1", 2, 1000, 1000, "square/full/0/default.jpg", "full/full/0/default.jpg"},
        {__LINE__, "14.1", 3, 300, 200, "square/max/0/default.jpg",
         "50,0,200,200/max/0/default.jpg"},
        {__LINE__, "14.1", 3, 300, 200, "125,15,200,200/max/0/default.jpg",
         "125,15,175,185/max/0/default.jpg"},
        {__LINE__, "14.1", 2, 300, 200, "pct:41.6,7.5,66.6,100/full/0/default.jpg",
         "125,15,175,185/full/0/default.jpg"},
        {__LINE__, "14.2", 2, 1237, 911, "full/max/0/default.jpg", "full/full/0/default.jpg"},
        {__LINE__, "14.2", 2, 1237, 911, "full/1237,911/0/default.jpg", "full/full/0/default.jpg"},
        {__LINE__, "14.2", 2, 1237, 911, "full/pct:50/0/default.jpg", "full/619,/0/default.jpg"},
        {__LINE__, "14.2", 2, 300, 200, "full/,100/0/default.jpg", "full/150,/0/default.jpg"},
        {__LINE__, "14.2", 2, 300, 200, "full/!225,100/0/default.jpg", "full/150,/0/default.jpg"},
        {__LINE__, "14.2", 2, 300, 200, "full/225,100/0/default.jpg", "full/225,100/0/default.jpg"},
        {__LINE__, "14.2", 2, 9000, 6000, "full/max/0/default.jpg", "full/5000,/0/default.jpg"},
        {__LINE__, "14.2", 2, 9000, 6000, "full/full/0/default.jpg", "full/5000,/0/default.jpg"},
        {__LINE__, "14.2", 2, 1237, 911, "1024,0,213,911/54,228/0/default.jpg",
         "1024,0,213,911/54,228/0/default.jpg"},
        {__LINE__, "14.3", 3, 1237, 911, "full/pct:50/0/default.jpg", "full/619,456/0/default.jpg"},
        {__LINE__, "14.3", 3, 1237, 911, "full/^500,/0/default.jpg", "full/500,368/0/default.jpg"},
        {__LINE__, "14.3", 3, 1237, 911, "full/1237,911/0/default.jpg", "full/max/0/default.jpg"},
        {__LINE__, "14.3", 3, 1237, 911, "full/^1237,/0/default.jpg", "full/max/0/default.jpg"},
        {__LINE__, "14.3", 3, 300, 200, "full/^max/0/default.jpg", "full/^max/0/default.jpg"},
        {__LINE__, "14.3", 3, 300, 200, "full/^5000,/0/default.jpg", "full/^max/0/default.jpg"},
        {__LINE__, "14.3", 3, 9000, 6000, "full/^max/0/default.jpg", "full/max/0/default.jpg"},
        {__LINE__, "14.3", 3, 300, 200, "full/^360,/0/default.jpg", "full/^360,240/0/default.jpg"},
        {__LINE__, "14.3", 3, 300, 200, "full/^400,10/0/default.jpg", "full/^400,10/0/default.jpg"},
        {__LINE__, "14.3", 3, 9000, 6000, "full/max/0/default.jpg", "full/max/0/default.jpg"},
        {__LINE__, "14.4", 3, 300, 200, "full/max/90.0/default.jpg", "full/max/90/default.jpg"},
        {__LINE__, "14.4", 3, 300, 200, "full/max/0.0/default.jpg", "full/max/0/default.jpg"},
        {__LINE__, "14.4", 3, 300, 200, "full/max/360/default.jpg", "full/max/0/default.jpg"},
        {__LINE__, "14.4", 3, 300, 200, "full/max/!180/default.jpg", "full/max/!180/default.jpg"},
        {__LINE__, "14.4", 3, 300, 200, "full/max/22.50/default.png", "full/max/22.5/default.png"},
        {__LINE__, "14.4", 2, 300, 200, "full/full/.5/default.png", "full/full/0.5/default.png"},
        {__LINE__, "14.4", 3, 300, 200, "full/max/090/default.jpg", "full/max/90/default.jpg"},
        {__LINE__, "14.4", 3, 300, 200, "full/max/33.3333333333333333/default.png",
         "full/max/33.3333333333/default.png"},
        {__LINE__, "14.4", 3, 300, 200, "full/max/0.00000000000000000001/default.png",
         "full/max/0/default.png"},
        {__LINE__, "14.5", 3, 300, 200, "full/max/0/color.jpg", "full/max/0/default.jpg"},
        {__LINE__, "14.5", 3, 300, 200, "full/max/0/gray.jpg", "full/max/0/gray.jpg"},
        {__LINE__, "14.5", 3, 300, 200, "full/max/0/bitonal.png", "full/max/0/bitonal.png"},
        {__LINE__, "14.6", 3, 300, 200, "full/max/0/default.webp", "full/max/0/default.webp"},
        {__LINE__, "1.9", 3, 300, 200, "%66ull/%5E360%2C/%2190/default%2Epng",
         "full/^360,240/!90/default.png"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got =
            canonical(arena, rows[i].version, rows[i].request, rows[i].w, rows[i].h, true);
        CHECK_ROW(rows[i].line, strcmp(got, rows[i].want) == 0,
                  "%s: v%d %s of %ux%u is %s, expected %s", rows[i].tag, rows[i].version,
                  rows[i].request, rows[i].w, rows[i].h, got, rows[i].want);
        tg_arena_reset(arena);
    }
    const char *gray = canonical(arena, 3, "full/max/0/gray.jpg", 600, 400, false);
    CHECK_TEXT(gray, strlen(gray), "full/max/0/default.jpg");
    gray = canonical(arena, 3, "full/max/0/color.jpg", 600, 400, false);
    CHECK_TEXT(gray, strlen(gray), "full/max/0/default.jpg");
}

static uint64_t seed = 2110300;

static uint32_t rnd(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % n);
}

/* 14.7: the canonical form names the same pixels and is its own canonical form. */
static void test_canonical_idempotent(tg_arena *arena)
{
    for (int i = 0; i < 50000; i++) {
        uint32_t w = 1 + rnd(i % 2 ? 9000 : 40), h = 1 + rnd(i % 3 ? 9000 : 40);
        int version = 2 + (int)rnd(2);
        bool color = rnd(2);
        tg_limits limits = {.max_w = rnd(3) ? 200 + rnd(6000) : 0, .allow_upscaling = rnd(4) > 0};
        limits.max_area = rnd(2) ? 1 + rnd(9000000) : 0;
        tg_job job = {.region = (tg_region_kind)rnd(4),
                      .rx = rnd(100),
                      .ry = rnd(100),
                      .rw = 1 + rnd(3000),
                      .rh = 1 + rnd(3000),
                      .size = (tg_size_kind)rnd(6),
                      .w = rnd(3000),
                      .h = rnd(3000),
                      .pct = rnd(1500) / 10.0,
                      .upscale = version == 2 ? TG_UPSCALE_IMPLICIT : (tg_upscale)rnd(2),
                      .mirror = rnd(2),
                      .rotation = rnd(3600) / 10.0,
                      .quality = (tg_quality)rnd(4),
                      .format = (tg_format)rnd(TG_FORMATS)};
        if (!tg_format_available(job.format))
            job.format = TG_FORMAT_PNG;
        tg_job again;
        tg_geometry g, g2;
        tg_err err = {0};
        tg_arena_reset(arena);
        if (!tg_geometry_resolve(&job, w, h, &limits, &g, &err))
            continue;
        const char *first =
            tg_arena_strdup(arena, tg_iiif_canonical(version, &job, &g, color, arena));
        bool ok = parse(arena, version, first, &again, &err) &&
                  tg_geometry_resolve(&again, w, h, &limits, &g2, &err);
        CHECK_ROW(__LINE__, ok, "v%d %s of %ux%u: %s", version, first, w, h, err.msg);
        if (!ok)
            continue;
        CHECK_ROW(__LINE__,
                  memcmp(&g.region, &g2.region, sizeof g.region) == 0 && g.w == g2.w &&
                      g.h == g2.h && again.rotation == job.rotation && again.mirror == job.mirror,
                  "v%d %s of %ux%u: %ux%u became %ux%u", version, first, w, h, g.w, g.h, g2.w,
                  g2.h);
        tg_str second = tg_iiif_canonical(version, &again, &g2, color, arena);
        CHECK_ROW(__LINE__, tg_str_is(second, first), "v%d %s became %.*s", version, first,
                  TG_STR_ARG(second));
    }
}

/* ---- id, media type, version ---- */

static void test_id(tg_arena *arena)
{
    static const struct {
        int line;
        const char *x_iiif_id, *base_url, *prefix, *rest, *want;
    } rows[] = {
        {__LINE__, "", "", "/iiif/", "3/sub%2Fx.tif/info.json",
         "http://h.example/iiif/3/sub%2Fx.tif"},
        {__LINE__, "", "", "/fcgi-bin/tegula?IIIF=", "x%20y.tif/info.json",
         "http://h.example/fcgi-bin/tegula?IIIF=x%20y.tif"},
        {__LINE__, "", "", "/a\"b/", "x.tif/info.json", "http://h.example/a%22b/x.tif"},
        {__LINE__, "", "https://cdn.example.org/iiif", "/iiif/", "x.tif" IMAGE,
         "https://cdn.example.org/iiif/x.tif"},
        {__LINE__, "", "https://cdn.example.org/iiif/", "/iiif/", "2/x.tif/info.json",
         "https://cdn.example.org/iiif/2/x.tif"},
        {__LINE__, "https://id.example/y", "https://cdn.example.org/iiif", "/iiif/",
         "x.tif/info.json", "https://id.example/y"},
        {__LINE__, "https://id.example/y/", "", "/iiif/", "x.tif/info.json",
         "https://id.example/y"},
        {__LINE__, "id-of-mine", "", "/iiif/", "x.tif/info.json", "http://h.example/iiif/x.tif"},
        {__LINE__, "javascript://x", "", "/iiif/", "x.tif/info.json",
         "http://h.example/iiif/x.tif"},
        {__LINE__, "http://x/>;rel=\"y\"", "", "/iiif/", "x.tif/info.json",
         "http://h.example/iiif/x.tif"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_request request = {.host = TG_STR("h.example"),
                              .x_iiif_id = tg_str_of(rows[i].x_iiif_id)};
        tg_config c = config;
        tg_iiif iiif;
        tg_err err = {0};
        c.base_url = rows[i].base_url;
        CHECK(tg_iiif_parse(&c, tg_str_of(rows[i].prefix), tg_str_of(rows[i].rest), arena, &iiif,
                            &err));
        tg_str got = tg_iiif_id(&c, &request, &iiif, arena);
        CHECK_ROW(rows[i].line, tg_str_is(got, rows[i].want), "4.2: %.*s, expected %s",
                  TG_STR_ARG(got), rows[i].want);
    }
}

#define JSON "application/json"
#define LD2  "application/ld+json"
#define LD3  "application/ld+json;profile=\"http://iiif.io/api/image/3/context.json\""

static void test_info_type(void)
{
    static const struct {
        int line;
        const char *tag;
        int version;
        const char *accept, *want;
    } rows[] = {
        {__LINE__, "3.1", 2, "", JSON},
        {__LINE__, "3.1", 2, "*/*", JSON},
        {__LINE__, "3.1", 2, "application/*", JSON},
        {__LINE__, "3.1", 2, "application/json", JSON},
        {__LINE__, "3.4", 2, "application/ld+json", LD2},
        {__LINE__, "3.1", 2, "application/ld+json, */*;q=0.1", LD2},
        {__LINE__, "3.1", 2, "application/ld+json;q=0", JSON},
        {__LINE__, "3.3", 2, "application/json;q=0.9, application/ld+json;q=0.1", JSON},
        {__LINE__, "3.3", 2, "application/json;q=0.1, application/ld+json;q=0.9", LD2},
        {__LINE__, "3.5", 2, "text/html", JSON},
        {__LINE__, "3.2", 3, "", LD3},
        {__LINE__, "3.3", 3, "*/*", LD3},
        {__LINE__, "3.3", 3, "application/json", JSON},
        {__LINE__, "3.4", 3, "application/ld+json", LD3},
        {__LINE__, "3.3", 3, "application/json;q=0.9, application/ld+json;q=0.1", JSON},
        {__LINE__, "3.3", 3, "application/json;q=0.1, application/ld+json;q=0.9", LD3},
        {__LINE__, "3.3", 3, LD3, LD3},
        {__LINE__, "3.3", 3, "application/json; charset=utf-8", JSON},
        {__LINE__, "3.3", 3, "text/html,application/xhtml+xml,*/*;q=0.8", LD3},
        {__LINE__, "3.5", 3, "text/html", LD3},
        {__LINE__, "3.5", 3, "application/json;q=0", LD3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_str got = tg_iiif_info_type(rows[i].version, tg_str_of(rows[i].accept));
        CHECK_ROW(rows[i].line, tg_str_is(got, rows[i].want), "%s: v%d %s gives %.*s", rows[i].tag,
                  rows[i].version, rows[i].accept, TG_STR_ARG(got));
    }
}

static void test_info_version(void)
{
    tg_str two = TG_STR("application/ld+json;profile=\"http://iiif.io/api/image/2/context.json\"");
    tg_iiif open = {.version = 3}, named = {.version = 3, .version_named = true};
    CHECK_INT(tg_iiif_info_version(&open, TG_STR("")), 3);
    CHECK_INT(tg_iiif_info_version(&open, two), 2);
    CHECK_INT(tg_iiif_info_version(&named, two), 3);
    open.version = 2;
    CHECK_INT(tg_iiif_info_version(&open, tg_str_of(LD3)), 3);
    CHECK_INT(tg_iiif_info_version(&open, TG_STR("*/*")), 2);
    CHECK(tg_str_is(tg_iiif_profile(2), "http://iiif.io/api/image/2/level2.json"));
    CHECK(tg_str_is(tg_iiif_profile(3), "http://iiif.io/api/image/3/level2.json"));
}

/* ---- information documents ---- */

/* A reader of RFC 8259's grammar: returns what is behind one value, or NULL. */
static const char *json_value(const char *p);

static const char *json_blank(const char *p)
{
    return p + strspn(p, " \n\r\t");
}

static const char *json_string(const char *p)
{
    if (*p++ != '"')
        return NULL;
    for (; *p != '"'; p++) {
        if ((unsigned char)*p < 0x20)
            return NULL;
        if (*p != '\\')
            continue;
        if (*++p == '\0' || !strchr("\"\\/bfnrtu", *p))
            return NULL;
        if (*p == 'u' && strspn(p + 1, "0123456789abcdefABCDEF") < 4)
            return NULL;
    }
    return p + 1;
}

static const char *json_list(const char *p, char end, bool members)
{
    p = json_blank(p + 1);
    if (*p == end)
        return p + 1;
    while (true) {
        if (members) {
            p = json_string(p);
            if (!p || *(p = json_blank(p)) != ':')
                return NULL;
            p = json_blank(p + 1);
        }
        p = json_value(p);
        if (!p)
            return NULL;
        p = json_blank(p);
        if (*p == end)
            return p + 1;
        if (*p != ',')
            return NULL;
        p = json_blank(p + 1);
    }
}

static const char *json_value(const char *p)
{
    if (*p == '{')
        return json_list(p, '}', true);
    if (*p == '[')
        return json_list(p, ']', false);
    if (*p == '"')
        return json_string(p);
    size_t n = strspn(p, "-0123456789.eE+");
    return n ? p + n : NULL;
}

static bool json_valid(const char *text)
{
    const char *end = json_value(json_blank(text));
    return end && *json_blank(end) == '\0' && tg_utf8_valid(tg_str_of(text));
}

static const char *info(tg_arena *arena, const tg_config *c, tg_iiif_image image, int version,
                        const char *id)
{
    tg_limits limits;
    tg_buf out = {0};
    tg_limits_from_config(c, image.width_px, image.height_px, &limits);
    tg_iiif_advertised_tile(image.tile_w_px > 0, image.tile_w_px, image.tile_h_px, &limits,
                            &image.tile_w_px, &image.tile_h_px);
    tg_iiif_info(c, &image, &limits, version, tg_str_of(id), arena, &out);
    const char *text = tg_arena_strdup(arena, tg_buf_view(&out));
    CHECK(!out.failed && json_valid(text));
    tg_buf_free(&out);
    return text;
}

#define ID "http://h.example/iiif/sub%2Fx.tif"

/* The formats that not every build has. */
#ifdef HAVE_AVIF
#define AVIF "\"avif\", "
#else
#define AVIF ""
#endif
#ifdef HAVE_GIF
#define GIF "\"gif\", "
#else
#define GIF ""
#endif

/* Sections 4 and 5 as whole documents; 5000x3000 with 256-px tiles is case 23. */
static void test_info_documents(tg_arena *arena)
{
    static const char want3[] =
        "{\n"
        "  \"@context\": \"http://iiif.io/api/image/3/context.json\",\n"
        "  \"id\": \"" ID
        "\",\n"
        "  \"type\": \"ImageService3\",\n"
        "  \"protocol\": \"http://iiif.io/api/image\",\n"
        "  \"profile\": \"level2\",\n"
        "  \"width\": 5000,\n"
        "  \"height\": 3000,\n"
        "  \"maxWidth\": 5000,\n"
        "  \"maxHeight\": 5000,\n"
        "  \"sizes\": [{\"width\": 157, \"height\": 94}, {\"width\": 313, \"height\": 188}, "
        "{\"width\": 625, \"height\": 375}, {\"width\": 1250, \"height\": 750}, "
        "{\"width\": 2500, \"height\": 1500}],\n"
        "  \"tiles\": [{\"width\": 256, \"height\": 256, "
        "\"scaleFactors\": [1, 2, 4, 8, 16, 32]}],\n"
        "  \"preferredFormats\": [\"jpg\", \"webp\", \"png\"],\n"
        "  \"extraQualities\": [\"bitonal\", \"color\", \"gray\"],\n"
        "  \"extraFormats\": [" AVIF GIF
        "\"jp2\", "
        "\"pdf\", \"tif\", \"webp\"],\n"
        "  \"extraFeatures\": [\"canonicalLinkHeader\", \"mirroring\", \"profileLinkHeader\", "
        "\"rotationArbitrary\", \"sizeUpscaling\"]\n"
        "}\n";
    static const char want2[] =
        "{\n"
        "  \"@context\": \"http://iiif.io/api/image/2/context.json\",\n"
        "  \"@id\": \"" ID
        "\",\n"
        "  \"@type\": \"iiif:Image\",\n"
        "  \"protocol\": \"http://iiif.io/api/image\",\n"
        "  \"width\": 1237,\n"
        "  \"height\": 911,\n"
        "  \"sizes\": [{\"width\": 310, \"height\": 228}, {\"width\": 619, \"height\": 456}],\n"
        "  \"tiles\": [{\"width\": 512, \"height\": 256, \"scaleFactors\": [1, 2, 4]}],\n"
        "  \"profile\": [\"http://iiif.io/api/image/2/level2.json\", {\n"
        "    \"maxWidth\": 5000,\n"
        "    \"maxHeight\": 5000,\n"
        "    \"formats\": [\"jpg\", \"png\", " AVIF GIF
        "\"jp2\", "
        "\"pdf\", \"tif\", \"webp\"],\n"
        "    \"qualities\": [\"default\", \"bitonal\", \"color\", \"gray\"],\n"
        "    \"supports\": [\"baseUriRedirect\", \"canonicalLinkHeader\", \"cors\", "
        "\"jsonldMediaType\", \"mirroring\", \"profileLinkHeader\", \"regionByPct\", "
        "\"regionByPx\", \"regionSquare\", \"rotationArbitrary\", \"rotationBy90s\", "
        "\"sizeAboveFull\", \"sizeByConfinedWh\", \"sizeByDistortedWh\", \"sizeByH\", "
        "\"sizeByPct\", \"sizeByW\", \"sizeByWh\"]\n"
        "  }]\n"
        "}\n";
    tg_iiif_image a = {5000, 3000, 256, 256, true, 0, {0}}, b = {1237, 911, 512, 256, true, 0, {0}};
    const char *got = info(arena, &config, a, 3, ID);
    CHECK_TEXT(got, strlen(got), want3);
    got = info(arena, &config, b, 2, ID);
    CHECK_TEXT(got, strlen(got), want2);
}

static void test_info_parts(tg_arena *arena)
{
    static const tg_config narrow = {
        .max_cvt = 512, .allow_upscaling = true, .cors = "", .copyright = ""};
    static const tg_config unlimited = {
        .memory_bytes = (uint64_t)512 << 20, .allow_upscaling = true, .cors = "*", .copyright = ""};
    static const tg_config no_up = {.max_cvt = 5000, .cors = "*", .copyright = ""};
    static const struct {
        int line;
        const char *tag;
        const tg_config *config;
        tg_iiif_image image;
        int version;
        const char *has, *lacks;
    } rows[] = {
        {__LINE__,
         "case 23",
         &config,
         {5000, 3000, 512, 512, true, 0, {0}},
         3,
         "\"scaleFactors\": [1, 2, 4, 8, 16]",
         "32"},
        {__LINE__,
         "case 10",
         &narrow,
         {9000, 6000, 256, 256, true, 0, {0}},
         3,
         "\"scaleFactors\": [1, 2, 4, 8, 16, 32, 64]",
         NULL},
        {__LINE__,
         "4.8",
         &narrow,
         {9000, 6000, 256, 256, true, 0, {0}},
         3,
         "\"sizes\": [{\"width\": 141, \"height\": 94}, {\"width\": 282, \"height\": 188}],",
         NULL},
        {__LINE__,
         "4.8",
         &narrow,
         {9000, 6000, 1024, 1024, true, 0, {0}},
         3,
         "\"tiles\": [{\"width\": 256, \"height\": 256,",
         "1024"},
        {__LINE__,
         "4.9",
         &config,
         {200, 100, 256, 256, true, 0, {0}},
         3,
         "\"sizes\": [{\"width\": 200, \"height\": 100}],",
         NULL},
        {__LINE__,
         "4.10",
         &config,
         {1, 1, 256, 256, true, 0, {0}},
         3,
         "\"scaleFactors\": [1]}]",
         NULL},
        {__LINE__,
         "4.10",
         &config,
         {6000, 4000, 0, 0, true, 0, {0}},
         2,
         "\"tiles\": [{\"width\": 256, \"height\": 256,",
         NULL},
        {__LINE__,
         "4.13",
         &config,
         {600, 400, 256, 256, false, 0, {0}},
         3,
         "\"extraQualities\": [\"bitonal\", \"gray\"]",
         "\"color\""},
        {__LINE__,
         "5.7",
         &config,
         {600, 400, 256, 256, false, 0, {0}},
         2,
         "\"qualities\": [\"default\", \"bitonal\", \"gray\"]",
         "\"color\""},
        {__LINE__,
         "4.16",
         &unlimited,
         {300, 200, 256, 256, true, 0, {0}},
         3,
         "\"maxArea\": 67108864,",
         "maxWidth"},
        {__LINE__,
         "4.7",
         &unlimited,
         {25000, 12500, 256, 256, true, 0, {0}},
         3,
         "\"maxArea\": 312500000,",
         "maxWidth"},
        {__LINE__,
         "5.6",
         &unlimited,
         {300, 200, 256, 256, true, 0, {0}},
         2,
         "level2.json\", {\n    \"maxArea\": 67108864,\n",
         "maxWidth"},
        {__LINE__,
         "4.15",
         &no_up,
         {300, 200, 256, 256, true, 0, {0}},
         3,
         "\"rotationArbitrary\"]",
         "sizeUpscaling"},
        {__LINE__,
         "5.7",
         &no_up,
         {300, 200, 256, 256, true, 0, {0}},
         2,
         "\"sizeByWh\"",
         "sizeAboveFull"},
        {__LINE__,
         "2.4",
         &narrow,
         {300, 200, 256, 256, true, 0, {0}},
         2,
         "\"baseUriRedirect\"",
         "\"cors\""},
        {__LINE__,
         "4.14",
         &config,
         {300, 200, 256, 256, true, 0, {0}},
         3,
         "ImageService3",
         "sizeByDistortedWh"},
        {__LINE__, "4.19", &config, {300, 200, 256, 256, true, 0, {0}}, 3, "\"type\"", "\"@id\""},
        {__LINE__,
         "case 45",
         &config,
         {1000, 800, 256, 256, true, 300, {0}},
         3,
         "\"service\": [{\n    \"@context\": "
         "\"http://iiif.io/api/annex/services/physdim/1/context.json\",\n"
         "    \"@id\": \"" ID "/info.json#physdim\",\n",
         NULL},
        {__LINE__,
         "5.10",
         &config,
         {1000, 800, 256, 256, true, 300, {0}},
         2,
         "\"profile\": \"http://iiif.io/api/annex/services/physdim\",\n"
         "    \"physicalScale\": 0.00333333333333,\n    \"physicalUnits\": \"in\"\n  }\n}\n",
         "\"service\": ["},
        {__LINE__, "5.10", &config, {1000, 800, 256, 256, true, 0, {0}}, 2, "}]\n}\n", "physdim"},
        {__LINE__,
         "5.10",
         &config,
         {1000, 800, 256, 256, true, INFINITY, {0}},
         2,
         "}]\n}\n",
         "physdim"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got = info(arena, rows[i].config, rows[i].image, rows[i].version, ID);
        CHECK_ROW(rows[i].line,
                  strstr(got, rows[i].has) && !(rows[i].lacks && strstr(got, rows[i].lacks)),
                  "%s: no %s, or %s, in %s", rows[i].tag, rows[i].has,
                  rows[i].lacks ? rows[i].lacks : "-", got);
        tg_arena_reset(arena);
    }
}

static void test_copyright(tg_arena *arena)
{
    static const struct {
        int line;
        const char *copyright;
        int version;
        const char *has, *lacks;
    } rows[] = {
        {__LINE__, "http://creativecommons.org/licenses/by/4.0/", 3,
         "  \"rights\": \"http://creativecommons.org/licenses/by/4.0/\",\n", NULL},
        {__LINE__, "https://creativecommons.org/licenses/by/4.0/", 3,
         "  \"rights\": \"http://creativecommons.org/licenses/by/4.0/\",\n", NULL},
        {__LINE__, "https://rightsstatements.org/vocab/InC/1.0/", 2,
         "  \"license\": \"http://rightsstatements.org/vocab/InC/1.0/\",\n", "attribution"},
        {__LINE__, "https://museum.example/terms", 3,
         "  \"rights\": \"https://museum.example/terms\",\n", NULL},
        {__LINE__, "Museum \"A\" \\ 2026\n", 3, "\"tiles\"", "Museum"},
        {__LINE__, "Museum \"A\" \\ 2026", 2,
         "  \"attribution\": \"Museum \\\"A\\\" \\\\ 2026\",\n", "license"},
        {__LINE__, "\xC2\xA9 Caf\xC3\xA9", 2, "  \"attribution\": \"\xC2\xA9 Caf\xC3\xA9\",\n",
         NULL},
        {__LINE__, "\xA9 latin1", 2, "  \"attribution\": \"\xEF\xBF\xBD latin1\",\n", NULL},
        {__LINE__, "", 2, "\"tiles\"", "attribution"},
        {__LINE__, "", 3, "\"tiles\"", "rights"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_config c = config;
        c.copyright = rows[i].copyright;
        const char *got =
            info(arena, &c, (tg_iiif_image){300, 200, 256, 256, true, 0, {0}}, rows[i].version, ID);
        CHECK_ROW(rows[i].line,
                  strstr(got, rows[i].has) && !(rows[i].lacks && strstr(got, rows[i].lacks)),
                  "4.12, 5.9: \"%s\" in %s", rows[i].copyright, got);
    }
}

static void test_tile(void)
{
    static const tg_limits none = {0}, side100 = {.max_w = 100, .max_h = 80},
                           area = {.max_area = 10000}, one = {.max_w = 1, .max_h = 1};
    static const struct {
        int line;
        bool tiled;
        uint32_t w, h;
        const tg_limits *limits;
        uint32_t want_w, want_h;
    } rows[] = {
        {__LINE__, true, 256, 256, &none, 256, 256},  {__LINE__, true, 256, 128, &none, 256, 128},
        {__LINE__, true, 2048, 64, &none, 2048, 64},  {__LINE__, true, 4096, 4096, &none, 256, 256},
        {__LINE__, true, 16, 16, &none, 256, 256},    {__LINE__, false, 6000, 8, &none, 256, 256},
        {__LINE__, false, 512, 512, &none, 256, 256}, {__LINE__, true, 512, 512, &side100, 80, 80},
        {__LINE__, true, 64, 80, &side100, 64, 80},   {__LINE__, true, 128, 128, &area, 100, 100},
        {__LINE__, true, 256, 256, &one, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t w, h;
        tg_iiif_advertised_tile(rows[i].tiled, rows[i].w, rows[i].h, rows[i].limits, &w, &h);
        CHECK_ROW(rows[i].line, w == rows[i].want_w && h == rows[i].want_h, "16.3: %ux%u", w, h);
    }
}

static void test_json_string(void)
{
    tg_buf out = {0};
    tg_json_string(&out, (tg_str){"a\"\\/\b\n\r\t\x01\0\x7f\xC3\xA9\xff", 14});
    CHECK_TEXT((const char *)out.data, out.len,
               "\"a\\\"\\\\/\\u0008\\n\\r\\t\\u0001\\u0000\\u007f\xC3\xA9\xEF\xBF\xBD\"");
    tg_buf_free(&out);
}

/* ---- hostile input ---- */

/* Random paths out of pieces that mean something, mutated; in exact heap blocks so that a sanitizer
 * sees any byte too far. */
static void test_fuzz(tg_arena *arena)
{
    static const char *const pieces[] = {"full",    "max",
                                         "^",       "!",
                                         "pct:",    ",",
                                         "/",       "/",
                                         "/",       "0",
                                         "90",      "1.5",
                                         ".",       "default",
                                         "bitonal", "jpg",
                                         "webp",    "info.json",
                                         "%2F",     "%",
                                         "%00",     "%ff",
                                         "%C3%A9",  "2/",
                                         "3/",      "99999999999999999999",
                                         "-",       "square",
                                         "x.tif",   "..",
                                         " ",       "\"",
                                         "\xff",    "/full/max/0/default.jpg"};
    for (int i = 0; i < 100000; i++) {
        char text[512];
        size_t n = 0;
        for (uint32_t k = rnd(16); k-- > 0;) {
            const char *piece = pieces[rnd(sizeof pieces / sizeof *pieces)];
            memcpy(text + n, piece, strlen(piece));
            n += strlen(piece);
        }
        if (n && rnd(3) == 0)
            text[rnd((uint32_t)n)] = (char)rnd(256);
        char *exact = malloc(n + (n == 0));
        memcpy(exact, text, n);
        tg_iiif iiif;
        tg_err err = {0};
        tg_request request = {.host = TG_STR("h")};
        tg_arena_reset(arena);
        if (tg_iiif_parse(&config, TG_STR("/"), (tg_str){exact, n}, arena, &iiif, &err)) {
            CHECK(iiif.version == 2 || iiif.version == 3);
            CHECK(iiif.identifier.n > 0 && tg_utf8_valid(iiif.identifier));
            CHECK(tg_is_http_url(tg_iiif_id(&config, &request, &iiif, arena)));
            CHECK(iiif.kind != TG_IIIF_IMAGE ||
                  (iiif.job.rotation >= 0 && iiif.job.rotation < 360 && iiif.job.rx >= 0 &&
                   iiif.job.pct >= 0));
        } else {
            CHECK(err.kind == TG_ERR_BAD_REQUEST || err.kind == TG_ERR_NOT_FOUND);
            CHECK(tg_utf8_valid(tg_str_of(err.msg)));
        }
        if (i % 16 == 0) {
            tg_config c = config;
            c.copyright = tg_arena_strdup(arena, (tg_str){exact, n});
            info(arena, &c,
                 (tg_iiif_image){1 + rnd(100000), 1 + rnd(100000), 256, 256, true, 96, {0}},
                 2 + (int)rnd(2), c.copyright);
        }
        free(exact);
    }
}

int main(void)
{
    tg_arena *arena = tg_arena_new();
    test_paths(arena);
    test_paths_refused(arena);
    test_params(arena);
    test_names_of_version_1(arena);
    test_formats(arena);
    test_job_fields(arena);
    test_extensions(arena);
    test_canonical(arena);
    test_canonical_idempotent(arena);
    test_id(arena);
    test_info_type();
    test_info_version();
    test_info_documents(arena);
    test_info_parts(arena);
    test_copyright(arena);
    test_tile();
    test_json_string();
    test_fuzz(arena);
    tg_arena_free(arena);
    return check_done();
}
