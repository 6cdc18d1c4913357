#include "open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tegula/checksum.h"

#define READ_FLAGS (O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
#define FIND_FLAGS (O_PATH | O_CLOEXEC)

/* Says what errno means for the client; the path goes to the log only. */
static bool fail_errno(const tg_path *path, tg_err *err)
{
    int e = errno;
    switch (e) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case EXDEV: /* a link led out of the root */
    case ENXIO: /* a socket */
        tg_fail(err, TG_ERR_NOT_FOUND, "no such image");
        break;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
        tg_fail(err, TG_ERR_BUSY, "too many files are open");
        break;
    default:
        tg_fail(err, TG_ERR_IO, "the image file cannot be read");
        break;
    }
    return tg_fail_detail(err, "%s: %s", path->text, strerror(e));
}

static bool identify(const tg_path *path, const struct stat *st, tg_identity *out, tg_err *err)
{
    if (!S_ISREG(st->st_mode)) {
        tg_fail_detail(err, "%s: not a regular file", path->text);
        return tg_fail(err, TG_ERR_NOT_FOUND, "no such image");
    }
    *out = (tg_identity){
        .device = st->st_dev,
        .inode = st->st_ino,
        .size_bytes = (uint64_t)st->st_size,
        .mtime_s = st->st_mtim.tv_sec,
        .mtime_ns = (uint32_t)st->st_mtim.tv_nsec,
        .ctime_s = st->st_ctim.tv_sec,
        .ctime_ns = (uint32_t)st->st_ctim.tv_nsec,
    };
    return true;
}

static int open_root(const tg_path *path)
{
    char directory[PATH_MAX];
    if (!path->directory_n)
        return open(".", FIND_FLAGS | O_DIRECTORY);
    memcpy(directory, path->text, path->directory_n);
    directory[path->directory_n] = 0;
    return open(directory, FIND_FLAGS | O_DIRECTORY);
}

/* The part of the path below its root; slashes in front would make it absolute. */
static const char *below_root(const tg_path *path)
{
    const char *p = path->text + path->directory_n;
    while (*p == '/')
        p++;
    return *p ? p : ".";
}

static int openat2_beneath(int root, const char *name, int flags)
{
    struct open_how how = {.flags = (uint64_t)flags,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    return (int)syscall(SYS_openat2, root, name, &how, sizeof how);
}

/* Kernels before 5.6 have no openat2, and some container runtimes forbid what they do not know. */
static bool have_openat2(void)
{
    static int known = -1;
    if (known < 0) {
        int fd = openat2_beneath(AT_FDCWD, ".", FIND_FLAGS);
        known = fd >= 0 || (errno != ENOSYS && errno != EPERM);
        if (fd >= 0)
            close(fd);
    }
    return known;
}

/* What a descriptor stands for, as the kernel names it. */
static bool real_path(int fd, char out[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, PATH_MAX - 1);
    if (n <= 0)
        return false;
    out[n] = 0;
    return true;
}

static bool is_below(int root, int fd)
{
    char above[PATH_MAX], inner[PATH_MAX];
    if (!real_path(root, above) || !real_path(fd, inner))
        return false;
    size_t n = strlen(above);
    return strncmp(inner, above, n) == 0 && (inner[n] == '/' || (n == 1 && above[0] == '/'));
}

/* Closes after a failure, keeping errno. */
static int close_failed(int fd, int e)
{
    close(fd);
    errno = e;
    return -1;
}

/* Without openat2: finds the file (O_PATH touches nothing), asks the kernel where it lies, and
 * opens that same file again, so a link changed in between gains nothing. */
static int open_checked(int root, const char *name, int flags)
{
    int found = openat(root, name, FIND_FLAGS);
    if (found < 0)
        return -1;
    if (!is_below(root, found))
        return close_failed(found, EXDEV);
    if (flags == FIND_FLAGS)
        return found;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", found);
    int fd = open(link, flags);
    if (fd < 0)
        return close_failed(found, errno);
    close(found);
    return fd;
}

static int open_confined(const tg_path *path, int flags)
{
    int root = open_root(path);
    if (root < 0)
        return -1;
    int fd = have_openat2() ? openat2_beneath(root, below_root(path), flags)
                            : open_checked(root, below_root(path), flags);
    if (fd < 0)
        return close_failed(root, errno);
    close(root);
    return fd;
}

int tg_folder_open(const tg_path *path, bool confined)
{
    tg_path folder = *path;
    while (folder.n > folder.directory_n && folder.text[folder.n - 1] != '/')
        folder.n--;
    folder.text[folder.n] = 0;
    int flags = READ_FLAGS | O_DIRECTORY;
    return confined ? open_confined(&folder, flags) : open(folder.n ? folder.text : ".", flags);
}

static bool stat_of(const tg_path *path, int fd, tg_identity *out, tg_err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fail_errno(path, err);
    return identify(path, &st, out, err);
}

bool tg_file_stat(const tg_path *path, bool confined, tg_identity *out, tg_err *err)
{
    struct stat st;
    if (!confined)
        return stat(path->text, &st) == 0 ? identify(path, &st, out, err) : fail_errno(path, err);
    int fd = open_confined(path, FIND_FLAGS);
    if (fd < 0)
        return fail_errno(path, err);
    bool ok = stat_of(path, fd, out, err);
    close(fd);
    return ok;
}

int tg_file_open(const tg_path *path, bool confined, tg_identity *out, tg_err *err)
{
    int fd = confined ? open_confined(path, READ_FLAGS) : open(path->text, READ_FLAGS);
    if (fd < 0) {
        fail_errno(path, err);
        return -1;
    }
    if (!stat_of(path, fd, out, err)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Compressed pictures of one size differ in nearly all of their bytes, and directories of tiles are
 * at one of the ends; what of uncompressed ones differs may still lie between the samples. With the
 * header, opening a file stays below 64 KiB of reading. */
#define SAMPLES      5
#define SAMPLE_BYTES ((size_t)8 << 10)

uint64_t tg_file_fingerprint(int fd, uint64_t size_bytes)
{
    uint8_t sample[SAMPLE_BYTES];
    uint64_t sum = size_bytes;
    uint64_t last = size_bytes > SAMPLE_BYTES ? size_bytes - SAMPLE_BYTES : 0;
    bool small = size_bytes <= SAMPLES * SAMPLE_BYTES;
    for (unsigned i = 0; i < SAMPLES; i++) {
        uint64_t at = small ? i * SAMPLE_BYTES : last / (SAMPLES - 1) * i;
        ssize_t n = pread(fd, sample, sizeof sample, (off_t)at);
        sum = tg_checksum(sample, n > 0 ? (size_t)n : 0, sum);
    }
    return sum;
}

bool tg_source_unchanged(const tg_source *source, tg_err *err)
{
    const tg_identity *id = &source->identity;
    struct stat st;
    if (fstat(source->image->fd, &st) == 0 && (uint64_t)st.st_size == id->size_bytes &&
        st.st_mtim.tv_sec == id->mtime_s && (uint32_t)st.st_mtim.tv_nsec == id->mtime_ns)
        return true;
    return tg_fail(err, TG_ERR_BUSY, "the image file is being written; try again");
}
