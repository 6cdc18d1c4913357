/* One TIFF directory: its geometry, checked, and what kind of picture it is. */
#include <math.h>
#include <string.h>

#include "tegula/num.h"
#include "tiff.h"

/* More samples than any real picture has, few enough for arithmetic. */
#define MAX_SAMPLES    255
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

static uint16_t default_photometric(const tg_tiff_dir *d)
{
    if (tg_tiff_is_ccitt(d))
        return PHOTOMETRIC_MINISWHITE;
    return d->samples < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB;
}

static void read_kind(TIFF *tif, tg_tiff_dir *d)
{
    uint16_t planar = PLANARCONFIG_CONTIG;

    TIFFGetFieldDefaulted(tif, TIFFTAG_SUBFILETYPE, &d->subfile);
    TIFFGetFieldDefaulted(tif, TIFFTAG_COMPRESSION, &d->compression);
    /* Logarithms of light: libtiff makes 8 bits for display of them. */
    if (d->compression == COMPRESSION_SGILOG || d->compression == COMPRESSION_SGILOG24)
        TIFFSetField(tif, TIFFTAG_SGILOGDATAFMT, SGILOGDATAFMT_8BIT);
    TIFFGetFieldDefaulted(tif, TIFFTAG_BITSPERSAMPLE, &d->bits);
    TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLEFORMAT, &d->format);
    TIFFGetFieldDefaulted(tif, TIFFTAG_ORIENTATION, &d->orientation);
    TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLESPERPIXEL, &d->samples);
    TIFFGetFieldDefaulted(tif, TIFFTAG_PLANARCONFIG, &planar);
    d->planes = planar == PLANARCONFIG_SEPARATE && d->samples > 1;
    if (!TIFFGetField(tif, TIFFTAG_PHOTOMETRIC, &d->photometric))
        d->photometric = default_photometric(d);
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
    tg_tiff_classify(f->tif, d);
    return true;
}
