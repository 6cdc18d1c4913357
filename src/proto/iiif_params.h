#ifndef TG_PROTO_IIIF_PARAMS_H
#define TG_PROTO_IIIF_PARAMS_H

#include "tegula/iiif.h"

enum { TG_IIIF_PARAMS = 4 }; /* region, size, rotation, quality.format */

/* At least one of four raw path segments can only be an image request's parameter, of either
 * version. A rotation does not count: folders are often named by a number. */
bool tg_iiif_params_plausible(const tg_str raw[TG_IIIF_PARAMS], tg_arena *arena);

#endif
