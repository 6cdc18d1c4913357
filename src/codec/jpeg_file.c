/* JPEG files: header by our own marker walk, pixels by libjpeg-turbo (its 8-bit library: 12-bit and
 * lossless files are told apart and refused). */
#include <stdlib.h>
#include <string.h>

#include "codecs.h"
#include "flat.h"
#include "jpeg_markers.h"
#include "jpeg_read.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "text.h"

/* libjpeg's row buffers, of all components, in rows of the picture. */
#define BUFFERED_ROWS 96

typedef struct jpeg_file {
    tg_flat flat;
    tg_jpeg_header header;
    tg_jpeg_reader *reader; /* while the decoder is live */
} jpeg_file;

static bool jpeg_probe(const uint8_t *head, size_t n)
{
    return n >= 3 && head[0] == 0xff && head[1] == 0xd8 && head[2] == 0xff;
}

static bool check_frame(const tg_jpeg_header *h, tg_err *err)
{
    enum { LOSSLESS = 0xc3, PROGRESSIVE = 0xc2, ARITHMETIC = 0xc9, ARITHMETIC_PROGRESSIVE = 0xca };
    bool known = h->sof <= PROGRESSIVE || h->sof == ARITHMETIC || h->sof == ARITHMETIC_PROGRESSIVE;

    if (h->width_px == 0 || h->height_px == 0)
        return tg_fail(err, TG_ERR_CORRUPT, "the JPEG file has no size");
    if (h->width_px > JPEG_MAX_DIMENSION || h->height_px > JPEG_MAX_DIMENSION)
        return tg_fail(err, TG_ERR_NOT_IMPLEMENTED,
                       "JPEG files of more than %ld pixels a side are not read by this version",
                       JPEG_MAX_DIMENSION);
    if (!known)
        return tg_fail(err, TG_ERR_NOT_IMPLEMENTED, "%s JPEG files are not read by this version",
                       h->sof == LOSSLESS ? "lossless" : "hierarchical and lossless");
    if (h->precision != 8)
        return tg_fail(err, TG_ERR_NOT_IMPLEMENTED,
                       "JPEG files of %u bits a sample are not read by this version", h->precision);
    if (h->components != 1 && h->components != 3 && h->components != 4)
        return tg_fail(err, TG_ERR_NOT_IMPLEMENTED,
                       "JPEG files of %u components are not read by this version", h->components);
    return true;
}

/* Reduced blocks of all components are square: where chroma is four times coarser one way than the
 * other (4:1:1), libjpeg would make it coarser still. */
static bool reduces_well(const tg_jpeg_header *h)
{
    for (unsigned i = 1; i < h->components; i++) {
        unsigned across = h->h_factor[0] * h->v_factor[i], down = h->v_factor[0] * h->h_factor[i];

        if (across >= 4 * down || down >= 4 * across)
            return false;
    }
    return true;
}

static void describe(jpeg_file *j)
{
    static const tg_space spaces[] = {[1] = TG_SPACE_GRAY, [3] = TG_SPACE_RGB, [4] = TG_SPACE_CMYK};
    tg_image *img = &j->flat.base;

    img->native = (tg_native){.space = spaces[j->header.components], .bits = 8};
    img->level[0].max_reduction = reduces_well(&j->header) ? tg_flat_reduction(&j->flat, 3) : 0;
    img->dpi_x = j->header.dpi_x;
    img->dpi_y = j->header.dpi_y;
    tg_part_take_exif(j->header.exif, img);
    img->held_bytes = sizeof *j + sizeof *j->reader;
    j->flat.costly = j->header.many_scans;
}

static const tg_flat_ops jpeg_ops;

static tg_image *jpeg_open(int fd, uint64_t size_bytes, unsigned page, tg_err *err)
{
    tg_jpeg_header header;
    jpeg_file *j;

    if (page > 0) {
        tg_fail(err, TG_ERR_NOT_FOUND, "a JPEG file has one picture");
        return NULL;
    }
    if (!tg_jpeg_header_read(fd, size_bytes, &header, err) || !check_frame(&header, err))
        return NULL;
    j = tg_new(sizeof *j);
    tg_flat_init(&j->flat, &tg_jpeg_codec, &jpeg_ops, fd, size_bytes, header.width_px,
                 header.height_px);
    j->header = header;
    describe(j);
    return &j->flat.base;
}

static bool same_frame(const jpeg_file *j, const struct jpeg_decompress_struct *cinfo, tg_err *err)
{
    return (cinfo->image_width == j->header.width_px &&
            cinfo->image_height == j->header.height_px &&
            cinfo->num_components == j->header.components) ||
           tg_fail(err, TG_ERR_CORRUPT, "the image file changed while it was open");
}

/* libjpeg tells YCbCr, RGB, CMYK and YCCK apart by JFIF and Adobe markers and component numbers, as
 * browsers do. */
