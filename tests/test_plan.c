/* Plans, asserted without decoding a pixel: which level, which tiles, which path. */
#include "check.h"
#include "tegula/config.h"
#include "tegula/iiif.h"
#include "tegula/num.h"
#include "tegula/plan.h"
#include "tegula/resolutions.h"

#include <string.h>

/* Never called: only that there are tiles to send matters. */
static bool no_tile(tg_image *img, unsigned level, uint32_t col, uint32_t row, tg_buf *out,
                    tg_err *err)
{
    (void)img;
    (void)level;
    (void)col;
    (void)row;
    (void)out;
    return tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "no tile");
}

static const tg_codec no_codec = {.name = "none", .stored_tile = no_tile};

/* A tiled JPEG pyramid of halved levels, as the field's tools write them. */
static tg_image pyramid(uint32_t w, uint32_t h, uint32_t tile, bool ceil_levels)
{
    tg_image image = {.codec = &no_codec,
                      .native = {.space = TG_SPACE_RGB, .bits = 8},
                      .fmt = {3, 8},
                      .orientation = 1,
                      .tiled = true};
    while (image.n_levels < TG_MAX_LEVELS) {
        image.level[image.n_levels++] = (tg_level){.width_px = w,
                                                   .height_px = h,
                                                   .tile_w_px = tile,
                                                   .tile_h_px = tile,
                                                   .cols = (w + tile - 1) / tile,
                                                   .rows = (h + tile - 1) / tile,
                                                   .max_reduction = 3,
                                                   .stored = TG_STORED_JPEG};
        if (w <= tile && h <= tile)
            break;
        w = (w + ceil_levels) / 2;
        h = (h + ceil_levels) / 2;
    }
    return image;
}

static bool plan_of(const tg_config *config, tg_image *image, int version, const char *request,
                    tg_plan *plan)
{
    tg_arena *arena = tg_arena_new();
    tg_str part[4], rest = tg_str_of(request);
    tg_job job;
    tg_err err = {0};
    for (int i = 0; i < 4; i++)
        tg_str_cut(rest, '/', &part[i], &rest);
    bool ok =
        tg_iiif_parse_params(version, false, part[0], part[1], part[2], part[3], arena, &job, &err);
    ok = ok && tg_plan_make(config, image, &job, plan, &err);
    if (!ok)
        printf("# %s: %s\n", request, err.msg);
    tg_arena_free(arena);
    return ok;
}

/* The picture is 2560 x 1280 as stored; the corner that is shown top left, as the table of CIPA
 * DC-008 has it, and what is left to do after reading it. */
static void test_orientations(const tg_config *config)
{
    static const struct {
        uint8_t orientation;
        const char *request;
        bool stored;
        tg_rect window;
        bool mirror;
        unsigned quarter;
        uint32_t out_w, out_h;
    } rows[] = {
        {1, "0,0,256,512/256,512/0/default.png", false, {0, 0, 256, 512}, false, 0, 256, 512},
        {2, "0,0,256,512/256,512/0/default.png", false, {2304, 0, 256, 512}, true, 0, 256, 512},
        {3, "0,0,256,512/256,512/0/default.png", false, {2304, 768, 256, 512}, false, 2, 256, 512},
        {4, "0,0,256,512/256,512/0/default.png", false, {0, 768, 256, 512}, true, 2, 256, 512},
        {5, "0,0,256,512/256,512/0/default.png", false, {0, 0, 512, 256}, true, 3, 256, 512},
        {6, "0,0,256,512/256,512/0/default.png", false, {0, 1024, 512, 256}, false, 1, 256, 512},
        {7, "0,0,256,512/256,512/0/default.png", false, {2048, 1024, 512, 256}, true, 1, 256, 512},
        {8, "0,0,256,512/256,512/0/default.png", false, {2048, 0, 512, 256}, false, 3, 256, 512},
        /* asked to lie as it is stored, a stored tile can go out */
        {6, "0,0,256,256/256,256/270/default.jpg", true, {0, 1024, 256, 256}, false, 0, 256, 256},
        {8, "0,0,256,256/256,256/90/default.jpg", true, {2304, 0, 256, 256}, false, 0, 256, 256},
        {3,
         "0,0,256,256/256,256/180/default.jpg",
         true,
         {2304, 1024, 256, 256},
         false,
         0,
         256,
         256},
        /* a mirror behind a turn is the opposite turn behind a mirror */
        {6, "0,0,256,512/256,512/!0/default.png", false, {0, 1024, 512, 256}, true, 3, 256, 512},
        {6, "0,0,256,512/256,512/!90/default.png", false, {0, 1024, 512, 256}, true, 0, 512, 256},
        {2, "0,0,256,512/256,512/!0/default.png", false, {2304, 0, 256, 512}, false, 0, 256, 512},
        /* half size: the level below */
        {6, "0,0,512,1024/256,512/0/default.png", false, {0, 384, 512, 256}, false, 1, 256, 512},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tg_image image = pyramid(2560, 1280, 256, false);
        tg_plan p;
        image.orientation = rows[i].orientation;
        CHECK(plan_of(config, &image, 3, rows[i].request, &p));
        CHECK_INT(p.stored, rows[i].stored);
        CHECK(memcmp(&p.window, &rows[i].window, sizeof p.window) == 0);
        CHECK_INT(p.mirror, rows[i].mirror);
        CHECK_INT(p.quarter, rows[i].quarter);
        CHECK_INT(p.out_w, rows[i].out_w);
        CHECK_INT(p.out_h, rows[i].out_h);
        CHECK(!p.resample);
    }
}

