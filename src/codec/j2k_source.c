#include "j2k_source.h"

#include <string.h>

#include "tegula/num.h"

tg_j2k_source tg_j2k_part(const tg_j2k_source *s, uint64_t at, uint64_t n)
{
    tg_j2k_source part = *s;

    at = TG_MIN(at, s->n_bytes);
    part.n_bytes = TG_MIN(n, s->n_bytes - at);
    part.first_byte += at;
    if (s->memory)
        part.memory += at;
    return part;
}

size_t tg_j2k_read_some(const tg_j2k_source *s, uint64_t at, void *to, size_t n)
{
    if (at >= s->n_bytes)
        return 0;
    n = (size_t)TG_MIN((uint64_t)n, s->n_bytes - at);
    if (!s->memory)
        return tg_read_up_to(s->fd, to, n, s->first_byte + at);
    memcpy(to, s->memory + at, n);
    return n;
}

bool tg_j2k_read(const tg_j2k_source *s, uint64_t at, void *to, size_t n, tg_err *err)
{
    return tg_j2k_read_some(s, at, to, n) == n ||
           tg_fail(err, TG_ERR_CORRUPT, "the image file is cut short");
}

const uint8_t *tg_j2k_peek(tg_j2k_cursor *c, size_t n, tg_err *err)
{
    bool held = c->at >= c->window_at && c->at - c->window_at <= c->window_bytes &&
                c->window_bytes - (c->at - c->window_at) >= n;

    if (!held) {
        c->window_at = c->at;
        c->window_bytes = tg_j2k_read_some(c->source, c->at, c->window, sizeof c->window);
    }
    if (c->window_bytes - (c->at - c->window_at) < n) {
        tg_fail(err, TG_ERR_CORRUPT, "the image file is cut short");
        return NULL;
    }
    return c->window + (c->at - c->window_at);
}
