/* Short texts that workers of one host keep for each other, in memory that they share and without
 * locks: whoever reads while another writes finds a sum that is wrong, and so nothing. */
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "tegula/cache.h"
#include "tegula/checksum.h"

#define SLOT_BYTES 1024
#define SLOTS      8192 /* 8 MiB, of which the system gives what is used */
#define WAYS       4    /* slots a key may be in */

typedef struct slot {
    _Atomic uint64_t sum; /* of all that follows; 0: nothing there */
    uint16_t key_n, note_n;
    char text[SLOT_BYTES - 12]; /* key, note */
} slot;

_Static_assert(sizeof(slot) == SLOT_BYTES, "a slot has no gaps");

/* Process-lifetime. */
static slot *slots;

bool tg_notes_open(void)
{
    void *p = mmap(NULL, SLOTS * sizeof(slot), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!slots && p != MAP_FAILED)
        slots = p;
    return slots != NULL;
}

static uint64_t sum_of(const slot *s)
{
    size_t n = (size_t)s->key_n + s->note_n;
    uint64_t sizes = (uint64_t)s->key_n << 16 | s->note_n;
    return n <= sizeof s->text ? tg_checksum(s->text, n, sizes) | 1 : 0;
}

static slot *first_of(tg_str key)
{
    return &slots[tg_checksum(key.p, key.n, 0) % (SLOTS / WAYS) * WAYS];
}

static bool holds(const slot *s, tg_str key)
{
    return s->key_n == key.n && key.n <= sizeof s->text && memcmp(s->text, key.p, key.n) == 0;
}

tg_str tg_notes_find(tg_str key, tg_arena *arena)
{
    for (unsigned i = 0; slots && i < WAYS; i++) {
        const slot *there = first_of(key) + i;
        if (!atomic_load_explicit(&there->sum, memory_order_acquire) || !holds(there, key))
            continue;
        slot *copy = tg_arena_alloc(arena, sizeof *copy);
        memcpy(copy, there, sizeof *copy);
        if (copy->sum == sum_of(copy) && holds(copy, key))
            return (tg_str){copy->text + copy->key_n, copy->note_n};
    }
    return TG_STR("");
}

/* The key's own slot, an empty one, else any: which, its last bits say. */
static slot *place_of(tg_str key, uint64_t sum)
{
    slot *first = first_of(key), *empty = NULL;
    for (unsigned i = 0; i < WAYS; i++) {
        if (holds(first + i, key))
            return first + i;
        if (!first[i].sum)
            empty = first + i;
    }
    return empty ? empty : first + (sum >> 8) % WAYS;
}

void tg_notes_put(tg_str key, tg_str note)
{
    if (!slots || key.n + note.n > sizeof slots->text)
        return;
    slot made = {.key_n = (uint16_t)key.n, .note_n = (uint16_t)note.n};
    memcpy(made.text, key.p, key.n);
    memcpy(made.text + key.n, note.p, note.n);
    uint64_t sum = sum_of(&made);
    slot *s = place_of(key, sum);
    atomic_store_explicit(&s->sum, 0, memory_order_release);
    s->key_n = made.key_n;
    s->note_n = made.note_n;
    memcpy(s->text, made.text, key.n + note.n);
    atomic_store_explicit(&s->sum, sum, memory_order_release);
}
