#include "process.h"

#include <math.h>

#include "tegula/dsp.h"

void tg_process_dsp_init(tg_process_dsp *dsp, unsigned flags)
{
    tg_process_init_c(dsp);
    (void)flags;
#ifdef TG_BUILD_AVX2
    if (flags & TG_CPU_AVX2)
        tg_process_init_avx2(dsp);
#endif
}

bool tg_process_any(const tg_process *p)
{
    return p->stretch || p->ranges || p->shade || p->matrix_rows || p->gamma != TG_GAMMA_NONE ||
           p->invert || p->map != TG_MAP_NONE || p->kernel_side || p->has_contrast;
}

uint8_t tg_process_channels(const tg_process *p, uint8_t in)
{
    bool alpha = in == 2 || in == 4 || p->matrix_rows == 4;
    unsigned colours = in < 3 ? 1 : 3;
    if (p->shade)
        colours = 1;
    if (p->matrix_rows)
        colours = p->matrix_rows < 3 ? 1 : 3;
    if (p->map != TG_MAP_NONE)
        colours = 3;
    return (uint8_t)(colours + alpha);
}

static tg_str add_numbers(tg_arena *arena, tg_str text, const char *name, const float *v, size_t n)
{
    text = tg_arena_printf(arena, "%.*s %s", TG_STR_ARG(text), name);
    for (size_t i = 0; i < n; i++)
        text = tg_arena_printf(arena, "%.*s,%.9g", TG_STR_ARG(text), (double)v[i]);
    return text;
}

static tg_str add_ranges(tg_arena *arena, tg_str text, const tg_process *p)
{
    for (unsigned c = 0; c < TG_PROCESS_CHANNELS; c++)
        if (p->ranges >> c & 1)
            text = tg_arena_printf(arena, "%.*s range%u:%.17g,%.17g", TG_STR_ARG(text), c,
                                   p->range_min[c], p->range_max[c]);
    return text;
}

tg_str tg_process_text(const tg_process *p, tg_arena *arena)
{
    tg_str text = p->stretch ? TG_STR(" stretch") : TG_STR("");
    text = add_ranges(arena, text, p);
    if (p->shade)
        text = tg_arena_printf(arena, "%.*s shade,%.17g,%.17g", TG_STR_ARG(text), p->azimuth,
                               p->elevation);
    if (p->matrix_rows)
        text = add_numbers(arena, text, p->matrix_rows < 3 ? "matrix1" : "matrix", p->matrix[0],
                           (size_t)p->matrix_rows * TG_PROCESS_CHANNELS);
    if (p->gamma == TG_GAMMA_POWER)
        text = add_numbers(arena, text, "gamma", &p->exponent, 1);
    if (p->gamma == TG_GAMMA_LOG)
        text = add_numbers(arena, text, "log", NULL, 0);
    if (p->invert)
        text = add_numbers(arena, text, "invert", NULL, 0);
    if (p->map != TG_MAP_NONE)
        text = tg_arena_printf(arena, "%.*s map%d", TG_STR_ARG(text), (int)p->map);
    if (p->kernel_side)
        text =
            add_numbers(arena, text, "kernel", p->kernel, (size_t)p->kernel_side * p->kernel_side);
    if (p->has_contrast)
        text = add_numbers(arena, text, "contrast", &p->contrast, 1);
    return text;
}

/* Looking for the weight of a tap: where it lands when it is turned back and mirrored back. */
void tg_process_turn_kernel(tg_process *p, bool mirror, unsigned quarter)
{
    unsigned side = p->kernel_side;
    float shown[TG_KERNEL_SIDE_MAX * TG_KERNEL_SIDE_MAX];
    memcpy(shown, p->kernel, sizeof shown);
    for (unsigned y = 0; y < side; y++)
        for (unsigned x = 0; x < side; x++) {
            unsigned at_x = mirror ? side - 1 - x : x, at_y = y;
            for (unsigned q = 0; q < quarter % 4; q++) {
                unsigned was = at_x;
                at_x = side - 1 - at_y;
                at_y = was;
            }
            p->kernel[side * y + x] = shown[side * at_y + at_x];
        }
}

static void init_light(tg_process_steps *s, const tg_process *p)
{
    double az = p->azimuth * M_PI / 180, el = p->elevation * M_PI / 180;
    double length = sqrt(1 + sin(el) * sin(el));
    s->light[0] = (float)(sin(az) / length);
    s->light[1] = (float)(cos(az) / length);
    s->light[2] = (float)(-sin(el) / length);
}

void tg_process_steps_init(tg_process_steps *s, const tg_process *p, tg_pixfmt fmt)
{
    *s = (tg_process_steps){.in = fmt.channels,
                            .out = tg_process_channels(p, fmt.channels),
                            .alpha = tg_pixfmt_alpha(fmt),
                            .shade = p->shade,
                            .matrix_rows = p->matrix_rows,
                            .gamma = p->gamma,
                            .exponent = p->exponent,
                            .invert = p->invert,
                            .map = p->map};
    for (unsigned c = 0; c < TG_PROCESS_CHANNELS; c++)
        s->scale[c] = fmt.bits == 8 ? 1 / 255.f : 1 / 65535.f;
    memcpy(s->matrix, p->matrix, sizeof s->matrix);
    if (p->shade)
        init_light(s, p);
}
