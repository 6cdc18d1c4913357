/* Requests resolved against real dimensions. Every row is written as a client writes it; tags name
 * the item of the IIIF checklist (7.5) or a case seen in the field (case 6). Values are those of
 * the specification's own examples or worked out by hand. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "tegula/arena.h"
#include "tegula/config.h"
#include "tegula/geometry.h"
#include "tegula/iiif.h"

static const tg_limits none = {.allow_upscaling = true};
static const tg_limits no_up = {.allow_upscaling = false};
static const tg_limits side5000 = {.max_w = 5000, .max_h = 5000, .allow_upscaling = true};
static const tg_limits side1000 = {.max_w = 1000, .max_h = 1000, .allow_upscaling = true};
static const tg_limits only_w = {.max_w = 600, .allow_upscaling = true};
static const tg_limits w600h300 = {.max_w = 600, .max_h = 300, .allow_upscaling = true};
static const tg_limits area125k = {.max_area = 125000, .allow_upscaling = true};
static const tg_limits area500k = {.max_area = 500000, .allow_upscaling = true};
static const tg_limits area10 = {.max_area = 10, .allow_upscaling = true};
static const tg_limits all3 = {
    .max_w = 600, .max_h = 300, .max_area = 500000, .allow_upscaling = true};

typedef struct row {
    int line;
    const char *tag;
    int version;
    uint32_t w, h;
    const tg_limits *limits;
    const char *request; /* region/size */
    const char *want;    /* "x,y,w,h WxH", or the status */
} row;

#define ROW(...)                                                                                   \
    {                                                                                              \
        __LINE__, __VA_ARGS__                                                                      \
    }

