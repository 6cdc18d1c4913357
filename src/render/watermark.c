#include "tegula/watermark.h"

#include <stdlib.h>
#include <string.h>

#include "tegula/checksum.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/raster.h"

#define MAX_PIXEL_BYTES 8

/* Opacity and alpha are in the pixels already. 16 bits, so that they are rounded once. */
struct tg_watermark {
    uint32_t width_px, height_px;
    tg_pixfmt fmt; /* without alpha */
    double probability;
    uint16_t *pixels;
    uint64_t sum;
};

/* 0 .. 1 */
static double sample_at(const void *pixels, unsigned bits, size_t i)
{
    return bits == 8 ? ((const uint8_t *)pixels)[i] / 255.0
                     : ((const uint16_t *)pixels)[i] / 65535.0;
}

static void weigh(tg_watermark *m, const void *pixels, tg_pixfmt fmt, double opacity)
{
    size_t n_px = (size_t)m->width_px * m->height_px;
    unsigned colours = m->fmt.channels;
    for (size_t i = 0; i < n_px; i++) {
        size_t at = i * fmt.channels;
        double weight = 65535 * opacity;
        if (tg_pixfmt_alpha(fmt))
            weight *= sample_at(pixels, fmt.bits, at + colours);
        for (unsigned c = 0; c < colours; c++)
            m->pixels[i * colours + c] =
                (uint16_t)(weight * sample_at(pixels, fmt.bits, at + c) + 0.5);
    }
}

tg_watermark *tg_watermark_new(const void *pixels, uint32_t w, uint32_t h, tg_pixfmt fmt,
                               double opacity, double probability, tg_err *err)
{
    if ((uint64_t)w * h > TG_WATERMARK_MAX_PX) {
        tg_fail(err, TG_ERR_TOO_LARGE, "a watermark has at most %llu pixels",
                (unsigned long long)TG_WATERMARK_MAX_PX);
        return NULL;
    }
    tg_watermark *m = tg_new(sizeof *m);
    *m = (tg_watermark){.width_px = w,
                        .height_px = h,
                        .fmt = {fmt.channels >= 3 ? 3 : 1, 16},
                        .probability = opacity > 0 ? probability : 0};
    size_t row_bytes = w * tg_pixfmt_bytes(m->fmt);
    m->pixels = tg_image_alloc(h, row_bytes, err);
    if (!m->pixels) {
        free(m);
        return NULL;
    }
    weigh(m, pixels, fmt, opacity);
    const double also[] = {w, m->fmt.channels, m->probability};
    m->sum = tg_checksum(m->pixels, h * row_bytes, tg_checksum(also, sizeof also, 0));
    return m;
}

void tg_watermark_free(tg_watermark *m)
{
    if (m)
        tg_image_free(m->pixels);
    free(m);
}

uint64_t tg_watermark_sum(const tg_watermark *m)
{
    return m ? m->sum : 0;
}

/* One of 0 .. n; each question about a name has its own number. */
static uint32_t draw(tg_str name, uint64_t question, uint32_t n)
{
    return (uint32_t)(tg_checksum(name.p, name.n, question) % ((uint64_t)n + 1));
}

tg_mark tg_watermark_place(const tg_watermark *m, tg_str name, uint32_t w, uint32_t h)
{
    enum { WHETHER = 1, ACROSS, DOWN };
    if (!m || draw(name, WHETHER, UINT32_MAX) >= m->probability * 4294967296.0)
        return (tg_mark){0};
    return (tg_mark){.of = m,
                     .x = w > m->width_px ? draw(name, ACROSS, w - m->width_px) : 0,
                     .y = h > m->height_px ? draw(name, DOWN, h - m->height_px) : 0};
}

/* n pixels of the mark from the left, as the output's colours are without alpha. */
static const void *addend(const tg_watermark *m, uint32_t row, uint32_t n, tg_pixfmt fmt, void *buf)
{
    const void *out = m->pixels + (size_t)row * m->width_px * m->fmt.channels;
    unsigned colours = fmt.channels >= 3 ? 3 : 1;
    if (colours != m->fmt.channels) {
        if (colours == 1)
            tg_row_gray(buf, out, m->fmt, n);
        else
            tg_row_gray_to_rgb(buf, out, m->fmt, n);
        out = buf;
    }
    if (fmt.bits == 16)
        return out;
    tg_row_16_to_8(buf, out, (size_t)n * colours);
    return buf;
}

const void *tg_mark_row(const tg_mark *mark, uint32_t y, const void *row, uint32_t w, tg_pixfmt fmt,
                        void *scratch)
{
    const tg_watermark *m = mark->of;
    if (!m || y < mark->y || y - mark->y >= m->height_px)
        return row;
    size_t pixel_bytes = tg_pixfmt_bytes(fmt);
    uint32_t n = TG_MIN(m->width_px, w - mark->x);
    uint8_t *out = scratch, *buf = out + (size_t)w * MAX_PIXEL_BYTES;
    memcpy(out, row, w * pixel_bytes);
    tg_row_add(out + mark->x * pixel_bytes, addend(m, y - mark->y, n, fmt, buf), fmt, n);
    return out;
}
