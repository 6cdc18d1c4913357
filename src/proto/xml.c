#include "tegula/xml.h"

void tg_xml_text(tg_buf *out, tg_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '&' || c == '<' || c == '>' || c == '"')
            tg_buf_z(out, c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&quot;");
        else
            tg_buf_append(out, &c, 1);
    }
}
