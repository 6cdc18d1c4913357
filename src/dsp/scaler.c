/* The streaming resampler. Rows pushed become work rows, planes of premultiplied samples, either of
 * the source's width (the vertical pass comes first) or already of the output's (the horizontal
 * pass comes first), and wait in a ring for the vertical pass. 8-bit rows without alpha that wait
 * at the source's width stay as they are until the vertical pass. A vertical kernel too long for a
 * ring is summed row by row into the output rows that it touches. */
#include "tegula/scaler.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "scaler_plan.h"
#include "tegula/dsp.h"
#include "tegula/mem.h"
#include "tegula/num.h"

struct tg_scaler {
    tg_scaler_plan plan;
    tg_pixfmt fmt;
    uint32_t in_px, out_px; /* of a row */
    tg_scale_dsp dsp;
    const tg_filter_table *x, *y;
    bool x_shifts;    /* the horizontal pass only shifts: planes are used in place */
    uint32_t in_row;  /* the next to be pushed */
    uint32_t out_row; /* the next to be pulled */
    uint32_t sum_row; /* the first whose sum is not begun */
    uint8_t *block;   /* one allocation, parted into the rows below */
    uint8_t *ring;
    void *in, *add, *mid, *split, *out;
    const void *under[TG_NARROW_TAPS_MAX + 1]; /* the ring's rows under the kernel, made even */
};

static bool only_shifts(const tg_filter_table *x)
{
    for (uint32_t i = 0; i < x->axis.out_px; i++)
        if ((int64_t)x->first[i] != (int64_t)x->first[0] + i)
            return false;
    return x->taps == 1;
}

/* How many output rows begin before the first of them ends, at most. */
static uint32_t rows_touched(const tg_filter_table *y)
{
    uint32_t most = 1, next = 0;
    for (uint32_t i = 0; i < y->axis.out_px; i++) {
        while (next < y->axis.out_px && y->first[next] < y->first[i] + (int64_t)y->taps)
            next++;
        most = TG_MAX(most, next - i);
    }
    return most;
}

static void *part(uint8_t **at, size_t bytes)
{
    void *p = *at;
    *at += bytes;
    return p;
}

static bool allocate_rows(tg_scaler *s, tg_err *err)
{
    const tg_scaler_plan *p = &s->plan;
    size_t bytes;
    if (!tg_scaler_plan_bytes(p, &bytes))
        bytes = SIZE_MAX;
    s->block = tg_image_alloc(bytes, 1, err);
    if (!s->block)
        return false;
    memset(s->block, 0, bytes);
    uint8_t *at = s->block;
    s->ring = part(&at, p->rows * p->ring_stride);
    s->in = part(&at, p->in_row);
    s->add = part(&at, p->add_row);
    s->mid = part(&at, p->mid_row);
    s->split = part(&at, p->split_row);
    s->out = part(&at, p->out_row);
    return true;
}

static bool take_tables(tg_scaler *s, const tg_axis *x, const tg_axis *y, tg_filter filter,
                        tg_err *err)
{
    tg_precision precision = s->plan.wide ? TG_WIDE : TG_NARROW;
    s->x = tg_filter_table_get(x, filter, precision, err);
    s->y = s->x ? tg_filter_table_get(y, filter, precision, err) : NULL;
    return s->y != NULL;
}

tg_scaler *tg_scaler_new(tg_pixfmt fmt, const tg_axis *x, const tg_axis *y, tg_filter filter,
                         tg_err *err)
{
    tg_scaler *s = tg_new(sizeof *s);
    s->fmt = fmt;
    s->in_px = x->in_px;
    s->out_px = x->out_px;
    s->plan = tg_scaler_plan_make(fmt, x, y, filter);
    if (!take_tables(s, x, y, filter, err))
        goto fail;
    s->x_shifts = only_shifts(s->x);
    s->in_row = (uint32_t)s->y->first[0];
    if (s->plan.sum)
        s->plan.rows = rows_touched(s->y);
    if (!allocate_rows(s, err))
        goto fail;
    tg_scale_dsp_init(&s->dsp, tg_cpu_flags());
    return s;
fail:
    tg_scaler_free(s);
    return NULL;
}

