/* Files cut short, with bytes changed, and made to do harm: an error or the right pixels, at once,
 * never half a picture. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "fixture.h"
#include "tegula/mem.h"

static const char *const fixtures[] = {
    "--size 300x200 --tile 64x64",
    "--size 300x200 --tile 64x64 --compression jpeg --levels subifd",
    "--size 300x200 --tile 64x64 --compression jpeg --no-tables --photometric rgb --bigtiff",
    "--size 300x200 --tile 64x64 --compression lzw --predictor --endian big",
    "--size 300x200 --tile 64x64 --compression zstd --planar separate",
    "--size 300x200 --tile 64x64 --compression webp",
    "--size 300x200 --strip 9 --compression packbits --levels none",
    "--size 300x200 --strip 200 --compression jpeg --levels none",
    "--size 300x200 --tile 64x64 --compression none --pages 2 --stack",
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Whole levels of the sound file, to compare with. */
typedef struct sound {
    unsigned n_levels;
    uint8_t *px[TG_MAX_LEVELS];
    tg_rect size[TG_MAX_LEVELS];
} sound;

static void load_sound(sound *s, const char *path)
{
    tg_err err = {0};
    tg_image *img = fixture_open(path, 0, &err);

    CHECK(img);
    s->n_levels = img ? img->n_levels : 0;
    for (unsigned i = 0; i < s->n_levels; i++) {
        s->size[i] = fixture_whole(img, i, 0);
        s->px[i] = fixture_read(img, i, 0, s->size[i], &err);
        CHECK(s->px[i]);
    }
    tg_image_close(img);
}

static void free_sound(sound *s)
{
    for (unsigned i = 0; i < s->n_levels; i++)
        free(s->px[i]);
}

/* Tile by tile: what can be read must be as it was. */
static void check_cut_level(tg_image *img, unsigned level, const sound *s)
{
    const tg_level *lv = &img->level[level];
    size_t px_bytes = tg_pixfmt_bytes(img->fmt);

    for (uint32_t row = 0; row < lv->rows; row++) {
        uint32_t y = row * lv->tile_h_px, h = lv->height_px - y;
        tg_err err = {0};
        tg_rect r = {0, y, lv->width_px, h < lv->tile_h_px ? h : lv->tile_h_px};
        uint8_t *px = fixture_read(img, level, 0, r, &err);

        CHECK(!px || memcmp(px, s->px[level] + (size_t)y * lv->width_px * px_bytes,
                            (size_t)r.w * r.h * px_bytes) == 0);
        CHECK(px || err.kind == TG_ERR_CORRUPT);
        free(px);
    }
}

static void check_cuts(const char *args)
{
    const char *path = fixture_make("sound.tif", args), *cut = fixture_path("cut.tif");
    size_t n;
    uint8_t *data = fixture_load(path, &n);
    sound s = {0};

    load_sound(&s, path);
    for (unsigned i = 0; i < 40; i++) {
        tg_err err = {0};
        tg_image *img;

        fixture_save(cut, data, i < 39 ? n * i / 39 : n - 1);
        img = fixture_open(cut, 0, &err);
        CHECK(img || err.kind == TG_ERR_CORRUPT || err.kind == TG_ERR_NOT_IMAGE);
        for (unsigned l = 0; img && l < img->n_levels; l++)
            check_cut_level(img, l, &s);
        tg_image_close(img);
    }
    free_sound(&s);
    free(data);
}

/* Cut while it is open, as when it is being overwritten. */
static void check_cut_while_open(void)
{
    const char *path = fixture_make("open.tif", "--size 300x200 --tile 64x64 --compression jpeg");
    size_t n;
    uint8_t *data = fixture_load(path, &n), *px;
    tg_err err = {0};
    tg_image *img = fixture_open(path, 0, &err);
    tg_buf out = {0};

    CHECK(img);
    fixture_save(path, data, 100);
    px = fixture_read(img, 0, 0, fixture_whole(img, 0, 0), &err);
    CHECK(!px && err.kind == TG_ERR_CORRUPT);
    err = (tg_err){0};
    CHECK(!img->codec->stored_tile(img, 0, 0, 0, &out, &err) && out.len == 0);
    free(px);
    free(data);
    tg_buf_free(&out);
    tg_image_close(img);
}

#define LIMIT_S 2 /* for a look at a file; sanitizers and a busy machine included */

static void check_time(double start_s, const char *what)
{
    double took_s = now_s() - start_s;

    CHECK(took_s < LIMIT_S);
    if (took_s >= LIMIT_S)
        printf("  %s took %.1f s\n", what, took_s);
}

