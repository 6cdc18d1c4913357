/* IIP without an image: what commands mean, what is refused with which code, the texts of OBJ. */
#include <math.h>

#include "check.h"
#include "tegula/iip.h"

static tg_arena *arena;
static tg_config config;

static bool parse(const char *query, tg_iip *out, tg_iip_error *error)
{
    *error = (tg_iip_error){0};
    tg_arena_reset(arena);
    return tg_iip_parse(&config, tg_str_of(query), arena, out, error);
}

/* ---- errors ---- */

static const struct {
    int line;
    const char *query, *text; /* NULL: none */
} errors[] = {
#define ROW(query, text)                                                                           \
    {                                                                                              \
        __LINE__, query, text                                                                      \
    }
    ROW("", "Error/4:2 1 \r\n"),
    ROW("FIF=a", "Error/9:2 1 FIF=a\r\n"),
    ROW("FOO=1", "Error/7:2 2 FOO\r\n"),
    ROW("FIF=a&FOO=1", "Error/7:2 2 FOO\r\n"),
    ROW("FOO", "Error/7:2 2 FOO\r\n"),
    ROW("FIF=a&FOO=1&JTL=0,0", NULL),
    ROW("FOO=1&FIF=a&WID=2&CVT=jpeg&t=1", NULL),
    ROW("JTL=0,0", "Error/7:1 3 JTL\r\n"),
    ROW("jtl=0,0", "Error/7:1 3 jtl\r\n"),
    ROW("CVT=jpeg", "Error/7:1 3 CVT\r\n"),
    ROW("TIL=0,0", "Error/7:1 3 TIL\r\n"),
    ROW("PFL=0:0,0-1,1", "Error/7:1 3 PFL\r\n"),
    ROW("SPECTRA=0,0,0,0", "Error/11:1 3 SPECTRA\r\n"),
    ROW("MINMAX=0:1,2", "Error/10:1 3 MINMAX\r\n"),
    ROW("MINMAX=0:1,2&FIF=a&CVT=jpeg", "Error/10:1 3 MINMAX\r\n"),
    ROW("CVT=jpeg&FIF=a", "Error/7:1 3 CVT\r\n"),
    ROW("FIF", "Error/7:2 1 FIF\r\n"),
    ROW("FIF=%zz&JTL=0,0", "Error/7:2 1 FIF\r\n"),
    ROW("FIF=%00&JTL=0,0", "Error/7:2 1 FIF\r\n"),
    ROW("FIF=%ff&JTL=0,0", "Error/7:2 1 FIF\r\n"),
    ROW("FIF=a%0d%0ab&JTL=0,0", "Error/7:2 1 FIF\r\n"),
    ROW("FIF=a&JTL=0,0&WID=-1", NULL), /* behind the output command */
    ROW("FIF=a&JTL=0,0&JTL=x", NULL),
    ROW("FIF=a&WID=-1&JTL=0,0", "Error/7:2 1 WID\r\n"),
    ROW("&&FIF=a&&JTL=0,0&&", NULL),
    ROW("FIF=a&WID=&JTL=0,0", NULL),
    ROW("FIF=a&INV&JTL=0,0", NULL),
    ROW("FIF=a&INV=&JTL=0,0", NULL),
    ROW("FIF=a&INV=yes&JTL=0,0", NULL),
    ROW("FIF=a&ICC&JTL=0,0", NULL),
    ROW("FIF=a&JTL", "Error/7:2 1 JTL\r\n"),
    ROW("FIF=a&OBJ", "Error/7:2 1 OBJ\r\n"),
    ROW("FIF=a&JTL=0", "Error/7:2 1 JTL\r\n"),
    ROW("FIF=a&JTL=0,0,0", "Error/7:2 1 JTL\r\n"),
    ROW("FIF=a&JTL=0%2C0", "Error/7:2 1 JTL\r\n"),
    ROW("FIF=a&JTL=2147483647,-2147483648", NULL),
    ROW("FIF=a&JTL=2147483648,0", "Error/7:2 1 JTL\r\n"),
    ROW("FIF=a&JTL=0,-2147483649", "Error/7:2 1 JTL\r\n"),
    ROW("FIF=a&JTL=0x1,0", "Error/7:2 1 JTL\r\n"),
    ROW("FIF=a&JTL=1 ,0", "Error/7:2 1 JTL\r\n"),
    ROW("FIF=a&JTL=3,17?1712345678901", NULL),
#ifdef HAVE_AVIF
    ROW("FIF=a&ATL=0,0", NULL),
    ROW("FIF=a&CVT=avif", NULL),
#else
    ROW("FIF=a&ATL=0,0", "Error/7:2 1 ATL\r\n"),
    ROW("FIF=a&CVT=avif", "Error/7:2 1 CVT\r\n"),
#endif
    ROW("FIF=a&ATL=0", "Error/7:2 1 ATL\r\n"),
    ROW("FIF=a&CVT=bmp", "Error/7:2 1 CVT\r\n"),
    ROW("FIF=a&CVT=JPEG", NULL),
    ROW("FIF=a&CVT=jpg", NULL),
    ROW("FIF=a&CVT=Png", NULL),
    ROW("FIF=a&CVT=webp", NULL),
    ROW("FIF=a&CVT=tiff", NULL),
    ROW("FIF=a&RGN=0,0,1&CVT=jpeg", "Error/7:2 1 RGN\r\n"),
    ROW("FIF=a&RGN=0,0,1,1,1&CVT=jpeg", "Error/7:2 1 RGN\r\n"),
    ROW("FIF=a&RGN=0,0,0,1&CVT=jpeg", "Error/7:2 1 RGN\r\n"),
    ROW("FIF=a&RGN=0,0,1,-1&CVT=jpeg", "Error/7:2 1 RGN\r\n"),
    ROW("FIF=a&RGN=1,0,1,1&CVT=jpeg", "Error/7:2 1 RGN\r\n"),
    ROW("FIF=a&RGN=2,3,.5,.5&WID=50&CVT=jpeg", "Error/7:2 1 RGN\r\n"),
    ROW("FIF=a&RGN=10000,2000,200,400&CVT=jpeg", "Error/7:2 1 RGN\r\n"),
    ROW("FIF=a&RGN=-1,0,1,1&CVT=jpeg", "Error/7:2 1 RGN\r\n"),
    ROW("FIF=a&RGN=nan,0,1,1&CVT=jpeg", "Error/7:2 1 RGN\r\n"),
    ROW("FIF=a&RGN=0,0,inf,1&CVT=jpeg", "Error/7:2 1 RGN\r\n"),
    ROW("FIF=a&RGN=0,0,1e999,1&CVT=jpeg", "Error/7:2 1 RGN\r\n"),
    ROW("FIF=a&RGN=1e-7,1.E-3,.5,5.&CVT=jpeg", NULL),
    ROW("FIF=a&WID=400.5&HEI=0&CVT=jpeg", NULL),
    ROW("FIF=a&WID=4294967296&CVT=jpeg", "Error/7:2 1 WID\r\n"),
    ROW("FIF=a&WID=NaN&CVT=jpeg", "Error/7:2 1 WID\r\n"),
    ROW("FIF=a&HEI=1.2.3&CVT=jpeg", "Error/7:2 1 HEI\r\n"),
    ROW("FIF=a&ROT=45&CVT=jpeg", "Error/7:2 1 ROT\r\n"),
    ROW("FIF=a&ROT=361&CVT=jpeg", "Error/7:2 1 ROT\r\n"),
    ROW("FIF=a&ROT=450&CVT=jpeg", "Error/7:2 1 ROT\r\n"),
    ROW("FIF=a&ROT=!!90&CVT=jpeg", "Error/7:2 1 ROT\r\n"),
    ROW("FIF=a&ROT=!&CVT=jpeg", "Error/7:2 1 ROT\r\n"),
    ROW("FIF=a&ROT=-270&CVT=jpeg", NULL),
    ROW("FIF=a&QLT=x&CVT=jpeg", "Error/7:2 1 QLT\r\n"),
    ROW("FIF=a&QLT=none:1:2&CVT=jpeg", "Error/7:2 1 QLT\r\n"),
    ROW("FIF=a&QLT=lzma:1&CVT=tiff", "Error/7:2 1 QLT\r\n"),
    ROW("FIF=a&QLT=DEFLATE:6&CVT=tiff", NULL),
    ROW("FIF=a&QLT=-1&CVT=webp", NULL),
    ROW("FIF=a&SDS=-1&CVT=jpeg", "Error/7:2 1 SDS\r\n"),
    ROW("FIF=a&SDS=0,90,1&CVT=jpeg", "Error/7:2 1 SDS\r\n"),
    ROW("FIF=a&SDS=0,&CVT=jpeg", "Error/7:2 1 SDS\r\n"),
    ROW("FIF=a&SDS=0,90&CVT=jpeg", NULL),
    ROW("FIF=a&LYR=0&CVT=jpeg", "Error/7:2 1 LYR\r\n"),
    ROW("FIF=a&LYR=3&CVT=jpeg", NULL),
    ROW("FIF=a&CNT=-1&CVT=jpeg", "Error/7:2 1 CNT\r\n"),
    ROW("FIF=a&CNT=1e39&CVT=jpeg", "Error/7:2 1 CNT\r\n"),
    ROW("FIF=a&CNT=eqq&CVT=jpeg", "Error/7:2 1 CNT\r\n"),
    ROW("FIF=a&CNT=EQ&CNT=Stretch&CNT=2&CVT=jpeg", NULL),
    ROW("FIF=a&GAM=-2&CVT=jpeg", "Error/7:2 1 GAM\r\n"),
    ROW("FIF=a&GAM=logarithm&CVT=jpeg", NULL),
    ROW("FIF=a&COL=blue&CVT=jpeg", "Error/7:2 1 COL\r\n"),
    ROW("FIF=a&COL=GREY&CVT=jpeg", NULL),
    ROW("FIF=a&CMP=nothing&CVT=jpeg", NULL),
    ROW("FIF=a&SHD=1&CVT=jpeg", "Error/7:2 1 SHD\r\n"),
    ROW("FIF=a&SHD=1,2,3&CVT=jpeg", "Error/7:2 1 SHD\r\n"),
    ROW("FIF=a&SHD=h,30&CVT=jpeg", "Error/7:2 1 SHD\r\n"),
    ROW("FIF=a&MINMAX=0:1&CVT=jpeg", "Error/10:2 1 MINMAX\r\n"),
    ROW("FIF=a&MINMAX=0:1,1&CVT=jpeg", "Error/10:2 1 MINMAX\r\n"),
    ROW("FIF=a&MINMAX=-1:0,1&CVT=jpeg", "Error/10:2 1 MINMAX\r\n"),
    ROW("FIF=a&MINMAX=4:0,1&CVT=jpeg", NULL),
    ROW("FIF=a&MINMAX=-1:0,1&CVT=jpeg", "Error/10:2 1 MINMAX\r\n"),
    ROW("FIF=a&MINMAX=:0,1&CVT=jpeg", "Error/10:2 1 MINMAX\r\n"),
    ROW("FIF=a&MINMAX=-:0,1&CVT=jpeg", NULL),
    ROW("FIF=a&CTW=[]&JTL=0,0", "Error/7:2 1 CTW\r\n"),
    ROW("FIF=a&CTW=[1&JTL=0,0", "Error/7:2 1 CTW\r\n"),
    ROW("FIF=a&CTW=1]&JTL=0,0", "Error/7:2 1 CTW\r\n"),
    ROW("FIF=a&CTW=1&JTL=0,0", NULL),
    ROW("FIF=a&CTW=0,0,1;0,1,0;1,0,0&JTL=0,0", NULL),
    ROW("FIF=a&CTW=[1;1]&JTL=0,0", "Error/7:2 1 CTW\r\n"),
    ROW("FIF=a&CTW=[1;;1]&JTL=0,0", "Error/7:2 1 CTW\r\n"),
    ROW("FIF=a&CTW=[1;1;1;1;1]&JTL=0,0", "Error/7:2 1 CTW\r\n"),
    ROW("FIF=a&CTW=[1,x;1;1]&JTL=0,0", "Error/7:2 1 CTW\r\n"),
    ROW("FIF=a&CTW=%5B1,0,0%3B0,1,0%3B0,0,1%5D&JTL=0,0", NULL),
    ROW("FIF=a&CTW=[1,0,0;0,1,0;0,0,1]&JTL=0,0", NULL),
    ROW("FIF=a&CNV=[1,1]&JTL=0,0", "Error/7:2 1 CNV\r\n"),
    ROW("FIF=a&CNV=[]&JTL=0,0", "Error/7:2 1 CNV\r\n"),
    ROW("FIF=a&CNV=blur&JTL=0,0", "Error/7:2 1 CNV\r\n"),
    ROW("FIF=a&CNV=[1,1,1,1,1,1,1,1,1,1]&JTL=0,0", "Error/7:2 1 CNV\r\n"),
    ROW("FIF=a&CNV=Sharpen&JTL=0,0", NULL),
    ROW("FIF=a&TIL=0&JTL=0,0", "Error/7:2 1 TIL\r\n"),
    ROW("FIF=a&TIL=0,-1", "Error/7:2 1 TIL\r\n"),
    ROW("FIF=a&TIL=0,0-1-2", "Error/7:2 1 TIL\r\n"),
    ROW("FIF=a&PFL=0", "Error/7:2 1 PFL\r\n"),
    ROW("FIF=a&PFL=0:0", "Error/7:2 1 PFL\r\n"),
    ROW("FIF=a&PFL=0:0,0-5", "Error/7:2 1 PFL\r\n"),
    ROW("FIF=a&PFL=0:0,0", NULL),
    ROW("FIF=a&SPECTRA=x", "Error/11:2 1 SPECTRA\r\n"),
    ROW("FIF=a&JTLS=0,1,2,90", NULL),
    ROW("FIF=a&JTLS=-1,1,2,90", "Error/8:2 1 JTLS\r\n"),
#undef ROW
};