static const row rows[] = {
    /* region */
    ROW("7.1", 3, 300, 200, &none, "full/max", "0,0,300,200 300x200"),
    ROW("7.2", 3, 300, 200, &none, "square/max", "50,0,200,200 200x200"),
    ROW("7.2", 2, 200, 300, &none, "square/max", "0,50,200,200 200x200"),
    ROW("7.2", 3, 1000, 1000, &none, "square/max", "0,0,1000,1000 1000x1000"),
    ROW("7.3", 3, 300, 200, &none, "125,15,120,140/max", "125,15,120,140 120x140"),
    ROW("7.4", 3, 1000, 1000, &none, "pct:10,20,50,25/max", "100,200,500,250 500x250"),
    ROW("7.4", 3, 300, 200, &none, "pct:41.6,7.5,40,70/max", "125,15,120,140 120x140"),
    ROW("7.5", 3, 300, 200, &none, "125,15,200,200/max", "125,15,175,185 175x185"),
    ROW("7.5", 2, 300, 200, &none, "pct:41.6,7.5,66.6,100/max", "125,15,175,185 175x185"),
    ROW("7.5", 3, 2932, 4096, &none, "2048,3072,884,1024/max", "2048,3072,884,1024 884x1024"),
    ROW("case 5", 3, 2932, 4096, &none, "2048,3072,3536,4096/max", "2048,3072,884,1024 884x1024"),
    ROW("7.6", 3, 300, 200, &none, "0,0,0,10/max", "400"),
    ROW("7.6", 2, 300, 200, &none, "0,0,10,0/max", "400"),
    ROW("7.6", 3, 300, 200, &none, "pct:0,0,0,10/max", "400"),
    ROW("7.6", 3, 300, 200, &none, "pct:0,0,10,0.0/max", "400"),
    ROW("7.7", 3, 1000, 1000, &none, "1000,0,10,10/max", "400"),
    ROW("7.7", 2, 1000, 1000, &none, "0,1000,10,10/max", "400"),
    ROW("7.7", 3, 1000, 1000, &none, "999,0,10,10/max", "999,0,1,10 1x10"),
    ROW("7.7", 3, 1000, 1000, &none, "pct:100,0,10,10/max", "400"),
    ROW("7.7", 3, 1000, 1000, &none, "pct:0,100.5,10,10/max", "400"),
    ROW("case 12", 3, 1025, 700, &none, "1025,0,10,10/max", "400"),
    ROW("case 12", 3, 1025, 700, &none, "1024,0,10,10/max", "1024,0,1,10 1x10"),
    ROW("7.8", 3, 100, 100, &none, "pct:0,0,0.01,0.01/max", "0,0,1,1 1x1"),
    ROW("7.8", 3, 100, 100, &none, "pct:99.99,99.99,1,1/max", "99,99,1,1 1x1"),
    ROW("7.10", 3, 1000, 800, &none, "0,0,99999999999999999999,99999999999999999999/max",
        "0,0,1000,800 1000x800"),
    ROW("7.10", 3, 1000, 800, &none, "0,0,4294967297,10/max", "0,0,1000,10 1000x10"),
    ROW("7.10", 3, 1000, 800, &none, "4294967296,0,10,10/max", "400"),
    ROW("7.10", 3, 1000, 800, &none, "18446744073709551616,0,10,10/max", "400"),
    ROW("7.10", 3, 1000, 800, &none, "pct:0,0,99999999999999999999999,100/max",
        "0,0,1000,800 1000x800"),
    ROW("7.11", 3, 1000, 1000, &none, "pct:.5,10.50,10,10/max", "5,105,100,100 100x100"),
    ROW("10.6", 3, 1000, 1000, &none, "500,500,500,100/100,", "500,500,500,100 100x20"),
    ROW("case 1", 2, 8742, 11656, &none, "pct:90,90,50,50/50,", "7868,10490,874,1166 50x67"),
    ROW("case 9", 3, 8000, 6000, &none, "pct:25,25,1,1/max", "2000,1500,80,60 80x60"),

    /* size, 2.1: the picture of the specification is 300x200 */
    ROW("8.1", 2, 300, 200, &none, "full/full", "0,0,300,200 300x200"),
    ROW("8.2", 2, 300, 200, &none, "full/max", "0,0,300,200 300x200"),
    ROW("8.2", 2, 9000, 6000, &side5000, "full/max", "0,0,9000,6000 5000x3333"),
    ROW("8.3", 2, 300, 200, &none, "full/150,", "0,0,300,200 150x100"),
    ROW("8.4", 2, 300, 200, &none, "full/,150", "0,0,300,200 225x150"),
    ROW("8.5", 2, 300, 200, &none, "full/pct:50", "0,0,300,200 150x100"),
    ROW("8.6", 2, 300, 200, &none, "full/225,100", "0,0,300,200 225x100"),
    ROW("8.7", 2, 300, 200, &none, "full/!225,100", "0,0,300,200 150x100"),
    ROW("8.8", 2, 300, 200, &none, "full/0,", "400"),
    ROW("8.8", 2, 300, 200, &none, "full/,0", "400"),
    ROW("8.8", 2, 300, 200, &none, "full/pct:0", "400"),
    ROW("8.8", 2, 300, 200, &none, "full/!0,5", "400"),
    ROW("8.8", 2, 300, 200, &none, "full/5,0", "400"),
    ROW("8.9", 2, 300, 200, &none, "full/600,", "0,0,300,200 600x400"),
    ROW("8.9", 2, 300, 200, &none, "full/pct:150", "0,0,300,200 450x300"),
    ROW("8.9", 2, 300, 200, &none, "full/600,100", "0,0,300,200 600x100"),
    ROW("8.9", 2, 300, 200, &none, "full/!600,600", "0,0,300,200 300x200"),
    ROW("8.9", 2, 300, 200, &no_up, "full/301,", "400"),
    ROW("8.9", 2, 300, 200, &no_up, "full/300,201", "400"),
    ROW("8.9", 2, 300, 200, &no_up, "full/!600,600", "0,0,300,200 300x200"),
    ROW("8.9", 2, 300, 200, &no_up, "full/300,", "0,0,300,200 300x200"),
    ROW("8.10", 2, 300, 200, &side1000, "full/1000,", "0,0,300,200 1000x667"),
    ROW("8.10", 2, 300, 200, &side1000, "full/1001,", "400"),
    ROW("8.10", 2, 3000, 2000, &side1000, "full/1001,10", "400"),
    ROW("8.10", 2, 3000, 2000, &side1000, "full/full", "0,0,3000,2000 1000x667"),
    ROW("8.11", 2, 300, 200, &none, "full/^150,", "400"),
    ROW("8.11", 2, 300, 200, &none, "full/^max", "400"),

    /* size, 3.0 */
    ROW("9.1", 3, 300, 200, &side5000, "full/max", "0,0,300,200 300x200"),
    ROW("9.1", 3, 9000, 6000, &side5000, "full/max", "0,0,9000,6000 5000x3333"),
    ROW("9.1", 3, 300, 200, &none, "full/full", "400"),
    ROW("9.2", 3, 300, 200, &side5000, "full/^max", "0,0,300,200 5000x3333"),
    ROW("9.2", 3, 9000, 6000, &side5000, "full/^max", "0,0,9000,6000 5000x3333"),
    ROW("9.2", 3, 200, 100, &area125k, "full/^max", "0,0,200,100 500x250"),
    ROW("9.2", 3, 300, 200, &none, "full/^max", "0,0,300,200 300x200"),
    ROW("9.3", 3, 300, 200, &none, "full/150,", "0,0,300,200 150x100"),
    ROW("9.3", 3, 300, 200, &none, "full/,150", "0,0,300,200 225x150"),
    ROW("9.3", 3, 300, 200, &none, "full/225,100", "0,0,300,200 225x100"),
    ROW("9.3", 3, 300, 200, &none, "full/pct:50", "0,0,300,200 150x100"),
    ROW("9.3", 3, 300, 200, &none, "full/!225,100", "0,0,300,200 150x100"),
    ROW("9.3", 3, 300, 200, &none, "full/^360,", "0,0,300,200 360x240"),
    ROW("9.3", 3, 300, 200, &none, "full/^,240", "0,0,300,200 360x240"),
    ROW("9.3", 3, 300, 200, &none, "full/^pct:120", "0,0,300,200 360x240"),
    ROW("9.3", 3, 300, 200, &none, "full/^360,360", "0,0,300,200 360x360"),
    ROW("9.3", 3, 300, 200, &none, "full/^!360,360", "0,0,300,200 360x240"),
    ROW("9.4", 3, 300, 200, &none, "full/,^240", "400"),
    ROW("9.4", 3, 300, 200, &none, "full/!^360,360", "400"),
    ROW("9.4", 3, 300, 200, &none, "full/pct:120", "400"),
    ROW("9.4", 3, 300, 200, &none, "full/pct:^120", "400"),
    ROW("9.4", 3, 300, 200, &none, "full/^", "400"),
    ROW("9.5", 3, 300, 200, &none, "full/301,", "400"),
    ROW("9.5", 3, 300, 200, &none, "full/,201", "400"),
    ROW("9.5", 3, 300, 200, &none, "full/301,100", "400"),
    ROW("9.5", 3, 300, 200, &none, "full/100,201", "400"),
    ROW("9.5", 3, 300, 200, &none, "full/300,200", "0,0,300,200 300x200"),
    ROW("9.5", 3, 300, 200, &none, "full/pct:100", "0,0,300,200 300x200"),
    ROW("9.5", 3, 300, 200, &none, "full/pct:100.001", "400"),
    ROW("9.5", 3, 300, 200, &none, "10,10,50,50/51,", "400"),
    ROW("9.6", 3, 1000, 1000, &none, "full/!2000,3000", "0,0,1000,1000 1000x1000"),
    ROW("9.6", 3, 300, 200, &none, "full/!600,100", "0,0,300,200 150x100"),
    ROW("9.6", 3, 9000, 6000, &side1000, "full/!2000,3000", "0,0,9000,6000 1000x667"),
    ROW("9.7", 3, 300, 200, &side1000, "full/^!2000,3000", "0,0,300,200 1000x667"),
    ROW("9.7", 3, 300, 200, &side1000, "full/^!99999999999999999999,99999999999999999999",
        "0,0,300,200 1000x667"),
    ROW("9.8", 3, 300, 200, &no_up, "full/^360,", "501"),
    ROW("9.8", 3, 300, 200, &no_up, "full/^!360,360", "501"),
    ROW("9.8", 3, 300, 200, &no_up, "full/^150,", "0,0,300,200 150x100"),
    ROW("9.8", 3, 300, 200, &no_up, "full/^max", "0,0,300,200 300x200"),
    ROW("9.8", 3, 300, 200, &no_up, "full/^,^240", "400"),
    ROW("9.9", 3, 300, 200, &none, "full/0,", "400"),
    ROW("9.9", 3, 300, 200, &none, "full/0,0", "400"),
    ROW("9.9", 3, 300, 200, &none, "full/^!5,0", "400"),
    ROW("9.9", 3, 300, 200, &none, "full/pct:0", "400"),
    ROW("9.9", 3, 9000, 6000, &side5000, "full/5001,", "400"),
    ROW("9.9", 3, 9000, 6000, &side5000, "full/5000,", "0,0,9000,6000 5000x3333"),
    ROW("9.9", 3, 300, 200, &side5000, "full/^5001,", "400"),
    ROW("9.9", 3, 300, 200, &side5000, "full/^99999999999999999999,", "400"),
    ROW("9.9", 3, 300, 200, &none, "full/^4294967297,", "400"),
    ROW("9.9", 3, 300, 200, &none, "full/^pct:99999999999999999999", "400"),
    ROW("9.10", 3, 9000, 6000, &side1000, "full/pct:50", "400"),
    ROW("9.10", 3, 9000, 6000, &side1000, "full/2000,1000", "400"),
    ROW("9.10", 3, 2000, 1000, &area125k, "full/501,", "400"),
    ROW("9.10", 3, 2000, 1000, &area125k, "full/500,", "0,0,2000,1000 500x250"),
    /* sqrt(500000 * 1237 / 911) = 823.97, sqrt(500000 * 911 / 1237) = 606.81 */
    ROW("9.11", 3, 1237, 911, &area500k, "full/max", "0,0,1237,911 823x606"),
    /* 911 * 600 / 1237 = 441.87; 1237 * 300 / 911 = 407.35 */
    ROW("9.11", 3, 1237, 911, &only_w, "full/max", "0,0,1237,911 600x442"),
    ROW("9.11", 3, 911, 1237, &only_w, "full/max", "0,0,911,1237 442x600"),
    ROW("9.11", 3, 1237, 911, &w600h300, "full/max", "0,0,1237,911 407x300"),
    ROW("9.11", 3, 1237, 911, &all3, "full/max", "0,0,1237,911 407x300"),
    ROW("9.11", 3, 1000000, 1, &area10, "full/max", "0,0,1000000,1 10x1"),
    ROW("9.12", 3, 1000, 1000, &none, "full/^500,", "0,0,1000,1000 500x500"),

    /* the missing dimension */
    ROW("10.1", 3, 1501, 1103, &none, "full/100,", "0,0,1501,1103 100x73"),
    ROW("10.1", 3, 1501, 1103, &none, "full/375,", "0,0,1501,1103 375x276"),
    ROW("10.1", 3, 1501, 1103, &none, "full/,100", "0,0,1501,1103 136x100"),
    ROW("10.2", 3, 1237, 911, &none, "768,512,512,512/!256,256", "768,512,469,399 256x218"),
    ROW("10.2", 3, 3, 2, &none, "full/!2,2", "0,0,3,2 2x1"),
    ROW("10.3", 3, 1237, 911, &none, "full/pct:50", "0,0,1237,911 619x456"),
    ROW("10.4", 2, 1025, 700, &none, "0,0,1025,1/129,", "0,0,1025,1 129x1"),
    ROW("10.4", 3, 1000, 1, &none, "full/1,", "0,0,1000,1 1x1"),
    ROW("10.4", 3, 1, 1000, &none, "full/,3", "0,0,1,1000 1x3"),
    ROW("10.4", 3, 5000, 3, &none, "full/!100,100", "0,0,5000,3 100x1"),
    ROW("10.4", 3, 100, 100, &none, "full/pct:0.001", "0,0,100,100 1x1"),
    ROW("case 2", 2, 4096, 6143, &none, "0,4096,2048,2047/256,", "0,4096,2048,2047 256x256"),
    ROW("case 2", 2, 4096, 6144, &none, "0,4096,2048,2048/256,", "0,4096,2048,2048 256x256"),
    ROW("case 3", 2, 12288, 5550, &none, "10240,4096,2048,1454/256,",
        "10240,4096,2048,1454 256x182"),
    ROW("case 4", 2, 2023, 1600, &none, "1536,0,487,512/243,", "1536,0,487,512 243x255"),
    ROW("case 4", 3, 2023, 1600, &none, "1536,0,487,512/243,256", "1536,0,487,512 243x256"),
    ROW("case 13", 3, 600, 400, &none, "full/300,", "0,0,600,400 300x200"),
    ROW("case 14", 3, 1300, 900, &side5000, "300,0,300,300/^600,600", "300,0,300,300 600x600"),
    ROW("case 14", 3, 1300, 900, &side5000, "100,100,1,1/^256,256", "100,100,1,1 256x256"),
    ROW("case 73", 2, 1000, 700, &none, "0,0,1000,700/125,", "0,0,1000,700 125x88"),
    ROW("case 73", 2, 1000, 700, &none, "0,0,1000,700/63,", "0,0,1000,700 63x44"),
    ROW("case 73", 2, 1000, 700, &none, "0,0,1000,700/32,", "0,0,1000,700 32x22"),
    ROW("case 73", 2, 1000, 700, &none, "0,0,1000,700/16,", "0,0,1000,700 16x11"),
    ROW("case 76", 2, 1501, 1103, &none, "full/1501,", "0,0,1501,1103 1501x1103"),
    ROW("16.2", 2, 1237, 911, &none, "1024,0,213,911/54,", "1024,0,213,911 54x231"),
    ROW("16.2", 3, 1237, 911, &none, "1024,0,213,911/54,228", "1024,0,213,911 54x228"),
    ROW("16.8", 3, 1000, 1000, &side5000, "0,0,1,1/^100000,100000", "400"),
    ROW("16.8", 2, 1000, 1000, &side5000, "0,0,1,1/100000,", "400"),
};

