/* Writing XML and HTML: what stands for something in them. */
#ifndef TEGULA_XML_H
#define TEGULA_XML_H

#include "tegula/buf.h"
#include "tegula/str.h"

/* Appends s as the content of an element or of an attribute in double quotes. Characters that the
 * document cannot hold are for the caller to keep out. */
void tg_xml_text(tg_buf *out, tg_str s);

#endif