static void test_errors(void)
{
    tg_iip iip;
    tg_iip_error error;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        tg_buf text = {0};
        bool ok = parse(errors[i].query, &iip, &error);
        if (!ok)
            tg_iip_error_text(&error, &text);
        tg_str got = tg_buf_view(&text);
        CHECK_ROW(errors[i].line, ok == !errors[i].text, "%s: %.*s", errors[i].query,
                  TG_STR_ARG(got));
        CHECK_ROW(errors[i].line, ok || tg_str_is(got, errors[i].text), "%s: %.*s", errors[i].query,
                  TG_STR_ARG(got));
        tg_buf_free(&text);
    }
}

/* Printable ASCII, 64 bytes at most, with the length as it is. */
static void test_error_text(void)
{
    tg_buf out = {0};
    char name[200];
    memset(name, 'x', sizeof name);
    tg_iip_error_text(&(tg_iip_error){TG_IIP_UNKNOWN, {name, sizeof name}}, &out);
    CHECK_INT(out.len, strlen("Error/68:2 2 ") + 64 + 2);
    CHECK(memcmp(out.data, "Error/68:2 2 xxx", 16) == 0);
    out.len = 0;
    tg_iip_error_text(&(tg_iip_error){TG_IIP_UNKNOWN, TG_STR("a\r\nb \xe9<")}, &out);
    CHECK_TEXT((char *)out.data, out.len, "Error/11:2 2 a__b__<\r\n");
    tg_buf_free(&out);
}

