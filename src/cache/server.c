#include "cache/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "tegula/clock.h"
#include "tegula/log.h"
#include "tegula/num.h"

#define MS                  ((uint64_t)1000) /* in microseconds */
#define PAUSE_US            (100 * MS)
#define LONGEST_PAUSE_US    (10000 * MS)
#define DISTRUST_US         (2000 * MS)
#define LONGEST_DISTRUST_US (60000 * MS)
#define GREETING_US         (1000 * MS) /* nobody waits for it */
#define PROVEN              200         /* after so many answers a server is trusted */
#define PROBE_US            (1 * MS)    /* a server of this machine answers within it */
#define MAX_GREETING        ((size_t)64 << 10)
#define ITEM_OVERHEAD       128 /* of memcached for an item, from above */
#define LOCK_S              5   /* how long others take a picture for being rendered */
#define MAX_TTL_S           (30 * 86400)
#define CONTROL_KEY         "tegula:tokens"

static uint64_t poll_us(const tg_server *s)
{
    return (uint64_t)s->config->memcached_poll_ms * MS;
}

/* -- there or not */

void tg_server_disconnect(tg_server *s)
{
    tg_wire_close(&s->wire);
    s->owed = 0;
    s->tokens.generation[0] = '\0';
    s->state = TG_SERVER_DOWN;
    s->address_at = 0;
    s->next_us = 0;
}

static void begin(tg_server *s, uint64_t now);

static const char *what_failed(tg_wire_fault fault)
{
    static const char *const texts[] = {[TG_WIRE_FINE] = "cannot be connected to",
                                        [TG_WIRE_CLOSED] = "has closed the connection",
                                        [TG_WIRE_LATE] = "does not answer in time",
                                        [TG_WIRE_GARBAGE] = "does not speak as memcached 1.6 does"};
    return texts[fault];
}

/* How long it is left alone. Nobody waits for one that is not up, so it is asked again soon. One
 * that made somebody wait after many answers may only have had to wait itself, on a busy machine;
 * but one that does so again before it has given as many is left alone ever longer. */
static uint64_t pause_after(const tg_server *s, bool was_up, bool proven)
{
    uint64_t doubled = 2 * s->pause_us;
    if (was_up && !proven)
        return TG_MIN(TG_MAX(doubled, DISTRUST_US), LONGEST_DISTRUST_US);
    return was_up ? PAUSE_US
                  : TG_MAX(s->pause_us, TG_MIN(TG_MAX(doubled, PAUSE_US), LONGEST_PAUSE_US));
}

static void log_ejection(const tg_server *s, bool was_up, tg_wire_fault fault)
{
    bool news = was_up || s->pause_us == PAUSE_US;
    tg_log(news ? TG_LOG_ERROR : TG_LOG_DEBUG,
           "memcached %.*s%s%.*s %s; it is left alone for %.1f s", TG_STR_ARG(s->host),
           s->port.n ? ":" : "", TG_STR_ARG(s->port), what_failed(fault),
           (double)s->pause_us / (1000 * MS));
}

/* A server that ends a connection, as one does that is started again, is tried again at once: that
 * takes no time. Of one that made somebody wait all workers hear. */
static bool eject(tg_server *s)
{
    uint64_t now = tg_clock_us();
    tg_wire_fault fault = s->wire.fault;
    bool was_up = s->state == TG_SERVER_UP;
    bool proven = was_up && s->answered >= PROVEN;
    bool at_once = was_up && fault == TG_WIRE_CLOSED && (proven || !s->pause_us);
    if (!was_up && s->address_at + 1 < s->n_addresses) {
        tg_wire_close(&s->wire); /* "localhost" is ::1 as well as 127.0.0.1 */
        s->address_at++;
        begin(s, now);
        return false;
    }
    ++*s->failures;
    tg_server_disconnect(s);
    if (at_once)
        return false;
    s->pause_us = pause_after(s, was_up, proven);
    s->next_us = now + s->pause_us;
    if (was_up)
        atomic_store(s->out, s->next_us);
    log_ejection(s, was_up, fault);
    return false;
}

