/* Colour of sources: values from the formulas of the standards, hostile profiles, the table. */
#include <stdlib.h>
#include <unistd.h>

#include <lcms2.h>

#include "check.h"
#include "fixture.h"
#include "tegula/colour.h"
#include "tegula/log.h"
#include "tegula/mem.h"

/* ---- profiles ---- */

typedef struct profile {
    uint8_t *data;
    size_t n;
} profile;

static profile saved(cmsHPROFILE h)
{
    cmsUInt32Number n = 0;
    profile p;

    cmsSaveProfileToMem(h, NULL, &n);
    p = (profile){malloc(n), n};
    cmsSaveProfileToMem(h, p.data, &n);
    cmsCloseProfile(h);
    return p;
}

static profile srgb_profile(void)
{
    return saved(cmsCreate_sRGBProfile());
}

/* Adobe RGB (1998), 4.3.1: gamma 2.19921875, the green of a wide gamut. */
#define ADOBE_GAMMA 2.19921875

static profile adobe_profile(void)
{
    cmsCIExyY d65 = {0.3127, 0.3290, 1};
    cmsCIExyYTRIPLE primaries = {{0.64, 0.33, 1}, {0.21, 0.71, 1}, {0.15, 0.06, 1}};
    cmsToneCurve *curve = cmsBuildGamma(NULL, ADOBE_GAMMA);
    cmsToneCurve *curves[] = {curve, curve, curve};
    profile p = saved(cmsCreateRGBProfile(&d65, &primaries, curves));

    cmsFreeToneCurve(curve);
    return p;
}

static profile gray_profile(double gamma)
{
    cmsToneCurve *curve = cmsBuildGamma(NULL, gamma);
    profile p = saved(cmsCreateGrayProfile(cmsD50_xyY(), curve));

    cmsFreeToneCurve(curve);
    return p;
}

/* A press whose black is gray: L* = 100 for paper, 20 for black, less where inks lie on each other;
 * cyan is (-40, -40), magenta (70, 0), yellow (0, 90). */
static void press_lab(const double ink[4], double lab[3])
{
    lab[0] = (100 - 40 * ink[0] - 45 * ink[1] - 5 * ink[2]) * (1 - 0.8 * ink[3]);
    lab[1] = (-40 * ink[0] + 70 * ink[1]) * (1 - ink[3]);
    lab[2] = (-40 * ink[0] + 90 * ink[2]) * (1 - ink[3]);
}

static cmsInt32Number sample_press(const cmsUInt16Number in[], cmsUInt16Number out[], void *unused)
{
    double ink[4], lab[3];
    cmsCIELab value;

    (void)unused;
    for (int i = 0; i < 4; i++)
        ink[i] = in[i] / 65535.0;
    press_lab(ink, lab);
    value = (cmsCIELab){lab[0], lab[1], lab[2]};
    cmsFloat2LabEncoded(out, &value);
    return TRUE;
}

/* A scanner whose black is L* = 20. */
static void scanner_lab(const double in[3], double lab[3])
{
    lab[0] = 20 + 80 * (0.25 * in[0] + 0.65 * in[1] + 0.1 * in[2]);
    lab[1] = 60 * (in[0] - in[1]);
    lab[2] = 60 * (in[1] - in[2]);
}

static cmsInt32Number sample_scanner(const cmsUInt16Number in[], cmsUInt16Number out[],
                                     void *unused)
{
    double rgb[3] = {in[0] / 65535.0, in[1] / 65535.0, in[2] / 65535.0}, lab[3];
    cmsCIELab value;

    (void)unused;
    scanner_lab(rgb, lab);
    value = (cmsCIELab){lab[0], lab[1], lab[2]};
    cmsFloat2LabEncoded(out, &value);
    return TRUE;
}

