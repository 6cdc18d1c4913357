/* One memcached server: whether it is there, and what it is asked, in the meta protocol (memcached
 * 1.6). No request ever waits for a connection: one that is lost is made anew beside the requests,
 * and counts only once the server has answered on it.
 *
 * Not over libmemcached: 1.1.4 knows the text and binary protocols, in which "get it, or the lock"
 * takes two round trips, and it cannot leave a server alone that accepts connections and answers
 * nothing. With both its timeouts at 40 ms and every limit of failures and timeouts at 1, each of
 * ten calls to a stopped memcached cost 40 ms, over TCP and Unix sockets, also 2 s later; two did
 * when the network was cut. Here one does, and none when it was so from the start. */
#ifndef TEGULA_CACHE_SERVER_H
#define TEGULA_CACHE_SERVER_H

#include <stdatomic.h>
#include <sys/un.h>

#include "cache/wire.h"
#include "tegula/config.h"

#define TG_ITEM_BYTES    ((size_t)1 << 20) /* memcached's default for the largest */
#define TG_MAX_KEY_BYTES 250               /* of memcached */
#define TG_TOKEN_DIGITS  16
#define TG_MAX_ADDRESSES 4

typedef enum tg_server_state {
    TG_SERVER_DOWN,
    TG_SERVER_CONNECTING,
    TG_SERVER_GREETING, /* connected, not answered yet */
    TG_SERVER_UP
} tg_server_state;

/* Two random tokens that a server keeps for all who use it. */
typedef struct tg_tokens {
    char generation[TG_TOKEN_DIGITS + 1]; /* a part of all keys; empty: not known */
    char purged[TG_TOKEN_DIGITS + 1];     /* another one: drop what is held in memory */
} tg_tokens;

typedef struct tg_server {
    const tg_config *config;
    tg_str host, port; /* port is empty for the path of a Unix socket */
    struct sockaddr_storage address[TG_MAX_ADDRESSES];
    socklen_t address_bytes[TG_MAX_ADDRESSES];
    unsigned n_addresses, address_at; /* of the name; none: it is not known */
    tg_server_state state;
    tg_wire wire;
    unsigned owed;         /* replies to what was stored that were not read yet */
    uint64_t next_us;      /* DOWN: when to try again; else when to give up */
    uint64_t pause_us;     /* the last one before a try */
    unsigned answered;     /* UP: questions since then */
    uint64_t asked_us;     /* when tokens were read */
    _Atomic uint64_t *out; /* until when all workers leave it alone */
    uint64_t out_seen;     /* not DOWN: that, when the connection was begun */
    size_t item_bytes;     /* largest item, key and all */
    tg_tokens tokens;
    uint64_t *failures; /* counted there */
} tg_server;

/* Looks the name up, which may wait for the network's own name servers. */
void tg_server_resolve(tg_server *server);

/* Moves what is in progress on without waiting, begins what is due. */
void tg_server_tend(tg_server *server);
/* The same at a start, when nobody waits: as far as it goes by then. */
void tg_server_await(tg_server *server, uint64_t until_us);
void tg_server_disconnect(tg_server *server);
static inline bool tg_server_is_up(const tg_server *server)
{
    return server->state == TG_SERVER_UP;
}

/* Reads the tokens, and puts them there when they are missing. False when the server fails. */
bool tg_server_read_tokens(tg_server *server, uint64_t until_us);

typedef enum tg_got {
    TG_GOT_VALUE,
    TG_GOT_LOCK,   /* there was none; whoever asks next is told that another makes it */
    TG_GOT_LOCKED, /* another makes it */
    TG_GOT_NOTHING /* and no lock: the server has failed, or no memory */
} tg_got;

/* In one round trip. *value is valid until the next call. lock: as TG_GOT_LOCK says; without, what
 * is not there or locked is TG_GOT_NOTHING. */
tg_got tg_server_get(tg_server *server, tg_str key, bool lock, uint64_t until_us, tg_str *value);

/* Sends head and body as the key's value; the reply is read by the next call. */
bool tg_server_set(tg_server *server, tg_str key, tg_str head, tg_str body);
/* Deletes; the reply is read by the next call. */
bool tg_server_delete(tg_server *server, tg_str key);
/* Reads the replies that are owed. */
bool tg_server_settle(tg_server *server, uint64_t until_us);

/* New tokens: all of them, or only that for the memory of workers. */
bool tg_server_renew_tokens(tg_server *server, bool generation, uint64_t until_us);

/* Would memcached take such a value? */
bool tg_server_takes(const tg_server *server, size_t key_n, size_t value_n);
/* Is it a key that memcached and nginx spell alike? */
bool tg_is_cache_key(tg_str key);

#endif
