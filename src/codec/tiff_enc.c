/* TIFF output by libtiff: strips, gathered from the rows and written one after the other. */
#include <tiffio.h>

#include <stdio.h>
#include <string.h>

#include "embed.h"
#include "enc_rows.h"
#include "encoder_ops.h"
#include "out_stream.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tiff_options.h"

typedef struct tiff_encoder {
    tg_encoder base;
    tg_out_stream stream;
    TIFF *tif;
    tg_tiff_complaint complaint;
    uint8_t *strip;
    size_t row_bytes;
    uint32_t strip_rows, held_rows;
} tiff_encoder;

typedef struct scheme {
    uint16_t tag;
    uint32_t quality_tag; /* 0: none */
    int lowest, highest;
    bool predictor;
    bool only_8_bit;
    unsigned channels; /* bit n: pixels of n channels */
    uint32_t max_width_px;
} scheme;

#define CHANNELS(a, b) (1u << (a) | 1u << (b))
#define ANY_CHANNELS   (CHANNELS(1, 2) | CHANNELS(3, 4))

static const scheme schemes[] = {
    [TG_TIFF_NONE] = {COMPRESSION_NONE, 0, 0, 0, false, false, ANY_CHANNELS, UINT32_MAX},
    [TG_TIFF_LZW] = {COMPRESSION_LZW, 0, 0, 0, true, false, ANY_CHANNELS, UINT32_MAX},
    [TG_TIFF_DEFLATE] = {COMPRESSION_ADOBE_DEFLATE, TIFFTAG_ZIPQUALITY, 0, 9, true, false,
                         ANY_CHANNELS, UINT32_MAX},
    [TG_TIFF_JPEG] = {COMPRESSION_JPEG, TIFFTAG_JPEGQUALITY, 1, 100, false, true, CHANNELS(1, 3),
                      65500},
    [TG_TIFF_WEBP] = {COMPRESSION_WEBP, TIFFTAG_WEBP_LEVEL, 1, 100, false, true, CHANNELS(3, 4),
                      16383},
    [TG_TIFF_ZSTD] = {COMPRESSION_ZSTD, TIFFTAG_ZSTD_LEVEL, 1, 19, true, false, ANY_CHANNELS,
                      UINT32_MAX},
};

/* ---- libtiff's file ---- */

static tmsize_t on_read(thandle_t handle, void *data, tmsize_t n)
{
    return (tmsize_t)tg_out_stream_read(handle, data, (size_t)n);
}

static tmsize_t on_write(thandle_t handle, void *data, tmsize_t n)
{
    return tg_out_stream_write(handle, data, (size_t)n) ? n : -1;
}

static toff_t on_seek(thandle_t handle, toff_t offset, int whence)
{
    tg_out_stream *s = handle;
    uint64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? s->at : tg_out_stream_size(s);

    return s->at = base + offset;
}

