/* The colours of a PNG file: cICP, iCCP, sRGB, then gAMA and cHRM overrule each other in this order
 * (PNG, third edition, table 10). */
#include <math.h>
#include <string.h>

#include "png_chunks.h"
#include "rgb_profile.h"

#define UNIT       100000.0
#define SRGB_GAMMA 0.45455
/* Closer than this is meant to be the same: a step of 8 bits in the darks. */
#define SAME_GAMMA 0.012
/* Beyond these the number is an accident; 1 is linear light, 0.3 an old display. */
#define MIN_GAMMA  0.15
#define MAX_GAMMA  2.5

/* Only full-range RGB is PNG's (11.3.2.6). */
static bool meaning_of_code_points(const tg_png_header *h, tg_rgb_meaning *m)
{
    return h->has_code_points && h->code_points[2] == 0 && h->code_points[3] == 1 &&
           tg_rgb_of_code_points(h->code_points[0], h->code_points[1], m);
}

/* gAMA near that of sRGB is an approximation of sRGB's curve; absent ones leave sRGB. */
static tg_rgb_meaning meaning_of_gamma(const tg_png_header *h)
{
    tg_rgb_meaning m = tg_srgb_meaning;
    double gamma = h->gamma / UNIT;

    if (gamma >= MIN_GAMMA && gamma <= MAX_GAMMA && fabs(gamma - SRGB_GAMMA) >= SAME_GAMMA)
        memcpy(m.curve, (double[5]){1 / gamma}, sizeof m.curve);
    for (unsigned i = 0; h->has_chromaticities && i < 8; i++)
        m.xy[i] = h->chromaticity[i] / UNIT;
    return m;
}

void tg_png_profile(int fd, const tg_png_header *h, size_t limit_bytes, tg_buf *out)
{
    bool gray = !(h->colour_type & TG_PNG_RGB);
    tg_rgb_meaning m;

    if (!meaning_of_code_points(h, &m)) {
        if (h->icc.at) {
            tg_png_icc(fd, h, limit_bytes, out);
            return;
        }
        m = h->srgb ? tg_srgb_meaning : meaning_of_gamma(h);
    }
    tg_rgb_profile(&m, gray, out);
}
