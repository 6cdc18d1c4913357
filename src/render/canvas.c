#include "render/canvas.h"

#include <string.h>

#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/pixel.h"
#include "tegula/raster.h"

/* One px of what lies around the picture; without alpha all formats have 8 bits or repeat them. */
static void empty_px(const tg_config *config, const tg_plan *plan, uint8_t *px)
{
    tg_pixfmt fmt = plan->out_fmt;
    uint8_t colour[3];
    memset(px, 0, 8);
    if (tg_pixfmt_alpha(fmt))
        return;
    memcpy(colour, config->background, sizeof colour);
    if (fmt.channels == 1)
        tg_row_gray(colour, config->background, (tg_pixfmt){3, 8}, 1);
    if (plan->bitonal)
        colour[0] = colour[0] < 128 ? 0 : 255;
    size_t each = tg_pixfmt_bytes(fmt) / fmt.channels;
    for (size_t i = 0; i < fmt.channels * each; i++)
        px[i] = colour[i / each];
}

bool tg_canvas_start(tg_canvas_rows *c, const tg_config *config, const tg_plan *plan, tg_err *err)
{
    uint8_t px[8];
    *c = (tg_canvas_rows){.canvas = plan->geometry.canvas,
                          .px_bytes = tg_pixfmt_bytes(plan->out_fmt),
                          .picture_px = plan->out_w};
    if (!c->canvas.width_px)
        return true;
    c->below_px = c->canvas.height_px - c->canvas.y - plan->out_h;
    c->empty = tg_image_alloc(2, c->canvas.width_px * c->px_bytes, err);
    if (!c->empty)
        return false;
    empty_px(config, plan, px);
    for (size_t i = 0; i < 2 * (size_t)c->canvas.width_px; i++)
        memcpy(c->empty + i * c->px_bytes, px, c->px_bytes);
    c->row = c->empty + c->canvas.width_px * c->px_bytes;
    return true;
}

void tg_canvas_free(tg_canvas_rows *c)
{
    tg_image_free(c->empty);
}

static bool empty_rows(const tg_canvas_rows *c, uint32_t n, tg_encoder *encoder, tg_err *err)
{
    for (uint32_t i = 0; i < n; i++)
        if (!tg_encoder_rows(encoder, c->empty, c->canvas.width_px * c->px_bytes, 1, err))
            return false;
    return true;
}

bool tg_canvas_above(const tg_canvas_rows *c, tg_encoder *encoder, tg_err *err)
{
    return empty_rows(c, c->canvas.y, encoder, err);
}

const void *tg_canvas_row(const tg_canvas_rows *c, const void *row)
{
    if (!c->canvas.width_px)
        return row;
    memcpy(c->row + c->canvas.x * c->px_bytes, row, c->picture_px * c->px_bytes);
    return c->row;
}

bool tg_canvas_below(const tg_canvas_rows *c, tg_encoder *encoder, tg_err *err)
{
    return empty_rows(c, c->below_px, encoder, err);
}
