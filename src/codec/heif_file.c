/* AVIF and HEIF (HEIC) files by libheif: the primary picture, which libheif has turned and mirrored
 * already as the file says; an Exif orientation beside that does not count (ISO/IEC 23008-12,
 * annex A.2.1). Pictures are decoded whole. */
#ifdef HAVE_HEIF
#include <libheif/heif.h>

#include <stdlib.h>
#include <string.h>

#include "codecs.h"
#include "exif.h"
#include "flat.h"
#include "read_at.h"
#include "rgb_profile.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "text.h"

#define HELD_BYTES  131072 /* libheif's boxes of a usual file */
/* A decoder's frames and libheif's planes beside the interleaved picture, bytes per sample. */
#define PLANES_HELD 4

typedef struct heif_file {
    tg_flat flat;
    struct heif_context *context;
    struct heif_image_handle *handle;
    uint64_t at_bytes; /* of the reader below */
    /* While the decoder is live. */
    struct heif_image *picture;
    const uint8_t *plane;
    int stride;
    unsigned bits; /* of the picture's samples */
} heif_file;

static bool known_brand(const uint8_t *brand)
{
    static const char brands[][5] = {"avif", "avis", "heic", "heix", "heim", "heis",
                                     "hevc", "hevx", "mif1", "mif2", "msf1", "miaf"};

    for (size_t i = 0; i < sizeof brands / sizeof brands[0]; i++)
        if (memcmp(brand, brands[i], 4) == 0)
            return true;
    return false;
}

/* The major brand, or one of the compatible ones behind it and its version. */
static bool heif_probe(const uint8_t *head, size_t n)
{
    enum { BRANDS_AT = 8, VERSION_AT = 12 };
    size_t end;

    if (n < VERSION_AT + 4 || memcmp(head + 4, "ftyp", 4) != 0)
        return false;
    end = TG_MIN((size_t)tg_be32(head), n);
    for (size_t at = BRANDS_AT; at + 4 <= end; at += 4)
        if (at != VERSION_AT && known_brand(head + at))
            return true;
    return false;
}

static int64_t on_position(void *data)
{
    return (int64_t)((heif_file *)data)->at_bytes;
}

static int on_read(void *dst, size_t n, void *data)
{
    heif_file *h = data;
    size_t got = tg_read_up_to(h->flat.base.fd, dst, n, h->at_bytes);

    h->at_bytes += got;
    return got == n ? 0 : 1;
}

static int on_seek(int64_t to, void *data)
{
    heif_file *h = data;

    if (to < 0 || (uint64_t)to > h->flat.size_bytes)
        return 1;
    h->at_bytes = (uint64_t)to;
    return 0;
}

static enum heif_reader_grow_status on_wait(int64_t size, void *data)
{
    heif_file *h = data;

    return size >= 0 && (uint64_t)size <= h->flat.size_bytes
               ? heif_reader_grow_status_size_reached
               : heif_reader_grow_status_size_beyond_eof;
}

static tg_err_kind kind_of(struct heif_error e)
{
    if (e.subcode == heif_suberror_Security_limit_exceeded)
        return TG_ERR_TOO_LARGE;
    switch (e.code) {
    case heif_error_Unsupported_feature:
    case heif_error_Unsupported_filetype:
        return TG_ERR_NOT_IMPLEMENTED;
    case heif_error_Memory_allocation_error:
        return TG_ERR_BUSY;
    default:
        return TG_ERR_CORRUPT;
    }
}

static bool ok(struct heif_error e, tg_err *err)
{
    if (e.code == heif_error_Ok)
        return true;
    tg_fail(err, kind_of(e), "the AVIF or HEIF data cannot be decoded");
    return tg_fail_detail(err, "libheif: %s", e.message ? e.message : "no reason given");
}

static bool open_primary(heif_file *h, tg_err *err)
{
    static const struct heif_reader reader = {1, on_position, on_read, on_seek, on_wait};

    h->context = heif_context_alloc();
    if (!h->context)
        return tg_fail(err, TG_ERR_BUSY, "no memory for decoding HEIF");
    heif_context_set_max_decoding_threads(h->context, 0);
    return ok(heif_context_read_from_reader(h->context, &reader, h, NULL), err) &&
           ok(heif_context_get_primary_image_handle(h->context, &h->handle), err);
}

static void append_metadata(const heif_file *h, const char *type, const char *content_type,
                            size_t limit_bytes, tg_buf *out)
{
    heif_item_id id[16];
    int n = heif_image_handle_get_list_of_metadata_block_IDs(h->handle, type, id, 16);

    for (int i = 0; i < n; i++) {
        size_t bytes = heif_image_handle_get_metadata_size(h->handle, id[i]);
        const char *is = heif_image_handle_get_metadata_content_type(h->handle, id[i]);
        uint8_t *to;

        if ((content_type && (!is || strcmp(is, content_type) != 0)) || bytes == 0 ||
            bytes > limit_bytes || !(to = tg_buf_reserve(out, bytes)))
            continue;
        if (heif_image_handle_get_metadata(h->handle, id[i], to).code == heif_error_Ok)
            out->len += bytes;
        return;
    }
}