static bool resolve(tg_arena *arena, int version, const char *request, const char *format,
                    uint32_t w, uint32_t h, const tg_limits *limits, tg_geometry *g, tg_err *err)
{
    tg_job job;
    tg_str region, size, name = tg_arena_printf(arena, "default.%s", format);
    tg_str_cut(tg_str_of(request), '/', &region, &size);
    return tg_iiif_parse_params(version, false, region, size, TG_STR("0"), name, arena, &job,
                                err) &&
           tg_geometry_resolve(&job, w, h, limits, g, err);
}

static const char *answer(tg_arena *arena, const row *r)
{
    tg_geometry g;
    tg_err err = {0};
    if (!resolve(arena, r->version, r->request, "png", r->w, r->h, r->limits, &g, &err))
        return err.kind == TG_ERR_BAD_REQUEST       ? "400"
               : err.kind == TG_ERR_NOT_IMPLEMENTED ? "501"
                                                    : "?";
    return tg_arena_printf(arena, "%u,%u,%u,%u %ux%u", g.region.x, g.region.y, g.region.w,
                           g.region.h, g.w, g.h)
        .p;
}

static void test_rows(tg_arena *arena)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got = answer(arena, &rows[i]);
        CHECK_ROW(rows[i].line, strcmp(got, rows[i].want) == 0,
                  "%s: v%d %ux%u %s is %s, expected %s", rows[i].tag, rows[i].version, rows[i].w,
                  rows[i].h, rows[i].request, got, rows[i].want);
        tg_arena_reset(arena);
    }
}

