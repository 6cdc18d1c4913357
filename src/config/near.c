#include "table.h"
#include "tegula/num.h"

#define MAX_NAME 40 /* the longest known name has 29 bytes; two more can be a slip */

/* Letters to add, drop or change to make b of a, neighbours swapped counting as one (optimal string
 * alignment). */
static unsigned distance(tg_str a, tg_str b)
{
    unsigned row[3][MAX_NAME + 1]; /* of the first i - 2, i - 1 and i letters of a */
    unsigned *before = row[0], *last = row[1], *now = row[2];
    for (unsigned j = 0; j <= b.n; j++)
        last[j] = j;
    for (unsigned i = 1; i <= a.n; i++) {
        now[0] = i;
        for (unsigned j = 1; j <= b.n; j++) {
            unsigned changed = last[j - 1] + (a.p[i - 1] != b.p[j - 1]);
            unsigned moved = TG_MIN(last[j], now[j - 1]) + 1;
            now[j] = TG_MIN(changed, moved);
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
                now[j] = TG_MIN(now[j], before[j - 2] + 1);
        }
        unsigned *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[b.n];
}

/* In a name of four letters two wrong ones make another word. */
static unsigned slips_allowed(tg_str known)
{
    return known.n < 8 ? 1 : 2;
}

const char *tg_variable_nearest(tg_str name, tg_str prefix)
{
    const char *best = NULL;
    unsigned best_slips = 0;
    name.n = TG_MIN(name.n, MAX_NAME);
    for (unsigned i = 0; i < tg_n_variables; i++) {
        tg_str known = tg_str_of(tg_variables[i].doc.name);
        unsigned slips = tg_str_starts(known, prefix) ? distance(name, known) : 0;
        if (!slips || (best && slips >= best_slips))
            continue;
        best = tg_variables[i].doc.name;
        best_slips = slips;
    }
    return best;
}

const char *tg_variable_meant(tg_str name)
{
    if (name.n > MAX_NAME)
        return NULL;
    const char *best = NULL;
    unsigned best_slips = 3;
    for (unsigned i = 0; i < tg_n_variables; i++) {
        tg_str known = tg_str_of(tg_variables[i].doc.name);
        if (tg_str_eq_nocase(name, known))
            return tg_variables[i].doc.name;
        unsigned slips = distance(name, known);
        if (slips > slips_allowed(known) || slips >= best_slips)
            continue;
        best = tg_variables[i].doc.name;
        best_slips = slips;
    }
    return best;
}
