#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "open.h"
#include "sequence.h"
#include "tegula/log.h"
#include "tegula/mem.h"
#include "tegula/num.h"

/* Descriptors that are left for connections, logs, libraries. */
#define RESERVED_DESCRIPTORS 64
#define MAX_BUCKETS          ((size_t)1 << 16)
/* Parsed headers may hold this share of MEMORY_LIMIT while nobody uses them. */
#define HELD_SHARE           4

/* One open image. Either linked (in the table and the list), or on loan and closed on its return.
 */
typedef struct entry {
    tg_source source; /* first: what callers hold is the entry */
    struct entry *next_in_bucket;
    struct entry *newer, *older;
    uint64_t hash;
    unsigned on_loan;
    bool linked;
    int layers;
    size_t path_n;
    char path[];
} entry;

struct tg_sources {
    const tg_config *config;
    tg_read_options options;
    entry **bucket;
    size_t n_buckets; /* a power of two */
    entry *newest, *oldest;
    size_t n_linked, capacity;
    size_t held_bytes, held_limit; /* of linked entries */
};

static size_t descriptors_to_use(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return RESERVED_DESCRIPTORS;
    if (limit.rlim_cur == RLIM_INFINITY)
        return INT32_MAX;
    return limit.rlim_cur > 2 * RESERVED_DESCRIPTORS ? limit.rlim_cur - RESERVED_DESCRIPTORS
                                                     : limit.rlim_cur / 2;
}

tg_sources *tg_sources_new(const tg_config *config)
{
    tg_sources *c = tg_new(sizeof *c);
    int64_t wanted = config->metadata_cache_entries;
    c->config = config;
    c->options = (tg_read_options){.lenient = !config->strict, .max_layers = config->max_layers};
    c->capacity = descriptors_to_use();
    if (wanted >= 0)
        c->capacity = TG_MIN(c->capacity, (size_t)wanted);
    c->held_limit = config->memory_bytes / HELD_SHARE;
    c->n_buckets = 1;
    while (c->n_buckets < c->capacity && c->n_buckets < MAX_BUCKETS)
        c->n_buckets *= 2;
    c->bucket = tg_new(c->n_buckets * sizeof *c->bucket);
    return c;
}

void tg_sources_free(tg_sources *c)
{
    if (!c)
        return;
    tg_sources_clear(c);
    free(c->bucket);
    free(c);
}

/* FNV-1a. Paths come from the operator's own tree, so collisions made on purpose are no matter: a
 * file must exist to be an entry. */
static uint64_t hash_of(const tg_path *path)
{
    uint64_t h = 0xcbf29ce484222325u ^ path->page ^ (uint64_t)path->layers << 32;
    for (size_t i = 0; i < path->n; i++)
        h = (h ^ (unsigned char)path->text[i]) * 0x100000001b3u;
    return h ^ h >> 32;
}

static entry **bucket_of(tg_sources *c, uint64_t hash)
{
    return &c->bucket[hash & (c->n_buckets - 1)];
}

static entry *find(tg_sources *c, const tg_path *path, uint64_t hash)
{
    entry *e = *bucket_of(c, hash);
    while (e && !(e->hash == hash && e->source.page == path->page && e->layers == path->layers &&
                  e->path_n == path->n && memcmp(e->path, path->text, path->n) == 0))
        e = e->next_in_bucket;
    return e;
}

static void close_entry(entry *e)
{
    tg_image_close(e->source.image);
    free(e);
}

