/* The response cache: memory, values, the ring, and real memcached servers that come and go. */
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/lru.h"
#include "cache/ring.h"
#include "cache/value.h"
#include "check.h"
#include "tegula/checksum.h"
#include "tegula/clock.h"
#include "tegula/log.h"
#include "tegula/mem.h"

#define MS 1000

static tg_cached answer(const char *body, size_t n)
{
    return (tg_cached){.status = 200,
                       .type = TG_STR("image/jpeg"),
                       .etag = TG_STR("\"tag\""),
                       .modified_s = 1234567890123,
                       .body = {body, n}};
}

static bool same(const tg_cached *a, const tg_cached *b)
{
    return a->status == b->status && a->modified_s == b->modified_s &&
           tg_str_eq(a->type, b->type) && tg_str_eq(a->etag, b->etag) &&
           tg_str_eq(a->body, b->body);
}

static void test_checksum(void)
{
    uint8_t bytes[256] = {0};
    uint64_t sum = tg_checksum(bytes, sizeof bytes, 0);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK(tg_checksum(bytes, sizeof bytes, 0) != sum);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    CHECK(tg_checksum(bytes, 255, 0) != sum); /* zeros at the end count */
    CHECK(tg_checksum(bytes, sizeof bytes, 1) != sum);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    sum = tg_checksum(bytes, sizeof bytes, 0);
    for (size_t i = 0; i + 8 < sizeof bytes; i++) { /* so does where words stand */
        uint8_t moved[sizeof bytes];
        memcpy(moved, bytes, sizeof bytes);
        memcpy(moved + i, bytes + i + 4, 4);
        memcpy(moved + i + 4, bytes + i, 4);
        CHECK(tg_checksum(moved, sizeof moved, 0) != sum);
    }
}

static bool alive(void *ctx, unsigned server)
{
    return !(*(unsigned *)ctx & 1u << server);
}

/* Expected: computed from the description of the algorithm with Python's zlib. */
static void test_ring(void)
{
    static const struct {
        const char *key;
        int server, next;
    } cases[] = {
        {"/iiif/3/a.tif/full/max/0/default.jpg", 0, 2},
        {"a", 2, 1},
        {"b", 2, 1},
        {"c", 0, 2},
        {"tile-7", 2, 1},
        {"zz", 0, 2},
        {"10", 1, 2},
    };
    static tg_ring ring;
    unsigned dead = 0;
    CHECK_INT(tg_ring_find(&ring, TG_STR("a"), alive, &dead), -1);
    tg_ring_add(&ring, 0, TG_STR("10.0.0.1"), TG_STR("11211"));
    tg_ring_add(&ring, 1, TG_STR("10.0.0.2"), TG_STR("11211"));
    tg_ring_add(&ring, 2, TG_STR("/run/m.sock"), TG_STR(""));
    tg_ring_sort(&ring);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tg_str key = tg_str_of(cases[i].key);
        dead = 0;
        CHECK_INT(tg_ring_find(&ring, key, alive, &dead), cases[i].server);
        dead = 1u << cases[i].server;
        CHECK_INT(tg_ring_find(&ring, key, alive, &dead), cases[i].next);
        dead = 7;
        CHECK_INT(tg_ring_find(&ring, key, alive, &dead), -1);
    }
}

static void test_notes(void)
{
    char key[64], text[64], long_text[1200];
    tg_arena *arena = tg_arena_new();
    unsigned found = 0;
    CHECK_INT(tg_notes_find(TG_STR("a"), arena).n, 0);
    CHECK(tg_notes_open());
    tg_notes_put(TG_STR("a"), TG_STR("note"));
    tg_notes_put(TG_STR("b"), TG_STR("another"));
    tg_notes_put(TG_STR("a"), TG_STR("new note"));
    tg_str note = tg_notes_find(TG_STR("a"), arena);
    CHECK_TEXT(note.p, note.n, "new note");
    memset(long_text, 'x', sizeof long_text);
    tg_notes_put(TG_STR("b"), (tg_str){long_text, sizeof long_text});
    note = tg_notes_find(TG_STR("b"), arena);
    CHECK_TEXT(note.p, note.n, "another");
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 20000; i++) { /* more than there is room for */
            tg_arena_reset(arena);
            snprintf(key, sizeof key, "key %d", i);
            snprintf(text, sizeof text, "text %d", i);
            if (pass == 0)
                tg_notes_put(tg_str_of(key), tg_str_of(text));
            note = tg_notes_find(tg_str_of(key), arena);
            CHECK(note.n == 0 || tg_str_is(note, text));
            found += pass == 1 && note.n;
        }
    CHECK(found > 6000 && found <= 8192);
    tg_arena_free(arena);
}

