#include "tegula/num.h"
#include "tegula/plan.h"

static void print_rect(tg_buf *out, const char *key, const tg_rect *r)
{
    tg_buf_printf(out, "%s: %u,%u,%u,%u\n", key, r->x, r->y, r->w, r->h);
}

static void print_fmt(tg_buf *out, const char *key, tg_pixfmt f)
{
    static const char *const names[] = {"none", "gray", "gray+alpha", "rgb", "rgba"};
    tg_buf_printf(out, "%s: %s %u bit\n", key, names[f.channels % 5], f.bits);
}

static void print_process(const tg_plan *plan, tg_buf *out)
{
    if (!plan->processed && !plan->equalise && !plan->binary)
        return;
    tg_arena *arena = tg_arena_new();
    tg_buf_printf(out, "pixels:%.*s%s%s\n", TG_STR_ARG(tg_process_text(&plan->process, arena)),
                  plan->equalise ? " equalise" : "", plan->binary ? " binary" : "");
    tg_arena_free(arena);
}

static const char *way_name(const tg_plan *plan)
{
    if (plan->cropped)
        return "stored tile, cropped without decoding";
    if (plan->stored)
        return "stored tile, sent as it is";
    return plan->resample ? "decode and resample" : "decode";
}

void tg_plan_print(const tg_plan *plan, const tg_image *image, tg_buf *out)
{
    const tg_level *level = &image->level[plan->level];
    char angle[32];
    tg_format_decimal(plan->quarter ? plan->quarter * 90.0 : plan->angle, angle);
    tg_buf_printf(out, "image: %s %ux%u, %u level%s\n", image->codec->name,
                  tg_image_width_px(image), tg_image_height_px(image), image->n_levels,
                  image->n_levels == 1 ? "" : "s");
    tg_buf_printf(out, "stored: orientation %u\n", image->orientation);
    print_rect(out, "region", &plan->geometry.region);
    tg_buf_printf(out, "size: %ux%u\n", plan->geometry.w, plan->geometry.h);
    tg_buf_printf(out, "way: %s\n", way_name(plan));
    tg_buf_printf(out, "level: %u (%ux%u, %s of %ux%u)\n", plan->level, level->width_px,
                  level->height_px, image->tiled ? "tiles" : "strips", level->tile_w_px,
                  level->tile_h_px);
    tg_buf_printf(out, "reduction: 1/%u\n", 1u << plan->reduction);
    print_rect(out, "window", &plan->window);
    tg_buf_printf(out, "tiles: %u\n", plan->tiles);
    tg_buf_printf(out, "filter: %s\n", plan->resample ? tg_filter_name(plan->filter) : "none");
    tg_buf_printf(out, "step: %.6f %.6f\n", plan->x.step, plan->y.step);
    print_process(plan, out);
    tg_buf_printf(out, "colour: %s\n", plan->colour ? "to sRGB" : "as read");
    tg_buf_printf(out, "turn: %s%s\n", plan->mirror ? "!" : "", angle);
    if (plan->mark.of)
        tg_buf_printf(out, "watermark: at %u,%u\n", plan->mark.x, plan->mark.y);
    print_fmt(out, "read", plan->read_fmt);
    print_fmt(out, "write", plan->out_fmt);
    tg_buf_printf(out, "output: %s %ux%u, quality %d\n", tg_formats[plan->format].extension,
                  plan->out_w, plan->out_h, plan->encode_quality);
    tg_buf_printf(out, "decode: %llu px\n", (unsigned long long)plan->decode_px);
    tg_buf_printf(out, "memory: %.1f MiB\n", (double)plan->memory_bytes / 1048576);
}
