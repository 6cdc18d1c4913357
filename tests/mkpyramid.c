/* mkpyramid OUT.tif [options]: writes the TIFF files that tests and the demonstration serve.
 * The full picture is painted row by row; each level is averaged from the one above on the way,
 * into a temporary file, so that memory stays small. --help lists the options. */
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tiffio.h>

#include "picture.h"

#define MAX_LEVELS 32

typedef struct options {
    const char *out, *picture, *icc;
    uint32_t width_px, height_px, tile_w_px, tile_h_px, strip_rows; /* strip_rows 0 = tiles */
    uint16_t compression, photometric, subsample_x, subsample_y, orientation;
    unsigned bits, pages, quality, max_levels;
    unsigned xmp_bytes;
    double ratio, dpi, dpcm;
    uint64_t hole_bytes; /* left behind the first directory */
    int pad;             /* value of tile padding; -1: the edge is repeated */
    uint16_t alpha;      /* extra-sample type + 1; 0 = none */
    bool ceil_sizes, subifds, bigtiff, little, big, predictor, nsft, tables, planes, stack, slide;
} options;

static void die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fputs("mkpyramid: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

static void *get(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p)
        die("out of memory");
    return p;
}

/* One picture being written. */
typedef struct level {
    uint32_t width_px, height_px;
} level;

typedef struct job {
    const options *o;
    TIFF *tif;
    unsigned colours, channels; /* with alpha */
    size_t px_bytes;
    level levels[MAX_LEVELS];
    unsigned n_levels;
} job;

/* Where rows come from: painted, or read back from a temporary file. */
typedef struct source {
    picture *painted;
    FILE *file;
} source;

/* Averages boxes of rows into a smaller picture on the way. */
typedef struct reducer {
    FILE *file; /* NULL: nothing wanted */
    level from, to;
    double ratio;
    uint32_t row;   /* of the result, under way */
    uint64_t *sums; /* one per sample of a row of the result */
    uint8_t *line;
} reducer;

static uint32_t box_start(uint32_t i, double ratio)
{
    return (uint32_t)floor(i * ratio + 1e-9);
}

static uint32_t box_end(uint32_t i, double ratio, uint32_t limit)
{
    uint32_t end = box_start(i + 1, ratio);

    return end < limit ? end : limit;
}

static uint32_t sample_at(const void *row, size_t i, unsigned bits)
{
    return bits == 8 ? ((const uint8_t *)row)[i] : ((const uint16_t *)row)[i];
}

static void set_sample(void *row, size_t i, unsigned bits, uint32_t v)
{
    if (bits == 8)
        ((uint8_t *)row)[i] = (uint8_t)v;
    else
        ((uint16_t *)row)[i] = (uint16_t)v;
}

static void reducer_begin(reducer *r, const job *j, unsigned i)
{
    memset(r, 0, sizeof *r);
    if (i + 1 >= j->n_levels)
        return;
    r->from = j->levels[i];
    r->to = j->levels[i + 1];
    r->ratio = j->o->ratio;
    r->sums = get((size_t)r->to.width_px * j->channels, sizeof *r->sums);
    r->line = get(r->to.width_px, j->px_bytes);
    r->file = tmpfile();
    if (!r->file)
        die("no temporary file");
}

static void reducer_flush(reducer *r, const job *j, uint32_t rows)
{
    unsigned n = j->channels;

    for (uint32_t x = 0; x < r->to.width_px; x++) {
        uint32_t w = box_end(x, r->ratio, r->from.width_px) - box_start(x, r->ratio);
        uint64_t area = (uint64_t)w * rows;

        for (unsigned c = 0; c < n; c++)
            set_sample(r->line, (size_t)x * n + c, j->o->bits,
                       (uint32_t)((r->sums[(size_t)x * n + c] + area / 2) / area));
    }
    if (fwrite(r->line, j->px_bytes, r->to.width_px, r->file) != r->to.width_px)
        die("cannot write the temporary file");
    memset(r->sums, 0, (size_t)r->to.width_px * n * sizeof *r->sums);
    r->row++;
}

