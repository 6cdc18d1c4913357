/* JPEG 2000 as input: pictures coded by OpenJPEG in many ways, in boxes made here, against the
 * samples they were made of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openjpeg.h>

#include "check.h"
#include "fixture.h"
#include "tegula/mem.h"
#include "tegula/tile_cache.h"

typedef struct picture {
    uint32_t w, h, x0, y0; /* at x0, y0 of the reference grid */
    unsigned n, bits;
    bool is_signed, subsampled; /* the second and third component by two */
    uint32_t tile_px, tile_x0;
    OPJ_PROG_ORDER order;
    unsigned levels;
    bool precincts, lossy, mct, parts_by_resolution;
    unsigned layers;
    int (*sample)(const struct picture *p, unsigned c, uint32_t x, uint32_t y);
} picture;

/* ---- making ---- */

/* Red rises with x, green with y, blue is a checkerboard. */
static int ramp(const picture *p, unsigned c, uint32_t x, uint32_t y)
{
    int max = (1 << p->bits) - 1;

    return c == 0   ? (int)((uint64_t)x * (unsigned)max / (p->w > 1 ? p->w - 1 : 1))
           : c == 1 ? (int)((uint64_t)y * (unsigned)max / (p->h > 1 ? p->h - 1 : 1))
           : c == 2 ? ((x / 16 + y / 16) % 2 ? max : 0)
                    : (int)((x + y) % (unsigned)(max + 1));
}

static opj_image_t *make_image(const picture *p)
{
    opj_image_cmptparm_t parm[5];
    opj_image_t *image;

    memset(parm, 0, sizeof parm);
    for (unsigned c = 0; c < p->n; c++) {
        uint32_t d = p->subsampled && c ? 2 : 1;

        parm[c].dx = parm[c].dy = d;
        parm[c].w = (p->x0 + p->w + d - 1) / d - (p->x0 + d - 1) / d;
        parm[c].h = (p->y0 + p->h + d - 1) / d - (p->y0 + d - 1) / d;
        parm[c].prec = p->bits;
        parm[c].sgnd = p->is_signed;
    }
    image = opj_image_create(p->n, parm, OPJ_CLRSPC_UNSPECIFIED);
    image->x0 = p->x0;
    image->y0 = p->y0;
    image->x1 = p->x0 + p->w;
    image->y1 = p->y0 + p->h;
    for (unsigned c = 0; c < p->n; c++)
        for (uint32_t i = 0; i < parm[c].w * parm[c].h; i++)
            image->comps[c].data[i] =
                p->sample(p, c, i % parm[c].w * parm[c].dx, i / parm[c].w * parm[c].dy) -
                (p->is_signed ? 1 << (p->bits - 1) : 0);
    return image;
}

static void quiet(const char *text, void *user)
{
    (void)text;
    (void)user;
}

/* A raw codestream in the fixture's directory. */
static const char *encode(const char *name, const picture *p)
{
    const char *path = fixture_path(name);
    opj_cparameters_t parameters;
    opj_image_t *image = make_image(p);
    opj_codec_t *codec = opj_create_compress(OPJ_CODEC_J2K);
    opj_stream_t *stream = opj_stream_create_default_file_stream(path, OPJ_FALSE);

    opj_set_default_encoder_parameters(&parameters);
    opj_set_warning_handler(codec, quiet, NULL);
    opj_set_error_handler(codec, quiet, NULL);
    parameters.numresolution = (int)p->levels + 1;
    parameters.prog_order = p->order;
    parameters.irreversible = p->lossy;
    parameters.tcp_mct = p->mct;
    parameters.tcp_numlayers = p->layers ? (int)p->layers : 1;
    for (int i = 0; i < parameters.tcp_numlayers; i++)
        parameters.tcp_rates[i] = i + 1 == parameters.tcp_numlayers ? 0 : (float)(40 >> i);
    parameters.cp_disto_alloc = 1;
    if (p->tile_px) {
        parameters.tile_size_on = OPJ_TRUE;
        parameters.cp_tdx = parameters.cp_tdy = (int)p->tile_px;
        parameters.cp_tx0 = parameters.cp_ty0 = (int)p->tile_x0;
    }
    if (p->precincts) {
        parameters.csty |= 1;
        parameters.res_spec = 2;
        parameters.prcw_init[0] = parameters.prch_init[0] = 128;
        parameters.prcw_init[1] = parameters.prch_init[1] = 64;
    }
    if (p->parts_by_resolution) {
        parameters.tp_on = 1;
        parameters.tp_flag = 'R';
    }
    parameters.image_offset_x0 = (int)p->x0;
    parameters.image_offset_y0 = (int)p->y0;
    CHECK(opj_setup_encoder(codec, &parameters, image) &&
          opj_start_compress(codec, image, stream) && opj_encode(codec, stream) &&
          opj_end_compress(codec, stream));
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    opj_image_destroy(image);
    return path;
}

