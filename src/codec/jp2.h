/* JPEG 2000 as an input format. Private to src/codec. */
#ifndef TEGULA_JP2_H
#define TEGULA_JP2_H

#include "j2k_codestream.h"
#include "jp2_form.h"

#define TG_JP2_TOUCHES 4

/* A unit of a level that was decoded in parts, and how many pixels of it; jp2_read.c. */
typedef struct tg_jp2_touch {
    uint32_t level; /* from 1 */
    uint32_t x, y;
    uint64_t px;
} tg_jp2_touch;

typedef struct tg_jp2 {
    tg_image base;
    tg_j2k_source file;
    tg_jp2_info info;
    tg_j2k_codestream codestream;
    tg_j2k_form form;
    uint16_t *palette;
    uint64_t cache_id;
    tg_jp2_touch touched[TG_JP2_TOUCHES];
    unsigned next_touch;
    bool told; /* the log, of damage */
} tg_jp2;

/* Pixels are the samples of this component. */
static inline const tg_j2k_component *tg_jp2_pixel(const tg_jp2 *j)
{
    return &j->codestream.header.component[j->form.component[0]];
}

/* jp2_read.c */
bool tg_jp2_read(tg_image *img, unsigned level, unsigned k, tg_rect rect, void *dst,
                 size_t dst_stride, tg_err *err);
uint64_t tg_jp2_working_bytes(const tg_image *img, unsigned level, unsigned k, tg_rect rect);

#endif
