/* What TIFF stores in other depths, codings and layouts than mkpyramid writes: native pixels
 * against values worked out by hand from TIFF 6.0 and the notes named beside them. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tiffio.h>

#include "check.h"
#include "fixture.h"
#include "tegula/mem.h"

enum { MOST = 64 };

typedef struct kind {
    int line;
    unsigned w, h, bits, samples, format, photometric;
    unsigned planes, extra[3]; /* extra: types + 1 */
    unsigned coarse;           /* subsampling of chroma, both ways */
    const uint8_t *data;       /* rows as stored, little-endian; planes one after the other */
    size_t n_bytes;
    tg_native native;
    const uint16_t *want; /* native samples */
    void (*more_tags)(TIFF *tif);
} kind;

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})
#define WANT(...)                                                                                  \
    (const uint16_t[])                                                                             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
/* Little-endian words. */
#define W16(v) (uint8_t)((v)&255), (uint8_t)((v) >> 8 & 255)
#define W32(v) W16((uint32_t)(v)), W16((uint32_t)(v) >> 16)

#define GRAY8                                                                                      \
    {                                                                                              \
        TG_SPACE_GRAY, false, 8                                                                    \
    }
#define GRAY16                                                                                     \
    {                                                                                              \
        TG_SPACE_GRAY, false, 16                                                                   \
    }
#define RGB8                                                                                       \
    {                                                                                              \
        TG_SPACE_RGB, false, 8                                                                     \
    }
#define RGBA8                                                                                      \
    {                                                                                              \
        TG_SPACE_RGB, true, 8                                                                      \
    }
#define RGB16                                                                                      \
    {                                                                                              \
        TG_SPACE_RGB, false, 16                                                                    \
    }
#define CMYK8                                                                                      \
    {                                                                                              \
        TG_SPACE_CMYK, false, 8                                                                    \
    }
#define CMYKA8                                                                                     \
    {                                                                                              \
        TG_SPACE_CMYK, true, 8                                                                     \
    }
#define LAB8                                                                                       \
    {                                                                                              \
        TG_SPACE_LAB, false, 8                                                                     \
    }
#define LAB16                                                                                      \
    {                                                                                              \
        TG_SPACE_LAB, false, 16                                                                    \
    }

#define UINT SAMPLEFORMAT_UINT
#define INT  SAMPLEFORMAT_INT
#define REAL SAMPLEFORMAT_IEEEFP

#define UNSPECIFIED (EXTRASAMPLE_UNSPECIFIED + 1)
#define ASSOCIATED  (EXTRASAMPLE_ASSOCALPHA + 1)
#define STRAIGHT    (EXTRASAMPLE_UNASSALPHA + 1)

static void smax_1000(TIFF *tif)
{
    TIFFSetField(tif, TIFFTAG_SMAXSAMPLEVALUE, 1000.0);
}

static void smin_smax(TIFF *tif)
{
    TIFFSetField(tif, TIFFTAG_SMINSAMPLEVALUE, -100.0);
    TIFFSetField(tif, TIFFTAG_SMAXSAMPLEVALUE, 100.0);
}

static void set_palette(TIFF *tif, unsigned scale)
{
    uint16_t map[3][256] = {{0}};
    static const uint8_t colours[4][3] = {{0, 0, 0}, {255, 0, 0}, {12, 34, 56}, {250, 240, 230}};

    for (unsigned c = 0; c < 3; c++)
        for (unsigned i = 0; i < 4; i++)
            map[c][i] = (uint16_t)(colours[i][c] * scale);
    TIFFSetField(tif, TIFFTAG_COLORMAP, map[0], map[1], map[2]);
}

static void palette_16(TIFF *tif)
{
    set_palette(tif, 257);
}

static void palette_8(TIFF *tif)
{
    set_palette(tif, 1);
}

static void ink_set_2(TIFF *tif)
{
    TIFFSetField(tif, TIFFTAG_INKSET, INKSET_MULTIINK);
}

