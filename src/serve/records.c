#include "records.h"

#include <errno.h>
#include <fastcgi.h>
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
    FCGI_Header header[BATCH];
    struct iovec part[BATCH * 3 + 1]; /* header, end of head, body of each; then the tail */
    size_t n_headers, n_parts;
} batch;

static FCGI_Header header_of(int request_id, int type, size_t content, size_t padding)
{
    return (FCGI_Header){.version = FCGI_VERSION_1,
                         .type = (unsigned char)type,
                         .requestIdB1 = (unsigned char)(request_id >> 8),
                         .requestIdB0 = (unsigned char)request_id,
                         .contentLengthB1 = (unsigned char)(content >> 8),
                         .contentLengthB0 = (unsigned char)content,
                         .paddingLength = (unsigned char)padding};
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
    unsigned char bytes[8 + sizeof(FCGI_Header) + sizeof(FCGI_EndRequestRecord)];
    size_t n;
} tail;

static tail tail_of(int request_id, size_t padding)
{
    tail t = {.n = padding};
    FCGI_Header end_of_output = header_of(request_id, FCGI_STDOUT, 0, 0);
    FCGI_EndRequestRecord end = {.header =
                                     header_of(request_id, FCGI_END_REQUEST, sizeof end.body, 0),
                                 .body = {.protocolStatus = FCGI_REQUEST_COMPLETE}};
    memcpy(t.bytes + t.n, &end_of_output, sizeof end_of_output);
    t.n += sizeof end_of_output;
    memcpy(t.bytes + t.n, &end, sizeof end);
    t.n += sizeof end;
    return t;
}

bool tg_records_send(int fd, int request_id, tg_str head, tg_str body)
{
    batch b = {.fd = fd};
    size_t padding = 0;
    while (head.n + body.n) {
        if (b.n_headers == BATCH && !flush(&b))
            return false;
        size_t n = TG_MIN(head.n + body.n, RECORD_BYTES);
        padding = -n & 7;
        b.header[b.n_headers] = header_of(request_id, FCGI_STDOUT, n, padding);
        add(&b, &b.header[b.n_headers++], sizeof(FCGI_Header));
        n -= add_front(&b, &head, n);
        add_front(&b, &body, n);
    }
    tail end = tail_of(request_id, padding);
    add(&b, end.bytes, end.n);
    return flush(&b);
}
