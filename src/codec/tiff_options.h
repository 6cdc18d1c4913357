/* How every libtiff handle of ours is opened. Private to src/codec. */
#ifndef TEGULA_TIFF_OPTIONS_H
#define TEGULA_TIFF_OPTIONS_H

#include <stdbool.h>

#include <tiffio.h>

typedef struct tg_tiff_complaint {
    char text[256]; /* libtiff's last error, or the warning that left doubt */
    bool doubtful;  /* a decoder warned that it went on with invented pixels */
} tg_tiff_complaint;

/* Options under which complaints go there, other warnings nowhere, and no single allocation passes
 * the memory ceiling. said outlives the handle. Free with TIFFOpenOptionsFree; NULL when there is
 * no memory. */
TIFFOpenOptions *tg_tiff_options(tg_tiff_complaint *said);

#endif