static int on_close(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t on_size(thandle_t handle)
{
    return tg_out_stream_size(handle);
}

static TIFF *open_handle(tiff_encoder *t, const char *mode)
{
    TIFFOpenOptions *options = tg_tiff_options(&t->complaint);
    TIFF *tif;

    if (!options)
        return NULL;
    tif = TIFFClientOpenExt("output", mode, &t->stream, on_read, on_write, on_seek, on_close,
                            on_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return tif;
}

static bool fail(tiff_encoder *t, tg_err *err)
{
    if (t->base.out->failed)
        return tg_fail(err, TG_ERR_TOO_LARGE, "the encoded image is too large");
    tg_fail(err, TG_ERR_INTERNAL, "the image cannot be written as TIFF");
    return tg_fail_detail(err, "%s", t->complaint.text);
}

/* ---- layout ---- */

static size_t row_bytes(const tg_encode_spec *spec)
{
    return tg_packs(spec) ? tg_packed_bytes(spec->width_px)
                          : spec->width_px * tg_pixfmt_bytes(spec->fmt);
}

/* Large enough to compress well, small enough that readers need not hold the picture; a multiple of
 * 16 for the blocks of JPEG with 4:2:0. */
static uint32_t strip_rows(const tg_encode_spec *spec)
{
    size_t rows = ((size_t)256 << 10) / row_bytes(spec) / 16 * 16;

    return (uint32_t)TG_MIN(TG_MAX(rows, (size_t)16), (size_t)spec->height_px);
}

static uint64_t tiff_cost_bytes(const tg_encode_spec *spec)
{
    return 2 * (uint64_t)strip_rows(spec) * row_bytes(spec); /* ours and libtiff's */
}

static bool suits(const scheme *s, const tg_encode_spec *spec)
{
    return TIFFIsCODECConfigured(s->tag) && (s->channels & 1u << spec->fmt.channels) &&
           spec->width_px <= s->max_width_px &&
           (!s->only_8_bit || (spec->fmt.bits == 8 && !tg_packs(spec)));
}

/* ---- tags ---- */

static bool set_compression(TIFF *tif, const tg_encode_spec *spec)
{
    const scheme *asked = &schemes[spec->compression];
    const scheme *s = suits(asked, spec) ? asked : &schemes[TG_TIFF_DEFLATE];
    int quality = s == asked ? TG_MAX(s->lowest, TG_MIN(spec->quality, s->highest)) : 1;

    return TIFFSetField(tif, TIFFTAG_COMPRESSION, s->tag) &&
           (!s->quality_tag || TIFFSetField(tif, s->quality_tag, quality)) &&
           (!s->predictor || tg_packs(spec) ||
            TIFFSetField(tif, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL));
}

static bool set_colour(TIFF *tif, const tg_encode_spec *spec)
{
    static const uint16_t alpha[] = {EXTRASAMPLE_UNASSALPHA};
    uint16_t compression = COMPRESSION_NONE;
    bool ok = TIFFGetField(tif, TIFFTAG_COMPRESSION, &compression);

    if (spec->fmt.channels < 3)
        ok = ok && TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    else if (compression == COMPRESSION_JPEG)
        ok = ok && TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_YCBCR) &&
             TIFFSetField(tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    else
        ok = ok && TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    return ok && (!tg_pixfmt_alpha(spec->fmt) || TIFFSetField(tif, TIFFTAG_EXTRASAMPLES, 1, alpha));
}

static bool set_resolution(TIFF *tif, const tg_encode_spec *spec)
{
    bool known = spec->dpi_x > 0 && spec->dpi_y > 0;

    return TIFFSetField(tif, TIFFTAG_RESOLUTIONUNIT, known ? RESUNIT_INCH : RESUNIT_NONE) &&
           TIFFSetField(tif, TIFFTAG_XRESOLUTION, known ? spec->dpi_x : 1.0) &&
           TIFFSetField(tif, TIFFTAG_YRESOLUTION, known ? spec->dpi_y : 1.0);
}

static bool set_embed(TIFF *tif, const tg_embed *embed)
{
    tg_buf copyright = {0};
    bool ok = (!embed->icc.n ||
               TIFFSetField(tif, TIFFTAG_ICCPROFILE, (uint32_t)embed->icc.n, embed->icc.p)) &&
              (!embed->xmp.n ||
               TIFFSetField(tif, TIFFTAG_XMLPACKET, (uint32_t)embed->xmp.n, embed->xmp.p)) &&
              (!embed->copyright.n ||
               TIFFSetField(tif, TIFFTAG_COPYRIGHT, tg_embed_z(&copyright, embed->copyright)));

    tg_buf_free(&copyright);
    return ok;
}

static bool set_tags(const tiff_encoder *t)
{
    const tg_encode_spec *spec = &t->base.spec;
    TIFF *tif = t->tif;

    return TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, spec->width_px) &&
           TIFFSetField(tif, TIFFTAG_IMAGELENGTH, spec->height_px) &&
           TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, tg_packs(spec) ? 1 : spec->fmt.bits) &&
           TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, spec->fmt.channels) &&
           TIFFSetField(tif, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
           TIFFSetField(tif, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT) &&
           set_compression(tif, spec) && set_colour(tif, spec) &&
           TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, t->strip_rows) && set_resolution(tif, spec) &&
           set_embed(tif, &spec->embed);
}

/* ---- encoder ---- */

static bool tiff_begin(tg_encoder *e, tg_err *err)
{
    tiff_encoder *t = (tiff_encoder *)e;
    bool big;

    t->stream = tg_out_stream_at_end(e->out);
    t->row_bytes = row_bytes(&e->spec);
    t->strip_rows = strip_rows(&e->spec);
    t->strip = tg_image_alloc(t->strip_rows, t->row_bytes, err);
    if (!t->strip)
        return false;
    big = t->row_bytes * (uint64_t)e->spec.height_px >= (uint64_t)15 << 28; /* offsets of 32 bit */
    t->tif = open_handle(t, big ? "w8" : "w");
    return (t->tif && set_tags(t)) || fail(t, err);
}

static bool write_strip(tiff_encoder *t, uint32_t first_row, tg_err *err)
{
    tmsize_t n = (tmsize_t)(t->held_rows * t->row_bytes);
    bool ok = TIFFWriteEncodedStrip(t->tif, first_row / t->strip_rows, t->strip, n) == n;

    t->held_rows = 0;
    return ok || fail(t, err);
}

static bool tiff_rows(tg_encoder *e, const uint8_t *rows, size_t stride, uint32_t n, tg_err *err)
{
    tiff_encoder *t = (tiff_encoder *)e;

    for (uint32_t i = 0; i < n; i++) {
        uint8_t *to = t->strip + t->held_rows * t->row_bytes;
        uint32_t row = e->rows_done + i;

        if (tg_packs(&e->spec))
            tg_pack_row(to, rows + i * stride, e->spec.width_px, e->spec.fmt.bits);
        else
            memcpy(to, rows + i * stride, t->row_bytes);
        t->held_rows++;
        if ((t->held_rows == t->strip_rows || row + 1 == e->spec.height_px) &&
            !write_strip(t, row, err))
            return false;
    }
    return true;
}

static bool tiff_finish(tg_encoder *e, tg_err *err)
{
    tiff_encoder *t = (tiff_encoder *)e;

    return TIFFWriteDirectory(t->tif) || fail(t, err);
}

static void tiff_end(tg_encoder *e)
{
    tiff_encoder *t = (tiff_encoder *)e;

    if (t->tif)
        TIFFCleanup(t->tif); /* unlike TIFFClose it writes nothing more */
    tg_image_free(t->strip);
}

const tg_encoder_ops tg_tiff_encoder_ops = {
    sizeof(tiff_encoder), tiff_begin, tiff_rows, tiff_finish, tiff_end, tiff_cost_bytes, NULL,
};
