/* Decoded tiles kept: which stay, which go, and that what is read through the cache is what is read
 * without it. */
#include <stdlib.h>

#include "check.h"
#include "fixture.h"
#include "tegula/mem.h"
#include "tegula/tile_cache.h"

static tg_tile_key key(uint64_t image, uint32_t col)
{
    return (tg_tile_key){.image = image, .col = col};
}

static bool holds(uint64_t image, uint32_t col)
{
    tg_tile_key k = key(image, col);
    return tg_tile_cache_get(&k) != NULL;
}

static void put(uint64_t image, uint32_t col, size_t bytes)
{
    tg_tile_key k = key(image, col);
    uint8_t *pixels = tg_tile_cache_put(&k, bytes);
    CHECK(pixels != NULL);
    if (pixels)
        memset(pixels, (int)col, bytes);
}

static void test_least_recent_goes_first(void)
{
    uint64_t a = tg_tile_cache_new_image(), b = tg_tile_cache_new_image();
    CHECK(a != b);
    tg_tile_cache_set_budget(4000);
    for (uint32_t col = 0; col < 4; col++)
        put(a, col, 1000);
    CHECK(holds(a, 0)); /* touched: now column 1 is the least recent */
    put(b, 7, 1000);
    CHECK(!holds(a, 1));
    CHECK(holds(a, 0) && holds(a, 2) && holds(a, 3) && holds(b, 7));
    tg_tile_key k = key(b, 7);
    CHECK_INT(tg_tile_cache_get(&k)[999], 7);
    tg_tile_cache_drop_image(a);
    CHECK(!holds(a, 0) && !holds(a, 2) && !holds(a, 3) && holds(b, 7));
    tg_tile_cache_drop(&k);
    CHECK(!holds(b, 7));
    CHECK_INT(tg_image_in_use(), 0);
}

static void test_budget(void)
{
    uint64_t a = tg_tile_cache_new_image();
    tg_tile_key k = key(a, 0);
    tg_tile_cache_set_budget(4000);
    CHECK(tg_tile_cache_put(&k, 1001) == NULL); /* more than a quarter */
    tg_tile_cache_set_budget(0);
    CHECK(tg_tile_cache_put(&k, 1) == NULL);
    tg_tile_cache_set_budget(4000);
    size_t ceiling = tg_image_ceiling();
    tg_image_set_ceiling(100);
    CHECK(tg_tile_cache_put(&k, 1000) == NULL); /* no memory is no error */
    tg_image_set_ceiling(ceiling);
    CHECK(!holds(a, 0));
}

/* Tiles make room for a request that would else be refused; the newest, perhaps being filled,
 * stays. */
static void test_pressure(void)
{
    tg_err err = {0};
    uint64_t a = tg_tile_cache_new_image();
    size_t ceiling = tg_image_ceiling();
    tg_tile_cache_set_budget(4000);
    tg_image_set_ceiling(4000);
    tg_image_on_pressure(tg_tile_cache_shrink);
    for (uint32_t col = 0; col < 4; col++)
        put(a, col, 1000);
    void *request = tg_image_alloc(2500, 1, &err);
    CHECK(request != NULL);
    CHECK(!holds(a, 0) && !holds(a, 1) && !holds(a, 2) && holds(a, 3));
    CHECK(tg_image_alloc(2500, 1, &err) == NULL);
    CHECK_INT(err.kind, TG_ERR_TOO_LARGE);
    CHECK(holds(a, 3));
    tg_image_free(request);
    tg_tile_cache_drop_image(a);
    tg_image_on_pressure(NULL);
    tg_image_set_ceiling(ceiling);
}

/* Each rectangle is read without a cache, filling it, and from it. */
static void test_same_pixels(void)
{
    static const char *const kinds[] = {
        "--picture ramp --size 301x203 --tile 64x48 --compression jpeg --photometric ycbcr "
        "--subsampling 2x2 --levels chain",
        "--picture ramp --size 301x203 --tile 64x64 --compression deflate --bits 16 --levels chain",
    };
    static const tg_rect rects[] = {
        {0, 0, 64, 48}, {1, 1, 64, 64}, {60, 40, 200, 150}, {290, 190, 11, 13}, {0, 0, 37, 25}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        tg_err err = {0};
        tg_image *image = fixture_open(fixture_make("cached.tif", kinds[i]), 0, &err);
        CHECK(image != NULL);
        for (size_t r = 0; image && r < sizeof rects / sizeof rects[0]; r++) {
            unsigned k = r == 4 ? image->level[0].max_reduction : 0;
            size_t bytes = (size_t)rects[r].w * rects[r].h * tg_pixfmt_bytes(image->fmt);
            uint8_t *read[3];
            for (int pass = 0; pass < 3; pass++) {
                image->keep_tiles = pass > 0;
                tg_tile_cache_set_budget((size_t)1 << 20);
                read[pass] = fixture_read(image, 0, k, rects[r], &err);
                CHECK(read[pass] != NULL);
            }
            CHECK(read[0] && read[1] && memcmp(read[0], read[1], bytes) == 0);
            CHECK(read[0] && read[2] && memcmp(read[0], read[2], bytes) == 0);
            for (int pass = 0; pass < 3; pass++)
                free(read[pass]);
        }
        size_t open_bytes = tg_image_in_use();
        tg_image_close(image); /* takes its tiles along */
        CHECK(open_bytes - tg_image_in_use() >= (size_t)10 * 64 * 48 * 3);
    }
}

/* A tile that cannot be decoded fails every time, and leaves nothing behind. */
static void test_damaged_tile_is_not_kept(void)
{
    size_t n;
    tg_err err = {0};
    const char *path = fixture_make("damaged.tif",
                                    "--picture ramp --size 256x256 --tile 128x128 "
                                    "--compression deflate --levels none");
    uint8_t *data = fixture_load(path, &n);
    memset(data + 16, 0xa5, n / 2); /* the tiles come before the directory */
    fixture_save(path, data, n);
    free(data);
    tg_image *image = fixture_open(path, 0, &err);
    CHECK(image != NULL);
    tg_tile_cache_set_budget((size_t)1 << 20);
    for (int pass = 0; image && pass < 2; pass++) {
        tg_err bad = {0};
        image->keep_tiles = true;
        CHECK(fixture_read(image, 0, 0, (tg_rect){0, 0, 128, 128}, &bad) == NULL);
        CHECK_INT(bad.kind, TG_ERR_CORRUPT);
    }
    tg_image_close(image);
}

int main(void)
{
    fixture_init();
    test_least_recent_goes_first();
    test_budget();
    test_pressure();
    test_same_pixels();
    test_damaged_tile_is_not_kept();
    return check_done();
}
