/* The information document of both versions. Offered = advertised: a name stands here only if the
 * request it promises works, and every request that works has its name. */
#include "iiif_rights.h"
#include "tegula/iiif.h"
#include "tegula/json.h"
#include "tegula/json_text.h"
#include "tegula/num.h"

/* ---- tile ---- */

#define TILE_MIN_PX     64
#define TILE_MAX_PX     2048
#define TILE_DEFAULT_PX 256

static bool tile_side_ok(uint32_t px)
{
    return px >= TILE_MIN_PX && px <= TILE_MAX_PX;
}

void tg_iiif_advertised_tile(bool tiled, uint32_t tile_w_px, uint32_t tile_h_px,
                             const tg_limits *limits, uint32_t *w, uint32_t *h)
{
    *w = tile_w_px;
    *h = tile_h_px;
    if (tiled && tile_side_ok(*w) && tile_side_ok(*h) && tg_limits_allow(limits, *w, *h))
        return;
    *w = *h = TILE_DEFAULT_PX;
    while (*w > 1 && !tg_limits_allow(limits, *w, *h))
        *w = --*h;
}

/* ---- lists ---- */

/* "key": ["a", "b"]; a NULL is a name that does not apply here. */
static void put_list(tg_buf *out, const char *key, const char *const *names, size_t n)
{
    bool sep = false;
    tg_buf_printf(out, "\"%s\": [", key);
    for (size_t i = 0; i < n; i++) {
        if (!names[i])
            continue;
        tg_buf_printf(out, "%s\"%s\"", sep ? ", " : "", names[i]);
        sep = true;
    }
    tg_buf_z(out, "]");
}

#define PUT_LIST(out, key, ...)                                                                    \
    do {                                                                                           \
        const char *const names_[] = {__VA_ARGS__};                                                \
        put_list(out, key, names_, sizeof names_ / sizeof *names_);                                \
    } while (0)

static void put_formats(tg_buf *out, const char *key, bool beyond_level2)
{
    const char *names[TG_FORMATS] = {0};
    for (unsigned i = 0; i < TG_FORMATS; i++)
        if (tg_format_available(i) &&
            (!beyond_level2 || (i != TG_FORMAT_JPEG && i != TG_FORMAT_PNG)))
            names[i] = tg_formats[i].extension;
    put_list(out, key, names, TG_FORMATS);
}

static void put_qualities(tg_buf *out, const char *key, const char *first, const tg_config *config,
                          const tg_iiif_image *image)
{
    bool more = config->iiif_extensions;
    PUT_LIST(out, key, first, "bitonal", image->color ? "color" : NULL,
             more ? "equalization" : NULL, "gray", more ? "log" : NULL, more ? "negative" : NULL,
             more ? "stretch" : NULL);
}

/* ---- what both versions share ---- */

static bool one_tile(const tg_iiif_image *image, uint64_t factor)
{
    return image->tile_w_px * factor >= image->width_px &&
           image->tile_h_px * factor >= image->height_px;
}

static uint64_t last_factor(const tg_iiif_image *image)
{
    uint64_t factor = 1;
    while (!one_tile(image, factor))
        factor *= 2;
    return factor;
}

static bool put_size(tg_buf *out, const tg_iiif_image *image, const tg_limits *limits,
                     uint64_t factor, bool sep)
{
    uint32_t w = (uint32_t)((image->width_px + factor - 1) / factor);
    uint32_t h = (uint32_t)((image->height_px + factor - 1) / factor);
    if (!tg_limits_allow(limits, w, h))
        return false;
    tg_buf_printf(out, "%s{\"width\": %u, \"height\": %u}", sep ? ", " : "", w, h);
    return true;
}

/* An image of one tile has no smaller size to offer; then its own is the one entry. */
static void put_sizes(tg_buf *out, const tg_iiif_image *image, const tg_limits *limits)
{
    uint64_t factor = last_factor(image);
    bool sep = false;
    tg_buf_z(out, "  \"sizes\": [");
    do {
        sep |= put_size(out, image, limits, factor, sep);
        factor /= 2;
    } while (factor > 1);
    tg_buf_z(out, "],\n");
}

