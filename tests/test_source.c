/* From identifiers to open images, over a directory of real files with a codec of our own: a file
 * that begins with "IMG" and a digit is an image of that many pages. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "tegula/mem.h"
#include "tegula/source.h"

static unsigned opened, closed;
static size_t held_bytes; /* what the next images say they hold */

typedef struct fake {
    tg_image image;
    int fd;
    char name; /* the fifth byte of the file */
} fake;

tg_image *tg_image_open(int fd, uint64_t size_bytes, unsigned page, const tg_read_options *options,
                        tg_err *err)
{
    (void)options;
    char head[5] = "";
    ssize_t n = pread(fd, head, sizeof head, 0);
    if (n < 4 || memcmp(head, "IMG", 3) != 0) {
        tg_fail(err, TG_ERR_NOT_IMAGE, "not an image");
        return NULL;
    }
    if (page >= (unsigned)(head[3] - '0')) {
        tg_fail(err, TG_ERR_NOT_FOUND, "no such page");
        return NULL;
    }
    fake *f = tg_new(sizeof *f);
    f->fd = fd;
    f->name = head[4];
    f->image.held_bytes = held_bytes;
    CHECK_INT(size_bytes, lseek(fd, 0, SEEK_END));
    opened++;
    return &f->image;
}

void tg_image_rest(tg_image *image)
{
    (void)image;
}

void tg_image_close(tg_image *image)
{
    if (!image)
        return;
    close(((fake *)image)->fd);
    free(image);
    closed++;
}

/* The tree: root/ with the images, outside/ beside it. */
static char root[64], outside[64];

static char *at(const char *directory, const char *name)
{
    static char path[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", directory, name);
    return path[turn];
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0);
    if (f)
        fclose(f);
}

static void make_tree(void)
{
    char base[] = "/tmp/tegula-source-XXXXXX";
    CHECK(mkdtemp(base));
    snprintf(root, sizeof root, "%s/root", base);
    snprintf(outside, sizeof outside, "%s/outside", base);
    CHECK(mkdir(root, 0755) == 0 && mkdir(outside, 0755) == 0);
    CHECK(mkdir(at(root, "sub"), 0755) == 0 && mkdir(at(root, "dir.tif"), 0755) == 0);
    put(at(root, "a.tif"), "IMG1a");
    put(at(root, "sub/b.tif"), "IMG1b");
    put(at(root, "stack.tif"), "IMG3s");
    put(at(root, "a;;1.tif"), "IMG1;");
    put(at(root, "lit;;2"), "IMG1l");
    put(at(root, "text.tif"), "hello");
    put(at(root, "empty.tif"), "");
    put(at(root, "..c.tif"), "IMG1c");
    put(at(root, "img_x.tif"), "IMG1x");
    put(at(outside, "secret.tif"), "IMG1S");
    CHECK(mkfifo(at(root, "fifo.tif"), 0644) == 0);
    CHECK(symlink("sub/b.tif", at(root, "inside.tif")) == 0);
    CHECK(symlink("../outside/secret.tif", at(root, "leak.tif")) == 0);
    CHECK(symlink("../outside", at(root, "leakdir")) == 0);
    CHECK(symlink("loop.tif", at(root, "loop.tif")) == 0);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    snprintf(sa.sun_path, sizeof sa.sun_path, "%s/socket.tif", root);
    CHECK(bind(fd, (struct sockaddr *)&sa, sizeof sa) == 0);
    close(fd);
}

static void remove_tree(void)
{
    char command[160];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    memcpy(strrchr(command, '/'), "'", 2); /* the directory above */
    CHECK_INT(system(command), 0);
}

static tg_config config_of(const char *prefix)
{
    return (tg_config){.filesystem_prefix = prefix,
                       .filesystem_suffix = "",
                       .follow_symlinks = true,
                       .metadata_cache_entries = 100,
                       .memory_bytes = (uint64_t)64 << 20,
                       .iiif_delimiter = ""};
}

/* The letter of the image that an identifier gives, 0 and the kind of error for none. */
static char letter(tg_sources *cache, tg_str identifier, tg_err_kind *kind)
{
    tg_err err = {0};
    char found = 0;
    tg_source *source = tg_source_get(cache, identifier, &err);
    if (source)
        found = ((fake *)source->image)->name;
    if (strchr(err.msg, '/'))
        printf("a path in the client's message: %s\n", err.msg);
    CHECK(!strchr(err.msg, '/'));
    CHECK((source == NULL) == (err.kind != TG_ERR_NONE));
    tg_source_release(cache, source);
    *kind = err.kind;
    return found;
}

