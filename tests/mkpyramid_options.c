#include "mkpyramid_options.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

void die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fputs("mkpyramid: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

typedef struct name {
    const char *name;
    unsigned value;
} name;

static const name compressions[] = {{"none", COMPRESSION_NONE},
                                    {"lzw", COMPRESSION_LZW},
                                    {"deflate", COMPRESSION_ADOBE_DEFLATE},
                                    {"zstd", COMPRESSION_ZSTD},
                                    {"jpeg", COMPRESSION_JPEG},
                                    {"webp", COMPRESSION_WEBP},
                                    {"packbits", COMPRESSION_PACKBITS},
                                    {NULL, 0}};
static const name photometrics[] = {{"rgb", PHOTOMETRIC_RGB},
                                    {"ycbcr", PHOTOMETRIC_YCBCR},
                                    {"gray", PHOTOMETRIC_MINISBLACK},
                                    {"miniswhite", PHOTOMETRIC_MINISWHITE},
                                    {NULL, 0}};
static const name alphas[] = {
    {"assoc", EXTRASAMPLE_ASSOCALPHA + 1}, {"unassoc", EXTRASAMPLE_UNASSALPHA + 1}, {NULL, 0}};

static unsigned lookup(const name *table, const char *text)
{
    for (; table->name; table++)
        if (strcmp(table->name, text) == 0)
            return table->value;
    die("%s is not known", text);
}

/* Setters: field is at the option's offset in the options. */

static void set_text(void *field, const char *text)
{
    *(const char **)field = text;
}

static void set_number(void *field, const char *text)
{
    *(unsigned *)field = (unsigned)strtoul(text, NULL, 10);
}

static void set_real(void *field, const char *text)
{
    *(double *)field = atof(text);
}

static void set_flag(void *field, const char *text)
{
    (void)text;
    *(bool *)field = true;
}

static void set_pair(void *field, const char *text)
{
    uint32_t *pair = field;

    if (sscanf(text, "%ux%u", &pair[0], &pair[1]) != 2 || pair[0] == 0 || pair[1] == 0)
        die("%s is not of the form AxB", text);
}

static void set_compression(void *field, const char *text)
{
    *(unsigned *)field = lookup(compressions, text);
}

static void set_photometric(void *field, const char *text)
{
    *(unsigned *)field = lookup(photometrics, text);
}

static void set_alpha(void *field, const char *text)
{
    *(unsigned *)field = lookup(alphas, text);
}

static void set_levels(void *field, const char *text)
{
    options *o = field;

    o->subifds = strcmp(text, "subifd") == 0;
    if (strcmp(text, "none") == 0)
        o->max_levels = 1;
    else if (!o->subifds && strcmp(text, "chain") != 0)
        die("%s is not known", text);
}

static void set_ratio(void *field, const char *text)
{
    options *o = field;

    o->ceil_sizes = strcmp(text, "ceil") == 0;
    if (o->ceil_sizes || strcmp(text, "floor") == 0)
        o->ratio = 2;
    else if ((o->ratio = atof(text)) <= 1)
        die("the ratio must be above 1");
}

static void set_endian(void *field, const char *text)
{
    options *o = field;

    o->big_endian = strcmp(text, "big") == 0;
    o->little_endian = !o->big_endian;
}

static void set_pad(void *field, const char *text)
{
    *(int *)field = atoi(text) & 255;
}

static void set_marked(void *field, const char *text)
{
    *(bool *)field = strcmp(text, "off") == 0;
}

static void set_planes(void *field, const char *text)
{
    *(bool *)field = strcmp(text, "separate") == 0;
}

static void set_stack(void *field, const char *text)
{
    options *o = field;

    (void)text;
    o->stack = o->subifds = true;
}

typedef struct spec {
    const char *name, *value; /* value NULL: a flag */
    void (*set)(void *field, const char *text);
    size_t offset;
    const char *help;
} spec;

#define AT(field) offsetof(options, field)

static const spec specs[] = {
    {"picture", "KIND", set_text, AT(picture), "ramp, corners, sample or flat:R,G,B (ramp)"},
    {"size", "WxH", set_pair, AT(size_px), "pixels (1024x768)"},
    {"compression", "NAME", set_compression, AT(compression),
     "none, lzw, deflate, zstd, jpeg, webp or packbits (deflate)"},
    {"photometric", "NAME", set_photometric, AT(photometric),
     "rgb, ycbcr, gray or miniswhite (ycbcr for jpeg, else rgb)"},
    {"subsampling", "HxV", set_pair, AT(subsampling), "of YCbCr JPEG (2x2)"},
    {"quality", "N", set_number, AT(quality), "of JPEG and WebP; WebP 100 is lossless (80)"},
    {"tile", "WxH", set_pair, AT(tile_px), "tile size (256x256)"},
    {"strip", "ROWS", set_number, AT(strip_rows), "strips instead of tiles"},
    {"levels", "HOW", set_levels, 0, "chain, subifd or none (chain)"},
    {"max-levels", "N", set_number, AT(max_levels), "no more levels than this"},
    {"ratio", "R", set_ratio, 0, "floor or ceil (halved, rounded so), or a divisor (floor)"},
    {"nsft", "on|off", set_marked, AT(unmarked), "mark reduced levels in NewSubfileType (on)"},
    {"bits", "N", set_number, AT(bits), "8 or 16"},
    {"alpha", "KIND", set_alpha, AT(alpha), "assoc or unassoc: the left half is transparent"},
    {"planar", "HOW", set_planes, AT(planes), "separate: a plane per sample"},
    {"predictor", NULL, set_flag, AT(predictor), "horizontal differences"},
    {"bigtiff", NULL, set_flag, AT(bigtiff), "64-bit offsets"},
    {"endian", "ORDER", set_endian, 0, "little or big (the machine's)"},
    {"pages", "N", set_number, AT(pages), "so many images"},
    {"stack", NULL, set_stack, 0, "pages marked as such, their levels in SubIFDs"},
    {"slide", NULL, set_flag, AT(slide), "strip thumbnail, label and macro beside the levels"},
    {"pad", "VALUE", set_pad, AT(pad), "bytes of tiles beyond the edge (the edge repeated)"},
    {"no-tables", NULL, set_flag, AT(no_tables), "JPEG tables in every tile"},
    {"icc", "FILE", set_text, AT(icc), "embed a colour profile"},
    {"xmp", "BYTES", set_number, AT(xmp_bytes), "embed an XMP packet of this size"},
    {"dpi", "X", set_real, AT(dpi), "pixels per inch"},
    {"dpcm", "X", set_real, AT(dpcm), "pixels per centimetre"},
    {"orientation", "N", set_number, AT(orientation), "the tag; the pixels stay as they are"},
    {"hole", "BYTES", set_real, AT(hole_bytes), "left free behind the first directory"},
};
#define N_SPECS (sizeof specs / sizeof *specs)

static void print_help(void)
{
    puts("mkpyramid OUT.tif [options]");
    for (unsigned i = 0; i < N_SPECS; i++)
        printf("  --%-12s %-8s %s\n", specs[i].name, specs[i].value ? specs[i].value : "",
               specs[i].help);
    exit(0);
}

static const spec *find_spec(const char *word)
{
    if (strcmp(word, "--help") == 0)
        print_help();
    for (unsigned i = 0; i < N_SPECS; i++)
        if (strncmp(word, "--", 2) == 0 && strcmp(word + 2, specs[i].name) == 0)
            return &specs[i];
    die("%s is no option (--help lists them)", word);
}

options options_parse(int argc, char **argv)
{
    options o = {.picture = "ramp",
                 .size_px = {1024, 768},
                 .tile_px = {256, 256},
                 .subsampling = {2, 2},
                 .compression = COMPRESSION_ADOBE_DEFLATE,
                 .photometric = UINT16_MAX,
                 .bits = 8,
                 .pages = 1,
                 .quality = 80,
                 .max_levels = UINT16_MAX,
                 .ratio = 2,
                 .pad = -1};

    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            o.out = argv[i];
            continue;
        }
        const spec *s = find_spec(argv[i]);
        if (s->value && i + 1 == argc)
            die("%s wants a value", argv[i]);
        s->set((char *)&o + s->offset, s->value ? argv[++i] : NULL);
    }
    if (!o.out)
        die("no output file (--help lists the options)");
    if (o.bits != 8 && o.bits != 16)
        die("8 or 16 bits only");
    if (o.photometric == UINT16_MAX)
        o.photometric = o.compression == COMPRESSION_JPEG ? PHOTOMETRIC_YCBCR : PHOTOMETRIC_RGB;
    return o;
}
