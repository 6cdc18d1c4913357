#include "render/process.h"

#include <stdlib.h>

#include "tegula/dsp.h"
#include "tegula/mem.h"
#include "tegula/num.h"

/* Rows are kept as floats behind the steps, as many as the kernel looks at, with the edge repeated
 * at both ends as far as it reaches. */
struct tg_processing {
    const tg_plan *plan;
    tg_process_dsp dsp;
    tg_process_steps steps;
    float gain;
    unsigned side, radius; /* of the kernel; 1 and 0 without one */
    size_t plane, row;     /* floats of a plane, of all planes of a row */
    float *ring;           /* side rows; window row y is y % side */
    float *sum;            /* of the kernel, one row */
    /* where each sample decides alone what it becomes, and there are 256 of them: no floats */
    bool tabled;
    uint8_t table[TG_PROCESS_CHANNELS][256];
    const uint8_t *last;     /* row pushed */
    uint32_t pushed, pulled; /* window rows, core rows */
};

static size_t plane_floats(const tg_plan *plan)
{
    return (size_t)plan->window.w + 2 * (plan->process.kernel_side / 2);
}

static uint64_t rows_held(const tg_plan *plan)
{
    return plan->process.kernel_side ? plan->process.kernel_side + 1u : 1;
}

uint64_t tg_processing_cost_bytes(const tg_plan *plan)
{
    return rows_held(plan) * TG_PROCESS_CHANNELS * plane_floats(plan) * sizeof(float);
}

/* From units of the stored samples to those of the samples read. */
static void set_range(tg_process_steps *s, const tg_image *image, unsigned c, double min,
                      double max)
{
    double low, high;
    tg_image_range(image, c, &low, &high);
    s->offset[c] = (float)((low - min) / (max - min));
    s->scale[c] = (float)(s->scale[c] * (high - low) / (max - min));
}

static void init_steps(tg_processing *p, const tg_image *image)
{
    const tg_process *process = &p->plan->process;
    unsigned colours = image->fmt.channels - tg_pixfmt_alpha(image->fmt);
    tg_process_steps_init(&p->steps, process, image->fmt);
    for (unsigned c = 0; c < colours; c++)
        if (process->ranges >> c & 1)
            set_range(&p->steps, image, c, process->range_min[c], process->range_max[c]);
}

static bool is_pointwise(const tg_plan *plan)
{
    const tg_process *p = &plan->process;
    return plan->read_fmt.bits == 8 && plan->rows_fmt.bits == 8 && !p->shade && !p->matrix_rows &&
           p->map == TG_MAP_NONE && !p->kernel_side;
}

/* All samples through the kernels, so that the table says what they would. */
static void fill_table(tg_processing *p)
{
    unsigned channels = p->steps.in;
    float *planes = p->ring;
    uint8_t all[256 * TG_PROCESS_CHANNELS] = {0};
    for (unsigned i = 0; i < 256 * channels; i++)
        all[i] = (uint8_t)(i / channels);
    p->dsp.load(planes, 256, all, 8, 256, &p->steps);
    p->dsp.steps(planes, 256, 256, &p->steps);
    p->dsp.store(all, planes, 256, p->plan->rows_fmt, p->gain, 256);
    for (unsigned i = 0; i < 256 * channels; i++)
        p->table[i % channels][i / channels] = all[i];
}

static void apply_table(const tg_processing *p, uint8_t *restrict to)
{
    const uint8_t *restrict from = p->last;
    size_t n = p->plan->core.w;
    unsigned channels = p->steps.in;
    if (channels == 3) {
        for (size_t x = 0; x < n; x++) {
            to[3 * x] = p->table[0][from[3 * x]];
            to[3 * x + 1] = p->table[1][from[3 * x + 1]];
            to[3 * x + 2] = p->table[2][from[3 * x + 2]];
        }
        return;
    }
    for (size_t x = 0; x < n; x++)
        for (unsigned c = 0; c < channels; c++)
            to[channels * x + c] = p->table[c][from[channels * x + c]];
}