typedef struct expectation {
    const char *identifier;
    char letter;
    tg_err_kind kind;
} expectation;

static void expect_all(const tg_config *config, const expectation *rows, size_t n)
{
    tg_sources *cache = tg_sources_new(config);
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++) {
            tg_err_kind kind;
            char got = letter(cache, tg_str_of(rows[i].identifier), &kind);
            if (got != rows[i].letter || kind != rows[i].kind)
                printf("in row %zu, %.60s:\n", i, rows[i].identifier);
            CHECK_INT(got, rows[i].letter);
            CHECK_INT(kind, rows[i].kind);
        }
    tg_sources_free(cache);
    CHECK_INT(opened, closed);
}

#define EXPECT(config, ...)                                                                        \
    expect_all(config, (const expectation[]){__VA_ARGS__},                                         \
               sizeof((const expectation[]){__VA_ARGS__}) / sizeof(expectation))

static void test_identifiers(void)
{
    char prefix[80], longest[5000];
    snprintf(prefix, sizeof prefix, "%s/", root);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    tg_config config = config_of(prefix);
    EXPECT(&config, {"a.tif", 'a', 0}, {"sub/b.tif", 'b', 0}, {"/a.tif", 'a', 0},
           {"sub//b.tif", 'b', 0}, {"./a.tif", 'a', 0}, {"..c.tif", 'c', 0},
           {"none.tif", 0, TG_ERR_NOT_FOUND}, {"", 0, TG_ERR_NOT_FOUND},
           {"a.tif/", 0, TG_ERR_NOT_FOUND}, {"a.tif/b", 0, TG_ERR_NOT_FOUND},
           {"..", 0, TG_ERR_BAD_REQUEST}, {"../outside/secret.tif", 0, TG_ERR_BAD_REQUEST},
           {"sub/../a.tif", 0, TG_ERR_BAD_REQUEST}, {"a.tif/..", 0, TG_ERR_BAD_REQUEST},
           {"/..", 0, TG_ERR_BAD_REQUEST}, {"text.tif", 0, TG_ERR_NOT_IMAGE},
           {"empty.tif", 0, TG_ERR_NOT_IMAGE}, {"dir.tif", 0, TG_ERR_NOT_FOUND},
           {"fifo.tif", 0, TG_ERR_NOT_FOUND}, {"socket.tif", 0, TG_ERR_NOT_FOUND},
           {"loop.tif", 0, TG_ERR_NOT_FOUND}, {longest, 0, TG_ERR_NOT_FOUND},
           {"[ab].tif", 0, TG_ERR_NOT_FOUND}, {"*.tif", 0, TG_ERR_NOT_FOUND});
    tg_sources *cache = tg_sources_new(&config);
    tg_err_kind kind;
    CHECK_INT(letter(cache, (tg_str){"a.tif\0.jpg", 10}, &kind), 0);
    CHECK_INT(kind, TG_ERR_BAD_REQUEST);
    tg_sources_free(cache);
}

/* ".." can also come about where prefix, identifier and suffix meet. */
static void test_prefix_and_suffix(void)
{
    char prefix[80];
    tg_config config = config_of("");
    EXPECT(&config, {"/etc/passwd", 0, TG_ERR_NOT_FOUND});
    snprintf(prefix, sizeof prefix, "%s/img_", root);
    config = config_of(prefix);
    config.filesystem_suffix = ".tif";
    EXPECT(&config, {"x", 'x', 0}, {"x.tif", 0, TG_ERR_NOT_FOUND},
           {"/../a", 0, TG_ERR_BAD_REQUEST});
    snprintf(prefix, sizeof prefix, "%s/.", root);
    config = config_of(prefix);
    EXPECT(&config, {"/a.tif", 'a', 0}, {"./outside/secret.tif", 0, TG_ERR_BAD_REQUEST});
    snprintf(prefix, sizeof prefix, "%s/", root);
    config = config_of(prefix);
    config.filesystem_suffix = ".";
    EXPECT(&config, {"sub/.", 0, TG_ERR_BAD_REQUEST});
}

