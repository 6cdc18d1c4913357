/* The codings of CIE L*a*b* in TIFF, as straight lines from stored to delivered value. */
#include "tegula/num.h"
#include "tiff.h"

typedef struct line {
    uint32_t flip; /* the sign bit of a signed sample: what was negative becomes the lower half */
    float scale, add;
} line;

/* For delivered 16 bits 65535 is L* 100, and a* is value / 257 - 128; for 8 bits value - 128. */

/* CIELab: L* over the whole range, a* and b* signed, of 16 bits in units of 1/256 (Adobe's
 * technical notes, 2002). */
static const line cielab_8[] = {{0, 1, 0}, {0x80, 1, 0}, {0x80, 1, 0}};
static const line cielab_16[] = {{0, 1, 0}, {0x8000, 257 / 256.0f, 0}, {0x8000, 257 / 256.0f, 0}};

/* ICCLab: offset by 128; of 16 bits 0xff00 is L* 100 (ICC v2). */
static const line icclab_8[] = {{0, 1, 0}, {0, 1, 0}, {0, 1, 0}};
static const line icclab_16[] = {
    {0, 65535 / 65280.0f, 0}, {0, 257 / 256.0f, 0}, {0, 257 / 256.0f, 0}};

/* ITULab in its default ranges (ITU-T T.42): L* 0 .. 100, a* -85 .. 85, b* -75 .. 125; its zeros
 * lie at 128 and 96 of 8 bits. */
#define ITU(a_zero, b_zero, half)                                                                  \
    {                                                                                              \
        {0, 1, 0}, {0, 170 / 255.0f, (half)-170 / 255.0f * (a_zero)},                              \
        {                                                                                          \
            0, 200 / 255.0f, (half)-200 / 255.0f * (b_zero)                                        \
        }                                                                                          \
    }
static const line itulab_8[] = ITU(128.0f, 96.0f, 128.0f);
static const line itulab_16[] = ITU(128 * 257.0f, 96 * 257.0f, 128 * 257.0f);

static const line *lines_of(const tg_tiff_dir *dir)
{
    bool deep = dir->native.bits == 16;

    switch (dir->photometric) {
    case PHOTOMETRIC_CIELAB:
        return deep ? cielab_16 : cielab_8;
    case PHOTOMETRIC_ICCLAB:
        return deep ? icclab_16 : icclab_8;
    default:
        return deep ? itulab_16 : itulab_8;
    }
}

static float along(const line *l, uint32_t v, float max)
{
    float x = (float)(v ^ l->flip) * l->scale + l->add + 0.5f;

    return x > max ? max : x < 0 ? 0 : x;
}

void tg_tiff_lab(const tg_tiff_dir *dir, void *row, uint32_t n)
{
    const line *l = lines_of(dir);
    unsigned channels = tg_native_channels(dir->native);
    uint16_t *wide = row;
    uint8_t *px = row;

    if (dir->native.bits == 8) {
        for (uint32_t i = 0; i < n; i++, px += channels)
            for (unsigned c = 0; c < 3; c++)
                px[c] = (uint8_t)along(&l[c], px[c], 255);
        return;
    }
    for (uint32_t i = 0; i < n; i++, wide += channels)
        for (unsigned c = 0; c < 3; c++)
            wide[c] = (uint16_t)along(&l[c], wide[c], 65535);
}
