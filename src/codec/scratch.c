#include "scratch.h"

#include "tegula/mem.h"
#include "tegula/num.h"

#define KEEP_BYTES ((size_t)4 << 20) /* a 1024 px RGBA tile */

static void *memory;
static size_t held_bytes;

static void drop(void)
{
    tg_image_free(memory);
    memory = NULL;
    held_bytes = 0;
}

void *tg_scratch(size_t n, size_t size, tg_err *err)
{
    size_t want;

    if (tg_mul_size(n, size, &want) && want <= held_bytes)
        return memory;
    drop();
    memory = tg_image_alloc(n, size, err);
    held_bytes = memory ? n * size : 0;
    return memory;
}

void tg_scratch_trim(void)
{
    if (held_bytes > KEEP_BYTES)
        drop();
}
