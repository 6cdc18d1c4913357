/* Text out of files whose encoding is a matter of belief. Private to src/codec. */
#ifndef TEGULA_TEXT_H
#define TEGULA_TEXT_H

#include "tegula/buf.h"
#include "tegula/str.h"

/* Appends text as UTF-8: as it stands when it is that, otherwise taken as Latin-1, which is what
 * fields declared as ASCII hold in practice ("\xa9 1998"). Up to the first NUL. */
void tg_text_as_utf8(tg_buf *out, tg_str text);

#endif
