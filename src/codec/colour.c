#include "tegula/colour.h"

#include <string.h>

void tg_colour_resolve(tg_image *image, const tg_colour_policy *policy)
{
    (void)image;
    (void)policy;
}

void tg_colour_release(const tg_colour *colour)
{
    (void)colour;
}

bool tg_colour_is_identity(const tg_colour *colour)
{
    return colour == NULL;
}

tg_str tg_colour_profile(const tg_colour *colour)
{
    (void)colour;
    return TG_STR("");
}

void tg_colour_row(const tg_colour *colour, void *dst, const void *src, size_t n_px)
{
    (void)colour, (void)dst, (void)src, (void)n_px;
}

void tg_colour_to_rgb(const tg_colour *colour, tg_native native, void *dst, const void *src,
                      size_t n_px)
{
    (void)colour, (void)native, (void)dst, (void)src, (void)n_px;
}
