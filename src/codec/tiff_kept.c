/* The tile or strip that was decoded last, where a decoder gives nothing less than a whole one and
 * it is read in bands: decoding it again for every band would take quadratic time. */
#include "tegula/mem.h"
#include "tiff.h"

void tg_tiff_unkeep(tg_tiff *t)
{
    tg_image_free(t->kept);
    t->kept = NULL;
}

uint8_t *tg_tiff_kept(const tg_tiff *t, unsigned level, uint32_t index)
{
    return t->kept_level == level && t->kept_index == index ? t->kept : NULL;
}

uint8_t *tg_tiff_keep(tg_tiff *t, unsigned level, uint32_t index, size_t row_bytes, uint32_t rows,
                      tg_err *err)
{
    tg_tiff_unkeep(t);
    t->kept = tg_image_alloc(rows, row_bytes, err);
    t->kept_level = level;
    t->kept_index = index;
    t->kept_row_bytes = row_bytes;
    return t->kept;
}

void tg_tiff_kept_until(tg_tiff *t, const tg_tiff_part *p)
{
    const tg_tiff_dir *dir = &t->level[p->level].dir;

    if (p->in.y + p->in.h >= tg_tiff_visible_px(dir->height_px, p->row, dir->tile_h_px))
        tg_tiff_unkeep(t);
}