/* Case 11: every width, height and percentage of a small picture. */
static void test_every_size(tg_arena *arena)
{
    tg_geometry g;
    tg_err err = {0};
    for (int version = 2; version <= 3; version++) {
        for (uint32_t w = 1; w <= 101; w++) {
            const char *request = tg_arena_printf(arena, "full/%u,", w).p;
            bool ok = resolve(arena, version, request, "jpg", 101, 67, &none, &g, &err);
            double ideal = w * 67.0 / 101;
            CHECK_ROW(__LINE__,
                      ok && g.w == w && g.h >= 1 && fabs(g.h - (ideal < 1 ? 1 : ideal)) <= 0.5,
                      "%s gives %ux%u", request, g.w, g.h);
        }
        for (uint32_t h = 1; h <= 67; h++) {
            const char *request = tg_arena_printf(arena, "full/,%u", h).p;
            bool ok = resolve(arena, version, request, "jpg", 101, 67, &none, &g, &err);
            CHECK_ROW(__LINE__, ok && g.h == h && fabs(g.w - h * 101.0 / 67) <= 0.5,
                      "%s gives %ux%u", request, g.w, g.h);
        }
        for (uint32_t n = 1; n <= 100; n++) {
            const char *request = tg_arena_printf(arena, "full/pct:%u", n).p;
            CHECK(resolve(arena, version, request, "jpg", 101, 67, &none, &g, &err));
            CHECK(g.w >= 1 && g.h >= 1 && g.w <= 101 && g.h <= 67);
        }
        tg_arena_reset(arena);
    }
}

