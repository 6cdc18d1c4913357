/* JPEG 2000 tiles and strips, each a codestream of its own. */
#include "j2k_tile.h"
#include "scratch.h"
#include "tegula/num.h"
#include "tiff.h"

#define APERIO_YCC 33003

static bool disagrees(tg_err *err, const char *what)
{
    tg_fail(err, TG_ERR_CORRUPT, "the image file is damaged");
    return tg_fail_detail(err, "JPEG 2000 tile: %s disagree with the directory", what);
}

/* Writers cut the last tiles at the image's edge or fill them up. */
static bool check_header(const tg_tiff_dir *dir, const tg_tiff_part *p, const tg_j2k_tile *is,
                         tg_err *err)
{
    if (is->channels != dir->raw_samples || is->bits != dir->raw_bits)
        return disagrees(err, "components");
    if (is->width_px > dir->tile_w_px || is->height_px > dir->tile_h_px ||
        is->width_px < tg_tiff_visible_px(dir->width_px, p->col, dir->tile_w_px) ||
        is->height_px < tg_tiff_visible_px(dir->height_px, p->row, dir->tile_h_px))
        return disagrees(err, "sizes");
    return true;
}

static bool is_ycc(const tg_tiff_dir *dir)
{
    return !dir->planes && dir->raw_samples >= 3 &&
           (dir->compression == APERIO_YCC || dir->photometric == PHOTOMETRIC_YCBCR);
}

static bool decode(tg_tiff *t, const tg_tiff_part *p, uint32_t index, const uint8_t *data, size_t n,
                   tg_err *err)
{
    const tg_tiff_dir *dir = &t->level[p->level].dir;
    tg_j2k_tile is;
    uint8_t *px;

    if (!tg_j2k_tile_info(data, n, 0, &is, err) || !check_header(dir, p, &is, err))
        return false;
    px = tg_tiff_keep(t, p->level, index, (size_t)is.width_px * is.channels * (is.bits / 8u),
                      is.height_px, err);
    if (px && tg_j2k_tile_decode(data, n, 0, is_ycc(dir), t->base.options.lenient, px,
                                 t->kept_row_bytes, err))
        return true;
    tg_tiff_unkeep(t);
    return false;
}

static bool read_plane(tg_tiff *t, tg_tiff_part *p, unsigned channel, tg_err *err)
{
    const tg_tiff_dir *dir = &t->level[p->level].dir;
    tg_tiff_file *f = tg_tiff_level_file(t, p->level, 0, err);
    uint32_t index = tg_tiff_index(dir, p->col, p->row, channel);
    uint64_t offset, n;

    if (!f || !tg_tiff_extent(t, f, index, &offset, &n, err))
        return false;
    if (n == 0)
        return tg_tiff_absent_part(t, p, channel, err);
    if (!tg_tiff_kept(t, p->level, index)) {
        uint8_t *data = tg_scratch((size_t)n, 1, err);

        if (!data || !tg_tiff_pread(t, data, (size_t)n, offset, err) ||
            !decode(t, p, index, data, (size_t)n, err))
            return false;
    }
    for (uint32_t i = 0; i < p->in.h; i++) {
        const uint8_t *row = t->kept + (p->in.y + i) * t->kept_row_bytes;

        if (dir->planes)
            tg_tiff_place_plane(t, p, i, row, p->in.x, channel);
        else
            tg_tiff_place(t, p, i, row, p->in.x, 0);
    }
    tg_tiff_kept_until(t, p);
    return true;
}

bool tg_tiff_j2k_part(tg_tiff *t, tg_tiff_part *p, tg_err *err)
{
    return tg_tiff_each_plane(t, p, read_plane, err);
}
