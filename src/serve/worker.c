#include "serve/worker.h"

#include <errno.h>
#include <fcgiapp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "serve/records.h"
#include "tegula/abandon.h"
#include "tegula/clock.h"
#include "tegula/log.h"
#include "tegula/mem.h"
#include "tegula/num.h"
#include "tegula/serve.h"

/* A web server sends a request at once; a connection that has not brought a whole one after this
 * time is something else. */
#define REQUEST_LIMIT_US 900000
#define MAX_BODY_BYTES   ((size_t)64 << 10)
#define REST_AFTER_MS    1000 /* without a request */

typedef struct worker {
    tg_service *service;
    const tg_listener *listener;
    int signals; /* signalfd: level-triggered beside the sockets, so load cannot starve it */
    int epoll;
    FCGX_Request request; /* ipcFd: the connection in hand or kept, -1 if none */
    bool kept;            /* the web server keeps ipcFd open for its next request */
    bool others_wait;     /* a new connection was seen waiting when this one was chosen */
    bool worked;          /* since memory was last returned */
    tg_response response;
    tg_buf head;                   /* status line and headers */
    char body[MAX_BODY_BYTES + 1]; /* of the request; one more to see that it is too long */
    size_t body_n;
} worker;

void tg_signals_block(sigset_t *blocked)
{
    static const int ours[] = {SIGTERM, SIGINT, SIGUSR1, SIGHUP, SIGCHLD};
    sigemptyset(blocked);
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        sigaddset(blocked, ours[i]);
    sigprocmask(SIG_SETMASK, blocked, NULL); /* not SIG_BLOCK: others may come in blocked */
    signal(SIGPIPE, SIG_IGN);
}

/* What the time limit closes. libfcgi reads with plain read(2) and knows no deadline; shutdown is
 * allowed in a signal handler and makes this read, or the next one, see the end. */
static volatile sig_atomic_t limited_fd = -1;

static void on_alarm(int signal_number)
{
    (void)signal_number;
    if (limited_fd >= 0)
        shutdown(limited_fd, SHUT_RDWR);
}

static void limit_time(int fd, long us)
{
    struct itimerval timer = {.it_value.tv_usec = us};
    limited_fd = fd;
    setitimer(ITIMER_REAL, &timer, NULL);
}

static bool watch(worker *w, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void drop_connection(worker *w)
{
    FCGX_Free(&w->request, w->request.ipcFd >= 0);
    w->kept = false;
}

/* False when the worker is to stop. */
static bool take_signal(worker *w)
{
    struct signalfd_siginfo info;
    if (read(w->signals, &info, sizeof info) != sizeof info)
        return true;
    if (info.ssi_signo == SIGHUP) {
        tg_log_reopen();
        tg_service_reload(w->service);
        tg_log(TG_LOG_ERROR, "caches dropped, log reopened");
    }
    return info.ssi_signo == SIGHUP || info.ssi_signo == SIGCHLD;
}

/* Takes a waiting connection in place of the kept one. The kept one goes only once the other is
 * really there: several workers see the same one waiting. */
static bool accept_connection(worker *w)
{
    int fd = tg_accept(w->listener);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            tg_log(TG_LOG_ERROR, "cannot accept a connection: %s", strerror(errno));
            tg_service_reload(w->service);
            poll(NULL, 0, 100);
        }
        return false;
    }
    drop_connection(w);
    w->request.ipcFd = fd;
    return true;
}

/* Waits for a connection with a request: the kept one, or a new one. A kept connection never makes
 * others wait: while it is idle a new one takes its place (web servers expect that of a kept
 * connection), and while it is busy it is closed after the reply. A worker keeps only one: of
 * several, those with a request would wait behind the one in hand, though other workers be free.
 * False to stop. */
