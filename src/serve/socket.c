#include "socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "tegula/num.h"
#include "tegula/str.h"

/* A web server that takes nothing of a reply for this time is dead. */
#define WRITE_STALL_S 30

static bool fail_bind(tg_err *err, const char *address, const char *why)
{
    return tg_fail(err, TG_ERR_INTERNAL, "cannot listen on %s: %s", address, why);
}

static void limit_stalls(int fd)
{
    static const struct timeval stall = {WRITE_STALL_S, 0};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &stall, sizeof stall);
}

/* On Linux TCP connections inherit these from their listening socket, which saves calls for each;
 * Unix sockets do not. */
static void prepare_tcp(int fd)
{
    static const int on = 1;
    limit_stalls(fd);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static bool set_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

/* "host:port" apart; brackets around an IPv6 address go. */
static bool split_address(tg_str address, char host[256], char port[8])
{
    tg_str h, p;
    uint64_t number;
    if (!tg_str_rcut(address, ':', &h, &p) || !tg_parse_u64(p, &number) || number < 1 ||
        number > 65535 || p.n >= 8)
        return false;
    if (h.n >= 2 && h.p[0] == '[' && h.p[h.n - 1] == ']')
        h = (tg_str){h.p + 1, h.n - 2};
    else if (memchr(h.p, ':', h.n))
        return false;
    if (h.n >= 256)
        return false;
    memcpy(host, h.p, h.n);
    host[h.n] = 0;
    memcpy(port, p.p, p.n);
    port[p.n] = 0;
    return true;
}

static int bind_tcp(const struct addrinfo *a, int backlog)
{
    static const int on = 1, off = 0;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (a->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, backlog) == 0)
        return fd;
    int e = errno;
    close(fd);
    errno = e;
    return -1;
}

/* A name that has both kinds of address means IPv4, as web servers' "localhost" mostly does; no
 * name means all addresses of both kinds, which an IPv6 socket takes together. */
static bool listen_tcp(const char *address, int backlog, tg_listener *out, tg_err *err)
{
    char host[256], port[8];
    if (!strchr(address, ':'))
        return fail_bind(err, address,
                         "it needs a port, or, as the path of a Unix socket, a slash");
    if (!split_address(tg_str_of(address), host, port))
        return fail_bind(err, address, "not HOST:PORT, nor the path of a Unix socket");
    bool any = !host[0] || strcmp(host, "*") == 0;
    const char *why = NULL;
    for (int i = 0; i < 2 && out->fd < 0; i++) {
        struct addrinfo hints = {.ai_family = (i == 0) == any ? AF_INET6 : AF_INET,
                                 .ai_socktype = SOCK_STREAM,
                                 .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
        struct addrinfo *found = NULL;
        int rc = getaddrinfo(any ? NULL : host, port, &hints, &found);
        if (rc == 0)
            out->fd = bind_tcp(found, backlog);
        if (rc == 0 || !why)
            why = rc ? gai_strerror(rc) : strerror(errno);
        if (found)
            freeaddrinfo(found);
    }
    if (out->fd < 0)
        return fail_bind(err, address, why);
    prepare_tcp(out->fd);
    out->tcp = true;
    return true;
}

/* Makes room for a new socket file. A connection that is refused shows that nobody listens. */
static bool remove_stale(const struct sockaddr_un *sa, tg_err *err)
{
    struct stat st;
    if (lstat(sa->sun_path, &st) != 0)
        return errno == ENOENT || fail_bind(err, sa->sun_path, strerror(errno));
    if (!S_ISSOCK(st.st_mode))
        return fail_bind(err, sa->sun_path, "the file exists and is no socket");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fail_bind(err, sa->sun_path, strerror(errno));
    bool refused =
        connect(fd, (const struct sockaddr *)sa, sizeof *sa) != 0 && errno == ECONNREFUSED;
    close(fd);
    if (!refused)
        return fail_bind(err, sa->sun_path, "another process listens there");
    return unlink(sa->sun_path) == 0 || fail_bind(err, sa->sun_path, strerror(errno));
}

static bool listen_unix(const char *path, int backlog, unsigned mode, tg_listener *out, tg_err *err)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    struct stat st;
    if (strlen(path) >= sizeof sa.sun_path)
        return fail_bind(err, path, "the path is too long for a Unix socket");
    memcpy(sa.sun_path, path, strlen(path));
    if (!remove_stale(&sa, err))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fail_bind(err, path, strerror(errno));
    /* The mode comes from the umask: a chmod afterwards would leave a gap. */
    mode_t before = umask(0777 & ~mode);
    bool bound = bind(fd, (struct sockaddr *)&sa, sizeof sa) == 0;
    int e = errno;
    umask(before);
    if (!bound || listen(fd, backlog) != 0 || lstat(path, &st) != 0) {
        close(fd);
        return fail_bind(err, path, strerror(bound ? errno : e));
    }
    *out = (tg_listener){.fd = fd, .path = path, .device = st.st_dev, .inode = st.st_ino};
    return true;
}

