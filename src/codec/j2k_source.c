#include "j2k_source.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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

static size_t read_file(int fd, uint64_t at, uint8_t *to, size_t n, tg_err *err)
{
    size_t done = 0;

    while (done < n) {
        ssize_t got = pread(fd, to + done, n - done, (off_t)(at + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            tg_fail(err, TG_ERR_IO, "the image file cannot be read");
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

size_t tg_j2k_read_some(const tg_j2k_source *s, uint64_t at, void *to, size_t n, tg_err *err)
{
    if (at >= s->n_bytes)
        return 0;
    n = (size_t)TG_MIN((uint64_t)n, s->n_bytes - at);
    if (!s->memory)
        return read_file(s->fd, s->first_byte + at, to, n, err);
    memcpy(to, s->memory + at, n);
    return n;
}

bool tg_j2k_read(const tg_j2k_source *s, uint64_t at, void *to, size_t n, tg_err *err)
{
    return tg_j2k_read_some(s, at, to, n, err) == n ||
           tg_fail(err, TG_ERR_CORRUPT, "the image file is truncated");
}

const uint8_t *tg_j2k_peek(tg_j2k_cursor *c, size_t n, tg_err *err)
{
    bool held = c->at >= c->window_at && c->at - c->window_at <= c->window_bytes &&
                c->window_bytes - (c->at - c->window_at) >= n;

    if (!held) {
        c->window_at = c->at;
        c->window_bytes = tg_j2k_read_some(c->source, c->at, c->window, sizeof c->window, err);
    }
    if (c->window_bytes - (c->at - c->window_at) < n) {
        tg_fail(err, TG_ERR_CORRUPT, "the image file is truncated");
        return NULL;
    }
    return c->window + (c->at - c->window_at);
}
