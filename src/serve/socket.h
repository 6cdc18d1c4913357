/* Listening sockets and the connections they give. */
#ifndef TEGULA_SERVE_SOCKET_H
#define TEGULA_SERVE_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>

#include "tegula/err.h"

typedef struct tg_listener {
    int fd;
    bool tcp;
    const char *peers; /* FCGI_WEB_SERVER_ADDRS: IPv4 addresses that may connect; NULL = all */
    const char *path;  /* of a Unix socket that was made here, else NULL */
    dev_t device;      /* and what that file was then */
    ino_t inode;
} tg_listener;

/* "HOST:PORT", "[ADDRESS]:PORT", ":PORT" and "*:PORT" (all addresses), or the path of a Unix
 * socket. A Unix socket that nobody listens on is replaced, a live one is not. The message of err
 * is complete: what could not be bound, and why. */
bool tg_listen(const char *address, int backlog, unsigned socket_mode, tg_listener *out,
               tg_err *err);

bool tg_is_listening(int fd);

/* Descriptor 0, as web servers and socket activation pass it. */
bool tg_listen_inherited(tg_listener *out, tg_err *err);

/* Closes it and removes the Unix socket's file if it is still the one made here. */
void tg_listener_close(tg_listener *listener);

/* A connection that is ready, with its time limits set; -1 with errno EAGAIN when there is none. */
int tg_accept(const tg_listener *listener);

#endif
