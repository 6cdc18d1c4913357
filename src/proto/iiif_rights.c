#include "iiif_rights.h"

#include "tegula/http.h"

/* Creative Commons and RightsStatements.org define their URIs with http; what a browser shows is
 * the page behind them, with https (Image API 3.0, section 5.6). */
static bool defined_with_http(tg_str behind_scheme)
{
    static const char *const hosts[] = {"creativecommons.org/", "www.creativecommons.org/",
                                        "rightsstatements.org/"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (tg_str_starts(behind_scheme, tg_str_of(hosts[i])))
            return true;
    return false;
}

tg_str tg_iiif_rights_uri(tg_str copyright, tg_arena *arena)
{
    tg_str uri = tg_str_trim(copyright);
    if (!tg_is_http_url(uri))
        return TG_STR("");
    if (!tg_str_starts(uri, TG_STR("https://")))
        return uri;
    tg_str rest = {uri.p + 8, uri.n - 8};
    return defined_with_http(rest) ? tg_arena_printf(arena, "http://%.*s", TG_STR_ARG(rest)) : uri;
}
