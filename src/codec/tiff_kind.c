/* What kind of picture a TIFF directory is: who decodes it, what its samples are and mean. */
#include <string.h>

#include "tiff.h"

/* CCITT, and what else comes with names of its own, lie in libtiff; these do not. */
static const struct {
    uint16_t compression;
    tg_tiff_route route;
} routes[] = {
    {COMPRESSION_JPEG, TG_TIFF_BY_JPEG},
    {COMPRESSION_WEBP, TG_TIFF_BY_WEBP},
    {33003, TG_TIFF_BY_J2K}, /* Aperio: YCbCr */
    {33004, TG_TIFF_BY_J2K},
    {33005, TG_TIFF_BY_J2K}, /* Aperio: RGB */
    {34712, TG_TIFF_BY_J2K},
};

bool tg_tiff_is_ccitt(const tg_tiff_dir *d)
{
    switch (d->compression) {
    case COMPRESSION_CCITTRLE:
    case COMPRESSION_CCITTRLEW:
    case COMPRESSION_CCITTFAX3:
    case COMPRESSION_CCITTFAX4:
        return true;
    default:
        return false;
    }
}

static bool refuse(tg_tiff_dir *d, tg_err_kind kind, const char *why)
{
    d->refusal = why;
    d->refusal_kind = kind;
    return false;
}

static bool unknown(tg_tiff_dir *d, const char *why)
{
    return refuse(d, TG_ERR_NOT_IMAGE, why);
}

static bool find_route(tg_tiff_dir *d)
{
    d->route = TG_TIFF_BY_LIBTIFF;
    for (unsigned i = 0; i < sizeof routes / sizeof *routes; i++)
        if (routes[i].compression == d->compression)
            d->route = routes[i].route;
    if (d->route != TG_TIFF_BY_LIBTIFF || TIFFIsCODECConfigured(d->compression))
        return true;
    switch (d->compression) {
    case 50002: /* as registered with libtiff */
    case 52546: /* DNG 1.7 */
        return refuse(d, TG_ERR_NOT_IMPLEMENTED, "JPEG XL");
    case 34892:
        return refuse(d, TG_ERR_NOT_IMPLEMENTED, "lossy JPEG of DNG");
    default:
        return TIFFFindCODEC(d->compression)
                   ? refuse(d, TG_ERR_NOT_IMPLEMENTED, "a compression that libtiff lacks here")
                   : unknown(d, "compression");
    }
}

/* Numbers in the file, and as the route delivers them. */
static bool find_numbers(tg_tiff_dir *d)
{
    static const uint8_t floats[] = {16, 24, 32, 64}, wide[] = {24, 32, 64};

    d->raw_samples = d->planes ? 1 : (uint8_t)d->samples;
    d->raw_bits = (uint8_t)d->bits;
    d->number = TG_TIFF_UNSIGNED;
    if (d->route == TG_TIFF_BY_JPEG && d->bits != 8)
        return refuse(d, TG_ERR_NOT_IMPLEMENTED, "JPEG of other than 8 bits");
    if (d->route == TG_TIFF_BY_J2K && d->bits > 16)
        return refuse(d, TG_ERR_NOT_IMPLEMENTED, "JPEG 2000 of more than 16 bits");
    if (d->route != TG_TIFF_BY_LIBTIFF) {
        d->raw_bits = d->bits <= 8 ? 8 : 16;
        return true;
    }
    /* Rows of several samples are longer to libtiff than what its decoder fills of them. */
    if (tg_tiff_is_ccitt(d) && d->raw_samples != 1)
        return unknown(d, "CCITT with several samples a pixel");
    switch (d->format) {
    case SAMPLEFORMAT_UINT:
    case SAMPLEFORMAT_VOID:
        return d->bits <= 16 || memchr(wide, d->bits, sizeof wide) || unknown(d, "bits per sample");
    case SAMPLEFORMAT_INT:
        d->number = TG_TIFF_SIGNED;
        return d->bits == 8 || d->bits == 16 || d->bits == 32 || d->bits == 64 ||
               unknown(d, "bits per signed sample");
    case SAMPLEFORMAT_IEEEFP:
        d->number = TG_TIFF_FLOAT;
        return memchr(floats, d->bits, sizeof floats) || unknown(d, "bits per real sample");
    default:
        return unknown(d, "sample format");
    }
}

