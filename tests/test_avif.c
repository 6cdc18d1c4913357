/* AVIF, read back by libheif. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "encoding.h"

#if defined(HAVE_AVIF) && defined(HAVE_HEIF)
#include <libheif/heif.h>

typedef struct decoded {
    struct heif_context *file;
    struct heif_image_handle *handle;
    struct heif_image *image;
    const uint8_t *rgba;
    int stride;
} decoded;

static decoded decode(const uint8_t *p, size_t n)
{
    decoded d = {.file = heif_context_alloc()};
    struct heif_error e = heif_context_read_from_memory_without_copy(d.file, p, n, NULL);

    if (e.code == heif_error_Ok)
        e = heif_context_get_primary_image_handle(d.file, &d.handle);
    if (e.code == heif_error_Ok)
        e = heif_decode_image(d.handle, &d.image, heif_colorspace_RGB, heif_chroma_interleaved_RGBA,
                              NULL);
    CHECK_ROW(__LINE__, e.code == heif_error_Ok, "libheif: %s", e.message);
    if (d.image)
        d.rgba = heif_image_get_plane_readonly(d.image, heif_channel_interleaved, &d.stride);
    return d;
}

static void release(decoded *d)
{
    heif_image_release(d->image);
    heif_image_handle_release(d->handle);
    heif_context_free(d->file);
}

static tg_buf encoded(const tg_encode_spec *s, const uint8_t *px)
{
    tg_buf out = {0};
    tg_err err = {0};

    tg_buf_z(&out, "head");
    CHECK_ROW(__LINE__, encode(s, px, 7, &out, &err), "%s (%s)", err.msg, err.detail);
    CHECK(out.len > 4 && memcmp(out.data, "head", 4) == 0);
    return out;
}

/* Mean difference of the colours; alpha must be the same. */
static double difference(const decoded *d, const tg_encode_spec *s, const uint8_t *px)
{
    unsigned n = s->fmt.channels;
    double sum = 0;

    for (uint32_t y = 0; y < s->height_px; y++)
        for (uint32_t x = 0; x < s->width_px; x++, px += n) {
            const uint8_t *got = d->rgba + (size_t)y * (size_t)d->stride + 4 * (size_t)x;

            CHECK(got[3] == (n % 2 ? 255 : px[n - 1]));
            for (unsigned c = 0; c < 3; c++)
                sum += abs(got[c] - px[n < 3 ? 0 : c]);
        }
    return sum / (3.0 * s->width_px * s->height_px);
}

/* Bytes of the stream. */
static size_t check(int line, const tg_encode_spec *s, const uint8_t *px, double tolerance)
{
    tg_buf out = encoded(s, px);
    decoded d = decode(out.data + 4, out.len - 4);
    size_t bytes = out.len - 4;

    CHECK_INT(heif_image_handle_get_width(d.handle), s->width_px);
    CHECK_INT(heif_image_handle_get_height(d.handle), s->height_px);
    CHECK_INT(heif_image_handle_has_alpha_channel(d.handle), s->fmt.channels % 2 == 0);
    if (d.rgba) {
        double off = difference(&d, s, px);
        CHECK_ROW(line, off <= tolerance, "%ux%u, %u channels, quality %d: off by %g",
                  (unsigned)s->width_px, (unsigned)s->height_px, s->fmt.channels, s->quality, off);
    }
    release(&d);
    tg_buf_free(&out);
    return bytes;
}

static tg_encode_spec spec_of(uint32_t w, uint32_t h, unsigned channels, int quality)
{
    return (tg_encode_spec){.format = TG_FORMAT_AVIF,
                            .width_px = w,
                            .height_px = h,
                            .fmt = {(uint8_t)channels, 8},
                            .quality = quality};
}

static void test_sizes(void)
{
    static const uint32_t sizes[][2] = {{256, 256}, {101, 67}, {64, 3}, {2, 2}, {1, 1}, {1, 9}};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned channels = 1; channels <= 4; channels++) {
            tg_encode_spec s = spec_of(sizes[i][0], sizes[i][1], channels, -1);
            uint8_t *px = paint(&s);

            check(__LINE__, &s, px, 0);
            s.quality = 90;
            check(__LINE__, &s, px, sizes[i][0] > 2 ? 3 : 40); /* one chroma for 2 by 2 pixels */
            free(px);
        }
}

/* Noise has nothing that prediction could save. */
static void test_noise_without_loss(void)
{
    tg_encode_spec s = spec_of(200, 150, 4, -1);
    uint8_t *px = paint(&s);
    uint32_t seed = 1;

    for (size_t i = 0; i < 200 * 150 * 4; i++) {
        seed = seed * 1664525 + 1013904223;
        px[i] = (uint8_t)(seed >> 24);
    }
    check(__LINE__, &s, px, 0);
    free(px);
}