/* Before the block stands how far it is to its first byte (23008-12, annex A.2.1). */
static tg_exif read_exif(const heif_file *h, tg_buf *block)
{
    enum { MAX_BYTES = 1 << 20 };
    size_t skip;

    append_metadata(h, "Exif", NULL, MAX_BYTES, block);
    skip = block->len >= 4 ? 4 + (size_t)tg_be32(block->data) : 0;
    return skip < block->len ? tg_exif_read(block->data + skip, block->len - skip)
                             : tg_exif_read(NULL, 0);
}

static const tg_flat_ops heif_ops;

static bool describe(heif_file *h, int fd, uint64_t size_bytes, tg_err *err)
{
    int w = heif_image_handle_get_width(h->handle),
        height = heif_image_handle_get_height(h->handle);
    int bits = heif_image_handle_get_luma_bits_per_pixel(h->handle);
    tg_buf block = {0};
    tg_exif exif;

    if (w <= 0 || height <= 0)
        return tg_fail(err, TG_ERR_CORRUPT, "the HEIF file has no size");
    tg_flat_init(&h->flat, &tg_heif_codec, &heif_ops, fd, size_bytes, (uint32_t)w,
                 (uint32_t)height);
    h->flat.base.native = (tg_native){.space = TG_SPACE_RGB,
                                      .alpha = heif_image_handle_has_alpha_channel(h->handle),
                                      .bits = bits > 8 ? 16 : 8};
    h->flat.base.stored_bits = (uint8_t)TG_MAX(bits, 8);
    h->flat.base.held_bytes = sizeof *h + HELD_BYTES;
    h->flat.costly = true;
    exif = read_exif(h, &block);
    h->flat.base.dpi_x = exif.dpi_x;
    h->flat.base.dpi_y = exif.dpi_y;
    tg_buf_free(&block);
    return true;
}

static void release(heif_file *h)
{
    heif_image_handle_release(h->handle);
    heif_context_free(h->context);
    free(h);
}

static tg_image *heif_open(int fd, uint64_t size_bytes, unsigned page, tg_err *err)
{
    heif_file *h;

    if (page > 0) {
        tg_fail(err, TG_ERR_NOT_FOUND, "of a HEIF file there is only the primary picture");
        return NULL;
    }
    h = tg_new(sizeof *h);
    h->flat.base.fd = fd; /* libheif reads from here on */
    h->flat.size_bytes = size_bytes;
    if (open_primary(h, err) && describe(h, fd, size_bytes, err))
        return &h->flat.base;
    release(h);
    return NULL;
}

static uint64_t decode_bytes(const tg_image *img)
{
    uint64_t px = (uint64_t)img->level[0].width_px * img->level[0].height_px;

    return px * (tg_native_bytes(img->native) + (uint64_t)PLANES_HELD * (img->native.bits / 8));
}

static enum heif_chroma chroma_of(tg_native n)
{
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

    if (n.bits == 8)
        return n.alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
    if (n.alpha)
        return little ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBBAA_BE;
    return little ? heif_chroma_interleaved_RRGGBB_LE : heif_chroma_interleaved_RRGGBB_BE;
}

static bool decode(heif_file *h, tg_err *err)
{
    const tg_image *img = &h->flat.base;
    struct heif_decoding_options *options = heif_decoding_options_alloc();
    bool done;

    if (!options)
        return tg_fail(err, TG_ERR_BUSY, "no memory for decoding HEIF");
    options->strict_decoding = !img->options.lenient;
    done = ok(heif_decode_image(h->handle, &h->picture, heif_colorspace_RGB, chroma_of(img->native),
                                options),
              err);
    heif_decoding_options_free(options);
    return done;
}

/* The file's header may promise what its pictures do not keep. */
static bool check_picture(heif_file *h, tg_err *err)
{
    const tg_level *lv = &h->flat.base.level[0];
    enum heif_channel channel = heif_channel_interleaved;
    int bits = heif_image_get_bits_per_pixel_range(h->picture, channel);

    h->plane = heif_image_get_plane_readonly(h->picture, channel, &h->stride);
    if (!h->plane || heif_image_get_width(h->picture, channel) != (int)lv->width_px ||
        heif_image_get_height(h->picture, channel) != (int)lv->height_px || bits < 8 || bits > 16)
        return tg_fail(err, TG_ERR_CORRUPT, "the HEIF file's picture is not as its header says");
    h->bits = (unsigned)bits;
    return true;
}

