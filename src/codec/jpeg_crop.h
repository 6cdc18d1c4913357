/* Crops a JPEG stream without decoding it. Private to src/codec. */
#ifndef TEGULA_JPEG_CROP_H
#define TEGULA_JPEG_CROP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/buf.h"
#include "tegula/err.h"

/* The complete stream of one scan from start to the end of buf becomes that of its top left
 * w_px x h_px pixels, baseline, of the same colours, quantisation and sampling: what is left over
 * of the blocks is the same to the bit. Anything missing or damaged is an error. On failure buf
 * ends at start. */
bool tg_jpeg_crop(tg_buf *buf, size_t start, uint32_t w_px, uint32_t h_px, tg_err *err);

#endif