static void test_qualities(void)
{
    size_t before = 0;

    for (int quality = 0; quality <= 100; quality += 20) {
        tg_encode_spec s = spec_of(256, 200, 3, quality);
        uint8_t *px = paint(&s);

        for (size_t i = 0; i < 256 * 200 * 3; i++)
            px[i] = (uint8_t)(px[i] / 2 + (i * i / 7 % 97));
        size_t bytes = check(__LINE__, &s, px, 40);
        CHECK_ROW(__LINE__, bytes > before, "quality %d: %zu bytes", quality, bytes);
        before = bytes;
        free(px);
    }
}

/* The colours of BT.601 that reach the ends of their range. */
static void test_pure_colours(void)
{
    static const uint8_t colours[][3] = {{255, 0, 0},   {0, 255, 0},  {0, 0, 255},
                                         {255, 255, 0}, {0, 0, 0},    {255, 255, 255},
                                         {255, 0, 255}, {0, 255, 255}};

    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++) {
        tg_encode_spec s = spec_of(33, 17, 3, 100);
        uint8_t *px = paint(&s);

        for (size_t k = 0; k < 33 * 17; k++)
            memcpy(px + 3 * k, colours[i], 3);
        check(__LINE__, &s, px, 2);
        free(px);
    }
}

static void test_what_is_embedded(void)
{
    static const char icc[] = "not looked into by the container", xmp[] = "<x:xmpmeta/>";
    tg_encode_spec s = spec_of(40, 30, 3, 50);
    uint8_t *px = paint(&s);
    char got[sizeof icc];
    tg_buf out = encoded(&s, px);
    decoded d = decode(out.data + 4, out.len - 4);
    struct heif_color_profile_nclx *nclx = NULL;

    CHECK(heif_image_handle_get_nclx_color_profile(d.handle, &nclx).code == heif_error_Ok);
    CHECK(nclx && nclx->color_primaries == 1 && nclx->transfer_characteristics == 13 &&
          nclx->matrix_coefficients == 6 && nclx->full_range_flag);
    heif_nclx_color_profile_free(nclx);
    CHECK_INT(heif_image_handle_get_number_of_metadata_blocks(d.handle, NULL), 0);
    release(&d);
    tg_buf_free(&out);

    s.embed = (tg_embed){{icc, sizeof icc}, {xmp, sizeof xmp - 1}, TG_STR("the rights")};
    out = encoded(&s, px);
    d = decode(out.data + 4, out.len - 4);
    CHECK_INT(heif_image_handle_get_raw_color_profile_size(d.handle), sizeof icc);
    heif_image_handle_get_raw_color_profile(d.handle, got);
    CHECK(memcmp(got, icc, sizeof icc) == 0);
    CHECK_INT(heif_image_handle_get_number_of_metadata_blocks(d.handle, "Exif"), 1);
    CHECK_INT(heif_image_handle_get_number_of_metadata_blocks(d.handle, "mime"), 1);
    release(&d);
    tg_buf_free(&out);
    free(px);
}
#endif

static void test_refusals(void)
{
    static const uint8_t rows[3000 * 3];
    tg_encode_spec s = {
        .format = TG_FORMAT_AVIF, .width_px = 32769, .height_px = 2, .fmt = {3, 8}, .quality = 75};
    tg_buf out = {.max = 30};
    tg_err err = {0};
    tg_encoder *e;

    CHECK(!tg_encoder_new(&s, &out, &err));
    CHECK_INT(err.kind,
              tg_format_available(TG_FORMAT_AVIF) ? TG_ERR_BAD_REQUEST : TG_ERR_NOT_IMPLEMENTED);
    if (!tg_format_available(TG_FORMAT_AVIF))
        return;
    err = (tg_err){0};
    s.width_px = s.height_px = 32768; /* 1 GiB */
    CHECK(!tg_encoder_new(&s, &out, &err));
    CHECK_INT(err.kind, TG_ERR_TOO_LARGE);
    err = (tg_err){0};
    s.width_px = 3000;
    s.height_px = 2;
    e = tg_encoder_new(&s, &out, &err); /* the buffer's ceiling */
    CHECK(e && tg_encoder_rows(e, rows, 0, 2, &err) && !tg_encoder_finish(e, &err));
    CHECK_INT(err.kind, TG_ERR_TOO_LARGE);
    tg_encoder_free(e);
    tg_buf_free(&out);
}

int main(void)
{
#if defined(HAVE_AVIF) && defined(HAVE_HEIF)
    test_sizes();
    test_noise_without_loss();
    test_qualities();
    test_pure_colours();
    test_what_is_embedded();
#endif
    test_refusals();
    return check_done();
}