/* ---- meanings ---- */

static void test_images(void)
{
    tg_iip iip;
    tg_iip_error error;
    CHECK(parse("FIF=a&fif=dir%2Fb+c%41%2541&JTL=3,17", &iip, &error));
    CHECK_TEXT(iip.image.identifier.p, iip.image.identifier.n, "dir/b+cA%41");
    CHECK(iip.output == TG_IIP_TILE && iip.resolution == 3 && iip.tile == 17);
    CHECK(parse("FIF=a&SDS=7,90&JTL=0,0", &iip, &error));
    CHECK_INT(iip.image.view, 7);
    CHECK(parse("FIF=a&JTLS=4,1,2,90", &iip, &error));
    CHECK(iip.image.view == 4 && iip.resolution == 1 && iip.tile == 2);
    CHECK(parse("FIF=a?b&JTL=3,17?1712345678901", &iip, &error));
    CHECK(iip.tile == 17);
    CHECK_TEXT(iip.image.identifier.p, iip.image.identifier.n, "a?b");
    CHECK(parse("FIF=a&JTL=-3,2.9", &iip, &error));
    CHECK(iip.resolution == -3 && iip.tile == 2);
}

static void test_view(void)
{
    tg_iip iip;
    tg_iip_error error;
    CHECK(parse("FIF=a&WID=400.7&RGN=-.1,.25,.5,1e-1&ROT=!-90&QLT=30&CVT=png", &iip, &error));
    CHECK(iip.output == TG_IIP_VIEW && iip.job.format == TG_FORMAT_PNG);
    CHECK(iip.job.size == TG_SIZE_CONFINE && iip.job.w == 400 && iip.job.h == UINT64_MAX);
    CHECK(iip.job.region == TG_REGION_PERCENT && iip.job.rx == -10 && iip.job.ry == 25);
    CHECK(iip.job.mirror && iip.job.rotation == 270);
    CHECK(iip.job.has_encode_quality && iip.job.encode_quality == 30);
    CHECK(parse("FIF=a&ROT=-360&CVT=jpeg", &iip, &error));
    CHECK(iip.job.rotation == 0 && !signbit(iip.job.rotation));
    CHECK(parse("FIF=a&WID=0&HEI=0&CVT=jpeg", &iip, &error) && iip.job.size == TG_SIZE_MAX);
    CHECK(parse("FIF=a&ROT=90&ROT=180&QLT=zstd:5&CVT=tiff", &iip, &error));
    CHECK(iip.job.rotation == 180 && iip.job.compression == TG_TIFF_ZSTD);
}

