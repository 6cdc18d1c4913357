/* Reading JSON as far as settings need it: is a text JSON, and which members does it have
 * (RFC 8259). Values stay text. */
#ifndef TEGULA_JSON_TEXT_H
#define TEGULA_JSON_TEXT_H

#include <stdbool.h>

#include "tegula/str.h"

/* Takes the next member off *members, the inside of an object (`"a": 1, "b": [2]`): *name as
 * written, without its quotes, *value as written, without blanks around it. False at the end, and
 * with *bad set where the text is no JSON or nested deeper than 32. */
bool tg_json_next_member(tg_str *members, tg_str *name, tg_str *value, bool *bad);

#endif