/* 16.1 and 16.2: every tile of every factor, as viewers compute it. */
static void test_tiles(tg_arena *arena, uint32_t w, uint32_t h, uint32_t tile)
{
    tg_err err = {0};
    tg_geometry g;
    for (uint32_t s = 1;; s *= 2) {
        for (uint32_t y = 0; y < h; y += tile * s) {
            for (uint32_t x = 0; x < w; x += tile * s) {
                uint32_t wr = w - x < tile * s ? w - x : tile * s;
                uint32_t hr = h - y < tile * s ? h - y : tile * s;
                uint32_t ws = (wr + s - 1) / s, hs = (hr + s - 1) / s;
                const char *exact =
                    tg_arena_printf(arena, "%u,%u,%u,%u/%u,%u", x, y, wr, hr, ws, hs).p;
                const char *width = tg_arena_printf(arena, "%u,%u,%u,%u/%u,", x, y, wr, hr, ws).p;
                for (int version = 2; version <= 3; version++)
                    CHECK_ROW(__LINE__,
                              resolve(arena, version, exact, "jpg", w, h, &no_up, &g, &err) &&
                                  g.w == ws && g.h == hs && g.region.w == wr && g.region.h == hr,
                              "16.2: v%d %s of %ux%u", version, exact, w, h);
                CHECK_ROW(__LINE__,
                          resolve(arena, 2, width, "jpg", w, h, &side5000, &g, &err) && g.w == ws,
                          "16.2: v2 %s of %ux%u", width, w, h);
            }
        }
        tg_arena_reset(arena);
        if (tile * s >= w && tile * s >= h)
            break;
    }
}

