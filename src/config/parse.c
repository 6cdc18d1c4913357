#include "table.h"
#include "tegula/json_text.h"
#include "tegula/num.h"

#define DEFAULT_SIDE_PX 5000

static void *field(const tg_variable *v, tg_config *config)
{
    return (char *)config + v->offset;
}

static bool whole(tg_str text, int64_t *out)
{
    return tg_parse_i64(text, out);
}

/* The value within the row's range, and whether it was so from the start. */
static bool clamped(const tg_variable *v, double value, double *out)
{
    *out = TG_MIN(TG_MAX(value, v->lowest), v->highest);
    return *out == value;
}

/* Whole numbers in the table's ranges are far below 2^53, so a double holds them. */
static bool parse_number(const tg_variable *v, tg_str text, tg_config *config)
{
    int64_t n = 0;
    double value;
    if (v->kind == TG_KIND_DECIMAL ? !tg_parse_signed_decimal(text, &value) : !whole(text, &n))
        return false;
    if (v->kind != TG_KIND_DECIMAL)
        value = (double)n;
    bool inside = clamped(v, value, &value);
    void *at = field(v, config);
    if (v->kind == TG_KIND_INT)
        *(int *)at = (int)value;
    else if (v->kind == TG_KIND_INT64)
        *(int64_t *)at = (int64_t)value;
    else if (v->kind == TG_KIND_MIB)
        *(uint64_t *)at = (uint64_t)value << 20;
    else
        *(double *)at = value;
    return inside;
}

static bool parse_bool(tg_str text, bool *out)
{
    int64_t n;
    if (!whole(text, &n))
        return false;
    *out = n != 0;
    return true;
}

/* iipsrv's rules: 0 is the default, -1 no limit, and anything below means 1. */
static bool parse_side(tg_str text, uint32_t *out)
{
    int64_t n;
    if (!whole(text, &n))
        return false;
    if (n == -1)
        *out = 0;
    else if (n == 0)
        *out = DEFAULT_SIDE_PX;
    else
        *out = (uint32_t)TG_MIN(TG_MAX(n, 1), INT32_MAX);
    return n >= -1 && n <= INT32_MAX;
}

static bool parse_filter(tg_str text, tg_filter *out)
{
    int64_t n;
    if (!whole(text, &n) || n < 0 || n >= TG_FILTER_NUMBERS)
        return false;
    *out = tg_filter_numbers[n];
    return true;
}

static bool parse_version(tg_str text, int *out)
{
    int64_t n;
    if (!whole(text, &n) || n < 1 || n > 3)
        return false;
    *out = (int)n;
    return true;
}

/* A name as here or as libpng has it (PNG_FILTER_SUB, PNG_ALL_FILTERS), a filter's number in a file
 * (0 to 4) or a mask of libpng. */
static bool parse_png_filter(tg_str text, int *out)
{
    tg_str name = text;
    int64_t n;
    if (tg_str_is(text, "PNG_ALL_FILTERS"))
        name = TG_STR("ALL");
    else if (tg_str_starts(text, TG_STR("PNG_FILTER_")))
        name = (tg_str){text.p + strlen("PNG_FILTER_"), text.n - strlen("PNG_FILTER_")};
    for (int i = 0; i < TG_PNG_FILTERS; i++) {
        if (!tg_str_eq_nocase(name, tg_str_of(tg_png_filters[i].name)))
            continue;
        *out = tg_png_filters[i].mask;
        return true;
    }
    if (!whole(text, &n) || n < 0 || n > 248 || (n > 4 && n % 8 != 0))
        return false;
    *out = n > 4 ? (int)n : 8 << n;
    return true;
}

static bool parse_zlib(tg_str text, int *out)
{
    static const struct {
        const char *name;
        int level;
    } names[] = {
        {"Z_NO_COMPRESSION", 0},
        {"Z_BEST_SPEED", 1},
        {"Z_BEST_COMPRESSION", 9},
        {"Z_DEFAULT_COMPRESSION", 6},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!tg_str_is(text, names[i].name))
            continue;
        *out = names[i].level;
        return true;
    }
    int64_t n;
    if (!whole(text, &n) || n < -1 || n > 9)
        return false;
    *out = n < 0 ? 6 : (int)n;
    return true;
}

static bool parse_servers(const char *text, const char **out)
{
    if (!tg_servers_ok(tg_str_of(text)))
        return false;
    *out = text;
    return true;
}