static profile table_profile(cmsProfileClassSignature class, cmsColorSpaceSignature space,
                             cmsUInt32Number channels, cmsSAMPLER16 sample)
{
    cmsHPROFILE h = cmsCreateProfilePlaceholder(NULL);
    cmsPipeline *a2b = cmsPipelineAlloc(NULL, channels, 3);
    cmsStage *table = cmsStageAllocCLut16bit(NULL, 9, channels, 3, NULL);

    cmsSetProfileVersion(h, 4.3);
    cmsSetDeviceClass(h, class);
    cmsSetColorSpace(h, space);
    cmsSetPCS(h, cmsSigLabData);
    cmsStageSampleCLut16bit(table, sample, NULL, 0);
    cmsPipelineInsertStage(a2b, cmsAT_END, cmsStageAllocToneCurves(NULL, channels, NULL));
    cmsPipelineInsertStage(a2b, cmsAT_END, table);
    cmsPipelineInsertStage(a2b, cmsAT_END, cmsStageAllocToneCurves(NULL, 3, NULL));
    cmsWriteTag(h, cmsSigAToB0Tag, a2b);
    cmsLinkTag(h, cmsSigAToB1Tag, cmsSigAToB0Tag);
    cmsWriteTag(h, cmsSigMediaWhitePointTag, cmsD50_XYZ());
    cmsPipelineFree(a2b);
    return saved(h);
}

static profile press_profile(void)
{
    return table_profile(cmsSigOutputClass, cmsSigCmykData, 4, sample_press);
}

static profile scanner_profile(void)
{
    return table_profile(cmsSigInputClass, cmsSigRgbData, 3, sample_scanner);
}

/* ---- images that are nothing but a profile ---- */

static profile given;

static void give_block(tg_image *img, tg_block which, size_t limit_bytes, tg_buf *out)
{
    (void)img;
    if (which == TG_BLOCK_ICC && given.n <= limit_bytes)
        tg_buf_append(out, given.data, given.n);
}

static const tg_codec codec = {.name = "test", .block = give_block};

static tg_image image_with(profile p, tg_space space, bool alpha, uint8_t bits)
{
    tg_image img = {.codec = &codec, .native = {space, alpha, bits}};

    given = p;
    return img;
}

static const tg_colour *resolved(profile p, tg_space space, bool alpha, uint8_t bits)
{
    tg_colour_policy policy = {.max_icc_bytes = 65536};
    tg_image img = image_with(p, space, alpha, bits);

    tg_colour_resolve(&img, &policy);
    return img.colour;
}

/* ---- what the standards say ---- */

