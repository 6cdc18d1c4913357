/* Identifiers, canonical URIs and media types: what the service says about itself in headers. */
#include "iiif_params.h"
#include "tegula/num.h"

static tg_str without_slashes(tg_str s)
{
    while (tg_str_ends(s, TG_STR("/")))
        s.n--;
    return s;
}

tg_str tg_iiif_id(const tg_config *config, const tg_request *request, const tg_iiif *iiif,
                  tg_arena *arena)
{
    tg_str header = without_slashes(tg_str_trim(request->x_iiif_id));
    /* Anyone may have written that header, and it goes into headers and documents. */
    if (tg_is_http_url(header))
        return header;
    tg_str base = without_slashes(tg_str_of(config->base_url));
    if (base.n)
        return tg_arena_printf(arena, "%.*s/%.*s", TG_STR_ARG(base), TG_STR_ARG(iiif->id_path));
    return tg_arena_printf(arena, "%.*s%.*s", TG_STR_ARG(tg_request_origin(request, arena)),
                           TG_STR_ARG(iiif->base_path));
}

tg_str tg_iiif_profile(int version)
{
    return version == 2 ? TG_STR("http://iiif.io/api/image/2/level2.json")
                        : TG_STR("http://iiif.io/api/image/3/level2.json");
}

static bool contains(tg_str s, tg_str part)
{
    return s.n && memmem(s.p, s.n, part.p, part.n);
}

int tg_iiif_info_version(const tg_iiif *iiif, tg_str accept)
{
    if (iiif->version_named)
        return iiif->version;
    bool two = contains(accept, TG_STR("http://iiif.io/api/image/2/context.json"));
    bool three = contains(accept, TG_STR("http://iiif.io/api/image/3/context.json"));
    return two == three ? iiif->version : two ? 2 : 3;
}

/* 2.1: ld+json only when the client asks for it by name. 3.0: ld+json unless the client likes json
 * better. A header that allows neither is answered with the version's default. */
tg_str tg_iiif_info_type(int version, tg_str accept)
{
    bool ld_named, json_named;
    int ld = tg_accept_quality(accept, TG_STR("application"), TG_STR("ld+json"), &ld_named);
    int json = tg_accept_quality(accept, TG_STR("application"), TG_STR("json"), &json_named);
    if (version == 3)
        return json > ld ? TG_STR("application/json")
                         : TG_STR(
                               "application/ld+json;"
                               "profile=\"http://iiif.io/api/image/3/context.json\"");
    bool wanted = ld_named && ld > 0 && (ld > json || (ld == json && !json_named));
    return wanted ? TG_STR("application/ld+json") : TG_STR("application/json");
}

static tg_str canonical_region(const tg_geometry *g, tg_arena *arena)
{
    if (g->full_region)
        return TG_STR("full");
    return tg_arena_printf(arena, "%u,%u,%u,%u", g->region.x, g->region.y, g->region.w,
                           g->region.h);
}

/* 2.1, section 4.7: `full` for the region's own size, `w,` where it gives the same height. */
static tg_str canonical_size_2(const tg_geometry *g, tg_arena *arena)
{
    if (g->w == g->region.w && g->h == g->region.h)
        return TG_STR("full");
    if (g->keeps_ratio)
        return tg_arena_printf(arena, "%u,", g->w);
    return tg_arena_printf(arena, "%u,%u", g->w, g->h);
}

/* 3.0, section 4.7. */
static tg_str canonical_size_3(const tg_geometry *g, tg_arena *arena)
{
    if (g->is_max)
        return TG_STR("max");
    if (g->is_upscaled_max)
        return TG_STR("^max");
    return tg_arena_printf(arena, "%s%u,%u", g->enlarged ? "^" : "", g->w, g->h);
}

/* `color` is always the default; `gray` is where there is no colour. What IIP asked for has no
 * name. */
static const char *canonical_quality(tg_quality quality, bool color)
{
    bool is_default = quality == TG_QUALITY_COLOR || (quality == TG_QUALITY_GRAY && !color);
    const char *name = is_default ? NULL : tg_iiif_qualities[quality];
    return name ? name : "default";
}

tg_str tg_iiif_canonical(int version, const tg_job *job, const tg_geometry *geometry, bool color,
                         tg_arena *arena)
{
    char angle[32];
    size_t n = tg_format_decimal(job->rotation, angle);
    tg_str region = canonical_region(geometry, arena);
    tg_str size =
        version == 2 ? canonical_size_2(geometry, arena) : canonical_size_3(geometry, arena);
    return tg_arena_printf(arena, "%.*s/%.*s/%s%.*s/%s.%s", TG_STR_ARG(region), TG_STR_ARG(size),
                           job->mirror ? "!" : "", (int)n, angle,
                           canonical_quality(job->quality, color),
                           tg_formats[job->format].extension);
}
