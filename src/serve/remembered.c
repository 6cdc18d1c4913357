/* Opening a file costs several times what memcached does, and reads a disk that may be slow. The
 * workers of a host therefore tell each other what a request's words come to. Of the file its
 * device, inode and times count here, which nobody can set back: what was remembered is believed
 * only of the very same file. */
#include <inttypes.h>

#include "serve/service.h"

static tg_str words_text(tg_service *s, const tg_source *seen, int version, tg_str words)
{
    const tg_identity *id = &seen->identity;
    return tg_arena_printf(
        s->arena,
        "%.*s|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRId64 ".%09u|%" PRId64 ".%09u|%u|%d|%.*s",
        TG_STR_ARG(id->name), id->device, id->inode, id->size_bytes, id->mtime_s, id->mtime_ns,
        id->ctime_s, id->ctime_ns, seen->page, version, TG_STR_ARG(words));
}

/* "canonical LF ending LF text of the key" */
static bool read_note(tg_service *s, tg_str note, tg_str file, tg_after *out)
{
    if (!tg_str_cut(note, '\n', &out->canonical, &note) ||
        !tg_str_cut(note, '\n', &out->ending, &note))
        return false;
    out->key = tg_answer_key_of(s, note, file);
    return true;
}

static bool send_picture(tg_service *s, const tg_request *request, const tg_iiif *iiif,
                         const tg_source *seen, const tg_after *note, tg_response *r)
{
    tg_cached found;
    tg_str etag = tg_answer_etag(&note->key);
    tg_answer_iiif_headers(s, request, iiif, note->canonical, r);
    if (tg_answer_tagged(s, request, &seen->identity, etag, r))
        return true;
    tg_cache_found where = tg_cache_look(s->cache, &note->key, &found);
    if ((where != TG_CACHE_HERE && where != TG_CACHE_SHARED) || found.status != 200 ||
        !tg_str_eq(found.etag, etag))
        return false;
    tg_buf_str(&r->body, found.body);
    if (r->body.failed)
        return false;
    s->how = where == TG_CACHE_HERE ? "from memory" : "from memcached";
    tg_answer_found(s, request, found.type, iiif->identifier, note->ending, r);
    return true;
}

bool tg_answer_remembered(tg_service *s, const tg_request *request, const tg_iiif *iiif,
                          tg_str words, tg_response *r)
{
    tg_err none = {0};
    tg_source seen;
    tg_after note = {0};
    bool open;
    if (!tg_cache_is_shared(s->cache) ||
        !tg_source_look(s->sources, iiif->identifier, s->arena, &seen, &open, &none))
        return false;
    s->after.words = words_text(s, &seen, iiif->version, words);
    if (open || !read_note(s, tg_notes_find(s->after.words, s->arena), seen.identity.name, &note))
        return false;
    if (send_picture(s, request, iiif, &seen, &note, r))
        return true;
    tg_response_reset(r);
    return false;
}

void tg_answer_remember(tg_service *s)
{
    const tg_after *a = &s->after;
    if (!a->words.n || !a->canonical.n || !a->key.text.n)
        return;
    tg_notes_put(a->words, tg_arena_printf(s->arena, "%.*s\n%.*s\n%.*s", TG_STR_ARG(a->canonical),
                                           TG_STR_ARG(a->ending), TG_STR_ARG(a->key.text)));
}
