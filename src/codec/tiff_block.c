/* ICC profile, XMP packet and copyright of a TIFF file, from the largest level that has one. */
#include <string.h>

#include "text.h"
#include "tiff.h"

static bool find_bytes(TIFF *tif, uint32_t tag, tg_str *found)
{
    uint32_t n = 0;
    void *data = NULL;

    if (!TIFFGetField(tif, tag, &n, &data) || n == 0 || !data)
        return false;
    *found = (tg_str){data, n};
    return true;
}

static bool find_text(TIFF *tif, uint32_t tag, tg_str *found)
{
    const char *text = NULL;

    if (!TIFFGetField(tif, tag, &text) || !text || !*text)
        return false;
    *found = (tg_str){text, strlen(text)};
    return true;
}

static bool find(TIFF *tif, tg_block which, tg_str *found)
{
    switch (which) {
    case TG_BLOCK_ICC:
        return find_bytes(tif, TIFFTAG_ICCPROFILE, found);
    case TG_BLOCK_XMP:
        return find_bytes(tif, TIFFTAG_XMLPACKET, found);
    case TG_BLOCK_COPYRIGHT:
        return find_text(tif, TIFFTAG_COPYRIGHT, found);
    }
    return false;
}

void tg_tiff_block(tg_image *img, tg_block which, size_t limit_bytes, tg_buf *out)
{
    for (unsigned i = 0; i < img->n_levels; i++) {
        tg_err ignored = {0};
        tg_tiff_file *f = tg_tiff_level_file((tg_tiff *)img, i, 0, &ignored);
        tg_str found;

        if (!f || !find(f->tif, which, &found))
            continue;
        if (found.n > limit_bytes)
            return;
        if (which == TG_BLOCK_COPYRIGHT)
            tg_text_as_utf8(out, found);
        else
            tg_buf_append(out, found.p, found.n);
        return;
    }
}
