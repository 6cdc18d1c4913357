#include "tegula/http.h"
#include "tegula/num.h"

/* `"…"` of a tag with or without its W/, since the comparison is weak. */
static tg_str opaque_tag(tg_str tag)
{
    return tg_str_starts(tag, TG_STR("W/")) ? (tg_str){tag.p + 2, tag.n - 2} : tag;
}

/* Cuts the next entity tag off a list. A comma inside the quotes belongs to the tag. */
static bool next_tag(tg_str *list, tg_str *tag)
{
    while (list->n && strchr(", \t", list->p[0]) && list->p[0])
        list->p++, list->n--;
    tg_str s = opaque_tag(*list);
    const char *end = s.n > 1 && s.p[0] == '"' ? memchr(s.p + 1, '"', s.n - 1) : NULL;
    if (!end)
        return false;
    *tag = (tg_str){s.p, (size_t)(end + 1 - s.p)};
    list->n -= (size_t)(end + 1 - list->p);
    list->p = end + 1;
    return true;
}

static bool tag_listed(tg_str list, tg_str etag)
{
    tg_str tag;
    if (etag.n == 0)
        return false;
    if (tg_str_is(tg_str_trim(list), "*"))
        return true;
    while (next_tag(&list, &tag))
        if (tg_str_eq(tag, opaque_tag(etag)))
            return true;
    return false;
}

bool tg_not_modified(const tg_request *request, tg_str etag, time_t last_modified, time_t changed)
{
    time_t since;
    if (request->method != TG_GET && request->method != TG_HEAD)
        return false;
    if (request->if_none_match.n)
        return tag_listed(request->if_none_match, etag);
    return tg_http_date_parse(request->if_modified_since, &since) &&
           (since == last_modified || since >= TG_MAX(last_modified, changed));
}
