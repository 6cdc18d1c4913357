/* The command line of mkpyramid. */
#ifndef TEGULA_TESTS_MKPYRAMID_OPTIONS_H
#define TEGULA_TESTS_MKPYRAMID_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct options {
    const char *out, *picture, *icc;
    uint32_t size_px[2], tile_px[2], subsampling[2]; /* across, down */
    unsigned strip_rows;                             /* 0 = tiles */
    unsigned compression, photometric;               /* as TIFF numbers them */
    unsigned alpha;                                  /* ExtraSamples type + 1; 0 = none */
    unsigned bits, pages, quality, max_levels, orientation, xmp_bytes;
    double ratio, dpi, dpcm, hole_bytes;
    int pad; /* value of tile padding; -1: the edge is repeated */
    bool ceil_sizes, subifds, bigtiff, big_endian, little_endian, predictor, unmarked, no_tables;
    bool planes, stack, slide;
} options;

/* Ends the program with a message when the command line makes no sense, or after --help. */
options options_parse(int argc, char **argv);

void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
