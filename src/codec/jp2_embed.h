/* Boxes that OpenJPEG does not write. Private to src/codec. */
#ifndef TEGULA_JP2_EMBED_H
#define TEGULA_JP2_EMBED_H

#include "tegula/buf.h"
#include "tegula/encoder.h"

/* Puts profile and resolution into the header of the complete JP2 at out[start], Exif and XMP
 * behind its codestream. */
void tg_jp2_embed(tg_buf *out, size_t start, const tg_encode_spec *spec);

#endif