static void begin(tg_server *s, uint64_t now)
{
    s->state = TG_SERVER_CONNECTING;
    s->out_seen = atomic_load(s->out);
    s->next_us = now + (uint64_t)s->config->memcached_connect_ms * MS;
    if (!tg_wire_open(&s->wire, (const struct sockaddr *)&s->address[s->address_at],
                      s->address_bytes[s->address_at]))
        eject(s);
}

/* The settings, since they tell the size of the largest item, and nothing else than memcached
 * answers so. */
static void greet(tg_server *s, uint64_t now)
{
    struct iovec question = {"stats settings\r\n", 16};
    s->state = TG_SERVER_GREETING;
    s->next_us = now + GREETING_US;
    if (!tg_wire_send(&s->wire, &question, 1, now))
        eject(s);
}

static void take_setting(tg_server *s, tg_str line)
{
    tg_str name = TG_STR("STAT item_size_max ");
    uint64_t bytes;
    if (tg_str_starts(line, name) &&
        tg_parse_u64((tg_str){line.p + name.n, line.n - name.n}, &bytes))
        s->item_bytes = (size_t)TG_MIN(bytes, (uint64_t)1 << 30);
}

static void welcome(tg_server *s)
{
    tg_str line;
    while (tg_wire_line(&s->wire, UINT64_MAX, &line) && !tg_str_is(line, "END")) {
        if (!tg_str_starts(line, TG_STR("STAT ")))
            tg_wire_fail(&s->wire, TG_WIRE_GARBAGE);
        take_setting(s, line);
    }
    if (s->wire.fault != TG_WIRE_FINE || s->wire.at != s->wire.in.len) {
        tg_wire_fail(&s->wire, TG_WIRE_GARBAGE);
        eject(s);
        return;
    }
    if (s->pause_us)
        tg_log(TG_LOG_ERROR, "memcached %.*s%s%.*s is back", TG_STR_ARG(s->host),
               s->port.n ? ":" : "", TG_STR_ARG(s->port));
    s->state = TG_SERVER_UP;
    s->answered = 0;
    s->asked_us = 0;
}

static bool greeting_is_whole(const tg_server *s)
{
    return tg_str_ends(tg_buf_view(&s->wire.in), TG_STR("END\r\n"));
}

/* Each state moves on at most once; the next look does the rest. */
static void step(tg_server *s, uint64_t now, uint64_t until_us)
{
    if (s->state == TG_SERVER_UP)
        return;
    if (s->state == TG_SERVER_DOWN) {
        if (s->n_addresses && now >= TG_MAX(s->next_us, atomic_load(s->out)))
            begin(s, now);
        return;
    }
    if (s->state == TG_SERVER_CONNECTING) {
        int connected = tg_wire_connected(&s->wire);
        if (connected > 0)
            greet(s, now);
        else if (connected < 0 || now > s->next_us)
            eject(s);
        return;
    }
    bool more = tg_wire_fill(&s->wire, MAX_GREETING, until_us);
    if (more && greeting_is_whole(s)) {
        welcome(s);
    } else if (!more && s->wire.fault == TG_WIRE_LATE && now <= s->next_us) {
        s->wire.fault = TG_WIRE_FINE;
    } else if (!more || s->wire.in.len > MAX_GREETING || now > s->next_us) {
        tg_wire_fail(&s->wire, more ? TG_WIRE_GARBAGE : TG_WIRE_LATE);
        eject(s);
    }
}

/* Another worker has found out that it fails, perhaps long ago. What it has sent since the
 * connection was begun, such as a greeting that was not read yet, proves nothing then. */
static bool is_news(const tg_server *s)
{
    return s->state != TG_SERVER_DOWN && atomic_load(s->out) != s->out_seen;
}

void tg_server_tend(tg_server *s)
{
    uint64_t now = tg_clock_us();
    if (is_news(s)) {
        tg_server_disconnect(s);
        s->next_us = atomic_load(s->out);
    }
    if (s->state == TG_SERVER_UP)
        return;
    bool begins = s->state == TG_SERVER_DOWN;
    step(s, now, 0);
    if (!begins || s->state != TG_SERVER_CONNECTING)
        return;
    for (int i = 0; i < 2 && s->state != TG_SERVER_DOWN; i++)
        step(s, now, now + PROBE_US);
}