static void try_read(tg_image *img, unsigned level, unsigned k, tg_rect r, const char *what)
{
    double start = now_s();
    tg_err err = {0};
    uint8_t *px = fixture_read(img, level, k, r, &err);

    CHECK(px || err.kind != TG_ERR_NONE);
    free(px);
    check_time(start, what);
}

/* The first and the last corner of every level at every reduction, and a stored tile: whatever
 * comes out, it comes. */
static void use(tg_image *img, const char *what)
{
    tg_buf out = {0};

    for (unsigned l = 0; l < img->n_levels; l++) {
        tg_err err = {0};

        for (unsigned k = 0; k <= img->level[l].max_reduction; k++) {
            tg_rect all = fixture_whole(img, l, k);
            uint32_t w = all.w < 70 ? all.w : 70, h = all.h < 70 ? all.h : 70;

            try_read(img, l, k, (tg_rect){0, 0, w, h}, what);
            try_read(img, l, k, (tg_rect){all.w - w, all.h - h, w, h}, what);
        }
        tg_buf_reset(&out);
        if (!img->codec->stored_tile)
            continue;
        bool sent = img->codec->stored_tile(img, l, 0, 0, &out, &err);
        CHECK(sent == (err.kind == TG_ERR_NONE) && sent == (out.len > 0));
    }
    tg_buf_free(&out);
}

static void try_file(const char *path, const char *what)
{
    double start = now_s();
    tg_err err = {0};
    tg_image *img = fixture_open(path, 0, &err);

    CHECK(img || err.kind != TG_ERR_NONE);
    check_time(start, what);
    if (img)
        use(img, what);
    tg_image_close(img);
}

/* Bytes of the directories change (they lie behind the pixels, at the file's end, and at its
 * start), or any bytes at all. */
static void check_changes(const char *args, unsigned times)
{
    const char *path = fixture_make("sound.tif", args), *bad = fixture_path("bad.tif");
    size_t n;
    uint8_t *data = fixture_load(path, &n), *copy = malloc(n);

    for (unsigned i = 0; copy && i < times; i++) {
        unsigned changes = 1 + fixture_random(4);

        memcpy(copy, data, n);
        while (changes-- > 0) {
            uint32_t tail = 1200, at = fixture_random((uint32_t)n);

            if (i % 3 != 0 && n > tail)
                at = (uint32_t)n - 1 - fixture_random(tail);
            copy[at] = fixture_random(3) ? (uint8_t)fixture_random(256)
                                         : (uint8_t)(copy[at] ^ (1u << fixture_random(8)));
        }
        fixture_save(bad, copy, n);
        try_file(bad, args);
    }
    free(copy);
    free(data);
}

/* Nothing but directories: the chain must be given up in time. */
static void check_long_chain(void)
{
    enum { DIRS = 100000, DIR_BYTES = 2 + 4 * 12 + 4 };
    const char *path = fixture_path("chain.tif");
    size_t n = 8 + (size_t)DIRS * DIR_BYTES;
    uint8_t *data = calloc(1, n), *p = data + 8;
    static const uint8_t tags[4][4] = {{0, 1, 3, 0}, {1, 1, 3, 0}, {2, 1, 3, 0}, {17, 1, 4, 0}};

    memcpy(data, "II*\0\10\0\0\0", 8);
    for (unsigned i = 0; i < DIRS; i++, p += DIR_BYTES) {
        uint32_t next = i + 1 < DIRS ? 8 + (i + 1) * DIR_BYTES : 0;

        p[0] = 4;
        for (unsigned t = 0; t < 4; t++) {
            memcpy(p + 2 + t * 12, tags[t], 4);
            p[2 + t * 12 + 4] = 1;
            p[2 + t * 12 + 8] = 8;
        }
        memcpy(p + DIR_BYTES - 4, &next, 4); /* little-endian hosts only, as the file says */
    }
    fixture_save(path, data, n);
    free(data);
    try_file(path, "chain of 100000");
}

static void check_corpus(const char *corpus)
{
    char dir[4096], path[8192];
    DIR *d;

    snprintf(dir, sizeof dir, "%s/hostile", corpus);
    d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        try_file(path, e->d_name);
    }
    if (d)
        closedir(d);
}

int main(void)
{
    const char *corpus = getenv("TEGULA_CORPUS");

    fixture_init();
    for (unsigned i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        check_cuts(fixtures[i]);
        check_changes(fixtures[i], 150);
    }
    check_cut_while_open();
    check_long_chain();
    if (corpus)
        check_corpus(corpus);
    CHECK(tg_image_in_use() <= (size_t)4 << 20); /* no more than the scratch that is kept */
    return check_done();
}
