/* The commands that say what is shown, how large and in which form. */
#include <math.h>

#include "iip_args.h"
#include "tegula/num.h"

#define COUNT(names) (unsigned)(sizeof(names) / sizeof(names)[0])

/* ---- which view, how large ---- */

static bool set_view(int64_t horizontal, int64_t vertical, tg_iip *iip)
{
    iip->image.view = (unsigned)horizontal;
    iip->image.vertical = (unsigned)vertical;
    return horizontal >= 0 && vertical >= 0;
}

/* Alone, the horizontal view means that the vertical one is 0. */
bool tg_iip_sds(tg_str s, tg_iip *iip)
{
    int64_t v[2] = {0, 0};
    bool both = memchr(s.p, ',', s.n) != NULL;
    return tg_iip_wholes(s, ',', both ? 2 : 1, v) && set_view(v[0], v[1], iip);
}

/* 0 is not given. */
static bool parse_side(tg_str s, uint64_t *out)
{
    int64_t v;
    if (!tg_iip_whole(s, &v) || v < 0)
        return false;
    *out = (uint64_t)v;
    return true;
}

bool tg_iip_wid(tg_str s, tg_iip *iip)
{
    return parse_side(s, &iip->job.w);
}

bool tg_iip_hei(tg_str s, tg_iip *iip)
{
    return parse_side(s, &iip->job.h);
}

bool tg_iip_rgn(tg_str s, tg_iip *iip)
{
    double v[4];
    tg_job *job = &iip->job;
    if (!tg_iip_reals(s, ',', 4, v) || !(v[2] > 0 && v[3] > 0 && v[0] < 1 && v[1] < 1) ||
        !(v[0] + v[2] > 0 && v[1] + v[3] > 0))
        return false;
    job->region = TG_REGION_PERCENT;
    job->rx = v[0] * 100;
    job->ry = v[1] * 100;
    job->rw = v[2] * 100;
    job->rh = v[3] * 100;
    return true;
}

bool tg_iip_qlt(tg_str s, tg_iip *iip)
{
    static const char *const names[] = {"none", "lzw", "deflate", "jpeg", "webp", "zstd"};
    tg_job *job = &iip->job;
    tg_str codec, number;
    unsigned which;
    int64_t v;
    bool named = tg_str_cut(s, ':', &codec, &number);
    if (named && !tg_iip_word(codec, names, COUNT(names), &which))
        return false;
    if (!tg_iip_whole(named ? number : s, &v))
        return false;
    job->has_encode_quality = true;
    job->encode_quality = (int)v;
    if (named) {
        job->has_compression = true;
        job->compression = (tg_tiff_compression)which;
    }
    return true;
}

bool tg_iip_rot(tg_str s, tg_iip *iip)
{
    double v;
    bool mirror = tg_str_starts(s, TG_STR("!"));
    if (mirror)
        s = (tg_str){s.p + 1, s.n - 1};
    if (!tg_iip_real(s, &v) || v > 360 || fmod(v, 90) != 0)
        return false;
    v = fmod(v, 360);
    iip->job.mirror = mirror;
    iip->job.rotation = v < 0 ? v + 360 : v + 0.0;
    return true;
}

bool tg_iip_lyr(tg_str s, tg_iip *iip)
{
    int64_t v;
    if (!tg_iip_whole(s, &v) || v < 1)
        return false;
    iip->image.layers = (int)v;
    return true;
}

/* ---- output ---- */

bool tg_iip_cvt(tg_str s, tg_iip *iip)
{
    static const struct {
        const char *name;
        tg_format format;
    } known[] = {{"jpeg", TG_FORMAT_JPEG}, {"jpg", TG_FORMAT_JPEG},  {"png", TG_FORMAT_PNG},
                 {"webp", TG_FORMAT_WEBP}, {"avif", TG_FORMAT_AVIF}, {"tiff", TG_FORMAT_TIFF},
                 {"tif", TG_FORMAT_TIFF}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!tg_str_eq_nocase(s, tg_str_of(known[i].name)))
            continue;
        iip->output = TG_IIP_VIEW;
        iip->job.format = known[i].format;
        return tg_format_available(known[i].format);
    }
    return false;
}

static bool parse_tile(tg_str s, tg_format format, tg_iip *iip)
{
    int64_t v[2];
    if (!tg_format_available(format) || !tg_iip_wholes(s, ',', 2, v))
        return false;
    iip->output = TG_IIP_TILE;
    iip->resolution = v[0];
    iip->tile = v[1];
    iip->job.format = format;
    return true;
}

bool tg_iip_jtl(tg_str s, tg_iip *iip)
{
    return parse_tile(s, TG_FORMAT_JPEG, iip);
}

bool tg_iip_ptl(tg_str s, tg_iip *iip)
{
    return parse_tile(s, TG_FORMAT_PNG, iip);
}

bool tg_iip_wtl(tg_str s, tg_iip *iip)
{
    return parse_tile(s, TG_FORMAT_WEBP, iip);
}

bool tg_iip_ttl(tg_str s, tg_iip *iip)
{
    return parse_tile(s, TG_FORMAT_TIFF, iip);
}

bool tg_iip_atl(tg_str s, tg_iip *iip)
{
    return parse_tile(s, TG_FORMAT_AVIF, iip);
}

bool tg_iip_jtls(tg_str s, tg_iip *iip)
{
    int64_t v[4];
    if (!tg_iip_wholes(s, ',', 4, v) || !set_view(v[0], v[3], iip))
        return false;
    iip->output = TG_IIP_TILE;
    iip->resolution = v[1];
    iip->tile = v[2];
    iip->job.format = TG_FORMAT_JPEG;
    return true;
}

/* "a-b" or "a"; false also for negative ones. */
static bool parse_span(tg_str s, int64_t *first, int64_t *last)
{
    tg_str from, to;
    bool two = tg_str_cut(s, '-', &from, &to);
    if (!tg_iip_whole(from, first) || (two && !tg_iip_whole(to, last)))
        return false;
    if (!two)
        *last = *first;
    return true;
}

bool tg_iip_til(tg_str s, tg_iip *iip)
{
    tg_str resolution, span;
    if (!tg_str_cut(s, ',', &resolution, &span) || !tg_iip_whole(resolution, &iip->resolution) ||
        !parse_span(span, &iip->tile, &iip->last_tile))
        return false;
    if (iip->last_tile < iip->tile)
        iip->last_tile = iip->tile;
    iip->output = TG_IIP_TILES;
    iip->job.format = TG_FORMAT_JPEG;
    return true;
}

/* r:x1,y1[-x2,y2] */
bool tg_iip_pfl(tg_str s, tg_iip *iip)
{
    tg_str resolution, from, to;
    int64_t a[2], b[2] = {-1, -1};
    if (!tg_str_cut(s, ':', &resolution, &s) || !tg_iip_whole(resolution, &iip->resolution))
        return false;
    bool line = tg_str_cut(s, '-', &from, &to);
    if (!tg_iip_wholes(from, ',', 2, a) || (line && !tg_iip_wholes(to, ',', 2, b)))
        return false;
    iip->output = TG_IIP_PROFILE;
    iip->x1 = a[0];
    iip->y1 = a[1];
    iip->x2 = b[0];
    iip->y2 = b[1];
    return true;
}

bool tg_iip_spectra(tg_str s, tg_iip *iip)
{
    int64_t v[4];
    if (!tg_iip_wholes(s, ',', 4, v))
        return false;
    iip->output = TG_IIP_SPECTRUM;
    iip->resolution = v[0];
    iip->tile = v[1];
    iip->x1 = v[2];
    iip->y1 = v[3];
    return true;
}
