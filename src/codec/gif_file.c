/* GIF files by giflib: the first frame on its canvas. Rows come one by one, those of an interlaced
 * frame from a raster of indices. */
#ifdef HAVE_GIF
#include <gif_lib.h>

#include <stdlib.h>
#include <string.h>

#include "codecs.h"
#include "flat.h"
#include "read_at.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "text.h"

/* Extensions before the first frame; comments and programs' own data are short. */
#define MAX_FRONT_BYTES ((uint64_t)4 << 20)
/* Pixels out of a byte, at best: codes of at least 3 bits stand for at most 4096 pixels each, and
 * to get there takes as many codes. */
#define MAX_LZW_GAIN    2730
/* Pixels of a canvas that cost little, whatever is on it. */
#define SMALL_CANVAS_PX ((uint64_t)1 << 24)
/* Of a larger canvas the part that the first frame covers at least, and of a frame cut short the
 * part that is there, as one in so many. */
#define LEAST_PART      16
/* giflib's tables. */
#define DECODER_BYTES   65536

typedef struct frame {
    uint32_t canvas_w_px, canvas_h_px;
    tg_rect rect;
    bool interlaced;
    int transparent;         /* index, -1 = none */
    uint8_t palette[256][4]; /* RGBA; indices beyond the file's palette are black */
} frame;

typedef struct gif_file {
    tg_flat flat;
    frame frame;
    /* The decoder under way. */
    GifFileType *gif;
    uint8_t *indices; /* of a row, or of an interlaced frame */
    tg_reader reader;
} gif_file;

static bool gif_probe(const uint8_t *head, size_t n)
{
    return n >= 6 && (memcmp(head, "GIF87a", 6) == 0 || memcmp(head, "GIF89a", 6) == 0);
}

static int on_read(GifFileType *gif, GifByteType *dst, int n)
{
    return n > 0 ? (int)tg_reader_take(gif->UserData, dst, (size_t)n) : 0;
}

static bool fail_gif(int code, tg_err *err)
{
    const char *text = GifErrorString(code);

    tg_fail(err, code == D_GIF_ERR_NOT_ENOUGH_MEM ? TG_ERR_BUSY : TG_ERR_CORRUPT,
            "the GIF data cannot be decoded");
    return tg_fail_detail(err, "giflib: %s", text ? text : "no reason given");
}

/* comment: receives the first one; NULL = not wanted. */
static bool take_extension(GifFileType *gif, int *transparent, tg_buf *comment)
{
    GraphicsControlBlock control;
    GifByteType *data;
    int code;

    if (DGifGetExtension(gif, &code, &data) != GIF_OK)
        return false;
    if (code != COMMENT_EXT_FUNC_CODE || (comment && comment->len))
        comment = NULL;
    while (data) {
        if (code == GRAPHICS_EXT_FUNC_CODE &&
            DGifExtensionToGCB(data[0], data + 1, &control) == GIF_OK)
            *transparent = control.TransparentColor;
        if (comment)
            tg_buf_append(comment, data + 1, data[0]);
        if (DGifGetExtensionNext(gif, &data) != GIF_OK)
            return false;
    }
    return true;
}

/* Leaves giflib before the first frame's pixels. */
static bool go_to_frame(GifFileType *gif, int *transparent, tg_buf *comment, tg_err *err)
{
    GifRecordType type;

    *transparent = NO_TRANSPARENT_COLOR;
    while (DGifGetRecordType(gif, &type) == GIF_OK) {
        if (type == TERMINATE_RECORD_TYPE)
            return tg_fail(err, TG_ERR_CORRUPT, "the GIF file has no picture");
        if (type == IMAGE_DESC_RECORD_TYPE)
            return DGifGetImageDesc(gif) == GIF_OK || fail_gif(gif->Error, err);
        if (type == EXTENSION_RECORD_TYPE && !take_extension(gif, transparent, comment))
            break;
    }
    return fail_gif(gif->Error, err);
}

static bool take_palette(const GifFileType *gif, frame *f, tg_err *err)
{
    const ColorMapObject *map = gif->Image.ColorMap ? gif->Image.ColorMap : gif->SColorMap;

    if (!map || !map->Colors)
        return tg_fail(err, TG_ERR_CORRUPT, "the GIF file has no palette");
    for (int i = 0; i < 256; i++) {
        GifColorType c = i < map->ColorCount ? map->Colors[i] : (GifColorType){0};

        memcpy(f->palette[i], (uint8_t[4]){c.Red, c.Green, c.Blue, i == f->transparent ? 0 : 255},
               4);
    }
    return true;
}

/* A canvas that is too small for the first frame, as some writers leave it, grows, as in browsers.
 */
