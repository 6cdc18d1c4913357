/* TIFF, PDF, JPEG 2000 and GIF, read back by the reference libraries; PDF by its own rules. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jpeglib.h>
#include <openjpeg.h>
#include <tiffio.h>
#ifdef HAVE_GIF
#include <gif_lib.h>
#endif

#include "check.h"
#include "encoding.h"

/* Encodes behind bytes that are there already; no format may count from the buffer's start. */
static void encode_behind(const tg_encode_spec *s, const uint8_t *px, tg_buf *out)
{
    tg_err err = {0};

    out->len = 0;
    tg_buf_append(out, "head", 4);
    CHECK_ROW(__LINE__, encode(s, px, 7, out, &err), "%s: %s (%s)", tg_formats[s->format].extension,
              err.msg, err.detail);
    CHECK(out->len > 4 && memcmp(out->data, "head", 4) == 0);
}

/* The stream as a file in memory. */
static int file_of(const tg_buf *out)
{
    int fd = memfd_create("picture", 0);

    CHECK(fd >= 0 && write(fd, out->data + 4, out->len - 4) == (ssize_t)out->len - 4);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static unsigned sample(const uint8_t *px, size_t i, unsigned bits)
{
    return bits == 8 ? px[i] : ((const uint16_t *)(const void *)px)[i];
}

/* Root of the mean squared difference, of a full range of 1. */
static double noise(const uint8_t *a, const uint8_t *b, size_t n, unsigned bits)
{
    double sum = 0, max = bits == 8 ? 255 : 65535;

    for (size_t i = 0; i < n; i++) {
        double off = ((double)sample(a, i, bits) - sample(b, i, bits)) / max;
        sum += off * off;
    }
    return sqrt(sum / (double)n);
}

/* ---- TIFF ---- */

static void check_tiff_tags(TIFF *tif, const tg_encode_spec *s, unsigned compression)
{
    uint32_t w = 0, h = 0, strip_rows = 0;
    uint16_t bits = 0, channels = 0, photometric = 9, got = 0, n_extra = 0, *extra = NULL;
    uint16_t unit = 0, predictor = 0;
    float dpi = 0;

    TIFFGetField(tif, TIFFTAG_IMAGEWIDTH, &w);
    TIFFGetField(tif, TIFFTAG_IMAGELENGTH, &h);
    TIFFGetField(tif, TIFFTAG_ROWSPERSTRIP, &strip_rows);
    TIFFGetField(tif, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetField(tif, TIFFTAG_SAMPLESPERPIXEL, &channels);
    TIFFGetField(tif, TIFFTAG_PHOTOMETRIC, &photometric);
    TIFFGetField(tif, TIFFTAG_COMPRESSION, &got);
    TIFFGetField(tif, TIFFTAG_RESOLUTIONUNIT, &unit);
    TIFFGetField(tif, TIFFTAG_XRESOLUTION, &dpi);
    CHECK(w == s->width_px && h == s->height_px && channels == s->fmt.channels);
    CHECK_INT(bits, s->bitonal ? 1 : s->fmt.bits);
    CHECK_INT(got, compression);
    CHECK_INT(photometric, s->fmt.channels < 3               ? PHOTOMETRIC_MINISBLACK
                           : compression == COMPRESSION_JPEG ? PHOTOMETRIC_YCBCR
                                                             : PHOTOMETRIC_RGB);
    TIFFGetFieldDefaulted(tif, TIFFTAG_EXTRASAMPLES, &n_extra, &extra);
    CHECK_INT(n_extra, tg_pixfmt_alpha(s->fmt));
    CHECK(n_extra == 0 || extra[0] == EXTRASAMPLE_UNASSALPHA);
    CHECK_INT(unit, s->dpi_x > 0 ? RESUNIT_INCH : RESUNIT_NONE);
    CHECK(dpi == (s->dpi_x > 0 ? (float)s->dpi_x : 1.0f));
    CHECK_ROW(__LINE__, strip_rows == h || strip_rows % 16 == 0, "%u rows of %u", strip_rows, h);
    if (compression == COMPRESSION_LZW || compression == COMPRESSION_ADOBE_DEFLATE) {
        TIFFGetFieldDefaulted(tif, TIFFTAG_PREDICTOR, &predictor);
        CHECK_INT(predictor, s->bitonal ? 1 : 2);
    }
    CHECK(TIFFLastDirectory(tif));
}

static void read_tiff(TIFF *tif, const tg_encode_spec *s, uint8_t *got)
{
    size_t stride = s->width_px * tg_pixfmt_bytes(s->fmt);
    uint8_t *row = malloc((size_t)TIFFScanlineSize(tif) + stride);
    uint16_t compression = 0;

    TIFFGetField(tif, TIFFTAG_COMPRESSION, &compression);
    if (compression == COMPRESSION_JPEG)
        TIFFSetField(tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    for (uint32_t y = 0; y < s->height_px; y++) {
        CHECK(TIFFReadScanline(tif, row, y, 0) == 1);
        if (!s->bitonal)
            memcpy(got + y * stride, row, stride);
        for (uint32_t x = 0; s->bitonal && x < s->width_px; x++)
            got[y * stride + x] = row[x / 8] >> (7 - x % 8) & 1 ? 255 : 0;
    }
    free(row);
}

static void check_tiff(uint32_t w, uint32_t h, unsigned channels, unsigned bits, bool bitonal,
                       tg_tiff_compression how, int quality, unsigned compression, double most)
{
    tg_encode_spec s = {.format = TG_FORMAT_TIFF,
                        .width_px = w,
                        .height_px = h,
                        .fmt = {(uint8_t)channels, (uint8_t)bits},
                        .bitonal = bitonal,
                        .quality = quality,
                        .compression = how};
    size_t samples = (size_t)w * h * channels;
    uint8_t *px, *got = calloc(samples, bits / 8), *before = malloc(samples * bits / 8);
    tg_buf out = {0};
    TIFF *tif;

    s.dpi_x = s.dpi_y = bits == 16 ? 300 : 0;
    px = paint(&s);
    memcpy(before, px, samples * bits / 8);
    encode_behind(&s, px, &out);
    CHECK(memcmp(before, px, samples * bits / 8) == 0); /* the predictor works on copies */
    tif = TIFFFdOpen(file_of(&out), "picture", "rc");   /* c: strips as they are */
    CHECK(tif);
    if (tif) {
        check_tiff_tags(tif, &s, compression);
        read_tiff(tif, &s, got);
        CHECK_ROW(__LINE__, noise(px, got, samples, bits) <= most,
                  "compression %d, %u channels of %u bit: noise %f", how, channels, bits,
                  noise(px, got, samples, bits));
        TIFFClose(tif);
    }
    tg_buf_free(&out);
    free(before);
    free(px);
    free(got);
}

static void test_tiff(void)
{
    static const unsigned exact[][2] = {{TG_TIFF_NONE, COMPRESSION_NONE},
                                        {TG_TIFF_LZW, COMPRESSION_LZW},
                                        {TG_TIFF_DEFLATE, COMPRESSION_ADOBE_DEFLATE},
                                        {TG_TIFF_ZSTD, COMPRESSION_ZSTD}};

    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        unsigned how = exact[i][0], compression = exact[i][1];

        if (!TIFFIsCODECConfigured((uint16_t)compression))
            compression = COMPRESSION_ADOBE_DEFLATE;
        for (unsigned channels = 1; channels <= 4; channels++) {
            check_tiff(101, 67, channels, 8, false, how, 1, compression, 0);
            check_tiff(101, 67, channels, 16, false, how, 100, compression, 0);
        }
        check_tiff(1, 1, 3, 8, false, how, 0, compression, 0);
        check_tiff(701, 1203, 3, 8, false, how, 1, compression, 0); /* several strips */
        check_tiff(101, 67, 1, 8, true, how, 1, compression, 0);
        check_tiff(8, 5000, 1, 8, true, how, 1, compression, 0);
    }
    check_tiff(700, 500, 3, 8, false, TG_TIFF_JPEG, 90, COMPRESSION_JPEG, .01);
    check_tiff(701, 503, 1, 8, false, TG_TIFF_JPEG, 90, COMPRESSION_JPEG, .01);
    /* What these two cannot hold. */
    check_tiff(101, 67, 4, 8, false, TG_TIFF_JPEG, 90, COMPRESSION_ADOBE_DEFLATE, 0);
    check_tiff(101, 67, 3, 16, false, TG_TIFF_JPEG, 90, COMPRESSION_ADOBE_DEFLATE, 0);
    check_tiff(101, 67, 1, 8, true, TG_TIFF_JPEG, 90, COMPRESSION_ADOBE_DEFLATE, 0);
    check_tiff(101, 67, 1, 8, false, TG_TIFF_WEBP, 90, COMPRESSION_ADOBE_DEFLATE, 0);
    if (TIFFIsCODECConfigured(COMPRESSION_WEBP))
        for (unsigned channels = 3; channels <= 4; channels++)
            check_tiff(301, 503, channels, 8, false, TG_TIFF_WEBP, 80, COMPRESSION_WEBP, .03);
}

/* ---- PDF ---- */

/* The text behind the key, which has to be there. */
static const char *behind(const char *pdf, size_t n, const char *key)
{
    const char *at = memmem(pdf, n, key, strlen(key));

    CHECK_ROW(__LINE__, at, "no %s", key);
    return at ? at + strlen(key) : "";
}

/* ISO 32000-1, 7.5.4 and 7.5.5: every offset leads to its object. */
static void check_xref(const char *pdf, size_t n)
{
    const char *at = pdf + n - 40;
    size_t table = strtoul(behind(at, 40, "startxref\n"), NULL, 10);
    int objects = 0, read = 0;

    CHECK(memcmp(pdf, "%PDF-1.", 7) == 0 && memcmp(pdf + n - 6, "%%EOF\n", 6) == 0);
    CHECK(table < n && sscanf(pdf + table, "xref\n0 %d\n%n", &objects, &read) == 1 && read > 0);
    CHECK_INT(objects, 7);
    for (int i = 0; i < objects; i++) {
        const char *entry = pdf + table + read + 20 * i;
        size_t offset = strtoul(entry, NULL, 10);
        char want[24];

        CHECK(entry[19] == '\n' && entry[18] == ' ' && entry[17] == (i ? 'n' : 'f'));
        snprintf(want, sizeof want, "%d 0 obj\n", i);
        CHECK(i == 0 || (offset < n && memcmp(pdf + offset, want, strlen(want)) == 0));
    }
}

static void check_pdf_picture(const uint8_t *jpeg, size_t n, const tg_encode_spec *s,
                              const uint8_t *px)
{
    size_t stride = (size_t)s->width_px * s->fmt.channels;
    uint8_t *got = calloc(s->height_px, stride);
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;

    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, jpeg, n);
    jpeg_read_header(&cinfo, TRUE);
    jpeg_start_decompress(&cinfo);
    CHECK(cinfo.output_width == s->width_px && cinfo.output_height == s->height_px);
    CHECK_INT(cinfo.output_components, s->fmt.channels);
    while (cinfo.output_scanline < s->height_px) {
        JSAMPROW row = got + cinfo.output_scanline * stride;
        jpeg_read_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_decompress(&cinfo);
    CHECK_INT(errors.num_warnings, 0);
    CHECK(cinfo.src->bytes_in_buffer == 0);
    jpeg_destroy_decompress(&cinfo);
    CHECK(noise(px, got, s->height_px * stride, 8) <= .012);
    free(got);
}

static void check_pdf(uint32_t w, uint32_t h, unsigned channels, double dpi_x, double dpi_y,
                      const char *box)
{
    tg_encode_spec s = {.format = TG_FORMAT_PDF,
                        .width_px = w,
                        .height_px = h,
                        .fmt = {(uint8_t)channels, 8},
                        .quality = 90,
                        .dpi_x = dpi_x,
                        .dpi_y = dpi_y};
    uint8_t *px = paint(&s);
    tg_buf out = {0};
    const char *pdf, *stream;
    size_t n, length;

    encode_behind(&s, px, &out);
    pdf = (const char *)out.data + 4;
    n = out.len - 4;
    check_xref(pdf, n);
    behind(pdf, n, box);
    behind(pdf, n, channels == 1 ? "/ColorSpace /DeviceGray /" : "/ColorSpace /DeviceRGB /");
    behind(pdf, n, "/Filter /DCTDecode /Length 6 0 R >>\nstream\n");
    length = strtoul(behind(pdf, n, "\n6 0 obj\n"), NULL, 10);
    stream = behind(pdf, n, "6 0 R >>\nstream\n");
    CHECK(memcmp(stream + length, "\nendstream\n", 11) == 0);
    check_pdf_picture((const uint8_t *)stream, length, &s, px);
    tg_buf_free(&out);
    free(px);
}

static void test_pdf(void)
{
    check_pdf(600, 450, 3, 300, 300, "/MediaBox [0 0 144.0000 108.0000]");
    check_pdf(600, 450, 1, 300, 150, "/MediaBox [0 0 144.0000 216.0000]");
    check_pdf(101, 67, 3, 0, 0, "/MediaBox [0 0 101.0000 67.0000]");
    check_pdf(20000, 10, 1, 0, 0, "/MediaBox [0 0 14400.0000 7.2000]");
}

/* ---- JPEG 2000 ---- */

static opj_image_t *read_jp2(const tg_buf *out, unsigned *tiles)
{
    char path[64];
    int fd = file_of(out);
    opj_codec_t *codec = opj_create_decompress(OPJ_CODEC_JP2);
    opj_dparameters_t parameters;
    opj_codestream_info_v2_t *info;
    opj_image_t *image = NULL;
    opj_stream_t *stream;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    stream = opj_stream_create_default_file_stream(path, OPJ_TRUE);
    opj_set_default_decoder_parameters(&parameters);
    CHECK(stream && opj_setup_decoder(codec, &parameters));
    CHECK(opj_decoder_set_strict_mode(codec, OPJ_TRUE));
    CHECK(opj_read_header(stream, codec, &image) && opj_decode(codec, stream, image) &&
          opj_end_decompress(codec, stream));
    info = opj_get_cstr_info(codec);
    *tiles = info->tw * info->th;
    opj_destroy_cstr_info(&info);
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    close(fd);
    return image;
}

static void check_jp2(uint32_t w, uint32_t h, unsigned channels, unsigned bits, unsigned tiles)
{
    tg_encode_spec s = {.format = TG_FORMAT_JP2,
                        .width_px = w,
                        .height_px = h,
                        .fmt = {(uint8_t)channels, (uint8_t)bits},
                        .quality = 75};
    uint8_t *px = paint(&s);
    tg_buf out = {0};
    unsigned got_tiles = 0;
    double sum = 0, max = bits == 8 ? 255 : 65535;
    opj_image_t *image;

    encode_behind(&s, px, &out);
    image = read_jp2(&out, &got_tiles);
    CHECK(image && image->numcomps == channels);
    CHECK_INT(got_tiles, tiles);
    CHECK_INT(image->color_space, channels < 3 ? OPJ_CLRSPC_GRAY : OPJ_CLRSPC_SRGB);
    for (unsigned c = 0; image && c < channels; c++) {
        const opj_image_comp_t *comp = &image->comps[c];

        CHECK(comp->w == w && comp->h == h && comp->prec == bits && !comp->sgnd);
        CHECK_INT(comp->alpha, channels % 2 == 0 && c == channels - 1);
        for (size_t i = 0; i < (size_t)w * h; i++) {
            double off = (comp->data[i] - (double)sample(px, i * channels + c, bits)) / max;
            sum += off * off;
        }
    }
    sum = sqrt(sum / ((double)w * h * channels)); /* 40 and 64 dB; asked for are 5 dB more */
    CHECK_ROW(__LINE__, sum <= (bits == 8 ? .01 : .01 / 16),
              "jp2 %ux%u, %u channels of %u bit: noise %f", w, h, channels, bits, sum);
    opj_image_destroy(image);
    tg_buf_free(&out);
    free(px);
}

static void test_jp2(void)
{
    for (unsigned channels = 1; channels <= 4; channels++) {
        check_jp2(101, 67, channels, 8, 1);
        check_jp2(300, 200, channels, 16, 1);
        check_jp2(1025, 1100, channels, 8, 4); /* last tiles of one column, and of some rows */
    }
    check_jp2(1, 1, 3, 8, 1);
    check_jp2(2100, 3, 3, 16, 3);
    check_jp2(1024, 1024, 1, 8, 1);
}

/* ---- GIF ---- */

#ifdef HAVE_GIF
static GifFileType *read_gif(const tg_buf *out)
{
    GifFileType *gif = DGifOpenFileHandle(file_of(out), NULL);

    CHECK(gif && DGifSlurp(gif) == GIF_OK && gif->ImageCount == 1);
    CHECK(out->len > 10 && memcmp(out->data + 4, "GIF89a", 6) == 0);
    return gif;
}

/* Pixel i as it is shown, channels as in the picture that went in. */
static void gif_pixel(GifFileType *gif, size_t i, unsigned channels, uint8_t *to)
{
    GraphicsControlBlock control = {.TransparentColor = NO_TRANSPARENT_COLOR};
    int index = gif->SavedImages[0].RasterBits[i];
    GifColorType colour = gif->SColorMap->Colors[index];

    DGifSavedExtensionToGCB(gif, 0, &control);
    to[0] = colour.Red;
    if (channels >= 3) {
        to[1] = colour.Green;
        to[2] = colour.Blue;
    }
    if (channels % 2 == 0)
        to[channels - 1] = index == control.TransparentColor ? 0 : 255;
    else
        CHECK_INT(control.TransparentColor, NO_TRANSPARENT_COLOR);
}

/* Encodes px (8 bit) and returns what is shown. */
static uint8_t *through_gif(uint32_t w, uint32_t h, unsigned channels, const uint8_t *px)
{
    tg_encode_spec s = {
        .format = TG_FORMAT_GIF, .width_px = w, .height_px = h, .fmt = {(uint8_t)channels, 8}};
    uint8_t *got = calloc((size_t)w * h, channels);
    tg_buf out = {0};
    GifFileType *gif;

    encode_behind(&s, px, &out);
    gif = read_gif(&out);
    CHECK(gif->SWidth == (int)w && gif->SHeight == (int)h);
    for (size_t i = 0; i < (size_t)w * h; i++)
        gif_pixel(gif, i, channels, got + i * channels);
    DGifCloseFile(gif, NULL);
    tg_buf_free(&out);
    return got;
}

/* `colours` different ones, all over the cube. */
static void check_gif_exact(unsigned colours, bool holes)
{
    enum { W = 91, H = 53 };
    unsigned channels = holes ? 4 : 3;
    uint8_t *px = malloc(W * H * channels), *got;

    for (unsigned i = 0; i < W * H; i++) {
        unsigned k = i * 7 % colours;
        uint8_t *p = px + i * channels;

        p[0] = (uint8_t)k;
        p[1] = (uint8_t)(k * 97);
        p[2] = (uint8_t)(255 - k);
        if (holes) {
            p[3] = i % 5 ? 255 : 0;
            memset(p, 0, i % 5 ? 0 : 3);
        }
    }
    got = through_gif(W, H, channels, px);
    for (unsigned i = 0; i < W * H; i++)
        if (!holes || i % 5)
            CHECK_ROW(__LINE__, memcmp(px + i * channels, got + i * channels, channels) == 0,
                      "%u colours, pixel %u", colours, i);
        else
            CHECK_INT(got[i * channels + 3], 0);
    free(got);
    free(px);
}

/* A picture of many colours, which lie on a sheet and so are 16 by 16 steps of 16: the mean over 8
 * x 8 pixels, what the eye sees, is off by at most half a step, and that only where no colour lies
 * on the other side to make up for it. */
static void check_gif_dithered(unsigned channels, double most)
{
    tg_encode_spec s = {.width_px = 320, .height_px = 240, .fmt = {(uint8_t)channels, 8}};
    uint8_t *px = paint(&s), *got = through_gif(320, 240, channels, px);
    size_t stride = 320 * channels;
    double worst = 0, sum = 0;

    for (size_t y = 0; y < 240; y += 8)
        for (size_t x = 0; x < stride; x += 8 * channels)
            for (unsigned c = 0; c < (channels == 4 ? 3 : channels); c++) {
                double block = 0;
                bool seen = channels != 4 || px[y * stride + x + 3] >= 128;

                for (size_t i = 0; i < 64 && seen; i++) {
                    size_t at = (y + i / 8) * stride + x + i % 8 * channels + c;
                    block += px[at] - got[at];
                    sum += (px[at] - got[at]) * (px[at] - got[at]);
                }
                worst = fmax(worst, fabs(block / 64));
            }
    sum = sqrt(sum / (320 * 240 * 3));
    CHECK_ROW(__LINE__, worst <= 8 && sum <= most, "%u channels: block %f, noise %f", channels,
              worst, sum);
    for (size_t i = 3; channels == 4 && i < 240 * stride; i += 4)
        CHECK(got[i] == (px[i] >= 128 ? 255 : 0));
    free(got);
    free(px);
}

static void test_gif(void)
{
    uint8_t gray[256], clear[2 * 9] = {0}, *got;

    for (int i = 0; i < 256; i++)
        gray[i] = (uint8_t)i;
    got = through_gif(16, 16, 1, gray);
    CHECK(memcmp(gray, got, sizeof gray) == 0);
    free(got);
    got = through_gif(3, 3, 2, clear); /* nothing to see at all */
    CHECK(memcmp(clear, got, sizeof clear) == 0);
    free(got);
    check_gif_exact(1, false);
    check_gif_exact(2, true);
    check_gif_exact(255, true);
    check_gif_exact(256, false);
    check_gif_dithered(3, 9);
    check_gif_dithered(4, 9);
}
#else
static void test_gif(void)
{
    tg_encode_spec s = {.format = TG_FORMAT_GIF, .width_px = 9, .height_px = 9, .fmt = {3, 8}};
    tg_buf out = {0};
    tg_err err = {0};
    CHECK(!tg_format_available(TG_FORMAT_GIF) && !tg_encoder_new(&s, &out, &err));
    CHECK_INT(err.kind, TG_ERR_NOT_IMPLEMENTED);
}
#endif

/* ---- refusals ---- */

static void test_refusals(void)
{
    static const uint8_t rows[3000 * 3];
    static const tg_format formats[] = {TG_FORMAT_TIFF, TG_FORMAT_PDF, TG_FORMAT_JP2,
                                        TG_FORMAT_GIF};

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        tg_encode_spec s = {
            .format = formats[i], .width_px = 3000, .height_px = 2, .fmt = {3, 8}, .quality = 75};
        tg_buf out = {.max = 30}; /* the buffer's ceiling */
        tg_err err = {0};
        tg_encoder *e;

        if (!tg_format_available(s.format))
            continue;
        e = tg_encoder_new(&s, &out, &err);
        CHECK(!e || !tg_encoder_rows(e, rows, 0, 2, &err) || !tg_encoder_finish(e, &err));
        CHECK_ROW(__LINE__, err.kind == TG_ERR_TOO_LARGE, "%s: %s %s",
                  tg_formats[s.format].extension, err.msg, err.detail);
        tg_encoder_free(e);
        tg_buf_free(&out);

        err = (tg_err){0};
        out.max = 0;
        e = tg_encoder_new(&s, &out, &err); /* given up half-way */
        CHECK(e && tg_encoder_rows(e, rows, 0, 1, &err) && !tg_encoder_finish(e, &err));
        tg_encoder_free(e);
        tg_buf_free(&out);
    }
}

int main(void)
{
    test_tiff();
    test_pdf();
    test_jp2();
    test_gif();
    test_refusals();
    return check_done();
}
