/* cICP, gAMA and cHRM as an ICC profile, so that there is one way for colour. The order in which
 * the chunks overrule each other is that of the specification: cICP, iCCP, sRGB, then these (PNG,
 * third edition, table 10). */
#include <lcms2.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "png_chunks.h"

#define UNIT              100000.0
#define SRGB_GAMMA        0.45455
/* Closer than this is meant to be the same: a step of 8 bits in the darks, rounding in cHRM. */
#define SAME_GAMMA        0.012
#define SAME_CHROMATICITY 0.003
/* Beyond these the number is an accident; 1 is linear light, 0.3 an old display. */
#define MIN_GAMMA         0.15
#define MAX_GAMMA         2.5

/* What the samples mean: white, red, green, blue as x, y; a parametric curve of lcms's type 4,
 * (aX + b)^g above d and cX below, where a = 0 stands for X^g. */
typedef struct meaning {
    double xy[8];
    double curve[5];
} meaning;

static const meaning srgb = {
    {0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06},
    {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045}, /* IEC 61966-2-1 */
};

/* ITU-T H.273, table 2. */
static bool primaries_of_code(uint8_t code, meaning *m)
{
    static const struct {
        uint8_t code;
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
            memcpy(m->xy, known[i].xy, sizeof m->xy);
            return true;
        }
    return false;
}

/* ITU-T H.273, table 3. Those of high dynamic range (16, 18) have no ICC profile. */
static bool curve_of_code(uint8_t code, meaning *m)
{
    static const struct {
        uint8_t code;
        double curve[5];
    } known[] = {
        {1, {1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081}},
        {4, {2.2}},
        {5, {2.8}},
        {6, {1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081}},
        {8, {1}},
        {13, {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045}},
        {14, {1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081}},
        {15, {1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081}},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].code == code) {
            memcpy(m->curve, known[i].curve, sizeof m->curve);
            return true;
        }
    return false;
}

/* Only full-range RGB is PNG's (11.3.2.6). */
static bool meaning_of_code_points(const tg_png_header *h, meaning *m)
{
    return h->has_code_points && h->code_points[2] == 0 && h->code_points[3] == 1 &&
           primaries_of_code(h->code_points[0], m) && curve_of_code(h->code_points[1], m);
}

/* gAMA near that of sRGB is an approximation of sRGB's curve; absent ones leave sRGB. */
static void meaning_of_gamma(const tg_png_header *h, meaning *m)
{
    double gamma = h->gamma / UNIT;

    *m = srgb;
    if (gamma >= MIN_GAMMA && gamma <= MAX_GAMMA && fabs(gamma - SRGB_GAMMA) >= SAME_GAMMA)
        memcpy(m->curve, (double[5]){1 / gamma}, sizeof m->curve);
    for (unsigned i = 0; h->has_chromaticities && i < 8; i++)
        m->xy[i] = h->chromaticity[i] / UNIT;
}

static bool is_srgb(const meaning *m, bool gray)
{
    for (unsigned i = 0; !gray && i < 8; i++)
        if (fabs(m->xy[i] - srgb.xy[i]) >= SAME_CHROMATICITY)
            return false;
    return memcmp(m->curve, srgb.curve, sizeof srgb.curve) == 0;
}

static cmsHPROFILE rgb_profile(const meaning *m, cmsToneCurve *curve)
{
    cmsToneCurve *curves[3] = {curve, curve, curve};
    cmsCIExyY white = {m->xy[0], m->xy[1], 1};
    cmsCIExyYTRIPLE primaries = {
        {m->xy[2], m->xy[3], 1}, {m->xy[4], m->xy[5], 1}, {m->xy[6], m->xy[7], 1}};

    return cmsCreateRGBProfile(&white, &primaries, curves);
}

/* The same chunks give the same bytes: without the time of making, by which lcms marks them. */
static void append_profile(cmsHPROFILE profile, tg_buf *out)
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

static void append_meaning(const meaning *m, bool gray, tg_buf *out)
{
    cmsToneCurve *curve = m->curve[1] == 0 ? cmsBuildGamma(NULL, m->curve[0])
                                           : cmsBuildParametricToneCurve(NULL, 4, m->curve);
    cmsHPROFILE profile = NULL;

    if (curve)
        profile = gray ? cmsCreateGrayProfile(cmsD50_xyY(), curve) : rgb_profile(m, curve);
    if (profile) {
        append_profile(profile, out);
        cmsCloseProfile(profile);
    }
    cmsFreeToneCurve(curve);
}

void tg_png_profile(int fd, const tg_png_header *h, size_t limit_bytes, tg_buf *out)
{
    bool gray = !(h->colour_type & TG_PNG_RGB);
    meaning m;

    if (!meaning_of_code_points(h, &m)) {
        if (h->icc.at) {
            tg_png_icc(fd, h, limit_bytes, out);
            return;
        }
        if (h->srgb)
            return;
        meaning_of_gamma(h, &m);
    }
    if (!is_srgb(&m, gray))
        append_meaning(&m, gray, out);
}
