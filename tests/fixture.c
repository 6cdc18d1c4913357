#include "fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char dir[PATH_MAX];

static void die(const char *what)
{
    perror(what);
    exit(99); /* neither failed nor skipped: the harness's "hard error" */
}

static void clean_up(void)
{
    DIR *d = opendir(dir);

    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(dir);
}

void fixture_init(void)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(dir, sizeof dir, "%s/tegula-test-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        die(dir);
    atexit(clean_up);
}

const char *fixture_path(const char *name)
{
    static char paths[16][PATH_MAX + 64];
    static unsigned next;
    char *path = paths[next++ % 16];

    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

const char *fixture_make(const char *name, const char *args)
{
    const char *program = getenv("MKPYRAMID"), *path = fixture_path(name);
    char copy[512], *argv[64], *save = NULL;
    int n = 2, status;
    pid_t pid;

    snprintf(copy, sizeof copy, "%s", args);
    argv[0] = (char *)(uintptr_t)(program ? program : "tests/mkpyramid");
    argv[1] = (char *)(uintptr_t)path;
    for (char *word = strtok_r(copy, " ", &save); word && n < 63; word = strtok_r(NULL, " ", &save))
        argv[n++] = word;
    argv[n] = NULL;
    if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0 ||
        waitpid(pid, &status, 0) != pid || status != 0) {
        fprintf(stderr, "%s %s %s failed\n", argv[0], path, args);
        exit(99);
    }
    return path;
}

uint8_t *fixture_load(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    uint8_t *data;

    if (!f || fstat(fileno(f), &st) != 0)
        die(path);
    data = malloc((size_t)st.st_size + 1);
    *n = data ? fread(data, 1, (size_t)st.st_size, f) : 0;
    if (*n != (size_t)st.st_size)
        die(path);
    fclose(f);
    return data;
}

void fixture_save(const char *path, const uint8_t *data, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0)
        die(path);
}

tg_image *fixture_open(const char *path, unsigned page, tg_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    tg_image *img;

    if (fd < 0 || fstat(fd, &st) != 0)
        die(path);
    img = tg_image_open(fd, (uint64_t)st.st_size, page, NULL, err);
    if (!img)
        close(fd);
    return img;
}

uint8_t *fixture_read(tg_image *img, unsigned level, unsigned k, tg_rect rect, tg_err *err)
{
    size_t row_bytes = rect.w * tg_pixfmt_bytes(img->fmt);
    uint8_t *px = malloc(row_bytes * rect.h + 1);

    if (!px)
        die("malloc");
    if (tg_image_read(img, level, k, rect, px, row_bytes, err))
        return px;
    free(px);
    return NULL;
}

tg_rect fixture_whole(const tg_image *img, unsigned level, unsigned k)
{
    const tg_level *lv = &img->level[level];

    return (tg_rect){0, 0, tg_reduced_px(lv->width_px, k), tg_reduced_px(lv->height_px, k)};
}

uint32_t fixture_random(uint32_t n)
{
    static uint64_t state = 20240229;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}
