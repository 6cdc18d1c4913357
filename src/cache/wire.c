#include "cache/wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "tegula/clock.h"
#include "tegula/num.h"

#define MAX_LINE_BYTES ((size_t)2 << 10)
#define READ_BYTES     ((size_t)64 << 10)
#define SPIN_US        50

bool tg_wire_fail(tg_wire *w, tg_wire_fault fault)
{
    if (w->fault == TG_WIRE_FINE)
        w->fault = fault;
    return false;
}

bool tg_wire_open(tg_wire *w, const struct sockaddr *address, socklen_t n)
{
    int yes = 1;
    w->at = 0;
    w->in.len = 0;
    w->in.failed = false;
    w->fault = TG_WIRE_FINE;
    w->fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (w->fd < 0)
        return tg_wire_fail(w, TG_WIRE_CLOSED);
    if (address->sa_family != AF_UNIX)
        setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(w->fd, address, n) == 0 || errno == EINPROGRESS)
        return true;
    tg_wire_close(w);
    return tg_wire_fail(w, TG_WIRE_CLOSED);
}

void tg_wire_close(tg_wire *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    tg_buf_free(&w->in);
}

/* True once the event is there; false at the time given. */
static bool wait_for(int fd, short event, uint64_t until_us)
{
    for (;;) {
        struct pollfd p = {.fd = fd, .events = event};
        uint64_t now = tg_clock_us(), left = until_us > now ? until_us - now : 0;
        struct timespec t = {.tv_sec = (time_t)(left / 1000000),
                             .tv_nsec = (long)(left % 1000000) * 1000};
        int n = ppoll(&p, 1, &t, NULL);
        if (n > 0)
            return true;
        if (n == 0 || errno != EINTR)
            return false;
    }
}

int tg_wire_connected(tg_wire *w)
{
    int error = 0;
    socklen_t n = sizeof error;
    if (!wait_for(w->fd, POLLOUT, 0))
        return 0;
    return getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && error == 0 ? 1 : -1;
}

static size_t advance(struct msghdr *m, size_t n)
{
    while (m->msg_iovlen && n >= m->msg_iov->iov_len) {
        n -= m->msg_iov->iov_len;
        m->msg_iov++;
        m->msg_iovlen--;
    }
    if (m->msg_iovlen) {
        m->msg_iov->iov_base = (char *)m->msg_iov->iov_base + n;
        m->msg_iov->iov_len -= n;
    }
    return m->msg_iovlen;
}

bool tg_wire_send(tg_wire *w, struct iovec *parts, size_t n, uint64_t until_us)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = n};
    while (w->fault == TG_WIRE_FINE) {
        ssize_t sent = sendmsg(w->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            if (advance(&message, (size_t)sent) == 0)
                return true;
        } else if (errno == EAGAIN) {
            if (!wait_for(w->fd, POLLOUT, until_us))
                tg_wire_fail(w, TG_WIRE_LATE);
        } else if (errno != EINTR) {
            tg_wire_fail(w, TG_WIRE_CLOSED);
        }
    }
    return false;
}

/* Room at the end of the buffer, made by dropping what was taken. */
static uint8_t *room_for(tg_wire *w, size_t n)
{
    if (w->at == w->in.len)
        w->at = w->in.len = 0;
    if (w->at && w->in.len + n > w->in.cap) {
        memmove(w->in.data, w->in.data + w->at, w->in.len - w->at);
        w->in.len -= w->at;
        w->at = 0;
    }
    return tg_buf_reserve(&w->in, n);
}

/* A server of this network answers sooner than a sleeper is woken. Whoever else wants the
 * processor, such as that server, gets it. */
static bool is_patient(uint64_t since_us)
{
    if (tg_clock_us() - since_us >= SPIN_US)
        return false;
    sched_yield();
    return true;
}

bool tg_wire_fill(tg_wire *w, size_t room, uint64_t until_us)
{
    uint64_t since = tg_clock_us();
    uint8_t *to = room_for(w, room);
    if (!to)
        return tg_wire_fail(w, TG_WIRE_GARBAGE);
    while (w->fault == TG_WIRE_FINE) {
        ssize_t n = recv(w->fd, to, room, MSG_DONTWAIT);
        if (n > 0) {
            w->in.len += (size_t)n;
            return true;
        }
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            tg_wire_fail(w, TG_WIRE_CLOSED);
        else if (errno == EAGAIN && !is_patient(since) && !wait_for(w->fd, POLLIN, until_us))
            tg_wire_fail(w, TG_WIRE_LATE);
    }
    return false;
}

/* A peer that always has a little more would never let a read run into its time. */
static bool in_time(tg_wire *w, uint64_t until_us)
{
    return tg_clock_us() < until_us || tg_wire_fail(w, TG_WIRE_LATE);
}

bool tg_wire_line(tg_wire *w, uint64_t until_us, tg_str *line)
{
    for (;;) {
        tg_str seen = {(const char *)w->in.data + w->at, w->in.len - w->at};
        const char *end = seen.n ? memchr(seen.p, '\n', seen.n) : NULL;
        if (end) {
            *line = (tg_str){seen.p, (size_t)(end - seen.p)};
            w->at += line->n + 1;
            line->n -= tg_str_ends(*line, TG_STR("\r"));
            return w->fault == TG_WIRE_FINE;
        }
        if (seen.n > MAX_LINE_BYTES)
            return tg_wire_fail(w, TG_WIRE_GARBAGE);
        if (!tg_wire_fill(w, READ_BYTES, until_us) || !in_time(w, until_us))
            return false;
    }
}

bool tg_wire_block(tg_wire *w, size_t n, uint64_t until_us, tg_str *block)
{
    size_t want;
    if (!tg_add_size(n, 2, &want))
        return tg_wire_fail(w, TG_WIRE_GARBAGE);
    while (w->in.len - w->at < want) {
        size_t missing = want - (w->in.len - w->at);
        if (!tg_wire_fill(w, TG_MAX(missing, READ_BYTES), until_us) || !in_time(w, until_us))
            return false;
    }
    const char *p = (const char *)w->in.data + w->at;
    if (p[n] != '\r' || p[n + 1] != '\n')
        return tg_wire_fail(w, TG_WIRE_GARBAGE);
    w->at += want;
    *block = (tg_str){p, n};
    return true;
}
