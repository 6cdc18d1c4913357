#include "text.h"

#include "tegula/utf8.h"

void tg_text_as_utf8(tg_buf *out, tg_str text)
{
    text.n = strnlen(text.p, text.n);
    if (tg_utf8_valid(text)) {
        tg_buf_str(out, text);
        return;
    }
    for (size_t i = 0; i < text.n; i++) {
        uint8_t c = (uint8_t)text.p[i];
        uint8_t two[2] = {(uint8_t)(0xc0 | c >> 6), (uint8_t)(0x80 | (c & 0x3f))};

        if (c < 0x80)
            tg_buf_append(out, &c, 1);
        else
            tg_buf_append(out, two, 2);
    }
}