/* A negative origin comes from protocols other than IIIF (case 7): cut off, not moved. */
static void test_negative_origin(void)
{
    tg_geometry g;
    tg_err err = {0};
    tg_job job = {.region = TG_REGION_PERCENT,
                  .rx = -10,
                  .rw = 20,
                  .rh = 20,
                  .size = TG_SIZE_WIDTH,
                  .w = 100,
                  .upscale = TG_UPSCALE_IMPLICIT};
    CHECK(tg_geometry_resolve(&job, 1000, 1000, &none, &g, &err));
    CHECK(g.region.x == 0 && g.region.w == 100 && g.region.h == 200 && g.w == 100 && g.h == 200);
    job.rx = -20;
    CHECK(!tg_geometry_resolve(&job, 1000, 1000, &none, &g, &err));
    err = (tg_err){0};
    job.rx = NAN;
    CHECK(!tg_geometry_resolve(&job, 1000, 1000, &none, &g, &err));
}

static void test_flags(tg_arena *arena)
{
    static const struct {
        int line;
        const char *request;
        bool full, enlarged, max, upscaled_max, ratio;
    } cases[] = {
        {__LINE__, "full/max", true, false, true, false, true},
        {__LINE__, "0,0,9000,9000/300,200", true, false, true, false, true},
        {__LINE__, "full/^max", true, true, false, true, true},
        {__LINE__, "full/^5000,3333", true, true, false, true, true},
        {__LINE__, "full/150,", true, false, false, false, true},
        {__LINE__, "full/150,99", true, false, false, false, false},
        {__LINE__, "full/^150,201", true, true, false, false, false},
        {__LINE__, "0,0,299,200/max", false, false, true, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tg_geometry g = {0};
        tg_err err = {0};
        CHECK(resolve(arena, 3, cases[i].request, "png", 300, 200, &side5000, &g, &err));
        CHECK_ROW(cases[i].line,
                  g.full_region == cases[i].full && g.enlarged == cases[i].enlarged &&
                      g.is_max == cases[i].max && g.is_upscaled_max == cases[i].upscaled_max &&
                      g.keeps_ratio == cases[i].ratio,
                  "%s: full %d enlarged %d max %d ^max %d ratio %d", cases[i].request,
                  g.full_region, g.enlarged, g.is_max, g.is_upscaled_max, g.keeps_ratio);
    }
}

/* A format's own largest side is a limit for the forms that shrink (WebP: 14 bits a side). */
static void test_format_side(tg_arena *arena)
{
    tg_geometry g;
    tg_err err = {0};
    CHECK(resolve(arena, 3, "full/max", "webp", 20000, 10000, &none, &g, &err));
    CHECK(g.w == 16383 && g.h == 8192 && g.is_max); /* 10000 * 16383 / 20000 = 8191.5 */
    CHECK(resolve(arena, 3, "full/max", "png", 20000, 10000, &none, &g, &err));
    CHECK(g.w == 20000 && g.h == 10000);
}

/* Case 8: MAX_CVT=-1 keeps native size and publishes a true area, never a sentinel. */
static void test_limits(void)
{
    tg_config config = {
        .max_cvt = 5000, .memory_bytes = (uint64_t)512 << 20, .allow_upscaling = true};
    tg_limits l;
    tg_limits_from_config(&config, 300, 200, &l);
    CHECK(l.max_w == 5000 && l.max_h == 5000 && l.max_area == 0 && l.allow_upscaling);

    config.max_cvt = 0;
    config.allow_upscaling = false;
    tg_limits_from_config(&config, 300, 200, &l);
    CHECK(l.max_w == 0 && l.max_h == 0 && l.max_area == (uint64_t)64 << 20);
    CHECK(!l.allow_upscaling);
    tg_limits_from_config(&config, 25000, 12500, &l);
    CHECK(l.max_w == 0 && l.max_area == (uint64_t)25000 * 12500);
    CHECK(tg_limits_allow(&l, 25000, 12500) && !tg_limits_allow(&l, 25000, 12501));

    /* JPEG holds 65500 px a side, and every image must be to be had as one. */
    tg_limits_from_config(&config, 100000, 10, &l);
    CHECK(l.max_w == 65500 && l.max_h == 65500);
    config.max_cvt = 1000000;
    tg_limits_from_config(&config, 300, 200, &l);
    CHECK(l.max_w == 65500 && l.max_h == 65500);
}

static void test_scale_round(void)
{
    CHECK_INT(tg_scale_round_px(911, 619, 1237), 456);
    CHECK_INT(tg_scale_round_px(1, 1, 2), 1);    /* half up */
    CHECK_INT(tg_scale_round_px(1, 1, 1000), 1); /* never 0 */
    CHECK_INT(tg_scale_round_px(5, 1, 2), 3);
    CHECK_INT(tg_scale_round_px(7, 1, 3), 2);
    CHECK_INT(tg_scale_round_px(UINT32_MAX, UINT32_MAX, UINT32_MAX), UINT32_MAX);
    CHECK_INT(tg_scale_round_px(UINT32_MAX, UINT32_MAX, 1), UINT32_MAX); /* saturates */
}

static uint64_t seed = 20261201;

static uint32_t rnd(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % n);
}

