/* Which directories become levels and which become pages. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tiffio.h>

#include "check.h"
#include "fixture.h"
#include "tegula/mem.h"

/* A directory of one gray, tiled 64x64 unless striped. */
typedef struct plain {
    uint32_t width_px, height_px, subfile;
    bool striped;
    uint16_t bits;
} plain;

#define TILED(w, h, subfile)                                                                       \
    {                                                                                              \
        w, h, subfile, false, 8                                                                    \
    }
#define DEEP(w, h, subfile)                                                                        \
    {                                                                                              \
        w, h, subfile, false, 16                                                                   \
    }
#define STRIPS(w, h, subfile)                                                                      \
    {                                                                                              \
        w, h, subfile, true, 8                                                                     \
    }

static void write_plain(TIFF *tif, const plain *d)
{
    uint8_t tile[64 * 64 * 2] = {0};

    TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, d->width_px);
    TIFFSetField(tif, TIFFTAG_IMAGELENGTH, d->height_px);
    TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, d->bits);
    TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tif, TIFFTAG_SUBFILETYPE, d->subfile);
    if (d->striped) {
        TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, 1);
        for (uint32_t y = 0; y < d->height_px; y++)
            TIFFWriteEncodedStrip(tif, y, tile, d->width_px);
    } else {
        TIFFSetField(tif, TIFFTAG_TILEWIDTH, 64);
        TIFFSetField(tif, TIFFTAG_TILELENGTH, 64);
        for (uint32_t i = 0; i < TIFFNumberOfTiles(tif); i++)
            TIFFWriteEncodedTile(tif, i, tile, 64 * 64 * (d->bits / 8));
    }
    TIFFWriteDirectory(tif);
}

static const char *write_chain(const plain *dirs, unsigned n)
{
    const char *path = fixture_path("chain.tif");
    TIFF *tif = TIFFOpen(path, "w");

    for (unsigned i = 0; tif && i < n; i++)
        write_plain(tif, &dirs[i]);
    if (tif)
        TIFFClose(tif);
    return path;
}

/* sizes: "300x200 150x100", largest first; NULL: no such page. */
static void check_page(const char *what, const char *path, unsigned page, const char *sizes)
{
    tg_err err = {0};
    tg_image *img = fixture_open(path, page, &err);
    char text[512] = "";

    if (!sizes) {
        CHECK(!img);
        CHECK_INT(err.kind, TG_ERR_NOT_FOUND);
    } else {
        for (unsigned i = 0; img && i < img->n_levels; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%ux%u", i ? " " : "",
                     img->level[i].width_px, img->level[i].height_px);
        CHECK_TEXT(text, strlen(text), sizes);
        if (strcmp(text, sizes) != 0)
            printf("  page %u of %s: %s %s\n", page, what, err.msg, err.detail);
    }
    tg_image_close(img);
}

#define CHAIN(...)                                                                                 \
    write_chain((const plain[]){__VA_ARGS__}, sizeof((const plain[]){__VA_ARGS__}) / sizeof(plain))

