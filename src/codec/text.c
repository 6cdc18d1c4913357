#include "text.h"

#include "tegula/utf8.h"

static void append_latin1(tg_buf *out, tg_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        uint8_t c = (uint8_t)text.p[i];
        uint8_t two[2] = {(uint8_t)(0xc0 | c >> 6), (uint8_t)(0x80 | (c & 0x3f))};

        if (c < 0x80)
            tg_buf_append(out, &c, 1);
        else
            tg_buf_append(out, two, 2);
    }
}

void tg_text_append(tg_buf *out, tg_str text, size_t limit_bytes)
{
    size_t start = out->len;

    text.n = text.n ? strnlen(text.p, text.n) : 0;
    text = tg_str_trim(text);
    if (!text.n || text.n > limit_bytes)
        return;
    if (tg_utf8_valid(text))
        tg_buf_str(out, text);
    else
        append_latin1(out, text);
    if (out->len - start > limit_bytes)
        out->len = start;
}

uint32_t tg_text_tag(tg_text which)
{
    static const uint32_t tags[TG_TEXTS] = {
        [TG_TEXT_RIGHTS] = 33432, [TG_TEXT_TITLE] = 269, [TG_TEXT_DESCRIPTION] = 270,
        [TG_TEXT_CREATOR] = 315,  [TG_TEXT_DATE] = 306,  [TG_TEXT_SOFTWARE] = 305,
        [TG_TEXT_MAKE] = 271,     [TG_TEXT_MODEL] = 272,
    };

    return tags[which];
}