static void test_links(void)
{
    char prefix[80];
    snprintf(prefix, sizeof prefix, "%s/", root);
    tg_config config = config_of(prefix);
    EXPECT(&config, {"inside.tif", 'b', 0}, {"leak.tif", 'S', 0}, {"leakdir/secret.tif", 'S', 0});
    config.follow_symlinks = false;
    EXPECT(&config, {"a.tif", 'a', 0}, {"/a.tif", 'a', 0}, {"sub/b.tif", 'b', 0},
           {"inside.tif", 'b', 0}, {"leak.tif", 0, TG_ERR_NOT_FOUND},
           {"leakdir/secret.tif", 0, TG_ERR_NOT_FOUND}, {"fifo.tif", 0, TG_ERR_NOT_FOUND},
           {"dir.tif", 0, TG_ERR_NOT_FOUND}, {"none", 0, TG_ERR_NOT_FOUND},
           {"../outside/secret.tif", 0, TG_ERR_BAD_REQUEST});
}

/* A kernel without openat2, as seccomp shows it: the same links lead nowhere. In a process of its
 * own, since there is no way back. */
static void test_links_without_openat2(void)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof program / sizeof program[0], program};
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0)
            test_links();
        fflush(stdout);
        _exit(check_failed != 0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
}

static void test_pages(void)
{
    char prefix[80];
    snprintf(prefix, sizeof prefix, "%s/", root);
    tg_config config = config_of(prefix);
    EXPECT(&config, {"stack.tif;;1", 0, TG_ERR_NOT_FOUND});
    config.iiif_delimiter = ";;";
    EXPECT(&config, {"stack.tif", 's', 0}, {"stack.tif;;0", 's', 0}, {"stack.tif;;2", 's', 0},
           {"stack.tif;;3", 0, TG_ERR_NOT_FOUND}, {"stack.tif;;x", 0, TG_ERR_NOT_FOUND},
           {"stack.tif;;", 0, TG_ERR_NOT_FOUND}, {"stack.tif;;-1", 0, TG_ERR_NOT_FOUND},
           {"stack.tif;;99999999999999999999", 0, TG_ERR_NOT_FOUND}, {"a;;1.tif", ';', 0},
           {"a;;1.tif;;0", ';', 0}, {"lit;;2", 'l', 0}, {";;1", 0, TG_ERR_NOT_FOUND},
           {"none;;1", 0, TG_ERR_NOT_FOUND});
    tg_sources *cache = tg_sources_new(&config);
    tg_err err = {0};
    tg_source *source = tg_source_get(cache, TG_STR("stack.tif;;2"), &err);
    CHECK(source && source->page == 2);
    tg_source_release(cache, source);
    tg_sources_free(cache);
}

