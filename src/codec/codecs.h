/* The codecs of the registry that need no header of their own. Private to src/codec. */
#ifndef TEGULA_CODECS_H
#define TEGULA_CODECS_H

#include "tegula/codec.h"

extern const tg_codec tg_jpeg_codec;
extern const tg_codec tg_jp2_codec;
extern const tg_codec tg_png_codec;
extern const tg_codec tg_webp_codec;
extern const tg_codec tg_gif_codec;  /* HAVE_GIF */
extern const tg_codec tg_heif_codec; /* HAVE_HEIF */

#endif
