/* XMP packets (ISO 16684-1) as texts. Private to src/codec. */
#ifndef TEGULA_XMP_H
#define TEGULA_XMP_H

#include <stdbool.h>
#include <stddef.h>

/* Makes tiff:Orientation say 1 in the n bytes at packet, whose pixels have been turned upright; the
 * length stays, as a packet may be edited in place. False when it says something that cannot be
 * replaced so, or the packet is not UTF-8. */
bool tg_xmp_upright(char *packet, size_t n);

#endif
