#include "path.h"

#include "tegula/num.h"

/* A segment "..", wherever prefix, identifier and suffix meet. */
static bool climbs(tg_str path)
{
    bool more = true;
    while (more) {
        tg_str segment;
        more = tg_str_cut(path, '/', &segment, &path);
        if (tg_str_is(segment, ".."))
            return true;
    }
    return false;
}

static void append(tg_path *path, tg_str s)
{
    if (s.n)
        memcpy(path->text + path->n, s.p, s.n);
    path->n += s.n;
}

static bool is_absent(tg_err *err)
{
    return tg_fail(err, TG_ERR_NOT_FOUND, "no such image");
}

bool tg_path_whole(const tg_config *config, tg_str identifier, tg_path *out, tg_err *err)
{
    tg_str prefix = tg_str_of(config->filesystem_prefix), directory, name;
    tg_str suffix = tg_str_of(config->filesystem_suffix);
    out->page = 0;
    out->layers = 0;
    out->n = 0;
    if (identifier.n && memchr(identifier.p, 0, identifier.n))
        return tg_fail(err, TG_ERR_BAD_REQUEST, "identifier: a zero byte cannot be in it");
    if (!prefix.n) {
        tg_fail_detail(err, "FILESYSTEM_PREFIX is empty");
        return is_absent(err);
    }
    if (!identifier.n || identifier.n >= PATH_MAX ||
        prefix.n + identifier.n + suffix.n >= sizeof out->text)
        return is_absent(err);
    append(out, prefix);
    append(out, identifier);
    append(out, suffix);
    out->text[out->n] = 0;
    out->directory_n = tg_str_rcut(prefix, '/', &directory, &name) ? directory.n + 1 : 0;
    if (climbs((tg_str){out->text + out->directory_n, out->n - out->directory_n}))
        return tg_fail(err, TG_ERR_BAD_REQUEST, "identifier: \"..\" cannot be a part of it");
    return true;
}

/* Start of the last occurrence of part in s, or NULL. */
static const char *last_of(tg_str s, tg_str part)
{
    for (size_t at = s.n; at >= part.n; at--)
        if (tg_str_ends((tg_str){s.p, at}, part))
            return s.p + at - part.n;
    return NULL;
}

bool tg_path_paged(const tg_config *config, tg_str identifier, tg_path *out, tg_err *err)
{
    tg_str delimiter = tg_str_of(config->iiif_delimiter);
    const char *at = delimiter.n ? last_of(identifier, delimiter) : NULL;
    uint64_t page;
    if (!at)
        return false;
    tg_str name = {identifier.p, (size_t)(at - identifier.p)};
    tg_str digits = {at + delimiter.n, identifier.n - name.n - delimiter.n};
    if (!tg_parse_u64(digits, &page) || !tg_path_whole(config, name, out, err))
        return false;
    out->page = (unsigned)TG_MIN(page, UINT_MAX);
    return true;
}