static void test_pixels(void)
{
    tg_iip iip;
    tg_iip_error error;
    const tg_process *p = &iip.job.process;
    CHECK(
        parse("FIF=a&CTW=[1,2;3;4,5,6,0,0]&MINMAX=1:5,10&MINMAX=0:-1,1&CNV=[1,0,0,0,1,0,0,0,2]"
              "&GAM=.5&CNT=1.5&CMP=Cold&INV&SHD=-90,30&JTL=0,0",
              &iip, &error));
    CHECK(p->matrix_rows == 3 && p->matrix[0][1] == 2 && p->matrix[1][1] == 0 &&
          p->matrix[2][2] == 6);
    CHECK(p->ranges == 3 && p->range_min[1] == 5 && p->range_max[0] == 1);
    CHECK(p->kernel_side == 3 && p->kernel[0] == .25f && p->kernel[8] == .5f);
    CHECK(p->gamma == TG_GAMMA_POWER && p->exponent == .5f && p->contrast == 1.5f);
    CHECK(p->map == TG_MAP_COLD && p->invert && p->shade && p->azimuth == -90);
    CHECK(parse("FIF=a&CNV=[-1,-1,-1,-1,8,-1,-1,-1,-1]&JTL=0,0", &iip, &error));
    CHECK(p->kernel[4] == 8 && p->kernel[0] == -1); /* sums to 0 */
    CHECK(parse("FIF=a&CNT=1&GAM=1&CMP=x&JTL=0,0", &iip, &error) && !tg_process_any(p));
    CHECK(parse("FIF=a&COL=binary&CNT=eq&JTL=0,0", &iip, &error) && !tg_process_any(p));
    CHECK(iip.job.quality == TG_QUALITY_BINARY && iip.job.equalise);
}

