#include "scaler_plan.h"

#include "tegula/dsp_scale.h"
#include "tegula/num.h"
#include "tegula/scaler.h"

#define LINE_BYTES 64

/* Output rows that one source row touches: a kernel is at most 6 steps long, and the shift of rows
 * at the lower edge lets it touch a few more. */
#define SUMS 10

static size_t round_up(size_t v, size_t unit)
{
    return (v + unit - 1) / unit * unit;
}

/* An odd number of cache lines: the rows of a ring then begin in different sets of the cache. */
static size_t stride_bytes(size_t bytes)
{
    return (round_up(bytes, LINE_BYTES) / LINE_BYTES | 1) * LINE_BYTES;
}

/* Horizontal kernels read taps in eights. */
static size_t plane_samples(uint32_t px)
{
    return round_up((size_t)px + 8, 32);
}

/* Costs from bench/scale_bench and checkasm --bench, in units of one tap of the narrow vertical
 * kernel (0.02 ns with AVX2): a sample costs 3 to keep as it is, 4 to load, 5 to send through the
 * vertical pass and to split; the horizontal pass costs 10 per sample, and twice as much per tap
 * when wide. */
static bool x_first_is_cheaper(const tg_axis *x, const tg_axis *y, uint32_t x_taps, uint32_t y_taps,
                               bool wide)
{
    double in_rows = TG_MIN((double)y->in_px, y->step * y->out_px + y_taps);
    double in = x->in_px, out = x->out_px;
    double h = (wide ? 2.0 : 1.0) * (double)round_up(x_taps, 8) + 10;
    double v = (y_taps > TG_NARROW_TAPS_MAX ? 10.0 : 1.0) * y_taps + 5;
    double y_first = in_rows * in * 3 + y->out_px * (in * v + out * h);
    double x_first = in_rows * (in * 4 + out * h) + y->out_px * out * v;
    return x_first < y_first;
}

tg_scaler_plan tg_scaler_plan_make(tg_pixfmt fmt, const tg_axis *x, const tg_axis *y,
                                   tg_filter filter)
{
    uint32_t x_taps = tg_filter_taps_max(x, filter), y_taps = tg_filter_taps_max(y, filter);
    tg_scaler_plan p = {.pick = x_taps == 1 && y_taps == 1};
    if (p.pick) {
        p.rows = 1;
        p.ring_stride = stride_bytes(x->out_px * tg_pixfmt_bytes(fmt));
        return p;
    }
    p.wide = fmt.bits == 16 || TG_MAX(x_taps, y_taps) > TG_NARROW_TAPS_MAX;
    p.x_first = x_first_is_cheaper(x, y, x_taps, y_taps, p.wide);
    p.sum = y_taps > TG_NARROW_TAPS_MAX;
    p.raw = p.wide == (fmt.bits == 16) && !p.sum && !p.x_first && !tg_pixfmt_alpha(fmt);
    p.rows = p.sum ? SUMS : y_taps;
    p.in_plane = plane_samples(x->in_px);
    p.out_plane = plane_samples(x->out_px);
    p.v_samples = p.raw ? (size_t)x->in_px * fmt.channels
                        : (p.x_first ? p.out_plane : p.in_plane) * fmt.channels;

    size_t work = p.wide ? sizeof(int32_t) : sizeof(int16_t);
    size_t in = (p.in_plane * fmt.channels + TG_SCALE_PAD) * work;
    size_t out = (p.out_plane * fmt.channels + TG_SCALE_PAD) * work;
    size_t sample = p.sum ? sizeof(int64_t) : p.raw ? fmt.bits / 8u : work;
    p.ring_stride = stride_bytes((p.v_samples + TG_SCALE_PAD) * sample);
    p.in_row = p.x_first ? in : 0;
    p.add_row = p.sum ? (p.x_first ? out : in) : 0;
    p.mid_row = p.x_first ? out : in;
    p.split_row = p.raw && fmt.channels > 1 ? in : 0;
    p.out_row = p.x_first ? 0 : out;
    return p;
}

bool tg_scaler_plan_bytes(const tg_scaler_plan *p, size_t *bytes)
{
    size_t ring;
    if (!tg_mul_size(p->ring_stride, p->rows, &ring))
        return false;
    return tg_add_size(ring, p->in_row + p->add_row + p->mid_row + p->split_row + p->out_row,
                       bytes);
}

static size_t table_bytes(const tg_axis *axis, tg_filter filter, bool wide)
{
    size_t coef = wide ? sizeof(int32_t) : sizeof(int16_t);
    return axis->out_px * (round_up(tg_filter_taps_max(axis, filter), 8) * coef + sizeof(int32_t));
}

size_t tg_scaler_cost_bytes(tg_pixfmt fmt, const tg_axis *x, const tg_axis *y, tg_filter filter)
{
    tg_scaler_plan p = tg_scaler_plan_make(fmt, x, y, filter);
    size_t rows, total, tables = table_bytes(x, filter, p.wide) + table_bytes(y, filter, p.wide);
    if (!tg_scaler_plan_bytes(&p, &rows) || !tg_add_size(rows, tables, &total))
        return SIZE_MAX;
    return total;
}
