#ifndef TG_PROTO_IIIF_PARAMS_H
#define TG_PROTO_IIIF_PARAMS_H

#include "tegula/iiif.h"

enum { TG_IIIF_PARAMS = 4 }; /* region, size, rotation, quality.format */

/* What the API calls them; NULL for what only IIP has. */
extern const char *const tg_iiif_qualities[TG_QUALITIES];

/* At least one of four raw path segments can only be an image request's parameter, of either
 * version. A rotation does not count: folders are often named by a number. extended: with the
 * qualities of IIIF_EXTENSIONS. */
bool tg_iiif_params_plausible(const tg_str raw[TG_IIIF_PARAMS], bool extended, tg_arena *arena);

#endif
