/* Region, size, rotation, quality and format as text. Both versions share one grammar but for the
 * words for the full size and for the caret. */
#include <math.h>

#include "iiif_params.h"
#include "tegula/num.h"

#define POSITION_MAX ((uint64_t)1 << 53) /* whole numbers that a double holds exactly */

static bool parse_whole(tg_str s, double *out)
{
    uint64_t v;
    if (!tg_parse_u64(s, &v))
        return false;
    *out = (double)TG_MIN(v, POSITION_MAX);
    return true;
}

static bool parse_region(int version, tg_str s, tg_job *job)
{
    (void)version;
    bool (*number)(tg_str, double *) = parse_whole;
    double *field[] = {&job->rx, &job->ry, &job->rw, &job->rh};
    if (tg_str_is(s, "full")) {
        job->region = TG_REGION_FULL;
        return true;
    }
    if (tg_str_is(s, "square")) {
        job->region = TG_REGION_SQUARE;
        return true;
    }
    job->region = TG_REGION_PIXELS;
    if (tg_str_starts(s, TG_STR("pct:"))) {
        job->region = TG_REGION_PERCENT;
        number = tg_parse_decimal;
        s = (tg_str){s.p + 4, s.n - 4};
    }
    for (size_t i = 0; i < 4; i++) {
        tg_str head;
        bool more = tg_str_cut(s, ',', &head, &s);
        if (more != (i < 3) || !number(head, field[i]))
            return false;
    }
    return true;
}

/* "w,", ",h" or "w,h". */
static bool parse_sides(tg_str s, tg_job *job)
{
    tg_str w, h;
    if (!tg_str_cut(s, ',', &w, &h) || (w.n == 0 && h.n == 0))
        return false;
    job->size = h.n == 0 ? TG_SIZE_WIDTH : w.n == 0 ? TG_SIZE_HEIGHT : TG_SIZE_EXACT;
    return (w.n == 0 || tg_parse_u64(w, &job->w)) && (h.n == 0 || tg_parse_u64(h, &job->h));
}

static bool parse_size(int version, tg_str s, tg_job *job)
{
    bool caret = version == 3 && s.n && s.p[0] == '^';
    job->upscale = version < 3 ? TG_UPSCALE_IMPLICIT : caret ? TG_UPSCALE_CARET : TG_UPSCALE_NO;
    if (caret)
        s = (tg_str){s.p + 1, s.n - 1};
    if (tg_str_is(s, "max") || (version < 3 && tg_str_is(s, "full"))) {
        job->size = TG_SIZE_MAX;
        return true;
    }
    if (tg_str_starts(s, TG_STR("pct:"))) {
        job->size = TG_SIZE_PERCENT;
        return tg_parse_decimal((tg_str){s.p + 4, s.n - 4}, &job->pct);
    }
    if (!tg_str_starts(s, TG_STR("!")))
        return parse_sides(s, job);
    if (!parse_sides((tg_str){s.p + 1, s.n - 1}, job) || job->size != TG_SIZE_EXACT)
        return false;
    job->size = TG_SIZE_CONFINE;
    return true;
}

/* Ten decimals are kept, so that the canonical text of an angle is the angle that was used. */
static bool parse_rotation(int version, tg_str s, tg_job *job)
{
    (void)version;
    double degrees;
    job->mirror = tg_str_starts(s, TG_STR("!"));
    if (job->mirror)
        s = (tg_str){s.p + 1, s.n - 1};
    if (!tg_parse_decimal(s, &degrees) || !(degrees <= 360))
        return false;
    degrees = floor(degrees * 1e10 + 0.5) / 1e10;
    job->rotation = degrees < 360 ? degrees : 0;
    return true;
}

