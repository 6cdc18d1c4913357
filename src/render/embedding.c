#include "render/embedding.h"

#define MAX_XMP_BYTES ((size_t)1 << 20)

void tg_embedding_gather(tg_embedding *e, const tg_config *config, const tg_plan *plan,
                         tg_image *image)
{
    *e = (tg_embedding){0};
    if (plan->keeps_profile)
        e->embed.icc = tg_colour_profile(image->colour);
    if (config->keep_metadata) {
        tg_image_block(image, TG_BLOCK_XMP, MAX_XMP_BYTES, &e->xmp);
        tg_image_text(image, TG_TEXT_RIGHTS, TG_MAX_RIGHTS_BYTES, &e->copyright);
        e->embed.xmp = tg_buf_view(&e->xmp);
        e->embed.copyright = tg_buf_view(&e->copyright);
    }
    if (e->embed.copyright.n == 0)
        e->embed.copyright = tg_str_of(config->copyright);
}

void tg_embedding_free(tg_embedding *e)
{
    tg_buf_free(&e->xmp);
    tg_buf_free(&e->copyright);
}