static bool take_frame(const GifFileType *gif, frame *f, tg_err *err)
{
    const GifImageDesc *d = &gif->Image;

    if (d->Left < 0 || d->Top < 0 || d->Width <= 0 || d->Height <= 0)
        return tg_fail(err, TG_ERR_CORRUPT, "the GIF file's first frame is empty");
    f->rect =
        (tg_rect){(uint32_t)d->Left, (uint32_t)d->Top, (uint32_t)d->Width, (uint32_t)d->Height};
    f->canvas_w_px = TG_MAX((uint32_t)TG_MAX(gif->SWidth, 0), f->rect.x + f->rect.w);
    f->canvas_h_px = TG_MAX((uint32_t)TG_MAX(gif->SHeight, 0), f->rect.y + f->rect.h);
    f->interlaced = d->Interlace;
    return take_palette(gif, f, err);
}

/* A canvas of 65535 by 65535 takes four bytes of the file, and minutes to fill. */
static bool is_worth_filling(const frame *f, tg_err *err)
{
    uint64_t canvas_px = (uint64_t)f->canvas_w_px * f->canvas_h_px;
    uint64_t frame_px = (uint64_t)f->rect.w * f->rect.h;

    return canvas_px <= SMALL_CANVAS_PX || canvas_px / LEAST_PART <= frame_px ||
           tg_fail(err, TG_ERR_CORRUPT,
                   "the GIF file's first frame is far smaller than its canvas");
}

static GifFileType *open_at_frame(tg_reader *r, frame *f, tg_buf *comment, tg_err *err)
{
    int code = 0;
    GifFileType *gif = DGifOpen(r, on_read, &code);

    if (!gif) {
        fail_gif(code, err);
        return NULL;
    }
    if (go_to_frame(gif, &f->transparent, comment, err) && take_frame(gif, f, err) &&
        is_worth_filling(f, err))
        return gif;
    DGifCloseFile(gif, NULL);
    return NULL;
}

static const tg_flat_ops gif_ops;

static tg_image *make_image(const frame *f, int fd, uint64_t size_bytes)
{
    gif_file *g = tg_new(sizeof *g);
    bool covers = f->rect.w == f->canvas_w_px && f->rect.h == f->canvas_h_px;

    tg_flat_init(&g->flat, &tg_gif_codec, &gif_ops, fd, size_bytes, f->canvas_w_px, f->canvas_h_px);
    g->frame = *f;
    g->flat.base.native =
        (tg_native){.space = TG_SPACE_RGB, .alpha = f->transparent >= 0 || !covers, .bits = 8};
    g->flat.base.held_bytes = sizeof *g + DECODER_BYTES;
    g->flat.costly = f->interlaced;
    return &g->flat.base;
}

/* False when there is no picture. */
static bool read_front(int fd, uint64_t size_bytes, frame *f, tg_buf *comment, tg_err *err)
{
    tg_reader *r = tg_new(sizeof *r);
    GifFileType *gif;

    tg_reader_begin(r, fd, TG_MIN(size_bytes, MAX_FRONT_BYTES));
    gif = open_at_frame(r, f, comment, err);
    free(r);
    if (gif)
        DGifCloseFile(gif, NULL);
    return gif != NULL;
}

static tg_image *gif_open(int fd, uint64_t size_bytes, unsigned page, tg_err *err)
{
    frame f;

    if (page > 0) {
        tg_fail(err, TG_ERR_NOT_FOUND, "of a GIF file there is only the first picture");
        return NULL;
    }
    return read_front(fd, size_bytes, &f, NULL, err) ? make_image(&f, fd, size_bytes) : NULL;
}

static bool read_line(gif_file *g, uint8_t *dst, tg_err *err)
{
    return DGifGetLine(g->gif, dst, (int)g->frame.rect.w) == GIF_OK || fail_gif(g->gif->Error, err);
}

static void fill_down(gif_file *g, uint32_t y, uint32_t n)
{
    const tg_rect *rect = &g->frame.rect;
    uint8_t *row = g->indices + (size_t)y * rect->w;

    n = TG_MIN(n, rect->h - y);
    for (uint32_t i = 1; i < n; i++)
        memcpy(row + (size_t)i * rect->w, row, rect->w);
}

/* Four passes (GIF89a, appendix E); each fills the rows that later ones refine, should they be
 * missing. */
static bool read_interlaced(gif_file *g, tg_err *err)
{
    static const struct {
        uint8_t from, step, fills;
    } passes[] = {{0, 8, 8}, {4, 8, 4}, {2, 4, 2}, {1, 2, 1}};
    const tg_rect *rect = &g->frame.rect;

    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++)
        for (uint32_t y = passes[i].from; y < rect->h; y += passes[i].step) {
            if (!read_line(g, g->indices + (size_t)y * rect->w, err))
                return false;
            fill_down(g, y, passes[i].fills);
        }
    return true;
}

