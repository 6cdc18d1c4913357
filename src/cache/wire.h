/* A connection to a memcached server, whose every call ends by a time that the caller names: not a
 * time for each read, which a slow peer could stretch for ever. */
#ifndef TEGULA_CACHE_WIRE_H
#define TEGULA_CACHE_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "tegula/buf.h"

typedef enum tg_wire_fault {
    TG_WIRE_FINE,
    TG_WIRE_CLOSED, /* at once: refused, reset, ended */
    TG_WIRE_LATE,   /* not by its time */
    TG_WIRE_GARBAGE /* not what a memcached server says */
} tg_wire_fault;

typedef struct tg_wire {
    int fd;    /* -1: none */
    tg_buf in; /* received; from at on not taken yet */
    size_t at;
    tg_wire_fault fault; /* the first; nothing is sent or received after it */
} tg_wire;

/* Begins to connect. False when that fails at once. */
bool tg_wire_open(tg_wire *wire, const struct sockaddr *address, socklen_t n);
void tg_wire_close(tg_wire *wire);

/* 1: connected, 0: not yet, -1: will not be. Does not wait. */
int tg_wire_connected(tg_wire *wire);

/* All of the parts, which are used up. */
bool tg_wire_send(tg_wire *wire, struct iovec *parts, size_t n, uint64_t until_us);

/* The next line, without its CR LF (or LF, in lists of keys); at most 2 KiB. The view is valid
 * until the next call. */
bool tg_wire_line(tg_wire *wire, uint64_t until_us, tg_str *line);

/* The next n bytes and the CR LF behind them, which memcached puts there. */
bool tg_wire_block(tg_wire *wire, size_t n, uint64_t until_us, tg_str *block);

/* Waits for input, but not beyond the time. Then takes what there is: false when the peer has gone.
 * For who looks at wire->in himself. */
bool tg_wire_fill(tg_wire *wire, size_t room, uint64_t until_us);

/* Notes a fault; returns false. */
bool tg_wire_fail(tg_wire *wire, tg_wire_fault fault);

#endif