void tg_server_await(tg_server *s, uint64_t until_us)
{
    uint64_t now = tg_clock_us();
    do {
        step(s, now, until_us);
        if (s->state == TG_SERVER_CONNECTING && !tg_wire_connected(&s->wire)) {
            struct timespec nap = {.tv_nsec = 200000};
            nanosleep(&nap, NULL);
        }
        now = tg_clock_us();
    } while ((s->state == TG_SERVER_CONNECTING || s->state == TG_SERVER_GREETING) &&
             now < until_us);
}

/* -- what it is asked */

static bool is_refusal(tg_str line)
{
    return tg_str_starts(line, TG_STR("SERVER_ERROR"));
}

/* A store may be refused for want of memory; the connection is none the worse for it. */
static bool is_reply_of_store(tg_server *s, tg_str line)
{
    if (is_refusal(line)) {
        ++*s->failures;
        return true;
    }
    line.n = TG_MIN(line.n, 2);
    return tg_str_is(line, "HD") || tg_str_is(line, "NS") || tg_str_is(line, "NF");
}

bool tg_server_settle(tg_server *s, uint64_t until_us)
{
    tg_str line;
    for (; s->owed; s->owed--) {
        if (!tg_wire_line(&s->wire, until_us, &line))
            return eject(s);
        if (!is_reply_of_store(s, line)) {
            tg_wire_fail(&s->wire, TG_WIRE_GARBAGE);
            return eject(s);
        }
    }
    return true;
}

static bool send_text(tg_server *s, const char *text, size_t n, uint64_t until_us)
{
    struct iovec part = {(void *)text, n};
    return tg_wire_send(&s->wire, &part, 1, until_us) || eject(s);
}

/* "VA <bytes> flags" and the block. False on failure, with the server ejected. */
static bool read_value(tg_server *s, tg_str line, uint64_t until_us, tg_str *flags, tg_str *value)
{
    tg_str word, digits;
    uint64_t n;
    tg_str_cut(line, ' ', &word, &line);
    tg_str_cut(line, ' ', &digits, flags);
    if (tg_str_is(word, "VA") && tg_parse_u64(digits, &n) && n <= s->item_bytes) {
        char won = tg_str_is(*flags, "W") ? 'W' : tg_str_is(*flags, "Z") ? 'Z' : ' ';
        if (tg_wire_block(&s->wire, (size_t)n, until_us, value)) {
            *flags = won == 'W' ? TG_STR("W") : won == 'Z' ? TG_STR("Z") : TG_STR("");
            return true;
        }
    } else {
        tg_wire_fail(&s->wire, TG_WIRE_GARBAGE);
    }
    return eject(s);
}

tg_got tg_server_get(tg_server *s, tg_str key, bool lock, uint64_t until_us, tg_str *value)
{
    char question[TG_MAX_KEY_BYTES + 32];
    tg_str line, flags;
    /* N: what is missing is put there, empty, for so long; W tells the one whose question did it,
     * Z all others. */
    int n = lock ? snprintf(question, sizeof question, "mg %.*s v N%d\r\n", TG_STR_ARG(key), LOCK_S)
                 : snprintf(question, sizeof question, "mg %.*s v\r\n", TG_STR_ARG(key));
    if (!send_text(s, question, (size_t)n, until_us) || !tg_server_settle(s, until_us))
        return TG_GOT_NOTHING;
    s->answered++;
    if (!tg_wire_line(&s->wire, until_us, &line)) {
        eject(s);
        return TG_GOT_NOTHING;
    }
    if (is_refusal(line))
        ++*s->failures;
    if (is_refusal(line) || tg_str_is(line, "EN") || !read_value(s, line, until_us, &flags, value))
        return TG_GOT_NOTHING;
    if (value->n)
        return TG_GOT_VALUE;
    return flags.n == 0 || !lock ? TG_GOT_NOTHING : flags.p[0] == 'W' ? TG_GOT_LOCK : TG_GOT_LOCKED;
}

/* memcached takes more than 30 days for a point in time. */
static long long life(const tg_config *config)
{
    long long ttl = config->memcached_timeout_s;
    return ttl > MAX_TTL_S ? (long long)time(NULL) + ttl : ttl;
}