static void set_mtime(const char *path, long s, long ns)
{
    const struct timespec times[2] = {{s, ns}, {s, ns}};
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

/* By rename, as one replaces a file in use: newer, older, the same second, another size. */
static void test_replaced(void)
{
    char prefix[80];
    tg_err_kind kind;
    snprintf(prefix, sizeof prefix, "%s/", root);
    tg_config config = config_of(prefix);
    tg_sources *cache = tg_sources_new(&config);
    static const struct {
        const char *text;
        long s, ns;
        char letter;
    } rows[] = {
        {"IMG1a", 1000, 0, 'a'},  {"IMG1b", 2000, 0, 'b'}, {"IMG1c", 500, 0, 'c'},
        {"IMG1d", 500, 7, 'd'},   {"IMG1e", 500, 7, 'e'}, /* a new inode is enough */
        {"IMG1f..", 500, 7, 'f'},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *next = at(root, "next"), *name = at(root, "r.tif");
        unsigned before = opened;
        put(next, rows[i].text);
        set_mtime(next, rows[i].s, rows[i].ns);
        CHECK(rename(next, name) == 0);
        CHECK_INT(letter(cache, TG_STR("r.tif"), &kind), rows[i].letter);
        CHECK_INT(letter(cache, TG_STR("r.tif"), &kind), rows[i].letter);
        CHECK_INT(opened - before, 1); /* the second came from the cache */
        CHECK_INT(opened - closed, 1); /* the old one is closed */
    }
    tg_err err = {0};
    tg_source *held = tg_source_get(cache, TG_STR("r.tif"), &err);
    CHECK(unlink(at(root, "r.tif")) == 0);
    CHECK_INT(letter(cache, TG_STR("r.tif"), &kind), 0);
    CHECK_INT(kind, TG_ERR_NOT_FOUND);
    CHECK_INT(opened - closed, 1); /* still on loan */
    CHECK_INT(((fake *)held->image)->name, 'f');
    tg_source_release(cache, held);
    CHECK_INT(opened, closed);
    tg_sources_free(cache);
}

static void test_limits(void)
{
    char prefix[80];
    tg_err_kind kind;
    tg_err err = {0};
    snprintf(prefix, sizeof prefix, "%s/", root);
    tg_config config = config_of(prefix);

    config.metadata_cache_entries = 0;
    tg_sources *cache = tg_sources_new(&config);
    letter(cache, TG_STR("a.tif"), &kind);
    CHECK_INT(opened, closed);
    tg_sources_free(cache);

    config.metadata_cache_entries = 2;
    cache = tg_sources_new(&config);
    unsigned before = opened;
    letter(cache, TG_STR("a.tif"), &kind);
    letter(cache, TG_STR("sub/b.tif"), &kind);
    letter(cache, TG_STR("a.tif"), &kind);
    letter(cache, TG_STR("stack.tif"), &kind); /* in place of b, which is the oldest */
    CHECK_INT(opened - closed, 2);
    letter(cache, TG_STR("a.tif"), &kind);
    CHECK_INT(opened - before, 3);
    tg_sources_clear(cache);
    CHECK_INT(opened, closed);
    tg_source *one = tg_source_get(cache, TG_STR("a.tif"), &err);
    tg_source *two = tg_source_get(cache, TG_STR("a.tif"), &err);
    CHECK(one == two);
    tg_sources_clear(cache);
    tg_source_release(cache, one);
    CHECK_INT(opened - closed, 1);
    tg_source_release(cache, two);
    CHECK_INT(opened, closed);
    tg_sources_free(cache);

    config.metadata_cache_entries = -1;
    held_bytes = (size_t)10 << 20; /* a quarter of 64 MiB holds one of these */
    cache = tg_sources_new(&config);
    letter(cache, TG_STR("a.tif"), &kind);
    letter(cache, TG_STR("sub/b.tif"), &kind);
    CHECK_INT(opened - closed, 1);
    held_bytes = 0;
    tg_sources_free(cache);
}

static int descriptors_open(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* The cache gives descriptors up rather than refuse; with none left at all the answer is busy. */
static void test_descriptors(void)
{
    char prefix[80];
    tg_err_kind kind;
    snprintf(prefix, sizeof prefix, "%s/", root);
    tg_config config = config_of(prefix);
    config.metadata_cache_entries = -1;
    int before = descriptors_open(), used[256], n = 0;
    struct rlimit limit, low;
    getrlimit(RLIMIT_NOFILE, &limit);
    tg_sources *cache = tg_sources_new(&config);
    letter(cache, TG_STR("a.tif"), &kind);
    letter(cache, TG_STR("sub/b.tif"), &kind);
    low = (struct rlimit){64, limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
    while (n < 256 && (used[n] = open("/dev/null", O_RDONLY)) >= 0)
        n++;
    CHECK_INT(errno, EMFILE);
    CHECK_INT(letter(cache, TG_STR("stack.tif"), &kind), 's');
    CHECK_INT(letter(cache, TG_STR("a.tif"), &kind), 'a');
    tg_sources_clear(cache);
    used[n] = open("/dev/null", O_RDONLY);
    used[n + 1] = open("/dev/null", O_RDONLY);
    n += 2;
    CHECK_INT(letter(cache, TG_STR("stack.tif"), &kind), 0);
    CHECK_INT(kind, TG_ERR_BUSY);
    setrlimit(RLIMIT_NOFILE, &limit);
    while (n--)
        if (used[n] >= 0)
            close(used[n]);
    for (int i = 0; i < 1000; i++) {
        static const char *const names[] = {"a.tif",    "text.tif", "stack.tif;;9", "fifo.tif",
                                            "none.tif", "leak.tif", "empty.tif",    "dir.tif"};
        config.follow_symlinks = i & 1;
        letter(cache, tg_str_of(names[i % 8]), &kind);
    }
    tg_sources_free(cache);
    CHECK_INT(descriptors_open(), before);
}

static void test_exists(void)
{
    char prefix[80];
    snprintf(prefix, sizeof prefix, "%s/", root);
    tg_config config = config_of(prefix);
    tg_sources *cache = tg_sources_new(&config);
    tg_err err = {0};
    unsigned before = opened;
    CHECK(tg_source_exists(cache, TG_STR("a.tif"), &err));
    CHECK(!tg_source_exists(cache, TG_STR("none.tif"), &err) && err.kind == TG_ERR_NOT_FOUND);
    CHECK_INT(opened, before);
    tg_sources_free(cache);
}

int main(void)
{
    make_tree();
    test_identifiers();
    test_prefix_and_suffix();
    test_links_without_openat2();
    test_links();
    test_pages();
    test_replaced();
    test_limits();
    test_descriptors();
    test_exists();
    remove_tree();
    return check_done();
}