static void reducer_row(reducer *r, const job *j, uint32_t y, const void *row)
{
    unsigned n = j->channels;

    if (!r->file || r->row >= r->to.height_px || y < box_start(r->row, r->ratio))
        return;
    for (uint32_t x = 0; x < r->to.width_px; x++) {
        uint32_t end = box_end(x, r->ratio, r->from.width_px);

        for (uint32_t sx = box_start(x, r->ratio); sx < end; sx++)
            for (unsigned c = 0; c < n; c++)
                r->sums[(size_t)x * n + c] += sample_at(row, (size_t)sx * n + c, j->o->bits);
    }
    uint32_t end = box_end(r->row, r->ratio, r->from.height_px);
    if (y + 1 == end)
        reducer_flush(r, j, end - box_start(r->row, r->ratio));
}

static FILE *reducer_end(reducer *r)
{
    free(r->sums);
    free(r->line);
    if (r->file)
        rewind(r->file);
    return r->file;
}

static void source_row(source *s, const job *j, const level *lv, uint32_t y, void *row)
{
    if (s->painted)
        picture_row(s->painted, y, row);
    else if (fread(row, j->px_bytes, lv->width_px, s->file) != lv->width_px)
        die("cannot read the temporary file");
}

/* From what reducer and picture use to what the file stores. */
static void to_stored(const job *j, void *row, uint32_t n)
{
    uint32_t max = j->o->bits == 8 ? 255 : 65535;
    unsigned bits = j->o->bits, channels = j->channels;

    for (size_t i = 0; i < n; i++) {
        uint32_t a = channels > j->colours ? sample_at(row, i * channels + j->colours, bits) : max;

        for (unsigned c = 0; c < j->colours; c++) {
            uint32_t v = sample_at(row, i * channels + c, bits);

            if (j->o->photometric == PHOTOMETRIC_MINISWHITE)
                v = max - v;
            if (j->o->alpha == EXTRASAMPLE_ASSOCALPHA + 1)
                v = (v * a + max / 2) / max;
            set_sample(row, i * channels + c, bits, v);
        }
    }
}