static void put(tg_buf *b, uint64_t v, unsigned n)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < n; i++)
        bytes[i] = (uint8_t)(v >> 8 * (n - 1 - i));
    tg_buf_append(b, bytes, n);
}

static void box(tg_buf *b, const char *type, const void *contents, size_t n)
{
    put(b, 8 + n, 4);
    tg_buf_append(b, type, 4);
    tg_buf_append(b, contents, n);
}

static void begin_file(tg_buf *b, const char *brand)
{
    tg_buf_reset(b);
    box(b, "jP  ", "\r\n\x87\n", 4);
    put(b, 20, 4);
    tg_buf_z(b, "ftyp");
    tg_buf_z(b, brand);
    put(b, 0, 4);
    tg_buf_z(b, "jp2 ");
}

/* header: the boxes of jp2h besides ihdr, which nothing is taken from. After it `more` boxes, and
 * the codestream of a file. */
static const char *wrap(const char *name, const char *codestream, const tg_buf *header,
                        const tg_buf *more)
{
    const char *path = fixture_path(name);
    tg_buf b = {0};
    size_t n;
    uint8_t *data = fixture_load(codestream, &n);

    begin_file(&b, "jp2 ");
    box(&b, "jp2h", header->data, header->len);
    if (more)
        tg_buf_append(&b, more->data, more->len);
    box(&b, "jp2c", data, n);
    fixture_save(path, b.data, b.len);
    free(data);
    tg_buf_free(&b);
    return path;
}

static void add_colour(tg_buf *b, uint32_t space)
{
    uint8_t colr[] = {1, 0, 0, 0, 0, (uint8_t)(space >> 8), (uint8_t)space};

    box(b, "colr", colr, sizeof colr);
}

/* ---- reading ---- */

static tg_image *open_checked(const char *path)
{
    tg_err err = {0};
    tg_image *img = fixture_open(path, 0, &err);

    if (!img)
        printf("%s: %s %s\n", path, err.msg, err.detail);
    CHECK(img != NULL);
    return img;
}

static uint8_t *read_checked(tg_image *img, unsigned level)
{
    tg_err err = {0};
    uint8_t *px = fixture_read(img, level, 0, fixture_whole(img, level, 0), &err);

    if (!px)
        printf("level %u: %s %s\n", level, err.msg, err.detail);
    CHECK(px != NULL);
    return px;
}

/* The first level as stored, for lossless ones of 8 bits. */
static void check_exact(int line, const picture *p, tg_image *img)
{
    uint8_t *px = read_checked(img, 0);
    size_t wrong = 0;

    CHECK_ROW(line, img->level[0].width_px == p->w && img->level[0].height_px == p->h, "%ux%u",
              img->level[0].width_px, img->level[0].height_px);
    for (size_t i = 0; px && i < (size_t)p->w * p->h * p->n; i++)
        wrong += px[i] != p->sample(p, (unsigned)(i % p->n), (uint32_t)(i / p->n % p->w),
                                    (uint32_t)(i / p->n / p->w));
    CHECK_ROW(line, wrong == 0, "%zu samples differ", wrong);
    free(px);
}

