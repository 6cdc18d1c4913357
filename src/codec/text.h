/* Text out of files whose encoding is a matter of belief. Private to src/codec. */
#ifndef TEGULA_TEXT_H
#define TEGULA_TEXT_H

#include "tegula/buf.h"
#include "tegula/codec.h"

/* Appends text as UTF-8: as it stands when it is that, otherwise taken as Windows-1252, which is
 * what fields declared as ASCII hold in practice ("\xa9 1998", "\x93quoted\x94"), and Latin-1 as
 * well, but for control characters that no text has. Up to the first NUL, without the blanks around
 * it. Nothing when that is longer than limit_bytes. */
void tg_text_append(tg_buf *out, tg_str text, size_t limit_bytes);

/* The tag that holds it in a directory of TIFF or Exif (TIFF 6.0, section 8; CIPA DC-008, 4.6.4); 0
 * = none does. */
uint32_t tg_text_tag(tg_text which);

#endif
