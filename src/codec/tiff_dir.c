/* One TIFF directory: its geometry, checked, and what kind of picture it is. */
#include <math.h>
#include <string.h>

#include "tegula/num.h"
#include "tiff.h"

/* More samples than any real picture has, few enough for arithmetic. */
#define MAX_SAMPLES    32
/* A strip may well hold all of a huge image; twice this must not overflow. */
#define MAX_TILE_BYTES ((size_t)1 << 48)

static bool bad(tg_err *err, const char *what)
{
    tg_fail(err, TG_ERR_CORRUPT, "the image file is damaged");
    return tg_fail_detail(err, "TIFF directory: %s", what);
}

static bool read_size(TIFF *tif, tg_tiff_dir *d, tg_err *err)
{
    TIFFGetField(tif, TIFFTAG_IMAGEWIDTH, &d->width_px);
    TIFFGetField(tif, TIFFTAG_IMAGELENGTH, &d->height_px);
    if (d->width_px == 0 || d->height_px == 0)
        return bad(err, "no size");
    if (d->width_px > TG_MAX_SIDE_PX || d->height_px > TG_MAX_SIDE_PX)
        return tg_fail(err, TG_ERR_TOO_LARGE, "the image is too large");
    d->tiled = TIFFIsTiled(tif);
    if (d->tiled) {
        TIFFGetField(tif, TIFFTAG_TILEWIDTH, &d->tile_w_px);
        TIFFGetField(tif, TIFFTAG_TILELENGTH, &d->tile_h_px);
    } else {
        TIFFGetFieldDefaulted(tif, TIFFTAG_ROWSPERSTRIP, &d->tile_h_px);
        d->tile_w_px = d->width_px;
        d->tile_h_px = TG_MIN(d->tile_h_px, d->height_px);
    }
    if (d->tile_w_px == 0 || d->tile_h_px == 0)
        return bad(err, "no tile size");
    if (d->tile_w_px > TG_MAX_SIDE_PX || d->tile_h_px > TG_MAX_SIDE_PX)
        return bad(err, "absurd tile size");
    d->cols = tg_ceil_div_u32(d->width_px, d->tile_w_px);
    d->rows = tg_ceil_div_u32(d->height_px, d->tile_h_px);
    return true;
}

static void read_kind(TIFF *tif, tg_tiff_dir *d)
{
    uint16_t planar = PLANARCONFIG_CONTIG;

    TIFFGetFieldDefaulted(tif, TIFFTAG_SUBFILETYPE, &d->subfile);
    TIFFGetFieldDefaulted(tif, TIFFTAG_COMPRESSION, &d->compression);
    TIFFGetFieldDefaulted(tif, TIFFTAG_BITSPERSAMPLE, &d->bits);
    TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLESPERPIXEL, &d->samples);
    TIFFGetFieldDefaulted(tif, TIFFTAG_PLANARCONFIG, &planar);
    d->planes = planar == PLANARCONFIG_SEPARATE && d->samples > 1;
    if (!TIFFGetField(tif, TIFFTAG_PHOTOMETRIC, &d->photometric))
        d->photometric = d->samples < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB;
}

/* The grid against the file, and the bytes of a row. */
static bool check_storage(const tg_tiff_file *f, tg_tiff_dir *d, tg_err *err)
{
    unsigned planes = d->planes ? d->samples : 1;
    uint64_t tiles;

    if (d->samples == 0 || d->samples > MAX_SAMPLES || d->bits == 0 || d->bits > 64)
        return bad(err, "absurd sample layout");
    /* Every tile takes at least a byte in the table of offsets. */
    tiles = (uint64_t)d->cols * d->rows;
    if (tiles > UINT32_MAX / planes || tiles * planes > f->size_bytes)
        return bad(err, "more tiles than the file can hold");
    d->row_bytes = ((size_t)d->tile_w_px * d->bits * (d->planes ? 1 : d->samples) + 7) / 8;
    if (d->row_bytes > MAX_TILE_BYTES / d->tile_h_px)
        return bad(err, "absurd tile size");
    return true;
}

static double dots_per_inch(float value, uint16_t unit)
{
    double dpi = unit == RESUNIT_CENTIMETER ? value * 2.54 : value;

    return unit != RESUNIT_NONE && isfinite(dpi) && dpi > 0 && dpi < 1e6 ? dpi : 0;
}

static void read_density(TIFF *tif, tg_tiff_dir *d)
{
    uint16_t unit = RESUNIT_INCH;
    float x = 0, y = 0;

    TIFFGetFieldDefaulted(tif, TIFFTAG_RESOLUTIONUNIT, &unit);
    if (!TIFFGetField(tif, TIFFTAG_XRESOLUTION, &x) || !TIFFGetField(tif, TIFFTAG_YRESOLUTION, &y))
        return;
    d->dpi_x = dots_per_inch(x, unit);
    d->dpi_y = dots_per_inch(y, unit);
}

static const char *route_of(tg_tiff_dir *d)
{
    switch (d->compression) {
    case COMPRESSION_JPEG:
        d->route = TG_TIFF_BY_JPEG;
        return NULL;
    case COMPRESSION_WEBP:
        d->route = TG_TIFF_BY_WEBP;
        return NULL;
    case COMPRESSION_NONE:
    case COMPRESSION_LZW:
    case COMPRESSION_PACKBITS:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_ZSTD:
    case COMPRESSION_LZMA:
        d->route = TG_TIFF_BY_LIBTIFF;
        return TIFFIsCODECConfigured(d->compression) ? NULL : "compression not built into libtiff";
    default:
        return "compression";
    }
}

