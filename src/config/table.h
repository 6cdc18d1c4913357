/* Inside of the configuration: the table's rows and how their values are read and written. */
#ifndef TEGULA_CONFIG_TABLE_H
#define TEGULA_CONFIG_TABLE_H

#include <stddef.h>

#include "tegula/config.h"

typedef enum tg_kind {
    TG_KIND_NONE,       /* known, without an effect in this version */
    TG_KIND_INT,        /* int */
    TG_KIND_INT64,      /* int64_t */
    TG_KIND_DECIMAL,    /* double */
    TG_KIND_BOOL,       /* bool: 0 = no, any other whole number = yes */
    TG_KIND_TEXT,       /* const char *, anything */
    TG_KIND_LINE,       /* const char * without control characters: becomes part of a header */
    TG_KIND_URL,        /* const char *, empty or an http(s) URL */
    TG_KIND_MEMBERS,    /* const char *, empty or members of a JSON object for info.json */
    TG_KIND_MIB,        /* uint64_t of bytes, written in MiB */
    TG_KIND_SIDE,       /* uint32_t, MAX_CVT's rules: -1 = 0 = no limit */
    TG_KIND_FILTER,     /* tg_filter by iipsrv's number */
    TG_KIND_VERSION,    /* int, 1 to 3 */
    TG_KIND_ZLIB,       /* int 0..9, also by the name of a zlib constant */
    TG_KIND_PNG_FILTER, /* int, libpng's mask by name or number; 0 = AUTO */
    TG_KIND_SERVERS,    /* const char *, empty or servers with commas between */
    TG_KIND_LAYOUT,     /* tg_layout */
    TG_KIND_COLOUR,     /* uint8_t[3] */
    TG_KIND_MAPS,       /* adds to uri_map */
    TG_KIND_PREFIX      /* adds one prefix of IIIF to uri_map */
} tg_kind;

typedef struct tg_variable {
    tg_variable_doc doc;
    tg_kind kind;
    size_t
        offset; /* in tg_config; rows of one offset are names of one setting, first set one wins */
    double lowest, highest; /* INT, INT64, DECIMAL, MIB; values outside are clamped */
} tg_variable;

/* INTERPOLATION's numbers. */
#define TG_FILTER_NUMBERS 3
extern const tg_filter tg_filter_numbers[TG_FILTER_NUMBERS];

/* PNG_FILTER_TYPE's names, after which libpng calls its own, and the masks they stand for. */
#define TG_PNG_FILTERS 7
extern const struct tg_png_filter {
    const char *name;
    int mask;
} tg_png_filters[TG_PNG_FILTERS];

extern const tg_variable tg_variables[];
extern const unsigned tg_n_variables;

/* Value of a variable in envp, NULL when it is not set. */
const char *tg_variable_in(char *const envp[], const char *name);

/* Of the rows that name the same setting the first that is set; v itself when none is, and always
 * for URI_MAP and IIIF_PREFIX, which add up. */
const tg_variable *tg_variable_in_force(const tg_variable *v, char *const envp[]);

/* Reads text into the variable's field. False when it is bad: the field then holds the clamp, or
 * what it held before. MAPS, PREFIX: false when any part of text is bad; the others are added. */
bool tg_variable_parse(const tg_variable *variable, const char *text, tg_config *config);

/* What the variable's field holds, as it would be written in the environment. */
void tg_variable_write(const tg_variable *variable, const tg_config *config, FILE *out);

/* "prefix=>protocol, ..." and one such pair; false when one is bad, known already or too many. */
bool tg_maps_parse(tg_str text, tg_config *config);
bool tg_maps_add(tg_str prefix, tg_protocol protocol, tg_config *config);
const char *tg_protocol_name(tg_protocol protocol);

/* Are all of them such as tg_server_parse takes, and not too many? */
bool tg_servers_ok(tg_str list);

/* The known name that an unknown one is probably meant to be (a letter or two wrong, or in other
 * case); NULL if none. */
const char *tg_variable_meant(tg_str name);

/* Of the known names with this prefix, which several have, the one that is least unlike. */
const char *tg_variable_nearest(tg_str name, tg_str prefix);

#endif