static void test_protocols(void)
{
    tg_iip iip;
    tg_iip_error error;
    const char *query = "FIF=a&CNT=2&deepzoom=b%2Fc_files/9/0_0.jpg?17&x=1";
    CHECK(parse(query, &iip, &error) && iip.output == TG_IIP_DEEPZOOM);
    CHECK(iip.job.process.has_contrast);
    query = "FIF=a&CNT=2&IIIF=b/full/max/0/default.jpg?17";
    CHECK(parse(query, &iip, &error) && iip.output == TG_IIP_IIIF);
    CHECK_TEXT(iip.argument.p, iip.argument.n, "b/full/max/0/default.jpg");
    CHECK_INT(iip.before, strlen("FIF=a&CNT=2&IIIF="));
    CHECK(tg_iip_asks(TG_STR("x=1&fif=a")) && !tg_iip_asks(TG_STR("x=1&probe")));
}

/* ---- objects ---- */

static const tg_iip_facts facts = {
    .n_levels = 4,
    .level = {{187, 137}, {375, 275}, {750, 551}, {1501, 1103}},
    .tile_w_px = 256,
    .tile_h_px = 128,
    .bits = 8,
    .channels = 3,
    .max = {255, 255, 255},
    .colour = true,
    .dpi_x = 300,
    .dpi_y = 300,
    .text = {[TG_TEXT_RIGHTS] = {"\"mine\"", 6},
             [TG_TEXT_DATE] = {"1998", 4},
             [TG_TEXT_DESCRIPTION] = {"a\nb", 3}},
};

