#include "j2k_form.h"

#include <math.h>
#include <string.h>

#include "tegula/mem.h"
#include "tegula/num.h"

#define FRACTION_BITS 16 /* of a position between two samples; CRG has as many */

void tg_j2k_full_range(tg_j2k_channel *channel, const tg_j2k_component *component, unsigned bits)
{
    double from = ldexp(1, component->bits) - 1, to = ldexp(1, (int)bits) - 1;

    channel->scale = to / from;
    channel->offset = component->is_signed ? ldexp(channel->scale, component->bits - 1) : 0;
}

uint32_t tg_j2k_want(tg_j2k_form *form, uint32_t component)
{
    if (form->n_components == 0 || form->component[form->n_components - 1] != component)
        form->component[form->n_components++] = component;
    return form->n_components - 1u;
}

static const tg_j2k_component *component_of(const tg_j2k_form *form, const tg_j2k_header *header,
                                            unsigned i)
{
    return &header->component[form->component[i]];
}

bool tg_j2k_is_subsampled(const tg_j2k_form *form, const tg_j2k_header *header)
{
    const tg_j2k_component *first = component_of(form, header, 0);

    for (unsigned i = 1; i < form->n_components; i++) {
        const tg_j2k_component *c = component_of(form, header, i);

        if (c->dx != first->dx || c->dy != first->dy || c->off_x != first->off_x ||
            c->off_y != first->off_y)
            return true;
    }
    return false;
}

/* ---- one component on the grid of the pixels ---- */

/* One axis: pixel p lies between samples at(p) and at(p) + 1 of the component. */
typedef struct axis {
    int64_t first, count;     /* samples there are */
    int64_t mul, div, offset; /* position = (p << FRACTION_BITS) * mul / div + offset */
} axis;

typedef struct plane {
    const opj_image_comp_t *component;
    axis x, y;
    bool on_grid; /* samples are pixels */
    bool nearest; /* indices of a palette have no between */
} plane;

/* Samples lie at (i + off) x d on the reference grid (section A.9.1), those of a reduction at
 * (i x 2^k + off) x d: a low-pass filter does not move them. */
static axis make_axis(uint32_t first, uint32_t count, const uint8_t d[2], const uint16_t off[2],
                      unsigned k)
{
    return (axis){.first = first,
                  .count = count,
                  .mul = d[0],
                  .div = d[1],
                  .offset = (off[0] >> k) * d[0] / d[1] - (off[1] >> k)};
}

static plane make_plane(const tg_j2k_form *form, const tg_j2k_header *header,
                        const opj_image_t *image, unsigned i, unsigned k)
{
    const tg_j2k_component *pixel = component_of(form, header, 0);
    const tg_j2k_component *c = component_of(form, header, i);
    bool some = image->numcomps == form->n_components;
    const opj_image_comp_t *data = &image->comps[some ? i : form->component[i]];
    uint8_t dx[] = {pixel->dx, c->dx}, dy[] = {pixel->dy, c->dy};
    uint16_t off_x[] = {pixel->off_x, c->off_x}, off_y[] = {pixel->off_y, c->off_y};

    return (plane){
        .component = data,
        .x = make_axis(tg_j2k_coordinate(data->x0, 1, data->factor), data->w, dx, off_x, k),
        .y = make_axis(tg_j2k_coordinate(data->y0, 1, data->factor), data->h, dy, off_y, k),
        .on_grid = dx[0] == dx[1] && dy[0] == dy[1] && off_x[0] == off_x[1] && off_y[0] == off_y[1],
    };
}

/* The sample at or before pixel p, counted from the first there is, and how far p is beyond. */
static int64_t locate(const axis *a, uint32_t p, uint32_t *fraction)
{
    int64_t at =
        ((int64_t)p << FRACTION_BITS) * a->mul / a->div + a->offset - (a->first << FRACTION_BITS);

    if (at < 0)
        at = 0;
    if (at > (a->count - 1) << FRACTION_BITS)
        at = (a->count - 1) << FRACTION_BITS;
    *fraction = (uint32_t)(at & ((1 << FRACTION_BITS) - 1));
    return at >> FRACTION_BITS;
}