static bool next_connection(worker *w)
{
    for (;;) {
        struct epoll_event event[3];
        bool signalled = false, kept = false, waiting = false;
        int n = epoll_wait(w->epoll, event, 3, w->worked ? REST_AFTER_MS : -1);
        if (n == 0) {
            tg_memory_rest();
            w->worked = false;
        }
        for (int i = 0; i < n; i++) {
            signalled |= event[i].data.fd == w->signals;
            waiting |= event[i].data.fd == w->listener->fd;
            kept |= event[i].data.fd == w->request.ipcFd;
        }
        if (signalled && !take_signal(w))
            return false;
        w->others_wait = waiting && kept;
        if (kept || (waiting && accept_connection(w)))
            return true;
    }
}

/* Reads the request's head. libfcgi gets the connection as if it had accepted it itself, and no
 * socket to accept another from, so that it returns when this one brings no request. */
static bool read_head(worker *w)
{
    FCGX_Detach(&w->request);      /* libfcgi then closes at once, without waiting for the peer */
    w->request.keepConnection = 1; /* or it would close before it reads */
    if (FCGX_Accept_r(&w->request) != 0)
        return false;
    /* It takes the end of the connection for the end of the parameters. */
    if (FCGX_GetError(w->request.in) != 0)
        drop_connection(w);
    return w->request.ipcFd >= 0;
}

/* Reads the body to its end, also when nobody wants it: what stays unread would be taken for the
 * next request on a kept connection, and would reset a closed one before the reply is through. */
static void read_body(worker *w)
{
    int n = FCGX_GetStr(w->body, (int)sizeof w->body, w->request.in);
    w->body_n = n > 0 ? (size_t)n : 0;
}

static bool read_request(worker *w)
{
    limit_time(w->request.ipcFd, REQUEST_LIMIT_US);
    bool was_kept = w->kept, ok = read_head(w);
    if (ok)
        read_body(w);
    else
        w->kept = false;
    limit_time(-1, 0);
    if (!ok && !was_kept)
        tg_log(TG_LOG_REQUEST, "a connection brought no FastCGI request");
    return ok;
}

static const char *get_parameter(void *ctx, const char *name)
{
    return FCGX_GetParam(name, ((worker *)ctx)->request.envp);
}

static bool check_body(worker *w, tg_err *err)
{
    const char *announced = get_parameter(w, "CONTENT_LENGTH");
    uint64_t bytes = 0;
    if (announced && announced[0] && !tg_parse_u64(tg_str_of(announced), &bytes))
        return tg_fail(err, TG_ERR_BAD_REQUEST, "CONTENT_LENGTH is not a number");
    if (bytes > MAX_BODY_BYTES || w->body_n > MAX_BODY_BYTES)
        return tg_fail(err, TG_ERR_TOO_LARGE, "the request's body is longer than %zu bytes",
                       MAX_BODY_BYTES);
    if (w->body_n < bytes)
        return tg_fail(err, TG_ERR_BAD_REQUEST, "the request's body is shorter than announced");
    return true;
}

static void answer(worker *w, tg_request *request)
{
    tg_err err = {0};
    if (!tg_request_read(get_parameter, w, request, &err) || !check_body(w, &err)) {
        tg_service_refuse(w->service, request, &err, &w->response);
        return;
    }
    if (!request->query.n)
        request->query = (tg_str){w->body, w->body_n};
    tg_log_about(request->uri);
    tg_service_answer(w->service, request, &w->response);
    tg_log_about(TG_STR(""));
}

/* A 304 speaks of a body it does not have, so it gives no length (RFC 9110, 8.6). */
static tg_str put_head(worker *w)
{
    tg_response *r = &w->response;
    tg_buf_reset(&w->head);
    tg_buf_printf(&w->head, "Status: %d %s\r\n", r->status, tg_status_reason(r->status));
    tg_buf_str(&w->head, tg_buf_view(&r->head));
    if (r->status != 304)
        tg_buf_printf(&w->head, "Content-Length: %zu\r\n", r->body.len);
    tg_buf_z(&w->head, "\r\n");
    return tg_buf_view(&w->head);
}

/* Lets the peer take the reply although it has not finished sending: closing with bytes unread
 * would reset the connection. */
static void linger(int fd)
{
    char trash[4096];
    limit_time(fd, REQUEST_LIMIT_US);
    shutdown(fd, SHUT_WR);
    for (int i = 0; i < 256 && recv(fd, trash, sizeof trash, 0) > 0; i++)
        ;
    limit_time(-1, 0);
}

