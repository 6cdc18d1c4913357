#include "xmp.h"

#include <string.h>

#include "tegula/utf8.h"

/* Namespaces may have any prefix, and no other schema in use has a property of this name. */
#define NAME ":Orientation"

typedef struct cursor {
    char *at, *end;
} cursor;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || (unsigned char)c >= 0x80;
}

/* The next character that is no blank, which is taken; 0 at the end. */
static char next(cursor *c)
{
    while (c->at < c->end && is_blank(*c->at))
        c->at++;
    return c->at < c->end ? *c->at++ : 0;
}

/* What follows the name: ="6" of an attribute, >6< of an element. */
static bool set_value(cursor c)
{
    char opens = next(&c), closes = '<', *value;

    if (opens == '=')
        closes = next(&c);
    else if (opens != '>')
        return false;
    if (next(&c) < '1' || c.at[-1] > '8')
        return false;
    value = c.at - 1;
    if (next(&c) != closes)
        return false;
    *value = '1';
    return true;
}

static bool closes_element(const char *packet, const char *name)
{
    while (name > packet && is_name(name[-1]))
        name--;
    return name > packet && name[-1] == '/';
}

bool tg_xmp_upright(char *packet, size_t n)
{
    const size_t name_bytes = strlen(NAME);
    cursor c = {packet, packet + n};

    if (!tg_utf8_valid((tg_str){packet, n}) || memchr(packet, 0, n))
        return false;
    while (c.at < c.end && (c.at = memchr(c.at, NAME[0], (size_t)(c.end - c.at)))) {
        cursor behind = {c.at + name_bytes, c.end};
        bool found = (size_t)(c.end - c.at) > name_bytes && memcmp(c.at, NAME, name_bytes) == 0 &&
                     !is_name(*behind.at);

        if (found && !closes_element(packet, c.at) && !set_value(behind))
            return false;
        c.at++;
    }
    return true;
}
