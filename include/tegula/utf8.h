/* UTF-8 (RFC 3629). */
#ifndef TEGULA_UTF8_H
#define TEGULA_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/str.h"

/* Length of the well-formed sequence that s begins with, 1..4; 0 when there is none: empty, cut
 * off, overlong, a surrogate, or above U+10FFFF. */
size_t tg_utf8_sequence(tg_str s);
bool tg_utf8_valid(tg_str s);

/* Takes the first character off s, which is not empty; U+FFFD for a byte that begins none. */
uint32_t tg_utf8_next(tg_str *s);

#endif
