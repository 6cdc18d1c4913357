/* From OpenJPEG's planes of integers to rows of interleaved samples. Private to src/codec. */
#ifndef TEGULA_J2K_FORM_H
#define TEGULA_J2K_FORM_H

#include "j2k_opj.h"
#include "tegula/pixel.h"

#define TG_J2K_MAX_CHANNELS 5

/* How a sample delivered comes from one of a component: value x scale + offset, rounded and
 * clamped to 0 .. the maximum of the bits delivered. */
typedef struct tg_j2k_channel {
    uint32_t component; /* index into tg_j2k_form.component */
    double scale, offset;
    const uint16_t *palette; /* NULL; else the values are indices (not scaled) of this table of
                                samples as delivered; beyond its end counts as the last */
    uint32_t palette_entries;
} tg_j2k_channel;

typedef enum tg_j2k_model {
    TG_J2K_AS_IT_IS,
    TG_J2K_YCC_601, /* the first three channels are YCbCr of full range, ITU-R BT.601 */
    TG_J2K_YCC_709, /* of BT.709 */
    TG_J2K_YCCK     /* of BT.601, and RGB is the complement of CMY */
} tg_j2k_model;

typedef struct tg_j2k_form {
    tg_j2k_channel channel[TG_J2K_MAX_CHANNELS];
    uint32_t component[TG_J2K_MAX_CHANNELS]; /* of the codestream that are wanted, rising */
    uint8_t n_channels, n_components;
    uint8_t bits; /* of a sample delivered: 8 or 16 */
    tg_j2k_model model;
    bool premultiplied; /* the last channel is alpha, the others are multiplied by it */
} tg_j2k_form;

/* The whole range of a component's values on the whole range of `bits`. */
void tg_j2k_full_range(tg_j2k_channel *channel, const tg_j2k_component *component, unsigned bits);

/* Notes that a component of the codestream is wanted; its index in form->component. Call with
 * rising numbers. */
uint32_t tg_j2k_want(tg_j2k_form *form, uint32_t component);

/* Whether components of the form lie on different grids, so that pixels need samples beside. */
bool tg_j2k_is_subsampled(const tg_j2k_form *form, const tg_j2k_header *header);

/* Writes rect, in pixels of the picture at reduction k counted from the reference grid's origin;
 * pixels are the samples of form->component[0]. image: decoded at k, with the form's components
 * only, or with all of the codestream. */
bool tg_j2k_place(const tg_j2k_form *form, const tg_j2k_header *header, const opj_image_t *image,
                  unsigned k, tg_rect rect, void *dst, size_t stride, tg_err *err);

#endif
