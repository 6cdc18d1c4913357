/* JPEG tiles and strips, by libjpeg directly: no copy through libtiff, reduced decoding, and a
 * stream that disagrees with its directory is noticed. */
#include <stdlib.h>

#include "scratch.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tiff.h"

/* Strips, and tiles above this many pixels that are alone in their row, keep their decoder between
 * calls. */
#define KEEP_PX ((uint64_t)1 << 20)

static bool disagrees(tg_err *err, const char *what, unsigned is, unsigned should)
{
    tg_fail(err, TG_ERR_CORRUPT, "the image file is damaged");
    return tg_fail_detail(err, "JPEG tile: %s %u where the directory says %u", what, is, should);
}

/* Some writers cut the last tile or strip at the image's edge, others fill up the last strip. */
static bool check_header(const tg_tiff_dir *dir, const tg_tiff_part *p, unsigned channel,
                         const struct jpeg_decompress_struct *cinfo, tg_err *err)
{
    unsigned samples = dir->raw_samples;
    unsigned h = tg_tiff_plane_h(dir, channel), v = tg_tiff_plane_v(dir, channel);
    uint32_t tile_w = tg_ceil_div_u32(dir->tile_w_px, h);
    uint32_t tile_h = tg_ceil_div_u32(dir->tile_h_px, v);
    uint32_t w = tg_tiff_visible_px(dir->width_px, p->col, dir->tile_w_px);
    uint32_t rows = tg_tiff_visible_px(dir->height_px, p->row, dir->tile_h_px);

    if (cinfo->num_components != (int)samples)
        return disagrees(err, "components", (unsigned)cinfo->num_components, samples);
    if (cinfo->image_width > tile_w || cinfo->image_width < tg_ceil_div_u32(w, h))
        return disagrees(err, "width", cinfo->image_width, tile_w);
    if ((dir->tiled && cinfo->image_height > tile_h) ||
        cinfo->image_height < tg_ceil_div_u32(rows, v))
        return disagrees(err, "height", cinfo->image_height, tile_h);
    return true;
}

/* Streams that say or show that they are YCbCr; some writers put what their JPEG library makes into
 * files of RGB. */
static bool is_ycc(const struct jpeg_decompress_struct *cinfo)
{
    const jpeg_component_info *c = cinfo->comp_info;

    if (cinfo->saw_JFIF_marker || (cinfo->saw_Adobe_marker && cinfo->Adobe_transform == 1))
        return true;
    return c[0].h_samp_factor > c[1].h_samp_factor || c[0].v_samp_factor > c[1].v_samp_factor;
}

/* Else the directory decides what the components mean, whatever markers the stream holds. */
static void set_colours(const tg_tiff_dir *dir, struct jpeg_decompress_struct *cinfo)
{
    if (cinfo->num_components == 1) {
        cinfo->jpeg_color_space = cinfo->out_color_space = JCS_GRAYSCALE;
    } else if (dir->photometric == PHOTOMETRIC_RGB && cinfo->num_components == 3) {
        cinfo->jpeg_color_space = is_ycc(cinfo) ? JCS_YCbCr : JCS_RGB;
        cinfo->out_color_space = JCS_RGB;
    } else if (dir->photometric == PHOTOMETRIC_YCBCR && cinfo->num_components == 3) {
        cinfo->jpeg_color_space = JCS_YCbCr;
        cinfo->out_color_space = JCS_RGB;
    } else if (dir->native.space == TG_SPACE_CMYK && cinfo->saw_Adobe_marker &&
               cinfo->Adobe_transform == 2 && cinfo->num_components == 4) {
        /* The marker tells how the inks were coded, the directory that 0 is no ink. */
        cinfo->jpeg_color_space = JCS_YCCK;
        cinfo->out_color_space = JCS_CMYK;
    } else {
        cinfo->jpeg_color_space = cinfo->out_color_space = JCS_UNKNOWN;
    }
}

void tg_tiff_jpeg_stop(tg_tiff *t)
{
    if (t->jpeg_live)
        tg_jpeg_reader_end(t->jpeg);
    t->jpeg_live = false;
}

void tg_tiff_jpeg_close(tg_tiff *t)
{
    tg_tiff_jpeg_stop(t);
    free(t->jpeg);
    t->jpeg = NULL;
}