/* A file too short for its pixels, however well they compress, need not be begun; one of which only
 * a part is wanted has to have that part. */
static bool can_be_whole(const gif_file *g, tg_err *err)
{
    uint64_t px = (uint64_t)g->frame.rect.w * g->frame.rect.h;
    uint64_t due_px = g->flat.base.options.lenient ? px / LEAST_PART : px;

    return due_px / MAX_LZW_GAIN <= g->flat.size_bytes ||
           tg_fail(err, TG_ERR_CORRUPT, "the image file is cut short");
}

static bool gif_start(tg_flat *f, tg_err *err)
{
    gif_file *g = (gif_file *)f;
    const tg_rect *rect = &g->frame.rect;
    frame now;

    f->x = 0;
    f->w = g->frame.canvas_w_px;
    if (!can_be_whole(g, err))
        return false;
    tg_reader_begin(&g->reader, f->base.fd, f->size_bytes);
    g->gif = open_at_frame(&g->reader, &now, NULL, err);
    if (!g->gif)
        return false;
    if (memcmp(&now.rect, rect, sizeof *rect) != 0 || now.interlaced != g->frame.interlaced)
        return tg_fail(err, TG_ERR_CORRUPT, "the image file changed while it was open");
    g->indices = tg_image_alloc(g->frame.interlaced ? rect->h : 1, rect->w, err);
    if (!g->indices || !g->frame.interlaced)
        return g->indices != NULL;
    memset(g->indices, 0, (size_t)rect->h * rect->w);
    return read_interlaced(g, err) || tg_flat_overlook(f, err);
}

static void paint(const gif_file *g, const uint8_t *indices, uint8_t *dst)
{
    const tg_rect *rect = &g->frame.rect;
    size_t px_bytes = tg_native_bytes(g->flat.base.native);

    dst += rect->x * px_bytes;
    for (uint32_t i = 0; i < rect->w; i++, dst += px_bytes)
        memcpy(dst, g->frame.palette[indices[i]], px_bytes);
}

/* Transparent around the frame. */
static bool next_row(gif_file *g, uint32_t y, uint8_t *dst, tg_err *err)
{
    const tg_rect *rect = &g->frame.rect;
    const uint8_t *indices = g->indices;
    bool inside = y >= rect->y && y - rect->y < rect->h;

    if (inside && g->frame.interlaced)
        indices += (size_t)(y - rect->y) * rect->w;
    else if (inside && !read_line(g, g->indices, err))
        return false;
    if (!dst)
        return true;
    if (rect->w < g->flat.w || !inside)
        memset(dst, 0, g->flat.w * tg_native_bytes(g->flat.base.native));
    if (inside)
        paint(g, indices, dst);
    return true;
}

static bool gif_rows(tg_flat *f, uint8_t *dst, size_t stride, uint32_t n, tg_err *err)
{
    for (uint32_t i = 0; i < n; i++)
        if (!next_row((gif_file *)f, f->next_row + i, dst ? dst + i * stride : NULL, err))
            return false;
    return true;
}

static void gif_stop(tg_flat *f)
{
    gif_file *g = (gif_file *)f;

    if (g->gif)
        DGifCloseFile(g->gif, NULL);
    g->gif = NULL;
    tg_image_free(g->indices);
    g->indices = NULL;
}

static const tg_flat_ops gif_ops = {gif_start, gif_rows, gif_stop};

static uint64_t gif_working_bytes(const tg_image *img, unsigned level, unsigned k, tg_rect rect)
{
    const frame *f = &((const gif_file *)img)->frame;

    (void)level;
    (void)k;
    (void)rect;
    return DECODER_BYTES + (uint64_t)f->canvas_w_px * tg_native_bytes(img->native) +
           (f->interlaced ? (uint64_t)f->rect.w * f->rect.h : f->rect.w);
}

static void gif_text(tg_image *img, tg_text which, size_t limit_bytes, tg_buf *out)
{
    tg_buf comment = {0};
    tg_err ignored = {0};
    frame f;

    if (which == TG_TEXT_COMMENT &&
        read_front(img->fd, ((const gif_file *)img)->flat.size_bytes, &f, &comment, &ignored))
        tg_text_append(out, tg_buf_view(&comment), limit_bytes);
    tg_buf_free(&comment);
}

static void gif_close(tg_image *img)
{
    tg_flat_close((tg_flat *)img);
    free(img);
}

const tg_codec tg_gif_codec = {
    .name = "GIF",
    .help = "GIF, of an animation the first frame",
    .probe = gif_probe,
    .open = gif_open,
    .read = tg_flat_read,
    .rest = tg_flat_rest,
    .working_bytes = gif_working_bytes,
    .text = gif_text,
    .close = gif_close,
};
#endif
