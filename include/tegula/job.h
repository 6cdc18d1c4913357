/* A job: what a client wants of one image, as a protocol understood it. No dimensions of the image
 * are known yet; render/geometry resolves it against them. All protocols make jobs. */
#ifndef TEGULA_JOB_H
#define TEGULA_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "tegula/arena.h"
#include "tegula/encoder.h"
#include "tegula/process.h"

typedef enum tg_region_kind {
    TG_REGION_FULL,
    TG_REGION_SQUARE,  /* side = shorter side, centred on the longer one */
    TG_REGION_PIXELS,  /* x, y, w, h whole numbers of full-resolution pixels */
    TG_REGION_PERCENT, /* x, y, w, h in percent of the full image; a negative origin is cut off */
    TG_REGION_FREE, /* x, y, w, h real numbers of full-resolution pixels as shown, may reach beyond
                       the image; the result is exactly w x h, whatever the limits are, and not
                       turned */
    TG_REGION_LEVEL /* x, y, w, h whole pixels of a stored level, as shown and inside of it; they
                       are the result, whatever size says and the limits are */
} tg_region_kind;

typedef enum tg_size_kind {
    TG_SIZE_MAX,     /* the region's size, shrunk only to meet the limits */
    TG_SIZE_WIDTH,   /* w exact, height keeps the ratio */
    TG_SIZE_HEIGHT,  /* h exact */
    TG_SIZE_PERCENT, /* pct of the region's size */
    TG_SIZE_EXACT,   /* w x h, distorting */
    TG_SIZE_CONFINE  /* best fit within w x h */
} tg_size_kind;

/* May the result be larger than the region? */
typedef enum tg_upscale {
    TG_UPSCALE_NO,    /* IIIF 3 without a caret: an error, but CONFINE and MAX stay at the region */
    TG_UPSCALE_CARET, /* IIIF 3 with a caret: yes, MAX and CONFINE grow to the limits */
    TG_UPSCALE_IMPLICIT /* IIIF 2: yes where the form names a size; MAX and CONFINE never grow */
} tg_upscale;

typedef enum tg_quality {
    TG_QUALITY_DEFAULT,
    TG_QUALITY_COLOR,
    TG_QUALITY_GRAY,
    TG_QUALITY_BITONAL,
    TG_QUALITY_BINARY, /* bitonal at the image's own threshold (Otsu) */
    /* more than the Image API has: default, but */
    TG_QUALITY_EQUALIZATION, /* equalise */
    TG_QUALITY_LOG,          /* gamma of process is TG_GAMMA_LOG */
    TG_QUALITY_NEGATIVE,     /* invert */
    TG_QUALITY_STRETCH,      /* stretch */
    TG_QUALITIES
} tg_quality;

static inline bool tg_quality_is_extension(tg_quality quality)
{
    return quality >= TG_QUALITY_EQUALIZATION;
}

typedef struct tg_job {
    tg_region_kind region;
    double rx, ry, rw, rh; /* PIXELS: whole, saturated at 2^53; PERCENT: as written */
    unsigned level;        /* LEVEL: of the image, 0 = largest */
    tg_size_kind size;
    uint64_t w, h; /* WIDTH, HEIGHT, EXACT, CONFINE; saturated at UINT64_MAX */
    double pct;    /* PERCENT */
    tg_upscale upscale;
    bool mirror;     /* left-right, before the rotation */
    double rotation; /* clockwise degrees, [0, 360) */
    tg_quality quality;
    tg_format format;
    tg_process process; /* of the pixels as read, before they are scaled */
    bool equalise;      /* the histogram, behind scaling and gray */
    bool has_encode_quality, has_compression;
    int encode_quality; /* instead of the configuration's; clamped to what the format knows */
    tg_tiff_compression compression;
} tg_job;

/* Takes over what modifiers says of the pixels: processing, quality, turns, coding; a job that
 * turns itself or names a quality keeps that. NULL: nothing. */
void tg_job_modify(tg_job *job, const tg_job *modifiers);

/* The job with what an extension's quality stands for in its place. */
tg_job tg_job_without_extension(const tg_job *job);

/* Everything but region, size and format as text: what a plan's geometry does not tell. */
tg_str tg_job_modifiers(const tg_job *job, tg_arena *arena);

#endif