static void video_range(TIFF *tif)
{
    static float range[6] = {16, 235, 128, 240, 128, 240};

    TIFFSetField(tif, TIFFTAG_REFERENCEBLACKWHITE, range);
}

#define ROW __LINE__
/* clang-format off */
static const kind kinds[] = {
    /* n bits become v * 255 / (2^n - 1), above 8 v * 65535 / (2^n - 1), rounded */
    {ROW, 5, 1, 3, 1, UINT, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(0x05, 0xf0), GRAY8,
     WANT(0, 36, 109, 255, 0), NULL},
    {ROW, 3, 1, 1, 1, UINT, PHOTOMETRIC_MINISWHITE, 0, {0}, 1, BYTES(0xa0), GRAY8,
     WANT(0, 255, 0), NULL},
    {ROW, 2, 1, 2, 3, UINT, PHOTOMETRIC_RGB, 0, {0}, 1, BYTES(0xe4, 0xd0), RGB8,
     WANT(255, 170, 85, 0, 255, 85), NULL},
    {ROW, 4, 1, 1, 3, UINT, PHOTOMETRIC_RGB, 1, {0}, 1, BYTES(0x50, 0x30, 0xf0), RGB8,
     WANT(0, 0, 255, 255, 0, 255, 0, 255, 255, 255, 255, 255), NULL},
    {ROW, 2, 1, 12, 1, UINT, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(0x80, 0x0f, 0xff), GRAY16,
     WANT(32776, 65535), NULL},
    {ROW, 1, 1, 10, 3, UINT, PHOTOMETRIC_RGB, 0, {0}, 1, BYTES(0xff, 0xc0, 0x00, 0x04), RGB16,
     WANT(65535, 0, 64), NULL},
    /* signed: the range of the data, of pictures the whole one */
    {ROW, 3, 1, 8, 1, INT, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(0xf6, 0, 10), GRAY8,
     WANT(0, 128, 255), NULL},
    {ROW, 3, 1, 8, 1, INT, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(0x81, 0, 0x7f), GRAY8,
     WANT(1, 128, 255), NULL},
    {ROW, 3, 1, 16, 1, INT, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(W16(-1000), W16(0),
     W16(1000)), GRAY16,
     WANT(0, 32768, 65535), NULL},
    {ROW, 3, 1, 16, 1, INT, PHOTOMETRIC_MINISWHITE, 0, {0}, 1, BYTES(W16(-1000), W16(0),
     W16(1000)), GRAY16,
     WANT(65535, 32767, 0), NULL},
    {ROW, 3, 1, 16, 1, INT, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(W16(-50), W16(0), W16(999)),
     GRAY16,
     WANT(16384, 32768, 65535), smin_smax},
    {ROW, 3, 1, 32, 1, UINT, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(W32(1000), W32(2000),
     W32(3000)), GRAY16,
     WANT(0, 32768, 65535), NULL},
    {ROW, 3, 1, 32, 1, UINT, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(W32(0x10000),
     W32(0x80000000), W32(0xffff0000)), GRAY16,
     WANT(1, 32768, 65534), NULL},
    {ROW, 2, 1, 24, 1, UINT, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(0, 0, 0, 0xff, 0xff, 0xff),
     GRAY16,
     WANT(0, 65535), NULL},
    /* reals, with what is no number and what is beyond */
    {ROW, 6, 1, 32, 1, REAL, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(W32(0x7fc00000),
     W32(0xff800000), W32(0), W32(0x3f800000), W32(0x40000000), W32(0x7f800000)), GRAY16,
     WANT(0, 0, 0, 32768, 65535, 65535), NULL},
    {ROW, 3, 1, 32, 1, REAL, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(W32(0), W32(0x437a0000),
     W32(0x43fa0000)), GRAY16,
     WANT(0, 16384, 32768), smax_1000},
    {ROW, 4, 1, 16, 1, REAL, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(W16(0), W16(0x3800),
     W16(0x3c00), W16(0x0001)), GRAY16,
     WANT(0, 32768, 65535, 0), NULL},
    {ROW, 3, 1, 24, 1, REAL, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(0, 0, 0, 0, 0, 0x3e, 0, 0,
     0x3f), GRAY16,
     WANT(0, 32768, 65535), NULL},
    {ROW, 3, 1, 64, 1, REAL, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(W32(0), W32(0xbff00000),
     W32(0), W32(0), W32(0), W32(0x3ff00000)), GRAY16,
     WANT(0, 32768, 65535), NULL},
    {ROW, 2, 1, 32, 1, REAL, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(W32(0x40a00000),
     W32(0x40a00000)), GRAY16,
     WANT(65535, 65535), NULL},
    {ROW, 2, 1, 32, 1, REAL, PHOTOMETRIC_MINISBLACK, 0, {0}, 1, BYTES(W32(0), W32(0)), GRAY16,
     WANT(0, 0), NULL},
    /* one range for the three colours */
    {ROW, 1, 1, 32, 3, REAL, PHOTOMETRIC_RGB, 0, {0}, 1, BYTES(W32(0), W32(0x3f800000),
     W32(0x40000000)), RGB16,
     WANT(0, 32768, 65535), NULL},
    {ROW, 1, 1, 32, 3, REAL, PHOTOMETRIC_CIELAB, 0, {0}, 1, BYTES(W32(0x42480000), W32(0),
     W32(0xc3000000)), LAB16,
     WANT(32768, 32896, 0), NULL},
    /* palettes, with alpha, in planes, with 8-bit values */
    {ROW, 4, 1, 2, 1, UINT, PHOTOMETRIC_PALETTE, 0, {0}, 1, BYTES(0x1b), RGB8,
     WANT(0, 0, 0, 255, 0, 0, 12, 34, 56, 250, 240, 230), palette_16},
    {ROW, 2, 1, 8, 2, UINT, PHOTOMETRIC_PALETTE, 0, {STRAIGHT}, 1, BYTES(1, 77, 2, 0), RGBA8,
     WANT(255, 0, 0, 77, 12, 34, 56, 0), palette_16},
    {ROW, 2, 1, 8, 2, UINT, PHOTOMETRIC_PALETTE, 1, {STRAIGHT}, 1, BYTES(1, 2, 77, 0), RGBA8,
     WANT(255, 0, 0, 77, 12, 34, 56, 0), palette_8},
    {ROW, 2, 1, 8, 2, UINT, PHOTOMETRIC_PALETTE, 0, {UNSPECIFIED}, 1, BYTES(1, 77, 3, 0), RGB8,
     WANT(255, 0, 0, 250, 240, 230), palette_8},
    /* inks, fewer and more */
    {ROW, 2, 1, 8, 1, UINT, PHOTOMETRIC_SEPARATED, 0, {0}, 1, BYTES(0, 200), GRAY8,
     WANT(255, 55), ink_set_2},
    {ROW, 1, 1, 8, 3, UINT, PHOTOMETRIC_SEPARATED, 0, {0}, 1, BYTES(0, 255, 10), RGB8,
     WANT(255, 0, 245), ink_set_2},
    {ROW, 1, 1, 8, 6, UINT, PHOTOMETRIC_SEPARATED, 0, {0}, 1, BYTES(1, 2, 3, 4, 5, 6), CMYK8,
     WANT(1, 2, 3, 4), ink_set_2},
    {ROW, 2, 1, 8, 5, UINT, PHOTOMETRIC_SEPARATED, 0, {STRAIGHT}, 1, BYTES(1, 2, 3, 4, 99, 5, 6,
     7, 8, 0), CMYKA8,
     WANT(1, 2, 3, 4, 99, 5, 6, 7, 8, 0), NULL},
    {ROW, 2, 1, 8, 5, UINT, PHOTOMETRIC_SEPARATED, 1, {STRAIGHT}, 1, BYTES(1, 5, 2, 6, 3, 7, 4,
     8, 99, 0), CMYKA8,
     WANT(1, 2, 3, 4, 99, 5, 6, 7, 8, 0), NULL},
    /* extra samples: only what says so is alpha, wherever it stands */
    {ROW, 1, 1, 8, 4, UINT, PHOTOMETRIC_RGB, 0, {UNSPECIFIED}, 1, BYTES(1, 2, 3, 4), RGB8,
     WANT(1, 2, 3), NULL},
    {ROW, 1, 1, 8, 6, UINT, PHOTOMETRIC_RGB, 0, {UNSPECIFIED, STRAIGHT, UNSPECIFIED}, 1, BYTES(1,
     2, 3, 4, 5, 6), RGBA8,
     WANT(1, 2, 3, 5), NULL},
    {ROW, 1, 1, 8, 6, UINT, PHOTOMETRIC_RGB, 1, {UNSPECIFIED, STRAIGHT, UNSPECIFIED}, 1, BYTES(1,
     2, 3, 4, 5, 6), RGBA8,
     WANT(1, 2, 3, 5), NULL},
    {ROW, 2, 1, 8, 4, UINT, PHOTOMETRIC_RGB, 0, {ASSOCIATED}, 1, BYTES(60, 0, 120, 120, 9, 9, 9,
     0), RGBA8,
     WANT(128, 0, 255, 120, 0, 0, 0, 0), NULL},
    /* Y Y Y Y Cb Cr (section 21): gray by luma, then the red of JFIF's formula */
    {ROW, 3, 2, 8, 3, UINT, PHOTOMETRIC_YCBCR, 0, {0}, 2, BYTES(10, 20, 30, 40, 128, 128, 76, 0,
     76, 0, 85, 255), RGB8,
     WANT(10, 10, 10, 20, 20, 20, 254, 0, 0, 30, 30, 30, 40, 40, 40, 254, 0, 0), NULL},
    {ROW, 3, 2, 8, 3, UINT, PHOTOMETRIC_YCBCR, 1, {0}, 2, BYTES(10, 20, 76, 30, 40, 76, 128, 85,
     128, 255), RGB8,
     WANT(10, 10, 10, 20, 20, 20, 254, 0, 0, 30, 30, 30, 40, 40, 40, 254, 0, 0), NULL},
    {ROW, 1, 1, 16, 3, UINT, PHOTOMETRIC_YCBCR, 0, {0}, 1, BYTES(W16(20000), W16(32768),
     W16(32768)), RGB16,
     WANT(20000, 20000, 20000), NULL},
    {ROW, 2, 1, 8, 3, UINT, PHOTOMETRIC_YCBCR, 0, {0}, 1, BYTES(16, 128, 128, 235, 128, 128),
     RGB8,
     WANT(0, 0, 0, 255, 255, 255), video_range},
    /* L*a*b*: signed and not, and what 16 bits mean (Adobe, ICC v2, ITU-T T.42) */
    {ROW, 1, 1, 8, 3, UINT, PHOTOMETRIC_CIELAB, 0, {0}, 1, BYTES(100, 0x80, 0x7f), LAB8,
     WANT(100, 0, 255), NULL},
    {ROW, 1, 1, 8, 3, UINT, PHOTOMETRIC_ICCLAB, 0, {0}, 1, BYTES(100, 0, 255), LAB8,
     WANT(100, 0, 255), NULL},
    {ROW, 1, 1, 8, 3, UINT, PHOTOMETRIC_ITULAB, 0, {0}, 1, BYTES(100, 128, 96), LAB8,
     WANT(100, 128, 128), NULL},
    {ROW, 1, 1, 16, 3, UINT, PHOTOMETRIC_CIELAB, 0, {0}, 1, BYTES(W16(65535), W16(0),
     W16(-32768)), LAB16,
     WANT(65535, 32896, 0), NULL},
    {ROW, 1, 1, 16, 3, UINT, PHOTOMETRIC_ICCLAB, 0, {0}, 1, BYTES(W16(65280), W16(32768),
     W16(0)), LAB16,
     WANT(65535, 32896, 0), NULL},
};
/* clang-format on */

