/* Reading requests: FastCGI 1.0, sections 3 to 5. Nothing that the peer says of lengths is believed
 * before it is there. */
#include <errno.h>
#include <sys/socket.h>

#include "records.h"
#include "tegula/num.h"

#define READ_BYTES       16384
#define RESPONDER        1
#define KEEP_CONNECTION  1
#define MAX_VALUES_BYTES 4096 /* of a reply to GET_VALUES, which has three names to give */

typedef struct reader {
    int fd;
    size_t at, n;
    unsigned char bytes[READ_BYTES];
} reader;

static bool fill(reader *in)
{
    ssize_t n;
    do
        n = recv(in->fd, in->bytes, sizeof in->bytes, 0);
    while (n < 0 && errno == EINTR);
    in->at = 0;
    in->n = n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* to: NULL drops them. */
static bool take(reader *in, void *to, size_t n)
{
    while (n) {
        if (in->at == in->n && !fill(in))
            return false;
        size_t part = TG_MIN(n, in->n - in->at);
        if (to) {
            memcpy(to, in->bytes + in->at, part);
            to = (char *)to + part;
        }
        in->at += part;
        n -= part;
    }
    return true;
}

static bool append(reader *in, tg_buf *to, size_t n)
{
    uint8_t *place = tg_buf_reserve(to, n);
    if (!place || !take(in, place, n))
        return false;
    to->len += n;
    return true;
}

/* ---- names and values (section 3.4) ---- */

/* One byte, or four with the highest bit set. */
static bool take_length(tg_str *s, size_t *out)
{
    const unsigned char *p = (const unsigned char *)s->p;
    size_t n = s->n && p[0] & 0x80 ? 4 : 1;
    if (s->n < n)
        return false;
    *out = n == 1 ? p[0] : (size_t)(p[0] & 0x7f) << 24 | (size_t)p[1] << 16 | p[2] << 8 | p[3];
    *s = (tg_str){s->p + n, s->n - n};
    return true;
}

static bool take_text(tg_str *s, size_t n, tg_str *out)
{
    if (n > s->n)
        return false;
    *out = (tg_str){s->p, n};
    *s = (tg_str){s->p + n, s->n - n};
    return n == 0 || !memchr(out->p, '\0', n);
}

static bool take_pair(tg_str *s, tg_str *name, tg_str *value)
{
    size_t name_n, value_n;
    return take_length(s, &name_n) && take_length(s, &value_n) && take_text(s, name_n, name) &&
           take_text(s, value_n, value);
}

/* Moves it to `to`, which does not lie behind it. */
static uint8_t *put_text(uint8_t *to, tg_str s)
{
    if (s.n)
        memmove(to, s.p, s.n);
    to[s.n] = '\0';
    return to + s.n + 1;
}

/* In place: the two bytes or more of the lengths make room for what ends the texts. */
static bool decode_params(tg_buf *params)
{
    tg_str rest = tg_buf_view(params), name, value;
    uint8_t *to = params->data;
    while (rest.n) {
        if (!take_pair(&rest, &name, &value))
            return false;
        to = put_text(put_text(to, name), value);
    }
    params->len = params->data ? (size_t)(to - params->data) : 0;
    return true;
}

const char *tg_received_param(const tg_received *r, const char *name)
{
    const char *p = (const char *)r->params.data, *end = p ? p + r->params.len : NULL;
    while (p < end) {
        const char *value = p + strlen(p) + 1;
        if (strcmp(p, name) == 0)
            return value;
        p = value + strlen(value) + 1;
    }
    return NULL;
}

/* ---- short replies ---- */

static bool reply(const reader *in, unsigned request_id, int type, const void *content, size_t n)
{
    struct {
        tg_record_head head;
        unsigned char content[MAX_VALUES_BYTES];
    } record = {.head = tg_record_head_of(request_id, type, n, 0)};
    size_t all = sizeof record.head + n;
    memcpy(record.content, content, n);
    return send(in->fd, &record, all, MSG_NOSIGNAL) == (ssize_t)all;
}

static bool refuse(const reader *in, unsigned request_id, unsigned char why)
{
    const unsigned char end[8] = {[4] = why};
    return reply(in, request_id, TG_RECORD_END_REQUEST, end, sizeof end);
}

/* Those of the asked names that there are. A worker has one connection, with one request. */
static bool reply_values(const reader *in, tg_str asked)
{
    static const char *const known[][2] = {
        {"FCGI_MAX_CONNS", "1"}, {"FCGI_MAX_REQS", "1"}, {"FCGI_MPXS_CONNS", "0"}};
    tg_buf values = {.max = MAX_VALUES_BYTES};
    tg_str name, value;
    while (take_pair(&asked, &name, &value))
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            if (tg_str_is(name, known[i][0]))
                tg_buf_printf(&values, "%c%c%s%s", (int)name.n, 1, known[i][0], known[i][1]);
    tg_str all = tg_buf_view(&values);
    bool ok = reply(in, 0, TG_RECORD_GET_VALUES_RESULT, all.p, all.n);
    tg_buf_free(&values);
    return ok;
}

/* ---- records ---- */

/* Section 4. */
static bool take_management(reader *in, int type, size_t n)
{
    if (type < TG_RECORD_GET_VALUES)
        return false; /* of a request, which is never number 0 */
    if (type != TG_RECORD_GET_VALUES) {
        const unsigned char unknown[8] = {(unsigned char)type};
        return take(in, NULL, n) && reply(in, 0, TG_RECORD_UNKNOWN_TYPE, unknown, sizeof unknown);
    }
    tg_buf asked = {0};
    bool ok = append(in, &asked, n) && reply_values(in, tg_buf_view(&asked));
    tg_buf_free(&asked);
    return ok;
}

static bool take_begin(reader *in, unsigned request_id, size_t n, tg_received *r)
{
    unsigned char body[8];
    if (n != sizeof body || !take(in, body, n))
        return false;
    if (r->begun)
        return request_id != r->request_id && refuse(in, request_id, TG_REQUEST_CANT_MULTIPLEX);
    r->begun = true;
    r->request_id = request_id;
    r->keep = body[2] & KEEP_CONNECTION;
    if ((body[0] << 8 | body[1]) == RESPONDER)
        return true;
    refuse(in, request_id, TG_REQUEST_UNKNOWN_ROLE);
    return false;
}

static bool take_params(reader *in, size_t n, tg_received *r)
{
    if (r->has_params)
        return false;
    if (n)
        return append(in, &r->params, n);
    r->has_params = decode_params(&r->params);
    return r->has_params;
}

static bool take_body(reader *in, size_t n, tg_received *r)
{
    if (!r->has_params)
        return false;
    r->whole_body = n == 0;
    return n == 0 || append(in, &r->body, n);
}

static bool take_record(reader *in, tg_received *r)
{
    tg_record_head h;
    if (!take(in, &h, sizeof h) || h.version != 1)
        return false;
    unsigned request_id = (unsigned)h.request_id[0] << 8 | h.request_id[1];
    size_t n = (size_t)h.content_bytes[0] << 8 | h.content_bytes[1];
    bool ours = r->begun && request_id == r->request_id, ok;
    if (request_id == 0)
        ok = take_management(in, h.type, n);
    else if (h.type == TG_RECORD_BEGIN_REQUEST)
        ok = take_begin(in, request_id, n, r);
    else if (ours && h.type == TG_RECORD_PARAMS)
        ok = take_params(in, n, r);
    else if (ours && h.type == TG_RECORD_STDIN)
        ok = take_body(in, n, r);
    else
        ok = !(ours && h.type == TG_RECORD_ABORT_REQUEST) && take(in, NULL, n);
    return ok && take(in, NULL, h.padding_bytes);
}

static void begin(tg_received *r)
{
    tg_buf_reset(&r->params);
    tg_buf_reset(&r->body);
    r->params.max = TG_MAX_PARAMS_BYTES;
    r->body.max = TG_MAX_BODY_BYTES;
    r->begun = r->keep = r->has_params = r->whole_body = false;
}

/* A request whose body is cut short or too long is one all the same, and gets an answer. */
bool tg_records_receive(int fd, tg_received *out)
{
    reader in;
    in.fd = fd;
    in.at = in.n = 0;
    begin(out);
    while (!out->whole_body)
        if (!take_record(&in, out))
            break;
    out->keep = out->keep && out->whole_body && in.at == in.n;
    return out->has_params;
}

void tg_received_free(tg_received *r)
{
    tg_buf_free(&r->params);
    tg_buf_free(&r->body);
}
