#include "tegula/utf8.h"

static bool continues(uint8_t b)
{
    return (b & 0xC0) == 0x80;
}

/* The second byte carries every restriction of RFC 3629, section 4: overlong forms, surrogates and
 * the end of the range. */
static bool second_fits(uint8_t first, uint8_t second)
{
    uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high;
}

size_t tg_utf8_sequence(tg_str s)
{
    const uint8_t *p = (const uint8_t *)s.p;
    if (s.n == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return 0;
    size_t n = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (s.n < n || !second_fits(p[0], p[1]))
        return 0;
    for (size_t i = 2; i < n; i++)
        if (!continues(p[i]))
            return 0;
    return n;
}

uint32_t tg_utf8_next(tg_str *s)
{
    static const uint8_t first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    size_t n = tg_utf8_sequence(*s);
    uint32_t code = n ? (uint8_t)s->p[0] & first_bits[n] : 0xFFFD;
    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((uint8_t)s->p[i] & 0x3F);
    n = n ? n : 1;
    *s = (tg_str){s->p + n, s->n - n};
    return code;
}

bool tg_utf8_valid(tg_str s)
{
    while (s.n) {
        size_t n = tg_utf8_sequence(s);
        if (!n)
            return false;
        s.p += n;
        s.n -= n;
    }
    return true;
}