static void check_object(int line, const char *query, const char *want, tg_iip_type want_type)
{
    tg_iip iip;
    tg_iip_error error;
    tg_buf out = {0};
    tg_iip_type type = TG_IIP_NETFPX;
    bool ok = parse(query, &iip, &error) && iip.output == TG_IIP_OBJECTS;
    CHECK_ROW(line, ok, "%s", query);
    for (unsigned i = 0; ok && i < iip.n_objects; i++)
        tg_iip_object_text(&iip.object[i], &facts, &out, &type);
    CHECK_ROW(line, tg_str_is(tg_buf_view(&out), want), "%s: %.*s", query,
              TG_STR_ARG(tg_buf_view(&out)));
    CHECK_ROW(line, type == want_type, "%s: type %d", query, type);
    tg_buf_free(&out);
}

#define OBJECT(query, want) check_object(__LINE__, "FIF=a&" query, want, TG_IIP_NETFPX)

static void check_stack(void)
{
    tg_iip_facts stack = facts;
    tg_iip_type type = TG_IIP_NETFPX;
    tg_buf out = {0};
    stack.horizontal = (const unsigned[]){0, 1};
    stack.name = (const tg_str[]){TG_STR("red"), TG_STR("\"940 nm\"")};
    stack.n_horizontal = 2;
    stack.stack = true;
    tg_iip_object_text(&(tg_iip_object){.name = TG_STR("stack")}, &stack, &out, &type);
    CHECK(tg_str_is(tg_buf_view(&out),
                    "[{\"id\": 0, \"name\": \"red\", \"scale\": 1}, "
                    "{\"id\": 1, \"name\": \"\\\"940 nm\\\"\", \"scale\": 1}]"));
    tg_buf_free(&out);
}

static void test_objects(void)
{
    OBJECT("obj=IIP,1.0&obj=Max-size&obj=Tile-size&obj=Resolution-number&obj=Resolutions",
           "IIP:1.0\r\nMax-size:1501 1103\r\nTile-size:256 128\r\nResolution-number:4\r\n"
           "Resolutions:187 137,375 275,750 551,1501 1103\r\n");
    OBJECT("OBJ=max-SIZE&ROT=90&OBJ=Max-size&ROT=180&OBJ=Max-size&OBJ=resolutions",
           "Max-size:1501 1103\r\nMax-size:1103 1501\r\nMax-size:1501 1103\r\n"
           "Resolutions:187 137,375 275,750 551,1501 1103\r\n");
    OBJECT("obj=Basic-Info",
           "IIP-server:3.65\r\nMax-size:1501 1103\r\nResolution-number:4\r\n"
           "Colorspace,0-3,0:0 0 3 3 0 1 2\r\n");
    OBJECT("obj=dpi", "DPI:11811.023438 11811.023438\r\n");
    OBJECT("obj=Bits-per-channel&obj=Horizontal-views&obj=Vertical-views",
           "Bits-per-channel:8\r\nHorizontal-views:0\r\nVertical-views:90\r\n");
    OBJECT("obj=Min-Max-sample-values", "Min-Max-sample-values: 0  255  0  255  0  255\r\n");
    OBJECT("obj=Colorspace,*,*", "Colorspace,0-3,0:0 0 3 3 0 1 2\r\n");
    check_object(__LINE__, "FIF=a&obj=rights", "\"mine\"\r\n", TG_IIP_PLAIN);
    check_object(__LINE__, "FIF=a&obj=title", "", TG_IIP_PLAIN);
    check_object(__LINE__, "FIF=a&obj=Description&obj=DATE&obj=scale", "a\nb\r\n1998\r\n",
                 TG_IIP_PLAIN);
    check_object(__LINE__, "FIF=a&obj=summary-info",
                 "copyright/6:\"mine\"\r\nsubject/3:a\nb\r\ncreate-dtm/4:1998\r\n", TG_IIP_NETFPX);
    check_object(__LINE__, "FIF=a&obj=Create-dtm&obj=author", "create-dtm/4:1998\r\n",
                 TG_IIP_NETFPX);
    check_object(__LINE__, "FIF=a&obj=metadata",
                 "{\"rights\": \"\\\"mine\\\"\", \"description\": \"a\\nb\", \"date\": \"1998\"}",
                 TG_IIP_JSON);
    CHECK_INT(tg_iip_object_texts(TG_STR("metadata")), (1 << TG_TEXT_PAGE) - 1);
    CHECK_INT(tg_iip_object_texts(TG_STR("Title")), 1 << TG_TEXT_TITLE);
    CHECK_INT(tg_iip_object_texts(TG_STR("Max-size")) | tg_iip_object_texts(TG_STR("scale")), 0);
    check_object(__LINE__, "FIF=a&obj=stack", "[]", TG_IIP_JSON);
    check_stack();
    CHECK(tg_iip_object_is_general(TG_STR("iip,2.0")) && !tg_iip_object_is_known(TG_STR("foo")));
    CHECK(!tg_iip_object_is_known(TG_STR("Max-size,1")) && !tg_iip_object_is_known(TG_STR("")));
}

