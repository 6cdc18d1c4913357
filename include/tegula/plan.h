/* The plan: how a resolved job will be answered, as a value that can be printed and tested without
 * decoding a pixel. The ladder, cheapest first: a stored tile verbatim, at the level's edge cropped
 * without decoding; tiles of one level, decoded at the codec's own reduction, resampled only when
 * sizes differ. */
#ifndef TEGULA_PLAN_H
#define TEGULA_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "tegula/arena.h"
#include "tegula/codec.h"
#include "tegula/colour.h"
#include "tegula/config.h"
#include "tegula/err.h"
#include "tegula/filter.h"
#include "tegula/geometry.h"
#include "tegula/job.h"
#include "tegula/watermark.h"

typedef struct tg_plan {
    tg_geometry geometry;
    unsigned level;     /* of the image, 0 = largest */
    unsigned reduction; /* k: decoded at 1/2^k of the level */
    bool stored;        /* one stored tile, sent as it stands; col and row name it */
    bool cropped;       /* stored, but for what lies beyond the level's edge */
    uint32_t col, row;
    bool resample; /* false: pixels of the window are the result */
    tg_filter filter;
    tg_rect window;              /* pixels read, in the level at its reduction */
    bool processed;              /* as process says, between reading and scaling */
    tg_process process;          /* its kernel lies as the image is stored */
    tg_rect core;                /* of the window: without what only the kernel looks at */
    tg_axis x, y;                /* sampling inside the core, when resample */
    uint32_t band_px;            /* rows of the window read at once */
    uint32_t scaled_w, scaled_h; /* geometry's w and h, swapped where the image lies on its side */
    /* behind the scaler, in this order: colour, mirror, rotation, quality, depth, alpha */
    const tg_colour *colour; /* NULL: nothing to convert */
    bool keeps_profile;      /* of the image; it goes into the result */
    bool mirror;             /* the image's own orientation is part of mirror and turn */
    unsigned quarter;        /* 1..3 clockwise quarter turns, 0 none */
    double angle;            /* else degrees; 0 none */
    uint32_t out_w, out_h;   /* after rotation */
    tg_pixfmt read_fmt;      /* what the codec delivers */
    tg_pixfmt rows_fmt;      /* what is scaled */
    tg_pixfmt out_fmt;       /* what the encoder gets */
    bool gray, bitonal;
    bool binary, equalise; /* by the histogram of the smallest resolution */
    tg_mark mark;          /* behind all of this */
    tg_format format;
    int encode_quality;
    tg_tiff_compression compression; /* of TIFF */
    int png_filter;                  /* as tg_encode_spec has it */
    double dpi_x, dpi_y;             /* scaled to the output and turned with it; 0 = unknown */
    uint32_t tiles;                  /* stored tiles that will be decoded */
    uint64_t decode_px;              /* pixels that will be decoded */
    uint64_t memory_bytes;           /* estimate of pixel memory held at once */
} tg_plan;

/* Resolves image->colour. TG_ERR_BAD_REQUEST as tg_geometry_resolve, or when the format cannot
 * hold the size; TG_ERR_TOO_LARGE when the estimate passes the memory ceiling. */
bool tg_plan_make(const tg_config *config, tg_image *image, const tg_job *job, tg_plan *out,
                  tg_err *err);

/* Puts the watermark where it falls on the output of that name, which then is no stored tile any
 * more. Fails as tg_plan_make. */
bool tg_plan_mark(tg_plan *plan, const tg_image *image, const tg_watermark *mark, tg_str name,
                  tg_err *err);

/* What the encoder is told. */
tg_encode_spec tg_plan_encode_spec(const tg_plan *plan);

/* The plan as text, "key: value" lines. */
void tg_plan_print(const tg_plan *plan, const tg_image *image, tg_buf *out);

#endif