static void set_tags(TIFF *tif, const kind *kd)
{
    uint16_t types[3], n = 0;

    TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, kd->w);
    TIFFSetField(tif, TIFFTAG_IMAGELENGTH, kd->h);
    TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, kd->bits);
    TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, kd->samples);
    TIFFSetField(tif, TIFFTAG_SAMPLEFORMAT, kd->format);
    TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, kd->photometric);
    TIFFSetField(tif, TIFFTAG_PLANARCONFIG,
                 kd->planes ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, kd->h);
    while (n < 3 && kd->extra[n]) {
        types[n] = (uint16_t)(kd->extra[n] - 1);
        n++;
    }
    if (n)
        TIFFSetField(tif, TIFFTAG_EXTRASAMPLES, n, types);
    if (kd->photometric == PHOTOMETRIC_YCBCR)
        TIFFSetField(tif, TIFFTAG_YCBCRSUBSAMPLING, kd->coarse, kd->coarse);
    if (kd->more_tags)
        kd->more_tags(tif);
}

/* Planes may be of different length: chroma is coarser. */
static size_t strip_bytes(const kind *kd, unsigned strip)
{
    unsigned c = strip > 0 && kd->photometric == PHOTOMETRIC_YCBCR ? kd->coarse : 1;

    if (!kd->planes)
        return kd->n_bytes;
    return (size_t)((kd->w + c - 1) / c * kd->bits + 7) / 8 * ((kd->h + c - 1) / c);
}