bool tg_listen(const char *address, int backlog, unsigned socket_mode, tg_listener *out,
               tg_err *err)
{
    *out = (tg_listener){.fd = -1};
    bool ok = strchr(address, '/') ? listen_unix(address, backlog, socket_mode, out, err)
                                   : listen_tcp(address, backlog, out, err);
    out->peers = getenv("FCGI_WEB_SERVER_ADDRS");
    return ok;
}

bool tg_is_listening(int fd)
{
    int listening = 0;
    socklen_t n = sizeof listening;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &n) == 0 && listening;
}

bool tg_listen_inherited(tg_listener *out, tg_err *err)
{
    int domain = AF_UNIX;
    socklen_t n = sizeof domain;
    if (!tg_is_listening(STDIN_FILENO) || !set_nonblocking(STDIN_FILENO))
        return fail_bind(err, "descriptor 0", "it is no listening socket");
    getsockopt(STDIN_FILENO, SOL_SOCKET, SO_DOMAIN, &domain, &n);
    *out = (tg_listener){.fd = STDIN_FILENO,
                         .tcp = domain == AF_INET || domain == AF_INET6,
                         .peers = getenv("FCGI_WEB_SERVER_ADDRS")};
    if (out->tcp)
        prepare_tcp(STDIN_FILENO);
    return true;
}

void tg_listener_close(tg_listener *listener)
{
    struct stat st;
    close(listener->fd);
    if (listener->path && lstat(listener->path, &st) == 0 && st.st_dev == listener->device &&
        st.st_ino == listener->inode)
        unlink(listener->path);
}

/* Only IPv4 addresses can be named (FastCGI specification, section 3.2). */
static bool peer_allowed(const char *peers, const struct sockaddr_storage *sa)
{
    struct in_addr from, named;
    if (sa->ss_family == AF_INET) {
        from = ((const struct sockaddr_in *)sa)->sin_addr;
    } else if (sa->ss_family == AF_INET6 &&
               IN6_IS_ADDR_V4MAPPED(&((const struct sockaddr_in6 *)sa)->sin6_addr)) {
        memcpy(&from, &((const struct sockaddr_in6 *)sa)->sin6_addr.s6_addr[12], sizeof from);
    } else {
        return false;
    }
    tg_str rest = tg_str_of(peers), one;
    for (bool more = true; more;) {
        char text[INET_ADDRSTRLEN] = "";
        more = tg_str_cut(rest, ',', &one, &rest);
        one = tg_str_trim(one);
        if (one.n < sizeof text)
            memcpy(text, one.p, one.n);
        if (inet_pton(AF_INET, text, &named) == 1 && named.s_addr == from.s_addr)
            return true;
    }
    return false;
}

int tg_accept(const tg_listener *listener)
{
    struct sockaddr_storage sa;
    socklen_t n = sizeof sa;
    int fd = accept4(listener->fd, (struct sockaddr *)&sa, &n, SOCK_CLOEXEC);
    if (fd < 0)
        return -1;
    if (listener->tcp && listener->peers && listener->peers[0] &&
        !peer_allowed(listener->peers, &sa)) {
        close(fd);
        errno = EAGAIN;
        return -1;
    }
    if (!listener->tcp)
        limit_stalls(fd);
    return fd;
}
