/* AVIF output by libavif: 8 bit, colour as 4:2:0 (4:4:4 without loss), gray as monochrome, alpha
 * exact. The planes are filled as rows come; libavif needs them all at once. */
#ifdef HAVE_AVIF
#include <avif/avif.h>

#include <string.h>

#include "embed.h"
#include "encoder_ops.h"
#include "tegula/mem.h"
#include "tegula/num.h"

enum { ALPHA = 3, PLANES }; /* behind Y, U and V */

typedef struct avif_encoder {
    tg_encoder base;
    avifImage *image;      /* its planes, profile and packets are not its own: see release() */
    uint16_t *chroma_sums; /* R, G and B of 2 by 2 pixels, for one row of chroma */
    uint8_t *plane[PLANES];
    tg_buf exif;
} avif_encoder;

/* Measured with libaom 3.6 on a photograph, quality 50, one core: speed 8 takes 18 ms for a tile of
 * 256 px and 175 ms for 1024 px, 9 takes 4.2 and 44 ms for the same number of bytes, as does 10; 6
 * takes 38 and 462 ms for no less. WebP takes 3.0 ms for that tile, and 10 % more bytes. */
#define SPEED           9 /* 0 small .. 10 fast */
#define WORST_QUANTIZER 63

/* As seen from 1 to 9 million pixels. */
#define FIXED_BYTES        ((uint64_t)8 << 20)
#define LOSSY_BYTES_PER_PX 18
#define EXACT_BYTES_PER_PX 38

static bool is_colour(const tg_encode_spec *spec)
{
    return spec->fmt.channels >= 3;
}

static bool is_lossless(const tg_encode_spec *spec)
{
    return spec->quality < 0;
}

static avifPixelFormat layout_of(const tg_encode_spec *spec)
{
    if (!is_colour(spec))
        return AVIF_PIXEL_FORMAT_YUV400;
    return is_lossless(spec) ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420;
}

/* ---- planes ---- */

static bool add_plane(avif_encoder *a, int which, uint32_t w, uint32_t h, tg_err *err)
{
    a->plane[which] = tg_image_alloc((size_t)w * h, 1, err);
    if (!a->plane[which])
        return false;
    if (which == ALPHA) {
        a->image->alphaPlane = a->plane[ALPHA];
        a->image->alphaRowBytes = w;
    } else {
        a->image->yuvPlanes[which] = a->plane[which];
        a->image->yuvRowBytes[which] = w;
    }
    return true;
}

/* Not by libavif, which aborts where memory ends. */
static bool add_planes(avif_encoder *a, tg_err *err)
{
    const tg_encode_spec *spec = &a->base.spec;
    bool half = layout_of(spec) == AVIF_PIXEL_FORMAT_YUV420;
    uint32_t w = spec->width_px, h = spec->height_px;
    uint32_t chroma_w = half ? w - w / 2 : w, chroma_h = half ? h - h / 2 : h;

    if (!add_plane(a, 0, w, h, err) ||
        (tg_pixfmt_alpha(spec->fmt) && !add_plane(a, ALPHA, w, h, err)))
        return false;
    for (int i = 1; i < 3 && is_colour(spec); i++)
        if (!add_plane(a, i, chroma_w, chroma_h, err))
            return false;
    if (!half)
        return true;
    a->chroma_sums = tg_image_alloc((size_t)chroma_w * 3, sizeof *a->chroma_sums, err);
    if (a->chroma_sums)
        memset(a->chroma_sums, 0, (size_t)chroma_w * 3 * sizeof *a->chroma_sums);
    return a->chroma_sums != NULL;
}

static void channel_row(uint8_t *dst, const uint8_t *row, uint32_t n, unsigned channels)
{
    for (uint32_t i = 0; i < n; i++)
        dst[i] = row[(size_t)i * channels];
}

/* The matrix of H.273 table 4, value 6 (BT.601), full range, in 1/65536. */
static void luma_row(uint8_t *dst, const uint8_t *row, uint32_t n, unsigned channels)
{
    for (uint32_t i = 0; i < n; i++, row += channels)
        dst[i] = (uint8_t)((19595 * row[0] + 38470 * row[1] + 7471 * row[2] + 32768) >> 16);
}

