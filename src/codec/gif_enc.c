/* GIF output by giflib: one picture of at most 256 colours, transparent where alpha is below half.
 * The palette is known only when all rows are. */
#ifdef HAVE_GIF
#include <gif_lib.h>

#include <string.h>

#include "embed.h"
#include "enc_rows.h"
#include "encoder_ops.h"
#include "palette.h"
#include "tegula/mem.h"
#include "tegula/num.h"

typedef struct gif_encoder {
    tg_encoder base;
    tg_palette *palette;
    uint32_t *argb; /* the whole picture */
    uint8_t *index; /* one row */
    int16_t *error[2];
    GifFileType *gif;
} gif_encoder;

static uint64_t gif_cost_bytes(const tg_encode_spec *spec)
{
    return (uint64_t)spec->width_px * spec->height_px * 4 + sizeof(tg_palette);
}

static bool gif_begin(tg_encoder *e, tg_err *err)
{
    gif_encoder *g = (gif_encoder *)e;
    size_t w = e->spec.width_px;

    g->palette = tg_image_alloc(1, sizeof *g->palette, err);
    if (!g->palette)
        return false;
    memset(g->palette, 0, sizeof *g->palette);
    g->argb = tg_image_alloc(w * e->spec.height_px, sizeof *g->argb, err);
    g->index = g->argb ? tg_image_alloc(w, 1, err) : NULL;
    for (int i = 0; i < 2 && g->index; i++) {
        g->error[i] = tg_image_alloc(tg_palette_error_items(w), sizeof **g->error, err);
        if (!g->error[i])
            return false;
    }
    return g->index != NULL;
}

static bool gif_rows(tg_encoder *e, const uint8_t *rows, size_t stride, uint32_t n, tg_err *err)
{
    gif_encoder *g = (gif_encoder *)e;
    uint32_t width_px = e->spec.width_px;

    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *to = g->argb + (size_t)(e->rows_done + i) * width_px;

        tg_argb_row(to, rows + i * stride, width_px, e->spec.fmt.channels);
        tg_palette_count(g->palette, to, width_px);
    }
    return true;
}

/* ---- giflib ---- */

static int on_write(GifFileType *gif, const GifByteType *data, int n)
{
    tg_buf *out = gif->UserData;

    tg_buf_append(out, data, (size_t)n);
    return out->failed ? 0 : n;
}

static bool put_screen(GifFileType *gif, const tg_palette *p, int w, int h)
{
    GifColorType colours[TG_PALETTE_MAX] = {{0}};
    ColorMapObject *map;
    bool ok;

    for (unsigned i = 0; i < p->n; i++)
        colours[i] = (GifColorType){p->rgb[i][0], p->rgb[i][1], p->rgb[i][2]};
    map = GifMakeMapObject(1 << GifBitSize((int)(p->n + p->holes)), colours);
    ok = map && EGifPutScreenDesc(gif, w, h, 8, 0, map) == GIF_OK;
    GifFreeMapObject(map);
    return ok;
}

static bool put_comment(GifFileType *gif, tg_str text)
{
    tg_buf z = {0};
    bool ok = !text.n || EGifPutComment(gif, tg_embed_z(&z, text)) == GIF_OK;

    tg_buf_free(&z);
    return ok;
}

static bool put_transparency(GifFileType *gif, const tg_palette *p)
{
    GraphicsControlBlock control = {.TransparentColor = (int)p->n};
    GifByteType bytes[4];

    return EGifGCBToExtension(&control, bytes) == sizeof bytes &&
           EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, sizeof bytes, bytes) == GIF_OK;
}

static bool put_rows(gif_encoder *g)
{
    uint32_t width_px = g->base.spec.width_px;

    memset(g->error[0], 0, tg_palette_error_items(width_px) * sizeof **g->error);
    for (uint32_t y = 0; y < g->base.spec.height_px; y++) {
        tg_palette_row(g->palette, g->index, g->argb + (size_t)y * width_px, width_px,
                       g->error[y % 2], g->error[(y + 1) % 2]);
        if (EGifPutLine(g->gif, g->index, (int)width_px) != GIF_OK)
            return false;
    }
    return true;
}

static bool close_gif(gif_encoder *g)
{
    GifFileType *gif = g->gif;

    g->gif = NULL;
    return EGifCloseFile(gif, NULL) == GIF_OK;
}

static bool put_all(gif_encoder *g)
{
    int w = (int)g->base.spec.width_px, h = (int)g->base.spec.height_px;

    EGifSetGifVersion(g->gif, true); /* 89a: transparency */
    return put_screen(g->gif, g->palette, w, h) &&
           put_comment(g->gif, g->base.spec.embed.copyright) &&
           (!g->palette->holes || put_transparency(g->gif, g->palette)) &&
           EGifPutImageDesc(g->gif, 0, 0, w, h, false, NULL) == GIF_OK && put_rows(g) &&
           close_gif(g);
}

static bool gif_finish(tg_encoder *e, tg_err *err)
{
    gif_encoder *g = (gif_encoder *)e;

    tg_palette_make(g->palette);
    g->gif = EGifOpen(e->out, on_write, NULL);
    if (!g->gif)
        return tg_fail(err, TG_ERR_BUSY, "out of memory");
    if (put_all(g))
        return true;
    if (e->out->failed)
        return tg_fail(err, TG_ERR_TOO_LARGE, "the encoded image is too large");
    return tg_fail(err, TG_ERR_INTERNAL, "the image cannot be written as GIF");
}

static void gif_end(tg_encoder *e)
{
    gif_encoder *g = (gif_encoder *)e;

    if (g->gif)
        close_gif(g);
    tg_image_free(g->palette);
    tg_image_free(g->argb);
    tg_image_free(g->index);
    tg_image_free(g->error[0]);
    tg_image_free(g->error[1]);
}

const tg_encoder_ops tg_gif_encoder_ops = {
    sizeof(gif_encoder), gif_begin, gif_rows, gif_finish, gif_end, gif_cost_bytes, NULL,
};
#endif
