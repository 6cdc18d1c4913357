/* ICC profiles for what files say of their colours in other words: primaries and a tone curve.
 * Private to src/codec. */
#ifndef TEGULA_RGB_PROFILE_H
#define TEGULA_RGB_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "tegula/buf.h"

/* White, red, green, blue as x, y; a parametric curve of ICC's type 3 (lcms's 4): (aX + b)^g from d
 * on and cX below, in the order g, a, b, c, d; all but g are 0 for X^g. */
typedef struct tg_rgb_meaning {
    double xy[8];
    double curve[5];
} tg_rgb_meaning;

extern const tg_rgb_meaning tg_srgb_meaning;

/* By the numbers of ITU-T H.273; false for those unspecified, unknown, or of high dynamic range,
 * which no such profile can describe. */
bool tg_rgb_of_code_points(uint16_t primaries, uint16_t transfer, tg_rgb_meaning *m);

/* Appends the profile; nothing for sRGB. gray: one channel with the curve. */
void tg_rgb_profile(const tg_rgb_meaning *m, bool gray, tg_buf *out);

#endif
