/* Colour: what the stored pixels of a source mean, and their way to what is sent.
 *
 * By default everything becomes sRGB (IEC 61966-2-1), gray stays one channel with the tone curve of
 * sRGB: relative colorimetric with black-point compensation. With RETAIN_SOURCE_ICC_PROFILE gray
 * and RGB pixels stay as they are and the profile goes along, whatever it says. A profile that is
 * damaged or of another colour model than the pixels is ignored with a line in the log.
 *
 * Without a profile: gray and RGB are taken as sRGB; CMYK by
 *     R = 255 (1 - C)(1 - K), G = 255 (1 - M)(1 - K), B = 255 (1 - Y)(1 - K);
 * CIE L*a*b* by its definition at D50, adapted to sRGB's white. */
#ifndef TEGULA_COLOUR_H
#define TEGULA_COLOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tegula/codec.h"
#include "tegula/str.h"

typedef struct tg_colour_policy {
    bool retain;           /* RETAIN_SOURCE_ICC_PROFILE */
    int64_t max_icc_bytes; /* MAX_ICC: larger profiles are converted, not embedded; -1 no limit */
} tg_colour_policy;

/* Shared by all images with the same profile, space and depth; counted. */
typedef struct tg_colour tg_colour;

/* Sets image->colour, once per open image and before its first pixels: reads the profile, finds or
 * makes the transform in the process-lifetime table. Profiles of printers are large and making
 * their transforms takes 20 ms, so not where only the header is asked for. Never fails: what cannot
 * be used counts as absent. */
void tg_colour_resolve(tg_image *image, const tg_colour_policy *policy);
void tg_colour_release(const tg_colour *colour); /* NULL is fine */

/* True when pixels of the image's fmt, as tg_image_read delivers them, are what is sent: no
 * profile, a profile that is sRGB within a step of 8 bits, or one that is kept; CMYK and Lab have
 * become sRGB in tg_image_read. Stored tiles of gray and RGB may then go out as they stand. True
 * for NULL. */
bool tg_colour_is_identity(const tg_colour *colour);

/* The profile that is kept and goes into what is sent; empty when that is sRGB or gray as usual.
 * A format without a place for it (see tg_formats) needs tg_colour_row after all. */
tg_str tg_colour_profile(const tg_colour *colour);

/* Gray and RGB, with or without alpha, 8 or 16 bits: n pixels of the image's fmt to the same fmt in
 * sRGB, also where the profile is kept. dst may be src. Alpha is copied. */
void tg_colour_row(const tg_colour *colour, void *dst, const void *src, size_t n_px);

/* CMYK and Lab, as codec->read delivers them, to RGB(A) of the same depth, in sRGB. */
void tg_colour_to_rgb(const tg_colour *colour, tg_native native, void *dst, const void *src,
                      size_t n_px);

#endif
