#include "report/markup.h"

void add_escaped(struct buf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        switch (c) {
        case '&':
            buf_adds(out, "&amp;");
            break;
        case '<':
            buf_adds(out, "&lt;");
            break;
        case '>':
            buf_adds(out, "&gt;");
            break;
        case '"':
            buf_adds(out, "&quot;");
            break;
        case '\'':
            buf_adds(out, "&#39;");
            break;
        default:
            buf_addc(out, c < 0x20 && c != '\n' && c != '\t' ? '?' : (char)c);
        }
    }
}
