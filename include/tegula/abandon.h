/* Long work asks now and then whether anybody still waits for its result. A worker answers one
 * request at a time, so there is one asker. */
#ifndef TEGULA_ABANDON_H
#define TEGULA_ABANDON_H

#include <stdbool.h>

#include "tegula/err.h"

/* How to find out; NULL: somebody always waits. Called at most every few milliseconds. */
void tg_abandon_hook(bool (*gone)(void *ctx), void *ctx);

/* True once the asker has gone. Cheap enough to be called for every row of an image. */
bool tg_abandoned(void);

/* False, with TG_ERR_ABANDONED set, once the asker has gone. */
bool tg_still_wanted(tg_err *err);

#endif
