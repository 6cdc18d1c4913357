#ifndef TG_PROTO_IIIF_RIGHTS_H
#define TG_PROTO_IIIF_RIGHTS_H

#include "tegula/arena.h"
#include "tegula/str.h"

/* The URI to publish for a COPYRIGHT that is one, in the form its authority defines; empty when the
 * text is no http(s) URL. */
tg_str tg_iiif_rights_uri(tg_str copyright, tg_arena *arena);

#endif