void tg_scaler_free(tg_scaler *s)
{
    if (!s)
        return;
    if (s->x)
        tg_filter_table_release(s->x);
    if (s->y)
        tg_filter_table_release(s->y);
    tg_image_free(s->block);
    free(s);
}

bool tg_scaler_want(const tg_scaler *s, uint32_t *first, uint32_t *end)
{
    *first = *end = s->in_row;
    if (s->out_row == s->y->axis.out_px)
        return false;
    *end = TG_MAX(s->in_row, (uint32_t)s->y->first[s->out_row] + s->y->taps);
    return true;
}

static void *slot(const tg_scaler *s, uint32_t row)
{
    return s->ring + row % s->plan.rows * s->plan.ring_stride;
}

/* Copies the chosen pixels; the size is a constant in each call, so that each copy is one move. */
static inline void pick_sized(uint8_t *dst, const uint8_t *src, const tg_filter_table *x,
                              size_t size)
{
    for (uint32_t i = 0; i < x->axis.out_px; i++)
        memcpy(dst + i * size, src + (size_t)x->first[i] * size, size);
}

static void pick(const tg_scaler *s, uint8_t *dst, const uint8_t *src)
{
    size_t size = tg_pixfmt_bytes(s->fmt);
    if (s->x_shifts) {
        memcpy(dst, src + (size_t)s->x->first[0] * size, s->out_px * size);
        return;
    }
    switch (size) {
    case 1:
        pick_sized(dst, src, s->x, 1);
        break;
    case 2:
        pick_sized(dst, src, s->x, 2);
        break;
    case 3:
        pick_sized(dst, src, s->x, 3);
        break;
    case 4:
        pick_sized(dst, src, s->x, 4);
        break;
    case 6:
        pick_sized(dst, src, s->x, 6);
        break;
    default:
        pick_sized(dst, src, s->x, 8);
        break;
    }
}

static void load(const tg_scaler *s, void *planes, const void *row)
{
    const tg_scaler_plan *p = &s->plan;
    if (s->fmt.bits == 16)
        s->dsp.load16_wide(planes, p->in_plane, row, s->fmt.channels, s->in_px);
    else if (p->wide)
        s->dsp.load8_wide(planes, p->in_plane, row, s->fmt.channels, s->in_px);
    else
        s->dsp.load8(planes, p->in_plane, row, s->fmt.channels, s->in_px);
}

static void store(const tg_scaler *s, void *row, const void *planes, size_t plane)
{
    if (s->fmt.bits == 16)
        s->dsp.store16_wide(row, planes, plane, s->fmt.channels, s->out_px);
    else if (s->plan.wide)
        s->dsp.store8_wide(row, planes, plane, s->fmt.channels, s->out_px);
    else
        s->dsp.store8(row, planes, plane, s->fmt.channels, s->out_px);
}

static void horizontal(const tg_scaler *s, void *dst, const void *src)
{
    const tg_scaler_plan *p = &s->plan;
    const tg_filter_table *x = s->x;
    for (size_t k = 0; k < s->fmt.channels; k++) {
        if (p->wide)
            s->dsp.h_wide((int32_t *)dst + k * p->out_plane, (const int32_t *)src + k * p->in_plane,
                          x->first, x->wide, x->taps_stride, s->out_px);
        else
            s->dsp.h_narrow((int16_t *)dst + k * p->out_plane,
                            (const int16_t *)src + k * p->in_plane, x->first, x->narrow,
                            x->taps_stride, s->out_px);
    }
}

/* Adds the row to all sums that it belongs to, beginning those that begin with it. */
static void add(tg_scaler *s, const int32_t *row, uint32_t at)
{
    const tg_filter_table *y = s->y;
    size_t n = s->plan.v_samples;
    for (; s->sum_row < y->axis.out_px && (uint32_t)y->first[s->sum_row] <= at; s->sum_row++)
        memset(slot(s, s->sum_row), 0, n * sizeof(int64_t));
    for (uint32_t i = s->out_row; i < s->sum_row; i++) {
        uint32_t t = at - (uint32_t)y->first[i];
        int64_t coef = t < y->taps ? y->wide[(size_t)i * y->taps_stride + t] : 0;
        int64_t *sum = slot(s, i);
        for (size_t k = 0; coef && k < n; k++)
            sum[k] += coef * row[k];
    }
}