static const char *write_kind(const kind *kd)
{
    const char *path = fixture_path("kind.tif");
    TIFF *tif = TIFFOpen(path, "wl");
    const uint8_t *at = kd->data;

    if (!tif)
        return path;
    set_tags(tif, kd);
    for (unsigned i = 0; i < (kd->planes ? kd->samples : 1); i++) {
        size_t n = strip_bytes(kd, i);

        TIFFWriteRawStrip(tif, i, (void *)(uintptr_t)at, (tmsize_t)n);
        at += n;
    }
    CHECK_ROW(kd->line, at == kd->data + kd->n_bytes, "the row's data are not what its tags say");
    TIFFClose(tif);
    return path;
}

static unsigned sample(const uint8_t *px, size_t i, unsigned bits)
{
    return bits == 8 ? px[i] : ((const uint16_t *)(const void *)px)[i];
}

static void check_pixels(const kind *kd, tg_image *img)
{
    uint16_t px[MOST]; /* of either depth */
    size_t n = (size_t)kd->w * kd->h * tg_native_channels(kd->native);
    tg_err err = {0};
    bool ok = img->codec->read(img, 0, 0, (tg_rect){0, 0, kd->w, kd->h}, px,
                               kd->w * tg_native_bytes(kd->native), &err);

    CHECK_ROW(kd->line, ok, "%s (%s)", err.msg, err.detail);
    for (size_t i = 0; ok && i < n; i++) {
        unsigned got = sample((const uint8_t *)px, i, kd->native.bits);

        CHECK_ROW(kd->line, got == kd->want[i], "sample %zu is %u, expected %u", i, got,
                  (unsigned)kd->want[i]);
    }
}

