/* Memory for one decoded tile or row, kept from call to call. Private to src/codec. */
#ifndef TEGULA_SCRATCH_H
#define TEGULA_SCRATCH_H

#include <stddef.h>

#include "tegula/err.h"

/* n items of size bytes; valid until the next call of either function. A worker has one thread and
 * every codec call is done with its scratch when it returns, so one piece serves all. */
void *tg_scratch(size_t n, size_t size, tg_err *err);

/* Gives back what is too large to keep. */
void tg_scratch_trim(void);

#endif