/* Colour samples of a pixel; 0 = unknown photometric. */
static unsigned colours_of(uint16_t photometric)
{
    switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_PALETTE:
        return 1;
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_YCBCR:
        return 3;
    case PHOTOMETRIC_SEPARATED:
        return 4;
    default:
        return 0;
    }
}

static void find_alpha(TIFF *tif, tg_tiff_dir *d, unsigned colours)
{
    uint16_t n = 0;
    const uint16_t *types = NULL;

    if (!TIFFGetField(tif, TIFFTAG_EXTRASAMPLES, &n, &types))
        return;
    for (unsigned i = 0; i < n && colours + i < d->samples; i++) {
        if (types[i] != EXTRASAMPLE_ASSOCALPHA && types[i] != EXTRASAMPLE_UNASSALPHA)
            continue;
        d->alpha = (uint8_t)(colours + i);
        d->premultiplied = types[i] == EXTRASAMPLE_ASSOCALPHA;
        return;
    }
}

static bool has_palette(TIFF *tif)
{
    uint16_t *r, *g, *b;

    return TIFFGetField(tif, TIFFTAG_COLORMAP, &r, &g, &b);
}

static const char *check_palette(TIFF *tif, const tg_tiff_dir *d)
{
    if (d->route != TG_TIFF_BY_LIBTIFF || d->samples != 1)
        return "palette with this layout";
    if (d->bits > 8 || !has_palette(tif))
        return "palette without colours";
    return NULL;
}

/* libtiff reads planes of YCbCr only where chroma is as fine as luma. */
static bool coarse_planes(TIFF *tif, const tg_tiff_dir *d)
{
    uint16_t h = 2, v = 2;

    TIFFGetFieldDefaulted(tif, TIFFTAG_YCBCRSUBSAMPLING, &h, &v);
    return d->planes && d->photometric == PHOTOMETRIC_YCBCR && (h != 1 || v != 1);
}

/* Kinds that libtiff's own colour conversion handles. */
static const char *check_converted(TIFF *tif, tg_tiff_dir *d, unsigned colours)
{
    char text[1024];

    if (d->route != TG_TIFF_BY_LIBTIFF || d->bits != 8 || d->samples != colours)
        return "colour space with this layout";
    if (!TIFFRGBAImageOK(tif, text) || coarse_planes(tif, d))
        return "colour space";
    d->route = TG_TIFF_BY_RGBA;
    return NULL;
}

static const char *check_bits(const tg_tiff_dir *d)
{
    switch (d->bits) {
    case 8:
        return NULL;
    case 16:
        return d->route == TG_TIFF_BY_LIBTIFF ? NULL : "16 bits with this compression";
    case 1:
    case 2:
    case 4:
        return d->route == TG_TIFF_BY_LIBTIFF && d->samples == 1 ? NULL
                                                                 : "few bits with this layout";
    default:
        return "bits per sample";
    }
}

static const char *check_embedded(const tg_tiff_dir *d)
{
    if (d->route == TG_TIFF_BY_WEBP &&
        (d->photometric != PHOTOMETRIC_RGB || d->planes || d->samples > 4))
        return "WebP with this layout";
    if (d->route == TG_TIFF_BY_JPEG && !d->planes && d->samples > 4)
        return "JPEG with this layout";
    if (d->route == TG_TIFF_BY_JPEG && d->photometric == PHOTOMETRIC_YCBCR &&
        (d->planes || d->samples != 3))
        return "YCbCr JPEG with this layout";
    return NULL;
}

/* Sets route, alpha and fmt; returns why not, or NULL. */
static const char *classify(TIFF *tif, tg_tiff_dir *d)
{
    uint16_t format = SAMPLEFORMAT_UINT;
    unsigned colours = colours_of(d->photometric);
    const char *no = route_of(d);

    TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLEFORMAT, &format);
    if (no)
        return no;
    if (colours == 0 || colours > d->samples)
        return "photometric interpretation";
    if (format != SAMPLEFORMAT_UINT && format != SAMPLEFORMAT_VOID)
        return "signed or floating-point samples";
    if (d->photometric == PHOTOMETRIC_PALETTE) {
        d->fmt = (tg_pixfmt){3, 8};
        no = check_palette(tif, d);
        return no ? no : check_bits(d);
    }
    if (d->photometric == PHOTOMETRIC_SEPARATED ||
        (d->photometric == PHOTOMETRIC_YCBCR && d->route == TG_TIFF_BY_LIBTIFF)) {
        d->fmt = (tg_pixfmt){3, 8};
        return check_converted(tif, d, colours);
    }
    find_alpha(tif, d, colours);
    d->fmt.channels = (uint8_t)(colours + (d->alpha != 0));
    d->fmt.bits = d->bits == 16 ? 16 : 8;
    no = check_bits(d);
    return no ? no : check_embedded(d);
}

bool tg_tiff_dir_read(tg_tiff_file *f, tg_tiff_dir *d, tg_err *err)
{
    void *subifds;

    memset(d, 0, sizeof *d);
    d->offset_bytes = TIFFCurrentDirOffset(f->tif);
    if (!read_size(f->tif, d, err))
        return false;
    read_kind(f->tif, d);
    if (!check_storage(f, d, err))
        return false;
    if (!TIFFGetField(f->tif, TIFFTAG_SUBIFD, &d->n_subifds, &subifds))
        d->n_subifds = 0;
    read_density(f->tif, d);
    d->refusal = classify(f->tif, d);
    return true;
}
