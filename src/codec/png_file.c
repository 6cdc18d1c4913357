/* PNG files: header by our own walk over the chunks, pixels by libpng row by row. */
#include <png.h>

#include <stdlib.h>
#include <string.h>

#include "codecs.h"
#include "flat.h"
#include "png_chunks.h"
#include "read_at.h"
#include "tegula/mem.h"
#include "tegula/num.h"

#define INFLATE_BYTES    131072 /* libpng's and zlib's own, beside rows */
#define MAX_DEFLATE_GAIN 1032   /* bytes out of one, at best (zlib, "Maximum compression factor") */
#define LEAST_PART       16     /* of a picture cut short, as one in so many */

/* libpng reads so much at once; of a file cut short the last part is lost. */
#define LENIENT_BYTES 256

typedef struct png_file {
    tg_flat flat;
    tg_png_header header;
    /* The decoder under way. */
    png_structp png;
    png_infop info;
    tg_err *err;     /* of the call under way */
    uint8_t *raster; /* of an interlaced picture */
    tg_reader reader;
} png_file;

static bool png_probe(const uint8_t *head, size_t n)
{
    return tg_png_is(head, n);
}

static tg_native native_of(const tg_png_header *h)
{
    return (tg_native){.space = h->colour_type & TG_PNG_RGB ? TG_SPACE_RGB : TG_SPACE_GRAY,
                       .alpha = (h->colour_type & TG_PNG_ALPHA) || h->transparency,
                       .bits = h->bits == 16 ? 16 : 8};
}

static const tg_flat_ops png_ops;

static void describe(png_file *p)
{
    tg_image *img = &p->flat.base;

    img->native = native_of(&p->header);
    img->stored_bits = p->header.bits;
    img->dpi_x = p->header.dpi_x;
    img->dpi_y = p->header.dpi_y;
    tg_part_take_exif(p->header.exif, img);
    img->held_bytes = sizeof *p + INFLATE_BYTES;
    p->flat.costly = p->header.interlaced;
}

static uint64_t pixel_bytes(const tg_png_header *h)
{
    static const uint8_t samples[7] = {[0] = 1, [2] = 3, [3] = 1, [4] = 2, [6] = 4};

    return ((uint64_t)h->width_px * samples[h->colour_type] * h->bits + 7) / 8 * h->height_px;
}

/* Of a picture that is cut short some part is there; if not, its header lies, and no work or memory
 * is due to it, nor with STRICT=0 the time to fill it with white. */
static bool can_be_part(const tg_png_header *h, uint64_t size_bytes, tg_err *err)
{
    return pixel_bytes(h) / MAX_DEFLATE_GAIN / LEAST_PART <= size_bytes ||
           tg_fail(err, TG_ERR_CORRUPT, "the image file is cut short");
}

static tg_image *png_open(int fd, uint64_t size_bytes, unsigned page, tg_err *err)
{
    tg_png_header header;
    png_file *p;

    if (page > 0) {
        tg_fail(err, TG_ERR_NOT_FOUND, "a PNG file has one picture");
        return NULL;
    }
    if (!tg_png_header_read(fd, size_bytes, &header, err) || !can_be_part(&header, size_bytes, err))
        return NULL;
    p = tg_new(sizeof *p);
    tg_flat_init(&p->flat, &tg_png_codec, &png_ops, fd, size_bytes, header.width_px,
                 header.height_px);
    p->header = header;
    describe(p);
    return &p->flat.base;
}

