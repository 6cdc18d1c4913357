/* libjpeg writing to the end of a buffer. Private to src/codec. */
#ifndef TEGULA_JPEG_DEST_H
#define TEGULA_JPEG_DEST_H

#include "jpeg_common.h"
#include "tegula/buf.h"

typedef struct tg_jpeg_dest {
    struct jpeg_destination_mgr mgr; /* first: libjpeg hands its address back */
    tg_buf *out;
} tg_jpeg_dest;

/* cinfo.err must be a tg_jpeg_errors: a buffer that is full ends there as TG_ERR_TOO_LARGE. After a
 * failure out->len may be anything up to its capacity. */
void tg_jpeg_dest_init(tg_jpeg_dest *dest, j_compress_ptr cinfo, tg_buf *out);

#endif