static unsigned set_colours(tg_tiff_dir *d, tg_space space, tg_tiff_coding coding)
{
    d->native.space = space;
    d->coding = coding;
    return coding == TG_TIFF_INDEXED ? 1 : tg_native_channels((tg_native){space, false, 8});
}

/* Inks are cyan, magenta, yellow and black as far as they go, whatever their names: four and more
 * are shown by the first four, three as the complement of RGB, fewer by the first as if it were
 * black. */
static unsigned find_inks(tg_tiff_dir *d)
{
    if (d->samples >= 4)
        return set_colours(d, TG_SPACE_CMYK, TG_TIFF_PLAIN);
    return set_colours(d, d->samples == 3 ? TG_SPACE_RGB : TG_SPACE_GRAY, TG_TIFF_NEGATIVE);
}

/* Sets space and coding; returns the number of colour samples, 0 = unknown. */
static unsigned find_colours(tg_tiff_dir *d)
{
    switch (d->photometric) {
    case PHOTOMETRIC_MINISWHITE:
        return set_colours(d, TG_SPACE_GRAY, TG_TIFF_NEGATIVE);
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MASK:
    case PHOTOMETRIC_LOGL:
        return set_colours(d, TG_SPACE_GRAY, TG_TIFF_PLAIN);
    case PHOTOMETRIC_PALETTE:
        return set_colours(d, TG_SPACE_RGB, TG_TIFF_INDEXED);
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_LOGLUV:
        return set_colours(d, TG_SPACE_RGB, TG_TIFF_PLAIN);
    case PHOTOMETRIC_YCBCR:
        return set_colours(d, TG_SPACE_RGB, TG_TIFF_YCC);
    case PHOTOMETRIC_SEPARATED:
        return find_inks(d);
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
    case PHOTOMETRIC_ITULAB:
        return set_colours(d, TG_SPACE_LAB, TG_TIFF_LAB);
    default:
        return 0;
    }
}

/* Extra samples come last; of several the first that is alpha counts. */
static void find_alpha(TIFF *tif, tg_tiff_dir *d, unsigned colours)
{
    uint16_t n = 0;
    const uint16_t *types = NULL;
    unsigned first;

    if (!TIFFGetField(tif, TIFFTAG_EXTRASAMPLES, &n, &types))
        return;
    first = colours + n <= d->samples ? (unsigned)d->samples - n : colours;
    for (unsigned i = 0; i < n && first + i < d->samples; i++) {
        if (types[i] != EXTRASAMPLE_ASSOCALPHA && types[i] != EXTRASAMPLE_UNASSALPHA)
            continue;
        d->alpha = (uint8_t)(first + i);
        d->native.alpha = true;
        d->premultiplied = types[i] == EXTRASAMPLE_ASSOCALPHA;
        return;
    }
}

static bool check_palette(TIFF *tif, tg_tiff_dir *d)
{
    uint16_t *r, *g, *b;

    if (d->route != TG_TIFF_BY_LIBTIFF || d->number != TG_TIFF_UNSIGNED || d->bits > 16)
        return unknown(d, "palette with this layout");
    if (!TIFFGetField(tif, TIFFTAG_COLORMAP, &r, &g, &b))
        return unknown(d, "palette without colours");
    d->native.bits = 8;
    return true;
}

static bool fits_block(uint16_t side)
{
    return side == 1 || side == 2 || side == 4;
}

/* Chroma may be stored coarser. Of contiguous samples, libtiff leaves it so, the other decoders do
 * not. */
