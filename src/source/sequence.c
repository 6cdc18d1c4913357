#include "sequence.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tegula/num.h"

static const char *const extensions[] = {".tif", ".tiff", ".jp2", ".jpg"};

bool tg_sequence_find(const tg_config *config, const tg_path *whole, tg_view view, tg_path *out,
                      tg_identity *id, tg_err *err)
{
    tg_str pattern = tg_str_of(config->filename_pattern);
    *out = *whole;
    for (size_t i = 0; pattern.n && i < sizeof extensions / sizeof extensions[0]; i++) {
        tg_err none = {0};
        size_t room = sizeof out->text - whole->n;
        int n = snprintf(out->text + whole->n, room, "%.*s%03u_%03u%s", TG_STR_ARG(pattern),
                         view.page, view.vertical, extensions[i]);
        if (n < 0 || (size_t)n >= room)
            break;
        out->n = whole->n + (size_t)n;
        if (tg_file_stat(out, !config->follow_symlinks, id, &none))
            return true;
        if (none.kind != TG_ERR_NOT_FOUND) {
            *err = none;
            return false;
        }
    }
    return tg_fail(err, TG_ERR_NOT_FOUND, "no such image");
}

/* ---- the views there are ---- */

static size_t count_digits(tg_str s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    return n;
}

/* "012_090.tif" */
static bool parse_views(tg_str s, uint64_t *horizontal, uint64_t *vertical)
{
    size_t h = count_digits(s);
    if (h < 3 || h == s.n || s.p[h] != '_')
        return false;
    tg_str rest = {s.p + h + 1, s.n - h - 1};
    size_t v = count_digits(rest);
    bool known = false;
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++)
        known |= tg_str_is((tg_str){rest.p + v, rest.n - v}, extensions[i]);
    return v >= 3 && known && tg_parse_u64((tg_str){s.p, h}, horizontal) &&
           tg_parse_u64((tg_str){rest.p, v}, vertical);
}

static void add(unsigned view[TG_VIEWS_MAX], unsigned *n, uint64_t value)
{
    for (unsigned i = 0; i < *n; i++)
        if (view[i] == value)
            return;
    if (*n < TG_VIEWS_MAX && value <= UINT32_MAX)
        view[(*n)++] = (unsigned)value;
}

static int by_value(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

static void read_folder(DIR *folder, tg_str name, tg_views *out)
{
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        uint64_t h, v;
        tg_str entry = tg_str_of(e->d_name);
        if (!tg_str_starts(entry, name) ||
            !parse_views((tg_str){entry.p + name.n, entry.n - name.n}, &h, &v))
            continue;
        add(out->horizontal, &out->n_horizontal, h);
        add(out->vertical, &out->n_vertical, v);
    }
    qsort(out->horizontal, out->n_horizontal, sizeof out->horizontal[0], by_value);
    qsort(out->vertical, out->n_vertical, sizeof out->vertical[0], by_value);
}

void tg_sequence_list(const tg_config *config, const tg_path *whole, tg_views *out)
{
    tg_path full = *whole;
    size_t room = sizeof full.text - whole->n;
    tg_str pattern = tg_str_of(config->filename_pattern);
    int n = snprintf(full.text + whole->n, room, "%.*s", TG_STR_ARG(pattern));
    out->n_horizontal = out->n_vertical = 0;
    if (n <= 0 || (size_t)n >= room)
        return;
    full.n = whole->n + (size_t)n;
    int fd = tg_folder_open(&full, !config->follow_symlinks);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder) {
        if (fd >= 0)
            close(fd);
        return;
    }
    tg_str dir, name;
    tg_str_rcut((tg_str){full.text, full.n}, '/', &dir, &name);
    read_folder(folder, name, out);
    closedir(folder);
}