bool tg_server_set(tg_server *s, tg_str key, tg_str head, tg_str body)
{
    char question[TG_MAX_KEY_BYTES + 64];
    int n = snprintf(question, sizeof question, "ms %.*s %zu T%lld\r\n", TG_STR_ARG(key),
                     head.n + body.n, life(s->config));
    struct iovec parts[] = {
        {question, (size_t)n}, {(void *)head.p, head.n}, {(void *)body.p, body.n}, {"\r\n", 2}};
    if (!tg_wire_send(&s->wire, parts, 4, tg_clock_us() + poll_us(s)))
        return eject(s);
    s->owed++;
    return true;
}

bool tg_server_delete(tg_server *s, tg_str key)
{
    char question[TG_MAX_KEY_BYTES + 16];
    int n = snprintf(question, sizeof question, "md %.*s\r\n", TG_STR_ARG(key));
    if (!send_text(s, question, (size_t)n, tg_clock_us() + poll_us(s)))
        return false;
    s->owed++;
    return true;
}

bool tg_server_takes(const tg_server *s, size_t key_n, size_t value_n)
{
    size_t spare = key_n + ITEM_OVERHEAD;
    return s->item_bytes > spare && value_n <= s->item_bytes - spare;
}

bool tg_is_cache_key(tg_str key)
{
    for (size_t i = 0; i < key.n; i++)
        if ((unsigned char)key.p[i] <= ' ' || key.p[i] == 0x7f || key.p[i] == '%')
            return false;
    return key.n > 0 && key.n <= TG_MAX_KEY_BYTES;
}

/* -- tokens */

static void make_token(char token[TG_TOKEN_DIGITS + 1])
{
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits)
        bits = tg_clock_us() * UINT64_C(0x9E3779B97F4A7C15);
    snprintf(token, TG_TOKEN_DIGITS + 1, "%016" PRIx64, bits);
}

/* mode: "E" puts them there unless some are, "S" in any case. */
static bool send_tokens(tg_server *s, const tg_tokens *t, const char *mode, uint64_t until_us)
{
    char question[160];
    int n = snprintf(question, sizeof question,
                     "ms " CONTROL_KEY " %d T0 M%s\r\n%s%s\r\nmg " CONTROL_KEY " v\r\n",
                     2 * TG_TOKEN_DIGITS, mode, t->generation, t->purged);
    if (!send_text(s, question, (size_t)n, until_us))
        return false;
    s->owed++;
    return tg_server_settle(s, until_us);
}

static bool are_tokens(tg_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!((text.p[i] >= '0' && text.p[i] <= '9') || (text.p[i] >= 'a' && text.p[i] <= 'f')))
            return false;
    return text.n == 2 * (size_t)TG_TOKEN_DIGITS;
}

static bool receive_tokens(tg_server *s, uint64_t until_us)
{
    tg_str line, flags, value;
    s->asked_us = tg_clock_us();
    s->tokens.generation[0] = '\0';
    if (!tg_wire_line(&s->wire, until_us, &line))
        return eject(s);
    if (tg_str_is(line, "EN") || is_refusal(line))
        return true; /* no memory for them: nothing can be kept there */
    if (!read_value(s, line, until_us, &flags, &value))
        return false;
    if (!are_tokens(value)) {
        tg_wire_fail(&s->wire, TG_WIRE_GARBAGE);
        return eject(s);
    }
    memcpy(s->tokens.generation, value.p, TG_TOKEN_DIGITS);
    memcpy(s->tokens.purged, value.p + TG_TOKEN_DIGITS, TG_TOKEN_DIGITS);
    return true;
}

bool tg_server_read_tokens(tg_server *s, uint64_t until_us)
{
    tg_tokens fresh;
    make_token(fresh.generation);
    make_token(fresh.purged);
    return send_tokens(s, &fresh, "E", until_us) && receive_tokens(s, until_us);
}

bool tg_server_renew_tokens(tg_server *s, bool generation, uint64_t until_us)
{
    if (!tg_server_read_tokens(s, until_us))
        return false;
    tg_tokens next = s->tokens;
    if (generation || !next.generation[0])
        make_token(next.generation);
    make_token(next.purged);
    return send_tokens(s, &next, "S", until_us) && receive_tokens(s, until_us) &&
           strcmp(s->tokens.purged, next.purged) == 0;
}