static void test_many_objects(void)
{
    tg_iip iip;
    tg_iip_error error;
    char query[2048] = "FIF=a";
    for (int i = 0; i < TG_IIP_OBJECTS_MAX; i++)
        strcat(query, "&OBJ=Max-size"); /* lint:allow */
    CHECK(parse(query, &iip, &error) && iip.n_objects == TG_IIP_OBJECTS_MAX);
    strcat(query, "&OBJ=DPI"); /* lint:allow */
    CHECK(!parse(query, &iip, &error) && tg_str_is(error.name, "OBJ"));
}

/* ---- every command with every kind of nonsense ---- */

static const char *const names[] = {
    "FIF", "OBJ",     "SDS",      "WID",     "HEI",    "RGN", "QLT", "ROT", "LYR",
    "ICC", "CNT",     "GAM",      "INV",     "MINMAX", "COL", "CMP", "CTW", "CNV",
    "SHD", "CVT",     "JTL",      "PTL",     "WTL",    "ATL", "TTL", "TIL", "JTLS",
    "PFL", "SPECTRA", "DeepZoom", "Zoomify", "IIIF",   "FOO", ""};
static const char *const arguments[] = {"",
                                        "=",
                                        "=,",
                                        "=,,,",
                                        "=-",
                                        "=-1",
                                        "=-1,-1",
                                        "=1e999,1",
                                        "=nan,nan,nan,nan",
                                        "=inf",
                                        "=0x10",
                                        "=99999999999999999999,1",
                                        "=[",
                                        "=]",
                                        "=[]",
                                        "=[[1]]",
                                        "=[;]",
                                        "=[,]",
                                        "=[nan]",
                                        "=:",
                                        "=:,",
                                        "=-:",
                                        "=0:0,0-",
                                        "=0:-1,0-0,0",
                                        "=!",
                                        "=%",
                                        "=%5",
                                        "=%5B%5D",
                                        "=%00",
                                        "=\x7f",
                                        "=\xff\xfe",
                                        "=?",
                                        "=1?2?3",
                                        "=1,2",
                                        "=1,2,3",
                                        "=1,2,3,4",
                                        "=0:1,2-3,4",
                                        "=1-2",
                                        "=0,0-99999999",
                                        "=a=b=c",
                                        "=[1,2,3;4,5,6;7,8,9]",
                                        "=[1,1,1,1,1,1,1,1,1]",
                                        "= 1",
                                        "=1 ",
                                        "=+1",
                                        "=.",
                                        "=1.",
                                        "=1e",
                                        "=1e+",
                                        "=--1"};

/* Parses to something or fails with a whole error. */
static void test_nonsense(void)
{
    tg_iip iip;
    tg_iip_error error;
    char query[256];
    static const char *const forms[] = {"%s%s", "FIF=a&%s%s", "FIF=a&%s%s&CVT=jpeg",
                                        "%s%s&FIF=a&JTL=0,0", "FIF=a&%1$s%2$s&%1$s%2$s&obj=IIP"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        for (size_t a = 0; a < sizeof arguments / sizeof arguments[0]; a++)
            for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
                snprintf(query, sizeof query, forms[f], names[n], arguments[a]);
                bool ok = parse(query, &iip, &error);
                CHECK_ROW(__LINE__, ok == !error.code, "%s", query);
                CHECK_ROW(__LINE__, !ok || iip.output != TG_IIP_NONE, "%s", query);
            }
}

int main(void)
{
    arena = tg_arena_new();
    tg_config_defaults(&config);
    test_errors();
    test_error_text();
    test_images();
    test_view();
    test_pixels();
    test_protocols();
    test_objects();
    test_many_objects();
    test_nonsense();
    tg_arena_free(arena);
    return check_done();
}
