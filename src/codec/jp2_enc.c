/* JPEG 2000 output by OpenJPEG: lossy, 9/7 wavelet, tile by tile, so that what is held at once does
 * not grow with the picture's height. */
#include <openjpeg.h>

#include <stdio.h>
#include <string.h>

#include "encoder_ops.h"
#include "jp2_embed.h"
#include "out_stream.h"
#include "tegula/mem.h"
#include "tegula/num.h"

#define TILE_PX        1024
#define MAX_CHANNELS   4
#define LEVELS         6 /* resolutions: the full one and five halvings */
#define STREAM_BYTES   ((size_t)256 << 10)
#define OPENJPEG_BYTES 8 /* what it holds of a sample of a tile: coefficients, coded blocks */

typedef struct jp2_encoder {
    tg_encoder base;
    tg_out_stream out;
    opj_codec_t *codec;
    opj_image_t *image; /* its form, no pixels */
    opj_stream_t *stream;
    char text[256]; /* OpenJPEG's last complaint */
    uint8_t *band;  /* rows of one row of tiles, as they come */
    uint8_t *tile;  /* one tile, plane after plane */
    uint32_t held_rows;
} jp2_encoder;

/* ---- OpenJPEG's file ---- */

static OPJ_SIZE_T on_write(void *data, OPJ_SIZE_T n, void *user)
{
    return tg_out_stream_write(user, data, n) ? n : (OPJ_SIZE_T)-1;
}

static OPJ_OFF_T on_skip(OPJ_OFF_T n, void *user)
{
    tg_out_stream *s = user;

    if (n < 0)
        return -1;
    s->at += (uint64_t)n;
    return n;
}

static OPJ_BOOL on_seek(OPJ_OFF_T to, void *user)
{
    tg_out_stream *s = user;

    if (to < 0)
        return OPJ_FALSE;
    s->at = (uint64_t)to;
    return OPJ_TRUE;
}

static void on_error(const char *text, void *user)
{
    jp2_encoder *j = user;

    snprintf(j->text, sizeof j->text, "%s", text);
    j->text[strcspn(j->text, "\n")] = '\0';
}

static void on_message(const char *text, void *user)
{
    (void)text;
    (void)user;
}

static bool fail(jp2_encoder *j, tg_err *err)
{
    if (j->base.out->failed)
        return tg_fail(err, TG_ERR_TOO_LARGE, "the encoded image is too large");
    tg_fail(err, TG_ERR_INTERNAL, "the image cannot be written as JPEG 2000");
    return tg_fail_detail(err, "OpenJPEG: %s", j->text);
}

/* ---- set-up ---- */

static uint32_t tile_side(uint32_t image_px)
{
    return TG_MIN(image_px, (uint32_t)TILE_PX);
}

static size_t tile_bytes(const tg_encode_spec *spec)
{
    return (size_t)tile_side(spec->width_px) * tile_side(spec->height_px) *
           tg_pixfmt_bytes(spec->fmt);
}

static uint64_t jp2_cost_bytes(const tg_encode_spec *spec)
{
    uint64_t band = (uint64_t)tile_side(spec->height_px) * spec->width_px;
    uint64_t samples = tile_bytes(spec) / (spec->fmt.bits / 8);

    return band * tg_pixfmt_bytes(spec->fmt) + tile_bytes(spec) + samples * OPENJPEG_BYTES;
}

/* As many halvings as leave a pixel of the shorter side. */
static int resolutions(const tg_encode_spec *spec)
{
    uint32_t side = tile_side(TG_MIN(spec->width_px, spec->height_px));
    int n = 1;

    while (n < LEVELS && side >> n)
        n++;
    return n;
}

/* A ratio of signal to noise, and not one of sizes: sizes starve small and busy tiles and waste
 * bytes on flat ones. 30 dB shows everywhere, 50 dB is beyond what the eye sees. Who asks for 16
 * bit wants to work with them: four bits more. */
static float decibels(const tg_encode_spec *spec)
{
    return 30 + (float)TG_MAX(1, TG_MIN(spec->quality, 100)) / 5 + (spec->fmt.bits == 16 ? 24 : 0);
}

static void set_parameters(opj_cparameters_t *p, const tg_encode_spec *spec)
{
    opj_set_default_encoder_parameters(p);
    p->tile_size_on = OPJ_TRUE;
    p->cp_tdx = (int)tile_side(spec->width_px);
    p->cp_tdy = (int)tile_side(spec->height_px);
    p->numresolution = resolutions(spec);
    p->irreversible = 1;
    p->tcp_numlayers = 1;
    p->cp_fixed_quality = 1;
    p->tcp_distoratio[0] = decibels(spec);
    p->tcp_mct = spec->fmt.channels >= 3;
}

static opj_image_t *describe(const tg_encode_spec *spec)
{
    opj_image_cmptparm_t component[MAX_CHANNELS];
    opj_image_t *image;

    for (int c = 0; c < MAX_CHANNELS; c++)
        component[c] = (opj_image_cmptparm_t){.dx = 1,
                                              .dy = 1,
                                              .w = spec->width_px,
                                              .h = spec->height_px,
                                              .prec = spec->fmt.bits,
                                              .bpp = spec->fmt.bits};
    image = opj_image_tile_create(spec->fmt.channels, component,
                                  spec->fmt.channels >= 3 ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_GRAY);
    if (!image)
        return NULL;
    image->x1 = spec->width_px;
    image->y1 = spec->height_px;
    if (tg_pixfmt_alpha(spec->fmt))
        image->comps[spec->fmt.channels - 1].alpha = 1; /* becomes a channel definition box */
    return image;
}

