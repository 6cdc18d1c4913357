/* What goes into a picture beside its pixels: gathered from the file and the configuration, the
 * same for stored tiles and encoded results. */
#ifndef TEGULA_RENDER_EMBEDDING_H
#define TEGULA_RENDER_EMBEDDING_H

#include "tegula/buf.h"
#include "tegula/config.h"
#include "tegula/plan.h"

typedef struct tg_embedding {
    tg_embed embed; /* views: of image, config and the texts below */
    tg_buf xmp, copyright;
} tg_embedding;

/* Colour profile by image->colour; XMP and the file's own rights with KEEP_METADATA, the rights of
 * the configuration where the file names none. */
void tg_embedding_gather(tg_embedding *e, const tg_config *config, const tg_plan *plan,
                         tg_image *image);
void tg_embedding_free(tg_embedding *e);

#endif