/* One request against one pyramid; level, path and window as computed by hand. */
static void test_ladder(const tg_config *config)
{
    static const struct {
        uint32_t w, h;
        bool ceil_levels;
        int version;
        const char *request;
        unsigned level;
        bool stored, resample;
        tg_rect window;
    } rows[] = {
        /* a stored tile of each kind of level */
        {4096,
         4096,
         false,
         3,
         "0,0,256,256/256,256/0/default.jpg",
         0,
         true,
         false,
         {0, 0, 256, 256}},
        {4096,
         4096,
         false,
         3,
         "512,0,512,512/256,256/0/default.jpg",
         1,
         true,
         false,
         {256, 0, 256, 256}},
        {1501,
         1103,
         false,
         3,
         "512,512,512,512/256,256/0/default.jpg",
         1,
         true,
         false,
         {256, 256, 256, 256}},
        {1501,
         1103,
         true,
         2,
         "0,512,512,512/256,/0/default.jpg",
         1,
         true,
         false,
         {0, 256, 256, 256}},
        /* another format, a turn, gray: decoded, same pixels */
        {4096,
         4096,
         false,
         3,
         "0,0,256,256/256,256/0/default.png",
         0,
         false,
         false,
         {0, 0, 256, 256}},
        {4096,
         4096,
         false,
         3,
         "0,0,256,256/256,256/90/default.jpg",
         0,
         false,
         false,
         {0, 0, 256, 256}},
        {4096, 4096, false, 3, "0,0,256,256/256,256/0/gray.jpg", 0, false, false, {0, 0, 256, 256}},
        /* edge tile whose width may be rounded either way: the neighbour's level (487 / 2 = 243.5)
         */
        /* 243 wide is 255.5 high: 256 rows onto 255, and three more for the filter */
        {2023,
         1600,
         false,
         2,
         "1536,0,487,512/243,/0/default.jpg",
         1,
         false,
         true,
         {768, 0, 243, 259}},
        {2023,
         1600,
         false,
         3,
         "1536,0,487,512/243,256/0/default.jpg",
         1,
         true,
         false,
         {768, 0, 243, 256}},
        {2023,
         1600,
         false,
         3,
         "1536,0,487,512/244,256/0/default.jpg",
         1,
         false,
         true,
         {768, 0, 243, 256}},
        {2023,
         1600,
         true,
         3,
         "1536,0,487,512/244,256/0/default.jpg",
         1,
         true,
         false,
         {768, 0, 244, 256}},
        /* half an edge tile, and one with a neighbour's column: decoded */
        {2023,
         1600,
         true,
         3,
         "1536,0,240,512/120,256/0/default.jpg",
         1,
         false,
         false,
         {768, 0, 120, 256}},
        {2023,
         1600,
         true,
         3,
         "1534,0,489,512/245,256/0/default.jpg",
         1,
         false,
         false,
         {767, 0, 245, 256}},
        /* the corner, and a level smaller than a tile */
        {2023,
         1600,
         false,
         3,
         "1536,1536,487,64/487,64/0/default.jpg",
         0,
         false,
         false,
         {1536, 1536, 487, 64}},
        {2023,
         1600,
         false,
         3,
         "1792,1536,231,64/231,64/0/default.jpg",
         0,
         true,
         false,
         {1792, 1536, 231, 64}},
        {2023, 1600, false, 3, "full/252,200/0/default.jpg", 3, true, false, {0, 0, 252, 200}},
        {2023, 1600, false, 3, "full/252,200/0/default.png", 3, false, false, {0, 0, 252, 200}},
        /* off the grid by one: no stored tile */
        {4096,
         4096,
         false,
         3,
         "1,0,256,256/256,256/0/default.jpg",
         0,
         false,
         false,
         {1, 0, 256, 256}},
        /* levels one row short of a whole: 6143 / 8 = 767.9 */
        {4096,
         6143,
         false,
         2,
         "0,4096,2048,2047/256,/0/default.jpg",
         3,
         false,
         true,
         {0, 512, 256, 255}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tg_image image = pyramid(rows[i].w, rows[i].h, 256, rows[i].ceil_levels);
        tg_plan plan = {0};
        unsigned before = check_failed;
        CHECK(plan_of(config, &image, rows[i].version, rows[i].request, &plan));
        CHECK_INT(plan.level, rows[i].level);
        CHECK_INT(plan.stored, rows[i].stored);
        CHECK_INT(plan.resample, rows[i].resample);
        CHECK_INT(plan.window.x, rows[i].window.x);
        CHECK_INT(plan.window.y, rows[i].window.y);
        CHECK_INT(plan.window.w, rows[i].window.w);
        CHECK_INT(plan.window.h, rows[i].window.h);
        if (check_failed != before)
            printf("# row %zu: %ux%u %s\n", i, rows[i].w, rows[i].h, rows[i].request);
    }
}

/* Every tile a viewer can ask of a pyramid comes from the level of its factor, pixel by pixel in
 * version 3, whatever the size's rounding. */
static void test_tiles_share_a_level(const tg_config *config)
{
    static const uint32_t sizes[][2] = {
        {1237, 911}, {4097, 2049}, {1025, 700}, {2023, 1600}, {5000, 3001}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int ceil_levels = 0; ceil_levels < 2; ceil_levels++) {
            uint32_t w = sizes[s][0], h = sizes[s][1];
            tg_image image = pyramid(w, h, 256, ceil_levels);
            for (unsigned level = 0; level < image.n_levels; level++) {
                uint32_t f = 1u << level, side = 256 * f;
                for (uint32_t y = 0; y < h; y += side)
                    for (uint32_t x = 0; x < w; x += side) {
                        uint32_t rw = x + side < w ? side : w - x, rh = y + side < h ? side : h - y;
                        char request[128];
                        tg_plan plan = {0};
                        snprintf(request, sizeof request, "%u,%u,%u,%u/%u,%u/0/default.jpg", x, y,
                                 rw, rh, (rw + f - 1) / f, (rh + f - 1) / f);
                        CHECK(plan_of(config, &image, 3, request, &plan));
                        /* a far corner of one pixel is that very pixel, whatever the factor */
                        bool pixel = rw == 1 && rh == 1;
                        CHECK_INT(plan.level, pixel ? 0 : level);
                        CHECK(plan.x.step == 1 && plan.y.step == 1);
                        /* a level rounded down lacks the last column: its neighbour is repeated */
                        if (!pixel)
                            CHECK_INT(plan.window.x,
                                      TG_MIN(x / f, image.level[level].width_px - 1));
                        else
                            CHECK_INT(plan.window.x, x);
                        if (plan.level != level && !pixel)
                            printf("# %ux%u %s\n", w, h, request);
                    }
            }
        }
}

/* A single-level JPEG file is reduced by the decoder as far as that leaves enough pixels. */
static void test_reduction(const tg_config *config)
{
    tg_image image = pyramid(5000, 4000, 256, false);
    static const struct {
        const char *request;
        unsigned k;
    } rows[] = {{"full/max/0/default.jpg", 0},   {"full/2502,/0/default.jpg", 0},
                {"full/2500,/0/default.jpg", 1}, {"full/1250,/0/default.jpg", 2},
                {"full/700,/0/default.jpg", 2},  {"full/625,/0/default.jpg", 3},
                {"full/100,/0/default.jpg", 3}};
    image.n_levels = 1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tg_plan plan = {0};
        CHECK(plan_of(config, &image, 3, rows[i].request, &plan));
        CHECK_INT(plan.reduction, rows[i].k);
    }
}