static void check_kind(const kind *kd)
{
    tg_err err = {0};
    tg_image *img = fixture_open(write_kind(kd), 0, &err);

    CHECK_ROW(kd->line, img, "%s (%s)", err.msg, err.detail);
    if (!img)
        return;
    CHECK_ROW(kd->line,
              img->native.space == kd->native.space && img->native.alpha == kd->native.alpha &&
                  img->native.bits == kd->native.bits,
              "native is space %d, alpha %d, %u bits", (int)img->native.space,
              (int)img->native.alpha, (unsigned)img->native.bits);
    CHECK_ROW(kd->line, img->stored_bits == kd->bits, "%u bits stored", (unsigned)img->stored_bits);
    if (memcmp(&img->native, &kd->native, sizeof kd->native) == 0)
        check_pixels(kd, img);
    tg_image_close(img);
}

/* ---- what was never written ---- */

static const TIFFFieldInfo gdal[] = {
    {42113, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, (char *)(uintptr_t) "GDALNoDataValue"}};

static TIFF *begin_gray(const char *path, uint32_t side, uint16_t compression)
{
    TIFF *tif = TIFFOpen(path, "w");

    TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, side);
    TIFFSetField(tif, TIFFTAG_IMAGELENGTH, side);
    TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tif, TIFFTAG_COMPRESSION, compression);
    return tif;
}