void tg_scaler_push(tg_scaler *s, const void *row)
{
    const tg_scaler_plan *p = &s->plan;
    uint32_t at = s->in_row++;
    if (s->out_row == s->y->axis.out_px || at < (uint32_t)s->y->first[s->out_row])
        return;
    void *dst = p->sum ? s->add : slot(s, at);
    if (p->pick) {
        pick(s, dst, row);
    } else if (p->raw) {
        memcpy(dst, row, p->v_samples * (s->fmt.bits / 8));
    } else if (p->x_first) {
        load(s, s->in, row);
        horizontal(s, dst, s->in);
    } else {
        load(s, dst, row);
    }
    if (p->sum)
        add(s, dst, at);
}

static void finish_sum(const tg_scaler *s, int32_t *dst)
{
    const int64_t *sum = slot(s, s->out_row);
    for (size_t k = 0; k < s->plan.v_samples; k++)
        dst[k] = (int32_t)TG_ROUND_SHIFT(sum[k], TG_WIDE_COEF_BITS);
}

static void vertical(tg_scaler *s, void *dst)
{
    const tg_filter_table *y = s->y;
    size_t n = s->plan.v_samples, at = (size_t)s->out_row * y->taps_stride;
    uint32_t first = (uint32_t)y->first[s->out_row], taps = y->taps;
    for (uint32_t t = 0; t < taps; t++)
        s->under[t] = slot(s, first + t);
    s->under[taps] = s->under[0]; /* a row of weight 0, should taps be odd */
    taps += taps % 2;
    if (s->plan.wide && s->plan.raw)
        s->dsp.v16(dst, (const uint16_t *const *)s->under, y->wide + at, taps, n);
    else if (s->plan.wide)
        s->dsp.v_wide(dst, (const int32_t *const *)s->under, y->wide + at, taps, n);
    else if (s->plan.raw)
        s->dsp.v8(dst, (const uint8_t *const *)s->under, y->narrow + at, taps, n);
    else
        s->dsp.v_narrow(dst, (const int16_t *const *)s->under, y->narrow + at, taps, n);
}

static void split(const tg_scaler *s)
{
    if (s->plan.wide)
        s->dsp.split3_wide(s->split, s->plan.in_plane, s->mid, s->in_px);
    else
        s->dsp.split3(s->split, s->plan.in_plane, s->mid, s->in_px);
}

/* The planes of the vertical pass, scaled to the output's width; *plane gets their distance. */
static const void *finish_row(const tg_scaler *s, const void *planes, size_t *plane)
{
    const tg_scaler_plan *p = &s->plan;
    *plane = p->out_plane;
    if (p->x_first)
        return planes;
    if (s->x_shifts) {
        *plane = p->in_plane;
        return (const uint8_t *)planes + (size_t)s->x->first[0] * (p->wide ? 4 : 2);
    }
    horizontal(s, s->out, planes);
    return s->out;
}

void tg_scaler_pull(tg_scaler *s, void *row)
{
    const tg_scaler_plan *p = &s->plan;
    const void *planes = s->mid;
    size_t plane;
    assert(s->out_row < s->y->axis.out_px);
    assert(s->in_row >= (uint32_t)s->y->first[s->out_row] + s->y->taps);
    if (p->pick) {
        memcpy(row, s->ring, s->out_px * tg_pixfmt_bytes(s->fmt));
        s->out_row++;
        return;
    }
    if (p->sum)
        finish_sum(s, s->mid);
    else
        vertical(s, s->mid);
    if (p->split_row) {
        split(s);
        planes = s->split;
    }
    planes = finish_row(s, planes, &plane);
    store(s, row, planes, plane);
    s->out_row++;
}