static bool parse_layout(tg_str text, tg_layout *out)
{
    if (text.n && !tg_str_eq_nocase(text, TG_STR("nginx")))
        return false;
    *out = text.n ? TG_LAYOUT_NGINX : TG_LAYOUT_OWN;
    return true;
}

static bool hex_pair(const char *p, uint8_t *out)
{
    unsigned v = 0;
    for (int i = 0; i < 2; i++) {
        char c = p[i];
        if (c >= '0' && c <= '9')
            v = v * 16 + (unsigned)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            v = v * 16 + (unsigned)((c | 0x20) - 'a' + 10);
        else
            return false;
    }
    *out = (uint8_t)v;
    return true;
}

static bool parse_colour(tg_str text, uint8_t out[3])
{
    uint8_t rgb[3];
    if (text.n == 7 && text.p[0] == '#') {
        if (!hex_pair(text.p + 1, &rgb[0]) || !hex_pair(text.p + 3, &rgb[1]) ||
            !hex_pair(text.p + 5, &rgb[2]))
            return false;
    } else {
        for (int i = 0; i < 3; i++) {
            tg_str part;
            int64_t n;
            if (tg_str_cut(text, ',', &part, &text) != (i < 2) || !whole(tg_str_trim(part), &n) ||
                n < 0 || n > 255)
                return false;
            rgb[i] = (uint8_t)n;
        }
    }
    memcpy(out, rgb, sizeof rgb);
    return true;
}

static bool is_line(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static bool is_url(const char *text)
{
    tg_str s = tg_str_of(text);
    return !s.n || (is_line(text) &&
                    (tg_str_starts(s, TG_STR("http://")) || tg_str_starts(s, TG_STR("https://"))));
}

static bool parse_text(const tg_variable *v, const char *text, const char **out)
{
    if ((v->kind == TG_KIND_LINE && !is_line(text)) || (v->kind == TG_KIND_URL && !is_url(text)))
        return false;
    *out = text;
    return true;
}

/* What the info documents of either version hold already, but for `service`, which is merged. */
static bool is_own_member(tg_str name)
{
    static const char *const own[] = {
        "@context",      "@id",          "id",      "@type",
        "type",          "protocol",     "profile", "width",
        "height",        "sizes",        "tiles",   "maxWidth",
        "maxArea",       "maxHeight",    "rights",  "preferredFormats",
        "extraFeatures", "extraFormats", "license", "extraQualities",
        "attribution"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (tg_str_is(name, own[i]))
            return true;
    return false;
}

static bool parse_members(const char *text, void *at)
{
    tg_str rest = tg_str_of(text), name, value;
    bool bad;
    while (tg_json_next_member(&rest, &name, &value, &bad)) {
        bool service = tg_str_is(name, "service") && value.p[0] != '{' && value.p[0] != '[';
        if (service || is_own_member(name))
            return false;
    }
    if (bad)
        return false;
    *(const char **)at = text;
    return true;
}

bool tg_variable_parse(const tg_variable *v, const char *z, tg_config *config)
{
    tg_str text = tg_str_trim(tg_str_of(z));
    void *at = v->kind == TG_KIND_NONE ? NULL : field(v, config);
    switch (v->kind) {
    case TG_KIND_NONE:
        return true;
    case TG_KIND_INT:
    case TG_KIND_INT64:
    case TG_KIND_DECIMAL:
    case TG_KIND_MIB:
        return parse_number(v, text, config);
    case TG_KIND_BOOL:
        return parse_bool(text, at);
    case TG_KIND_TEXT:
    case TG_KIND_LINE:
    case TG_KIND_URL:
        return parse_text(v, z, at);
    case TG_KIND_MEMBERS:
        return parse_members(z, at);
    case TG_KIND_SIDE:
        return parse_side(text, at);
    case TG_KIND_FILTER:
        return parse_filter(text, at);
    case TG_KIND_VERSION:
        return parse_version(text, at);
    case TG_KIND_ZLIB:
        return parse_zlib(text, at);
    case TG_KIND_PNG_FILTER:
        return parse_png_filter(text, at);
    case TG_KIND_SERVERS:
        return parse_servers(z, at);
    case TG_KIND_LAYOUT:
        return parse_layout(text, at);
    case TG_KIND_COLOUR:
        return parse_colour(text, at);
    case TG_KIND_MAPS:
        return tg_maps_parse(text, config);
    case TG_KIND_PREFIX:
        return tg_maps_add(text, TG_PROTOCOL_IIIF, config);
    }
    return false;
}
