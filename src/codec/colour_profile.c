#include "colour_profile.h"

#include <stdlib.h>
#include <string.h>

#include <lcms2_plugin.h>

#include "tegula/mem.h"
#include "tegula/num.h"

/* ---- the header (ICC.1, 7.2) ---- */

#define HEADER_BYTES 128
#define TAG_BYTES    12

static uint32_t u32_at(tg_str profile, size_t at)
{
    const uint8_t *p = (const uint8_t *)profile.p + at;

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool is_at(tg_str profile, size_t at, const char *signature)
{
    return memcmp(profile.p + at, signature, 4) == 0;
}

static bool is_any_at(tg_str profile, size_t at, const char *const *signatures, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_at(profile, at, signatures[i]))
            return true;
    return false;
}

const char *tg_profile_refusal(tg_str *profile, tg_space space)
{
    static const char *const classes[] = {"scnr", "mntr", "prtr", "spac"};
    static const char *const connections[] = {"XYZ ", "Lab "};
    static const char *const models[] = {[TG_SPACE_GRAY] = "GRAY",
                                         [TG_SPACE_RGB] = "RGB ",
                                         [TG_SPACE_CMYK] = "CMYK",
                                         [TG_SPACE_LAB] = "Lab "};

    if (profile->n < HEADER_BYTES + 4)
        return "it is shorter than a header";
    if (profile->n > TG_PROFILE_MAX_BYTES)
        return "it is too large";
    if (!is_at(*profile, 36, "acsp"))
        return "it is no ICC profile";
    if (u32_at(*profile, 0) < HEADER_BYTES + 4 || u32_at(*profile, 0) > profile->n)
        return "its size is not what it says";
    profile->n = u32_at(*profile, 0);
    if (!is_any_at(*profile, 12, classes, 4))
        return "it is of a class that images do not have";
    if (!is_any_at(*profile, 20, connections, 2))
        return "its connection space is neither XYZ nor Lab";
    if (!is_at(*profile, 16, models[space]))
        return "it is for another colour model than the pixels";
    return NULL;
}

bool tg_profile_embeddable(tg_str profile)
{
    uint32_t n = u32_at(profile, HEADER_BYTES);

    if (n > (profile.n - HEADER_BYTES - 4) / TAG_BYTES || u32_at(profile, 64) > 3 ||
        (profile.p[8] >= 4 && profile.n % 4))
        return false;
    for (size_t at = HEADER_BYTES + 4; n-- > 0; at += TAG_BYTES) {
        uint32_t from = u32_at(profile, at + 4), length = u32_at(profile, at + 8);

        if (from > profile.n || length > profile.n - from)
            return false;
    }
    return true;
}

/* ---- memory for lcms2 ---- */

/* A profile makes lcms2 allocate what its tags announce. Tables of CMYK with 23 nodes an axis take
 * 2 MiB. */
#define ALLOC_MAX_BYTES ((size_t)48 << 20)
#define ALLOC_HEAD      64 /* keeps the alignment of tg_image_alloc */

static void *on_alloc(cmsContext lcms, cmsUInt32Number n)
{
    tg_err ignored = {0};
    uint8_t *p = n <= ALLOC_MAX_BYTES ? tg_image_alloc(n + ALLOC_HEAD, 1, &ignored) : NULL;

    (void)lcms;
    if (!p)
        return NULL;
    *(size_t *)(void *)p = n;
    return p + ALLOC_HEAD;
}

static void on_free(cmsContext lcms, void *p)
{
    (void)lcms;
    if (p)
        tg_image_free((uint8_t *)p - ALLOC_HEAD);
}

static void *on_realloc(cmsContext lcms, void *p, cmsUInt32Number n)
{
    void *bigger = on_alloc(lcms, n);

    if (bigger && p)
        memcpy(bigger, p, TG_MIN((size_t)n, *(size_t *)(void *)((uint8_t *)p - ALLOC_HEAD)));
    if (bigger)
        on_free(lcms, p);
    return bigger;
}

static cmsContext new_lcms(void)
{
    cmsPluginMemHandler memory = {{cmsPluginMagicNumber, 2000, cmsPluginMemHandlerSig, NULL},
                                  on_alloc,
                                  on_free,
                                  on_realloc,
                                  NULL,
                                  NULL,
                                  NULL};

    return cmsCreateContext(&memory, NULL);
}

/* ---- gray ---- */

