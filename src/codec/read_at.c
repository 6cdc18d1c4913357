#include "read_at.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tegula/num.h"

#define FRONT_BYTES 4096 /* headers alone need no more */

static ssize_t read_once(int fd, void *dst, size_t n, uint64_t offset_bytes)
{
    ssize_t got;

    do
        got = pread(fd, dst, n, (off_t)offset_bytes);
    while (got < 0 && errno == EINTR);
    return got;
}

bool tg_read_at(int fd, void *dst, size_t n, uint64_t offset_bytes, tg_err *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = read_once(fd, (char *)dst + done, n - done, offset_bytes + done);

        if (got < 0)
            return tg_fail(err, TG_ERR_IO, "the image file cannot be read");
        if (got == 0)
            return tg_fail(err, TG_ERR_CORRUPT, "the image file is cut short");
        done += (size_t)got;
    }
    return true;
}

size_t tg_read_up_to(int fd, void *dst, size_t n, uint64_t offset_bytes)
{
    size_t done = 0;

    for (ssize_t got; done < n; done += (size_t)got) {
        got = read_once(fd, (char *)dst + done, n - done, offset_bytes + done);
        if (got <= 0)
            break;
    }
    return done;
}

bool tg_append_at(tg_buf *out, int fd, size_t n, uint64_t offset_bytes)
{
    uint8_t *to = n ? tg_buf_reserve(out, n) : NULL;

    if (!to || tg_read_up_to(fd, to, n, offset_bytes) != n)
        return n == 0;
    out->len += n;
    return true;
}

void tg_reader_begin(tg_reader *r, int fd, uint64_t end_bytes)
{
    r->fd = fd;
    r->at_bytes = 0;
    r->end_bytes = end_bytes;
    r->buffer_at = r->buffer_n = 0;
    r->next_n = FRONT_BYTES;
}

static bool refill(tg_reader *r)
{
    size_t want = (size_t)TG_MIN(r->next_n, r->end_bytes - r->at_bytes);

    r->next_n = TG_MIN(2 * r->next_n, sizeof r->buffer);
    r->buffer_at = 0;
    r->buffer_n = tg_read_up_to(r->fd, r->buffer, want, r->at_bytes);
    r->at_bytes += r->buffer_n;
    return r->buffer_n > 0;
}

size_t tg_reader_take(tg_reader *r, void *dst, size_t n)
{
    size_t done = 0;

    while (done < n && (r->buffer_at < r->buffer_n || refill(r))) {
        size_t take = TG_MIN(n - done, r->buffer_n - r->buffer_at);

        memcpy((char *)dst + done, r->buffer + r->buffer_at, take);
        r->buffer_at += take;
        done += take;
    }
    return done;
}
