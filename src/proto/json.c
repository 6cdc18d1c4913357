#include "tegula/json.h"

#include "tegula/utf8.h"

static void escape_byte(tg_buf *out, char c)
{
    switch (c) {
    case '"':
        tg_buf_z(out, "\\\"");
        break;
    case '\\':
        tg_buf_z(out, "\\\\");
        break;
    case '\n':
        tg_buf_z(out, "\\n");
        break;
    case '\r':
        tg_buf_z(out, "\\r");
        break;
    case '\t':
        tg_buf_z(out, "\\t");
        break;
    default:
        tg_buf_printf(out, "\\u%04x", (unsigned)(unsigned char)c);
    }
}

void tg_json_string(tg_buf *out, tg_str s)
{
    tg_buf_z(out, "\"");
    while (s.n) {
        size_t n = tg_utf8_sequence(s);
        if (n == 0)
            tg_buf_z(out, "\xEF\xBF\xBD");
        else if (n == 1 && ((unsigned char)s.p[0] < 0x20 || strchr("\"\\\x7f", s.p[0])))
            escape_byte(out, s.p[0]);
        else
            tg_buf_append(out, s.p, n);
        n += n == 0;
        s.p += n;
        s.n -= n;
    }
    tg_buf_z(out, "\"");
}
