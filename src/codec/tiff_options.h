/* How every libtiff handle of ours is opened. Private to src/codec. */
#ifndef TEGULA_TIFF_OPTIONS_H
#define TEGULA_TIFF_OPTIONS_H

#include <tiffio.h>

#define TG_TIFF_TEXT_BYTES 256

/* Options under which libtiff's last complaint goes to text, warnings nowhere, and no single
 * allocation passes the memory ceiling. text outlives the handle. Free with TIFFOpenOptionsFree;
 * NULL when there is no memory. */
TIFFOpenOptions *tg_tiff_options(char text[TG_TIFF_TEXT_BYTES]);

#endif
