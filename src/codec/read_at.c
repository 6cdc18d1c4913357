#include "read_at.h"

#include <errno.h>
#include <unistd.h>

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
