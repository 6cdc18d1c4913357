#include "parts.h"

#include "exif.h"
#include "read_at.h"
#include "tegula/num.h"
#include "text.h"

#define EXIF_HEAD_BYTES 16384
#define EXIF_MAX_BYTES  ((size_t)1 << 24)

void tg_part_append(tg_part part, int fd, size_t limit_bytes, tg_buf *out)
{
    if (part.at && part.n <= limit_bytes)
        tg_append_at(out, fd, part.n, part.at);
}

/* Fewer than asked for when the file ends. */
static void load(tg_part part, int fd, size_t limit_bytes, tg_buf *block)
{
    size_t n = part.at ? TG_MIN((size_t)part.n, limit_bytes) : 0;
    uint8_t *to = n ? tg_buf_reserve(block, n) : NULL;

    if (to)
        block->len += tg_read_up_to(fd, to, n, part.at);
}

void tg_part_take_exif(tg_part part, tg_image *img)
{
    tg_buf block = {0};
    tg_exif exif;

    load(part, img->fd, EXIF_HEAD_BYTES, &block);
    exif = tg_exif_read(block.data, block.len);
    tg_buf_free(&block);
    img->orientation = exif.orientation;
    if (img->dpi_x > 0 && img->dpi_y > 0)
        return;
    img->dpi_x = exif.dpi_x;
    img->dpi_y = exif.dpi_y;
}

void tg_part_append_text(tg_part part, int fd, tg_text which, size_t limit_bytes, tg_buf *out)
{
    tg_buf block = {0};

    load(part, fd, EXIF_MAX_BYTES, &block);
    tg_text_append(out, tg_exif_read(block.data, block.len).text[which], limit_bytes);
    tg_buf_free(&block);
}
