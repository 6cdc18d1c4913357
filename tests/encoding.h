/* Pictures to encode, and encoding them, for the tests of the encoders. */
#ifndef TEGULA_TESTS_ENCODING_H
#define TEGULA_TESTS_ENCODING_H

#include <stdlib.h>

#include "tegula/encoder.h"

/* Smooth in x and y, another slope in every channel; alpha rises from the left. */
static inline unsigned value(uint32_t x, uint32_t y, unsigned c, const tg_encode_spec *s)
{
    unsigned max = s->fmt.bits == 8 ? 255 : 65535;

    if (s->bitonal)
        return (x / 3 + y / 5) % 2 ? max : 0;
    return (unsigned)((uint64_t)max * ((c + 1) * x + (4 - c) * y) /
                      ((c + 1) * s->width_px + (4 - c) * s->height_px));
}

static inline uint8_t *paint(const tg_encode_spec *s)
{
    unsigned n = s->fmt.channels;
    uint8_t *px = malloc((size_t)s->width_px * s->height_px * tg_pixfmt_bytes(s->fmt));
    uint8_t *p8 = px;
    uint16_t *p16 = (uint16_t *)(void *)px;

    for (uint32_t y = 0; y < s->height_px; y++)
        for (uint32_t x = 0; x < s->width_px; x++)
            for (unsigned c = 0; c < n; c++)
                if (s->fmt.bits == 8)
                    *p8++ = (uint8_t)value(x, y, c, s);
                else
                    *p16++ = (uint16_t)value(x, y, c, s);
    return px;
}

/* In bands of `band` rows. */
static inline bool encode(const tg_encode_spec *s, const uint8_t *px, uint32_t band, tg_buf *out,
                          tg_err *err)
{
    size_t stride = s->width_px * tg_pixfmt_bytes(s->fmt);
    tg_encoder *e = tg_encoder_new(s, out, err);
    bool ok = e != NULL;

    for (uint32_t y = 0; ok && y < s->height_px; y += band)
        ok = tg_encoder_rows(e, px + y * stride, stride,
                             s->height_px - y < band ? s->height_px - y : band, err);
    ok = ok && tg_encoder_finish(e, err);
    tg_encoder_free(e);
    return ok;
}

#endif