/* The last column of an odd width counts twice. */
static void add_sums(uint16_t *sums, const uint8_t *row, uint32_t n, unsigned channels)
{
    for (uint32_t i = 0; i < n; i += 2, sums += 3, row += (size_t)2 * channels) {
        const uint8_t *right = i + 1 < n ? row + channels : row;

        for (int c = 0; c < 3; c++)
            sums[c] = (uint16_t)(sums[c] + row[c] + right[c]);
    }
}

/* weight: of the sums, so that they are of 4 pixels. 128 and the rounding are in units of 1/2^18;
 * full blue or red would reach 256. */
static void chroma_row(uint8_t *u, uint8_t *v, uint16_t *sums, uint32_t n, int weight)
{
    const int middle = (128 << 18) + (1 << 17) - 1;

    for (uint32_t i = 0; i < n; i++, sums += 3) {
        int r = sums[0] * weight, g = sums[1] * weight, b = sums[2] * weight;

        u[i] = (uint8_t)TG_MIN((middle - 11058 * r - 21710 * g + 32768 * b) >> 18, 255);
        v[i] = (uint8_t)TG_MIN((middle + 32768 * r - 27439 * g - 5329 * b) >> 18, 255);
    }
}

static void lossy_row(avif_encoder *a, const uint8_t *row, uint32_t y)
{
    const tg_encode_spec *spec = &a->base.spec;
    uint32_t w = spec->width_px, chroma_w = w - w / 2;
    size_t at = (size_t)(y / 2) * chroma_w;
    bool odd = y % 2, last = y + 1 == spec->height_px;

    luma_row(a->plane[0] + (size_t)y * w, row, w, spec->fmt.channels);
    add_sums(a->chroma_sums, row, w, spec->fmt.channels);
    if (!odd && !last)
        return;
    chroma_row(a->plane[1] + at, a->plane[2] + at, a->chroma_sums, chroma_w, odd ? 1 : 2);
    memset(a->chroma_sums, 0, (size_t)chroma_w * 3 * sizeof *a->chroma_sums);
}

/* H.273, matrix 0: G, B and R are Y, U and V. */
static void exact_row(avif_encoder *a, const uint8_t *row, uint32_t y)
{
    static const int channel_of[] = {1, 2, 0};
    uint32_t w = a->base.spec.width_px;

    for (int i = 0; i < 3; i++)
        channel_row(a->plane[i] + (size_t)y * w, row + channel_of[i], w, a->base.spec.fmt.channels);
}

static bool avif_rows(tg_encoder *e, const uint8_t *rows, size_t stride, uint32_t n, tg_err *err)
{
    avif_encoder *a = (avif_encoder *)e;
    unsigned channels = e->spec.fmt.channels;
    uint32_t w = e->spec.width_px;

    (void)err;
    for (uint32_t i = 0; i < n; i++, rows += stride) {
        uint32_t y = e->rows_done + i;

        if (!is_colour(&e->spec))
            channel_row(a->plane[0] + (size_t)y * w, rows, w, channels);
        else if (is_lossless(&e->spec))
            exact_row(a, rows, y);
        else
            lossy_row(a, rows, y);
        if (a->plane[ALPHA])
            channel_row(a->plane[ALPHA] + (size_t)y * w, rows + channels - 1, w, channels);
    }
    return true;
}

/* ---- libavif ---- */

/* libavif only reads what image holds. */
static avifRWData borrowed(tg_str s)
{
    return (avifRWData){(uint8_t *)s.p, s.n};
}

/* Without a profile the colours are sRGB; with one, the numbers that could tell otherwise are left
 * unspecified. */
static void describe(avif_encoder *a)
{
    const tg_encode_spec *spec = &a->base.spec;
    bool icc = spec->embed.icc.n > 0;
    avifImage *image = a->image;

    image->yuvRange = AVIF_RANGE_FULL;
    image->colorPrimaries = icc ? AVIF_COLOR_PRIMARIES_UNSPECIFIED : AVIF_COLOR_PRIMARIES_BT709;
    image->transferCharacteristics =
        icc ? AVIF_TRANSFER_CHARACTERISTICS_UNSPECIFIED : AVIF_TRANSFER_CHARACTERISTICS_SRGB;
    image->matrixCoefficients = is_colour(spec) && is_lossless(spec)
                                    ? AVIF_MATRIX_COEFFICIENTS_IDENTITY
                                    : AVIF_MATRIX_COEFFICIENTS_BT601;
    tg_embed_exif(&a->exif, spec);
    image->icc = borrowed(spec->embed.icc);
    image->xmp = borrowed(spec->embed.xmp);
    image->exif = borrowed(tg_buf_view(&a->exif));
}