/* Readers never see halves of what several writers put there at once. */
static void test_notes_of_many(void)
{
    char text[512];
    tg_arena *arena = tg_arena_new();
    pid_t writers[2];
    for (int w = 0; w < 2; w++) {
        writers[w] = fork();
        if (writers[w] == 0)
            for (unsigned i = 0;; i++) {
                memset(text, 'a' + (int)(i % 26), sizeof text);
                tg_notes_put(TG_STR("shared"), (tg_str){text, 200 + i % 300});
            }
    }
    for (int i = 0; i < 200000; i++) {
        tg_arena_reset(arena);
        tg_str note = tg_notes_find(TG_STR("shared"), arena);
        bool whole = true;
        for (size_t k = 1; k < note.n; k++)
            whole &= note.p[k] == note.p[0];
        CHECK(whole);
    }
    for (int w = 0; w < 2; w++) {
        kill(writers[w], SIGKILL);
        waitpid(writers[w], NULL, 0);
    }
    tg_arena_free(arena);
}

static void test_lru(void)
{
    static char body[10000];
    tg_cached got, value = answer(body, 1000), large = answer(body, 5000);
    tg_lru *lru = tg_lru_new(10000);
    tg_lru_put(lru, TG_STR("large"), &large); /* more than an eighth */
    CHECK(!tg_lru_get(lru, TG_STR("large"), &got));
    char key[] = "0";
    for (char i = '0'; i < '8'; i++) {
        body[0] = i;
        key[0] = i;
        tg_lru_put(lru, tg_str_of(key), &value);
        CHECK(tg_lru_get(lru, TG_STR("0"), &got) && got.body.p[0] == '0');
    }
    CHECK(tg_lru_get(lru, TG_STR("7"), &got) && got.body.n == 1000 && got.body.p[0] == '7');
    CHECK(tg_str_is(got.type, "image/jpeg") && tg_str_is(got.etag, "\"tag\""));
    tg_lru_put(lru, TG_STR("8"), &value);
    CHECK(!tg_lru_get(lru, TG_STR("1"), &got)); /* asked for least lately */
    CHECK(tg_lru_get(lru, TG_STR("0"), &got));
    body[0] = 'x';
    tg_lru_put(lru, TG_STR("7"), &value); /* in place of the old one */
    CHECK(tg_lru_get(lru, TG_STR("7"), &got) && got.body.p[0] == 'x');
    tg_lru_shrink(lru, 5000);
    CHECK(tg_image_in_use() <= 5000 && tg_lru_get(lru, TG_STR("7"), &got));
    tg_lru_clear(lru);
    CHECK_INT(tg_image_in_use(), 0);
    tg_lru_free(lru);
    lru = tg_lru_new(0);
    tg_lru_put(lru, TG_STR("0"), &value);
    CHECK(!tg_lru_get(lru, TG_STR("0"), &got));
    tg_lru_free(lru);
}

static void test_value(void)
{
    tg_buf b = {0};
    tg_cached got, value = answer("the body", 8);
    tg_value_head(TG_STR("key"), &value, &b);
    tg_buf_str(&b, value.body);
    tg_str whole = tg_buf_view(&b);
    CHECK(tg_value_read(whole, TG_STR("key"), &got) && same(&got, &value));
    CHECK(!tg_value_read(whole, TG_STR("kex"), &got));
    CHECK(!tg_value_read(whole, TG_STR("keys"), &got));
    for (size_t n = 0; n < whole.n; n++) {
        CHECK(!tg_value_read((tg_str){whole.p, n}, TG_STR("key"), &got));
        for (int bit = 0; bit < 8; bit++) {
            b.data[n] ^= (uint8_t)(1 << bit);
            CHECK(!tg_value_read(whole, TG_STR("key"), &got));
            b.data[n] ^= (uint8_t)(1 << bit);
        }
    }
    tg_buf_z(&b, "x");
    CHECK(!tg_value_read(tg_buf_view(&b), TG_STR("key"), &got));
    tg_buf_free(&b);
}

