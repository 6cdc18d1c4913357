/* ICC profile, XMP packet and texts of a TIFF file, from the largest level that has one. */
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

/* False when none of the first n levels has it; a level that cannot be read has nothing. */
static bool find(tg_image *img, unsigned n, uint32_t tag, bool text, tg_str *found)
{
    for (unsigned i = 0; i < n; i++) {
        tg_err ignored = {0};
        tg_tiff_file *f = tg_tiff_level_file((tg_tiff *)img, i, 0, &ignored);

        if (f && (text ? find_text(f->tif, tag, found) : find_bytes(f->tif, tag, found)))
            return true;
    }
    return false;
}

void tg_tiff_block(tg_image *img, tg_block which, size_t limit_bytes, tg_buf *out)
{
    static const uint32_t tags[] = {
        [TG_BLOCK_ICC] = TIFFTAG_ICCPROFILE, [TG_BLOCK_XMP] = TIFFTAG_XMLPACKET};
    tg_str found;

    if (find(img, img->n_levels, tags[which], false, &found) && found.n <= limit_bytes)
        tg_buf_append(out, found.p, found.n);
}

void tg_tiff_text(tg_image *img, tg_text which, size_t limit_bytes, tg_buf *out)
{
    uint32_t tag = tg_text_tag(which);
    unsigned n = which == TG_TEXT_PAGE ? 1 : img->n_levels; /* a level is no page */
    tg_str found;

    if (tag && find(img, n, tag, true, &found))
        tg_text_append(out, found, limit_bytes);
}
