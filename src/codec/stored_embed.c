#include "embed.h"

bool tg_stored_embed(tg_buf *out, size_t start, const tg_encode_spec *spec)
{
    if (spec->format == TG_FORMAT_WEBP)
        return tg_webp_embed(out, start, spec) && !out->failed;
    tg_jpeg_embed(out, start, spec);
    return !out->failed;
}
