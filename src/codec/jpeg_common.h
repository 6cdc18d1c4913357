/* libjpeg's errors as tg_err. Private to src/codec.
 *
 * Every function that calls libjpeg begins with
 *     if (setjmp(errors->jump))
 *         return false;
 * after which a fault in libjpeg arrives there with err set. */
#ifndef TEGULA_JPEG_COMMON_H
#define TEGULA_JPEG_COMMON_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

#include "tegula/err.h"

typedef struct tg_jpeg_errors {
    struct jpeg_error_mgr mgr; /* first: libjpeg hands its address back */
    jmp_buf jump;
    tg_err *err;            /* of the call under way; set it before setjmp */
    bool lenient, doubtful; /* lenient: pixels in doubt are no fault, they set doubtful */
} tg_jpeg_errors;

/* Returns the manager to put into cinfo.err; strict. */
struct jpeg_error_mgr *tg_jpeg_errors_init(tg_jpeg_errors *errors);

/* Keeps libjpeg's pixels and coefficients below the ceiling of tg_image_alloc. */
void tg_jpeg_limit_memory(j_common_ptr cinfo);

/* A density for a JFIF header: whole pixels per inch, 0 when unknown or out of JFIF's range. */
uint16_t tg_jfif_dpi(double dpi);

#endif