static bool crop(tg_tiff *t, const tg_tiff_part *p, unsigned channel, tg_err *err)
{
    t->jpeg_x = 0;
    if (!tg_tiff_is_coarse(&t->level[p->level].dir, channel))
        t->jpeg_x = tg_jpeg_reader_crop(t->jpeg, p->in.x, p->in.w, err);
    return t->jpeg_x != UINT32_MAX;
}

static bool start(tg_tiff *t, const tg_tiff_part *p, unsigned channel, uint64_t offset, uint64_t n,
                  tg_err *err)
{
    tg_tiff_level *lv = &t->level[p->level];

    if (!t->jpeg)
        t->jpeg = tg_new(sizeof *t->jpeg);
    t->jpeg_live = true;
    t->jpeg_level = p->level;
    t->jpeg_k = p->k;
    t->jpeg_strip = p->row;
    if (!tg_jpeg_reader_begin(t->jpeg, t->fd, offset, n, lv->tables, lv->tables_bytes, err) ||
        !check_header(&lv->dir, p, channel, &t->jpeg->cinfo, err))
        return false;
    t->jpeg->errors.lenient = t->base.options.lenient;
    set_colours(&lv->dir, &t->jpeg->cinfo);
    return tg_jpeg_reader_start(t->jpeg, p->k, err) && crop(t, p, channel, err);
}

static bool goes_on(const tg_tiff *t, const tg_tiff_part *p)
{
    return t->jpeg_live && t->jpeg_level == p->level && t->jpeg_k == p->k &&
           t->jpeg_strip == p->row && t->jpeg->cinfo.output_scanline <= p->in.y &&
           t->jpeg_x <= p->in.x && p->in.x + p->in.w <= t->jpeg_x + t->jpeg->cinfo.output_width;
}

static bool worth_keeping(const tg_tiff *t, const tg_tiff_dir *dir)
{
    return dir->cols == 1 && !dir->planes && (uint64_t)dir->tile_w_px * dir->tile_h_px > KEEP_PX &&
           t->jpeg->cinfo.output_scanline < t->jpeg->cinfo.output_height;
}

static bool read_rows(tg_tiff *t, tg_tiff_part *p, unsigned channel, tg_err *err)
{
    tg_tiff_level *lv = &t->level[p->level];
    tg_jpeg_reader *r = t->jpeg;
    unsigned v = tg_tiff_plane_v(&lv->dir, channel);
    uint32_t width = r->cinfo.output_width, x = p->in.x - t->jpeg_x;
    uint8_t *row;

    if (!tg_jpeg_reader_rows(r, NULL, 0, p->in.y / v - r->cinfo.output_scanline, err))
        return false;
    if (tg_tiff_same_layout(&lv->dir) && p->in.w == width) {
        uint32_t first = r->cinfo.output_scanline;
        bool ok = tg_jpeg_reader_rows(r, p->dst, p->stride, p->in.h, err);

        p->done = r->cinfo.output_scanline - first;
        return ok;
    }
    row = tg_scratch(width, (size_t)r->cinfo.output_components, err);
    for (p->done = 0; row && p->done < p->in.h; p->done++) {
        if (r->cinfo.output_scanline <= (p->in.y + p->done) / v &&
            !tg_jpeg_reader_rows(r, row, 0, 1, err))
            return false;
        if (lv->dir.planes)
            tg_tiff_place_plane(t, p, p->done, row, x, channel);
        else
            tg_tiff_place(t, p, p->done, row, x, 0);
    }
    return row != NULL;
}

static bool read_plane(tg_tiff *t, tg_tiff_part *p, unsigned channel, tg_err *err)
{
    const tg_tiff_dir *dir = &t->level[p->level].dir;
    tg_tiff_file *f = tg_tiff_level_file(t, p->level, 0, err);
    uint64_t offset, n;
    bool ok;

    if (!f || !tg_tiff_extent(t, f, tg_tiff_index(dir, p->col, p->row, channel), &offset, &n, err))
        return false;
    if (n == 0)
        return tg_tiff_absent_part(t, p, channel, err);
    if (!goes_on(t, p))
        tg_tiff_jpeg_stop(t);
    ok = (t->jpeg_live || start(t, p, channel, offset, n, err)) && read_rows(t, p, channel, err);
    if (!ok || !worth_keeping(t, dir))
        tg_tiff_jpeg_stop(t);
    return ok;
}

bool tg_tiff_jpeg_part(tg_tiff *t, tg_tiff_part *p, tg_err *err)
{
    return tg_tiff_each_plane(t, p, read_plane, err);
}