static void set_metadata(const job *j)
{
    const options *o = j->o;

    if (o->dpi > 0 || o->dpcm > 0) {
        TIFFSetField(j->tif, TIFFTAG_RESOLUTIONUNIT,
                     o->dpcm > 0 ? RESUNIT_CENTIMETER : RESUNIT_INCH);
        TIFFSetField(j->tif, TIFFTAG_XRESOLUTION, o->dpcm > 0 ? o->dpcm : o->dpi);
        TIFFSetField(j->tif, TIFFTAG_YRESOLUTION, o->dpcm > 0 ? o->dpcm : o->dpi);
    }
    if (o->orientation)
        TIFFSetField(j->tif, TIFFTAG_ORIENTATION, o->orientation);
    if (o->xmp_bytes) {
        char *text = get(o->xmp_bytes + 1, 1);
        int n = snprintf(text, o->xmp_bytes, "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">");

        memset(text + n, ' ', o->xmp_bytes - (unsigned)n);
        if (o->xmp_bytes > 64)
            memcpy(text + o->xmp_bytes - 12, "</x:xmpmeta>", 12);
        TIFFSetField(j->tif, TIFFTAG_XMLPACKET, o->xmp_bytes, text);
        free(text);
    }
    if (o->icc) {
        FILE *f = fopen(o->icc, "rb");
        uint8_t *data = get(1, 1 << 20);
        size_t n = f ? fread(data, 1, 1 << 20, f) : 0;

        if (n == 0)
            die("cannot read %s", o->icc);
        TIFFSetField(j->tif, TIFFTAG_ICCPROFILE, (uint32_t)n, data);
        free(data);
        fclose(f);
    }
}

static void set_coding(const job *j)
{
    const options *o = j->o;

    TIFFSetField(j->tif, TIFFTAG_COMPRESSION, o->compression);
    TIFFSetField(j->tif, TIFFTAG_PHOTOMETRIC, o->photometric);
    if (o->compression == COMPRESSION_JPEG) {
        if (o->photometric == PHOTOMETRIC_YCBCR) {
            TIFFSetField(j->tif, TIFFTAG_YCBCRSUBSAMPLING, o->subsample_x, o->subsample_y);
            TIFFSetField(j->tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        }
        TIFFSetField(j->tif, TIFFTAG_JPEGQUALITY, (int)o->quality);
        if (!o->tables)
            TIFFSetField(j->tif, TIFFTAG_JPEGTABLESMODE, 0);
    }
    if (o->compression == COMPRESSION_WEBP) {
        TIFFSetField(j->tif, TIFFTAG_WEBP_LOSSLESS, o->quality >= 100);
        TIFFSetField(j->tif, TIFFTAG_WEBP_LEVEL, (int)o->quality);
    }
    if (o->predictor)
        TIFFSetField(j->tif, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
}

static void set_fields(const job *j, const level *lv, uint32_t subfile, uint32_t strip_rows)
{
    const options *o = j->o;

    TIFFSetField(j->tif, TIFFTAG_IMAGEWIDTH, lv->width_px);
    TIFFSetField(j->tif, TIFFTAG_IMAGELENGTH, lv->height_px);
    TIFFSetField(j->tif, TIFFTAG_BITSPERSAMPLE, o->bits);
    TIFFSetField(j->tif, TIFFTAG_SAMPLESPERPIXEL, j->channels);
    TIFFSetField(j->tif, TIFFTAG_PLANARCONFIG,
                 o->planes ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    if (o->alpha) {
        uint16_t type = o->alpha - 1;
        TIFFSetField(j->tif, TIFFTAG_EXTRASAMPLES, 1, &type);
    }
    if (strip_rows) {
        TIFFSetField(j->tif, TIFFTAG_ROWSPERSTRIP, strip_rows);
    } else {
        TIFFSetField(j->tif, TIFFTAG_TILEWIDTH, o->tile_w_px);
        TIFFSetField(j->tif, TIFFTAG_TILELENGTH, o->tile_h_px);
    }
    if (subfile)
        TIFFSetField(j->tif, TIFFTAG_SUBFILETYPE, subfile);
    set_coding(j);
    set_metadata(j);
}

/* Copies one channel of n pixels, or all of them. */
static void pick(const job *j, uint8_t *dst, const uint8_t *src, uint32_t n, int channel)
{
    size_t bytes = j->o->bits / 8;

    if (channel < 0) {
        memcpy(dst, src, n * j->px_bytes);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        memcpy(dst + i * bytes, src + i * j->px_bytes + (unsigned)channel * bytes, bytes);
}

/* Fills what a tile holds beyond the picture: columns from w on, then rows from h on. */
static void pad_tile(const job *j, uint8_t *tile, uint32_t w, uint32_t h, size_t px_bytes)
{
    const options *o = j->o;
    size_t row_bytes = o->tile_w_px * px_bytes;

    for (uint32_t y = 0; y < h; y++) {
        uint8_t *row = tile + y * row_bytes;

        if (o->pad >= 0)
            memset(row + w * px_bytes, o->pad, (o->tile_w_px - w) * px_bytes);
        else
            for (uint32_t x = w; x < o->tile_w_px; x++)
                memcpy(row + x * px_bytes, row + (w - 1) * px_bytes, px_bytes);
    }
    for (uint32_t y = h; y < o->tile_h_px; y++)
        if (o->pad >= 0)
            memset(tile + y * row_bytes, o->pad, row_bytes);
        else
            memcpy(tile + y * row_bytes, tile + (h - 1) * row_bytes, row_bytes);
}

/* Writes the tiles of one row of them. band: rows of the picture's width. */
static void write_tiles(const job *j, const level *lv, const uint8_t *band, uint32_t y, uint32_t h,
                        int channel)
{
    const options *o = j->o;
    size_t px_bytes = channel < 0 ? j->px_bytes : o->bits / 8;
    size_t tile_bytes = (size_t)o->tile_w_px * o->tile_h_px * px_bytes;
    uint8_t *tile = get(1, tile_bytes);

    for (uint32_t x = 0; x < lv->width_px; x += o->tile_w_px) {
        uint32_t w = lv->width_px - x < o->tile_w_px ? lv->width_px - x : o->tile_w_px;
        uint32_t index = TIFFComputeTile(j->tif, x, y, 0, channel < 0 ? 0 : (uint16_t)channel);

        for (uint32_t i = 0; i < h; i++)
            pick(j, tile + i * o->tile_w_px * px_bytes,
                 band + (i * (size_t)lv->width_px + x) * j->px_bytes, w, channel);
        pad_tile(j, tile, w, h, px_bytes);
        if (TIFFWriteEncodedTile(j->tif, index, tile, (tmsize_t)tile_bytes) < 0)
            die("cannot write a tile");
    }
    free(tile);
}

static void write_strip(const job *j, const level *lv, const uint8_t *band, uint32_t y, uint32_t h,
                        int channel)
{
    size_t row_bytes = lv->width_px * (channel < 0 ? j->px_bytes : j->o->bits / 8);
    uint8_t *strip = get(h, row_bytes);
    uint32_t index = TIFFComputeStrip(j->tif, y, channel < 0 ? 0 : (uint16_t)channel);

    pick(j, strip, band, lv->width_px * h, channel);
    if (TIFFWriteEncodedStrip(j->tif, index, strip, (tmsize_t)(h * row_bytes)) < 0)
        die("cannot write a strip");
    free(strip);
}

/* The pixels of a level, tile row by tile row (or strip by strip), feeding the next one. */
static void write_pixels(const job *j, const level *lv, source *from, reducer *next,
                         uint32_t strip_rows)
{
    uint32_t unit = strip_rows ? strip_rows : j->o->tile_h_px;
    size_t row_bytes = lv->width_px * j->px_bytes;
    uint8_t *band = get(unit < lv->height_px ? unit : lv->height_px, row_bytes);

    for (uint32_t y = 0; y < lv->height_px; y += unit) {
        uint32_t h = lv->height_px - y < unit ? lv->height_px - y : unit;

        for (uint32_t i = 0; i < h; i++) {
            source_row(from, j, lv, y + i, band + i * row_bytes);
            reducer_row(next, j, y + i, band + i * row_bytes);
            to_stored(j, band + i * row_bytes, lv->width_px);
        }
        for (int c = j->o->planes ? 0 : -1; c < (j->o->planes ? (int)j->channels : 0); c++)
            (strip_rows ? write_strip : write_tiles)(j, lv, band, y, h, c);
    }
    free(band);
}

/* A striped picture beside the levels, as slide scanners write them. */
static void write_beside(job *j, const char *kind, uint32_t w, uint32_t h, uint32_t subfile)
{
    level lv = {w, h};
    source from = {.painted = picture_new(kind, w, h, j->colours, j->o->alpha, j->o->bits, 0)};
    reducer none = {0};

    set_fields(j, &lv, subfile, 16);
    write_pixels(j, &lv, &from, &none, 16);
    if (!TIFFWriteDirectory(j->tif))
        die("cannot write a directory");
    picture_free(from.painted);
}

static void leave_hole(job *j)
{
    int fd = TIFFFileno(j->tif);
    off_t end = lseek(fd, 0, SEEK_END);

    if (j->o->hole_bytes && (end < 0 || ftruncate(fd, end + (off_t)j->o->hole_bytes) != 0))
        die("cannot leave a hole");
}

static void write_page(job *j, unsigned page)
{
    const options *o = j->o;
    source from = {0};

    from.painted =
        picture_new(o->picture, o->width_px, o->height_px, j->colours, o->alpha, o->bits, page);
    if (!from.painted)
        die("unknown picture %s", o->picture);
    for (unsigned i = 0; i < j->n_levels; i++) {
        uint32_t subfile =
            i == 0 ? (o->stack ? FILETYPE_PAGE : 0) : (o->nsft ? FILETYPE_REDUCEDIMAGE : 0);
        reducer next;

        reducer_begin(&next, j, i);
        set_fields(j, &j->levels[i], subfile, o->strip_rows);
        if (i == 0 && o->subifds && j->n_levels > 1) {
            toff_t none[MAX_LEVELS] = {0};
            TIFFSetField(j->tif, TIFFTAG_SUBIFD, (int)j->n_levels - 1, none);
        }
        write_pixels(j, &j->levels[i], &from, &next, o->strip_rows);
        if (!TIFFWriteDirectory(j->tif))
            die("cannot write a directory");
        if (i == 0)
            leave_hole(j);
        if (from.painted)
            picture_free(from.painted);
        if (from.file)
            fclose(from.file);
        from = (source){.file = reducer_end(&next)};
        if (i == 0 && o->slide)
            write_beside(j, "corners", o->width_px / 10, o->height_px / 10, 0);
    }
    if (o->slide) {
        write_beside(j, "flat:255,255,255", 240, 260, FILETYPE_REDUCEDIMAGE);
        write_beside(j, "flat:90,90,90", 640, 210, 9);
    }
}

static void plan_levels(job *j)
{
    const options *o = j->o;
    uint32_t tile_w = o->strip_rows ? 256 : o->tile_w_px;
    uint32_t tile_h = o->strip_rows ? 256 : o->tile_h_px;
    level lv = {o->width_px, o->height_px};

    for (;;) {
        j->levels[j->n_levels++] = lv;
        if ((lv.width_px <= tile_w && lv.height_px <= tile_h) || j->n_levels >= o->max_levels ||
            j->n_levels == MAX_LEVELS)
            return;
        double w = lv.width_px / o->ratio, h = lv.height_px / o->ratio;
        lv.width_px = (uint32_t)fmax(1, o->ceil_sizes ? ceil(w - 1e-9) : floor(w + 1e-9));
        lv.height_px = (uint32_t)fmax(1, o->ceil_sizes ? ceil(h - 1e-9) : floor(h + 1e-9));
    }
}

/* Options. */

typedef struct name {
    const char *name;
    uint16_t value;
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

static uint16_t lookup(const name *table, const char *text, const char *what)
{
    for (; table->name; table++)
        if (strcmp(table->name, text) == 0)
            return table->value;
    die("unknown %s %s", what, text);
    return 0;
}

static void parse_pair(const char *text, uint32_t *a, uint32_t *b)
{
    if (sscanf(text, "%ux%u", a, b) != 2 || *a == 0 || *b == 0)
        die("%s is not of the form AxB", text);
}

static void parse_levels(options *o, const char *text)
{
    o->subifds = strcmp(text, "subifd") == 0;
    if (strcmp(text, "none") == 0)
        o->max_levels = 1;
    else if (!o->subifds && strcmp(text, "chain") != 0)
        die("unknown levels %s", text);
}

static void parse_ratio(options *o, const char *text)
{
    o->ceil_sizes = strcmp(text, "ceil") == 0;
    if (o->ceil_sizes || strcmp(text, "floor") == 0)
        o->ratio = 2;
    else if ((o->ratio = atof(text)) <= 1)
        die("the ratio must be above 1");
}

enum {
    PICTURE = 1,
    SIZE,
    COMPRESSION,
    PHOTOMETRIC,
    SUBSAMPLING,
    QUALITY,
    TILE,
    STRIP,
    LEVELS,
    RATIO,
    MAXLEVELS,
    BITS,
    ALPHA,
    BIGTIFF,
    ENDIAN,
    PREDICTOR,
    PAGES,
    PAD,
    NSFT,
    NOTABLES,
    ICC,
    DPI,
    DPCM,
    PLANAR,
    STACK,
    SLIDE,
    HOLE,
    XMP,
    ORIENTATION,
    HELP
};

static const struct option long_options[] = {{"picture", 1, 0, PICTURE},
                                             {"size", 1, 0, SIZE},
                                             {"compression", 1, 0, COMPRESSION},
                                             {"photometric", 1, 0, PHOTOMETRIC},
                                             {"subsampling", 1, 0, SUBSAMPLING},
                                             {"quality", 1, 0, QUALITY},
                                             {"tile", 1, 0, TILE},
                                             {"strip", 1, 0, STRIP},
                                             {"levels", 1, 0, LEVELS},
                                             {"ratio", 1, 0, RATIO},
                                             {"max-levels", 1, 0, MAXLEVELS},
                                             {"bits", 1, 0, BITS},
                                             {"alpha", 1, 0, ALPHA},
                                             {"bigtiff", 0, 0, BIGTIFF},
                                             {"endian", 1, 0, ENDIAN},
                                             {"predictor", 0, 0, PREDICTOR},
                                             {"pages", 1, 0, PAGES},
                                             {"pad", 1, 0, PAD},
                                             {"nsft", 1, 0, NSFT},
                                             {"no-tables", 0, 0, NOTABLES},
                                             {"icc", 1, 0, ICC},
                                             {"dpi", 1, 0, DPI},
                                             {"dpcm", 1, 0, DPCM},
                                             {"planar", 1, 0, PLANAR},
                                             {"stack", 0, 0, STACK},
                                             {"slide", 0, 0, SLIDE},
                                             {"hole", 1, 0, HOLE},
                                             {"xmp", 1, 0, XMP},
                                             {"orientation", 1, 0, ORIENTATION},
                                             {"help", 0, 0, HELP},
                                             {0, 0, 0, 0}};

static const char help_text[] =
    "mkpyramid OUT.tif [options]\n"
    "  --picture ramp|corners|sample|flat:R,G,B  what to paint (ramp)\n"
    "  --size WxH              pixels (1024x768)\n"
    "  --compression none|lzw|deflate|zstd|jpeg|webp|packbits  (deflate)\n"
    "  --photometric rgb|ycbcr|gray|miniswhite   (ycbcr for jpeg, else rgb)\n"
    "  --subsampling HxV       of YCbCr JPEG (2x2)\n"
    "  --quality N             of JPEG and WebP; WebP 100 is lossless (80)\n"
    "  --tile WxH              (256x256)      --strip ROWS   strips instead\n"
    "  --levels chain|subifd|none             --max-levels N\n"
    "  --ratio floor|ceil|R    level to level: halved, rounded down or up, or divided by R\n"
    "  --bits 8|16             --alpha assoc|unassoc   left half transparent\n"
    "  --bigtiff  --endian little|big  --predictor  --planar separate\n"
    "  --pages N               --stack         each page says it is one and keeps levels in "
    "SubIFDs\n"
    "  --slide                 thumbnail, label and macro between and behind the levels\n"
    "  --pad VALUE             bytes of tiles beyond the edge (the edge repeated)\n"
    "  --nsft on|off           mark reduced levels (on)\n"
    "  --no-tables             JPEG tables in every tile\n"
    "  --icc FILE  --xmp BYTES  --dpi X  --dpcm X  --orientation N\n"
    "  --hole BYTES            left free behind the first directory\n";

static void set_option(options *o, int id, const char *arg)
{
    uint32_t a, b;

    switch (id) {
    case PICTURE:
        o->picture = arg;
        break;
    case SIZE:
        parse_pair(arg, &o->width_px, &o->height_px);
        break;
    case COMPRESSION:
        o->compression = lookup(compressions, arg, "compression");
        break;
    case PHOTOMETRIC:
        o->photometric = lookup(photometrics, arg, "photometric");
        break;
    case SUBSAMPLING:
        parse_pair(arg, &a, &b);
        o->subsample_x = (uint16_t)a;
        o->subsample_y = (uint16_t)b;
        break;
    case QUALITY:
        o->quality = (unsigned)atoi(arg);
        break;
    case TILE:
        parse_pair(arg, &o->tile_w_px, &o->tile_h_px);
        break;
    case STRIP:
        o->strip_rows = (uint32_t)atoi(arg);
        break;
    case LEVELS:
        parse_levels(o, arg);
        break;
    case RATIO:
        parse_ratio(o, arg);
        break;
    case MAXLEVELS:
        o->max_levels = (unsigned)atoi(arg);
        break;
    case BITS:
        o->bits = (unsigned)atoi(arg);
        break;
    case ALPHA:
        o->alpha = lookup(alphas, arg, "alpha");
        break;
    case BIGTIFF:
        o->bigtiff = true;
        break;
    case ENDIAN:
        o->big = strcmp(arg, "big") == 0;
        o->little = !o->big;
        break;
    case PREDICTOR:
        o->predictor = true;
        break;
    case PAGES:
        o->pages = (unsigned)atoi(arg);
        break;
    case PAD:
        o->pad = atoi(arg) & 255;
        break;
    case NSFT:
        o->nsft = strcmp(arg, "off") != 0;
        break;
    case NOTABLES:
        o->tables = false;
        break;
    case ICC:
        o->icc = arg;
        break;
    case DPI:
        o->dpi = atof(arg);
        break;
    case DPCM:
        o->dpcm = atof(arg);
        break;
    case PLANAR:
        o->planes = strcmp(arg, "separate") == 0;
        break;
    case STACK:
        o->stack = o->subifds = true;
        break;
    case SLIDE:
        o->slide = true;
        break;
    case HOLE:
        o->hole_bytes = strtoull(arg, NULL, 10);
        break;
    case XMP:
        o->xmp_bytes = (unsigned)atoi(arg);
        break;
    case ORIENTATION:
        o->orientation = (uint16_t)atoi(arg);
        break;
    case HELP:
        fputs(help_text, stdout);
        exit(0);
    default:
        exit(2);
    }
}

static options parse(int argc, char **argv)
{
    options o = {.picture = "ramp",
                 .width_px = 1024,
                 .height_px = 768,
                 .tile_w_px = 256,
                 .tile_h_px = 256,
                 .compression = COMPRESSION_ADOBE_DEFLATE,
                 .photometric = UINT16_MAX,
                 .subsample_x = 2,
                 .subsample_y = 2,
                 .bits = 8,
                 .pages = 1,
                 .quality = 80,
                 .max_levels = MAX_LEVELS,
                 .ratio = 2,
                 .pad = -1,
                 .nsft = true,
                 .tables = true};
    int id;

    while ((id = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        set_option(&o, id, optarg);
    if (optind + 1 != argc)
        die("one output file, please (--help lists the options)");
    o.out = argv[optind];
    if (o.bits != 8 && o.bits != 16)
        die("8 or 16 bits only");
    if (o.photometric == UINT16_MAX)
        o.photometric = o.compression == COMPRESSION_JPEG ? PHOTOMETRIC_YCBCR : PHOTOMETRIC_RGB;
    return o;
}

int main(int argc, char **argv)
{
    options o = parse(argc, argv);
    job j = {.o = &o};
    char mode[8];

    j.colours = o.photometric <= PHOTOMETRIC_MINISBLACK ? 1 : 3;
    j.channels = j.colours + (o.alpha != 0);
    j.px_bytes = (size_t)j.channels * (o.bits / 8);
    snprintf(mode, sizeof mode, "w%s%s", o.bigtiff ? "8" : "", o.big ? "b" : o.little ? "l" : "");
    plan_levels(&j);
    j.tif = TIFFOpen(o.out, mode);
    if (!j.tif)
        die("cannot write %s", o.out);
    for (unsigned page = 0; page < o.pages; page++)
        write_page(&j, page);
    TIFFClose(j.tif);
    return 0;
}
