/* The watermark: a picture added to outputs, behind everything else that is done to them.
 *
 *     out = min(in + opacity * alpha * mark, white)
 *
 * alpha is the mark's own, where it has one; that of the output stays. A gray mark adds the same to
 * all colours, a colour mark adds its luma to gray. Black adds nothing. */
#ifndef TEGULA_WATERMARK_H
#define TEGULA_WATERMARK_H

#include <stdbool.h>
#include <stdint.h>

#include "tegula/config.h"
#include "tegula/err.h"
#include "tegula/pixel.h"
#include "tegula/str.h"

#define TG_WATERMARK_MAX_PX ((uint64_t)1 << 22) /* 24 MiB of colour; workers share them */

typedef struct tg_watermark tg_watermark;

/* Where it lies on an output. of NULL: nowhere. */
typedef struct tg_mark {
    const tg_watermark *of;
    uint32_t x, y; /* of its corner, px */
} tg_mark;

/* Of upright pixels in sRGB, rows without gaps; opacity and probability are 0 to 1. NULL with
 * TG_ERR_TOO_LARGE beyond TG_WATERMARK_MAX_PX. */
tg_watermark *tg_watermark_new(const void *pixels, uint32_t width_px, uint32_t height_px,
                               tg_pixfmt fmt, double opacity, double probability, tg_err *err);

/* The file that the configuration names, of any format that is read, converted to sRGB. NULL
 * without an error when it names none. */
tg_watermark *tg_watermark_read(const tg_config *config, tg_err *err);

void tg_watermark_free(tg_watermark *mark); /* NULL is fine */

/* Of what it adds and how often: all there is to agree on for hosts that share a cache. 0 for NULL.
 */
uint64_t tg_watermark_sum(const tg_watermark *mark);

/* Whether it falls on an output of w x h pixels, and where: by chance, but the name alone decides,
 * so that an address always gives the same bytes. All of the mark is inside if it fits; what is too
 * wide or too high begins at the output's edge and is cut off. NULL falls nowhere. */
tg_mark tg_watermark_place(const tg_watermark *mark, tg_str name, uint32_t w, uint32_t h);

#define TG_MARK_ROW_BYTES 16 /* of scratch for each pixel of a row */

/* Row y of an output, w pixels of fmt, with the mark on it: row itself where there is none of it,
 * else in scratch. */
const void *tg_mark_row(const tg_mark *mark, uint32_t y, const void *row, uint32_t w, tg_pixfmt fmt,
                        void *scratch);

#endif
