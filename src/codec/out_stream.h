/* A buffer as a file, for libraries that go back to fill in what they left open: begins at the
 * buffer's end when made, grows with it. Private to src/codec. */
#ifndef TEGULA_OUT_STREAM_H
#define TEGULA_OUT_STREAM_H

#include "tegula/buf.h"

typedef struct tg_out_stream {
    tg_buf *buf;
    size_t start; /* of the file, in the buffer */
    uint64_t at;  /* next byte, from start; may lie behind the end */
} tg_out_stream;

static inline tg_out_stream tg_out_stream_at_end(tg_buf *buf)
{
    return (tg_out_stream){buf, buf->len, 0};
}

static inline uint64_t tg_out_stream_size(const tg_out_stream *s)
{
    return s->buf->len - s->start;
}

/* What was skipped over is filled with zeros. False when the buffer cannot take it. */
bool tg_out_stream_write(tg_out_stream *s, const void *data, size_t n);

/* Bytes read, fewer than n at the end. */
size_t tg_out_stream_read(tg_out_stream *s, void *data, size_t n);

#endif