/* 32 px with tiles of 16 px, of which the first only has data, all 9. */
static const char *write_sparse(const char *nodata)
{
    const char *path = fixture_path("sparse.tif");
    TIFF *tif = begin_gray(path, 32, COMPRESSION_NONE);
    uint8_t tile[256];

    memset(tile, 9, sizeof tile);
    TIFFMergeFieldInfo(tif, gdal, 1);
    TIFFSetField(tif, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField(tif, TIFFTAG_TILELENGTH, 16);
    if (nodata)
        TIFFSetField(tif, 42113, nodata);
    TIFFWriteEncodedTile(tif, 0, tile, sizeof tile);
    TIFFClose(tif);
    return path;
}

static void check_sparse(const char *nodata, unsigned want)
{
    tg_err err = {0};
    tg_image *img = fixture_open(write_sparse(nodata), 0, &err);
    uint8_t *px = img ? fixture_read(img, 0, 0, fixture_whole(img, 0, 0), &err) : NULL;

    CHECK(px);
    if (px) {
        CHECK_INT(px[0], 9);
        CHECK_INT(px[15 * 32 + 15], 9);
        CHECK_INT(px[16], want);
        CHECK_INT(px[16 * 32], want);
        CHECK_INT(px[32 * 32 - 1], want);
    }
    free(px);
    tg_image_close(img);
}

/* It does not widen the range, and is black. */
static void nodata_tag(TIFF *tif)
{
    TIFFMergeFieldInfo(tif, gdal, 1);
    TIFFSetField(tif, 42113, "-3.4028234663852886e+38 ");
}

static void check_nodata(void)
{
    const kind kd = {.line = __LINE__,
                     .w = 3,
                     .h = 1,
                     .bits = 32,
                     .samples = 1,
                     .format = REAL,
                     .photometric = PHOTOMETRIC_MINISBLACK,
                     .coarse = 1,
                     .native = GRAY16,
                     .want = WANT(0, 0, 65535),
                     .more_tags = nodata_tag,
                     .data = (const uint8_t[]){W32(0xff7fffff), W32(0), W32(0x3f800000)},
                     .n_bytes = 12};

    check_kind(&kd);
}

/* ---- damage ---- */

enum { SIDE = 64 };

/* One strip, noise in rows that begin with their number plus 1; destroyed behind three fifths. */
static const char *write_broken(uint16_t compression)
{
    const char *path = fixture_path("broken.tif");
    TIFF *tif = begin_gray(path, SIDE, compression);
    uint8_t strip[SIDE * SIDE], *file;
    uint64_t *offset, *bytes, from, to;
    size_t n;

    for (unsigned i = 0; i < sizeof strip; i++)
        strip[i] = (uint8_t)(i % SIDE ? fixture_random(200) : i / SIDE + 1);
    TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, SIDE);
    TIFFWriteEncodedStrip(tif, 0, strip, sizeof strip);
    TIFFClose(tif);
    tif = TIFFOpen(path, "r");
    TIFFGetField(tif, TIFFTAG_STRIPOFFSETS, &offset);
    TIFFGetField(tif, TIFFTAG_STRIPBYTECOUNTS, &bytes);
    from = offset[0] + bytes[0] * 3 / 5;
    to = offset[0] + bytes[0];
    TIFFClose(tif);
    file = fixture_load(path, &n);
    memset(file + from, 0xff, (size_t)(to - from));
    fixture_save(path, file, n);
    free(file);
    return path;
}

