/* Deep Zoom and Zoomify: addresses, level sizes and tiles, by the rules of both formats. */
#include <string.h>

#include "check.h"
#include "tegula/tiles.h"

static tg_err parse(tg_protocol protocol, const char *path, tg_tiles *out)
{
    static tg_arena *arena;
    tg_err err = {0};
    if (!arena)
        arena = tg_arena_new();
    tg_tiles_parse(protocol, tg_str_of(path), arena, out, &err);
    return err;
}

static void test_addresses(void)
{
    static const struct {
        tg_protocol protocol;
        const char *path;
        tg_err_kind kind;
        bool document;
        const char *identifier;
        uint64_t level, x, y;
        tg_format format;
    } rows[] = {
        {TG_PROTOCOL_DEEPZOOM, "a.tif.dzi", 0, true, "a.tif", 0, 0, 0, 0},
        {TG_PROTOCOL_DEEPZOOM, "a.tif.xml", 0, true, "a.tif", 0, 0, 0, 0},
        {TG_PROTOCOL_DEEPZOOM, "sub%2Fa%20b.tif_files/11/4_3.jpg", 0, false, "sub/a b.tif", 11, 4,
         3, TG_FORMAT_JPEG},
        {TG_PROTOCOL_DEEPZOOM, "sub/a_files/b_files/0/0_0.PNG", 0, false, "sub/a_files/b", 0, 0, 0,
         TG_FORMAT_PNG},
        {TG_PROTOCOL_DEEPZOOM, "a_files/1/0_0.webp", 0, false, "a", 1, 0, 0, TG_FORMAT_WEBP},
        {TG_PROTOCOL_DEEPZOOM, "a_files/1/0_0.gif", TG_ERR_BAD_REQUEST, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_DEEPZOOM, "a_files/1/0_0", TG_ERR_NOT_FOUND, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_DEEPZOOM, "a_files/1/-1_0.jpg", TG_ERR_NOT_FOUND, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_DEEPZOOM, "a_files/1/0_x.jpg", TG_ERR_NOT_FOUND, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_DEEPZOOM, "_files/1/0_0.jpg", TG_ERR_NOT_FOUND, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_DEEPZOOM, ".dzi", TG_ERR_NOT_FOUND, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_DEEPZOOM, "a%00.dzi", TG_ERR_BAD_REQUEST, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_DEEPZOOM, "a.tif", TG_ERR_NOT_FOUND, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_XYZ, "s%2Fa.tif/tilejson.json", 0, true, "s/a.tif", 0, 0, 0, 0},
        {TG_PROTOCOL_XYZ, "s/a.tif/3/2/1.png", 0, false, "s/a.tif", 3, 2, 1, TG_FORMAT_PNG},
        {TG_PROTOCOL_XYZ, "a/3/2/1@2x.jpg", 0, false, "a", 3, 2, 1, TG_FORMAT_JPEG},
        {TG_PROTOCOL_XYZ, "a/3/2/1@3x.jpg", TG_ERR_NOT_FOUND, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_XYZ, "a/3/2/@2x.jpg", TG_ERR_NOT_FOUND, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_XYZ, "a/3/2/1.tif", TG_ERR_BAD_REQUEST, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_XYZ, "3/2/1.jpg", TG_ERR_NOT_FOUND, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_XYZ, "/tilejson.json", TG_ERR_NOT_FOUND, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_ZOOMIFY, "a.tif/ImageProperties.xml", 0, true, "a.tif", 0, 0, 0, 0},
        {TG_PROTOCOL_ZOOMIFY, "s/a.tif/TileGroup7/3-2-1.jpg", 0, false, "s/a.tif", 3, 2, 1,
         TG_FORMAT_JPEG},
        {TG_PROTOCOL_ZOOMIFY, "a/TileGroup0/3-2-1.png", TG_ERR_BAD_REQUEST, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_ZOOMIFY, "a/TileGroup0/3-2.jpg", TG_ERR_NOT_FOUND, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_ZOOMIFY, "a/Group0/3-2-1.jpg", TG_ERR_NOT_FOUND, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_ZOOMIFY, "/ImageProperties.xml", TG_ERR_NOT_FOUND, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_ZOOMIFY, "ImageProperties.xml", TG_ERR_NOT_FOUND, 0, 0, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tg_tiles t;
        tg_err err = parse(rows[i].protocol, rows[i].path, &t);
        CHECK_INT(err.kind, rows[i].kind);
        if (rows[i].kind)
            continue;
        CHECK_INT(t.document, rows[i].document);
        CHECK_TEXT(t.identifier.p, t.identifier.n, rows[i].identifier);
        CHECK_INT(t.level, rows[i].level);
        CHECK_INT(t.x, rows[i].x);
        CHECK_INT(t.y, rows[i].y);
        CHECK_INT(t.format, rows[i].format);
    }
}

static void test_jobs(void)
{
    static const struct {
        tg_protocol protocol;
        uint32_t w, h;
        uint64_t level, x, y;
        int found;
        double rx, ry, rw, rh;
        uint64_t out_w, out_h;
    } rows[] = {
        /* 1024 = 2^10: the top level is 10, of 1025 it is 11 */
        {TG_PROTOCOL_DEEPZOOM, 1024, 1024, 10, 3, 3, 1, 768, 768, 256, 256, 256, 256},
        {TG_PROTOCOL_DEEPZOOM, 1024, 1024, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_DEEPZOOM, 1024, 1024, 10, 4, 0, 0, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_DEEPZOOM, 1025, 1024, 11, 4, 3, 1, 1024, 768, 1, 256, 1, 256},
        {TG_PROTOCOL_DEEPZOOM, 1025, 1024, 10, 2, 0, 1, 1024, 0, 1, 512, 1, 256},
        {TG_PROTOCOL_DEEPZOOM, 1025, 1024, 0, 0, 0, 1, 0, 0, 1025, 1024, 1, 1},
        {TG_PROTOCOL_DEEPZOOM, 5000, 4000, 9, 0, 0, 1, 0, 0, 4096, 4000, 256, 250},
        {TG_PROTOCOL_DEEPZOOM, 5000, 4000, 9, 1, 0, 1, 4096, 0, 904, 4000, 57, 250},
        {TG_PROTOCOL_DEEPZOOM, 1, 1, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1},
        {TG_PROTOCOL_DEEPZOOM, 0x7fffffff, 1, 31, 8388607, 0, 1, 2147483392., 0, 255, 1, 255, 1},
        {TG_PROTOCOL_DEEPZOOM, 0x7fffffff, 1, 1, 0, 0, 1, 0, 0, 2147483647., 1, 2, 1},
        {TG_PROTOCOL_DEEPZOOM, 9, 9, UINT64_MAX, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_DEEPZOOM, 9, 9, 4, UINT64_MAX, 0, 0, 0, 0, 0, 0, 0, 0},
        /* 513 x 400 -> 256 x 200 fits a tile: two levels */
        {TG_PROTOCOL_ZOOMIFY, 513, 400, 0, 0, 0, 1, 0, 0, 512, 400, 256, 200},
        {TG_PROTOCOL_ZOOMIFY, 513, 400, 1, 2, 1, 1, 512, 256, 1, 144, 1, 144},
        {TG_PROTOCOL_ZOOMIFY, 513, 400, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_ZOOMIFY, 513, 400, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        /* 1025 needs 8 tiles of 256 = 2^3, whole squares */
        {TG_PROTOCOL_XYZ, 1024, 1024, 2, 3, 3, 1, 768, 768, 256, 256, 256, 256},
        {TG_PROTOCOL_XYZ, 1024, 1024, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_XYZ, 1025, 700, 3, 4, 2, 1, 1024, 512, 256, 256, 256, 256},
        {TG_PROTOCOL_XYZ, 1025, 700, 3, 5, 2, 0, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_XYZ, 1025, 700, 3, 4, 3, 0, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_XYZ, 1025, 700, 0, 0, 0, 1, 0, 0, 2048, 2048, 256, 256},
        {TG_PROTOCOL_XYZ, 1, 1, 0, 0, 0, 1, 0, 0, 256, 256, 256, 256},
        {TG_PROTOCOL_XYZ, 0x7fffffff, 1, 0, 0, 0, 1, 0, 0, 2147483648., 2147483648., 256, 256},
        {TG_PROTOCOL_XYZ, 9, 9, UINT64_MAX, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_XYZ, 9, 9, 0, UINT64_MAX, 0, 0, 0, 0, 0, 0, 0, 0},
        {TG_PROTOCOL_ZOOMIFY, 4000, 3, 0, 0, 0, 1, 0, 0, 4000, 3, 250, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tg_tiles t = {.protocol = rows[i].protocol,
                      .level = rows[i].level,
                      .x = rows[i].x,
                      .y = rows[i].y,
                      .format = TG_FORMAT_PNG};
        tg_tiles_image image = {.width_px = rows[i].w, .height_px = rows[i].h, .tile_px = 256};
        tg_job job;
        tg_err err = {0};
        CHECK_INT(tg_tiles_job(&t, &image, &job, &err), rows[i].found);
        CHECK_INT(err.kind, rows[i].found ? TG_ERR_NONE : TG_ERR_NOT_FOUND);
        if (!rows[i].found)
            continue;
        CHECK_INT(job.region,
                  rows[i].protocol == TG_PROTOCOL_XYZ ? TG_REGION_FREE : TG_REGION_PIXELS);
        CHECK_INT(job.size, TG_SIZE_EXACT);
        CHECK_INT(job.rx, rows[i].rx);
        CHECK_INT(job.ry, rows[i].ry);
        CHECK_INT(job.rw, rows[i].rw);
        CHECK_INT(job.rh, rows[i].rh);
        CHECK_INT(job.w, rows[i].out_w);
        CHECK_INT(job.h, rows[i].out_h);
        CHECK_INT(job.format, TG_FORMAT_PNG);
    }
}

static void test_documents(void)
{
    tg_buf out = {0};
    /* 1025 x 767: 5 x 3 tiles, then 512 x 383: 2 x 2, then 256 x 191: 1 */
    tg_tiles_document(TG_PROTOCOL_ZOOMIFY,
                      &(tg_tiles_image){.width_px = 1025, .height_px = 767, .tile_px = 256}, &out);
    CHECK_TEXT((char *)out.data, out.len,
               "<IMAGE_PROPERTIES WIDTH=\"1025\" HEIGHT=\"767\" NUMTILES=\"20\" NUMIMAGES=\"1\" "
               "VERSION=\"1.8\" TILESIZE=\"256\"/>");
    tg_buf_free(&out);
}

int main(void)
{
    test_addresses();
    test_jobs();
    test_documents();
    return check_done();
}
