#include "rgb_profile.h"

#include <lcms2.h>
#include <math.h>
#include <string.h>

/* Rounding in files' chromaticities. */
#define SAME_CHROMATICITY 0.003

/* IEC 61966-2-1 */
#define SRGB_CURVE                                                                                 \
    {                                                                                              \
        2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045                                          \
    }

const tg_rgb_meaning tg_srgb_meaning = {
    {0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06},
    SRGB_CURVE,
};

/* H.273, table 2. */
static bool find_primaries(uint16_t code, double xy[8])
{
    static const struct {
        uint16_t code;
        double xy[8];
    } known[] = {
        {1, {0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06}},
        {4, {0.310, 0.316, 0.67, 0.33, 0.21, 0.71, 0.14, 0.08}},
        {5, {0.3127, 0.3290, 0.64, 0.33, 0.29, 0.60, 0.15, 0.06}},
        {6, {0.3127, 0.3290, 0.630, 0.340, 0.310, 0.595, 0.155, 0.070}},
        {7, {0.3127, 0.3290, 0.630, 0.340, 0.310, 0.595, 0.155, 0.070}},
        {9, {0.3127, 0.3290, 0.708, 0.292, 0.170, 0.797, 0.131, 0.046}},
        {11, {0.314, 0.351, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060}},
        {12, {0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060}},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].code == code) {
            memcpy(xy, known[i].xy, sizeof known[i].xy);
            return true;
        }
    return false;
}

/* H.273, table 3. Video cameras' curves (1, 6, 14, 15) are shown as they are, without conversion,
 * by all that shows pictures: like sRGB. */
static bool find_curve(uint16_t code, double curve[5])
{
    static const struct {
        uint16_t code;
        double curve[5];
    } known[] = {
        {1, SRGB_CURVE}, {4, {2.2}},       {5, {2.8}},       {6, SRGB_CURVE},
        {8, {1}},        {13, SRGB_CURVE}, {14, SRGB_CURVE}, {15, SRGB_CURVE},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].code == code) {
            memcpy(curve, known[i].curve, sizeof known[i].curve);
            return true;
        }
    return false;
}

bool tg_rgb_of_code_points(uint16_t primaries, uint16_t transfer, tg_rgb_meaning *m)
{
    return find_primaries(primaries, m->xy) && find_curve(transfer, m->curve);
}

static bool is_srgb(const tg_rgb_meaning *m, bool gray)
{
    for (unsigned i = 0; !gray && i < 8; i++)
        if (fabs(m->xy[i] - tg_srgb_meaning.xy[i]) >= SAME_CHROMATICITY)
            return false;
    for (unsigned i = 0; i < 5; i++)
        if (m->curve[i] != tg_srgb_meaning.curve[i])
            return false;
    return true;
}

static cmsHPROFILE colour_profile(const tg_rgb_meaning *m, cmsToneCurve *curve)
{
    cmsToneCurve *curves[3] = {curve, curve, curve};
    cmsCIExyY white = {m->xy[0], m->xy[1], 1};
    cmsCIExyYTRIPLE primaries = {
        {m->xy[2], m->xy[3], 1}, {m->xy[4], m->xy[5], 1}, {m->xy[6], m->xy[7], 1}};

    return cmsCreateRGBProfile(&white, &primaries, curves);
}

/* The same meaning gives the same bytes: without the time of making, by which lcms marks them. */
static void append(cmsHPROFILE profile, tg_buf *out)
{
    enum { HEADER_BYTES = 128, DATE_AT = 24 };
    static const uint8_t date[12] = {2000 >> 8, 2000 & 255, 0, 1, 0, 1};
    cmsUInt32Number n = 0;
    uint8_t *to;

    if (!cmsSaveProfileToMem(profile, NULL, &n) || n < HEADER_BYTES ||
        !(to = tg_buf_reserve(out, n)) || !cmsSaveProfileToMem(profile, to, &n))
        return;
    memcpy(to + DATE_AT, date, sizeof date);
    out->len += n;
}

void tg_rgb_profile(const tg_rgb_meaning *m, bool gray, tg_buf *out)
{
    cmsToneCurve *curve;
    cmsHPROFILE profile = NULL;

    if (is_srgb(m, gray))
        return;
    curve = m->curve[1] == 0 ? cmsBuildGamma(NULL, m->curve[0])
                             : cmsBuildParametricToneCurve(NULL, 4, m->curve);
    if (curve)
        profile = gray ? cmsCreateGrayProfile(cmsD50_xyY(), curve) : colour_profile(m, curve);
    if (profile) {
        append(profile, out);
        cmsCloseProfile(profile);
    }
    cmsFreeToneCurve(curve);
}