/* IEC 61966-2-1, 5.2. */
static double srgb_coded(double linear)
{
    linear = linear < 0 ? 0 : linear > 1 ? 1 : linear;
    return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

/* Adobe RGB (1998), 4.3.5, then IEC 61966-2-1, 5.1: both of D65, so no adaptation. */
static void srgb_of_adobe(const double in[3], double out[3])
{
    static const double to_xyz[3][3] = {
        {0.57667, 0.18556, 0.18823}, {0.29734, 0.62736, 0.07529}, {0.02703, 0.07069, 0.99134}};
    static const double from_xyz[3][3] = {{3.2406255, -1.5372080, -0.4986286},
                                          {-0.9689307, 1.8757561, 0.0415175},
                                          {0.0557101, -0.2040211, 1.0569959}};
    double xyz[3] = {0};

    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            xyz[i] += to_xyz[i][c] * pow(in[c], ADOBE_GAMMA);
    for (int i = 0; i < 3; i++)
        out[i] =
            srgb_coded(from_xyz[i][0] * xyz[0] + from_xyz[i][1] * xyz[1] + from_xyz[i][2] * xyz[2]);
}

static void check_near(int line, double got, double want, double tolerance, const char *what)
{
    CHECK_ROW(line, fabs(got - want) <= tolerance, "%s: %g, expected %g", what, got, want);
}

/* ---- gray and RGB ---- */

static void test_identity(void)
{
    profile p = srgb_profile();
    const tg_colour *colour = resolved(p, TG_SPACE_RGB, false, 8);
    uint8_t px[6] = {1, 2, 3, 250, 128, 0}, out[6];

    CHECK(colour && tg_colour_is_identity(colour));
    CHECK_INT(tg_colour_profile(colour).n, 0);
    tg_colour_row(colour, out, px, 2);
    CHECK(memcmp(px, out, sizeof px) == 0);
    tg_colour_release(colour);
    CHECK(tg_colour_is_identity(NULL));
    CHECK_INT(tg_colour_profile(NULL).n, 0);
    free(p.data);
}

static void test_rgb_8(void)
{
    profile p = adobe_profile();
    const tg_colour *colour = resolved(p, TG_SPACE_RGB, true, 8);

    CHECK(colour && !tg_colour_is_identity(colour));
    for (int i = 0; i < 512 && colour; i++) {
        uint8_t px[4] = {(uint8_t)(i % 8 * 36), (uint8_t)(i / 8 % 8 * 36), (uint8_t)(i / 64 * 36),
                         (uint8_t)i};
        uint8_t out[4];
        double want[3], in[3] = {px[0] / 255.0, px[1] / 255.0, px[2] / 255.0};

        srgb_of_adobe(in, want);
        tg_colour_row(colour, out, px, 1);
        for (int c = 0; c < 3; c++)
            check_near(__LINE__, out[c], want[c] * 255, 1, "Adobe RGB");
        CHECK_INT(out[3], px[3]);
        tg_colour_row(colour, px, px, 1);
        CHECK(memcmp(px, out, 4) == 0);
    }
    tg_colour_release(colour);
    free(p.data);
}

static void test_rgb_16(void)
{
    profile p = adobe_profile();
    const tg_colour *colour = resolved(p, TG_SPACE_RGB, false, 16);

    for (unsigned i = 0; i < 1000; i++) {
        uint16_t px[3], out[3];
        double want[3], in[3];

        for (int c = 0; c < 3; c++) {
            px[c] = (uint16_t)fixture_random(65536);
            in[c] = px[c] / 65535.0;
        }
        srgb_of_adobe(in, want);
        tg_colour_row(colour, out, px, 1);
        for (int c = 0; c < 3; c++) /* the matrices of the standards have five digits */
            check_near(__LINE__, out[c], want[c] * 65535, 64 + 257 * (want[c] < 0.1), "16 bit");
    }
    tg_colour_release(colour);
    free(p.data);
}

static void test_gray(void)
{
    profile p = gray_profile(1.8);
    const tg_colour *c8 = resolved(p, TG_SPACE_GRAY, false, 8);
    const tg_colour *c16 = resolved(p, TG_SPACE_GRAY, true, 16);

    CHECK(c8 && c16 && c8 != c16);
    for (int v = 0; v < 256; v++) {
        double want = srgb_coded(pow(v / 255.0, 1.8));
        uint8_t px8 = (uint8_t)v;
        uint16_t px16[2] = {(uint16_t)(v * 257), 12345};

        tg_colour_row(c8, &px8, &px8, 1);
        check_near(__LINE__, px8, want * 255, 0.6, "gray of gamma 1.8");
        tg_colour_row(c16, px16, px16, 1);
        check_near(__LINE__, px16[0], want * 65535, 16, "gray of gamma 1.8, 16 bit");
        CHECK_INT(px16[1], 12345);
    }
    tg_colour_release(c8);
    tg_colour_release(c16);
    free(p.data);
}

/* ---- CMYK and Lab ---- */

static void test_cmyk_formula(void)
{
    const uint8_t px[3][5] = {{0, 0, 0, 0, 9}, {255, 0, 0, 0, 8}, {51, 102, 0, 128, 7}};
    const uint16_t wide[4] = {0, 65535, 32768, 0};
    uint8_t out[3][4];
    uint16_t out16[3];
    /* (1 - 0.2) (1 - 128/255) 255 = 101.6; (1 - 0.4) ... = 76.2; 127 */
    const uint8_t want[3][4] = {{255, 255, 255, 9}, {0, 255, 255, 8}, {102, 76, 127, 7}};

    tg_colour_to_rgb(NULL, (tg_native){TG_SPACE_CMYK, true, 8}, out, px, 3);
    CHECK(memcmp(out, want, sizeof want) == 0);
    tg_colour_to_rgb(NULL, (tg_native){TG_SPACE_CMYK, false, 16}, out16, wide, 1);
    CHECK_INT(out16[0], 65535);
    CHECK_INT(out16[1], 0);
    CHECK_INT(out16[2], 32767);
}

/* L*a*b* of D50 to sRGB: CIE 15, 8.2.1.1, then the matrix of Bradford-adapted sRGB (Lindbloom). */
static void srgb_of_lab(const double lab[3], double black, double out[3])
{
    static const double from_d50[3][3] = {{3.1338561, -1.6168667, -0.4906146},
                                          {-0.9787684, 1.9161415, 0.0334540},
                                          {0.0719453, -0.2289914, 1.4052427}};
    static const double white[3] = {0.9642, 1, 0.8249};
    double fy = (lab[0] + 16) / 116, f[3] = {fy + lab[1] / 500, fy, fy - lab[2] / 200}, xyz[3];

    for (int i = 0; i < 3; i++) {
        double t = f[i] > 6.0 / 29 ? pow(f[i], 3) : 108.0 / 841 * (f[i] - 4.0 / 29);
        xyz[i] = white[i] * (t - black) / (1 - black);
    }
    for (int i = 0; i < 3; i++)
        out[i] =
            srgb_coded(from_d50[i][0] * xyz[0] + from_d50[i][1] * xyz[1] + from_d50[i][2] * xyz[2]);
}

static void test_lab(void)
{
    const uint8_t known[4][4] = {
        {255, 128, 128, 1}, {0, 128, 128, 2}, {128, 128, 128, 3}, {138, 209, 198, 4}};
    /* white, black; L* = 50.2: 119.4; L* 54.1, a* 81, b* 70 is sRGB's red (Lindbloom: 54.29, 80.81,
     * 69.89) */
    const uint8_t want[4][4] = {
        {255, 255, 255, 1}, {0, 0, 0, 2}, {119, 119, 119, 3}, {255, 0, 0, 4}};
    uint8_t out[4][4];

    tg_colour_to_rgb(NULL, (tg_native){TG_SPACE_LAB, true, 8}, out, known, 4);
    for (int i = 0; i < 4; i++)
        for (int c = 0; c < 4; c++)
            check_near(__LINE__, out[i][c], want[i][c], c < 3 ? 2 : 0, "8-bit L*a*b*");
    for (int i = 0; i < 1000; i++) {
        uint16_t px[3], got[3];
        double lab[3], rgb[3];

        for (int c = 0; c < 3; c++)
            px[c] = (uint16_t)fixture_random(65536);
        lab[0] = px[0] * 100 / 65535.0;
        lab[1] = px[1] / 257.0 - 128;
        lab[2] = px[2] / 257.0 - 128;
        srgb_of_lab(lab, 0, rgb);
        tg_colour_to_rgb(NULL, (tg_native){TG_SPACE_LAB, false, 16}, got, px, 1);
        for (int c = 0; c < 3; c++)
            check_near(__LINE__, got[c], rgb[c] * 65535, 100 + 257 * (rgb[c] < 0.1),
                       "16-bit L*a*b*");
    }
}

static void test_cmyk_profile(void)
{
    profile p = press_profile();
    const tg_colour *colour = resolved(p, TG_SPACE_CMYK, true, 8);
    double off = 0;

    CHECK(colour != NULL && tg_colour_is_identity(colour));
    for (int i = 0; i < 1000; i++) {
        uint8_t px[5], out[4];
        double ink[4], lab[3], want[3];

        for (int c = 0; c < 5; c++)
            px[c] = (uint8_t)fixture_random(256);
        for (int c = 0; c < 4; c++)
            ink[c] = px[c] / 255.0;
        press_lab(ink, lab);
        srgb_of_lab(lab, 0, want); /* a press tells its black by tables that this one lacks */
        tg_colour_to_rgb(colour, (tg_native){TG_SPACE_CMYK, true, 8}, out, px, 1);
        CHECK_INT(out[3], px[4]);
        for (int c = 0; c < 3; c++) {
            check_near(__LINE__, out[c], want[c] * 255, 12, "CMYK by a profile");
            off += fabs(out[c] - want[c] * 255);
        }
    }
    check_near(__LINE__, off / 3000, 0, 1, "CMYK by a profile, mean");
    tg_colour_release(colour);
    free(p.data);
}

/* Tables, and black-point compensation: black is black, white is white. */
static void test_scanner_profile(uint8_t bits)
{
    const double black = pow((20 + 16) / 116.0, 3); /* Y of L* = 20 */
    double max = bits == 8 ? 255 : 65535, ends[2][3] = {{0, 0, 0}, {1, 1, 1}};
    profile p = scanner_profile();
    const tg_colour *colour = resolved(p, TG_SPACE_RGB, false, bits);

    CHECK(colour && !tg_colour_is_identity(colour));
    for (int i = 0; i < 1000; i++) {
        uint16_t px16[3];
        uint8_t px8[3];
        double in[3], lab[3], want[3];

        for (int c = 0; c < 3; c++) {
            px16[c] = (uint16_t)(i < 2 ? ends[i][c] * max : fixture_random((uint32_t)max + 1));
            px8[c] = (uint8_t)px16[c];
            in[c] = px16[c] / max;
        }
        scanner_lab(in, lab);
        srgb_of_lab(lab, black, want);
        tg_colour_row(colour, bits == 8 ? (void *)px8 : px16, bits == 8 ? (void *)px8 : px16, 1);
        for (int c = 0; c < 3; c++)
            check_near(__LINE__, (bits == 8 ? px8[c] : px16[c]) / max * 255, want[c] * 255,
                       i < 2 ? 0.5 : 3, "RGB by tables");
    }
    tg_colour_release(colour);
    free(p.data);
}

/* ---- profiles that are no use ---- */

static unsigned log_lines(const char *path)
{
    unsigned n = 0;
    size_t bytes;
    uint8_t *text = fixture_load(path, &bytes);

    for (size_t i = 0; i < bytes; i++)
        n += text[i] == '\n';
    free(text);
    return n;
}

/* Ignored with exactly one line. */
static void check_refused(int line, profile p, tg_space space, const char *log, const char *what)
{
    unsigned before = log_lines(log), after;
    const tg_colour *colour = resolved(p, space, false, 8);

    after = log_lines(log);
    CHECK_ROW(line, colour == NULL, "%s: taken", what);
    CHECK_ROW(line, after == before + 1, "%s: %u lines in the log", what, after - before);
    tg_colour_release(colour);
}

static profile changed(profile p, size_t at, const char *four)
{
    uint8_t *copy = malloc(p.n);

    memcpy(copy, p.data, p.n);
    memcpy(copy + at, four, 4);
    return (profile){copy, p.n};
}

static void test_refused(void)
{
    static const struct {
        size_t at;
        const char *four, *what;
    } headers[] = {{36, "xxxx", "signature"},       {12, "link", "device link"},
                   {12, "abst", "abstract"},        {12, "nmcl", "named colours"},
                   {16, "CMYK", "CMYK for RGB"},    {16, "GRAY", "gray for RGB"},
                   {16, "Lab ", "Lab for RGB"},     {20, "RGB ", "connection space"},
                   {0, "\x7f\xff\xff\xff", "size"}, {0, "\0\0\0\0", "size of 0"},
                   {128, "\0\0\0\0", "no tags"}};
    const char *log = fixture_path("log");
    profile srgb = srgb_profile(), gray = gray_profile(1.8), large;

    tg_log_open(log, TG_LOG_REQUEST);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        profile bad = changed(srgb, headers[i].at, headers[i].four);

        check_refused(__LINE__, bad, TG_SPACE_RGB, log, headers[i].what);
        free(bad.data);
    }
    check_refused(__LINE__, srgb, TG_SPACE_GRAY, log, "RGB for gray");
    check_refused(__LINE__, srgb, TG_SPACE_CMYK, log, "RGB for CMYK");
    check_refused(__LINE__, srgb, TG_SPACE_LAB, log, "RGB for Lab");
    check_refused(__LINE__, gray, TG_SPACE_RGB, log, "gray for RGB");
    check_refused(__LINE__, (profile){srgb.data, srgb.n - 1}, TG_SPACE_RGB, log, "cut by a byte");
    check_refused(__LINE__, (profile){srgb.data, 20}, TG_SPACE_RGB, log, "cut in the header");
    large = (profile){calloc(1, (17u << 20)), 17u << 20};
    CHECK(resolved(large, TG_SPACE_RGB, false, 8) == NULL);
    CHECK(resolved((profile){NULL, 0}, TG_SPACE_RGB, false, 8) == NULL);
    tg_log_open("", 0);
    free(large.data);
    free(srgb.data);
    free(gray.data);
}

