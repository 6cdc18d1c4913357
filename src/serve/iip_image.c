/* Which image, which part of it, and how a request of IIP names it. */
#include "serve/iip.h"

#include "tegula/num.h"
#include "tegula/utf8.h"

#define MAX_NAME_BYTES 256 /* of a page */

tg_str tg_iip_with_blanks(tg_str s, tg_arena *arena)
{
    char *text = tg_arena_strdup(arena, s);
    for (size_t i = 0; i < s.n; i++)
        if (text[i] == '+')
            text[i] = ' ';
    return (tg_str){text, s.n};
}

tg_source *tg_iip_source(tg_service *s, const tg_iip_image *image, tg_err *err)
{
    tg_str id = image->identifier;
    tg_view view = {image->view, image->vertical, image->layers};
    tg_source *source = tg_source_get_view(s->sources, id, view, err);
    if (source || err->kind != TG_ERR_NOT_FOUND || !memchr(id.p, '+', id.n))
        return source;
    tg_err again = {0};
    source = tg_source_get_view(s->sources, tg_iip_with_blanks(id, s->arena), view, &again);
    if (source)
        *err = (tg_err){0};
    return source;
}

static bool take_view(tg_service *s, const tg_iip_image *image, unsigned view, tg_iip_take *take,
                      void *ctx, tg_err *err)
{
    tg_iip_image one = *image;
    one.view = view;
    tg_source *source = tg_iip_source(s, &one, err);
    bool ok = source && take(ctx, view, source, err);
    tg_source_release(s->sources, source);
    return ok;
}

/* Pages are counted by asking for them. */
static bool each_page(tg_service *s, const tg_iip_image *image, tg_iip_take *take, void *ctx,
                      tg_err *err)
{
    bool ok = take_view(s, image, 0, take, ctx, err);
    for (unsigned page = 1; ok && page < TG_VIEWS_MAX; page++) {
        tg_err none = {0};
        ok = take_view(s, image, page, take, ctx, &none);
        if (!ok && none.kind == TG_ERR_NOT_FOUND)
            return true;
        if (!ok)
            *err = none;
    }
    return ok;
}

bool tg_iip_each_view(tg_service *s, const tg_iip_image *image, tg_iip_take *take, void *ctx,
                      tg_err *err)
{
    tg_views *views = tg_arena_alloc(s->arena, sizeof *views);
    tg_source_views(s->sources, image->identifier, views);
    if (!views->n_horizontal)
        return each_page(s, image, take, ctx, err);
    for (unsigned i = 0; i < views->n_horizontal; i++)
        if (!take_view(s, image, views->horizontal[i], take, ctx, err))
            return false;
    return true;
}

typedef struct naming {
    tg_arena *arena;
    tg_iip_views *views;
    bool named; /* every view so far */
} naming;

/* Without what no document can hold (XML 1.0, section 2.2). */
static bool can_be_shown(tg_str name)
{
    while (name.n) {
        uint32_t c = tg_utf8_next(&name);
        if (c < 0x20 || c == 0xfffe || c == 0xffff)
            return false;
    }
    return true;
}

static bool is_new(const tg_iip_views *views, tg_str name)
{
    for (unsigned i = 0; i < views->n; i++)
        if (tg_str_eq(views->name[i], name))
            return false;
    return true;
}

static bool take_name(void *ctx, unsigned view, tg_source *source, tg_err *err)
{
    naming *to = ctx;
    tg_iip_views *views = to->views;
    tg_buf text = {0};
    (void)err;
    if (to->named)
        tg_image_text(source->image, TG_TEXT_PAGE, MAX_NAME_BYTES, &text);
    tg_str name = tg_buf_view(&text);
    to->named = name.n && can_be_shown(name) && is_new(views, name);
    if (to->named)
        views->name[views->n] = (tg_str){tg_arena_strdup(to->arena, name), name.n};
    views->number[views->n++] = view;
    tg_buf_free(&text);
    return true;
}

const tg_iip_views *tg_iip_views_of(tg_service *s, const tg_iip_image *image, tg_err *err)
{
    naming to = {s->arena, tg_arena_alloc(s->arena, sizeof *to.views), true};
    if (!tg_iip_each_view(s, image, take_name, &to, err))
        return NULL;
    for (unsigned i = 0; i < to.views->n && !to.named; i++)
        to.views->name[i] = tg_arena_printf(s->arena, "%u", to.views->number[i]);
    return to.views;
}

tg_str tg_iip_view_name(const tg_iip_views *views, unsigned number)
{
    for (unsigned i = 0; i < views->n; i++)
        if (views->number[i] == number)
            return views->name[i];
    return TG_STR("");
}

bool tg_iip_tile(const tg_resolutions *all, int64_t r, int64_t n, tg_rect *out, tg_err *err)
{
    if (r < 0 || r >= all->n)
        return tg_fail(err, TG_ERR_NOT_FOUND, "resolution: there are 0 to %u", all->n - 1);
    const struct tg_resolution *level = &all->of[r];
    int64_t cols = tg_ceil_div_u32(level->width_px, all->tile_w_px);
    int64_t rows = tg_ceil_div_u32(level->height_px, all->tile_h_px);
    if (n < 0 || n >= cols * rows)
        return tg_fail(err, TG_ERR_NOT_FOUND, "tile: resolution %u has %u by %u", (unsigned)r,
                       (unsigned)cols, (unsigned)rows);
    out->x = (uint32_t)(n % cols) * all->tile_w_px;
    out->y = (uint32_t)(n / cols) * all->tile_h_px;
    out->w = TG_MIN(all->tile_w_px, level->width_px - out->x);
    out->h = TG_MIN(all->tile_h_px, level->height_px - out->y);
    return true;
}

bool tg_iip_resolve(tg_iip *iip, const tg_image *image, tg_err *err)
{
    tg_resolutions all;
    tg_rect rect;
    if (iip->output == TG_IIP_VIEW)
        return true;
    tg_resolutions_of(image, &all);
    if (!tg_iip_tile(&all, iip->resolution, iip->tile, &rect, err))
        return false;
    tg_resolution_job(image, &all.of[iip->resolution], rect, &iip->job);
    return true;
}

tg_str tg_iip_picture_name(tg_service *s, const tg_iip *iip, const tg_source *source,
                           const tg_plan *plan)
{
    const tg_rect *g = &plan->geometry.region;
    return tg_arena_printf(s->arena, "iip|%u|%s|%d|%d|%u,%u,%u,%u|%ux%u|%.*s", source->page,
                           tg_formats[plan->format].extension, iip->image.layers,
                           iip->job.region == TG_REGION_LEVEL ? (int)iip->job.level : -1, g->x,
                           g->y, g->w, g->h, plan->geometry.w, plan->geometry.h,
                           TG_STR_ARG(tg_job_modifiers(&iip->job, s->arena)));
}

tg_str tg_iip_head(tg_service *s, tg_str path, tg_str query, const tg_iip *iip)
{
    return tg_arena_printf(s->arena, "%.*s?%.*s", TG_STR_ARG(path), (int)iip->before, query.p);
}

tg_protocol tg_iip_protocol(const tg_iip *iip)
{
    return iip->output == TG_IIP_DEEPZOOM ? TG_PROTOCOL_DEEPZOOM
           : iip->output == TG_IIP_XYZ    ? TG_PROTOCOL_XYZ
                                          : TG_PROTOCOL_ZOOMIFY;
}