static bool open_stream(jp2_encoder *j)
{
    j->out = tg_out_stream_at_end(j->base.out);
    j->stream = opj_stream_create(STREAM_BYTES, OPJ_FALSE);
    if (!j->stream)
        return false;
    opj_stream_set_user_data(j->stream, &j->out, NULL);
    opj_stream_set_write_function(j->stream, on_write);
    opj_stream_set_skip_function(j->stream, on_skip);
    opj_stream_set_seek_function(j->stream, on_seek);
    return true;
}

static bool jp2_begin(tg_encoder *e, tg_err *err)
{
    jp2_encoder *j = (jp2_encoder *)e;
    size_t row_bytes = e->spec.width_px * tg_pixfmt_bytes(e->spec.fmt);
    opj_cparameters_t parameters;

    j->band = tg_image_alloc(tile_side(e->spec.height_px), row_bytes, err);
    j->tile = j->band ? tg_image_alloc(tile_bytes(&e->spec), 1, err) : NULL;
    if (!j->tile)
        return false;
    j->codec = opj_create_compress(OPJ_CODEC_JP2);
    j->image = describe(&e->spec);
    if (!j->codec || !j->image || !open_stream(j))
        return tg_fail(err, TG_ERR_BUSY, "out of memory");
    opj_set_error_handler(j->codec, on_error, j);
    opj_set_warning_handler(j->codec, on_message, NULL);
    opj_set_info_handler(j->codec, on_message, NULL);
    set_parameters(&parameters, &e->spec);
    return (opj_setup_encoder(j->codec, &parameters, j->image) &&
            opj_start_compress(j->codec, j->image, j->stream)) ||
           fail(j, err);
}

/* ---- tiles ---- */

static void split_8(uint8_t *plane, const uint8_t *row, uint32_t n, unsigned channels)
{
    for (uint32_t i = 0; i < n; i++)
        plane[i] = row[i * channels];
}

static void split_16(uint16_t *plane, const uint16_t *row, uint32_t n, unsigned channels)
{
    for (uint32_t i = 0; i < n; i++)
        plane[i] = row[i * channels];
}

/* Pixels [x, x + w) of the band's rows, plane after plane. */
static void split_tile(jp2_encoder *j, uint32_t x, uint32_t w)
{
    tg_pixfmt fmt = j->base.spec.fmt;
    size_t sample = fmt.bits / 8, pixel = tg_pixfmt_bytes(fmt);
    size_t stride = j->base.spec.width_px * pixel;
    uint8_t *to = j->tile;

    for (unsigned c = 0; c < fmt.channels; c++)
        for (uint32_t y = 0; y < j->held_rows; y++, to += w * sample) {
            const uint8_t *from = j->band + y * stride + x * pixel + c * sample;

            if (fmt.bits == 8)
                split_8(to, from, w, fmt.channels);
            else
                split_16((uint16_t *)(void *)to, (const uint16_t *)(const void *)from, w,
                         fmt.channels);
        }
}

static bool write_band(jp2_encoder *j, uint32_t last_row, tg_err *err)
{
    uint32_t width_px = j->base.spec.width_px, side = tile_side(width_px);
    uint32_t across = tg_ceil_div_u32(width_px, side);
    uint32_t first = last_row / tile_side(j->base.spec.height_px) * across;

    for (uint32_t i = 0; i < across; i++) {
        uint32_t w = TG_MIN(side, width_px - i * side);
        size_t n = (size_t)w * j->held_rows * tg_pixfmt_bytes(j->base.spec.fmt);

        split_tile(j, i * side, w);
        if (!opj_write_tile(j->codec, first + i, j->tile, (OPJ_UINT32)n, j->stream))
            return fail(j, err);
    }
    j->held_rows = 0;
    return true;
}

static bool jp2_rows(tg_encoder *e, const uint8_t *rows, size_t stride, uint32_t n, tg_err *err)
{
    jp2_encoder *j = (jp2_encoder *)e;
    size_t row_bytes = e->spec.width_px * tg_pixfmt_bytes(e->spec.fmt);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = e->rows_done + i;

        memcpy(j->band + j->held_rows++ * row_bytes, rows + i * stride, row_bytes);
        if ((j->held_rows == tile_side(e->spec.height_px) || row + 1 == e->spec.height_px) &&
            !write_band(j, row, err))
            return false;
    }
    return true;
}

static bool jp2_finish(tg_encoder *e, tg_err *err)
{
    jp2_encoder *j = (jp2_encoder *)e;

    if (!opj_end_compress(j->codec, j->stream))
        return fail(j, err);
    tg_jp2_embed(e->out, j->out.start, &e->spec);
    return true;
}

static void jp2_end(tg_encoder *e)
{
    jp2_encoder *j = (jp2_encoder *)e;

    if (j->stream)
        opj_stream_destroy(j->stream);
    if (j->codec)
        opj_destroy_codec(j->codec);
    if (j->image)
        opj_image_destroy(j->image);
    tg_image_free(j->band);
    tg_image_free(j->tile);
}

const tg_encoder_ops tg_jp2_encoder_ops = {
    sizeof(jp2_encoder), jp2_begin, jp2_rows, jp2_finish, jp2_end, jp2_cost_bytes, NULL,
};
