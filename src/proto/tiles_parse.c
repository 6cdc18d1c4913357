#include "tegula/http.h"
#include "tegula/num.h"
#include "tegula/tiles.h"

static bool no_such(tg_err *err)
{
    return tg_fail(err, TG_ERR_NOT_FOUND, "no such address");
}

static bool suffix_format(tg_str suffix, bool jpeg_only, tg_format *format, tg_err *err)
{
    static const struct {
        const char *suffix;
        tg_format format;
    } known[] = {{"jpg", TG_FORMAT_JPEG},
                 {"png", TG_FORMAT_PNG},
                 {"webp", TG_FORMAT_WEBP},
                 {"avif", TG_FORMAT_AVIF}};
    for (size_t i = 0; i < (jpeg_only ? 1 : sizeof known / sizeof known[0]); i++)
        if (tg_str_eq_nocase(suffix, tg_str_of(known[i].suffix)) &&
            tg_format_available(known[i].format)) {
            *format = known[i].format;
            return true;
        }
    return tg_fail(err, TG_ERR_BAD_REQUEST, "format: tiles are %s",
                   jpeg_only                             ? "jpg"
                   : tg_format_available(TG_FORMAT_AVIF) ? "jpg, png, webp or avif"
                                                         : "jpg, png or webp");
}

/* "12.jpg" cut into number and format. */
static bool last_number(tg_str s, bool jpeg_only, uint64_t *number, tg_format *format, tg_err *err)
{
    tg_str digits, suffix;
    if (!tg_str_cut(s, '.', &digits, &suffix) || !tg_parse_u64(digits, number))
        return no_such(err);
    return suffix_format(suffix, jpeg_only, format, err);
}

/* ID_files/L/X_Y.jpg */
static bool deepzoom_tile(tg_str path, tg_tiles *out, tg_err *err)
{
    tg_str level, name, x, y;
    if (!tg_str_rcut(path, '/', &path, &name) || !tg_str_rcut(path, '/', &path, &level) ||
        !tg_str_ends(path, TG_STR("_files")) || !tg_str_cut(name, '_', &x, &y) ||
        !tg_parse_u64(level, &out->level) || !tg_parse_u64(x, &out->x))
        return no_such(err);
    out->identifier = (tg_str){path.p, path.n - strlen("_files")};
    return last_number(y, false, &out->y, &out->format, err);
}

static bool deepzoom(tg_str path, tg_tiles *out, tg_err *err)
{
    out->document = tg_str_ends(path, TG_STR(".dzi")) || tg_str_ends(path, TG_STR(".xml"));
    if (!out->document)
        return deepzoom_tile(path, out, err);
    out->identifier = (tg_str){path.p, path.n - strlen(".dzi")};
    return true;
}

/* ID/TileGroupN/Z-X-Y.jpg */
static bool zoomify(tg_str path, tg_tiles *out, tg_err *err)
{
    tg_str name, group, z, x, y;
    if (!tg_str_rcut(path, '/', &path, &name))
        return no_such(err);
    out->identifier = path;
    out->document = tg_str_is(name, "ImageProperties.xml");
    if (out->document)
        return true;
    if (!tg_str_rcut(path, '/', &out->identifier, &group) ||
        !tg_str_starts(group, TG_STR("TileGroup")) || !tg_str_cut(name, '-', &z, &x) ||
        !tg_str_cut(x, '-', &x, &y) || !tg_parse_u64(z, &out->level) || !tg_parse_u64(x, &out->x))
        return no_such(err);
    return last_number(y, true, &out->y, &out->format, err);
}

/* ID/Z/X/Y.jpg, ID/Z/X/Y@2x.jpg */
static bool xyz(tg_str path, tg_tiles *out, tg_err *err)
{
    tg_str name, x, z, y, suffix;
    if (!tg_str_rcut(path, '/', &path, &name))
        return no_such(err);
    out->identifier = path;
    out->document = tg_str_is(name, "tilejson.json");
    if (out->document)
        return true;
    if (!tg_str_rcut(path, '/', &path, &x) || !tg_str_rcut(path, '/', &out->identifier, &z) ||
        !tg_parse_u64(z, &out->level) || !tg_parse_u64(x, &out->x) ||
        !tg_str_cut(name, '.', &y, &suffix))
        return no_such(err);
    out->twice = tg_str_ends(y, TG_STR("@2x"));
    if (out->twice)
        y.n -= strlen("@2x");
    return tg_parse_u64(y, &out->y) ? suffix_format(suffix, false, &out->format, err)
                                    : no_such(err);
}

bool tg_tiles_parse(tg_protocol protocol, tg_str raw, tg_arena *arena, tg_tiles *out, tg_err *err)
{
    tg_str path;
    *out = (tg_tiles){.protocol = protocol};
    if (!tg_percent_decode(raw, arena, "path", &path, err))
        return false;
    if (!(protocol == TG_PROTOCOL_DEEPZOOM ? deepzoom
          : protocol == TG_PROTOCOL_XYZ    ? xyz
                                           : zoomify)(path, out, err))
        return false;
    if (out->identifier.n == 0 || tg_str_ends(out->identifier, TG_STR("/")))
        return tg_fail(err, TG_ERR_NOT_FOUND, "no identifier");
    return true;
}

tg_str tg_tiles_canonical(const tg_tiles *t, tg_arena *arena)
{
    if (t->document)
        return TG_STR("document");
    return tg_arena_printf(arena, "%llu/%llu_%llu%s.%s", (unsigned long long)t->level,
                           (unsigned long long)t->x, (unsigned long long)t->y,
                           t->twice ? "@2x" : "", tg_formats[t->format].extension);
}
