/* For operators: takes stored answers away. Not for the time of a request: it asks servers for all
 * their keys. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cache/pool.h"
#include "cache/stored.h"
#include "tegula/cache.h"
#include "tegula/clock.h"
#include "tegula/mem.h"

#define PATIENCE_US ((uint64_t)5000000) /* for an answer, or the next part of one */
#define PAUSE_US    50000
#define BUSY_TRIES  20
#define BATCH       1000 /* deletions whose replies are not read yet */

/* What was being rendered meanwhile, or moved between a server's lists while it told of them, shows
 * in a later pass: it is over when so many in a row have found nothing. */
#define QUIET_PASSES 5
#define MAX_PASSES   50 /* the file is there, and somebody asks for it again and again */

typedef struct purge {
    const tg_cache_purge *what;
    tg_server *server;
    char file[2 + 16 + 1]; /* ":<file>:" */
    tg_buf keys;           /* found, each ended by a line feed */
    uint64_t n;            /* keys deleted */
    const char *trouble;
} purge;

static uint64_t patience(void)
{
    return tg_clock_us() + PATIENCE_US;
}

static void rest(void)
{
    struct timespec pause = {.tv_nsec = PAUSE_US * 1000};
    nanosleep(&pause, NULL);
}

static bool trouble(purge *p, const char *text)
{
    p->trouble = text;
    return false;
}

static bool is_stored_of_file(const purge *p, tg_str key)
{
    tg_str prefix = TG_STR(TG_STORED_PREFIX), file = tg_str_of(p->file);
    size_t at = prefix.n + TG_TOKEN_DIGITS;
    return !p->what->all && tg_str_starts(key, prefix) && key.n > at + file.n &&
           tg_str_starts((tg_str){key.p + at, key.n - at}, file);
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Of a line "key=<key, percent-encoded> exp=…". */
static tg_str key_of(tg_str line, char key[TG_MAX_KEY_BYTES])
{
    tg_str rest, text = TG_STR("key=");
    size_t n = 0;
    if (!tg_str_starts(line, text))
        return TG_STR("");
    tg_str_cut((tg_str){line.p + text.n, line.n - text.n}, ' ', &text, &rest);
    for (size_t i = 0; i < text.n && n < TG_MAX_KEY_BYTES; i++) {
        bool escape = text.p[i] == '%' && i + 2 < text.n;
        key[n++] = escape ? (char)(hex(text.p[i + 1]) * 16 + hex(text.p[i + 2])) : text.p[i];
        i += escape ? 2 : 0;
    }
    return (tg_str){key, n};
}

static void look_at(purge *p, tg_str key)
{
    if (!key.n || memchr(key.p, '\n', key.n))
        return;
    tg_str mark = TG_STR(TG_PLAIN_PREFIX);
    if (tg_str_starts(key, mark)) /* it stays: the body may only be on its way */
        key = (tg_str){key.p + mark.n, key.n - mark.n};
    bool ours = tg_str_starts(key, TG_STR("tegula"));
    if (!is_stored_of_file(p, key) && (ours || !p->what->owns(p->what->ctx, key)))
        return;
    tg_buf_str(&p->keys, key);
    tg_buf_z(&p->keys, "\n");
}

static bool begin_dump(purge *p, tg_str *line)
{
    for (int i = 0; i < BUSY_TRIES; i++) {
        struct iovec part = {"lru_crawler metadump all\r\n", 26};
        if (!tg_wire_send(&p->server->wire, &part, 1, patience()) ||
            !tg_wire_line(&p->server->wire, patience(), line))
            return trouble(p, "does not answer");
        if (!tg_str_starts(*line, TG_STR("BUSY")))
            return true;
        rest();
    }
    return trouble(p, "is busy telling others its keys");
}

static bool find_keys(purge *p)
{
    tg_str line;
    p->keys.len = 0;
    if (!begin_dump(p, &line))
        return false;
    while (!tg_str_is(line, "END")) {
        char key[TG_MAX_KEY_BYTES];
        if (!tg_str_starts(line, TG_STR("key=")))
            return trouble(p, "does not tell its keys");
        look_at(p, key_of(line, key));
        if (!tg_wire_line(&p->server->wire, patience(), &line))
            return trouble(p, "has stopped telling its keys");
    }
    return !p->keys.failed || trouble(p, "has too many keys");
}

/* Counts those that were there. */
static bool take_replies(purge *p)
{
    tg_str line;
    for (; p->server->owed; p->server->owed--) {
        if (!tg_wire_line(&p->server->wire, patience(), &line))
            return trouble(p, "has stopped deleting");
        p->n += tg_str_is(line, "HD");
    }
    return true;
}

static bool delete_keys(purge *p)
{
    tg_str rest = tg_buf_view(&p->keys), key;
    while (tg_str_cut(rest, '\n', &key, &rest)) {
        if (!tg_server_delete(p->server, key))
            return trouble(p, "has stopped deleting");
        if (p->server->owed >= BATCH && !take_replies(p))
            return false;
    }
    return take_replies(p);
}

static bool purge_keys(purge *p)
{
    for (int pass = 0, quiet = 0; pass < MAX_PASSES && quiet < QUIET_PASSES; pass++) {
        if (pass)
            rest();
        uint64_t before = p->n;
        if (!find_keys(p) || !delete_keys(p))
            return false;
        quiet = p->n > before ? 0 : quiet + 1;
    }
    return true;
}

/* Tokens last: a worker that then drops what it holds must not find it in memcached again. */
static bool purge_server(purge *p)
{
    if (!tg_server_is_up(p->server))
        return trouble(p, "cannot be reached");
    if (p->what->all && !tg_server_renew_tokens(p->server, true, patience()))
        return trouble(p, "does not take a new generation");
    if ((!p->what->all || p->server->config->cache_layout == TG_LAYOUT_NGINX) && !purge_keys(p))
        return false;
    return tg_server_renew_tokens(p->server, false, patience()) ||
           trouble(p, "does not take a new token");
}

static void report(const purge *p, FILE *out)
{
    const tg_server *s = p->server;
    fprintf(out, "%.*s%s%.*s: ", TG_STR_ARG(s->host), s->port.n ? ":" : "", TG_STR_ARG(s->port));
    if (p->trouble)
        fprintf(out, "%s; what it holds may be sent until MEMCACHED_TIMEOUT is over\n", p->trouble);
    else if (p->what->all)
        fprintf(out, "a new generation begins, %" PRIu64 " keys of web servers deleted\n", p->n);
    else
        fprintf(out, "%" PRIu64 " answers deleted\n", p->n);
}

bool tg_cache_purge_all(const tg_config *config, const tg_cache_purge *what, FILE *out)
{
    uint64_t failures = 0;
    bool ok = true;
    tg_pool *pool = tg_new(sizeof *pool);
    tg_pool_init(pool, config, &failures);
    tg_pool_connect(pool, patience());
    for (unsigned i = 0; i < pool->n; i++) {
        purge p = {.what = what, .server = &pool->server[i]};
        snprintf(p.file, sizeof p.file, ":%016" PRIx64 ":", tg_cache_file_hash(what->file));
        ok &= purge_server(&p);
        report(&p, out);
        tg_buf_free(&p.keys);
    }
    tg_pool_free(pool);
    free(pool);
    return ok;
}