static int32_t between(int64_t a, int64_t b, uint32_t fraction)
{
    return (int32_t)(a +
                     (((b - a) * (int64_t)fraction + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS));
}

static void interpolate_row(const plane *p, uint32_t x, uint32_t y, uint32_t n, int32_t *out)
{
    uint32_t fy, fx;
    int64_t row = locate(&p->y, y, &fy);
    const int32_t *upper = p->component->data + row * p->x.count;
    const int32_t *lower = row + 1 < p->y.count ? upper + p->x.count : upper;

    for (uint32_t i = 0; i < n; i++) {
        int64_t a = locate(&p->x, x + i, &fx);
        int64_t b = TG_MIN(a + 1, p->x.count - 1);

        if (p->nearest)
            out[i] = (fy >> (FRACTION_BITS - 1) ? lower : upper)[fx >> (FRACTION_BITS - 1) ? b : a];
        else
            out[i] = between(between(upper[a], upper[b], fx), between(lower[a], lower[b], fx), fy);
    }
}

/* n samples of the row from pixel x on; those of scratch when they have to be made. */
static const int32_t *samples_of(const plane *p, uint32_t x, uint32_t y, uint32_t n,
                                 int32_t *scratch)
{
    if (p->on_grid)
        return p->component->data + (y - p->y.first) * p->x.count + (x - p->x.first);
    interpolate_row(p, x, y, n, scratch);
    return scratch;
}

static bool covers(const plane *p, tg_rect r)
{
    return !p->on_grid ||
           (r.x >= p->x.first && r.y >= p->y.first && r.x + r.w <= p->x.first + p->x.count &&
            r.y + r.h <= p->y.first + p->y.count);
}

/* ---- samples to channels ---- */

static uint32_t clamp_index(int32_t v, uint32_t n)
{
    return v < 0 ? 0 : TG_MIN((uint32_t)v, n - 1);
}

static void put(void *dst, uint32_t at, unsigned bits, uint32_t v)
{
    if (bits == 8)
        ((uint8_t *)dst)[at] = (uint8_t)v;
    else
        ((uint16_t *)dst)[at] = (uint16_t)v;
}

static void put_palette(const tg_j2k_form *form, const tg_j2k_channel *c, const int32_t *from,
                        uint32_t n, void *dst, unsigned channel)
{
    for (uint32_t i = 0; i < n; i++)
        put(dst, i * form->n_channels + channel, form->bits,
            c->palette[clamp_index(from[i], c->palette_entries)]);
}

static void put_shifted(const tg_j2k_form *form, int32_t offset, const int32_t *from, uint32_t n,
                        uint8_t *dst)
{
    for (uint32_t i = 0; i < n; i++) {
        int32_t v = from[i];

        v = v < -offset ? 0 : v > 255 - offset ? 255 : v + offset;
        dst[i * form->n_channels] = (uint8_t)v;
    }
}

static void put_scaled(const tg_j2k_form *form, const tg_j2k_channel *c, const int32_t *from,
                       uint32_t n, void *dst, unsigned channel)
{
    double max = form->bits == 8 ? 255 : 65535, scale = c->scale, offset = c->offset + 0.5;

    for (uint32_t i = 0; i < n; i++) {
        double v = from[i] * scale + offset;

        put(dst, i * form->n_channels + channel, form->bits,
            v < 0     ? 0
            : v > max ? (uint32_t)max
                      : (uint32_t)v);
    }
}

/* Whether a channel is a component moved to begin at 0: most are. */
static bool is_shifted(const tg_j2k_form *form, const tg_j2k_channel *c)
{
    return form->bits == 8 && c->scale == 1 && !c->palette;
}

static void put_channel(const tg_j2k_form *form, unsigned channel, const int32_t *from, uint32_t n,
                        void *dst)
{
    const tg_j2k_channel *c = &form->channel[channel];

    if (c->palette)
        put_palette(form, c, from, n, dst, channel);
    else if (is_shifted(form, c))
        put_shifted(form, (int32_t)c->offset, from, n, (uint8_t *)dst + channel);
    else
        put_scaled(form, c, from, n, dst, channel);
}

static uint8_t to_byte(int32_t v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

/* Three unsigned components of 8 bits at once. */
static void put_three(const int32_t *const from[3], uint32_t n, uint8_t *dst)
{
    for (uint32_t i = 0; i < n; i++, dst += 3) {
        dst[0] = to_byte(from[0][i]);
        dst[1] = to_byte(from[1][i]);
        dst[2] = to_byte(from[2][i]);
    }
}

/* ---- channels to colours ---- */

static uint32_t get(const void *px, unsigned bits, unsigned c)
{
    return bits == 8 ? ((const uint8_t *)px)[c] : ((const uint16_t *)px)[c];
}

static uint32_t clamped(float v, float max)
{
    return v < 0 ? 0 : v > max ? (uint32_t)max : (uint32_t)(v + 0.5f);
}

/* R = Y + red_cr Cr, B = Y + blue_cb Cb, and G what the luma's weights leave. BT.601 as in ISO/IEC
 * 15444-1, equation G-4. */
static void ycc_to_rgb(void *px, unsigned bits, tg_j2k_model model)
{
    bool hd = model == TG_J2K_YCC_709;
    float red_cr = hd ? 1.5748f : 1.402f, blue_cb = hd ? 1.8556f : 1.772f;
    float green_cb = hd ? 0.187324f : 0.344136f, green_cr = hd ? 0.468124f : 0.714136f;
    float max = bits == 8 ? 255 : 65535, middle = bits == 8 ? 128 : 32768;
    float y = (float)get(px, bits, 0);
    float cb = (float)get(px, bits, 1) - middle, cr = (float)get(px, bits, 2) - middle;
    float rgb[] = {y + red_cr * cr, y - green_cb * cb - green_cr * cr, y + blue_cb * cb};

    for (unsigned i = 0; i < 3; i++)
        put(px, i, bits, clamped(model == TG_J2K_YCCK ? max - rgb[i] : rgb[i], max));
}

static void to_straight(void *px, unsigned bits, unsigned colours)
{
    uint32_t max = bits == 8 ? 255 : 65535, alpha = get(px, bits, colours);

    for (unsigned i = 0; alpha != max && i < colours; i++) {
        uint64_t v = alpha ? ((uint64_t)get(px, bits, i) * max + alpha / 2) / alpha : 0;

        put(px, i, bits, (uint32_t)TG_MIN(v, (uint64_t)max));
    }
}

static void finish_row(const tg_j2k_form *form, uint8_t *row, uint32_t n)
{
    size_t pixel = (size_t)form->n_channels * (form->bits / 8);

    if (form->model != TG_J2K_AS_IT_IS)
        for (uint32_t i = 0; i < n; i++)
            ycc_to_rgb(row + i * pixel, form->bits, form->model);
    if (form->premultiplied)
        for (uint32_t i = 0; i < n; i++)
            to_straight(row + i * pixel, form->bits, form->n_channels - 1u);
}

/* ---- all of it ---- */

static bool make_planes(const tg_j2k_form *form, const tg_j2k_header *header,
                        const opj_image_t *image, unsigned k, tg_rect rect, plane *out)
{
    if (image->numcomps <= form->component[form->n_components - 1] &&
        image->numcomps != form->n_components)
        return false;
    for (unsigned i = 0; i < form->n_components; i++) {
        out[i] = make_plane(form, header, image, i, k);
        if (!covers(&out[i], rect))
            return false;
    }
    for (unsigned i = 0; i < form->n_channels; i++)
        if (form->channel[i].palette)
            out[form->channel[i].component].nearest = true;
    return true;
}

static bool is_three_plain(const tg_j2k_form *form, const plane *planes)
{
    for (unsigned c = 0; c < form->n_channels; c++)
        if (!is_shifted(form, &form->channel[c]) || form->channel[c].offset != 0 ||
            !planes[form->channel[c].component].on_grid)
            return false;
    return form->n_channels == 3;
}

static void place_row(const tg_j2k_form *form, const plane *planes, bool three, uint32_t x,
                      uint32_t y, uint32_t n, int32_t *scratch, uint8_t *row)
{
    const int32_t *from[3];

    for (unsigned c = 0; c < form->n_channels; c++) {
        const int32_t *samples = samples_of(&planes[form->channel[c].component], x, y, n, scratch);

        if (three)
            from[c] = samples;
        else
            put_channel(form, c, samples, n, row);
    }
    if (three)
        put_three(from, n, row);
    finish_row(form, row, n);
}

bool tg_j2k_place(const tg_j2k_form *form, const tg_j2k_header *header, const opj_image_t *image,
                  unsigned k, tg_rect rect, void *dst, size_t stride, tg_err *err)
{
    plane planes[TG_J2K_MAX_CHANNELS];
    int32_t *scratch;
    bool three;

    if (!make_planes(form, header, image, k, rect, planes))
        return tg_fail(err, TG_ERR_CORRUPT, "the JPEG 2000 codestream lies about its size");
    three = is_three_plain(form, planes);
    scratch = tg_image_alloc(rect.w, sizeof *scratch, err);
    if (!scratch)
        return false;
    for (uint32_t y = 0; y < rect.h; y++)
        place_row(form, planes, three, rect.x, rect.y + y, rect.w, scratch,
                  (uint8_t *)dst + y * stride);
    tg_image_free(scratch);
    return true;
}
