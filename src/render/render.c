#include "tegula/render.h"

#include <string.h>

#include "render/canvas.h"
#include "render/chain.h"
#include "render/embedding.h"
#include "render/rows.h"
#include "render/tone.h"
#include "tegula/encoder.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/raster.h"

#define MAX_PIXEL_BYTES 8
#define ROTATE_BAND_PX  32

typedef struct render {
    const tg_plan *plan;
    const tg_embed *embed;
    tg_rows *rows;
    tg_chain before, after;
    tg_canvas_rows canvas;
    const uint8_t *lut; /* of the plan's histogram; NULL: none */
    tg_encoder *encoder;
    uint8_t *scratch[3]; /* one per half of the chain, wide enough for either side of a turn; one
                            for the watermark */
    uint32_t y;          /* of the row to encode next */
    uint8_t *raster, *turned;
} render;

/* What is bitonal stays so: the encoder takes nothing else. */
static const void *mark_row(render *r, const void *row)
{
    const tg_plan *p = r->plan;
    const void *marked = tg_mark_row(&p->mark, r->y++, row, p->out_w, p->out_fmt, r->scratch[2]);
    if (marked != row && p->bitonal)
        tg_row_bitonal(r->scratch[2], marked, p->out_fmt, p->out_w);
    return marked;
}

static bool encode_row(render *r, const void *row, tg_err *err)
{
    row = mark_row(r, tg_chain_run(&r->after, row, r->plan->out_w, r->scratch[1]));
    return tg_encoder_rows(r->encoder, tg_canvas_row(&r->canvas, row),
                           r->plan->out_w * tg_pixfmt_bytes(r->plan->out_fmt), 1, err);
}

/* Top to bottom, nothing held but the band. */
static bool stream_rows(render *r, tg_err *err)
{
    uint32_t left = r->plan->scaled_h, n;
    bool as_read =
        r->before.n_ops + r->after.n_ops == 0 && !r->plan->mark.of && !r->canvas.canvas.width_px;
    for (; left; left -= n) {
        const uint8_t *data;
        size_t stride;
        if (!tg_rows_next(r->rows, &data, &stride, &n, err))
            return false;
        if (as_read) {
            if (!tg_encoder_rows(r->encoder, data, stride, n, err))
                return false;
            continue;
        }
        for (uint32_t i = 0; i < n; i++)
            if (!encode_row(
                    r,
                    tg_chain_run(&r->before, data + i * stride, r->plan->scaled_w, r->scratch[0]),
                    err))
                return false;
    }
    return true;
}

/* The unturned picture as a raster, for turns: they need rows in another order than they come. */
static bool gather(render *r, size_t stride, tg_err *err)
{
    const tg_plan *p = r->plan;
    r->raster = tg_image_alloc(p->scaled_h, stride, err);
    if (!r->raster)
        return false;
    for (uint32_t y = 0, n; y < p->scaled_h; y += n) {
        const uint8_t *data;
        size_t data_stride;
        if (!tg_rows_next(r->rows, &data, &data_stride, &n, err))
            return false;
        for (uint32_t i = 0; i < n; i++)
            memcpy(r->raster + (y + i) * stride,
                   tg_chain_run(&r->before, data + i * data_stride, p->scaled_w, r->scratch[0]),
                   stride);
    }
    return true;
}

static bool encode_quarter_turn(render *r, size_t stride, tg_pixfmt fmt, tg_err *err)
{
    const tg_plan *p = r->plan;
    size_t out_stride = p->out_w * tg_pixfmt_bytes(fmt);
    r->turned = tg_image_alloc(p->out_h, out_stride, err);
    if (!r->turned)
        return false;
    tg_raster_turn(r->turned, out_stride, r->raster, stride, fmt, p->scaled_w, p->scaled_h,
                   p->quarter);
    for (uint32_t y = 0; y < p->out_h; y++)
        if (!encode_row(r, r->turned + y * out_stride, err))
            return false;
    return true;
}

static bool encode_rotation(render *r, size_t stride, tg_pixfmt fmt, tg_err *err)
{
    const tg_plan *p = r->plan;
    size_t out_stride = p->out_w * tg_pixfmt_bytes(fmt);
    r->turned = tg_image_alloc(ROTATE_BAND_PX, out_stride, err);
    if (!r->turned)
        return false;
    for (uint32_t y = 0; y < p->out_h; y += ROTATE_BAND_PX) {
        uint32_t end = TG_MIN(y + ROTATE_BAND_PX, p->out_h);
        tg_raster_rotate(r->turned, out_stride, r->raster, stride, fmt, p->scaled_w, p->scaled_h,
                         p->angle, y, end);
        for (uint32_t i = 0; i < end - y; i++)
            if (!encode_row(r, r->turned + i * out_stride, err))
                return false;
    }
    return true;
}