static void set_colours(struct jpeg_decompress_struct *cinfo)
{
    static const J_COLOR_SPACE as[] = {[1] = JCS_GRAYSCALE, [3] = JCS_RGB, [4] = JCS_CMYK};

    if (cinfo->num_components == 1)
        cinfo->jpeg_color_space = JCS_GRAYSCALE;
    cinfo->out_color_space = as[cinfo->num_components];
}

static bool jpeg_start(tg_flat *f, tg_err *err)
{
    jpeg_file *j = (jpeg_file *)f;
    tg_jpeg_reader *r = j->reader = tg_new(sizeof *j->reader);
    uint32_t from;

    if (!tg_jpeg_reader_begin(r, f->base.fd, 0, f->size_bytes, NULL, 0, err) ||
        !same_frame(j, &r->cinfo, err))
        return false;
    set_colours(&r->cinfo);
    r->errors.lenient = f->base.options.lenient;
    if (!tg_jpeg_reader_start(r, f->k, err))
        return false;
    from = tg_jpeg_reader_crop(r, f->x, f->w, err);
    f->x = from;
    f->w = r->cinfo.output_width;
    return from != UINT32_MAX;
}

/* Adobe's programs began to store CMYK inverted. By now browsers and nearly all programs take it
 * so, with or without Adobe's marker. */
static void invert(uint8_t *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        row[i] = (uint8_t)~row[i];
}

static bool jpeg_rows(tg_flat *f, uint8_t *dst, size_t stride, uint32_t n, tg_err *err)
{
    jpeg_file *j = (jpeg_file *)f;

    if (!tg_jpeg_reader_rows(j->reader, dst, stride, n, err))
        return false;
    if (dst && f->base.native.space == TG_SPACE_CMYK)
        for (uint32_t i = 0; i < n; i++)
            invert(dst + i * stride, (size_t)f->w * 4);
    return true;
}

static void jpeg_stop(tg_flat *f)
{
    jpeg_file *j = (jpeg_file *)f;

    tg_jpeg_reader_end(j->reader);
    free(j->reader);
    j->reader = NULL;
}

static const tg_flat_ops jpeg_ops = {jpeg_start, jpeg_rows, jpeg_stop};

/* Coefficients have two bytes; their rows and columns are filled up to whole MCUs. */
static uint64_t coefficient_bytes(const jpeg_file *j)
{
    const tg_jpeg_header *h = &j->header;
    unsigned h_max = 1, v_max = 1;
    uint64_t mcus, blocks = 0;

    for (unsigned i = 0; i < h->components; i++) {
        h_max = TG_MAX(h_max, h->h_factor[i]);
        v_max = TG_MAX(v_max, h->v_factor[i]);
        blocks += h->h_factor[i] * h->v_factor[i];
    }
    mcus = (uint64_t)tg_ceil_div_u32(h->width_px, 8 * h_max) *
           tg_ceil_div_u32(h->height_px, 8 * v_max);
    return mcus * blocks * 64 * 2;
}

static uint64_t jpeg_working_bytes(const tg_image *img, unsigned level, unsigned k, tg_rect rect)
{
    const jpeg_file *j = (const jpeg_file *)img;
    uint64_t row = (uint64_t)(j->header.width_px >> k) * j->header.components;

    (void)level;
    (void)rect;
    return sizeof *j->reader + row * BUFFERED_ROWS +
           (j->header.many_scans ? coefficient_bytes(j) : 0);
}

static void jpeg_block(tg_image *img, tg_block which, size_t limit_bytes, tg_buf *out)
{
    const jpeg_file *j = (const jpeg_file *)img;

    switch (which) {
    case TG_BLOCK_ICC:
        tg_jpeg_icc(img->fd, j->flat.size_bytes, limit_bytes, out);
        break;
    case TG_BLOCK_XMP:
        tg_part_append(j->header.xmp, img->fd, limit_bytes, out);
        break;
    }
}

#define MAX_SEGMENT_BYTES ((size_t)65533)

static void append_comment(tg_part comment, int fd, size_t limit_bytes, tg_buf *out)
{
    tg_buf raw = {0};

    tg_part_append(comment, fd, MAX_SEGMENT_BYTES, &raw);
    tg_text_append(out, tg_buf_view(&raw), limit_bytes);
    tg_buf_free(&raw);
}

static void jpeg_text(tg_image *img, tg_text which, size_t limit_bytes, tg_buf *out)
{
    const tg_jpeg_header *h = &((const jpeg_file *)img)->header;

    if (which == TG_TEXT_COMMENT)
        append_comment(h->comment, img->fd, limit_bytes, out);
    else
        tg_part_append_text(h->exif, img->fd, which, limit_bytes, out);
}

static void jpeg_close(tg_image *img)
{
    tg_flat_close((tg_flat *)img);
    free(img);
}

const tg_codec tg_jpeg_codec = {
    .name = "JPEG",
    .help = "JPEG of 8 bits a sample, baseline, progressive or arithmetic",
    .probe = jpeg_probe,
    .open = jpeg_open,
    .read = tg_flat_read,
    .rest = tg_flat_rest,
    .working_bytes = jpeg_working_bytes,
    .block = jpeg_block,
    .text = jpeg_text,
    .close = jpeg_close,
};
