#include "text.h"

#include "tegula/utf8.h"

/* What Windows-1252 has where Latin-1 has control characters, from 0x80 on (WHATWG Encoding, index
 * windows-1252). */
static const uint16_t windows[32] = {
    0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008d, 0x017d, 0x008f, 0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178};

static void append_windows(tg_buf *out, tg_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        uint8_t byte = (uint8_t)text.p[i];
        uint16_t c = byte >= 0x80 && byte < 0xa0 ? windows[byte - 0x80] : byte;
        uint8_t two[] = {(uint8_t)(0xc0 | c >> 6), (uint8_t)(0x80 | (c & 0x3f))};
        uint8_t three[] = {(uint8_t)(0xe0 | c >> 12), (uint8_t)(0x80 | (c >> 6 & 0x3f)), two[1]};

        if (c < 0x80)
            tg_buf_append(out, &byte, 1);
        else if (c < 0x800)
            tg_buf_append(out, two, sizeof two);
        else
            tg_buf_append(out, three, sizeof three);
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
        append_windows(out, text);
    if (out->len - start > limit_bytes)
        out->len = start;
}

uint32_t tg_text_tag(tg_text which)
{
    static const uint32_t tags[TG_TEXTS] = {
        [TG_TEXT_RIGHTS] = 33432, [TG_TEXT_TITLE] = 269, [TG_TEXT_DESCRIPTION] = 270,
        [TG_TEXT_CREATOR] = 315,  [TG_TEXT_DATE] = 306,  [TG_TEXT_SOFTWARE] = 305,
        [TG_TEXT_MAKE] = 271,     [TG_TEXT_MODEL] = 272, [TG_TEXT_PAGE] = 285,
    };

    return tags[which];
}
