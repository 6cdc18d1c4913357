#include "tegula/num.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

bool tg_parse_u64(tg_str s, uint64_t *out)
{
    uint64_t v = 0;
    bool over = false;
    for (size_t i = 0; i < s.n; i++) {
        if (!digit(s.p[i]))
            return false;
        over |= __builtin_mul_overflow(v, (uint64_t)10, &v);
        over |= __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v);
    }
    *out = over ? UINT64_MAX : v;
    return s.n > 0;
}

bool tg_parse_i64(tg_str s, int64_t *out)
{
    bool negative = s.n && s.p[0] == '-';
    uint64_t v;
    if (!tg_parse_u64(negative ? (tg_str){s.p + 1, s.n - 1} : s, &v) || v > INT64_MAX)
        return false;
    *out = negative ? -(int64_t)v : (int64_t)v;
    return true;
}

/* Digits are gathered as one integer and divided once by a power of ten, so that the common short
 * decimals are correctly rounded; digits past the 18th cannot change a coordinate and are dropped.
 */
bool tg_parse_decimal(tg_str s, double *out)
{
    double v = 0, scale = 1;
    unsigned kept = 0;
    bool point = false, last_digit = false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '.' && !point) {
            point = true;
            last_digit = false;
            continue;
        }
        if (!digit(s.p[i]))
            return false;
        last_digit = true;
        if (point && kept >= 18)
            continue;
        v = v * 10 + (s.p[i] - '0');
        kept += v > 0;
        if (point)
            scale *= 10;
    }
    *out = v / scale;
    return last_digit;
}

bool tg_parse_signed_decimal(tg_str s, double *out)
{
    bool negative = s.n && s.p[0] == '-';
    if (!tg_parse_decimal(negative ? (tg_str){s.p + 1, s.n - 1} : s, out))
        return false;
    if (negative)
        *out = -*out;
    return true;
}

static bool is_sign(tg_str s)
{
    return s.n && (s.p[0] == '-' || s.p[0] == '+');
}

/* Sign and digits, far less than what a double can hold. */
static bool parse_exponent(tg_str s, int *out)
{
    bool negative = s.n && s.p[0] == '-';
    uint64_t v;
    if (is_sign(s))
        s = (tg_str){s.p + 1, s.n - 1};
    if (!tg_parse_u64(s, &v))
        return false;
    int size = v > 1000 ? 1000 : (int)v;
    *out = negative ? -size : size;
    return true;
}

bool tg_parse_real(tg_str s, double *out)
{
    tg_str mantissa, power;
    int exponent = 0;
    bool negative = s.n && s.p[0] == '-';
    if (is_sign(s))
        s = (tg_str){s.p + 1, s.n - 1};
    bool scaled = tg_str_cut(s, 'e', &mantissa, &power) || tg_str_cut(s, 'E', &mantissa, &power);
    if (scaled && !parse_exponent(power, &exponent))
        return false;
    if (mantissa.n > 1 && memchr(mantissa.p, '.', mantissa.n) == mantissa.p + mantissa.n - 1)
        mantissa.n--;
    if (!tg_parse_decimal(mantissa, out))
        return false;
    *out *= pow(10, exponent) * (negative ? -1 : 1);
    return isfinite(*out);
}

size_t tg_format_decimal(double v, char buf[32])
{
    for (int digits = 0; digits <= 17; digits++) {
        int n = snprintf(buf, 32, "%.*f", digits, v);
        double back;
        if (n > 0 && n < 32 && tg_parse_signed_decimal((tg_str){buf, (size_t)n}, &back) &&
            back == v)
            return (size_t)n;
    }
    return (size_t)snprintf(buf, 32, "%.10f", v);
}
