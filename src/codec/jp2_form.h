/* Which components become which colours: boxes and codestream header to a form. Private to
 * src/codec. */
#ifndef TEGULA_JP2_FORM_H
#define TEGULA_JP2_FORM_H

#include "j2k_form.h"
#include "jp2_info.h"
#include "tegula/codec.h"

/* native, form: what results. palette: memory that the form points into, to be freed with
 * tg_image_free; NULL without a palette. */
bool tg_jp2_make_form(const tg_jp2_info *info, const tg_j2k_header *header, tg_native *native,
                      tg_j2k_form *form, uint16_t **palette, tg_err *err);

#endif
