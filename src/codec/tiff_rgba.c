/* Colour spaces that libtiff converts itself: YCbCr without JPEG, CMYK. */
#include <string.h>

#include "scratch.h"
#include "tiff.h"

static bool get_raster(tg_tiff_file *f, const tg_tiff_dir *dir, const tg_tiff_part *p,
                       uint32_t *raster)
{
    TIFFRGBAImage image;
    char text[1024];
    int ok;

    if (!TIFFRGBAImageBegin(&image, f->tif, 1, text)) {
        memcpy(f->text, text, sizeof f->text - 1);
        return false;
    }
    image.req_orientation = image.orientation; /* rows from the top, no mirroring */
    image.col_offset = (int)(p->col * dir->tile_w_px + p->in.x);
    image.row_offset = (int)(p->row * dir->tile_h_px + p->in.y);
    ok = TIFFRGBAImageGet(&image, raster, p->in.w, p->in.h);
    TIFFRGBAImageEnd(&image);
    return ok;
}

bool tg_tiff_rgba_part(tg_tiff *t, const tg_tiff_part *p, tg_err *err)
{
    const tg_tiff_dir *dir = &t->level[p->level].dir;
    tg_tiff_file *f = tg_tiff_level_file(t, p->level, 0, err);
    uint32_t *raster;

    if (!f)
        return false;
    raster = tg_scratch((size_t)p->in.w * p->in.h, sizeof *raster, err);
    if (!raster)
        return false;
    if (!get_raster(f, dir, p, raster))
        return tg_tiff_file_fail(f, err);
    for (uint32_t y = 0; y < p->in.h; y++) {
        uint8_t *dst = p->dst + y * p->stride;
        const uint32_t *src = raster + (size_t)y * p->in.w;

        for (uint32_t x = 0; x < p->in.w; x++, dst += 3) {
            dst[0] = (uint8_t)TIFFGetR(src[x]);
            dst[1] = (uint8_t)TIFFGetG(src[x]);
            dst[2] = (uint8_t)TIFFGetB(src[x]);
        }
    }
    return true;
}
