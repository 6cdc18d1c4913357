/* Slices: pointer and length, not NUL-terminated, not owned. */
#ifndef TEGULA_STR_H
#define TEGULA_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct tg_str {
    const char *p;
    size_t n;
} tg_str;

#define TG_STR(literal) ((tg_str){("" literal), sizeof(literal) - 1})
/* For printf("%.*s", TG_STR_ARG(s)). */
#define TG_STR_ARG(s)   (int)(s).n, (s).p

static inline tg_str tg_str_of(const char *z)
{
    return z ? (tg_str){z, strlen(z)} : (tg_str){"", 0};
}

static inline bool tg_str_eq(tg_str a, tg_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool tg_str_is(tg_str a, const char *z)
{
    return tg_str_eq(a, tg_str_of(z));
}

/* ASCII letter case ignored. */
bool tg_str_eq_nocase(tg_str a, tg_str b);
bool tg_str_starts(tg_str s, tg_str prefix);
bool tg_str_ends(tg_str s, tg_str suffix);

/* The part before the first c goes to *head, the part behind it to *tail; returns false, *head = s
 * and an empty *tail when there is no c. tg_str_rcut does the same at the last c, with *tail = s
 * when there is none. head or tail may point to s itself. */
bool tg_str_cut(tg_str s, char c, tg_str *head, tg_str *tail);
bool tg_str_rcut(tg_str s, char c, tg_str *head, tg_str *tail);

/* Without ASCII blanks and tabs at both ends. */
tg_str tg_str_trim(tg_str s);

#endif
