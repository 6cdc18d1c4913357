#include "tegula/json_text.h"

#include "tegula/utf8.h"

#define MAX_DEPTH 32

static bool skip_value(tg_str *s, unsigned depth);

static void skip_blanks(tg_str *s)
{
    while (s->n && strchr(" \t\r\n", s->p[0]) && s->p[0])
        *s = (tg_str){s->p + 1, s->n - 1};
}

static bool take(tg_str *s, char c)
{
    if (!s->n || s->p[0] != c)
        return false;
    *s = (tg_str){s->p + 1, s->n - 1};
    return true;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool skip_escape(tg_str *s)
{
    bool unicode = s->n && s->p[0] == 'u';
    if (!s->n || !s->p[0] || !strchr("\"\\/bfnrtu", s->p[0]))
        return false;
    *s = (tg_str){s->p + 1, s->n - 1};
    for (int i = 0; unicode && i < 4; i++) {
        if (!s->n || !is_hex(s->p[0]))
            return false;
        *s = (tg_str){s->p + 1, s->n - 1};
    }
    return true;
}

/* *content: what stands between the quotes. */
static bool skip_string(tg_str *s, tg_str *content)
{
    if (!take(s, '"'))
        return false;
    const char *start = s->p;
    while (s->n && s->p[0] != '"') {
        unsigned char c = (unsigned char)s->p[0];
        if (c < 0x20)
            return false;
        *s = (tg_str){s->p + 1, s->n - 1};
        if (c == '\\' && !skip_escape(s))
            return false;
    }
    *content = (tg_str){start, (size_t)(s->p - start)};
    return take(s, '"') && tg_utf8_valid(*content);
}

static bool skip_digits(tg_str *s)
{
    size_t before = s->n;
    while (s->n && s->p[0] >= '0' && s->p[0] <= '9')
        *s = (tg_str){s->p + 1, s->n - 1};
    return s->n < before;
}

static bool skip_number(tg_str *s)
{
    take(s, '-');
    if (!take(s, '0') && !skip_digits(s))
        return false;
    if (take(s, '.') && !skip_digits(s))
        return false;
    if (take(s, 'e') || take(s, 'E')) {
        if (!take(s, '+'))
            take(s, '-');
        return skip_digits(s);
    }
    return true;
}

static bool skip_word(tg_str *s, const char *word)
{
    tg_str w = tg_str_of(word);
    if (!tg_str_starts(*s, w))
        return false;
    *s = (tg_str){s->p + w.n, s->n - w.n};
    return true;
}

static bool skip_member(tg_str *s, tg_str *name, unsigned depth)
{
    skip_blanks(s);
    if (!skip_string(s, name))
        return false;
    skip_blanks(s);
    if (!take(s, ':'))
        return false;
    skip_blanks(s);
    return skip_value(s, depth);
}

/* Behind the opening bracket. */
static bool skip_list(tg_str *s, char close, unsigned depth)
{
    tg_str name;
    skip_blanks(s);
    if (take(s, close))
        return true;
    do {
        skip_blanks(s);
        if (!(close == '}' ? skip_member(s, &name, depth) : skip_value(s, depth)))
            return false;
        skip_blanks(s);
    } while (take(s, ','));
    return take(s, close);
}

static bool skip_value(tg_str *s, unsigned depth)
{
    tg_str content;
    if (depth > MAX_DEPTH)
        return false;
    if (take(s, '{'))
        return skip_list(s, '}', depth + 1);
    if (take(s, '['))
        return skip_list(s, ']', depth + 1);
    if (s->n && s->p[0] == '"')
        return skip_string(s, &content);
    return skip_word(s, "true") || skip_word(s, "false") || skip_word(s, "null") || skip_number(s);
}

bool tg_json_next_member(tg_str *members, tg_str *name, tg_str *value, bool *bad)
{
    *bad = false;
    skip_blanks(members);
    if (!members->n)
        return false;
    *bad = true;
    skip_blanks(members);
    if (!skip_string(members, name))
        return false;
    skip_blanks(members);
    if (!take(members, ':'))
        return false;
    skip_blanks(members);
    const char *start = members->p;
    if (!skip_value(members, 0))
        return false;
    *value = (tg_str){start, (size_t)(members->p - start)};
    skip_blanks(members);
    if (members->n) {
        if (!take(members, ','))
            return false;
        skip_blanks(members);
        if (!members->n)
            return false; /* a comma with nothing behind it */
    }
    *bad = false;
    return true;
}
