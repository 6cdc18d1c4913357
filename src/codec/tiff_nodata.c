/* Tiles that were never written, and the value that stands for no data (GDAL's convention: offset
 * and byte count 0, the value as text in a tag of its own). */
#include <math.h>
#include <string.h>

#include "scratch.h"
#include "tegula/num.h"
#include "tiff.h"

#define TAG_GDAL_NODATA 42113

/* A decimal, perhaps with an exponent; NAN when it is none. */
static double real_number(tg_str text)
{
    tg_str mantissa, power;
    int64_t exponent = 0;
    double value;

    if (!tg_str_cut(text, 'e', &mantissa, &power))
        tg_str_cut(text, 'E', &mantissa, &power);
    if (power.n > 0 && power.p[0] == '+')
        power = (tg_str){power.p + 1, power.n - 1};
    if (!tg_parse_signed_decimal(mantissa, &value) ||
        (power.n > 0 && !tg_parse_i64(power, &exponent)) || exponent < -400 || exponent > 400)
        return (double)NAN;
    return value * pow(10, (double)exponent);
}

double tg_tiff_nodata(TIFF *tif)
{
    uint32_t n = 0;
    const char *text;

    if (!TIFFGetField(tif, TAG_GDAL_NODATA, &n, &text) || n == 0)
        return (double)NAN;
    return real_number(tg_str_trim((tg_str){text, strnlen(text, n)}));
}

/* Of YCbCr black is meant, which is not 0 in every component. */
static void absent_sample(const tg_tiff_level *lv, unsigned sample, uint8_t *at)
{
    const tg_tiff_dir *dir = &lv->dir;

    if (dir->coding == TG_TIFF_YCC && sample > 0 && sample < 3)
        tg_tiff_store(dir, at, sample == 1 ? lv->ycc.cb_zero : lv->ycc.cr_zero);
    else if (dir->coding != TG_TIFF_YCC && dir->raw_bits >= 8)
        tg_tiff_store(dir, at, lv->nodata);
}

/* A row of such samples, contiguous even where blocks are stored. */
static uint8_t *absent_row(const tg_tiff_level *lv, uint32_t n, unsigned channel, tg_err *err)
{
    const tg_tiff_dir *dir = &lv->dir;
    unsigned samples = dir->raw_samples;
    size_t bytes = (size_t)n * samples * dir->raw_bits / 8 + 1;
    uint8_t *row = tg_scratch(bytes, 1, err);

    if (!row)
        return NULL;
    memset(row, 0, bytes);
    for (size_t i = 0; dir->raw_bits >= 8 && i < (size_t)n * samples; i++)
        absent_sample(lv, dir->planes ? tg_tiff_sample(dir, channel) : i % samples,
                      row + i * (dir->raw_bits / 8));
    return row;
}

bool tg_tiff_absent_part(tg_tiff *t, tg_tiff_part *p, unsigned channel, tg_err *err)
{
    const tg_tiff_level *lv = &t->level[p->level];
    bool blocks = !lv->dir.planes && lv->dir.coarse_h * lv->dir.coarse_v > 1;
    uint8_t *row;

    if (p->extremes)
        return true;
    row = absent_row(lv, p->in.w, channel, err);
    for (uint32_t i = 0; row && i < p->in.h; i++) {
        if (blocks)
            memcpy(p->dst + i * p->stride, row, p->in.w * tg_native_bytes(lv->dir.native));
        else if (lv->dir.planes)
            tg_tiff_place_plane(t, p, i, row, 0, channel);
        else
            tg_tiff_place(t, p, i, row, 0, 0);
    }
    return row != NULL;
}
