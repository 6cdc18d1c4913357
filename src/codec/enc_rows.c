#include "enc_rows.h"

#include <string.h>

void tg_pack_row(uint8_t *dst, const uint8_t *row, uint32_t n, unsigned bits)
{
    size_t step = bits / 8; /* samples are 0 or all ones, so that any byte of one tells */

    memset(dst, 0, tg_packed_bytes(n));
    for (uint32_t i = 0; i < n; i++)
        if (row[i * step])
            dst[i / 8] |= (uint8_t)(0x80 >> (i % 8));
}

static uint32_t argb(uint32_t a, uint32_t r, uint32_t g, uint32_t b)
{
    return a << 24 | r << 16 | g << 8 | b;
}

void tg_argb_row(uint32_t *dst, const uint8_t *row, uint32_t n, unsigned channels)
{
    for (uint32_t i = 0; i < n; i++, row += channels) {
        switch (channels) {
        case 1:
            dst[i] = argb(255, row[0], row[0], row[0]);
            break;
        case 2:
            dst[i] = argb(row[1], row[0], row[0], row[0]);
            break;
        case 3:
            dst[i] = argb(255, row[0], row[1], row[2]);
            break;
        default:
            dst[i] = argb(row[3], row[0], row[1], row[2]);
        }
    }
}