/* Rectangles of a level, read one by one, are the level. */
static void check_mosaic(int line, tg_image *img, unsigned level, uint32_t side)
{
    tg_rect all = fixture_whole(img, level, 0);
    size_t px = tg_native_bytes(img->native);
    uint8_t *whole = read_checked(img, level);
    size_t wrong = 0;

    for (uint32_t y = 0; whole && y < all.h; y += side)
        for (uint32_t x = 0; x < all.w; x += side) {
            tg_rect r = {x, y, x + side < all.w ? side : all.w - x,
                         y + side < all.h ? side : all.h - y};
            tg_err err = {0};
            uint8_t *part = fixture_read(img, level, 0, r, &err);

            for (uint32_t i = 0; part && i < r.h; i++)
                wrong += memcmp(part + i * r.w * px, whole + ((size_t)(y + i) * all.w + x) * px,
                                r.w * px) != 0;
            wrong += !part;
            free(part);
        }
    CHECK_ROW(line, wrong == 0, "level %u: %zu rows differ", level, wrong);
    free(whole);
}

/* A level has the sizes that section B.5 gives, and pixels that OpenJPEG gives for the whole
 * reduced picture. */
static void check_level(int line, const picture *p, const char *path, tg_image *img, unsigned k)
{
    opj_codec_t *codec = opj_create_decompress(OPJ_CODEC_J2K);
    opj_stream_t *stream = opj_stream_create_default_file_stream(path, OPJ_TRUE);
    opj_dparameters_t parameters;
    opj_image_t *image = NULL;
    uint8_t *px = read_checked(img, k);
    size_t wrong = 0;
    uint32_t step = 1u << k;
    uint32_t w = (p->x0 + p->w + step - 1) / step - (p->x0 + step - 1) / step;
    uint32_t h = (p->y0 + p->h + step - 1) / step - (p->y0 + step - 1) / step;

    opj_set_default_decoder_parameters(&parameters);
    parameters.cp_reduce = k;
    CHECK(opj_setup_decoder(codec, &parameters) && opj_read_header(stream, codec, &image) &&
          opj_set_decode_area(codec, image, 0, 0, 0, 0) && opj_decode(codec, stream, image));
    CHECK_ROW(line, img->level[k].width_px == w && img->level[k].height_px == h,
              "level %u is %ux%u, not %ux%u", k, img->level[k].width_px, img->level[k].height_px, w,
              h);
    for (size_t i = 0; px && i < (size_t)w * h; i++)
        for (unsigned c = 0; c < p->n; c++) {
            int v = image->comps[c].data[i];

            wrong += px[i * p->n + c] != (v < 0 ? 0 : v > 255 ? 255 : v);
        }
    CHECK_ROW(line, wrong == 0, "level %u: %zu samples differ", k, wrong);
    opj_image_destroy(image);
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    free(px);
}

/* ---- tests ---- */

