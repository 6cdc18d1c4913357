/* YCbCr as libtiff leaves it (TIFF 6.0, section 21). */
#include <math.h>
#include <string.h>

#include "tiff.h"

/* From the coded range of a component (ReferenceBlackWhite) to its full one. */
static float range_scale(float full, float black, float white)
{
    float span = white - black;

    return isfinite(span) && fabsf(span) >= 1 ? full / span : 1;
}

static bool usable(const float *luma)
{
    for (unsigned i = 0; i < 3; i++)
        if (!(luma[i] > 0.01f && luma[i] < 1))
            return false;
    return true;
}

void tg_tiff_ycc_load(tg_tiff_level *lv, TIFF *tif)
{
    static const float rec_601[3] = {0.299f, 0.587f, 0.114f};
    float max = lv->dir.raw_bits == 8 ? 255 : 65535, half = lv->dir.raw_bits == 8 ? 128 : 32768;
    float full[6] = {0, max, half, max, half, max}, cb, cr;
    const float *luma = rec_601, *coded = full, *stored;
    tg_tiff_ycc *y = &lv->ycc;

    if (TIFFGetField(tif, TIFFTAG_YCBCRCOEFFICIENTS, &stored) && usable(stored))
        luma = stored;
    if (TIFFGetField(tif, TIFFTAG_REFERENCEBLACKWHITE, &stored))
        coded = stored;
    y->y_black = coded[0];
    y->y_scale = range_scale(max, coded[0], coded[1]);
    y->cb_zero = coded[2];
    y->cr_zero = coded[4];
    cb = range_scale(max - half, coded[2], coded[3]);
    cr = range_scale(max - half, coded[4], coded[5]);
    y->red_cr = (2 - 2 * luma[0]) * cr;
    y->blue_cb = (2 - 2 * luma[2]) * cb;
    y->green_cr = -luma[0] * y->red_cr / luma[1];
    y->green_cb = -luma[2] * y->blue_cb / luma[1];
}

static unsigned clamp(float v, float max)
{
    return v >= max ? (unsigned)max : v > 0 ? (unsigned)(v + 0.5f) : 0;
}

static void convert(const tg_tiff_ycc *k, float max, const float in[3], unsigned out[3])
{
    float y = (in[0] - k->y_black) * k->y_scale, cb = in[1] - k->cb_zero, cr = in[2] - k->cr_zero;

    out[0] = clamp(y + k->red_cr * cr, max);
    out[1] = clamp(y + k->green_cb * cb + k->green_cr * cr, max);
    out[2] = clamp(y + k->blue_cb * cb, max);
}

void tg_tiff_ycc_to_rgb(const tg_tiff_level *lv, void *row, uint32_t n)
{
    unsigned channels = tg_native_channels(lv->dir.native), out[3];
    uint16_t *wide = row;
    uint8_t *px = row;

    if (lv->dir.native.bits == 8) {
        for (uint32_t i = 0; i < n; i++, px += channels) {
            convert(&lv->ycc, 255, (float[]){px[0], px[1], px[2]}, out);
            for (unsigned c = 0; c < 3; c++)
                px[c] = (uint8_t)out[c];
        }
        return;
    }
    for (uint32_t i = 0; i < n; i++, wide += channels) {
        convert(&lv->ycc, 65535, (float[]){wide[0], wide[1], wide[2]}, out);
        for (unsigned c = 0; c < 3; c++)
            wide[c] = (uint16_t)out[c];
    }
}

void tg_tiff_ycc_unblock(const tg_tiff_dir *dir, uint8_t *dst, const uint8_t *blocks, unsigned line,
                         uint32_t x, uint32_t n)
{
    unsigned h = dir->coarse_h, luma = h * dir->coarse_v, bytes = dir->raw_bits / 8;

    for (uint32_t i = x; i < x + n; i++, dst += 3 * (size_t)bytes) {
        const uint8_t *block = blocks + (size_t)(i / h) * (luma + 2) * bytes;

        memcpy(dst, block + (line * h + i % h) * bytes, bytes);
        memcpy(dst + bytes, block + luma * bytes, 2 * (size_t)bytes);
    }
}
