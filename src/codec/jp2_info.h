/* What the boxes around a codestream say of its picture. Private to src/codec. */
#ifndef TEGULA_JP2_INFO_H
#define TEGULA_JP2_INFO_H

#include "jp2_boxes.h"

#define TG_JP2_MAX_CHANNELS 16 /* palette columns, mappings and definitions that are looked at */

/* Enumerated colour spaces: table I.10 of Part 1 and table M.25 of Part 2. */
enum {
    TG_JP2_BILEVEL_1 = 0, /* 1 = black */
    TG_JP2_YCBCR_1 = 1,   /* of ITU-R BT.709 */
    TG_JP2_YCBCR_2 = 3,   /* of BT.601, full range */
    TG_JP2_YCBCR_3 = 4,   /* of BT.601 */
    TG_JP2_CMY = 11,
    TG_JP2_CMYK = 12,
    TG_JP2_YCCK = 13,
    TG_JP2_LAB = 14,
    TG_JP2_BILEVEL_2 = 15, /* 1 = white */
    TG_JP2_SRGB = 16,
    TG_JP2_GRAY = 17,
    TG_JP2_SYCC = 18,
    TG_JP2_ESRGB = 20,
    TG_JP2_ROMM = 21,
    TG_JP2_ESYCC = 24
};

typedef enum tg_jp2_method { TG_JP2_NO_COLOUR, TG_JP2_ENUMERATED, TG_JP2_ICC } tg_jp2_method;

typedef struct tg_jp2_colour {
    tg_jp2_method method;
    uint32_t space;         /* enumerated */
    uint32_t parameters[6]; /* of CIELab: RL, OL, RA, OA, RB, OB */
    bool has_parameters;
    uint32_t icc_space;    /* signature in the profile's header, such as 'RGB ' */
    tg_j2k_source profile; /* ICC */
} tg_jp2_colour;

typedef struct tg_jp2_palette {
    uint16_t n_entries; /* 0 = no palette */
    uint8_t n_columns;
    uint8_t bits[TG_JP2_MAX_CHANNELS];
    bool is_signed[TG_JP2_MAX_CHANNELS];
    tg_j2k_source values; /* entry after entry, each value in as many bytes as its bits need */
} tg_jp2_palette;

typedef struct tg_jp2_mapping {
    uint16_t component;
    bool by_palette;
    uint8_t column;
} tg_jp2_mapping;

typedef struct tg_jp2_definition {
    uint16_t channel;
    uint16_t type;        /* 0 colour, 1 opacity, 2 opacity that colours are multiplied by */
    uint16_t association; /* 0 the whole picture, 1 .. the colour it is, 65535 none */
} tg_jp2_definition;

typedef struct tg_jp2_info {
    tg_j2k_source codestream;
    bool raw; /* there are no boxes */
    bool cut; /* the codestream's box is longer than the file */
    tg_jp2_colour colour;
    tg_jp2_palette palette;
    tg_jp2_mapping mapping[TG_JP2_MAX_CHANNELS];
    tg_jp2_definition definition[TG_JP2_MAX_CHANNELS];
    uint8_t n_mappings, n_definitions;
    double capture_dpi_x, capture_dpi_y, display_dpi_x, display_dpi_y; /* 0 = unknown */
    tg_j2k_source xmp, exif;                                           /* n_bytes 0 = none */
} tg_jp2_info;

/* Reads the boxes' headers and the small ones' contents. */
bool tg_jp2_info_read(const tg_j2k_source *file, tg_jp2_info *out, tg_err *err);

#endif
