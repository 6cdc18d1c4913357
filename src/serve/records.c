#include "records.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "tegula/num.h"

/* Content of a full record: the largest multiple of 8 that a record's length field holds, so that
 * only the last record needs padding. */
#define RECORD_BYTES ((size_t)65528)
#define BATCH        8 /* records to a call */

/* One sendmsg in the making. */
typedef struct batch {
    int fd;
    tg_record_head header[BATCH];
    struct iovec part[BATCH * 3 + 1]; /* header, end of head, body of each; then the tail */
    size_t n_headers, n_parts;
} batch;

tg_record_head tg_record_head_of(unsigned request_id, int type, size_t content_bytes,
                                 size_t padding_bytes)
{
    return (tg_record_head){
        .version = 1,
        .type = (unsigned char)type,
        .request_id = {(unsigned char)(request_id >> 8), (unsigned char)request_id},
        .content_bytes = {(unsigned char)(content_bytes >> 8), (unsigned char)content_bytes},
        .padding_bytes = (unsigned char)padding_bytes};
}

static void add(batch *b, const void *p, size_t n)
{
    if (n)
        b->part[b->n_parts++] = (struct iovec){(void *)p, n};
}

/* Takes up to n bytes off the front of s. */
static size_t add_front(batch *b, tg_str *s, size_t n)
{
    n = TG_MIN(n, s->n);
    add(b, s->p, n);
    s->p += n;
    s->n -= n;
    return n;
}

static bool flush(batch *b)
{
    struct msghdr message = {.msg_iov = b->part, .msg_iovlen = b->n_parts};
    b->n_headers = b->n_parts = 0;
    while (message.msg_iovlen) {
        ssize_t sent = sendmsg(b->fd, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return false;
        size_t n = (size_t)sent;
        while (message.msg_iovlen && n >= message.msg_iov->iov_len) {
            n -= message.msg_iov->iov_len;
            message.msg_iov++;
            message.msg_iovlen--;
        }
        if (message.msg_iovlen) {
            message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + n;
            message.msg_iov->iov_len -= n;
        }
    }
    return true;
}

/* Padding of the last record, the empty record that ends standard output, the end of the request.
 */
typedef struct tail {
    unsigned char bytes[8 + 2 * sizeof(tg_record_head) + 8];
    size_t n;
} tail;

static tail tail_of(unsigned request_id, size_t padding)
{
    static const unsigned char complete[8]; /* status 0, TG_REQUEST_COMPLETE */
    tail t = {.n = padding};
    tg_record_head head[] = {
        tg_record_head_of(request_id, TG_RECORD_STDOUT, 0, 0),
        tg_record_head_of(request_id, TG_RECORD_END_REQUEST, sizeof complete, 0)};
    memcpy(t.bytes + t.n, head, sizeof head);
    t.n += sizeof head;
    memcpy(t.bytes + t.n, complete, sizeof complete);
    t.n += sizeof complete;
    return t;
}

bool tg_records_send(int fd, unsigned request_id, tg_str head, tg_str body)
{
    batch b = {.fd = fd};
    size_t padding = 0;
    while (head.n + body.n) {
        if (b.n_headers == BATCH && !flush(&b))
            return false;
        size_t n = TG_MIN(head.n + body.n, RECORD_BYTES);
        padding = -n & 7;
        b.header[b.n_headers] = tg_record_head_of(request_id, TG_RECORD_STDOUT, n, padding);
        add(&b, &b.header[b.n_headers++], sizeof(tg_record_head));
        n -= add_front(&b, &head, n);
        add_front(&b, &body, n);
    }
    tail end = tail_of(request_id, padding);
    add(&b, end.bytes, end.n);
    return flush(&b);
}
