#include "serve/service.h"

/* "name" of "dir/name.tif". */
static tg_str file_stem(tg_str identifier)
{
    tg_str dir, name, stem, extension;
    tg_str_rcut(identifier, '/', &dir, &name);
    if (!tg_str_rcut(name, '.', &stem, &extension) || stem.n == 0)
        stem = name;
    return stem;
}

/* Cleaned of what a quoted string or an old client cannot take (RFC 6266, appendix D). */
static tg_str plain_name(tg_str name, tg_arena *arena)
{
    char *clean = tg_arena_strdup(arena, name);
    for (size_t i = 0; i < name.n; i++)
        if (clean[i] <= 0x20 || clean[i] >= 0x7f || strchr("\"\\/;%", clean[i]))
            clean[i] = '_';
    return (tg_str){clean, name.n};
}

/* Everything but letters, digits and a few marks as %XX (RFC 8187, section 3.2.1). */
static tg_str encoded_name(tg_str name, tg_arena *arena)
{
    static const char hex[] = "0123456789ABCDEF";
    char *text = tg_arena_alloc(arena, 3 * name.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                     (c && strchr("!#$&+-.^_`|~", c));
        if (plain) {
            text[n++] = (char)c;
            continue;
        }
        text[n++] = '%';
        text[n++] = hex[c >> 4];
        text[n++] = hex[c & 15];
    }
    return (tg_str){text, n};
}

void tg_answer_disposition(tg_arena *arena, bool attachment, tg_str identifier, tg_str ending,
                           tg_response *r)
{
    tg_str stem = file_stem(identifier), plain = plain_name(stem, arena);
    tg_str more = TG_STR("");
    if (!tg_str_eq(stem, plain))
        more = tg_arena_printf(arena, "; filename*=UTF-8''%.*s%.*s",
                               TG_STR_ARG(encoded_name(stem, arena)), TG_STR_ARG(ending));
    tg_header_f(r, "Content-Disposition", "%s; filename=\"%.*s%.*s\"%.*s",
                attachment ? "attachment" : "inline", TG_STR_ARG(plain), TG_STR_ARG(ending),
                TG_STR_ARG(more));
}