static bool heif_start(tg_flat *f, tg_err *err)
{
    heif_file *h = (heif_file *)f;

    f->x = 0;
    f->w = f->base.level[0].width_px;
    return tg_flat_admit(decode_bytes(&f->base), err) && decode(h, err) && check_picture(h, err);
}

/* n-bit samples spread to 0 .. 65535. */
static void spread(uint16_t *samples, size_t n, unsigned bits)
{
    uint32_t most = (1u << bits) - 1;

    for (size_t i = 0; bits < 16 && i < n; i++)
        samples[i] = (uint16_t)((TG_MIN((uint32_t)samples[i], most) * 65535u + most / 2) / most);
}

static void unmultiply8(uint8_t *px, size_t n)
{
    for (; n-- > 0; px += 4)
        for (unsigned c = 0; c < 3; c++)
            px[c] = px[3] ? (uint8_t)TG_MIN((px[c] * 255u + px[3] / 2u) / px[3], 255u) : 0;
}

static void unmultiply16(uint16_t *px, size_t n)
{
    for (; n-- > 0; px += 4)
        for (unsigned c = 0; c < 3; c++)
            px[c] = px[3] ? (uint16_t)TG_MIN((px[c] * 65535ull + px[3] / 2u) / px[3], 65535ull) : 0;
}

static void finish_row(const heif_file *h, uint8_t *row)
{
    tg_native n = h->flat.base.native;
    bool multiplied = n.alpha && heif_image_handle_is_premultiplied_alpha(h->handle);

    if (n.bits == 16)
        spread((uint16_t *)(void *)row, (size_t)h->flat.w * tg_native_channels(n), h->bits);
    if (multiplied && n.bits == 16)
        unmultiply16((uint16_t *)(void *)row, h->flat.w);
    else if (multiplied)
        unmultiply8(row, h->flat.w);
}

static bool heif_rows(tg_flat *f, uint8_t *dst, size_t stride, uint32_t n, tg_err *err)
{
    const heif_file *h = (const heif_file *)f;

    (void)err;
    for (uint32_t i = 0; dst && i < n; i++) {
        memcpy(dst + i * stride, h->plane + (size_t)(f->next_row + i) * (size_t)h->stride,
               f->w * tg_native_bytes(f->base.native));
        finish_row(h, dst + i * stride);
    }
    return true;
}

static void heif_stop(tg_flat *f)
{
    heif_file *h = (heif_file *)f;

    heif_image_release(h->picture);
    h->picture = NULL;
}

static const tg_flat_ops heif_ops = {heif_start, heif_rows, heif_stop};

static uint64_t heif_working_bytes(const tg_image *img, unsigned level, unsigned k, tg_rect rect)
{
    (void)level;
    (void)k;
    (void)rect;
    return decode_bytes(img);
}

/* Without an ICC profile the numbers of nclx tell. */
static void append_profile(const heif_file *h, size_t limit_bytes, tg_buf *out)
{
    size_t n = heif_image_handle_get_raw_color_profile_size(h->handle);
    struct heif_color_profile_nclx *nclx = NULL;
    uint8_t *to = n > 0 && n <= limit_bytes ? tg_buf_reserve(out, n) : NULL;
    tg_rgb_meaning m;

    if (to && heif_image_handle_get_raw_color_profile(h->handle, to).code == heif_error_Ok)
        out->len += n;
    if (n > 0 || heif_image_handle_get_nclx_color_profile(h->handle, &nclx).code != heif_error_Ok ||
        !nclx)
        return;
    if (tg_rgb_of_code_points((uint16_t)nclx->color_primaries,
                              (uint16_t)nclx->transfer_characteristics, &m))
        tg_rgb_profile(&m, false, out);
    heif_nclx_color_profile_free(nclx);
}

static void heif_block(tg_image *img, tg_block which, size_t limit_bytes, tg_buf *out)
{
    const heif_file *h = (const heif_file *)img;

    switch (which) {
    case TG_BLOCK_ICC:
        append_profile(h, limit_bytes, out);
        break;
    case TG_BLOCK_XMP:
        append_metadata(h, "mime", "application/rdf+xml", limit_bytes, out);
        break;
    }
}

static void heif_text(tg_image *img, tg_text which, size_t limit_bytes, tg_buf *out)
{
    tg_buf block = {0};

    tg_text_append(out, read_exif((const heif_file *)img, &block).text[which], limit_bytes);
    tg_buf_free(&block);
}

static void heif_close(tg_image *img)
{
    tg_flat_close((tg_flat *)img);
    release((heif_file *)img);
}

const tg_codec tg_heif_codec = {
    .name = "HEIF",
    .help = "AVIF and HEIF (HEIC), the primary picture",
    .probe = heif_probe,
    .open = heif_open,
    .read = tg_flat_read,
    .rest = tg_flat_rest,
    .working_bytes = heif_working_bytes,
    .block = heif_block,
    .text = heif_text,
    .close = heif_close,
};
#endif