static cmsHPROFILE gray_target(cmsContext lcms)
{
    /* IEC 61966-2-1 as lcms2 writes it: type 4, g a b c d */
    const double srgb[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    cmsToneCurve *curve = cmsBuildParametricToneCurve(lcms, 4, srgb);
    cmsHPROFILE target = curve ? cmsCreateGrayProfileTHR(lcms, cmsD50_xyY(), curve) : NULL;

    cmsFreeToneCurve(curve);
    return target;
}

static size_t values_of(tg_native native)
{
    return native.bits == 8 ? 256 : 65536;
}

static cmsHTRANSFORM new_transform(tg_profile_way *way, cmsHPROFILE from, cmsUInt32Number from_fmt,
                                   cmsHPROFILE to, cmsUInt32Number to_fmt, cmsUInt32Number flags)
{
    if (!to)
        return NULL;
    return cmsCreateTransformTHR(way->lcms, from, from_fmt, to, to_fmt,
                                 INTENT_RELATIVE_COLORIMETRIC, flags);
}

/* Every value once through lcms2. */
static bool make_gray(tg_profile_way *way, cmsHPROFILE profile, tg_native native)
{
    size_t n = values_of(native);
    tg_err ignored = {0};
    cmsHPROFILE target = gray_target(way->lcms);
    cmsHTRANSFORM t =
        new_transform(way, profile, TYPE_GRAY_16, target, TYPE_GRAY_16,
                      cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE);

    if (t)
        way->gray = tg_image_alloc(n, sizeof *way->gray, &ignored);
    for (size_t i = 0; way->gray && i < n; i++) {
        uint16_t in = (uint16_t)(i * (65535 / (n - 1))), out = 0;

        cmsDoTransform(t, &in, &out, 1);
        way->gray[i] = native.bits == 8 ? (uint16_t)((out + 128) / 257) : out;
    }
    if (t)
        cmsDeleteTransform(t);
    if (target)
        cmsCloseProfile(target);
    return way->gray != NULL;
}

/* ---- matrix and curves ---- */

static bool has_tables(cmsHPROFILE profile)
{
    static const cmsTagSignature tables[] = {cmsSigAToB0Tag, cmsSigAToB1Tag, cmsSigDToB0Tag,
                                             cmsSigDToB1Tag};

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (cmsIsTag(profile, tables[i]))
            return true;
    return false;
}

static float *new_curve(const cmsToneCurve *curve, size_t n)
{
    tg_err ignored = {0};
    float *light = tg_image_alloc(n, sizeof *light, &ignored);

    for (size_t i = 0; light && i < n; i++) {
        float v = cmsEvalToneCurveFloat(curve, (float)i / (float)(n - 1));

        light[i] = v > 0 ? TG_MIN(v, 1.0F) : 0;
    }
    return light;
}

/* The columns of to: what full red, green and blue of the device are in linear sRGB. */
static void set_column(tg_affine *to, int c, const cmsCIEXYZ *colorant)
{
    const float xyz[3] = {(float)colorant->X, (float)colorant->Y, (float)colorant->Z};

    for (int i = 0; i < 3; i++) {
        const float *row = tg_srgb_of_xyz.at[i];

        to->at[i][c] = row[0] * xyz[0] + row[1] * xyz[1] + row[2] * xyz[2];
    }
}

/* Black that is light needs compensation: lcms2 does that. */
static bool black_is_black(const tg_profile_way *way)
{
    return way->linear[0][0] < 1e-5F && way->linear[1][0] < 1e-5F && way->linear[2][0] < 1e-5F;
}

static bool make_matrix(tg_profile_way *way, cmsHPROFILE profile, tg_native native)
{
    static const cmsTagSignature curves[] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    static const cmsTagSignature colorants[] = {cmsSigRedColorantTag, cmsSigGreenColorantTag,
                                                cmsSigBlueColorantTag};
    const cmsToneCurve *before = NULL;

    if (has_tables(profile))
        return false;
    for (int c = 0; c < 3; c++) {
        const cmsToneCurve *curve = cmsReadTag(profile, curves[c]);
        const cmsCIEXYZ *colorant = cmsReadTag(profile, colorants[c]);

        if (!curve || !colorant)
            return false;
        set_column(&way->to, c, colorant);
        way->linear[c] = curve == before ? way->linear[c - 1] : new_curve(curve, values_of(native));
        if (!way->linear[c])
            return false;
        before = curve;
    }
    return black_is_black(way);
}

static void free_matrix(tg_profile_way *way)
{
    for (int c = 2; c >= 0; c--)
        if (c == 0 || way->linear[c] != way->linear[c - 1])
            tg_image_free(way->linear[c]);
    memset(way->linear, 0, sizeof way->linear);
}

/* ---- tables: by lcms2 to L*a*b* ---- */

static cmsUInt32Number device_format(tg_native native)
{
    cmsUInt32Number model = native.space == TG_SPACE_CMYK ? COLORSPACE_SH(PT_CMYK) | CHANNELS_SH(4)
                                                          : COLORSPACE_SH(PT_RGB) | CHANNELS_SH(3);

    return model | BYTES_SH(native.bits / 8u);
}

#define PROBES 512 /* colours all over the device's space */

static void device_probes(uint16_t *device, size_t n, unsigned bits)
{
    uint8_t *bytes = (uint8_t *)device;
    uint32_t random = 1;

    for (size_t i = 0; i < n; i++) {
        random = random * 1664525 + 1013904223;
        if (bits == 8)
            bytes[i] = (uint8_t)(random >> 24);
        else
            device[i] = (uint16_t)(random >> 16);
    }
}

/* lcms2 is five times as fast when it has replaced a profile's pipeline by one table of 17 or 33
 * nodes an axis. Where device values mean something very bent, that is no picture of it. */
static bool is_close(const tg_profile_way *way, cmsHTRANSFORM fast, cmsHTRANSFORM exact,
                     tg_native native)
{
    uint16_t device[4 * PROBES], coded[3 * PROBES];
    float lab[3 * PROBES];
    uint8_t rgb[2][3 * PROBES];
    int sum = 0, worst = 0;

    device_probes(device, sizeof device / sizeof *device, native.bits);
    cmsDoTransform(fast, device, coded, PROBES);
    tg_lab_of_coded(lab, coded, PROBES);
    tg_srgb_of_lab((tg_pixfmt){3, 8}, rgb[0], lab, &way->to, PROBES);
    cmsDoTransform(exact, device, lab, PROBES);
    tg_srgb_of_lab((tg_pixfmt){3, 8}, rgb[1], lab, &way->to, PROBES);
    for (size_t i = 0; i < sizeof rgb[0]; i++) {
        int off = abs(rgb[0][i] - rgb[1][i]);

        sum += off;
        worst = TG_MAX(worst, off);
    }
    return sum <= 3 * PROBES && worst <= 8; /* a step on average */
}

/* Black-point compensation on the way from XYZ: lcms2 would do it before it codes L*a*b*, which
 * cannot hold what is darker than the black it found. */
static void compensate_black(tg_profile_way *way, cmsHPROFILE profile)
{
    cmsCIEXYZ black = {0, 0, 0};

    way->to = tg_srgb_of_xyz;
    if (cmsDetectBlackPoint(&black, profile, INTENT_RELATIVE_COLORIMETRIC, 0) && black.Y > 0 &&
        black.Y < 0.5)
        way->to =
            tg_srgb_of_xyz_above((const float[]){(float)black.X, (float)black.Y, (float)black.Z});
}

static bool make_tables(tg_profile_way *way, cmsHPROFILE profile, tg_native native)
{
    cmsUInt32Number from = device_format(native);
    cmsHPROFILE lab = cmsCreateLab4ProfileTHR(way->lcms, NULL);
    cmsHTRANSFORM fast = new_transform(way, profile, from, lab, TYPE_Lab_16, 0);
    cmsHTRANSFORM exact = new_transform(way, profile, from, lab, TYPE_Lab_FLT, cmsFLAGS_NOOPTIMIZE);

    compensate_black(way, profile);
    if (fast && exact) {
        way->lab_float = !is_close(way, fast, exact, native);
        way->to_lab = way->lab_float ? exact : fast;
        cmsDeleteTransform(way->lab_float ? fast : exact);
    } else if (fast || exact) {
        cmsDeleteTransform(fast ? fast : exact);
    }
    if (lab)
        cmsCloseProfile(lab);
    return way->to_lab != NULL;
}

/* ---- all ---- */

static bool make(tg_profile_way *way, cmsHPROFILE profile, tg_native native)
{
    if (native.space == TG_SPACE_GRAY)
        return make_gray(way, profile, native);
    if (native.space == TG_SPACE_RGB && make_matrix(way, profile, native))
        return true;
    free_matrix(way);
    return make_tables(way, profile, native);
}

bool tg_profile_way_make(tg_profile_way *way, tg_str profile, tg_native native)
{
    cmsHPROFILE opened;
    bool ok;

    memset(way, 0, sizeof *way);
    tg_srgb_init();
    way->lcms = new_lcms();
    if (!way->lcms)
        return false;
    opened = cmsOpenProfileFromMemTHR(way->lcms, profile.p, (cmsUInt32Number)profile.n);
    ok = opened && make(way, opened, native);
    if (opened)
        cmsCloseProfile(opened);
    if (!ok)
        tg_profile_way_free(way);
    return ok;
}

void tg_profile_way_free(tg_profile_way *way)
{
    tg_image_free(way->gray);
    free_matrix(way);
    if (way->to_lab)
        cmsDeleteTransform(way->to_lab);
    if (way->lcms)
        cmsDeleteContext(way->lcms);
    memset(way, 0, sizeof *way);
}
