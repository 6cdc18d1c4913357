#include "out_stream.h"

#include <string.h>

#include "tegula/num.h"

/* Makes the file at least `size` bytes long. */
static bool extend(tg_out_stream *s, uint64_t size)
{
    uint64_t have = tg_out_stream_size(s);
    uint8_t *end;

    if (size <= have)
        return true;
    if (size - have > SIZE_MAX)
        return false;
    end = tg_buf_reserve(s->buf, (size_t)(size - have));
    if (!end)
        return false;
    memset(end, 0, (size_t)(size - have));
    s->buf->len += (size_t)(size - have);
    return true;
}

bool tg_out_stream_write(tg_out_stream *s, const void *data, size_t n)
{
    uint64_t size = tg_out_stream_size(s);

    if (s->at == size) { /* nearly always */
        tg_buf_append(s->buf, data, n);
        if (s->buf->failed)
            return false;
    } else {
        if (s->at > UINT64_MAX - n || !extend(s, s->at + n))
            return false;
        memcpy(s->buf->data + s->start + s->at, data, n);
    }
    s->at += n;
    return true;
}

size_t tg_out_stream_read(tg_out_stream *s, void *data, size_t n)
{
    uint64_t size = tg_out_stream_size(s);

    n = s->at < size ? (size_t)TG_MIN((uint64_t)n, size - s->at) : 0;
    if (n)
        memcpy(data, s->buf->data + s->start + s->at, n);
    s->at += n;
    return n;
}
