#include "embed.h"

#include "exif.h"

const char *tg_embed_z(tg_buf *copy, tg_str text)
{
    tg_buf_str(copy, text);
    tg_buf_append(copy, "", 1);
    return copy->failed ? "" : (const char *)copy->data;
}

void tg_embed_exif(tg_buf *out, const tg_encode_spec *spec)
{
    tg_exif exif = {.dpi_x = spec->dpi_x,
                    .dpi_y = spec->dpi_y,
                    .text = {[TG_TEXT_RIGHTS] = spec->embed.copyright}};

    if (exif.text[TG_TEXT_RIGHTS].n || (exif.dpi_x > 0 && exif.dpi_y > 0))
        tg_exif_write(out, &exif);
}