/* Neither a crash nor a long time nor much memory. argv[1]: how many; more under a sanitizer. */
static void test_mutated(unsigned n)
{
    profile of[] = {srgb_profile(), adobe_profile(), gray_profile(2.2), press_profile(),
                    scanner_profile()};
    static const tg_space spaces[] = {TG_SPACE_RGB, TG_SPACE_RGB, TG_SPACE_GRAY, TG_SPACE_CMYK,
                                      TG_SPACE_RGB};
    uint8_t in[8 * 64], out[8 * 64];
    unsigned taken = 0;

    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)fixture_random(256);
    for (unsigned i = 0; i < n; i++) {
        unsigned k = fixture_random(5), changes = 1 + fixture_random(6);
        uint8_t bits = fixture_random(2) ? 16 : 8;
        profile p = changed(of[k], 100, "----");
        const tg_colour *colour;

        for (unsigned j = 0; j < changes; j++) /* mostly among the tags and at their beginnings */
            p.data[128 + fixture_random(fixture_random(3) ? 200 : (uint32_t)p.n - 128)] =
                (uint8_t)fixture_random(256);
        colour = resolved(p, spaces[k], false, bits);
        taken += colour != NULL;
        if (spaces[k] == TG_SPACE_CMYK)
            tg_colour_to_rgb(colour, (tg_native){TG_SPACE_CMYK, false, bits}, out, in, 64);
        else if (colour)
            tg_colour_row(colour, out, in, 64);
        tg_colour_release(colour);
        free(p.data);
    }
    CHECK(taken > n / 4 && taken < n);
    CHECK(tg_image_in_use() < (size_t)64 << 20);
    for (int i = 0; i < 5; i++)
        free(of[i].data);
}

