/* ICC profiles of input: what is wrong with one, and the way from its device values to sRGB. Every
 * profile is hostile until tg_profile_refusal says nothing. Private to src/codec. */
#ifndef TEGULA_COLOUR_PROFILE_H
#define TEGULA_COLOUR_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <lcms2.h>

#include "colour_srgb.h"
#include "tegula/codec.h"
#include "tegula/str.h"

#define TG_PROFILE_MAX_BYTES ((size_t)16 << 20)

/* Why a profile cannot belong to pixels of a space, for the log; NULL when its header says nothing
 * against it. *profile is shortened to the size that the profile gives itself. */
const char *tg_profile_refusal(tg_str *profile, tg_space space);

/* Do those who read what is sent take it? Stricter readers than lcms2 check the table of tags. */
bool tg_profile_embeddable(tg_str profile);

/* One of the three, by what is not NULL. */
typedef struct tg_profile_way {
    uint16_t *gray;       /* 256 or 65536 values, by the depth */
    float *linear[3];     /* as many of each: matrix and curves, see tg_srgb_of_matrix */
    cmsHTRANSFORM to_lab; /* device values without alpha to L*a*b*: 16 bit as tg_native codes it, */
    bool lab_float;       /* or three floats */
    tg_affine to;         /* of linear: device light to linear sRGB; of to_lab: XYZ to it */
    cmsContext lcms;
} tg_profile_way;

/* False when the profile cannot be used after all. */
bool tg_profile_way_make(tg_profile_way *way, tg_str profile, tg_native native);
void tg_profile_way_free(tg_profile_way *way);

#endif
