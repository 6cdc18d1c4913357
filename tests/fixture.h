/* Files for the codec tests: made by mkpyramid in a directory of the test's own. */
#ifndef TEGULA_TESTS_FIXTURE_H
#define TEGULA_TESTS_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "tegula/codec.h"

/* Creates the directory, and removes it with all in it when the test ends. */
void fixture_init(void);
/* A path in it; valid until the 16th call from here. */
const char *fixture_path(const char *name);
/* Runs mkpyramid NAME ARGS (separated by blanks); ends the test when that fails. Returns the path.
 */
const char *fixture_make(const char *name, const char *args);
/* Contents of a file, to be freed. */
uint8_t *fixture_load(const char *path, size_t *n);
void fixture_save(const char *path, const uint8_t *data, size_t n);

/* tg_image_open by path. */
tg_image *fixture_open(const char *path, unsigned page, tg_err *err);
/* A rectangle of a level, rows packed, to be freed; NULL with err. */
uint8_t *fixture_read(tg_image *img, unsigned level, unsigned k, tg_rect rect, tg_err *err);
tg_rect fixture_whole(const tg_image *img, unsigned level, unsigned k);

/* A repeatable sequence: next value below n. */
uint32_t fixture_random(uint32_t n);

#endif