static void put_tiles(tg_buf *out, const tg_iiif_image *image)
{
    uint64_t last = last_factor(image);
    tg_buf_printf(out, "  \"tiles\": [{\"width\": %u, \"height\": %u, \"scaleFactors\": [1",
                  image->tile_w_px, image->tile_h_px);
    for (uint64_t factor = 2; factor <= last; factor *= 2)
        tg_buf_printf(out, ", %llu", (unsigned long long)factor);
    tg_buf_z(out, "]}]");
}

static void put_dimensions(tg_buf *out, const tg_iiif_image *image)
{
    tg_buf_printf(out, "  \"width\": %u,\n  \"height\": %u,\n", image->width_px, image->height_px);
}

/* Each on a line of its own, a comma behind every one: they stand before other members. */
static void put_limits(tg_buf *out, const tg_limits *limits, const char *indent)
{
    if (limits->max_w)
        tg_buf_printf(out, "%s\"maxWidth\": %u,\n%s\"maxHeight\": %u,\n", indent, limits->max_w,
                      indent, limits->max_h ? limits->max_h : limits->max_w);
    if (limits->max_area)
        tg_buf_printf(out, "%s\"maxArea\": %llu,\n", indent, (unsigned long long)limits->max_area);
}

static void put_member(tg_buf *out, const char *key, tg_str value)
{
    tg_buf_printf(out, "  \"%s\": ", key);
    tg_json_string(out, value);
    tg_buf_z(out, ",\n");
}

/* Physical dimensions annex 1.0: what a pixel of the full image measures. */
static void put_physical(tg_buf *out, const tg_iiif_image *image, tg_str id, tg_arena *arena)
{
    tg_str own = tg_arena_printf(arena, "%.*s/info.json#physdim", TG_STR_ARG(id));
    tg_buf_z(out,
             "{\n    \"@context\": "
             "\"http://iiif.io/api/annex/services/physdim/1/context.json\",\n    \"@id\": ");
    tg_json_string(out, own);
    tg_buf_printf(out,
                  ",\n    \"@type\": \"PhysicalDimensions\",\n"
                  "    \"profile\": \"http://iiif.io/api/annex/services/physdim\",\n"
                  "    \"physicalScale\": %.12g,\n    \"physicalUnits\": \"in\"\n  }",
                  1 / image->dpi_x);
}

/* The elements of a service value, which may be one object or a list of them. */
static tg_str service_elements(tg_str value)
{
    if (value.n && value.p[0] == '[')
        return tg_str_trim((tg_str){value.p + 1, value.n - 2});
    return value;
}

static bool has_physical(const tg_iiif_image *image)
{
    return image->dpi_x > 0 && image->dpi_x < 1e9;
}

/* `service` of tegula's own and of IIIF_EXTRA_INFO together, then its other members. Version 3
 * wants a list; so do two in version 2. */
static void put_services_and_extra(tg_buf *out, const tg_config *config, const tg_iiif_image *image,
                                   int version, tg_str id, tg_arena *arena)
{
    tg_str rest = tg_str_of(config->iiif_extra_info), name, value, services = TG_STR("");
    bool bad, physical = has_physical(image);
    while (tg_json_next_member(&rest, &name, &value, &bad)) {
        if (tg_str_is(name, "service"))
            services = service_elements(value);
        else
            tg_buf_printf(out, ",\n  \"%.*s\": %.*s", TG_STR_ARG(name), TG_STR_ARG(value));
    }
    if (!physical && !services.n)
        return;
    bool list = version == 3 || services.n;
    tg_buf_printf(out, ",\n  \"service\": %s", list ? "[" : "");
    if (physical)
        put_physical(out, image, id, arena);
    tg_buf_printf(out, "%s%.*s%s", physical && services.n ? ", " : "", TG_STR_ARG(services),
                  list ? "]" : "");
}

/* What the file says of itself comes before what is said of all. */
static tg_str copyright_of(const tg_config *config, const tg_iiif_image *image)
{
    return image->copyright.n ? image->copyright : tg_str_of(config->copyright);
}

/* ---- version 3.0 ---- */