static void on_error(png_structp png, png_const_charp text)
{
    png_file *p = png_get_error_ptr(png);

    tg_fail(p->err, TG_ERR_CORRUPT, "the PNG data cannot be decoded");
    tg_fail_detail(p->err, "libpng: %s", text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static png_voidp on_alloc(png_structp png, png_alloc_size_t n)
{
    png_file *p = png_get_mem_ptr(png);

    return tg_image_alloc(n, 1, p->err);
}

static void on_free(png_structp png, png_voidp memory)
{
    (void)png;
    tg_image_free(memory);
}

static void on_read(png_structp png, png_bytep dst, size_t n)
{
    png_file *p = png_get_io_ptr(png);

    if (tg_reader_take(&p->reader, dst, n) < n)
        png_error(png, "the file is cut short");
}

/* All samples of 8 or 16 bits, palette as colours, tRNS as alpha. What libpng thinks of tRNS may
 * differ from what the walk found (a bad check sum). */
static void set_transforms(png_file *p)
{
    bool alpha = (png_get_color_type(p->png, p->info) & PNG_COLOR_MASK_ALPHA) ||
                 png_get_valid(p->png, p->info, PNG_INFO_tRNS);

    png_set_expand(p->png);
    if (alpha && !p->flat.base.native.alpha)
        png_set_strip_alpha(p->png);
    if (!alpha && p->flat.base.native.alpha)
        png_set_add_alpha(p->png, 0xffff, PNG_FILLER_AFTER);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(p->png);
    png_set_interlace_handling(p->png);
    png_read_update_info(p->png, p->info);
}

/* Under setjmp. */
static bool read_header(png_file *p, tg_err *err)
{
    const tg_native native = p->flat.base.native;

    png_set_user_limits(p->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_keep_unknown_chunks(p->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1); /* tRNS is not of them */
    if (p->flat.base.options.lenient)
        png_set_compression_buffer_size(p->png, LENIENT_BYTES);
    png_set_read_fn(p->png, p, on_read);
    png_read_info(p->png, p->info);
    set_transforms(p);
    return (png_get_image_width(p->png, p->info) == p->header.width_px &&
            png_get_image_height(p->png, p->info) == p->header.height_px &&
            png_get_rowbytes(p->png, p->info) ==
                (uint64_t)p->header.width_px * tg_native_bytes(native)) ||
           tg_fail(err, TG_ERR_CORRUPT, "the image file changed while it was open");
}

/* Each pass fills the blocks that the next ones refine. */
static bool read_interlaced(png_file *p, tg_err *err)
{
    size_t stride = p->header.width_px * tg_native_bytes(p->flat.base.native);
    unsigned passes = 7;

    p->raster = tg_image_alloc(p->header.height_px, stride, err);
    if (!p->raster)
        return false;
    memset(p->raster, 0xff, p->header.height_px * stride);
    for (unsigned pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < p->header.height_px; y++)
            png_read_row(p->png, NULL, p->raster + y * stride);
    return true;
}

/* A file too short for its pixels, however well they compress, need not be begun. */
static bool can_be_whole(const png_file *p, tg_err *err)
{
    return p->flat.base.options.lenient ||
           pixel_bytes(&p->header) / MAX_DEFLATE_GAIN <= p->flat.size_bytes ||
           tg_fail(err, TG_ERR_CORRUPT, "the image file is cut short");
}

static bool png_start(tg_flat *f, tg_err *err)
{
    png_file *p = (png_file *)f;

    f->x = 0;
    f->w = p->header.width_px;
    p->err = err;
    tg_reader_begin(&p->reader, f->base.fd, f->size_bytes);
    if (!can_be_whole(p, err))
        return false;
    p->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, p, on_error, on_warning, p, on_alloc,
                                      on_free);
    p->info = p->png ? png_create_info_struct(p->png) : NULL;
    if (!p->info)
        return tg_fail(err, TG_ERR_BUSY, "no memory for decoding PNG");
    if (setjmp(png_jmpbuf(p->png)))
        return p->raster && tg_flat_overlook(f, err); /* passes that are there show all coarsely */
    return read_header(p, err) && (!p->header.interlaced || read_interlaced(p, err));
}

static bool png_rows(tg_flat *f, uint8_t *dst, size_t stride, uint32_t n, tg_err *err)
{
    png_file *p = (png_file *)f;

    p->err = err;
    if (p->raster) {
        if (dst)
            tg_flat_copy(f, p->raster, dst, stride, n);
        return true;
    }
    if (setjmp(png_jmpbuf(p->png)))
        return false;
    for (uint32_t i = 0; i < n; i++)
        png_read_row(p->png, dst ? dst + i * stride : NULL, NULL);
    return true;
}

static void png_stop(tg_flat *f)
{
    png_file *p = (png_file *)f;

    png_destroy_read_struct(&p->png, &p->info, NULL);
    tg_image_free(p->raster);
    p->raster = NULL;
}

static const tg_flat_ops png_ops = {png_start, png_rows, png_stop};

static uint64_t png_working_bytes(const tg_image *img, unsigned level, unsigned k, tg_rect rect)
{
    const png_file *p = (const png_file *)img;
    uint64_t row = (uint64_t)p->header.width_px * tg_native_bytes(img->native);

    (void)level;
    (void)k;
    (void)rect;
    return INFLATE_BYTES + 4 * row + (p->header.interlaced ? row * p->header.height_px : 0);
}

static void png_block(tg_image *img, tg_block which, size_t limit_bytes, tg_buf *out)
{
    const tg_png_header *h = &((const png_file *)img)->header;

    switch (which) {
    case TG_BLOCK_ICC:
        tg_png_profile(img->fd, h, limit_bytes, out);
        break;
    case TG_BLOCK_XMP:
        tg_png_xmp(img->fd, h, limit_bytes, out);
        break;
    }
}

static void png_file_text(tg_image *img, tg_text which, size_t limit_bytes, tg_buf *out)
{
    const tg_png_header *h = &((const png_file *)img)->header;

    if (h->text[which].part.at)
        tg_png_text(img->fd, h, which, limit_bytes, out);
    else
        tg_part_append_text(h->exif, img->fd, which, limit_bytes, out);
}

static void png_close(tg_image *img)
{
    tg_flat_close((tg_flat *)img);
    free(img);
}

const tg_codec tg_png_codec = {
    .name = "PNG",
    .help = "PNG of any depth and colour type, interlaced or not",
    .probe = png_probe,
    .open = png_open,
    .read = tg_flat_read,
    .rest = tg_flat_rest,
    .working_bytes = png_working_bytes,
    .block = png_block,
    .text = png_file_text,
    .close = png_close,
};
