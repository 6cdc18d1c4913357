/* ColorMap as 8-bit colours. */
#include "tegula/mem.h"
#include "tiff.h"

/* Entries are of 16 bits; files that hold 8-bit values all the same are common. */
bool tg_tiff_palette_load(tg_tiff_level *lv, TIFF *tif)
{
    uint16_t *map[3];
    unsigned n = 1u << lv->dir.bits, shift = 0;

    if (!TIFFGetField(tif, TIFFTAG_COLORMAP, &map[0], &map[1], &map[2]))
        return false;
    lv->palette = tg_new(n * sizeof *lv->palette);
    for (unsigned c = 0; c < 3; c++)
        for (unsigned i = 0; i < n; i++)
            if (map[c][i] > 255)
                shift = 8;
    for (unsigned c = 0; c < 3; c++)
        for (unsigned i = 0; i < n; i++)
            lv->palette[i][c] = (uint8_t)(map[c][i] >> shift);
    return true;
}