/* -- real servers */

static char folder[] = "/tmp/tegula-cache-XXXXXX";

typedef struct memcached {
    char socket[64];
    pid_t pid;
} memcached;

static bool connects(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    bool ok = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return ok;
}

static void start(memcached *m, const char *more)
{
    snprintf(m->socket, sizeof m->socket, "%s/m", folder);
    unlink(m->socket);
    m->pid = fork();
    if (m->pid == 0) {
        char *argv[] = {"memcached", "-s", m->socket,    "-u", "nobody",
                        "-t",        "1",  (char *)more, NULL};
        if (geteuid() != 0) {
            argv[3] = "-t";
            argv[4] = "1";
        }
        execvp(argv[0], argv);
        _exit(127);
    }
    for (int i = 0; i < 500 && !connects(m->socket) && waitpid(m->pid, NULL, WNOHANG) == 0; i++)
        usleep(10 * MS);
}

static void end(memcached *m)
{
    kill(m->pid, SIGKILL);
    waitpid(m->pid, NULL, 0);
}

static bool have_memcached(void)
{
    memcached m;
    start(&m, NULL);
    bool ok = connects(m.socket);
    end(&m);
    return ok;
}

static tg_config config_for(const memcached *m)
{
    tg_config config;
    tg_config_defaults(&config);
    config.memcached_servers = m->socket;
    config.image_cache_mib = 0;
    return config;
}

static tg_cache_key key(const char *text)
{
    return (tg_cache_key){.text = tg_str_of(text), .hash = tg_str_of(text), .file = TG_STR("f")};
}

/* Each a request of its own. */
static tg_cache_found get(tg_cache *c, const tg_cache_key *k, tg_cached *out)
{
    tg_cache_begin(c);
    return tg_cache_get(c, k, out);
}

static tg_cache_found look(tg_cache *c, const tg_cache_key *k, tg_cached *out)
{
    tg_cache_begin(c);
    return tg_cache_look(c, k, out);
}

static void test_memory_alone(void)
{
    tg_config config;
    tg_config_defaults(&config);
    tg_cached got, value = answer("body", 4);
    tg_cache_key a = key("a");
    tg_cache *c = tg_cache_new(&config);
    CHECK(!tg_cache_is_shared(c));
    CHECK_INT(get(c, &a, &got), TG_CACHE_ALONE);
    tg_cache_put(c, &a, &value);
    CHECK_INT(get(c, &a, &got), TG_CACHE_HERE);
    CHECK(same(&got, &value));
    tg_cache_clear(c);
    CHECK_INT(get(c, &a, &got), TG_CACHE_ALONE);
    tg_cache_give_up(c, &a);
    tg_cache_free(c);
}

/* Of the memory of images a quarter is for answers. */
static void test_budget(void)
{
    tg_config config;
    tg_config_defaults(&config);
    config.image_cache_mib = 8;
    static char body[200000];
    char name[16];
    unsigned held = 0;
    tg_cached got, value = answer(body, sizeof body);
    tg_cache *c = tg_cache_new(&config);
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "%d", i);
        tg_cache_key k = key(name);
        tg_cache_put(c, &k, &value);
    }
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "%d", i);
        tg_cache_key k = key(name);
        held += get(c, &k, &got) == TG_CACHE_HERE;
    }
    CHECK_INT(held, (2 << 20) / sizeof body);
    CHECK_INT(tg_cache_counted(c)->here, held);
    CHECK_INT(tg_cache_counted(c)->missed, 20 - held);
    CHECK_INT(look(c, &(tg_cache_key){.text = TG_STR("19")}, &got), TG_CACHE_HERE);
    CHECK_INT(tg_cache_counted(c)->here, held + 1);
    tg_cache_free(c);
}