tg_processing *tg_processing_new(const tg_plan *plan, const tg_image *image, tg_err *err)
{
    tg_processing *p = tg_new(sizeof *p);
    p->plan = plan;
    p->side = TG_MAX(plan->process.kernel_side, 1);
    p->radius = p->side / 2;
    p->tabled = is_pointwise(plan);
    p->plane = p->tabled ? 256 : plane_floats(plan);
    p->row = TG_PROCESS_CHANNELS * p->plane;
    p->gain = plan->process.has_contrast ? plan->process.contrast : 1;
    tg_process_dsp_init(&p->dsp, tg_cpu_flags());
    init_steps(p, image);
    p->ring = tg_image_alloc(rows_held(plan), p->row * sizeof(float), err);
    if (!p->ring) {
        free(p);
        return NULL;
    }
    p->sum = p->ring + p->side * p->row; /* not there without a kernel, nor used */
    if (p->tabled)
        fill_table(p);
    return p;
}

void tg_processing_free(tg_processing *p)
{
    if (!p)
        return;
    tg_image_free(p->ring);
    free(p);
}

void tg_processing_want(const tg_processing *p, uint32_t *first, uint32_t *end)
{
    uint32_t last = p->plan->core.y + p->pulled + p->radius;
    *first = p->pushed;
    *end = TG_MAX(p->pushed, TG_MIN(last + 1, p->plan->window.h));
}

static void repeat_edges(float *plane, unsigned radius, size_t n)
{
    for (unsigned i = 0; i < radius; i++) {
        plane[i] = plane[radius];
        plane[radius + n + i] = plane[radius + n - 1];
    }
}

void tg_processing_push(tg_processing *p, const void *row)
{
    const tg_plan *plan = p->plan;
    float *to = p->ring + p->pushed % p->side * p->row;
    size_t n = plan->window.w;
    p->last = row;
    if (p->tabled) {
        p->pushed++;
        return;
    }
    p->dsp.load(to + p->radius, p->plane, row, plan->read_fmt.bits, n, &p->steps);
    p->dsp.steps(to + p->radius, p->plane, n, &p->steps);
    for (unsigned c = 0; c < p->steps.out && p->radius; c++)
        repeat_edges(to + c * p->plane, p->radius, n);
    p->pushed++;
}

/* Window row y, the first and the last repeated beyond. */
static float *row_at(const tg_processing *p, int64_t y)
{
    int64_t last = (int64_t)p->plan->window.h - 1;
    y = TG_MIN(TG_MAX(y, 0), last);
    return p->ring + (size_t)(y % p->side) * p->row;
}

/* Alpha is no colour. */
static void convolve(tg_processing *p, int64_t y)
{
    const tg_rect *core = &p->plan->core;
    unsigned colours = p->steps.out - tg_pixfmt_alpha(p->plan->rows_fmt);
    for (unsigned c = 0; c < p->steps.out; c++) {
        const float *rows[TG_KERNEL_SIDE_MAX];
        float *to = p->sum + c * p->plane;
        for (unsigned j = 0; j < p->side; j++)
            rows[j] = row_at(p, y + j - p->radius) + c * p->plane + core->x;
        if (c < colours)
            p->dsp.convolve(to, rows, p->plan->process.kernel, p->side, core->w);
        else
            memcpy(to, rows[p->radius] + p->radius, core->w * sizeof *to);
    }
}

void tg_processing_pull(tg_processing *p, void *row)
{
    const tg_plan *plan = p->plan;
    int64_t y = (int64_t)plan->core.y + p->pulled;
    if (p->tabled) {
        apply_table(p, row);
        p->pulled++;
        return;
    }
    const float *from = row_at(p, y) + plan->core.x;
    if (plan->process.kernel_side) {
        convolve(p, y);
        from = p->sum;
    }
    p->dsp.store(row, from, p->plane, plan->rows_fmt, p->gain, plan->core.w);
    p->pulled++;
}
