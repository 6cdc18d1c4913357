/* The commands that change pixels. */
#include <math.h>

#include "iip_args.h"
#include "tegula/num.h"

#define COUNT(names) (unsigned)(sizeof(names) / sizeof(names)[0])

bool tg_iip_cnt(tg_str s, tg_iip *iip)
{
    static const char *const names[] = {"eq", "equalization", "st", "stretch"};
    tg_process *p = &iip->job.process;
    unsigned which;
    double v;
    if (tg_iip_word(s, names, COUNT(names), &which)) {
        iip->job.equalise |= which < 2;
        p->stretch |= which >= 2;
        return true;
    }
    if (!tg_iip_real(s, &v) || v < 0)
        return false;
    p->has_contrast = v != 1;
    p->contrast = (float)v;
    return true;
}

bool tg_iip_gam(tg_str s, tg_iip *iip)
{
    static const char *const names[] = {"log", "logarithm"};
    tg_process *p = &iip->job.process;
    unsigned which;
    double v;
    if (tg_iip_word(s, names, COUNT(names), &which)) {
        p->gamma = TG_GAMMA_LOG;
        return true;
    }
    if (!tg_iip_real(s, &v) || v < 0)
        return false;
    p->gamma = v == 1 ? TG_GAMMA_NONE : TG_GAMMA_POWER;
    p->exponent = (float)v;
    return true;
}

bool tg_iip_inv(tg_str s, tg_iip *iip)
{
    (void)s;
    iip->job.process.invert = true;
    return true;
}

bool tg_iip_minmax(tg_str s, tg_iip *iip)
{
    tg_process *p = &iip->job.process;
    tg_str channel, range;
    int64_t c = 0;
    double v[2];
    if (!tg_str_cut(s, ':', &channel, &range) || !tg_iip_reals(range, ',', 2, v) || v[0] == v[1])
        return false;
    bool all = tg_str_is(channel, "-");
    if (!all && (!tg_iip_whole(channel, &c) || c < 0))
        return false;
    int64_t end = all ? TG_PROCESS_CHANNELS : TG_MIN(c + 1, TG_PROCESS_CHANNELS);
    for (; c < end; c++) {
        p->ranges |= 1u << c;
        p->range_min[c] = v[0];
        p->range_max[c] = v[1];
    }
    return true;
}

bool tg_iip_col(tg_str s, tg_iip *iip)
{
    static const char *const names[] = {"grey", "gray", "binary"};
    unsigned which;
    if (!tg_iip_word(s, names, COUNT(names), &which))
        return false;
    iip->job.quality = which < 2 ? TG_QUALITY_GRAY : TG_QUALITY_BINARY;
    return true;
}

bool tg_iip_cmp(tg_str s, tg_iip *iip)
{
    static const char *const names[TG_MAPS] = {
        [TG_MAP_NONE] = "",   [TG_MAP_HOT] = "hot",   [TG_MAP_COLD] = "cold",
        [TG_MAP_JET] = "jet", [TG_MAP_BLUE] = "blue", [TG_MAP_GREEN] = "green",
        [TG_MAP_RED] = "red"};
    unsigned which;
    bool known = tg_iip_word(s, names, TG_MAPS, &which);
    iip->job.process.map = known ? (tg_colour_map)which : TG_MAP_NONE;
    return true;
}

/* "[…]" without its brackets. */
static bool inside(tg_str s, tg_str *out)
{
    if (s.n < 2 || s.p[0] != '[' || s.p[s.n - 1] != ']')
        return false;
    *out = (tg_str){s.p + 1, s.n - 2};
    return true;
}

/* One row; what an image has no channel for is read and dropped. */
static bool parse_row(tg_str s, float row[TG_PROCESS_CHANNELS])
{
    bool more = true;
    for (unsigned i = 0; more; i++) {
        tg_str one;
        double v;
        more = tg_str_cut(s, ',', &one, &s);
        if (!tg_iip_real(one, &v))
            return false;
        if (i < TG_PROCESS_CHANNELS)
            row[i] = (float)v;
        else if (v != 0)
            return false;
    }
    return true;
}

bool tg_iip_ctw(tg_str s, tg_iip *iip)
{
    tg_process *p = &iip->job.process;
    bool more = true;
    unsigned n = 0;
    if (tg_str_starts(s, TG_STR("[")) ? !inside(s, &s) : tg_str_ends(s, TG_STR("]")))
        return false; /* the brackets may be left out, both of them */
    memset(p->matrix, 0, sizeof p->matrix);
    for (; more && n < TG_PROCESS_CHANNELS; n++) {
        tg_str row;
        more = tg_str_cut(s, ';', &row, &s);
        if (!parse_row(row, p->matrix[n]))
            return false;
    }
    p->matrix_rows = n;
    return !more && n != 2;
}

/* ---- convolution ---- */

static const struct {
    const char *name;
    float k[9];
} kernels[] = {
    {"sobel", {-1, 0, 1, -2, 0, 2, -1, 0, 1}},    {"prewitt", {-1, 0, 1, -1, 0, 1, -1, 0, 1}},
    {"scharr", {-3, 0, 3, -10, 0, 10, -3, 0, 3}}, {"laplace", {0, -1, 0, -1, 4, -1, 0, -1, 0}},
    {"gaussian", {1, 2, 1, 2, 4, 2, 1, 2, 1}},    {"sharpen", {0, -1, 0, -1, 5, -1, 0, -1, 0}},
    {"emboss", {-2, -1, 0, -1, 1, 1, 0, 1, 2}},
};

static bool named_kernel(tg_str s, tg_process *p)
{
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        if (!tg_str_eq_nocase(s, tg_str_of(kernels[i].name)))
            continue;
        memcpy(p->kernel, kernels[i].k, sizeof kernels[i].k);
        p->kernel_side = 3;
        return true;
    }
    return false;
}

static bool given_kernel(tg_str s, tg_process *p)
{
    unsigned n = 0;
    bool more = true;
    double v;
    if (!inside(s, &s))
        return false;
    for (; more && n < TG_KERNEL_SIDE_MAX * TG_KERNEL_SIDE_MAX; n++) {
        tg_str one;
        more = tg_str_cut(s, ',', &one, &s);
        if (!tg_iip_real(one, &v))
            return false;
        p->kernel[n] = (float)v;
    }
    p->kernel_side = n == 25 ? 5 : n == 9 ? 3 : 1;
    return !more && n == p->kernel_side * p->kernel_side;
}

bool tg_iip_cnv(tg_str s, tg_iip *iip)
{
    tg_process *p = &iip->job.process;
    double sum = 0;
    memset(p->kernel, 0, sizeof p->kernel);
    if (!named_kernel(s, p) && !given_kernel(s, p))
        return false;
    for (unsigned i = 0; i < p->kernel_side * p->kernel_side; i++)
        sum += (double)p->kernel[i];
    for (unsigned i = 0; i < p->kernel_side * p->kernel_side && sum > 0; i++)
        p->kernel[i] = (float)(p->kernel[i] / sum);
    return true;
}

bool tg_iip_shd(tg_str s, tg_iip *iip)
{
    tg_process *p = &iip->job.process;
    double v[2];
    if (!tg_iip_reals(s, ',', 2, v))
        return false;
    p->shade = true;
    p->azimuth = fmod(v[0], 360);
    p->elevation = fmod(v[1], 360);
    return true;
}