static bool check_ycc(TIFF *tif, tg_tiff_dir *d)
{
    uint16_t h = 2, v = 2;
    bool by_libtiff = d->route == TG_TIFF_BY_LIBTIFF;

    if (d->number != TG_TIFF_UNSIGNED || (d->bits != 8 && d->bits != 16))
        return unknown(d, "YCbCr of this depth");
    /* JPEG and JPEG 2000 of three components are converted by their decoders. */
    if (!d->planes &&
        (d->route == TG_TIFF_BY_J2K || (d->route == TG_TIFF_BY_JPEG && d->samples == 3)))
        d->coding = TG_TIFF_PLAIN;
    TIFFGetFieldDefaulted(tif, TIFFTAG_YCBCRSUBSAMPLING, &h, &v);
    if ((h == 1 && v == 1) || !(d->planes || by_libtiff))
        return true;
    if (!fits_block(h) || !fits_block(v) || (d->tiled && (d->tile_w_px % h || d->tile_h_px % v)))
        return unknown(d, "YCbCr subsampling");
    d->coarse_h = (uint8_t)h;
    d->coarse_v = (uint8_t)v;
    if (d->planes)
        return d->route != TG_TIFF_BY_J2K || unknown(d, "subsampled planes of JPEG 2000");
    if (d->samples != 3)
        return unknown(d, "subsampled YCbCr with more samples");
    d->row_bytes = (size_t)tg_ceil_div_u32(d->tile_w_px, h) * (h * v + 2u) * (d->bits / 8);
    return true;
}

/* What comes of libtiff's decoders in one form only. */
static bool check_decoder(tg_tiff_dir *d)
{
    bool log = d->photometric == PHOTOMETRIC_LOGL || d->photometric == PHOTOMETRIC_LOGLUV;

    if (log && d->compression != COMPRESSION_SGILOG && d->compression != COMPRESSION_SGILOG24)
        return unknown(d, "logarithms of light in this compression");
    if (d->compression == COMPRESSION_JBIG && (d->bits != 1 || d->raw_samples != 1))
        return unknown(d, "JBIG of more than one bit");
    return true;
}

static bool check_embedded(tg_tiff_dir *d)
{
    if (d->route == TG_TIFF_BY_WEBP) {
        if (d->native.space != TG_SPACE_RGB || d->planes || d->samples > 4 || d->bits != 8)
            return unknown(d, "WebP with this layout");
        d->raw_samples = (uint8_t)tg_native_channels(d->native);
    }
    if (d->route == TG_TIFF_BY_JPEG && d->raw_samples > 4)
        return unknown(d, "JPEG with this layout");
    if (d->route == TG_TIFF_BY_J2K && d->raw_samples > TG_TIFF_CHANNELS)
        return unknown(d, "JPEG 2000 with this layout");
    return true;
}

static bool classify(TIFF *tif, tg_tiff_dir *d)
{
    unsigned colours;

    d->coarse_h = d->coarse_v = 1;
    if (!find_route(d) || !find_numbers(d))
        return false;
    colours = find_colours(d);
    if (colours == 0 || colours > d->samples)
        return unknown(d, "photometric interpretation");
    find_alpha(tif, d, colours);
    d->native.bits = d->raw_bits <= 8 ? 8 : 16;
    /* Which of L*, a*, b* is signed the coding says, not the format, which is one for all three. */
    if (d->coding == TG_TIFF_LAB && d->bits <= 16 && d->number == TG_TIFF_SIGNED)
        d->number = TG_TIFF_UNSIGNED;
    d->ranged = d->number != TG_TIFF_UNSIGNED || d->raw_bits > 16;
    if (d->coding == TG_TIFF_LAB && d->ranged && d->number != TG_TIFF_FLOAT)
        return unknown(d, "CIE L*a*b* in wide integers");
    if (d->coding == TG_TIFF_INDEXED && !check_palette(tif, d))
        return false;
    if (d->coding == TG_TIFF_YCC && !check_ycc(tif, d))
        return false;
    return check_decoder(d) && check_embedded(d);
}

void tg_tiff_classify(TIFF *tif, tg_tiff_dir *dir)
{
    classify(tif, dir);
}