static void test_shared(void)
{
    memcached m;
    static char body[200000], too_long[2 << 20];
    start(&m, NULL);
    tg_config config = config_for(&m);
    tg_cache *one = tg_cache_new(&config), *two = tg_cache_new(&config);
    tg_cache_key a = key("a"), b = key("b"), c = key("c");
    tg_cached got, value = answer(body, sizeof body), large = answer(too_long, sizeof too_long);
    memset(body, 'a', sizeof body);
    CHECK_INT(get(one, &a, &got), TG_CACHE_MISS);
    tg_cache_put(one, &a, &value);
    CHECK_INT(get(two, &a, &got), TG_CACHE_SHARED);
    CHECK(same(&got, &value));
    CHECK_INT(get(one, &a, &got), TG_CACHE_SHARED);
    tg_cache_key other = {.text = TG_STR("another"), .hash = a.hash, .file = a.file};
    CHECK_INT(get(one, &other, &got), TG_CACHE_ALONE); /* hashes alone do not do */
    CHECK_INT(tg_cache_counted(one)->damaged, 1);
    CHECK_INT(get(one, &b, &got), TG_CACHE_MISS);
    tg_cache_give_up(one, &b);
    CHECK_INT(get(two, &b, &got), TG_CACHE_MISS);
    tg_cache_put(two, &b, &large);
    uint64_t begin = tg_clock_us();
    CHECK_INT(get(one, &b, &got), TG_CACHE_ALONE); /* nobody waits for such a one */
    CHECK(tg_clock_us() - begin < 100 * MS);
    CHECK_INT(tg_cache_counted(two)->too_large, 1);
    CHECK_INT(get(one, &c, &got), TG_CACHE_MISS);
    begin = tg_clock_us();
    CHECK_INT(get(two, &c, &got), TG_CACHE_ALONE); /* one has it, and never comes */
    begin = tg_clock_us() - begin;
    CHECK(begin > 900 * MS && begin < 1500 * MS);
    CHECK_INT(tg_cache_counted(one)->failures + tg_cache_counted(two)->failures, 0);
    tg_cache_free(one);
    tg_cache_free(two);
    end(&m);
}

/* One renders, the other waits for it. */
static void test_waiting(void)
{
    memcached m;
    start(&m, NULL);
    tg_config config = config_for(&m);
    tg_cache *one = tg_cache_new(&config);
    tg_cache_key a = key("a");
    tg_cached got, value = answer("body", 4);
    CHECK_INT(get(one, &a, &got), TG_CACHE_MISS);
    pid_t pid = fork();
    if (pid == 0) {
        tg_cache *two = tg_cache_new(&config);
        bool ok = get(two, &a, &got) == TG_CACHE_SHARED && same(&got, &value) &&
                  tg_cache_counted(two)->waited == 1;
        _exit(ok ? 0 : 1);
    }
    usleep(100 * MS);
    tg_cache_put(one, &a, &value);
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
    tg_cache_free(one);
    end(&m);
}

static uint64_t timed_get(tg_cache *c, const tg_cache_key *k, tg_cache_found want)
{
    tg_cached got;
    uint64_t begin = tg_clock_us();
    CHECK_INT(get(c, k, &got), want);
    return tg_clock_us() - begin;
}

/* Until the server is used again, as a service with requests would find out. */
static void await(tg_cache *c, const tg_cache_key *k, tg_cache_found want)
{
    tg_cached got;
    tg_cache_found found = get(c, k, &got);
    for (int i = 0; i < 500 && found != want; i++) {
        usleep(10 * MS);
        found = get(c, k, &got);
    }
    CHECK_INT(found, want);
}

static void test_frozen(void)
{
    memcached m;
    start(&m, NULL);
    tg_config config = config_for(&m);
    tg_cache *c = tg_cache_new(&config);
    tg_cache_key a = key("a");
    tg_cached value = answer("body", 4);
    timed_get(c, &a, TG_CACHE_MISS);
    tg_cache_put(c, &a, &value);
    timed_get(c, &a, TG_CACHE_SHARED);
    kill(m.pid, SIGSTOP);
    waitpid(m.pid, NULL, WUNTRACED);
    uint64_t us = timed_get(c, &a, TG_CACHE_ALONE);
    CHECK(us > 30 * MS && us < 60 * MS);
    for (int i = 0; i < 50; i++) {
        CHECK(timed_get(c, &a, TG_CACHE_ALONE) < 10 * MS);
        tg_cache_put(c, &a, &value);
        usleep(50 * MS); /* beyond the first try to come back */
    }
    kill(m.pid, SIGCONT);
    await(c, &a, TG_CACHE_SHARED);
    tg_cache_free(c);
    end(&m);
}

