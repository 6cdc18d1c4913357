#include "tegula/str.h"

#include <strings.h>

bool tg_str_eq_nocase(tg_str a, tg_str b)
{
    return a.n == b.n && (a.n == 0 || strncasecmp(a.p, b.p, a.n) == 0);
}

bool tg_str_starts(tg_str s, tg_str prefix)
{
    return s.n >= prefix.n && tg_str_eq((tg_str){s.p, prefix.n}, prefix);
}

bool tg_str_ends(tg_str s, tg_str suffix)
{
    return s.n >= suffix.n && tg_str_eq((tg_str){s.p + s.n - suffix.n, suffix.n}, suffix);
}

bool tg_str_cut(tg_str s, char c, tg_str *head, tg_str *tail)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;
    if (!at) {
        *head = s;
        *tail = (tg_str){"", 0};
        return false;
    }
    size_t k = (size_t)(at - s.p);
    *head = (tg_str){s.p, k};
    *tail = (tg_str){at + 1, s.n - k - 1};
    return true;
}

bool tg_str_rcut(tg_str s, char c, tg_str *head, tg_str *tail)
{
    const char *at = s.n ? memrchr(s.p, c, s.n) : NULL;
    if (!at) {
        *head = (tg_str){"", 0};
        *tail = s;
        return false;
    }
    size_t k = (size_t)(at - s.p);
    *head = (tg_str){s.p, k};
    *tail = (tg_str){at + 1, s.n - k - 1};
    return true;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

tg_str tg_str_trim(tg_str s)
{
    while (s.n && blank(s.p[0]))
        s.p++, s.n--;
    while (s.n && blank(s.p[s.n - 1]))
        s.n--;
    return s;
}
