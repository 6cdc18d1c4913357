/* Parts of a file beside its pixels, known by position: read when wanted. Private to src/codec. */
#ifndef TEGULA_PARTS_H
#define TEGULA_PARTS_H

#include "tegula/buf.h"
#include "tegula/codec.h"

typedef struct tg_part {
    uint64_t at; /* 0 = the file has none */
    uint32_t n;
} tg_part;

/* Appends the part as it stands; nothing when it is absent, longer than limit_bytes or cut short.
 */
void tg_part_append(tg_part part, int fd, size_t limit_bytes, tg_buf *out);

/* Takes orientation, and resolution where the image has none yet, from an Exif block, of which the
 * front is read: the first directory lies there, behind it thumbnails. */
void tg_part_take_exif(tg_part exif, tg_image *img);

/* Appends a text of an Exif block, as codec->text does. */
void tg_part_append_text(tg_part exif, int fd, tg_text which, size_t limit_bytes, tg_buf *out);

#endif
