/* mkpyramid OUT.tif [options]: writes the TIFF files that tests and the demonstration serve.
 * The full picture is painted row by row; each level is averaged from the one above on the way,
 * into a temporary file, so that memory stays small. --help lists the options. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tiffio.h>

#include "mkpyramid_options.h"
#include "picture.h"

#define MAX_LEVELS 32

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
            TIFFSetField(j->tif, TIFFTAG_YCBCRSUBSAMPLING, o->subsampling[0], o->subsampling[1]);
            TIFFSetField(j->tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        }
        TIFFSetField(j->tif, TIFFTAG_JPEGQUALITY, (int)o->quality);
        if (o->no_tables)
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
        uint16_t type = (uint16_t)(o->alpha - 1);
        TIFFSetField(j->tif, TIFFTAG_EXTRASAMPLES, 1, &type);
    }
    if (strip_rows) {
        TIFFSetField(j->tif, TIFFTAG_ROWSPERSTRIP, strip_rows);
    } else {
        TIFFSetField(j->tif, TIFFTAG_TILEWIDTH, o->tile_px[0]);
        TIFFSetField(j->tif, TIFFTAG_TILELENGTH, o->tile_px[1]);
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
    size_t row_bytes = o->tile_px[0] * px_bytes;

    for (uint32_t y = 0; y < h; y++) {
        uint8_t *row = tile + y * row_bytes;

        if (o->pad >= 0)
            memset(row + w * px_bytes, o->pad, (o->tile_px[0] - w) * px_bytes);
        else
            for (uint32_t x = w; x < o->tile_px[0]; x++)
                memcpy(row + x * px_bytes, row + (w - 1) * px_bytes, px_bytes);
    }
    for (uint32_t y = h; y < o->tile_px[1]; y++)
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
    size_t tile_bytes = (size_t)o->tile_px[0] * o->tile_px[1] * px_bytes;
    uint8_t *tile = get(1, tile_bytes);

    for (uint32_t x = 0; x < lv->width_px; x += o->tile_px[0]) {
        uint32_t w = lv->width_px - x < o->tile_px[0] ? lv->width_px - x : o->tile_px[0];
        uint32_t index = TIFFComputeTile(j->tif, x, y, 0, channel < 0 ? 0 : (uint16_t)channel);

        for (uint32_t i = 0; i < h; i++)
            pick(j, tile + i * o->tile_px[0] * px_bytes,
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
    uint32_t unit = strip_rows ? strip_rows : j->o->tile_px[1];
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

    if (j->o->hole_bytes > 0 && (end < 0 || ftruncate(fd, end + (off_t)j->o->hole_bytes) != 0))
        die("cannot leave a hole");
}

/* Writes level i from its source, closes that, and returns the source of the next. */
static source write_level(job *j, unsigned i, source from)
{
    const options *o = j->o;
    uint32_t subfile = i > 0 && !o->unmarked ? FILETYPE_REDUCEDIMAGE : 0;
    reducer next;

    if (i == 0 && o->stack)
        subfile = FILETYPE_PAGE;
    reducer_begin(&next, j, i);
    set_fields(j, &j->levels[i], subfile, o->strip_rows);
    if (i == 0 && o->subifds && j->n_levels > 1) {
        toff_t none[MAX_LEVELS] = {0};
        TIFFSetField(j->tif, TIFFTAG_SUBIFD, (int)j->n_levels - 1, none);
    }
    write_pixels(j, &j->levels[i], &from, &next, o->strip_rows);
    if (!TIFFWriteDirectory(j->tif))
        die("cannot write a directory");
    if (from.painted)
        picture_free(from.painted);
    if (from.file)
        fclose(from.file);
    return (source){.file = reducer_end(&next)};
}

static void write_page(job *j, unsigned page)
{
    const options *o = j->o;
    source from = {0};

    from.painted =
        picture_new(o->picture, o->size_px[0], o->size_px[1], j->colours, o->alpha, o->bits, page);
    if (!from.painted)
        die("unknown picture %s", o->picture);
    from = write_level(j, 0, from);
    leave_hole(j);
    if (o->slide)
        write_beside(j, "corners", o->size_px[0] / 10, o->size_px[1] / 10, 0);
    for (unsigned i = 1; i < j->n_levels; i++)
        from = write_level(j, i, from);
    if (o->slide) {
        write_beside(j, "flat:255,255,255", 240, 260, FILETYPE_REDUCEDIMAGE);
        write_beside(j, "flat:90,90,90", 640, 210, 9);
    }
}

static void plan_levels(job *j)
{
    const options *o = j->o;
    uint32_t tile_w = o->strip_rows ? 256 : o->tile_px[0];
    uint32_t tile_h = o->strip_rows ? 256 : o->tile_px[1];
    level lv = {o->size_px[0], o->size_px[1]};

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

int main(int argc, char **argv)
{
    options o = options_parse(argc, argv);
    job j = {.o = &o};
    char mode[8];

    j.colours = o.photometric <= PHOTOMETRIC_MINISBLACK ? 1 : 3;
    j.channels = j.colours + (o.alpha != 0);
    j.px_bytes = (size_t)j.channels * (o.bits / 8);
    snprintf(mode, sizeof mode, "w%s%s", o.bigtiff ? "8" : "",
             o.big_endian      ? "b"
             : o.little_endian ? "l"
                               : "");
    plan_levels(&j);
    j.tif = TIFFOpen(o.out, mode);
    if (!j.tif)
        die("cannot write %s", o.out);
    for (unsigned page = 0; page < o.pages; page++)
        write_page(&j, page);
    TIFFClose(j.tif);
    return 0;
}
