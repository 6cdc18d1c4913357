/* Image sequences: a picture from all sides, a file for each view. Their names are that of the
 * sequence, FILENAME_PATTERN, and the views' numbers, "HHH_VVV", of three digits or more each. */
#ifndef TEGULA_SOURCE_SEQUENCE_H
#define TEGULA_SOURCE_SEQUENCE_H

#include "open.h"

/* The file of a view. whole: the path of the identifier, where no file is. False when there is
 * none; *out is then no path, but safe to compare. */
bool tg_sequence_find(const tg_config *config, const tg_path *whole, tg_view view, tg_path *out,
                      tg_identity *id, tg_err *err);

/* All views there are, in order. Reads the folder; no name of a client's is a pattern. */
void tg_sequence_list(const tg_config *config, const tg_path *whole, tg_views *out);

#endif