/* Whatever is asked: inside the image, at least a pixel, never above a limit; and without a caret
 * never above the region. */
static void test_invariants(void)
{
    for (int i = 0; i < 200000; i++) {
        uint32_t w = 1 + rnd(i % 2 ? 100000 : 50), h = 1 + rnd(i % 3 ? 100000 : 50);
        tg_limits limits = {.max_w = rnd(3) ? 1 + rnd(6000) : 0, .allow_upscaling = rnd(4) > 0};
        limits.max_h = rnd(2) && limits.max_w ? 1 + rnd(6000) : 0;
        limits.max_area = rnd(2) ? 1 + rnd(20000000) : 0;
        tg_job job = {.region = (tg_region_kind)rnd(4),
                      .rx = rnd(110),
                      .ry = rnd(110),
                      .rw = rnd(3000),
                      .rh = rnd(3000),
                      .size = (tg_size_kind)rnd(6),
                      .w = rnd(9000),
                      .h = rnd(9000),
                      .pct = rnd(3000) / 10.0,
                      .upscale = (tg_upscale)rnd(3),
                      .format = (tg_format)rnd(TG_FORMATS)};
        tg_geometry g;
        tg_err err = {0};
        if (!tg_geometry_resolve(&job, w, h, &limits, &g, &err)) {
            CHECK(err.kind == TG_ERR_BAD_REQUEST || err.kind == TG_ERR_NOT_IMPLEMENTED);
            CHECK(job.size != TG_SIZE_MAX || job.region >= TG_REGION_PIXELS ||
                  err.kind == TG_ERR_NOT_IMPLEMENTED);
            continue;
        }
        CHECK(g.region.w >= 1 && g.region.x < w && g.region.w <= w - g.region.x);
        CHECK(g.region.h >= 1 && g.region.y < h && g.region.h <= h - g.region.y);
        CHECK(g.w >= 1 && g.h >= 1 && tg_limits_allow(&limits, g.w, g.h));
        CHECK(job.upscale != TG_UPSCALE_NO || (g.w <= g.region.w && g.h <= g.region.h));
        CHECK(job.size != TG_SIZE_CONFINE || (g.w <= job.w && g.h <= job.h));
        CHECK(job.size != TG_SIZE_MAX || g.is_max || g.is_upscaled_max);
    }
}