static void check_chains(void)
{
    const char *path;

    path = CHAIN(TILED(200, 100, 1), TILED(400, 200, 1), TILED(800, 400, 0));
    check_page("smallest first", path, 0, "800x400 400x200 200x100");
    path = CHAIN(TILED(200, 100, 0), TILED(400, 200, 0), TILED(800, 400, 0));
    check_page("smallest first, unmarked", path, 0, "800x400 400x200 200x100");
    check_page("smallest first, unmarked", path, 1, NULL);
    path = CHAIN(TILED(800, 400, 0), TILED(400, 200, 0), TILED(800, 400, 4), TILED(200, 100, 0),
                 TILED(400, 200, 5));
    check_page("masks between", path, 0, "800x400 400x200 200x100");
    check_page("masks between", path, 1, NULL);
    path = CHAIN(TILED(800, 400, 0), TILED(400, 300, 0), TILED(200, 150, 0), TILED(400, 200, 1));
    check_page("another shape opens a page", path, 0, "800x400");
    check_page("another shape opens a page", path, 1, "400x300 200x150");
    path = CHAIN(TILED(800, 400, 0), TILED(800, 400, 0), TILED(400, 200, 1));
    check_page("equal sizes", path, 0, "800x400");
    check_page("equal sizes", path, 1, "800x400 400x200");
    path = CHAIN(TILED(800, 400, 2), TILED(400, 200, 2));
    check_page("pages that say so", path, 0, "800x400");
    check_page("pages that say so", path, 1, "400x200");
    path = CHAIN(TILED(800, 400, 0), DEEP(400, 200, 1), TILED(200, 100, 1));
    check_page("another depth", path, 0, "800x400 200x100");
    path = CHAIN(TILED(799, 401, 0), TILED(267, 134, 1), TILED(90, 45, 1), TILED(30, 15, 1),
                 TILED(10, 5, 1), TILED(4, 2, 1));
    check_page("divided by three", path, 0, "799x401 267x134 90x45 30x15 10x5 4x2");
    path = CHAIN(TILED(800, 400, 1), TILED(400, 200, 1));
    check_page("all marked as reduced", path, 0, "800x400 400x200");
    path = CHAIN(TILED(800, 400, 0), STRIPS(60, 30, 0), TILED(400, 200, 0), STRIPS(50, 50, 1),
                 STRIPS(60, 20, 9));
    check_page("thumbnail, label and macro", path, 0, "800x400 400x200");
    check_page("thumbnail, label and macro", path, 1, NULL);
    path = CHAIN(STRIPS(60, 30, 0), STRIPS(30, 15, 1));
    check_page("striped levels", path, 0, "60x30 30x15");
    path = CHAIN(STRIPS(60, 30, 0), STRIPS(40, 20, 0), STRIPS(30, 15, 0));
    check_page("sheets at several resolutions", path, 0, "60x30");
    check_page("sheets at several resolutions", path, 1, "40x20");
    check_page("sheets at several resolutions", path, 2, "30x15");
}

static void put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v & 0xffff);
    put16(p + 2, v >> 16);
}

#define ENTRIES 10

static void put_directory(uint8_t *p, uint32_t next, uint32_t tag_bytes)
{
    const uint32_t entry[ENTRIES][4] = {{256, 3, 1, 8},           {257, 3, 1, 8}, {258, 3, 1, 8},
                                        {259, 3, 1, 1},           {262, 3, 1, 1}, {273, 4, 1, 72},
                                        {277, 3, 1, 1},           {278, 3, 1, 8}, {279, 4, 1, 64},
                                        {37724, 7, tag_bytes, 72}};

    put16(p, ENTRIES);
    for (unsigned i = 0; i < ENTRIES; i++) {
        put16(p + 2 + 12 * i, entry[i][0]);
        put16(p + 4 + 12 * i, entry[i][1]);
        put32(p + 6 + 12 * i, entry[i][2]);
        put32(p + 10 + 12 * i, entry[i][3]);
    }
    put32(p + 2 + 12 * ENTRIES, next);
}

/* n directories that share one tag of so many bytes, as the layers of an image editor. */
static const char *write_sharing(uint32_t n, uint32_t tag_bytes)
{
    const char *path = fixture_path("sharing.tif");
    size_t dir_bytes = 6 + 12 * ENTRIES, at = 72 + tag_bytes, size = at + n * dir_bytes;
    uint8_t *file = tg_new(size);

    memcpy(file, "II*", 3);
    put32(file + 4, (uint32_t)at);
    for (uint32_t i = 0; i < n; i++, at += dir_bytes)
        put_directory(file + at, i + 1 < n ? (uint32_t)(at + dir_bytes) : 0, tag_bytes);
    fixture_save(path, file, size);
    free(file);
    return path;
}

