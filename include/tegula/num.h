/* Checked arithmetic and number parsing; nowhere else. */
#ifndef TEGULA_NUM_H
#define TEGULA_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/str.h"

#define TG_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TG_MAX(a, b) ((a) > (b) ? (a) : (b))

static inline bool tg_mul_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static inline bool tg_add_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

/* ceil(a / b), b > 0. */
static inline uint32_t tg_ceil_div_u32(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* One or more digits and nothing else. A value above UINT64_MAX saturates to UINT64_MAX, so that
 * "0,0,99999999999999999999,…" crops instead of wrapping. */
bool tg_parse_u64(tg_str s, uint64_t *out);

/* Optional '-', digits; nothing else; false when outside int64. */
bool tg_parse_i64(tg_str s, int64_t *out);

/* A IIIF decimal: digits with at most one '.', at least one digit, a digit after the point ("90."
 * is refused, ".5" accepted); no sign, exponent, hex, blank, NaN (IIIF Image API 3.0, section 4.7).
 * Independent of the locale. */
bool tg_parse_decimal(tg_str s, double *out);

/* A configuration number: optional '-', then as tg_parse_decimal. */
bool tg_parse_signed_decimal(tg_str s, double *out);

/* A number as scripts print them: optional sign, digits with at most one '.', optionally an
 * exponent
 * ("1e-7", "2.E+3"); at least one digit. False for anything else, "nan" and "inf" among it, and for
 * what a double cannot hold. Independent of the locale. */
bool tg_parse_real(tg_str s, double *out);

/* Shortest decimal text of v that reads back as v: no exponent, no trailing zeros, "0.5", "22.5",
 * "90" (IIIF Image API 3.0, section 4.7). buf holds at least 32 bytes. Returns its length. */
size_t tg_format_decimal(double v, char buf[32]);

#endif