static bool avif_begin(tg_encoder *e, tg_err *err)
{
    avif_encoder *a = (avif_encoder *)e;

    a->image = avifImageCreate(e->spec.width_px, e->spec.height_px, 8, layout_of(&e->spec));
    if (!a->image)
        return tg_fail(err, TG_ERR_BUSY, "out of memory");
    describe(a);
    return add_planes(a, err);
}

static int quantizer_of(int quality)
{
    return quality < 0 ? 0 : WORST_QUANTIZER - (WORST_QUANTIZER - 1) * TG_MIN(quality, 100) / 100;
}

/* aom alone codes monochrome, 4:4:4 and tiles of any size. */
#define CODER AVIF_CODEC_CHOICE_AOM

static const char *avif_lacks(void)
{
    return avifCodecName(CODER, AVIF_CODEC_FLAG_CAN_ENCODE) ? NULL : "libavif and aom";
}

static avifEncoder *new_encoder(const tg_encode_spec *spec)
{
    avifEncoder *encoder = avifEncoderCreate();

    if (!encoder)
        return NULL;
    encoder->codecChoice = CODER;
    encoder->maxThreads = 1;
    encoder->speed = SPEED;
    encoder->minQuantizer = encoder->maxQuantizer = quantizer_of(spec->quality);
    encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = AVIF_QUANTIZER_LOSSLESS;
    return encoder;
}

static bool avif_finish(tg_encoder *e, tg_err *err)
{
    avif_encoder *a = (avif_encoder *)e;
    avifEncoder *encoder = new_encoder(&e->spec);
    avifRWData data = AVIF_DATA_EMPTY;
    avifResult result = AVIF_RESULT_OUT_OF_MEMORY;

    if (encoder)
        result = avifEncoderWrite(encoder, a->image, &data);
    if (result == AVIF_RESULT_OK)
        tg_buf_append(e->out, data.data, data.size);
    avifRWDataFree(&data);
    if (encoder)
        avifEncoderDestroy(encoder);
    if (result == AVIF_RESULT_OK)
        return true;
    if (result == AVIF_RESULT_OUT_OF_MEMORY)
        return tg_fail(err, TG_ERR_BUSY, "out of memory");
    tg_fail(err, TG_ERR_INTERNAL, "the image cannot be written as AVIF");
    return tg_fail_detail(err, "libavif: %s", avifResultToString(result));
}

static void release(avifImage *image)
{
    for (int i = 0; i < 3; i++)
        image->yuvPlanes[i] = NULL;
    image->alphaPlane = NULL;
    image->icc = image->xmp = image->exif = (avifRWData)AVIF_DATA_EMPTY;
    avifImageDestroy(image);
}

static void avif_end(tg_encoder *e)
{
    avif_encoder *a = (avif_encoder *)e;

    if (a->image)
        release(a->image);
    for (int i = 0; i < PLANES; i++)
        tg_image_free(a->plane[i]);
    tg_image_free(a->chroma_sums);
    tg_buf_free(&a->exif);
}

/* The planes, and what aom was seen to take besides them; alpha is a second picture, coded after
 * the first is done. */
static uint64_t avif_cost_bytes(const tg_encode_spec *spec)
{
    bool exact = is_lossless(spec) || tg_pixfmt_alpha(spec->fmt);

    return FIXED_BYTES + (uint64_t)spec->width_px * spec->height_px *
                             (exact ? EXACT_BYTES_PER_PX : LOSSY_BYTES_PER_PX);
}

const tg_encoder_ops tg_avif_encoder_ops = {
    sizeof(avif_encoder), avif_begin, avif_rows, avif_finish, avif_end, avif_cost_bytes, avif_lacks,
};
#endif
