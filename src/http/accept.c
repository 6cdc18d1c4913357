#include "tegula/http.h"

/* Cuts s at the first c outside quotes ("profile" values hold slashes, commas and semicolons). */
static void cut_unquoted(tg_str s, char c, tg_str *head, tg_str *tail)
{
    bool quoted = false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' && quoted)
            i++;
        else if (s.p[i] == '"')
            quoted = !quoted;
        else if (s.p[i] == c && !quoted) {
            *head = (tg_str){s.p, i};
            *tail = (tg_str){s.p + i + 1, s.n - i - 1};
            return;
        }
    }
    *head = s;
    *tail = TG_STR("");
}

/* RFC 9110, 12.4.2: 0 or 1 with at most three decimals, here in thousandths; -1 when malformed. */
static int qvalue(tg_str s)
{
    if (s.n < 1 || s.n > 5 || (s.p[0] != '0' && s.p[0] != '1') || (s.n > 1 && s.p[1] != '.'))
        return -1;
    int v = (s.p[0] - '0') * 1000;
    int unit = 100;
    for (size_t i = 2; i < s.n; i++, unit /= 10) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return -1;
        v += (s.p[i] - '0') * unit;
    }
    return v <= 1000 ? v : -1;
}

static int weight(tg_str parameters)
{
    while (parameters.n) {
        tg_str parameter, name, value;
        cut_unquoted(parameters, ';', &parameter, &parameters);
        tg_str_cut(parameter, '=', &name, &value);
        if (tg_str_eq_nocase(tg_str_trim(name), TG_STR("q")))
            return qvalue(tg_str_trim(value));
    }
    return 1000;
}

/* 3 for the type itself, 2 for "type" with a wildcard, 1 for all types, 0 for another. */
static int match(tg_str range, tg_str type, tg_str subtype)
{
    tg_str t, s;
    tg_str_cut(tg_str_trim(range), '/', &t, &s);
    if (tg_str_is(t, "*"))
        return tg_str_is(s, "*") ? 1 : 0;
    if (!tg_str_eq_nocase(t, type))
        return 0;
    return tg_str_is(s, "*") ? 2 : tg_str_eq_nocase(s, subtype) ? 3 : 0;
}

int tg_accept_quality(tg_str accept, tg_str type, tg_str subtype, bool *specific)
{
    int best = 0, quality = 0;
    *specific = false;
    if (tg_str_trim(accept).n == 0)
        return 1000;
    while (accept.n) {
        tg_str element, range, parameters;
        cut_unquoted(accept, ',', &element, &accept);
        cut_unquoted(element, ';', &range, &parameters);
        int rank = match(range, type, subtype);
        int q = weight(parameters);
        if (rank == 0 || q < 0 || rank < best || (rank == best && q < quality))
            continue;
        best = rank;
        quality = q;
    }
    *specific = best == 3;
    return quality;
}
