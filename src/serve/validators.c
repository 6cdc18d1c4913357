#include <inttypes.h>

#include "serve/service.h"

tg_str tg_answer_settings(const tg_config *c, const tg_watermark *mark, tg_arena *arena)
{
    return tg_arena_printf(
        arena,
        PACKAGE_VERSION "|%d|%d|%d|%d|%d|%d|%d|%d|%g|%d|%02x%02x%02x|%d|%d|%" PRId64
                        "|%d|%d|%016" PRIx64 "|%s",
        c->jpeg_quality, c->png_quality, c->png_filter, c->webp_quality, c->avif_quality,
        c->tiff_quality, c->tiff_compression, (int)c->filter, c->oversampling, c->codec_passthrough,
        c->background[0], c->background[1], c->background[2], c->max_layers, c->retain_icc,
        c->max_icc_bytes, c->keep_metadata, c->strict, tg_watermark_sum(mark), c->copyright);
}

tg_cache_key tg_answer_key(tg_service *s, const tg_identity *id, tg_str what)
{
    tg_str text =
        tg_arena_printf(s->arena, "%.*s|%" PRIu64 "|%" PRId64 ".%09u|%016" PRIx64 "|%.*s|%.*s",
                        TG_STR_ARG(id->name), id->size_bytes, id->mtime_s, id->mtime_ns,
                        id->fingerprint, TG_STR_ARG(s->settings), TG_STR_ARG(what));
    /* The key outlives the source, and with it the name there. */
    return tg_answer_key_of(s, text, (tg_str){text.p, id->name.n});
}

tg_cache_key tg_answer_key_of(tg_service *s, tg_str text, tg_str file)
{
    tg_str quoted = tg_etag(s->arena, text.p, text.n);
    return (tg_cache_key){.text = text, .hash = {quoted.p + 1, quoted.n - 2}, .file = file};
}

bool tg_answer_validators(tg_service *s, const tg_request *request, const tg_identity *id,
                          tg_str what, tg_response *r)
{
    tg_cache_key key = tg_answer_key(s, id, what);
    return tg_answer_tagged(s, request, id, tg_answer_etag(&key), r);
}

bool tg_answer_tagged(tg_service *s, const tg_request *request, const tg_identity *id, tg_str etag,
                      tg_response *r)
{
    char date[30];
    tg_http_date((time_t)id->mtime_s, date);
    tg_header(r, "ETag", etag);
    tg_header(r, "Last-Modified", tg_str_of(date));
    if (s->config->cache_control[0])
        tg_header(r, "Cache-Control", tg_str_of(s->config->cache_control));
    if (!tg_not_modified(request, etag, (time_t)id->mtime_s, (time_t)id->ctime_s))
        return false;
    r->status = 304;
    return true;
}

void tg_answer_text(tg_service *s, const tg_request *request, const tg_source *source, tg_str what,
                    const char *media_type, tg_response *r)
{
    if (!what.n)
        what = tg_buf_view(&r->body);
    what = tg_arena_printf(s->arena, "%s|%u|%.*s", media_type, source->page, TG_STR_ARG(what));
    if (tg_answer_validators(s, request, &source->identity, what, r)) {
        r->body.len = 0;
        return;
    }
    r->status = 200;
    tg_header(r, "Content-Type", tg_str_of(media_type));
}
