/* Which directories of a TIFF file make up one image.
 *
 * Writers differ: reduced levels come as SubIFDs or as further directories of the chain, with the
 * reduced-image bit of NewSubfileType or without, largest or smallest first, with thumbnails,
 * labels, masks and further pages between them. A directory of the chain opens a new page unless it
 * says it is a reduced image or looks like a level of the page before it. */
#include <stdlib.h>
#include <string.h>

#include "tegula/mem.h"
#include "tegula/num.h"
#include "tiff.h"

#define MAX_DIRS          8192 /* of the chain; bounds the time a hostile file takes */
#define MAX_SUBIFDS       64   /* of one directory */
#define SIZE_TOLERANCE_PX 2.0

typedef struct dir_list {
    tg_tiff_dir *dir; /* MAX_DIRS + MAX_SUBIFDS of them at most */
    unsigned n, cap;
} dir_list;

static tg_tiff_dir *list_add(dir_list *list)
{
    if (list->n == list->cap) {
        unsigned cap = list->cap ? list->cap * 2 : 16;
        tg_tiff_dir *bigger = realloc(list->dir, cap * sizeof *bigger); /* lint:allow */

        if (!bigger)
            return NULL;
        list->dir = bigger;
        list->cap = cap;
    }
    return &list->dir[list->n++];
}

/* Adds the directory f stands at, unless it is broken. */
static bool list_add_current(dir_list *list, tg_tiff_file *f, tg_err *err)
{
    tg_tiff_dir *dir = list_add(list);

    if (!dir)
        return tg_fail(err, TG_ERR_BUSY, "out of memory");
    if (tg_tiff_dir_read(f, dir, err))
        return true;
    list->n--;
    return false;
}

static bool is_reduced(const tg_tiff_dir *d)
{
    return d->subfile & FILETYPE_REDUCEDIMAGE;
}

/* Could small be large divided by one factor on both axes? Each side of a level is off by less than
 * the tolerance, so the factor lies in an interval per axis; the intervals must meet. */
static bool same_aspect(const tg_tiff_dir *large, const tg_tiff_dir *small)
{
    double w = small->width_px, h = small->height_px, t = SIZE_TOLERANCE_PX;
    double w_from = large->width_px / (w + t), h_from = large->height_px / (h + t);
    double w_to = w > t ? large->width_px / (w - t) : 1e12;
    double h_to = h > t ? large->height_px / (h - t) : 1e12;

    return w_from <= h_to && h_from <= w_to;
}

static bool is_smaller(const tg_tiff_dir *a, const tg_tiff_dir *b)
{
    return a->width_px <= b->width_px && a->height_px <= b->height_px &&
           (a->width_px < b->width_px || a->height_px < b->height_px);
}

static bool same_kind(const tg_tiff_dir *a, const tg_tiff_dir *b)
{
    return !a->refusal && !b->refusal && a->native.space == b->native.space &&
           a->native.alpha == b->native.alpha && a->native.bits == b->native.bits &&
           a->ranged == b->ranged && a->tiled == b->tiled;
}

/* Levels of one image, whichever is the larger. */
static bool related(const tg_tiff_dir *a, const tg_tiff_dir *b)
{
    return same_kind(a, b) &&
           ((is_smaller(a, b) && same_aspect(b, a)) || (is_smaller(b, a) && same_aspect(a, b)));
}

/* Striped pictures of a file whose page is tiled: thumbnail, label, overview. */
static bool is_beside(const tg_tiff_dir *page, const tg_tiff_dir *d)
{
    return page->tiled && !d->tiled && is_smaller(d, page) && same_aspect(page, d);
}

/* Does d, which does not say it is reduced, open a page after `page`? Sheets of one paper scanned
 * at 300 and at 200 dpi are of one aspect, too, and documents have strips, where pyramids that do
 * not mark their levels have tiles. */
static bool opens_page(const tg_tiff_dir *page, const tg_tiff_dir *d)
{
    if (!page || (d->subfile & FILETYPE_PAGE) || page->n_subifds > 0)
        return true;
    return !(d->tiled && related(page, d)) && !is_beside(page, d);
}

static bool is_candidate(const tg_tiff_dir *d)
{
    return !(d->subfile & FILETYPE_MASK);
}

/* Marks which page each directory belongs to: page_of[i] is the index of the directory that opens
 * it, or -1. Directories before the first page go with the first. Returns the number of pages. */
static unsigned assign_pages(const dir_list *list, int *page_of, bool bits_mean_something)
{
    const tg_tiff_dir *page = NULL, *tiled_page = NULL;
    unsigned n_pages = 0;

    for (unsigned i = 0; i < list->n; i++) {
        const tg_tiff_dir *d = &list->dir[i];
        const tg_tiff_dir *nearest = d->tiled && tiled_page ? tiled_page : page;

        page_of[i] = -1;
        if (!is_candidate(d))
            continue;
        if (bits_mean_something && is_reduced(d)) {
            page_of[i] = nearest ? (int)(nearest - list->dir) : -1;
            continue;
        }
        if (!opens_page(nearest, d)) {
            page_of[i] = (int)(nearest - list->dir);
            continue;
        }
        page_of[i] = (int)i;
        n_pages++;
        page = d;
        tiled_page = d->tiled ? d : tiled_page;
    }
    return n_pages;
}

static int nth_page(const dir_list *list, const int *page_of, unsigned page)
{
    for (unsigned i = 0; i < list->n; i++)
        if (page_of[i] == (int)i && page-- == 0)
            return (int)i;
    return -1;
}