static void test_codestreams(void)
{
    static const struct {
        int line;
        picture p;
    } rows[] = {
#define ROW(COMPONENTS, LEVELS, ...)                                                               \
    {                                                                                              \
        __LINE__,                                                                                  \
        {                                                                                          \
            .sample = ramp, .n = COMPONENTS, .bits = 8, .levels = LEVELS, __VA_ARGS__              \
        }                                                                                          \
    }
        ROW(3, 4, .w = 401, .h = 303, .order = OPJ_LRCP),
        ROW(3, 4, .w = 401, .h = 303, .order = OPJ_RLCP, .precincts = true),
        ROW(3, 4, .w = 401, .h = 303, .order = OPJ_RPCL, .precincts = true, .mct = true),
        ROW(3, 4, .w = 401, .h = 303, .order = OPJ_PCRL, .precincts = true),
        ROW(3, 4, .w = 401, .h = 303, .order = OPJ_CPRL, .precincts = true, .layers = 3),
        ROW(3, 4, .w = 401, .h = 303, .order = OPJ_LRCP, .layers = 4),
        ROW(3, 4, .w = 401, .h = 303, .order = OPJ_RPCL, .tile_px = 128),
        ROW(3, 4, .w = 401, .h = 303, .order = OPJ_RPCL, .tile_px = 150, .precincts = true),
        ROW(3, 4, .w = 401, .h = 303, .order = OPJ_RLCP, .tile_px = 128,
            .parts_by_resolution = true),
        ROW(3, 4, .w = 401, .h = 303, .order = OPJ_RPCL, .x0 = 13, .y0 = 7),
        ROW(3, 4, .w = 401, .h = 303, .order = OPJ_RPCL, .x0 = 33, .y0 = 17, .tile_px = 100,
            .tile_x0 = 5, .precincts = true),
        ROW(3, 2, .w = 401, .h = 303, .order = OPJ_LRCP, .x0 = 1000, .y0 = 3),
        ROW(3, 0, .w = 64, .h = 48, .order = OPJ_LRCP),
        ROW(3, 0, .w = 1, .h = 1, .order = OPJ_LRCP),
        ROW(1, 4, .w = 205, .h = 103, .order = OPJ_RPCL),
        ROW(3, 5, .w = 205, .h = 103, .order = OPJ_RPCL, .tile_px = 64),
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *path = encode("one.j2k", &rows[i].p);
        tg_image *img = open_checked(path);

        if (!img)
            continue;
        check_exact(rows[i].line, &rows[i].p, img);
        for (unsigned k = 0; k < img->n_levels; k++) {
            check_level(rows[i].line, &rows[i].p, path, img, k);
            check_mosaic(rows[i].line, img, k, 97);
        }
        tg_image_close(img);
    }
}

/* The same pixels through the cache, whatever is in it. */
static void test_kept(void)
{
    picture p = {.w = 700,
                 .h = 600,
                 .n = 3,
                 .bits = 8,
                 .levels = 3,
                 .tile_px = 256,
                 .lossy = true,
                 .mct = true,
                 .order = OPJ_RPCL,
                 .sample = ramp};
    tg_image *img = open_checked(encode("kept.j2k", &p));

    for (size_t mib = 1; mib <= 16; mib *= 4) {
        tg_tile_cache_set_budget(mib << 20);
        img->keep_tiles = true;
        for (unsigned k = 0; k < img->n_levels; k++)
            check_mosaic(__LINE__, img, k, 90);
    }
    tg_image_close(img);
    tg_tile_cache_set_budget(0);
}

static void test_depths(void)
{
    for (unsigned bits = 1; bits <= 16; bits++)
        for (int is_signed = 0; is_signed < 2; is_signed++) {
            picture p = {.w = 300,
                         .h = 4,
                         .n = 1,
                         .bits = bits,
                         .is_signed = is_signed,
                         .levels = 2,
                         .order = OPJ_LRCP,
                         .sample = ramp};
            tg_image *img = open_checked(encode("depth.j2k", &p));
            uint8_t *px = img ? read_checked(img, 0) : NULL;
            double max = bits <= 8 ? 255 : 65535, most = (1 << bits) - 1;
            size_t wrong = 0;

            CHECK_INT(img->native.bits, bits <= 8 ? 8 : 16);
            CHECK_INT(img->stored_bits, bits);
            for (uint32_t x = 0; px && x < p.w; x++) {
                int want = (int)(ramp(&p, 0, x, 0) / most * max + 0.5);

                wrong += (bits <= 8 ? px[x] : ((uint16_t *)(void *)px)[x]) != want;
            }
            CHECK_ROW(__LINE__, wrong == 0, "%u bits: %zu samples differ", bits, wrong);
            free(px);
            tg_image_close(img);
        }
}

static int flat(const picture *p, unsigned c, uint32_t x, uint32_t y)
{
    static const int values[] = {200, 100, 50, 128, 30};

    (void)p;
    (void)x;
    (void)y;
    return values[c];
}

