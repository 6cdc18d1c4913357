#include "iip_args.h"

#include <float.h>
#include <math.h>

#include "tegula/num.h"

bool tg_iip_real(tg_str s, double *out)
{
    return tg_parse_real(s, out) && fabs(*out) <= (double)FLT_MAX;
}

bool tg_iip_whole(tg_str s, int64_t *out)
{
    double v;
    if (!tg_parse_real(s, &v) || v <= -2147483649.0 || v >= 2147483648.0)
        return false;
    *out = (int64_t)v;
    return true;
}

bool tg_iip_reals(tg_str s, char separator, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        tg_str one;
        bool more = tg_str_cut(s, separator, &one, &s);
        if (more != (i + 1 < n) || !tg_iip_real(one, &out[i]))
            return false;
    }
    return true;
}

bool tg_iip_wholes(tg_str s, char separator, size_t n, int64_t *out)
{
    for (size_t i = 0; i < n; i++) {
        tg_str one;
        bool more = tg_str_cut(s, separator, &one, &s);
        if (more != (i + 1 < n) || !tg_iip_whole(one, &out[i]))
            return false;
    }
    return true;
}

bool tg_iip_word(tg_str s, const char *const names[], unsigned n, unsigned *out)
{
    for (unsigned i = 0; i < n; i++)
        if (tg_str_eq_nocase(s, tg_str_of(names[i]))) {
            *out = i;
            return true;
        }
    return false;
}
