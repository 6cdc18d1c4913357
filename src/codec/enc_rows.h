/* Rows in the forms that several encoders want. Private to src/codec. */
#ifndef TEGULA_ENC_ROWS_H
#define TEGULA_ENC_ROWS_H

#include "tegula/encoder.h"

/* The picture is one of bits, and the format has a form for them. */
static inline bool tg_packs(const tg_encode_spec *spec)
{
    return spec->bitonal && spec->fmt.channels == 1;
}

static inline size_t tg_packed_bytes(uint32_t width_px)
{
    return ((size_t)width_px + 7) / 8;
}

/* n samples that are 0 or all ones as bits, the first one highest; fills tg_packed_bytes(n). */
void tg_pack_row(uint8_t *dst, const uint8_t *row, uint32_t n, unsigned bits);

/* n pixels of 8 bit as 0xAARRGGBB. */
void tg_argb_row(uint32_t *dst, const uint8_t *row, uint32_t n, unsigned channels);

#endif
