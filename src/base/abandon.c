#include "tegula/abandon.h"

#include <stddef.h>

#include "tegula/clock.h"

/* Most answers are ready before the first look, and so cost no system call. */
#define LOOK_EVERY_US 10000

/* Process-lifetime: the asker of the request in hand. */
static struct {
    bool (*gone)(void *ctx);
    void *ctx;
    uint64_t next_us;
    bool is_gone;
} asker;

void tg_abandon_hook(bool (*gone)(void *ctx), void *ctx)
{
    asker.gone = gone;
    asker.ctx = ctx;
    asker.next_us = tg_clock_us() + LOOK_EVERY_US;
    asker.is_gone = false;
}

bool tg_abandoned(void)
{
    if (!asker.gone || asker.is_gone)
        return asker.is_gone;
    uint64_t now = tg_clock_us();
    if (now < asker.next_us)
        return false;
    asker.next_us = now + LOOK_EVERY_US;
    asker.is_gone = asker.gone(asker.ctx);
    return asker.is_gone;
}

bool tg_still_wanted(tg_err *err)
{
    return !tg_abandoned() ||
           tg_fail(err, TG_ERR_ABANDONED, "nobody waits for the answer any more");
}