/* ---- what is kept, what is shared ---- */

static void check_kept(int line, profile p, tg_space space, tg_colour_policy policy, bool kept)
{
    tg_image img = image_with(p, space, false, 8);
    tg_str got;

    tg_colour_resolve(&img, &policy);
    got = tg_colour_profile(img.colour);
    CHECK_ROW(line, got.n == (kept ? p.n : 0), "%zu bytes kept of %zu", got.n, p.n);
    CHECK_ROW(line, !kept || memcmp(got.p, p.data, p.n) == 0, "other bytes");
    CHECK_ROW(line, !kept || tg_colour_is_identity(img.colour), "kept and converted");
    tg_colour_release(img.colour);
}

static void test_kept(void)
{
    profile adobe = adobe_profile(), srgb = srgb_profile(), gray = gray_profile(1.8);
    profile press = press_profile(), overlapping = changed(adobe, 132 + 8, "\x7f\xff\xff\xff");
    tg_colour_policy any = {true, -1}, exact = {true, (int64_t)adobe.n};
    tg_colour_policy less = {true, (int64_t)adobe.n - 1}, none = {true, 0}, convert = {false, -1};
    uint8_t px[3] = {0, 200, 0};
    tg_image img = image_with(adobe, TG_SPACE_RGB, false, 8);

    check_kept(__LINE__, adobe, TG_SPACE_RGB, any, true);
    check_kept(__LINE__, srgb, TG_SPACE_RGB, any, true);
    check_kept(__LINE__, gray, TG_SPACE_GRAY, any, true);
    check_kept(__LINE__, adobe, TG_SPACE_RGB, exact, true);
    check_kept(__LINE__, adobe, TG_SPACE_RGB, less, false);
    check_kept(__LINE__, adobe, TG_SPACE_RGB, none, false);
    check_kept(__LINE__, adobe, TG_SPACE_RGB, convert, false);
    check_kept(__LINE__, press, TG_SPACE_CMYK, any, false);
    check_kept(__LINE__, overlapping, TG_SPACE_RGB, any, false);
    /* for formats that cannot say what it is */
    tg_colour_resolve(&img, &any);
    tg_colour_row(img.colour, px, px, 1);
    CHECK(px[0] == 0 && px[1] > 200);
    tg_colour_release(img.colour);
    free(adobe.data), free(srgb.data), free(gray.data), free(press.data), free(overlapping.data);
}