/* The directories of the chain. Only the first must be sound: what follows a broken link is out of
 * reach, and a page that is whole is served for itself. */
static bool read_chain(tg_tiff_file *f, dir_list *list, tg_err *err)
{
    if (!list_add_current(list, f, err))
        return false;
    for (unsigned i = 1; i < MAX_DIRS && tg_tiff_file_may_go_on(f) && TIFFReadDirectory(f->tif);
         i++) {
        tg_err ignored = {0};

        list_add_current(list, f, &ignored);
    }
    return true;
}

static void add_subifds(tg_tiff_file *f, dir_list *list, uint64_t dir_offset_bytes)
{
    uint64_t offsets[MAX_SUBIFDS], *stored;
    uint16_t n = 0;

    if (!tg_tiff_file_may_go_on(f) || !TIFFSetSubDirectory(f->tif, dir_offset_bytes) ||
        !TIFFGetField(f->tif, TIFFTAG_SUBIFD, &n, &stored))
        return;
    n = TG_MIN(n, (uint16_t)MAX_SUBIFDS);
    memcpy(offsets, stored, n * sizeof *offsets); /* libtiff forgets them with the directory */
    for (unsigned i = 0; i < n && tg_tiff_file_may_go_on(f); i++) {
        tg_err ignored = {0}; /* a broken level leaves the others usable */

        if (offsets[i] && TIFFSetSubDirectory(f->tif, offsets[i]))
            list_add_current(list, f, &ignored);
    }
}

static int by_area_descending(const void *a, const void *b)
{
    const tg_tiff_dir *x = a, *y = b;
    uint64_t area_x = (uint64_t)x->width_px * x->height_px;
    uint64_t area_y = (uint64_t)y->width_px * y->height_px;

    if (area_x != area_y)
        return area_x < area_y ? 1 : -1;
    return x->offset_bytes < y->offset_bytes ? -1 : x->offset_bytes > y->offset_bytes;
}

/* Largest first, then what fits it, each size once. */
static unsigned pick_levels(dir_list *members, tg_tiff_dir out[TG_MAX_LEVELS])
{
    unsigned n = 1;

    qsort(members->dir, members->n, sizeof *members->dir, by_area_descending);
    out[0] = members->dir[0];
    for (unsigned i = 1; i < members->n && n < TG_MAX_LEVELS; i++) {
        const tg_tiff_dir *d = &members->dir[i];

        if (related(&out[0], d) && is_smaller(d, &out[n - 1]))
            out[n++] = *d;
    }
    return n;
}

static bool refuse(const tg_tiff_dir *d, tg_err *err)
{
    if (!d->refusal)
        return false;
    tg_fail(err, d->refusal_kind, "this kind of TIFF is not supported: %s", d->refusal);
    tg_fail_detail(err, "compression %u, photometric %u, %u x %u bits", (unsigned)d->compression,
                   (unsigned)d->photometric, (unsigned)d->samples, (unsigned)d->bits);
    return true;
}

/* The directories that may be levels of the page opened by directory `first`. */
static bool collect(tg_tiff_file *f, const dir_list *chain, const int *page_of, int first,
                    bool first_page, dir_list *members)
{
    for (unsigned i = 0; i < chain->n; i++) {
        const tg_tiff_dir *d = &chain->dir[i];
        bool before = first_page && page_of[i] < 0 && (int)i < first && is_candidate(d);
        tg_tiff_dir *member;

        if (page_of[i] != first && !before)
            continue;
        /* Only relatives: a larger stranger among them must not become the image. */
        if ((int)i != first && !related(&chain->dir[first], d))
            continue;
        member = list_add(members);
        if (!member)
            return false;
        *member = *d;
    }
    if (chain->dir[first].n_subifds > 0)
        add_subifds(f, members, chain->dir[first].offset_bytes);
    return true;
}

/* SubIFDs may be anything (masks, previews of another shape). */
static void drop_strangers(dir_list *members, const tg_tiff_dir *first)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < members->n; i++) {
        const tg_tiff_dir *d = &members->dir[i];

        if (d->offset_bytes == first->offset_bytes || (is_candidate(d) && related(first, d)))
            members->dir[kept++] = *d;
    }
    members->n = kept;
}

static unsigned levels_of(tg_tiff_file *f, const dir_list *chain, int *page_of, unsigned page,
                          tg_tiff_dir out[TG_MAX_LEVELS], tg_err *err)
{
    dir_list members = {0};
    unsigned n = 0;
    int first;

    if (assign_pages(chain, page_of, true) == 0)
        assign_pages(chain, page_of, false);
    first = nth_page(chain, page_of, page);
    if (first < 0) {
        tg_fail(err, TG_ERR_NOT_FOUND, "the file has no such page");
        return 0;
    }
    if (refuse(&chain->dir[first], err))
        return 0;
    if (collect(f, chain, page_of, first, page == 0, &members)) {
        drop_strangers(&members, &chain->dir[first]);
        n = pick_levels(&members, out);
    } else {
        tg_fail(err, TG_ERR_BUSY, "out of memory");
    }
    free(members.dir);
    return n;
}

unsigned tg_tiff_find_levels(tg_tiff_file *f, unsigned page, tg_tiff_dir out[TG_MAX_LEVELS],
                             tg_err *err)
{
    dir_list chain = {0};
    unsigned n = 0;

    if (read_chain(f, &chain, err)) {
        int *page_of = tg_new(chain.n * sizeof *page_of);

        n = levels_of(f, &chain, page_of, page, out, err);
        free(page_of);
    }
    free(chain.dir);
    return n;
}