static void check_large_tags(void)
{
    struct timespec from, to;
    const char *path = write_sharing(1200, 100);

    check_page("many pages", path, 1199, "8x8");
    check_page("many pages", path, 1200, NULL);
    path = write_sharing(200, 20u << 20);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    check_page("a large tag in every directory", path, 199, "8x8");
    path = write_sharing(1200, 3u << 20);
    check_page("a tag in more directories than is sound", path, 0, "8x8");
    check_page("a tag in more directories than is sound", path, 1199, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    CHECK((to.tv_sec - from.tv_sec) + 1e-9 * (to.tv_nsec - from.tv_nsec) < 8); /* of minutes */
}

static void check_made(void)
{
    const char *path;

    path = fixture_make("floor.tif", "--size 1501x1103");
    check_page("halved, rounded down", path, 0, "1501x1103 750x551 375x275 187x137");
    path = fixture_make("ceil.tif", "--size 1501x1103 --ratio ceil --nsft off");
    check_page("halved, rounded up", path, 0, "1501x1103 751x552 376x276 188x138");
    path = fixture_make("ratio.tif", "--size 1501x1103 --ratio 3 --levels subifd --bigtiff");
    check_page("divided by three", path, 0, "1501x1103 500x367 166x122");
    path = fixture_make("ratio.tif", "--size 1501x1103 --ratio 1.5 --max-levels 4 --nsft off");
    check_page("divided by 1.5", path, 0, "1501x1103 1000x735 666x490 444x326");
    path = fixture_make("slide.tif", "--size 4000x3000 --max-levels 3 --slide --nsft off");
    check_page("slide", path, 0, "4000x3000 2000x1500 1000x750");
    path = fixture_make("slide.tif", "--size 4000x3000 --max-levels 3 --slide");
    check_page("slide", path, 0, "4000x3000 2000x1500 1000x750");
    check_page("slide", path, 1, NULL);
    path = fixture_make("hole.tif", "--size 600x400 --bigtiff --levels subifd --hole 5000000000");
    check_page("SubIFDs beyond 4 GiB", path, 0, "600x400 300x200 150x100");
    path = fixture_make("wide.tif", "--size 5000x3 --tile 64x64");
    check_page("very wide", path, 0, "5000x3 2500x1 1250x1 625x1 312x1 156x1 78x1 39x1");
}

/* Three pages, red, green and blue, each with its levels. */
static void check_stack(const char *args)
{
    const char *path = fixture_make("stack.tif", args);

    for (unsigned page = 0; page < 3; page++) {
        tg_err err = {0};
        tg_image *img;

        check_page(args, path, page, "400x300 200x150");
        img = fixture_open(path, page, &err);
        for (unsigned level = 0; img && level < img->n_levels; level++) {
            uint8_t *px = fixture_read(img, level, 0, (tg_rect){150, 100, 1, 1}, &err);

            CHECK(px);
            for (unsigned c = 0; px && c < 3; c++)
                CHECK_INT(px[c], c == page ? 255 : 0);
            free(px);
        }
        tg_image_close(img);
    }
    check_page(args, path, 3, NULL);
    check_page(args, path, 9, NULL);
}

/* The level far behind the hole has its pixels. */
static void check_far_level(void)
{
    tg_err err = {0};
    tg_image *img = fixture_open(fixture_path("hole.tif"), 0, &err);
    uint8_t *px = img ? fixture_read(img, 2, 0, (tg_rect){149, 99, 1, 1}, &err) : NULL;

    CHECK(px && px[0] > 250 && px[1] > 250); /* the ramp's end */
    free(px);
    tg_image_close(img);
}

static void check_no_image(const char *bytes, size_t n, tg_err_kind kind)
{
    const char *path = fixture_path("none.tif");
    tg_err err = {0};
    tg_image *img;

    fixture_save(path, (const uint8_t *)bytes, n);
    img = fixture_open(path, 0, &err);
    CHECK(!img);
    CHECK_INT(err.kind, kind);
    tg_image_close(img);
}

int main(void)
{
    fixture_init();
    check_chains();
    check_large_tags();
    check_made();
    check_far_level();
    check_stack("--size 400x300 --picture flat:255,0,0 --pages 3 --stack");
    check_stack("--size 400x300 --picture flat:255,0,0 --pages 3");
    check_no_image("", 0, TG_ERR_NOT_IMAGE);
    check_no_image("II", 2, TG_ERR_NOT_IMAGE);
    check_no_image("just a text", 11, TG_ERR_NOT_IMAGE);
    check_no_image("II*\0\10\0\0\0", 8, TG_ERR_CORRUPT);
    return check_done();
}
