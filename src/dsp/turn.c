/* Quarter turns: a source address that is linear in the output's x and y, walked in blocks so that
 * both sides stay in the cache. */
#include <string.h>

#include "tegula/num.h"
#include "tegula/raster.h"

#define BLOCK_PX 32

/* The source of output pixel (0, 0), and how it moves with the output's x and y; bytes. */
typedef struct walk {
    const uint8_t *at;
    ptrdiff_t dx, dy;
} walk;

static walk walk_of(const uint8_t *src, size_t src_stride, size_t size, uint32_t w, uint32_t h,
                    unsigned quarter)
{
    ptrdiff_t stride = (ptrdiff_t)src_stride, px = (ptrdiff_t)size;
    const uint8_t *last_row = src + (size_t)(h - 1) * src_stride;
    size_t last_px = (size_t)(w - 1) * size;
    if (quarter == 1)
        return (walk){last_row, -stride, px};
    if (quarter == 2)
        return (walk){last_row + last_px, -px, -stride};
    return (walk){src + last_px, stride, -px};
}

static inline void turn_block(uint8_t *dst, size_t dst_stride, walk from, uint32_t w, uint32_t h,
                              size_t size)
{
    for (uint32_t y = 0; y < h; y++) {
        const uint8_t *src = from.at + y * from.dy;
        for (uint32_t x = 0; x < w; x++, src += from.dx)
            memcpy(dst + y * dst_stride + x * size, src, size);
    }
}

/* The size is a constant in each call, so that each pixel is one move. */
static void turn_block_sized(uint8_t *dst, size_t dst_stride, walk from, uint32_t w, uint32_t h,
                             size_t size)
{
    switch (size) {
    case 1:
        turn_block(dst, dst_stride, from, w, h, 1);
        break;
    case 2:
        turn_block(dst, dst_stride, from, w, h, 2);
        break;
    case 3:
        turn_block(dst, dst_stride, from, w, h, 3);
        break;
    case 4:
        turn_block(dst, dst_stride, from, w, h, 4);
        break;
    case 6:
        turn_block(dst, dst_stride, from, w, h, 6);
        break;
    default:
        turn_block(dst, dst_stride, from, w, h, 8);
        break;
    }
}

void tg_raster_turn(void *dst, size_t dst_stride, const void *src, size_t src_stride, tg_pixfmt fmt,
                    uint32_t w, uint32_t h, unsigned quarter)
{
    size_t size = tg_pixfmt_bytes(fmt);
    walk from = walk_of(src, src_stride, size, w, h, quarter);
    uint32_t out_w = quarter == 2 ? w : h, out_h = quarter == 2 ? h : w;
    for (uint32_t y = 0; y < out_h; y += BLOCK_PX) {
        for (uint32_t x = 0; x < out_w; x += BLOCK_PX) {
            walk block = {from.at + x * from.dx + y * from.dy, from.dx, from.dy};
            turn_block_sized((uint8_t *)dst + y * dst_stride + x * size, dst_stride, block,
                             TG_MIN(out_w - x, BLOCK_PX), TG_MIN(out_h - y, BLOCK_PX), size);
        }
    }
}
