/* What the processor offers and the operating system saves on a context switch. */
#include "tegula/dsp.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/* Intel SDM vol. 1, 13.3: XCR0 says which register state the system saves. */
static unsigned xcr0(void)
{
    unsigned lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return lo;
}

static unsigned probe(void)
{
    enum { XMM_YMM = 0x06, OPMASK_ZMM = 0xe0 };
    unsigned a, b, c, d, flags = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return 0;
    if (c & bit_SSE4_1)
        flags |= TG_CPU_SSE41;
    unsigned saved = c & bit_OSXSAVE ? xcr0() : 0;
    if ((saved & XMM_YMM) != XMM_YMM || !(c & bit_AVX) || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return flags;
    if (b & bit_AVX2)
        flags |= TG_CPU_AVX2;
    unsigned need = bit_AVX512F | bit_AVX512BW | bit_AVX512VL | bit_AVX512DQ;
    if ((saved & OPMASK_ZMM) == OPMASK_ZMM && (b & need) == need)
        flags |= TG_CPU_AVX512;
    return flags;
}
#elif defined(__aarch64__)
static unsigned probe(void)
{
    return TG_CPU_NEON; /* part of the base architecture */
}
#else
static unsigned probe(void)
{
    return 0;
}
#endif

static const struct {
    const char *name;
    unsigned flag;
} tiers[] = {
    {"sse41", TG_CPU_SSE41}, {"avx2", TG_CPU_AVX2}, {"avx512", TG_CPU_AVX512},
    {"neon", TG_CPU_NEON},   {"all", ~0u},          {"c", 0},
};

/* Words parted by commas or blanks. */
static tg_str next_word(const char **list)
{
    *list += strspn(*list, ", ");
    tg_str word = {*list, strcspn(*list, ", ")};
    *list += word.n;
    return word;
}

/* Adds what the word names; false when it names nothing. */
static bool add_tier(tg_str word, unsigned *mask)
{
    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++) {
        if (!tg_str_is(word, tiers[i].name))
            continue;
        *mask |= tiers[i].flag;
        return true;
    }
    return false;
}

/* Unknown words count for nothing. */
static unsigned parse_mask(const char *list)
{
    unsigned mask = 0;
    for (tg_str word = next_word(&list); word.n; word = next_word(&list))
        add_tier(word, &mask);
    return mask;
}

tg_str tg_cpu_unknown(const char *list)
{
    unsigned ignored = 0;
    tg_str word = next_word(&list);
    while (word.n && add_tier(word, &ignored))
        word = next_word(&list);
    return word;
}

static struct {
    bool ready;
    unsigned found, mask;
} cpu;

static void cpu_init(void)
{
    if (cpu.ready)
        return;
    const char *list = getenv("TEGULA_CPU");
    cpu.found = probe();
    cpu.mask = list && *list ? parse_mask(list) : ~0u;
    cpu.ready = true;
}

unsigned tg_cpu_flags(void)
{
    cpu_init();
    return cpu.found & cpu.mask;
}

void tg_cpu_set_mask(unsigned mask)
{
    cpu_init();
    cpu.mask = mask;
}

const char *tg_cpu_names(unsigned flags)
{
    static const char *const x86[8] = {
        "c",      "sse4.1",        "avx2",        "sse4.1 avx2",
        "avx512", "sse4.1 avx512", "avx2 avx512", "sse4.1 avx2 avx512",
    };
    return flags & TG_CPU_NEON ? "neon" : x86[flags & 7];
}