static bool turn_rows(render *r, tg_err *err)
{
    tg_pixfmt fmt = tg_chain_out(&r->before);
    size_t stride = r->plan->scaled_w * tg_pixfmt_bytes(fmt);
    if (!gather(r, stride, err))
        return false;
    return r->plan->quarter ? encode_quarter_turn(r, stride, fmt, err)
                            : encode_rotation(r, stride, fmt, err);
}

static bool render_init(render *r, const tg_config *config, tg_image *image, tg_buf *out,
                        tg_err *err)
{
    const tg_plan *p = r->plan;
    tg_encode_spec spec = tg_plan_encode_spec(p);
    spec.embed = *r->embed;
    tg_chain_before_turn(&r->before, config, p, r->lut);
    tg_chain_after_turn(&r->after, config, p, tg_chain_out(&r->before));
    for (int i = 0; i < (p->mark.of ? 3 : 2); i++) {
        r->scratch[i] = tg_image_alloc(TG_MAX(p->scaled_w, p->out_w), 2 * MAX_PIXEL_BYTES, err);
        if (!r->scratch[i])
            return false;
    }
    if (!tg_canvas_start(&r->canvas, config, p, err))
        return false;
    r->rows = tg_rows_new(p, image, err);
    r->encoder = r->rows ? tg_encoder_new(&spec, out, err) : NULL;
    return r->encoder != NULL;
}

static bool decode_and_encode(const tg_config *config, const tg_plan *plan, const tg_embed *embed,
                              tg_image *image, tg_buf *out, tg_err *err)
{
    tg_plan whole = *plan;
    uint8_t lut[256];
    render r = {.plan = &whole, .embed = embed};
    bool turned = plan->quarter || plan->angle != 0;
    if (!tg_tone_stretch(config, image, &whole, err))
        return false;
    if (plan->binary || plan->equalise) {
        if (!tg_tone_table(config, image, &whole, lut, err))
            return false;
        r.lut = lut;
    }
    bool ok = render_init(&r, config, image, out, err) &&
              tg_canvas_above(&r.canvas, r.encoder, err) &&
              (turned ? turn_rows(&r, err) : stream_rows(&r, err)) &&
              tg_canvas_below(&r.canvas, r.encoder, err) && tg_encoder_finish(r.encoder, err);
    tg_encoder_free(r.encoder);
    tg_rows_free(r.rows);
    tg_canvas_free(&r.canvas);
    for (int i = 0; i < 3; i++)
        tg_image_free(r.scratch[i]);
    tg_image_free(r.raster);
    tg_image_free(r.turned);
    return ok;
}

/* True when the stored tile went out; false without an error when it has to be decoded after all.
 */
static bool send_stored(const tg_plan *plan, const tg_embed *embed, tg_image *image, tg_buf *out,
                        tg_err *err)
{
    tg_encode_spec spec = tg_plan_encode_spec(plan);
    tg_err stored = {0};
    size_t start = out->len;
    spec.embed = *embed;
    if (image->codec->stored_tile(image, plan->level, plan->col, plan->row, out, &stored)) {
        if (tg_stored_embed(out, start, &spec))
            return true;
        out->len = start;
    } else if (stored.kind != TG_ERR_NOT_IMPLEMENTED) {
        *err = stored;
    }
    return false;
}

bool tg_render(const tg_config *config, const tg_plan *plan, tg_image *image, tg_buf *out,
               tg_err *err)
{
    size_t start = out->len;
    tg_embedding embedding;
    tg_embedding_gather(&embedding, config, plan, image);
    bool ok = (plan->stored && send_stored(plan, &embedding.embed, image, out, err)) ||
              (err->kind == TG_ERR_NONE &&
               decode_and_encode(config, plan, &embedding.embed, image, out, err));
    tg_embedding_free(&embedding);
    if (ok && out->failed)
        ok = tg_fail(err, TG_ERR_TOO_LARGE, "the picture is larger than this server sends");
    if (!ok)
        out->len = start;
    return ok;
}