static void test_shared(void)
{
    enum { MANY = 40 };
    profile p = adobe_profile();
    const tg_colour *one = resolved(p, TG_SPACE_RGB, false, 8), *many[MANY];

    CHECK(one == resolved(p, TG_SPACE_RGB, false, 8));
    tg_colour_release(one);
    for (int i = 0; i < MANY; i++) {
        profile gray = gray_profile(1 + i / 16.0);

        many[i] = resolved(gray, TG_SPACE_GRAY, false, 16);
        CHECK(many[i] != NULL);
        free(gray.data);
    }
    for (int i = 0; i < MANY; i++) {
        uint16_t px = 32768;

        tg_colour_row(many[i], &px, &px, 1);
        check_near(__LINE__, px, srgb_coded(pow(32768 / 65535.0, 1 + i / 16.0)) * 65535, 100,
                   "one of many");
        tg_colour_release(many[i]);
    }
    CHECK(one == resolved(p, TG_SPACE_RGB, false, 8));
    tg_colour_release(one);
    tg_colour_release(one);
    free(p.data);
}

int main(int argc, char **argv)
{
    fixture_init();
    test_identity();
    test_rgb_8();
    test_rgb_16();
    test_gray();
    test_cmyk_formula();
    test_lab();
    test_cmyk_profile();
    test_scanner_profile(8);
    test_scanner_profile(16);
    test_refused();
    test_kept();
    test_shared();
    test_mutated(argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 150);
    return check_done();
}