static void finish(worker *w, bool sent)
{
    bool whole_body = w->body_n <= MAX_BODY_BYTES && FCGX_GetError(w->request.in) == 0;
    bool keep = w->request.keepConnection && sent && whole_body && !w->others_wait;
    if (!keep) {
        if (sent && !whole_body)
            linger(w->request.ipcFd);
        drop_connection(w);
        return;
    }
    FCGX_Free(&w->request, 0);
    if (!w->kept)
        w->kept = watch(w, w->request.ipcFd, EPOLLIN);
    if (!w->kept)
        drop_connection(w);
}

static void log_access(const worker *w, const tg_request *request, size_t body_n, bool sent,
                       uint64_t us)
{
    static const char *const names[] = {[TG_GET] = "GET",
                                        [TG_HEAD] = "HEAD",
                                        [TG_POST] = "POST",
                                        [TG_OPTIONS] = "OPTIONS",
                                        [TG_OTHER_METHOD] = "OTHER"};
    const char *how = tg_service_how(w->service);
    tg_log(TG_LOG_REQUEST, "%s %.*s %d %zu %llu us%s%s%s", names[request->method],
           TG_STR_ARG(request->uri), w->response.status, body_n, (unsigned long long)us,
           how[0] ? ", " : "", how, sent ? "" : ", the client had gone");
}

/* The web server closes its connection when its own client has gone. */
static bool peer_is_gone(void *ctx)
{
    char byte;
    ssize_t n = recv(((worker *)ctx)->request.ipcFd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void serve_request(worker *w)
{
    tg_request request = {0};
    uint64_t start_us = tg_clock_us();
    w->worked = true;
    if (!read_request(w))
        return;
    tg_abandon_hook(peer_is_gone, w);
    answer(w, &request);
    tg_abandon_hook(NULL, NULL);
    tg_str body = tg_buf_view(&w->response.body);
    if (request.method == TG_HEAD || w->response.status == 304)
        body.n = 0;
    bool sent = tg_records_send(w->request.ipcFd, w->request.requestId, put_head(w), body);
    if (tg_log_wants(TG_LOG_REQUEST))
        log_access(w, &request, body.n, sent, tg_clock_us() - start_us);
    tg_service_finish(w->service, &w->response);
    finish(w, sent);
    tg_response_reset(&w->response); /* an idle worker holds no large reply */
}

static bool worker_init(worker *w, const sigset_t *blocked)
{
    struct sigaction on_limit = {.sa_handler = on_alarm};
    if (FCGX_Init() != 0 || FCGX_InitRequest(&w->request, -1, FCGI_FAIL_ACCEPT_ON_INTR) != 0)
        return false;
    signal(SIGPIPE, SIG_IGN); /* libfcgi has put its own handler there */
    sigaction(SIGALRM, &on_limit, NULL);
    w->signals = signalfd(-1, blocked, SFD_CLOEXEC | SFD_NONBLOCK);
    w->epoll = epoll_create1(EPOLL_CLOEXEC);
    return w->signals >= 0 && w->epoll >= 0 && watch(w, w->signals, EPOLLIN) &&
           watch(w, w->listener->fd, EPOLLIN | EPOLLEXCLUSIVE);
}

int tg_worker_run(const tg_common *common)
{
    sigset_t blocked;
    worker *w = tg_new(sizeof *w);
    w->listener = common->listener;
    w->signals = w->epoll = -1;
    tg_signals_block(&blocked);
    tg_memory_settle();
    bool ok = worker_init(w, &blocked);
    if (!ok)
        tg_log(TG_LOG_ERROR, "a worker cannot start: %s", strerror(errno));
    if (ok) {
        w->service = tg_service_new(common->config, common->mark);
        while (next_connection(w))
            serve_request(w);
        drop_connection(w);
        tg_service_free(w->service);
    }
    tg_response_free(&w->response);
    tg_buf_free(&w->head);
    close(w->signals);
    close(w->epoll);
    free(w);
    return ok ? 0 : 1;
}
