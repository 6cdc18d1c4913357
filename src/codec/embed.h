/* What goes into pictures beside their pixels, as the formats want it. Private to src/codec. */
#ifndef TEGULA_EMBED_H
#define TEGULA_EMBED_H

#include "tegula/buf.h"
#include "tegula/encoder.h"

/* text with a closing NUL, in copy. */
const char *tg_embed_z(tg_buf *copy, tg_str text);

/* Density and copyright as an Exif block; nothing when spec has neither. */
void tg_embed_exif(tg_buf *out, const tg_encode_spec *spec);

/* The application segments of spec: Exif, XMP, profile. jfif: a JFIF marker tells the density. */
void tg_jpeg_segments(tg_buf *out, const tg_encode_spec *spec, bool jfif);

/* Puts them into the complete JPEG at out[start], behind its JFIF or Adobe marker. */
void tg_jpeg_embed(tg_buf *out, size_t start, const tg_encode_spec *spec);

/* Puts profile, Exif and XMP into the complete WebP at out[start], which becomes an extended one.
 * False when it is none. */
bool tg_webp_embed(tg_buf *out, size_t start, const tg_encode_spec *spec);

#endif