static void list_push(tg_sources *c, entry *e)
{
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static void list_remove(tg_sources *c, entry *e)
{
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
}

static void link_entry(tg_sources *c, entry *e)
{
    entry **bucket = bucket_of(c, e->hash);
    e->next_in_bucket = *bucket;
    *bucket = e;
    list_push(c, e);
    e->linked = true;
    c->n_linked++;
    c->held_bytes += e->source.image->held_bytes;
}

/* Takes the entry out of the cache; it closes now, or when its last borrower gives it back. */
static void unlink_entry(tg_sources *c, entry *e)
{
    entry **at = bucket_of(c, e->hash);
    while (*at != e)
        at = &(*at)->next_in_bucket;
    *at = e->next_in_bucket;
    list_remove(c, e);
    e->linked = false;
    c->n_linked--;
    c->held_bytes -= e->source.image->held_bytes;
    if (!e->on_loan)
        close_entry(e);
}

/* The entry that is worth least; what is on loan would not free its descriptor. */
static bool evict_one(tg_sources *c)
{
    entry *e = c->oldest;
    while (e && e->on_loan)
        e = e->newer;
    if (e)
        unlink_entry(c, e);
    return e != NULL;
}

static void trim(tg_sources *c)
{
    while ((c->n_linked > c->capacity || c->held_bytes > c->held_limit) && evict_one(c))
        ;
}

void tg_sources_clear(tg_sources *c)
{
    while (c->newest)
        unlink_entry(c, c->newest);
}

static tg_image *open_once(tg_sources *c, const tg_path *path, tg_identity *id, tg_err *err)
{
    int fd = tg_file_open(path, !c->config->follow_symlinks, id, err);
    if (fd < 0)
        return NULL;
    id->fingerprint = tg_file_fingerprint(fd, id->size_bytes);
    tg_read_options options = c->options;
    if (path->layers)
        options.max_layers = path->layers;
    tg_image *image = tg_image_open(fd, id->size_bytes, path->page, &options, err);
    if (!image) {
        close(fd);
        if (err->kind != TG_ERR_NOT_FOUND)
            tg_fail_detail(err, "%s", path->text);
    }
    return image;
}

static bool evict_many(tg_sources *c, size_t n)
{
    bool any = false;
    while (n-- && evict_one(c))
        any = true;
    return any;
}

/* Out of descriptors or memory: what the cache holds is given up first, ever more of it. */
static tg_image *open_image(tg_sources *c, const tg_path *path, tg_identity *id, tg_err *err)
{
    tg_image *image = open_once(c, path, id, err);
    for (size_t n = 1; !image && err->kind == TG_ERR_BUSY && evict_many(c, n); n *= 2) {
        *err = (tg_err){0};
        image = open_once(c, path, id, err);
    }
    return image;
}

/* A path without FILESYSTEM_PREFIX. */
static tg_str name_of(const tg_sources *c, const char *text, size_t n)
{
    size_t prefix_n = strlen(c->config->filesystem_prefix);
    return (tg_str){text + prefix_n, n - prefix_n};
}

static entry *open_entry(tg_sources *c, const tg_path *path, uint64_t hash, tg_err *err)
{
    tg_identity id;
    tg_image *image = open_image(c, path, &id, err);
    if (!image)
        return NULL;
    entry *e = tg_new(sizeof *e + path->n + 1);
    e->source = (tg_source){.image = image, .identity = id, .page = path->page};
    e->source.identity.name = name_of(c, e->path, path->n);
    e->hash = hash;
    e->layers = path->layers;
    e->path_n = path->n;
    memcpy(e->path, path->text, path->n);
    return e;
}

/* The path that the identifier means, and what lies there: the whole identifier if a file has that
 * name, else name and page number, else a view of a sequence. */
static bool locate(const tg_sources *c, tg_str identifier, tg_view view, tg_path *path,
                   tg_identity *id, tg_err *err)
{
    const tg_config *config = c->config;
    tg_path other;
    tg_err again = {0};
    if (!tg_path_whole(config, identifier, path, err))
        return false;
    if (tg_file_stat(path, !config->follow_symlinks, id, err)) {
        path->page = view.page;
        return true;
    }
    if (err->kind != TG_ERR_NOT_FOUND)
        return false;
    if (tg_path_paged(config, identifier, &other, &again)) {
        *path = other;
        *err = (tg_err){0};
        return tg_file_stat(path, !config->follow_symlinks, id, err);
    }
    again = (tg_err){0};
    if (!tg_sequence_find(config, path, view, &other, id, &again))
        return false;
    *path = other;
    *err = (tg_err){0};
    return true;
}

tg_source *tg_source_get(tg_sources *c, tg_str identifier, tg_err *err)
{
    return tg_source_get_view(c, identifier, (tg_view){.vertical = TG_VIEW_VERTICAL}, err);
}

/* The configuration's layers are the most there may be. */
static int layers_of(const tg_sources *c, int asked)
{
    return c->options.max_layers > 0 ? TG_MIN(asked, c->options.max_layers) : asked;
}

tg_source *tg_source_get_view(tg_sources *c, tg_str identifier, tg_view view, tg_err *err)
{
    tg_path path;
    tg_identity id;
    bool there = locate(c, identifier, view, &path, &id, err);
    path.layers = layers_of(c, view.layers);
    if (!there && err->kind != TG_ERR_NOT_FOUND)
        return NULL;
    uint64_t hash = hash_of(&path);
    entry *e = find(c, &path, hash);
    if (e && (!there || !tg_identity_eq(&e->source.identity, &id))) {
        unlink_entry(c, e);
        e = NULL;
    }
    if (!there)
        return NULL;
    if (e) {
        list_remove(c, e);
        list_push(c, e);
    } else {
        e = open_entry(c, &path, hash, err);
        if (!e)
            return NULL;
        link_entry(c, e);
    }
    e->on_loan++;
    trim(c);
    return &e->source;
}

void tg_source_release(tg_sources *c, tg_source *source)
{
    entry *e = (entry *)source;
    if (!e)
        return;
    e->on_loan--;
    if (!e->on_loan)
        tg_image_rest(e->source.image);
    if (!e->linked && !e->on_loan)
        close_entry(e);
    else
        trim(c);
}

bool tg_source_look(tg_sources *c, tg_str identifier, tg_arena *arena, tg_source *out, bool *open,
                    tg_err *err)
{
    tg_path path;
    *out = (tg_source){0};
    if (!locate(c, identifier, (tg_view){.vertical = TG_VIEW_VERTICAL}, &path, &out->identity, err))
        return false;
    path.layers = layers_of(c, 0);
    out->page = path.page;
    tg_str text = {tg_arena_strdup(arena, (tg_str){path.text, path.n}), path.n};
    out->identity.name = name_of(c, text.p, text.n);
    const entry *e = find(c, &path, hash_of(&path));
    *open = e && tg_identity_eq(&e->source.identity, &out->identity);
    return true;
}

bool tg_source_exists(tg_sources *c, tg_str identifier, tg_err *err)
{
    tg_path path;
    tg_identity id;
    return locate(c, identifier, (tg_view){.vertical = TG_VIEW_VERTICAL}, &path, &id, err);
}

void tg_source_views(tg_sources *c, tg_str identifier, tg_views *out)
{
    tg_path path;
    tg_identity id;
    tg_err none = {0};
    out->n_horizontal = out->n_vertical = 0;
    if (tg_path_whole(c->config, identifier, &path, &none) &&
        !tg_file_stat(&path, !c->config->follow_symlinks, &id, &none))
        tg_sequence_list(c->config, &path, out);
}
