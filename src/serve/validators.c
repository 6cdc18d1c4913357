#include <inttypes.h>

#include "serve/service.h"

/* Everything that shapes the bytes besides the file and the address. */
static tg_str settings_text(const tg_config *c, tg_arena *arena)
{
    return tg_arena_printf(arena,
                           PACKAGE_VERSION "|%d|%d|%d|%d|%d|%d|%g|%d|%u|%" PRIu64
                                           "|%02x%02x%02x|%d|%d|%" PRId64 "|%d|%d|%s",
                           c->jpeg_quality, c->png_quality, c->webp_quality, c->tiff_quality,
                           c->tiff_compression, (int)c->filter, c->oversampling,
                           c->codec_passthrough, c->max_cvt, c->memory_bytes, c->background[0],
                           c->background[1], c->background[2], c->max_layers, c->retain_icc,
                           c->max_icc_bytes, c->keep_metadata, c->strict, c->copyright);
}

bool tg_answer_validators(tg_service *s, const tg_request *request, const tg_identity *id,
                          tg_str what, tg_response *r)
{
    tg_str settings = settings_text(s->config, s->arena);
    tg_str all =
        tg_arena_printf(s->arena, "%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRId64 ".%09u|%.*s|%.*s",
                        id->device, id->inode, id->size_bytes, id->mtime_s, id->mtime_ns,
                        TG_STR_ARG(settings), TG_STR_ARG(what));
    tg_str etag = tg_etag(s->arena, all.p, all.n);
    char date[30];
    tg_http_date((time_t)id->mtime_s, date);
    tg_header(r, "ETag", etag);
    tg_header(r, "Last-Modified", tg_str_of(date));
    if (s->config->cache_control[0])
        tg_header(r, "Cache-Control", tg_str_of(s->config->cache_control));
    if (!tg_not_modified(request, etag, (time_t)id->mtime_s))
        return false;
    r->status = 304;
    return true;
}