/* The first pixel of a flat picture in these boxes; want: -1 ends it. */
static void check_colour(int line, const picture *p, const tg_buf *header, tg_native native,
                         const int *want)
{
    const char *path = wrap("colour.jp2", encode("colour.j2k", p), header, NULL);
    tg_image *img = open_checked(path);
    unsigned n = tg_native_channels(native);
    uint8_t px[5];
    tg_err err = {0};

    if (!img)
        return;
    CHECK_ROW(line,
              img->native.space == native.space && img->native.alpha == native.alpha &&
                  img->native.bits == native.bits,
              "space %d, alpha %d, bits %d", img->native.space, img->native.alpha,
              img->native.bits);
    CHECK(img->codec->read(img, 0, 0, (tg_rect){0, 0, 1, 1}, px, sizeof px, &err));
    for (unsigned c = 0; c < n; c++)
        CHECK_ROW(line, abs(px[c] - want[c]) <= 1, "channel %u is %d, not %d", c, px[c], want[c]);
    tg_image_close(img);
}

static void test_colours(void)
{
    static const struct {
        int line;
        unsigned n;
        int space; /* enumerated; -1 = no box */
        tg_native native;
        int want[5];
    } rows[] = {
        {__LINE__, 3, 16, {TG_SPACE_RGB, false, 8}, {200, 100, 50}},
        {__LINE__, 1, 17, {TG_SPACE_GRAY, false, 8}, {200}},
        {__LINE__, 1, 16, {TG_SPACE_GRAY, false, 8}, {200}}, /* fewer than it says */
        {__LINE__, 4, 12, {TG_SPACE_CMYK, false, 8}, {200, 100, 50, 128}},
        /* Y 200, Cb 100, Cr 50: R = 200 - 1.402 x 78, B = 200 - 1.772 x 28. */
        {__LINE__, 3, 18, {TG_SPACE_RGB, false, 8}, {91, 255, 150}},
        {__LINE__, 3, 11, {TG_SPACE_RGB, false, 8}, {55, 155, 205}},
        /* L 200 / 255 x 100; a = (100 - 128) 170 / 255, b = (50 - 96) 200 / 255, each + 128. */
        {__LINE__, 3, 14, {TG_SPACE_LAB, false, 8}, {200, 109, 92}},
        {__LINE__, 3, -1, {TG_SPACE_RGB, false, 8}, {200, 100, 50}},
        {__LINE__, 4, -1, {TG_SPACE_RGB, true, 8}, {200, 100, 50, 128}},
        {__LINE__, 2, -1, {TG_SPACE_GRAY, true, 8}, {200, 100}},
        {__LINE__, 4, 16, {TG_SPACE_RGB, false, 8}, {200, 100, 50}}, /* one of no meaning */
        {__LINE__, 3, 999, {TG_SPACE_RGB, false, 8}, {200, 100, 50}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        picture p = {.w = 9, .h = 9, .n = rows[i].n, .bits = 8, .order = OPJ_LRCP, .sample = flat};
        tg_buf header = {0};

        if (rows[i].space >= 0)
            add_colour(&header, (uint32_t)rows[i].space);
        check_colour(rows[i].line, &p, &header, rows[i].native, rows[i].want);
        tg_buf_free(&header);
    }
}

/* Blue first and red last, then opacity that the colours are multiplied by. */
static void test_definitions(void)
{
    picture p = {.w = 9, .h = 9, .n = 4, .bits = 8, .order = OPJ_LRCP, .sample = flat};
    static const uint8_t cdef[] = {0, 4, 0, 0, 0, 0, 0, 3, 0, 1, 0, 0, 0,
                                   2, 0, 2, 0, 0, 0, 1, 0, 3, 0, 1, 0, 0};
    uint8_t multiplied[sizeof cdef];
    tg_buf header = {0};

    add_colour(&header, 16);
    box(&header, "cdef", cdef, sizeof cdef);
    check_colour(__LINE__, &p, &header, (tg_native){TG_SPACE_RGB, true, 8},
                 (int[]){50, 100, 200, 128});
    memcpy(multiplied, cdef, sizeof cdef);
    multiplied[23] = 2;
    tg_buf_reset(&header);
    add_colour(&header, 16);
    box(&header, "cdef", multiplied, sizeof multiplied);
    check_colour(__LINE__, &p, &header, (tg_native){TG_SPACE_RGB, true, 8},
                 (int[]){100, 199, 255, 128});
    tg_buf_free(&header);
}

static int first_entries(const picture *p, unsigned c, uint32_t x, uint32_t y)
{
    (void)p;
    (void)c;
    return (int)((x + y) % 3);
}

static void test_palette(void)
{
    picture p = {
        .w = 9, .h = 9, .n = 1, .bits = 8, .levels = 3, .order = OPJ_LRCP, .sample = first_entries};
    static const uint8_t pclr[] = {0, 2, 3, 7, 7, 3, 10, 20, 15, 30, 40, 0}; /* blue of 4 bits */
    static const uint8_t cmap[] = {0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 1, 2};
    static const uint8_t want[] = {10, 20, 255, 30, 40, 0, 30, 40, 0}; /* 2 is beyond the end */
    tg_buf header = {0};
    tg_image *img;
    uint8_t *px;

    add_colour(&header, 16);
    box(&header, "pclr", pclr, sizeof pclr);
    box(&header, "cmap", cmap, sizeof cmap);
    img = open_checked(wrap("palette.jp2", encode("palette.j2k", &p), &header, NULL));
    px = read_checked(img, 0);
    CHECK(img->native.space == TG_SPACE_RGB && memcmp(px, want, sizeof want) == 0);
    CHECK(img->n_levels == 1); /* means of indices are no colours */
    free(px);
    tg_image_close(img);
    tg_buf_free(&header);
}

/* Chroma on every second sample, at odd sizes, in tiles: a ramp stays one. */
static int smooth_ycc(const picture *p, unsigned c, uint32_t x, uint32_t y)
{
    return c == 0 ? 128 : c == 1 ? (int)(64 + 128 * x / p->w) : (int)(64 + 128 * y / p->h);
}

static void test_subsampled(void)
{
    picture p = {.w = 301,
                 .h = 203,
                 .n = 3,
                 .bits = 8,
                 .levels = 3,
                 .subsampled = true,
                 .order = OPJ_RPCL,
                 .sample = smooth_ycc};
    tg_buf header = {0};

    add_colour(&header, 18);
    for (int tiled = 0; tiled < 2; tiled++) {
        tg_image *img;
        uint8_t *px;
        double worst = 0;

        p.tile_px = tiled ? 96 : 0;
        img = open_checked(wrap("ycc.jp2", encode("ycc.j2k", &p), &header, NULL));
        px = read_checked(img, 0);
        for (uint32_t i = 0; px && i < p.w * p.h; i++) {
            double blue = 128 + 1.772 * (64 + 128. * (i % p.w) / p.w - 128);
            double red = 128 + 1.402 * (64 + 128. * (i / p.w) / p.h - 128);

            worst = fmax(worst, fmax(fabs(px[3 * i] - red), fabs(px[3 * i + 2] - blue)));
        }
        CHECK_ROW(__LINE__, worst <= 3, "tiled %d: off by %g", tiled, worst);
        for (unsigned k = 0; k < img->n_levels; k++)
            check_mosaic(__LINE__, img, k, 37);
        free(px);
        tg_image_close(img);
    }
    tg_buf_free(&header);
}

/* ---- boxes ---- */

static void add_resolution(tg_buf *b, const char *type, unsigned per_metre)
{
    tg_buf contents = {0};

    put(&contents, per_metre / 10, 2);
    put(&contents, 1, 2);
    put(&contents, per_metre / 10, 2);
    put(&contents, 2, 2);
    put(&contents, 0x0101, 2); /* both times ten */
    box(b, type, contents.data, contents.len);
    tg_buf_free(&contents);
}

static const uint8_t xmp_uuid[16] = {0xbe, 0x7a, 0xcf, 0xcb, 0x97, 0xa9, 0x42, 0xe8,
                                     0x9c, 0x71, 0x99, 0x94, 0x91, 0xe3, 0xaf, 0xac};

static void test_metadata(void)
{
    picture p = {.w = 9, .h = 9, .n = 3, .bits = 8, .order = OPJ_LRCP, .sample = flat};
    tg_buf header = {0}, res = {0}, more = {0}, xmp = {0}, got = {0};
    tg_image *img;

    add_colour(&header, 16);
    add_resolution(&res, "resd", 2830);
    add_resolution(&res, "resc", 11810);
    box(&header, "res ", res.data, res.len);
    tg_buf_append(&xmp, xmp_uuid, 16);
    tg_buf_z(&xmp, "<x:xmpmeta/>");
    box(&more, "uuid", xmp.data, xmp.len);
    img = open_checked(wrap("meta.jp2", encode("meta.j2k", &p), &header, &more));
    CHECK(fabs(img->dpi_y - 11810 * 0.0254) < 0.01 && fabs(img->dpi_x - 5905 * 0.0254) < 0.01);
    img->codec->block(img, TG_BLOCK_XMP, 100, &got);
    CHECK_TEXT((const char *)got.data, got.len, "<x:xmpmeta/>");
    got.len = 0;
    img->codec->block(img, TG_BLOCK_XMP, 11, &got);
    img->codec->block(img, TG_BLOCK_ICC, 100, &got);
    CHECK_INT(got.len, 0);
    tg_image_close(img);
    tg_buf_free(&header);
    tg_buf_free(&res);
    tg_buf_free(&more);
    tg_buf_free(&xmp);
    tg_buf_free(&got);
}

/* The codestream's box of unknown length at the end, or of a long length; colour in a JPX layer. */
static void test_forms(void)
{
    picture p = {.w = 9, .h = 9, .n = 3, .bits = 8, .order = OPJ_LRCP, .sample = flat};
    size_t n;
    uint8_t *codestream = fixture_load(encode("forms.j2k", &p), &n);

    for (int form = 0; form < 3; form++) {
        tg_buf b = {0}, colour = {0}, group = {0};
        tg_image *img;

        begin_file(&b, form == 2 ? "jpx " : "jp2 ");
        add_colour(&colour, form == 2 ? 18 : 16);
        box(&group, "cgrp", colour.data, colour.len);
        if (form == 2)
            box(&b, "jplh", group.data, group.len);
        else
            box(&b, "jp2h", colour.data, colour.len);
        put(&b, form == 0 ? 0 : 1, 4);
        tg_buf_z(&b, "jp2c");
        if (form)
            put(&b, 16 + n, 8);
        tg_buf_append(&b, codestream, n);
        fixture_save(fixture_path("forms.jp2"), b.data, b.len);
        img = open_checked(fixture_path("forms.jp2"));
        if (img) {
            uint8_t *px = read_checked(img, 0);

            CHECK_INT(px[0], form == 2 ? 91 : 200);
            free(px);
            tg_image_close(img);
        }
        tg_buf_free(&b);
        tg_buf_free(&colour);
        tg_buf_free(&group);
    }
    free(codestream);
}

/* ---- damage and size ---- */

static void check_fails(const char *path, tg_err_kind kind, int line)
{
    tg_err err = {0};
    tg_image *img = fixture_open(path, 0, &err);
    uint8_t *px = img ? fixture_read(img, 0, 0, fixture_whole(img, 0, 0), &err) : NULL;

    CHECK_ROW(line, !px && err.kind == kind, "%s", tg_err_kind_name(err.kind));
    free(px);
    tg_image_close(img);
}

static void test_cut(void)
{
    picture p = {.w = 400,
                 .h = 300,
                 .n = 3,
                 .bits = 8,
                 .levels = 3,
                 .tile_px = 128,
                 .order = OPJ_RPCL,
                 .sample = ramp};
    size_t n;
    uint8_t *data = fixture_load(encode("cut.j2k", &p), &n);
    const char *path = fixture_path("cut.j2k");
    tg_read_options lenient = {.lenient = true};

    for (unsigned percent = 1; percent < 100; percent += 14) {
        tg_err err = {0};
        size_t left = n * percent / 100;
        FILE *f;
        tg_image *img;
        uint8_t *px;

        fixture_save(path, data, left);
        check_fails(path, TG_ERR_CORRUPT, __LINE__);
        f = fopen(path, "rb");
        img = tg_image_open(dup(fileno(f)), left, 0, &lenient, &err);
        fclose(f);
        if (!img)
            continue;
        px = fixture_read(img, 0, 0, fixture_whole(img, 0, 0), &err);
        CHECK_ROW(__LINE__, px != NULL, "%u %%: %s", percent, err.msg);
        CHECK(percent < 50 || px[3 * 100] == ramp(&p, 0, 100, 0));
        free(px);
        tg_image_close(img);
    }
    free(data);
}

/* 60000 x 60000 in a few bytes: refused, at once and without memory. */
static void test_lying_size(void)
{
    picture p = {
        .w = 64, .h = 64, .n = 3, .bits = 8, .levels = 1, .order = OPJ_LRCP, .sample = flat};
    size_t n;
    uint8_t *data = fixture_load(encode("lie.j2k", &p), &n);
    const char *path = fixture_path("lie.j2k");
    tg_err err = {0};
    tg_image *img;
    uint8_t *px;

    data[8] = data[12] = data[24] = data[28] = 0;
    data[10] = data[14] = data[26] = data[30] = 0xea; /* Xsiz, Ysiz, XTsiz, YTsiz = 60000 */
    data[11] = data[15] = data[27] = data[31] = 0x60;
    fixture_save(path, data, n);
    img = fixture_open(path, 0, &err);
    CHECK(img && img->level[0].width_px == 60000);
    CHECK(img->codec->working_bytes(img, 0, 0, (tg_rect){0, 0, 256, 256}) > tg_image_ceiling());
    px = fixture_read(img, 0, 0, (tg_rect){0, 0, 256, 256}, &err);
    CHECK(!px && (err.kind == TG_ERR_TOO_LARGE || err.kind == TG_ERR_CORRUPT));
    tg_image_close(img);
    data[24] = data[28] = data[26] = data[30] = 0; /* the same in tiles of 96 px */
    data[27] = data[31] = 0x60;
    fixture_save(path, data, n);
    check_fails(path, TG_ERR_CORRUPT, __LINE__);
    free(data);
}

static long bytes_read(void)
{
    char text[64];
    long n = -1;
    FILE *f = fopen("/proc/self/io", "r");

    if (f && fgets(text, sizeof text, f) && sscanf(text, "rchar: %ld", &n) != 1)
        n = -1;
    if (f)
        fclose(f);
    return n;
}

/* Opening reads headers; a tile reads that tile. */
static void test_economy(void)
{
    picture p = {.w = 2000,
                 .h = 2000,
                 .n = 3,
                 .bits = 8,
                 .levels = 5,
                 .tile_px = 250,
                 .order = OPJ_RPCL,
                 .sample = ramp};
    const char *path = encode("economy.j2k", &p);
    size_t n;
    long before = bytes_read(), opened, read;
    tg_image *img = open_checked(path);
    tg_err err = {0};
    uint8_t *px;

    opened = bytes_read() - before;
    px = fixture_read(img, 0, 0, (tg_rect){1000, 1000, 250, 250}, &err);
    read = bytes_read() - before - opened;
    free(px);
    free(fixture_load(path, &n));
    if (before >= 0) {
        CHECK_ROW(__LINE__, opened < 8192, "%ld bytes to open", opened);
        CHECK_ROW(__LINE__, (size_t)read < n / 16, "%ld bytes of %zu for a tile", read, n);
    }
    tg_image_close(img);
}

int main(void)
{
    fixture_init();
    test_codestreams();
    test_kept();
    test_depths();
    test_colours();
    test_definitions();
    test_palette();
    test_subsampled();
    test_metadata();
    test_forms();
    test_cut();
    test_lying_size();
    test_economy();
    CHECK_INT(tg_image_in_use(), 0);
    return check_done();
}
