/* All rounding of the project: a job resolved against an image's real dimensions.
 * IIIF Image API 3.0 section 4 and 2.1.1 section 4; see the header of geometry.c for the rules. */
#ifndef TEGULA_GEOMETRY_H
#define TEGULA_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "tegula/err.h"
#include "tegula/job.h"
#include "tegula/pixel.h"

/* What results may be at most: sides (0 = no limit) and area (0 = no limit), in px. */
typedef struct tg_limits {
    uint32_t max_w, max_h;
    uint64_t max_area;
    bool allow_upscaling;
} tg_limits;

typedef struct tg_geometry {
    tg_rect region;       /* full-resolution px, cropped to the image, w and h >= 1 */
    uint32_t w, h;        /* result before rotation, px, >= 1 */
    bool full_region;     /* region is the whole image */
    bool enlarged;        /* larger than the region in either direction */
    bool is_max;          /* the size that TG_SIZE_MAX gives (w, h) for this region */
    bool is_upscaled_max; /* the size that TG_SIZE_MAX with a caret gives */
    bool keeps_ratio;     /* the height that `w,` gives, or the width that `,h` gives */
} tg_geometry;

/* Fails with TG_ERR_BAD_REQUEST (msg names the parameter: region outside, size zero, larger than
 * the region, over the limits) or TG_ERR_NOT_IMPLEMENTED (caret that must enlarge where
 * allow_upscaling is off). */
bool tg_geometry_resolve(const tg_job *job, uint32_t image_w, uint32_t image_h,
                         const tg_limits *limits, tg_geometry *out, tg_err *err);

/* Limits in force: MAX_CVT on both sides, or with MAX_CVT=-1 an area from the memory ceiling. */
struct tg_config;
void tg_limits_from_config(const struct tg_config *config, tg_limits *out);

/* round(a * b / c) half up, without overflow for 32-bit arguments, at least 1. */
uint32_t tg_scale_round_px(uint32_t a, uint32_t b, uint32_t c);

#endif