const char *const tg_iiif_qualities[TG_QUALITIES] = {
    [TG_QUALITY_DEFAULT] = "default",
    [TG_QUALITY_COLOR] = "color",
    [TG_QUALITY_GRAY] = "gray",
    [TG_QUALITY_BITONAL] = "bitonal",
    [TG_QUALITY_EQUALIZATION] = "equalization",
    [TG_QUALITY_LOG] = "log",
    [TG_QUALITY_NEGATIVE] = "negative",
    [TG_QUALITY_STRETCH] = "stretch",
};

/* Image API 1.1, section 4.4. */
static tg_str without_old_names(tg_str s)
{
    return tg_str_is(s, "native") ? TG_STR("default") : tg_str_is(s, "grey") ? TG_STR("gray") : s;
}

static bool parse_quality(int version, tg_str s, tg_job *job)
{
    if (version == 1)
        s = without_old_names(s);
    for (unsigned i = 0; i < TG_QUALITIES; i++) {
        if (!tg_iiif_qualities[i] || !tg_str_is(s, tg_iiif_qualities[i]))
            continue;
        job->quality = (tg_quality)i;
        return true;
    }
    return false;
}

static bool parse_format(tg_str s, tg_job *job)
{
    for (unsigned i = 0; i < TG_FORMATS; i++) {
        if (!tg_format_available(i) || !tg_str_is(s, tg_formats[i].extension))
            continue;
        job->format = (tg_format)i;
        return true;
    }
    return false;
}

static bool parse_quality_format(int version, tg_str s, tg_job *job)
{
    tg_str quality, format;
    return tg_str_rcut(s, '.', &quality, &format) && parse_quality(version, quality, job) &&
           parse_format(format, job);
}

static const struct {
    const char *name, *expected, *expected_in_2; /* NULL: the same */
    bool (*parse)(int version, tg_str s, tg_job *job);
} params[TG_IIIF_PARAMS] = {
    {"region", "full, square, x,y,w,h or pct:x,y,w,h", NULL, parse_region},
    {"size",
     "max (version 3 has no full), w, or ,h or w,h or !w,h or pct:n, with ^ in front to enlarge",
     "full, max, w, or ,h or w,h or !w,h or pct:n", parse_size},
    {"rotation", "0 to 360 degrees, with or without !", NULL, parse_rotation},
    {"quality.format", "default, color, gray or bitonal, and a format that info.json names", NULL,
     parse_quality_format},
};

/* A quality that is switched off is none. */
static bool parse_param(unsigned i, int version, bool extended, tg_str text, tg_job *job)
{
    return params[i].parse(version, text, job) &&
           (extended || !tg_quality_is_extension(job->quality));
}

bool tg_iiif_params_plausible(const tg_str raw[TG_IIIF_PARAMS], bool extended, tg_arena *arena)
{
    for (unsigned i = 0; i < TG_IIIF_PARAMS; i++) {
        tg_job job = {0};
        tg_err ignored = {0};
        tg_str text;
        if (params[i].parse != parse_rotation &&
            tg_percent_decode(raw[i], arena, params[i].name, &text, &ignored) &&
            (parse_param(i, 1, extended, text, &job) || parse_param(i, 3, extended, text, &job)))
            return true;
    }
    return false;
}

bool tg_iiif_parse_params(int version, bool extended, tg_str region, tg_str size, tg_str rotation,
                          tg_str quality_format, tg_arena *arena, tg_job *job, tg_err *err)
{
    const tg_str raw[TG_IIIF_PARAMS] = {region, size, rotation, quality_format};
    *job = (tg_job){0};
    for (unsigned i = 0; i < TG_IIIF_PARAMS; i++) {
        tg_str text;
        if (!tg_percent_decode(raw[i], arena, params[i].name, &text, err))
            return false;
        if (!parse_param(i, version, extended, text, job))
            return tg_fail(err, TG_ERR_BAD_REQUEST, "%s: expected %s", params[i].name,
                           version < 3 && params[i].expected_in_2 ? params[i].expected_in_2
                                                                  : params[i].expected);
    }
    return true;
}
