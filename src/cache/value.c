#include "cache/value.h"

#include "tegula/checksum.h"

/* All numbers little-endian:
 *   0  "TGv1"
 *   4  status, bytes of type, of etag (16 bits each), 2 bytes of zero
 *  12  bytes of key (32 bits)
 *  16  bytes of body (64)
 *  24  time of last modification (64)
 *  32  checksum of all other bytes (64)
 *  40  type, etag, key, body
 */
#define HEAD_BYTES 40
#define SUM_AT     32
#define MAX_TEXT   ((size_t)1 << 12)
#define MAX_STATUS 999

static void put(uint8_t *at, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)at[i] << (8 * i);
    return v;
}

static uint64_t sum_of(const uint8_t *head, size_t head_n, tg_str body)
{
    uint64_t sum = tg_checksum(head, SUM_AT, 0);
    sum = tg_checksum(head + HEAD_BYTES, head_n - HEAD_BYTES, sum);
    return tg_checksum(body.p, body.n, sum);
}

void tg_value_head(tg_str key, const tg_cached *v, tg_buf *out)
{
    uint8_t fixed[HEAD_BYTES] = "TGv1";
    size_t start = out->len;
    put(fixed + 4, (uint64_t)v->status, 2);
    put(fixed + 6, v->type.n, 2);
    put(fixed + 8, v->etag.n, 2);
    put(fixed + 12, key.n, 4);
    put(fixed + 16, v->body.n, 8);
    put(fixed + 24, (uint64_t)v->modified_s, 8);
    tg_buf_append(out, fixed, sizeof fixed);
    tg_buf_str(out, v->type);
    tg_buf_str(out, v->etag);
    tg_buf_str(out, key);
    if (!out->failed)
        put(out->data + start + SUM_AT, sum_of(out->data + start, out->len - start, v->body), 8);
}

static tg_str take(tg_str *rest, size_t n)
{
    tg_str taken = {rest->p, n};
    rest->p += n;
    rest->n -= n;
    return taken;
}

bool tg_value_read(tg_str bytes, tg_str key, tg_cached *out)
{
    const uint8_t *p = (const uint8_t *)bytes.p;
    if (bytes.n < HEAD_BYTES || memcmp(p, "TGv1", 4) != 0)
        return false;
    size_t type_n = get(p + 6, 2), etag_n = get(p + 8, 2), key_n = get(p + 12, 4);
    uint64_t body_n = get(p + 16, 8);
    tg_str rest = {bytes.p + HEAD_BYTES, bytes.n - HEAD_BYTES};
    if (get(p + 4, 2) > MAX_STATUS || type_n > MAX_TEXT || etag_n > MAX_TEXT || key_n != key.n ||
        type_n + etag_n + key_n > rest.n || body_n != rest.n - type_n - etag_n - key_n)
        return false;
    *out = (tg_cached){.status = (int)get(p + 4, 2), .modified_s = (int64_t)get(p + 24, 8)};
    out->type = take(&rest, type_n);
    out->etag = take(&rest, etag_n);
    bool same_key = tg_str_eq(take(&rest, key_n), key);
    out->body = rest;
    return same_key && sum_of(p, bytes.n - rest.n, rest) == get(p + SUM_AT, 8);
}
