/* All rounding of the project: a job resolved against an image's real dimensions.
 * IIIF Image API 3.0 section 4 and 2.1.1 section 4; see the header of geometry.c for the rules. */
#ifndef TEGULA_GEOMETRY_H
#define TEGULA_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "tegula/err.h"
#include "tegula/job.h"
#include "tegula/pixel.h"

/* What results may be at most, before rotation: sides (0 = no limit; max_h 0 = max_w) and area (0 =
 * no limit), in px. What is published is what is enforced. */
typedef struct tg_limits {
    uint32_t max_w, max_h;
    uint64_t max_area;
    bool allow_upscaling;
} tg_limits;

/* A result of which only a part is image: w by h px of it at x, y. */
typedef struct tg_canvas {
    uint32_t width_px, height_px; /* 0: the image fills the result */
    uint32_t x, y;
} tg_canvas;

/* One axis of TG_REGION_FREE: where its first px begins in full-resolution px, how far it is to
 * the next. */
typedef struct tg_free_axis {
    double origin, step;
} tg_free_axis;

typedef struct tg_geometry {
    tg_rect region;              /* full-resolution px, cropped to the image, w and h >= 1 */
    uint32_t w, h;               /* result before rotation, px, >= 1 */
    bool full_region;            /* region is the whole image */
    bool enlarged;               /* larger than the region in either direction */
    bool is_max;                 /* the size that TG_SIZE_MAX gives (w, h) for this region */
    bool is_upscaled_max;        /* the size that TG_SIZE_MAX with a caret gives */
    bool keeps_ratio;            /* h is the height that `w,` gives */
    tg_free_axis free_x, free_y; /* FREE: of the part that is image */
    tg_canvas canvas;            /* FREE */
} tg_geometry;

/* MAX and CONFINE shrink to the limits and to what the job's format can hold; forms that name a
 * size are refused beyond the limits. image_w and image_h are at least 1. Fails with
 * TG_ERR_BAD_REQUEST (msg names the parameter: region outside, size zero, larger than the region,
 * over the limits) or TG_ERR_NOT_IMPLEMENTED (caret that must enlarge where allow_upscaling is
 * off). FREE takes those px of the result whose centres lie inside the image, at least one where
 * the two touch; TG_ERR_NOT_FOUND where they do not. */
bool tg_geometry_resolve(const tg_job *job, uint32_t image_w, uint32_t image_h,
                         const tg_limits *limits, tg_geometry *out, tg_err *err);

/* Limits in force for an image: MAX_CVT on both sides; with MAX_CVT=-1 no side, and as area the
 * image's own or what the memory ceiling could hold as a raster, whichever is more, so that every
 * result that does not enlarge is within them. A side is never allowed beyond what JPEG can hold,
 * since all sizes up to the limits are promised in that format. */
struct tg_config;
void tg_limits_from_config(const struct tg_config *config, uint32_t image_w, uint32_t image_h,
                           tg_limits *out);

/* A result of w by h px is within the limits. */
bool tg_limits_allow(const tg_limits *limits, uint32_t w, uint32_t h);

/* round(a * b / c) half up, without overflow for 32-bit arguments, at least 1. */
uint32_t tg_scale_round_px(uint32_t a, uint32_t b, uint32_t c);

#endif
