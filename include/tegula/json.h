/* Writing JSON: the one thing that printf cannot do. */
#ifndef TEGULA_JSON_H
#define TEGULA_JSON_H

#include "tegula/buf.h"
#include "tegula/str.h"

/* Appends s as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD, so that the
 * document stays readable whatever a file or variable holds. */
void tg_json_string(tg_buf *out, tg_str s);

#endif