static void info_3(const tg_config *config, const tg_iiif_image *image, const tg_limits *limits,
                   tg_str id, tg_arena *arena, tg_buf *out)
{
    tg_str rights = tg_iiif_rights_uri(copyright_of(config, image), arena);
    tg_buf_z(out, "{\n  \"@context\": \"http://iiif.io/api/image/3/context.json\",\n");
    put_member(out, "id", id);
    tg_buf_z(out,
             "  \"type\": \"ImageService3\",\n"
             "  \"protocol\": \"http://iiif.io/api/image\",\n"
             "  \"profile\": \"level2\",\n");
    put_dimensions(out, image);
    put_limits(out, limits, "  ");
    put_sizes(out, image, limits);
    put_tiles(out, image);
    tg_buf_z(out, ",\n");
    if (rights.n)
        put_member(out, "rights", rights);
    tg_buf_z(out, "  ");
    PUT_LIST(out, "preferredFormats", "jpg", "webp", "png");
    tg_buf_z(out, ",\n  ");
    put_qualities(out, "extraQualities", NULL, config, image);
    tg_buf_z(out, ",\n  ");
    put_formats(out, "extraFormats", true);
    tg_buf_z(out, ",\n  ");
    PUT_LIST(out, "extraFeatures", "canonicalLinkHeader", "mirroring", "profileLinkHeader",
             "rotationArbitrary", limits->allow_upscaling ? "sizeUpscaling" : NULL);
    put_services_and_extra(out, config, image, 3, id, arena);
    tg_buf_z(out, "\n}\n");
}

/* ---- version 2.1 ---- */

static void put_profile_2(tg_buf *out, const tg_config *config, const tg_iiif_image *image,
                          const tg_limits *limits)
{
    bool cors = config->cors && config->cors[0];
    tg_buf_printf(out, "  \"profile\": [\"%s\", {\n", tg_iiif_profile(2).p);
    put_limits(out, limits, "    ");
    tg_buf_z(out, "    ");
    put_formats(out, "formats", false);
    tg_buf_z(out, ",\n    ");
    put_qualities(out, "qualities", "default", config, image);
    tg_buf_z(out, ",\n    ");
    PUT_LIST(out, "supports", "baseUriRedirect", "canonicalLinkHeader", cors ? "cors" : NULL,
             "jsonldMediaType", "mirroring", "profileLinkHeader", "regionByPct", "regionByPx",
             "regionSquare", "rotationArbitrary", "rotationBy90s",
             limits->allow_upscaling ? "sizeAboveFull" : NULL, "sizeByConfinedWh",
             "sizeByDistortedWh", "sizeByH", "sizeByPct", "sizeByW", "sizeByWh");
    tg_buf_z(out, "\n  }]");
}

/* `license` takes a URI, `attribution` any text: COPYRIGHT goes where it is valid. */
static void put_copyright_2(tg_buf *out, tg_str copyright, tg_arena *arena)
{
    tg_str uri = tg_iiif_rights_uri(copyright, arena);
    if (uri.n)
        put_member(out, "license", uri);
    else if (tg_str_trim(copyright).n)
        put_member(out, "attribution", tg_str_trim(copyright));
}

static void info_2(const tg_config *config, const tg_iiif_image *image, const tg_limits *limits,
                   tg_str id, tg_arena *arena, tg_buf *out)
{
    tg_buf_z(out, "{\n  \"@context\": \"http://iiif.io/api/image/2/context.json\",\n");
    put_member(out, "@id", id);
    tg_buf_z(out,
             "  \"@type\": \"iiif:Image\",\n"
             "  \"protocol\": \"http://iiif.io/api/image\",\n");
    put_dimensions(out, image);
    put_sizes(out, image, limits);
    put_tiles(out, image);
    tg_buf_z(out, ",\n");
    put_copyright_2(out, copyright_of(config, image), arena);
    put_profile_2(out, config, image, limits);
    put_services_and_extra(out, config, image, 2, id, arena);
    tg_buf_z(out, "\n}\n");
}

void tg_iiif_info(const tg_config *config, const tg_iiif_image *image, const tg_limits *limits,
                  int version, tg_str id, tg_arena *arena, tg_buf *out)
{
    if (version == 2)
        info_2(config, image, limits, id, arena, out);
    else
        info_3(config, image, limits, id, arena, out);
}
