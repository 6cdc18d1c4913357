#include "render/embedding.h"

#define MAX_XMP_BYTES       ((size_t)1 << 20)
#define MAX_COPYRIGHT_BYTES 4096

static tg_str block(tg_image *image, tg_block which, size_t limit_bytes, tg_buf *out)
{
    tg_image_block(image, which, limit_bytes, out);
    return tg_buf_view(out);
}

void tg_embedding_gather(tg_embedding *e, const tg_config *config, const tg_plan *plan,
                         tg_image *image)
{
    *e = (tg_embedding){0};
    if (plan->keeps_profile)
        e->embed.icc = tg_colour_profile(image->colour);
    if (config->keep_metadata) {
        e->embed.xmp = block(image, TG_BLOCK_XMP, MAX_XMP_BYTES, &e->xmp);
        e->embed.copyright = block(image, TG_BLOCK_COPYRIGHT, MAX_COPYRIGHT_BYTES, &e->copyright);
    }
    if (e->embed.copyright.n == 0)
        e->embed.copyright = tg_str_of(config->copyright);
}

void tg_embedding_free(tg_embedding *e)
{
    tg_buf_free(&e->xmp);
    tg_buf_free(&e->copyright);
}
