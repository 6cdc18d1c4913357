/* The Internet Imaging Protocol as image servers of its kind speak it: commands joined by '&', what
 * they ask for, and the texts they are answered with. */
#ifndef TEGULA_IIP_H
#define TEGULA_IIP_H

#include <stdbool.h>
#include <stdint.h>

#include "tegula/arena.h"
#include "tegula/buf.h"
#include "tegula/config.h"
#include "tegula/err.h"
#include "tegula/job.h"
#include "tegula/str.h"
#include "tegula/texts.h"

/* What the first output command asks for. */
typedef enum tg_iip_output {
    TG_IIP_NONE,
    TG_IIP_OBJECTS,  /* there is none, but OBJ */
    TG_IIP_VIEW,     /* CVT: the region as one picture */
    TG_IIP_TILE,     /* JTL and its kin */
    TG_IIP_TILES,    /* TIL */
    TG_IIP_PROFILE,  /* PFL */
    TG_IIP_SPECTRUM, /* SPECTRA */
    TG_IIP_DEEPZOOM,
    TG_IIP_ZOOMIFY,
    TG_IIP_XYZ,
    TG_IIP_IIIF
} tg_iip_output;

/* The image that FIF and SDS name. */
typedef struct tg_iip_image {
    bool set;
    tg_str identifier; /* decoded once */
    unsigned view;     /* horizontal: page of a stack; 0 = none in particular */
    unsigned vertical; /* of image sequences */
    int layers;        /* of JPEG 2000; 0 = not given */
} tg_iip_image;

/* One OBJ, with the state of the commands before it. */
typedef struct tg_iip_object {
    tg_str name;
    tg_iip_image image;
    bool on_side; /* ROT=90 or 270 came before it */
} tg_iip_object;

#define TG_IIP_OBJECTS_MAX 64

typedef struct tg_iip {
    tg_iip_output output;
    tg_iip_image image;
    tg_job job; /* modifiers and format; of a view also region and size */
    /* where, as the command says it; nothing is known of the image yet */
    int64_t resolution, tile, last_tile;
    int64_t x1, y1, x2, y2;
    tg_str argument; /* of Deep Zoom, Zoomify, IIIF: raw */
    size_t before;   /* bytes of the query in front of it */
    tg_iip_object object[TG_IIP_OBJECTS_MAX];
    unsigned n_objects;
} tg_iip;

/* What is answered with "Error/n:code name" and status 400. */
typedef struct tg_iip_error {
    const char *code; /* "2 1"; NULL = none */
    tg_str name;      /* the offending command, argument or object */
} tg_iip_error;

#define TG_IIP_NO_IMAGE       "1 3"
#define TG_IIP_MALFORMED      "2 1"
#define TG_IIP_UNKNOWN        "2 2"
#define TG_IIP_UNKNOWN_OBJECT "3 2"

/* query: raw. False with error. */
bool tg_iip_parse(const tg_config *config, tg_str query, tg_arena *arena, tg_iip *out,
                  tg_iip_error *error);

/* Is there a command in it that is known here? */
bool tg_iip_asks(tg_str query);

/* "Error/7:2 2 FOO" CR LF. */
void tg_iip_error_text(const tg_iip_error *error, tg_buf *out);

/* ---- objects ---- */

#define TG_IIP_LEVELS_MAX   32
#define TG_IIP_CHANNELS_MAX 5

/* What objects tell of an image. */
typedef struct tg_iip_facts {
    unsigned n_levels;
    struct {
        uint32_t width_px, height_px;
    } level[TG_IIP_LEVELS_MAX]; /* smallest first */
    uint32_t tile_w_px, tile_h_px;
    /* numbers of the views; none: there is one */
    const unsigned *horizontal, *vertical;
    const tg_str *name; /* of each horizontal view, of a stack */
    unsigned n_horizontal, n_vertical;
    bool stack; /* the horizontal views are pages of one file */
    unsigned bits, channels;
    double min[TG_IIP_CHANNELS_MAX], max[TG_IIP_CHANNELS_MAX];
    bool colour, lab;
    double dpi_x, dpi_y; /* 0 = unknown */
    tg_str xmp;
    tg_str text[TG_TEXTS]; /* n 0 where the image has none */
} tg_iip_facts;

typedef enum tg_iip_type { TG_IIP_NETFPX, TG_IIP_PLAIN, TG_IIP_XML, TG_IIP_JSON } tg_iip_type;

const char *tg_iip_media_type(tg_iip_type type);

/* Of those objects that tell nothing of an image. */
bool tg_iip_object_is_general(tg_str name);
bool tg_iip_object_is_known(tg_str name);

/* The texts of an image that it tells: 1 << TG_TEXT_... of each. */
unsigned tg_iip_object_texts(tg_str name);

/* Appends what object tells; facts may be NULL for general ones. */
void tg_iip_object_text(const tg_iip_object *object, const tg_iip_facts *facts, tg_buf *out,
                        tg_iip_type *type);

#endif