static void test_oversampling(const tg_config *defaults)
{
    tg_config config = *defaults;
    tg_image image = pyramid(4096, 4096, 256, false);
    tg_plan plan = {0};
    config.oversampling = 2;
    CHECK(plan_of(&config, &image, 3, "full/600,/0/default.jpg", &plan));
    CHECK_INT(plan.level, 1); /* 2048 >= 2 * 600 > 1024 */
    CHECK(plan_of(&config, &image, 3, "full/512,/0/default.jpg", &plan));
    CHECK_INT(plan.level, 3); /* exactly a stored level */
}

/* Of what the tile holds beyond the edge JPEG can be rid without decoding, WebP cannot; nor is a
 * tile of many pixels held as coefficients. */
static void test_edges(const tg_config *config)
{
    static const struct {
        uint32_t tile;
        tg_stored stored;
        const char *request;
        bool sent, cropped;
    } rows[] = {
        {256, TG_STORED_JPEG, "0,0,256,256/256,256/0/default.jpg", true, false},
        {256, TG_STORED_JPEG, "256,0,44,256/44,256/0/default.jpg", true, true},
        {256, TG_STORED_JPEG, "256,256,44,24/44,24/0/default.jpg", true, true},
        {256, TG_STORED_JPEG, "256,0,44,256/44,256/!0/default.jpg", false, false},
        {256, TG_STORED_WEBP, "0,0,256,256/256,256/0/default.webp", true, false},
        {256, TG_STORED_WEBP, "256,0,44,256/44,256/0/default.webp", false, false},
        {4096, TG_STORED_JPEG, "full/max/0/default.jpg", true, true},
        {4112, TG_STORED_JPEG, "full/max/0/default.jpg", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tg_image image = pyramid(300, 280, rows[i].tile, false);
        tg_plan plan = {0};
        image.level[0].stored = rows[i].stored;
        CHECK(plan_of(config, &image, 3, rows[i].request, &plan));
        CHECK_INT(plan.stored, rows[i].sent);
        CHECK_INT(plan.cropped, rows[i].cropped);
        CHECK_INT(plan.decode_px == 0, rows[i].sent);
    }
}

static void check_rect(int line, tg_rect got, tg_rect want)
{
    CHECK_ROW(line, memcmp(&got, &want, sizeof got) == 0, "%u,%u,%u,%u", got.x, got.y, got.w,
              got.h);
}

/* Tiles of resolutions: levels as they are stored, smallest first, or halved from the only one. */
static void test_resolutions(const tg_config *config)
{
    tg_image image = pyramid(1501, 1103, 256, true);
    tg_resolutions all;
    tg_plan plan;
    tg_err err = {0};
    tg_job job = {.format = TG_FORMAT_JPEG};
    tg_resolutions_of(&image, &all);
    CHECK(all.n == 4 && all.of[0].width_px == 188 && all.of[3].height_px == 1103);
    tg_resolution_job(&image, &all.of[2], (tg_rect){512, 256, 239, 256}, &job);
    CHECK(tg_plan_make(config, &image, &job, &plan, &err));
    CHECK(plan.level == 1 && !plan.resample && plan.stored && plan.cropped);
    check_rect(__LINE__, plan.window, (tg_rect){512, 256, 239, 256});
    CHECK(plan.geometry.region.x == 1024 && plan.geometry.region.w == 477);

    image.orientation = 6; /* the stored left side is shown on top */
    tg_resolutions_of(&image, &all);
    CHECK(all.of[3].width_px == 1103 && all.of[3].height_px == 1501);
    tg_resolution_job(&image, &all.of[2], (tg_rect){0, 512, 256, 239}, &job);
    CHECK(tg_plan_make(config, &image, &job, &plan, &err) && plan.quarter == 1 && !plan.stored);
    check_rect(__LINE__, plan.window, (tg_rect){512, 552 - 256, 239, 256});

    image.orientation = 1;
    image.n_levels = 1;
    tg_resolutions_of(&image, &all);
    CHECK(all.n == 4 && all.of[2].width_px == 751 && all.of[0].level == -1);
    tg_resolution_job(&image, &all.of[1], (tg_rect){256, 256, 120, 20}, &job);
    CHECK(tg_plan_make(config, &image, &job, &plan, &err) && plan.out_w == 120 && plan.out_h == 20);
    check_rect(__LINE__, plan.geometry.region, (tg_rect){1024, 1024, 477, 79});
}

/* A kernel looks at pixels around the core, where the level has them. */
static void test_processing(const tg_config *config)
{
    tg_image image = pyramid(1024, 1024, 256, false);
    tg_plan plan;
    tg_err err = {0};
    tg_job job = {.region = TG_REGION_LEVEL, .rx = 256, .ry = 0, .rw = 256, .rh = 256};
    job.process = (tg_process){.kernel_side = 5};
    CHECK(tg_plan_make(config, &image, &job, &plan, &err));
    CHECK(plan.processed && !plan.stored && !plan.resample && plan.tiles == 6);
    check_rect(__LINE__, plan.window, (tg_rect){254, 0, 260, 258});
    check_rect(__LINE__, plan.core, (tg_rect){2, 0, 256, 256});
    job.process = (tg_process){.map = TG_MAP_JET};
    CHECK(tg_plan_make(config, &image, &job, &plan, &err) && plan.tiles == 1);
    check_rect(__LINE__, plan.window, (tg_rect){256, 0, 256, 256});
    job.process = (tg_process){.shade = true};
    CHECK(tg_plan_make(config, &image, &job, &plan, &err) && plan.rows_fmt.channels == 1);
    CHECK(plan.out_fmt.channels == 1 && plan.read_fmt.channels == 3);
    image.fmt.channels = 1;
    CHECK(!tg_plan_make(config, &image, &job, &plan, &err) && err.kind == TG_ERR_BAD_REQUEST);
}

/* Places that may reach beyond the image; the result is as large as asked for all the same. */
static void test_free_regions(const tg_config *config)
{
    static const struct {
        double x, y, side; /* of the image, shown as 256 x 256 */
        unsigned level;
        tg_rect window, part; /* of the level; of the result, which holds image */
        bool resample;
    } rows[] = {
        {256, 0, 256, 0, {256, 0, 256, 256}, {0, 0, 256, 256}, false},
        {0, 512, 512, 1, {0, 256, 256, 256}, {0, 0, 256, 256}, false},
        /* 128 px to the left there is nothing, from 1024 on neither: in halves 192 x 128 are left
         */
        {-128, 768, 512, 1, {0, 384, 192, 128}, {64, 0, 192, 128}, false},
        {-1024, -1024, 4096, 2, {0, 0, 64, 64}, {64, 64, 64, 64}, false}, /* the decoder reduces
                                                                             further */
        /* Lanczos with three lobes looks at three pixels on either side; the image begins at 0 */
        {.5, 256, 256, 0, {0, 256, 259, 256}, {0, 0, 256, 256}, true},
    };
    tg_image image = pyramid(1024, 1024, 256, false);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tg_plan plan;
        tg_err err = {0};
        tg_job job = {.region = TG_REGION_FREE,
                      .rx = rows[i].x,
                      .ry = rows[i].y,
                      .rw = rows[i].side,
                      .rh = rows[i].side,
                      .w = 256,
                      .h = 256};
        CHECK(tg_plan_make(config, &image, &job, &plan, &err));
        CHECK_ROW(__LINE__, plan.level == rows[i].level && plan.resample == rows[i].resample,
                  "row %zu: level %u, resample %d", i, plan.level, plan.resample);
        tg_geometry *g = &plan.geometry;
        bool fills = rows[i].part.w == 256 && rows[i].part.h == 256;
        CHECK_INT(g->canvas.width_px, fills ? 0 : 256);
        CHECK_INT(g->canvas.height_px, fills ? 0 : 256);
        check_rect(__LINE__, (tg_rect){g->canvas.x, g->canvas.y, g->w, g->h}, rows[i].part);
        check_rect(__LINE__, plan.window, rows[i].window);
    }
}

int main(void)
{
    tg_config config;
    tg_config_defaults(&config);
    test_orientations(&config);
    test_ladder(&config);
    test_tiles_share_a_level(&config);
    test_edges(&config);
    test_reduction(&config);
    test_oversampling(&config);
    test_resolutions(&config);
    test_processing(&config);
    test_free_regions(&config);
    return check_done();
}