static void test_killed_and_back(void)
{
    memcached m;
    start(&m, NULL);
    tg_config config = config_for(&m);
    tg_cache *c = tg_cache_new(&config);
    tg_cache_key a = key("a");
    tg_cached value = answer("body", 4);
    timed_get(c, &a, TG_CACHE_MISS);
    tg_cache_put(c, &a, &value);
    end(&m);
    for (int i = 0; i < 20; i++)
        CHECK(timed_get(c, &a, TG_CACHE_ALONE) < 10 * MS);
    start(&m, NULL);
    await(c, &a, TG_CACHE_MISS); /* it has come back empty */
    tg_cache_put(c, &a, &value);
    timed_get(c, &a, TG_CACHE_SHARED);
    end(&m);
    start(&m, NULL); /* between two requests */
    await(c, &a, TG_CACHE_MISS);
    tg_cache_free(c);
    end(&m);
}

static void test_no_memory(void)
{
    memcached m;
    static char body[300000];
    char name[16];
    start(&m, "-M");
    tg_config config = config_for(&m);
    tg_cache *c = tg_cache_new(&config);
    tg_cached got, value = answer(body, sizeof body);
    for (int i = 0; i < 400; i++) { /* twice what it holds */
        snprintf(name, sizeof name, "%d", i);
        tg_cache_key k = key(name);
        CHECK(get(c, &k, &got) >= TG_CACHE_MISS);
        tg_cache_put(c, &k, &value);
    }
    tg_cache_key first = key("0");
    timed_get(c, &first, TG_CACHE_SHARED);
    CHECK(tg_cache_counted(c)->failures > 100);
    CHECK_INT(tg_cache_counted(c)->damaged, 0);
    tg_cache_free(c);
    end(&m);
}

static bool owns_slash(void *ctx, tg_str k)
{
    (void)ctx;
    return k.p[0] == '/';
}

static void test_purge(void)
{
    memcached m;
    start(&m, NULL);
    tg_config config = config_for(&m);
    config.cache_layout = TG_LAYOUT_NGINX;
    tg_cache *c = tg_cache_new(&config);
    tg_cache_key a = key("a"), b = key("b");
    tg_cached value = answer("body", 4);
    b.file = TG_STR("g");
    timed_get(c, &a, TG_CACHE_MISS);
    timed_get(c, &b, TG_CACHE_MISS);
    tg_cache_put(c, &a, &value);
    tg_cache_put(c, &b, &value);
    tg_cache_put_plain(c, TG_STR("/x"), value.body);
    tg_cache_put_plain(c, TG_STR("not /x"), value.body); /* a blank: no key */
    timed_get(c, &a, TG_CACHE_SHARED);
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    tg_cache_purge what = {.file = TG_STR("f"), .owns = owns_slash};
    CHECK(tg_cache_purge_all(&config, &what, out));
    fflush(out);
    CHECK(strstr(text, "2 answers deleted"));
    timed_get(c, &a, TG_CACHE_MISS);
    timed_get(c, &b, TG_CACHE_SHARED);
    what = (tg_cache_purge){.all = true, .owns = owns_slash};
    CHECK(tg_cache_purge_all(&config, &what, out));
    usleep(1100 * MS); /* workers look once a second */
    timed_get(c, &b, TG_CACHE_MISS);
    end(&m);
    CHECK(!tg_cache_purge_all(&config, &what, out));
    fclose(out);
    CHECK(strstr(text, "cannot be reached"));
    free(text);
    tg_cache_free(c);
}

int main(void)
{
    test_checksum();
    test_ring();
    test_notes();
    test_notes_of_many();
    test_lru();
    test_value();
    test_memory_alone();
    test_budget();
    if (!mkdtemp(folder) || chmod(folder, 0777) != 0)
        return 1;
    if (have_memcached()) {
        tg_log_open("/dev/null", 1);
        test_shared();
        test_waiting();
        test_frozen();
        test_killed_and_back();
        test_no_memory();
        test_purge();
    } else {
        puts("no memcached here: only what needs none was tested");
    }
    char socket[64];
    snprintf(socket, sizeof socket, "%s/m", folder);
    unlink(socket);
    rmdir(folder);
    return check_done();
}
