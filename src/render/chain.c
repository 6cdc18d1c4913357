#include "render/chain.h"

#include <string.h>

#include "tegula/raster.h"

#define MAX_PIXEL_BYTES 8

static void op_colour(const tg_chain *chain, void *dst, const void *src, tg_pixfmt fmt, size_t n_px)
{
    (void)fmt;
    tg_colour_row(chain->colour, dst, src, n_px);
}

static void op_depth(const tg_chain *chain, void *dst, const void *src, tg_pixfmt fmt, size_t n_px)
{
    (void)chain;
    tg_row_16_to_8(dst, src, n_px * fmt.channels);
}

static void op_gray(const tg_chain *chain, void *dst, const void *src, tg_pixfmt fmt, size_t n_px)
{
    (void)chain;
    tg_row_gray(dst, src, fmt, n_px);
}

static void op_tone(const tg_chain *chain, void *dst, const void *src, tg_pixfmt fmt, size_t n_px)
{
    const uint8_t *from = src;
    uint8_t *to = dst;
    bool alpha = tg_pixfmt_alpha(fmt);
    size_t n = n_px * fmt.channels;
    for (size_t i = 0; i < n; i++)
        to[i] = alpha && (i + 1) % fmt.channels == 0 ? from[i] : chain->lut[from[i]];
}

static void op_mirror(const tg_chain *chain, void *dst, const void *src, tg_pixfmt fmt, size_t n_px)
{
    (void)chain;
    memcpy(dst, src, n_px * tg_pixfmt_bytes(fmt));
    tg_row_mirror(dst, fmt, n_px);
}

static void op_add_alpha(const tg_chain *chain, void *dst, const void *src, tg_pixfmt fmt,
                         size_t n_px)
{
    (void)chain;
    tg_row_add_alpha(dst, src, fmt, n_px);
}

/* A gray picture lies over the background's luma. */
static void op_flatten(const tg_chain *chain, void *dst, const void *src, tg_pixfmt fmt,
                       size_t n_px)
{
    uint8_t gray[3];
    const uint8_t *bg = chain->background;
    if (fmt.channels == 2) {
        tg_row_gray(gray, bg, (tg_pixfmt){3, 8}, 1);
        bg = gray;
    }
    tg_row_flatten(dst, src, fmt, n_px, bg);
}

static void op_bitonal(const tg_chain *chain, void *dst, const void *src, tg_pixfmt fmt,
                       size_t n_px)
{
    (void)chain;
    tg_row_bitonal(dst, src, fmt, n_px);
}

static void add(tg_chain *c, tg_chain_op op, uint8_t channels, uint8_t bits)
{
    c->op[c->n_ops++] = op;
    c->fmt[c->n_ops] = (tg_pixfmt){channels, bits};
}

void tg_chain_before_turn(tg_chain *c, const tg_config *config, const tg_plan *plan,
                          const uint8_t *lut)
{
    memset(c, 0, sizeof *c);
    memcpy(c->background, config->background, sizeof c->background);
    c->fmt[0] = plan->rows_fmt;
    c->colour = plan->colour;
    c->lut = lut;
    if (plan->colour)
        add(c, op_colour, plan->rows_fmt.channels, plan->rows_fmt.bits);
    if (plan->rows_fmt.bits > plan->out_fmt.bits)
        add(c, op_depth, plan->rows_fmt.channels, plan->out_fmt.bits);
    if (plan->gray)
        add(c, op_gray, tg_chain_out(c).channels - 2, tg_chain_out(c).bits);
    if (lut)
        add(c, op_tone, tg_chain_out(c).channels, tg_chain_out(c).bits);
    if (plan->mirror)
        add(c, op_mirror, tg_chain_out(c).channels, tg_chain_out(c).bits);
    if (plan->angle != 0 && !tg_pixfmt_alpha(tg_chain_out(c)))
        add(c, op_add_alpha, tg_chain_out(c).channels + 1, tg_chain_out(c).bits);
}

void tg_chain_after_turn(tg_chain *c, const tg_config *config, const tg_plan *plan, tg_pixfmt in)
{
    memset(c, 0, sizeof *c);
    memcpy(c->background, config->background, sizeof c->background);
    c->fmt[0] = in;
    if (tg_pixfmt_alpha(in) && !tg_pixfmt_alpha(plan->out_fmt))
        add(c, op_flatten, in.channels - 1, in.bits);
    if (!tg_pixfmt_alpha(in) && tg_pixfmt_alpha(plan->out_fmt))
        add(c, op_add_alpha, in.channels + 1, in.bits);
    if (plan->bitonal)
        add(c, op_bitonal, tg_chain_out(c).channels, tg_chain_out(c).bits);
}

const void *tg_chain_run(const tg_chain *c, const void *src, size_t n_px, void *scratch)
{
    uint8_t *half[2] = {scratch, (uint8_t *)scratch + n_px * MAX_PIXEL_BYTES};
    for (unsigned i = 0; i < c->n_ops; i++) {
        c->op[i](c, half[i % 2], src, c->fmt[i], n_px);
        src = half[i % 2];
    }
    return src;
}