/* An image of 100 x 50 px. */
static void test_free_regions(void)
{
    static const struct {
        double rx, ry, rw, rh;
        uint64_t w, h;
        bool found;
        uint32_t part_w, part_h, x, y, canvas_w;
        double origin_x, step_x;
    } cases[] = {
        {0, 0, 100, 50, 50, 25, true, 50, 25, 0, 0, 0, 0, 2},
        {0, 0, 256, 256, 256, 256, true, 100, 50, 0, 0, 256, 0, 1},
        /* px 0 .. 4 of 4 each lie before the image, the sixth has its centre at 2 */
        {-20, 0, 64, 64, 16, 16, true, 11, 12, 5, 0, 16, 0, 4},
        /* 50 / 4 = 12.5: the centre of the thirteenth, at 50, is outside */
        {0.5, 0, 64, 64, 16, 16, true, 16, 12, 0, 0, 16, 0.5, 4},
        {0, 0, 6400, 6400, 16, 16, true, 1, 1, 0, 0, 16, 0, 400},
        {100, 0, 10, 10, 10, 10, false, 0, 0, 0, 0, 0, 0, 0},
        {-10, 0, 10, 10, 10, 10, false, 0, 0, 0, 0, 0, 0, 0},
        {0, 0, INFINITY, 10, 10, 10, false, 0, 0, 0, 0, 0, 0, 0},
        {NAN, 0, 10, 10, 10, 10, false, 0, 0, 0, 0, 0, 0, 0},
        {0, 0, INFINITY, NAN, 10, 10, false, 0, 0, 0, 0, 0, 0, 0},
        {0, 0, 10, 10, 0, 10, false, 0, 0, 0, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tg_job job = {.region = TG_REGION_FREE,
                      .rx = cases[i].rx,
                      .ry = cases[i].ry,
                      .rw = cases[i].rw,
                      .rh = cases[i].rh,
                      .w = cases[i].w,
                      .h = cases[i].h};
        tg_limits limits = {.max_w = 8};
        tg_geometry g = {0};
        tg_err err = {0};
        CHECK_INT(tg_geometry_resolve(&job, 100, 50, &limits, &g, &err), cases[i].found);
        CHECK_INT(err.kind, cases[i].found ? TG_ERR_NONE : TG_ERR_NOT_FOUND);
        if (!cases[i].found)
            continue;
        CHECK_INT(g.w, cases[i].part_w);
        CHECK_INT(g.h, cases[i].part_h);
        CHECK_INT(g.canvas.x, cases[i].x);
        CHECK_INT(g.canvas.y, cases[i].y);
        CHECK_INT(g.canvas.width_px, cases[i].canvas_w);
        CHECK(g.free_x.origin == cases[i].origin_x && g.free_x.step == cases[i].step_x);
    }
}

int main(void)
{
    tg_arena *arena = tg_arena_new();
    test_rows(arena);
    test_every_size(arena);
    test_tiles(arena, 1237, 911, 256);
    test_tiles(arena, 1025, 700, 256);
    test_tiles(arena, 513, 1, 64);
    test_tiles(arena, 9000, 6000, 256);
    test_negative_origin();
    test_flags(arena);
    test_format_side(arena);
    test_limits();
    test_scale_round();
    test_invariants();
    tg_arena_free(arena);
    test_free_regions();
    return check_done();
}
