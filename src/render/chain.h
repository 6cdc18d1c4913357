/* Row operations behind the scaler: colour, depth, gray, tone, mirror, alpha, bitonal, each only
 * where the plan needs it. Interpolating turns stand between the two halves: what must not be
 * interpolated again (bitonal) or belongs to the final picture (background) comes after them. */
#ifndef TEGULA_RENDER_CHAIN_H
#define TEGULA_RENDER_CHAIN_H

#include "tegula/config.h"
#include "tegula/plan.h"

#define TG_CHAIN_MAX 7

typedef struct tg_chain tg_chain;
typedef void (*tg_chain_op)(const tg_chain *chain, void *dst, const void *src, tg_pixfmt fmt,
                            size_t n_px);

struct tg_chain {
    unsigned n_ops;
    tg_chain_op op[TG_CHAIN_MAX];
    tg_pixfmt fmt[TG_CHAIN_MAX + 1]; /* fmt[i] enters op[i]; fmt[n_ops] is the result */
    uint8_t background[3];
    const tg_colour *colour;
    const uint8_t *lut;
};

/* lut: of 256, for the colours of 8 bits behind gray; NULL: none. It must outlive the chain. */
void tg_chain_before_turn(tg_chain *chain, const tg_config *config, const tg_plan *plan,
                          const uint8_t *lut);
/* in: the format that leaves the first half. */
void tg_chain_after_turn(tg_chain *chain, const tg_config *config, const tg_plan *plan,
                         tg_pixfmt in);

/* Runs all operations on a row of n_px pixels. scratch: 2 * n_px * 8 bytes. Returns where the
 * result is: src itself when there is nothing to do, else inside scratch. */
const void *tg_chain_run(const tg_chain *chain, const void *src, size_t n_px, void *scratch);

static inline tg_pixfmt tg_chain_out(const tg_chain *chain)
{
    return chain->fmt[chain->n_ops];
}

#endif