static tg_image *open_leniently(const char *path, tg_err *err)
{
    tg_read_options options = {.lenient = true};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t n = lseek(fd, 0, SEEK_END);
    tg_image *img = tg_image_open(fd, (uint64_t)n, 0, &options, err);

    if (!img)
        close(fd);
    return img;
}

/* Strictly nothing comes of it; leniently what there is, then white. */
static void check_broken(uint16_t compression)
{
    const char *path = write_broken(compression);
    tg_err err = {0}, none = {0};
    tg_image *img = fixture_open(path, 0, &err);
    uint8_t *px = img ? fixture_read(img, 0, 0, fixture_whole(img, 0, 0), &err) : NULL;
    unsigned whole = 0;

    CHECK(img && !px);
    CHECK_INT(err.kind, TG_ERR_CORRUPT);
    tg_image_close(img);
    img = open_leniently(path, &none);
    px = img ? fixture_read(img, 0, 0, fixture_whole(img, 0, 0), &none) : NULL;
    CHECK(px);
    while (px && whole < SIDE && px[whole * SIDE] == whole + 1)
        whole++;
    CHECK(whole > SIDE / 4 && whole < SIDE);
    for (size_t i = whole * SIDE; px && i < SIDE * SIDE; i++)
        CHECK_INT(px[i], 255);
    free(px);
    tg_image_close(img);
}

/* ---- beside the pixels ---- */

static void check_blocks(void)
{
    static const char rights[] = "\xa9 1998 Archive"; /* Latin-1, as old writers have it */
    const char *path = fixture_path("blocks.tif");
    TIFF *tif = begin_gray(path, 1, COMPRESSION_NONE);
    tg_err err = {0};
    tg_buf out = {0};
    tg_image *img;

    TIFFSetField(tif, TIFFTAG_ICCPROFILE, 5, "icc\0\1");
    TIFFSetField(tif, TIFFTAG_XMLPACKET, 4, "<x/>");
    TIFFSetField(tif, TIFFTAG_COPYRIGHT, rights);
    TIFFSetField(tif, TIFFTAG_ORIENTATION, ORIENTATION_RIGHTTOP);
    TIFFWriteEncodedStrip(tif, 0, (void *)(uintptr_t) "x", 1);
    TIFFClose(tif);
    img = fixture_open(path, 0, &err);
    CHECK(img);
    if (!img)
        return;
    CHECK_INT(img->orientation, 6);
    img->codec->block(img, TG_BLOCK_ICC, 100, &out);
    CHECK(out.len == 5 && memcmp(out.data, "icc\0\1", 5) == 0);
    tg_buf_reset(&out);
    img->codec->block(img, TG_BLOCK_XMP, 100, &out);
    CHECK_TEXT((const char *)out.data, out.len, "<x/>");
    tg_buf_reset(&out);
    img->codec->block(img, TG_BLOCK_XMP, 3, &out);
    CHECK_INT(out.len, 0);
    img->codec->text(img, TG_TEXT_RIGHTS, 100, &out);
    CHECK_TEXT((const char *)out.data, out.len, "\xc2\xa9 1998 Archive");
    tg_buf_free(&out);
    tg_image_close(img);
}

int main(void)
{
    fixture_init();
    TIFFSetWarningHandler(NULL);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        check_kind(&kinds[i]);
    check_sparse(NULL, 0);
    check_sparse("200", 200);
    check_sparse("2e2", 200);
    check_sparse("-9999", 0);
    check_sparse("-3.4028234663852886e+38", 0);
    check_sparse("nan", 0);
    check_nodata();
    check_broken(COMPRESSION_LZW);
    check_blocks();
    return check_done();
}
