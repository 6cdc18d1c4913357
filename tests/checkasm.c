/* Proves each instruction set's kernels equal to C, bit for bit, over odd sizes, random and
 * pathological data, and the room around what they may write. `--bench` times them instead,
 * `--seed N` repeats a run, `--tier NAME` demands that one tier be there (as the NEON run does). */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tegula/dsp.h"

#define MAX_PX    600 /* of a row under test */
#define MAX_TAPS  72
#define PLANE     (MAX_PX + 40)
#define GUARD     192
#define BUF_BYTES ((4 * PLANE + 2 * GUARD + TG_SCALE_PAD) * sizeof(int32_t))

static unsigned failures, checks;
static bool benching;
static const char *tier_name;

static uint64_t rng_state;

static uint32_t rnd(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)(rng_state >> 32);
}

static uint32_t below(uint32_t n)
{
    return rnd() % n;
}

/* An output buffer twice, with the same noise in both before the kernels run. */
static _Alignas(64) uint8_t got[BUF_BYTES], want[BUF_BYTES], before[BUF_BYTES];

static void prepare(void)
{
    for (size_t i = 0; i < BUF_BYTES; i++)
        before[i] = (uint8_t)rnd();
    memcpy(got, before, BUF_BYTES);
    memcpy(want, before, BUF_BYTES);
}

static void fail(const char *kernel, const char *what, unsigned a, unsigned b, size_t at)
{
    if (failures++ < 20)
        printf("FAIL %s %s: %s, parameters %u %u, byte %zu: %u, expected %u\n", tier_name, kernel,
               what, a, b, at, got[at], want[at]);
}

/* Every byte alike: for kernels that write what they were asked for and no more. */
static void compare_all(const char *kernel, unsigned a, unsigned b)
{
    checks++;
    for (size_t i = 0; i < BUF_BYTES; i++) {
        if (got[i] != want[i]) {
            fail(kernel, "wrong byte", a, b, i);
            return;
        }
    }
}

/* bytes alike from GUARD samples on; nothing touched before them, nor beyond room behind. */
static void compare_padded(const char *kernel, size_t size, size_t n, unsigned a, unsigned b)
{
    size_t start = GUARD * size, end = start + n * size, room = (TG_SCALE_PAD - 1) * size;
    memcpy(want + end, got + end, room); /* either may write what it likes there */
    for (size_t i = 0; i < start; i++)
        want[i] = before[i];
    for (size_t i = end + room; i < BUF_BYTES; i++)
        want[i] = before[i];
    compare_all(kernel, a, b);
}

/* Values between lo and hi: noise, either end, checkers of both, blocks of both. */
static int32_t datum(unsigned pattern, size_t i, int32_t lo, int32_t hi)
{
    switch (pattern) {
    case 0:
        return lo;
    case 1:
        return hi;
    case 2:
        return i % 2 ? lo : hi;
    case 3:
        return i / 7 % 2 ? lo : hi;
    case 4:
        return rnd() % 2 ? lo : hi;
    default:
        return (int32_t)(lo + (int64_t)(rnd() % (uint32_t)((int64_t)hi - lo + 1)));
    }
}

#define PATTERNS   8
#define SAMPLE_MAX ((int32_t)(1.69 * 65535 * (1 << TG_WIDE_FRAC)))

#define DEFINE_FILL(name, type)                                                                    \
    static void name(type *p, size_t n, unsigned pattern, int32_t lo, int32_t hi)                  \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            p[i] = (type)datum(pattern, i, lo, hi);                                                \
    }
DEFINE_FILL(fill_u8, uint8_t)
DEFINE_FILL(fill_u16, uint16_t)
DEFINE_FILL(fill_i16, int16_t)
DEFINE_FILL(fill_i32, int32_t)

/* Weights of one output, the sum of their sizes just below 2 << bits; zero from taps to stride. */
static void weights(int32_t *w, unsigned taps, unsigned stride, int bits)
{
    int64_t total = 0, limit = ((int64_t)2 << bits) - 1 - taps;
    int most = bits == TG_NARROW_COEF_BITS ? 30000 : 1 << 30;
    unsigned kind = below(3);
    memset(w, 0, stride * sizeof *w);
    for (unsigned t = 0; t < taps; t++) {
        w[t] = (int32_t)(kind == 0 ? 1 : rnd() % 4096) * (kind == 1 && t % 2 ? -1 : 1);
        w[t] *= kind == 2 && rnd() % 2 ? -1 : 1;
        total += abs(w[t]);
    }
    for (unsigned t = 0; t < taps && total; t++) {
        int64_t scaled = w[t] * limit / total;
        w[t] = (int32_t)(scaled > most ? most : scaled < -most ? -most : scaled);
    }
}

/* A clock good to some ns; the fastest of several batches. */
static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define BENCH(best, call)                                                                          \
    do {                                                                                           \
        (best) = 1e18;                                                                             \
        for (int batch_ = 0; batch_ < 40; batch_++) {                                              \
            double start_ = now_ns();                                                              \
            for (int k_ = 0; k_ < 8; k_++)                                                         \
                call;                                                                              \
            double took_ = (now_ns() - start_) / 8;                                                \
            (best) = took_ < (best) ? took_ : (best);                                              \
        }                                                                                          \
    } while (0)

#define REPORT(kernel, note, ref_call, new_call)                                                   \
    do {                                                                                           \
        double c_ns_, ns_;                                                                         \
        BENCH(c_ns_, ref_call);                                                                    \
        BENCH(ns_, new_call);                                                                      \
        printf("%-8s %-12s %-10s %10.0f ns %7.2fx\n", tier_name, kernel, note, ns_, c_ns_ / ns_);  \
    } while (0)

static union {
    uint8_t u8[MAX_TAPS + 1][4 * PLANE + TG_SCALE_PAD];
    uint16_t u16[MAX_TAPS + 1][4 * PLANE + TG_SCALE_PAD];
    int16_t i16[MAX_TAPS + 1][4 * PLANE + TG_SCALE_PAD];
    int32_t i32[MAX_TAPS + 1][4 * PLANE + TG_SCALE_PAD];
} source;

#define CHECK_IO(kernel, in, in_fill, lo, hi, out_type)                                            \
    for (unsigned channels = 1; channels <= 4; channels++) {                                       \
        for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {                                \
            size_t n = 1 + below(MAX_PX);                                                          \
            in_fill(source.in[0], 4 * PLANE, pattern, lo, hi);                                     \
            prepare();                                                                             \
            CALL_IO(ref, kernel, want, in, out_type, n);                                           \
            CALL_IO(dsp, kernel, got, in, out_type, n);                                            \
            compare_all(#kernel, channels, (unsigned)n);                                           \
        }                                                                                          \
        char note[16];                                                                             \
        snprintf(note, sizeof note, "%u ch", channels);                                            \
        if (benching)                                                                              \
            REPORT(#kernel, note, CALL_IO(ref, kernel, want, in, out_type, MAX_PX),                \
                   CALL_IO(dsp, kernel, got, in, out_type, MAX_PX));                               \
    }

typedef void check_fn(const tg_scale_dsp *ref, const tg_scale_dsp *dsp);

#define CALL_IO(table, kernel, buf, in, type, n)                                                   \
    (table)->kernel((type *)(buf) + GUARD, PLANE, source.in[0], channels, n)

static void check_load8(const tg_scale_dsp *ref, const tg_scale_dsp *dsp)
{
    CHECK_IO(load8, u8, fill_u8, 0, 255, int16_t)
}

static void check_load8_wide(const tg_scale_dsp *ref, const tg_scale_dsp *dsp)
{
    CHECK_IO(load8_wide, u8, fill_u8, 0, 255, int32_t)
}

static void check_load16_wide(const tg_scale_dsp *ref, const tg_scale_dsp *dsp)
{
    CHECK_IO(load16_wide, u16, fill_u16, 0, 65535, int32_t)
}

#undef CALL_IO
#define CALL_IO(table, kernel, buf, in, type, n)                                                   \
    (table)->kernel((type *)(buf) + GUARD, source.in[0], PLANE, channels, n)

static void check_store8(const tg_scale_dsp *ref, const tg_scale_dsp *dsp)
{
    CHECK_IO(store8, i16, fill_i16, INT16_MIN, INT16_MAX, uint8_t)
    CHECK_IO(store8, i16, fill_i16, 0, 255 << TG_NARROW_FRAC, uint8_t)
}

static void check_store8_wide(const tg_scale_dsp *ref, const tg_scale_dsp *dsp)
{
    CHECK_IO(store8_wide, i32, fill_i32, -SAMPLE_MAX, SAMPLE_MAX, uint8_t)
}

static void check_store16_wide(const tg_scale_dsp *ref, const tg_scale_dsp *dsp){
    CHECK_IO(store16_wide, i32, fill_i32, -SAMPLE_MAX, SAMPLE_MAX, uint16_t)}

#define DEFINE_CHECK_SPLIT(kernel, in, in_fill, lo, hi, type)                                      \
    static void check_##kernel(const tg_scale_dsp *ref, const tg_scale_dsp *dsp)                   \
    {                                                                                              \
        for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {                                \
            size_t n = 1 + below(MAX_PX);                                                          \
            in_fill(source.in[0], 4 * PLANE, pattern, lo, hi);                                     \
            prepare();                                                                             \
            ref->kernel((type *)want + GUARD, PLANE, source.in[0], n);                             \
            dsp->kernel((type *)got + GUARD, PLANE, source.in[0], n);                              \
            compare_all(#kernel, (unsigned)n, pattern);                                            \
        }                                                                                          \
        if (benching)                                                                              \
            REPORT(#kernel, "", ref->kernel((type *)want, PLANE, source.in[0], MAX_PX),            \
                   dsp->kernel((type *)got, PLANE, source.in[0], MAX_PX));                         \
    }

DEFINE_CHECK_SPLIT(split3, i16, fill_i16, INT16_MIN, INT16_MAX, int16_t)
    DEFINE_CHECK_SPLIT(split3_wide, i32, fill_i32, -SAMPLE_MAX, SAMPLE_MAX, int32_t)

/* The vertical kernels differ in their types only. */
#define DEFINE_CHECK_V(kernel, in, in_type, in_fill, lo, hi, coef_type, bits, out_type)            \
    static void check_##kernel(const tg_scale_dsp *ref, const tg_scale_dsp *dsp)                   \
    {                                                                                              \
        const in_type *rows[MAX_TAPS];                                                             \
        coef_type coef[MAX_TAPS];                                                                  \
        int32_t w[MAX_TAPS];                                                                       \
        for (unsigned round = 0; round < 6 * PATTERNS; round++) {                                  \
            unsigned taps = 2 + 2 * below(MAX_TAPS / 2);                                           \
            size_t n = 1 + below(3 * MAX_PX);                                                      \
            for (unsigned t = 0; t < taps; t++) {                                                  \
                in_fill(source.in[t], 4 * PLANE + TG_SCALE_PAD, round % PATTERNS, lo, hi);         \
                rows[t] = source.in[t];                                                            \
            }                                                                                      \
            weights(w, taps, taps, bits);                                                          \
            for (unsigned t = 0; t < taps; t++)                                                    \
                coef[t] = (coef_type)w[t];                                                         \
            prepare();                                                                             \
            ref->kernel((out_type *)want + GUARD, rows, coef, taps, n);                            \
            dsp->kernel((out_type *)got + GUARD, rows, coef, taps, n);                             \
            compare_padded(#kernel, sizeof(out_type), n, taps, (unsigned)n);                       \
        }                                                                                          \
        for (unsigned t = 0; t < 28; t++)                                                          \
            rows[t] = source.in[t];                                                                \
        if (benching)                                                                              \
            REPORT(#kernel, "28 taps", ref->kernel((out_type *)want, rows, coef, 28, 3 * MAX_PX),  \
                   dsp->kernel((out_type *)got, rows, coef, 28, 3 * MAX_PX));                      \
    }

        DEFINE_CHECK_V(v8, u8, uint8_t, fill_u8, 0, 255, int16_t, TG_NARROW_COEF_BITS, int16_t)
            DEFINE_CHECK_V(v16, u16, uint16_t, fill_u16, 0, 65535, int32_t, TG_WIDE_COEF_BITS,
                           int32_t) DEFINE_CHECK_V(v_narrow, i16, int16_t, fill_i16, INT16_MIN,
                                                   INT16_MAX, int16_t, TG_NARROW_COEF_BITS, int16_t)
                DEFINE_CHECK_V(v_wide, i32, int32_t, fill_i32, -SAMPLE_MAX, SAMPLE_MAX, int32_t,
                               TG_WIDE_COEF_BITS, int32_t)

/* So do the horizontal ones. */
#define DEFINE_CHECK_H(kernel, in, in_fill, lo, hi, coef_type, bits, out_type)                     \
    static void check_##kernel(const tg_scale_dsp *ref, const tg_scale_dsp *dsp)                   \
    {                                                                                              \
        static coef_type coef[MAX_PX * MAX_TAPS];                                                  \
        static int32_t first[MAX_PX], w[MAX_TAPS];                                                 \
        for (unsigned round = 0; round < 10 * PATTERNS; round++) {                                 \
            unsigned taps = 8 * (1 + round % (MAX_TAPS / 8));                                      \
            size_t n = 1 + below(MAX_PX);                                                          \
            in_fill(source.in[0], 4 * PLANE, round / 10, lo, hi);                                  \
            for (size_t i = 0; i < n; i++) {                                                       \
                first[i] = (int32_t)below(MAX_PX);                                                 \
                weights(w, taps - below(8), taps, bits);                                           \
                for (unsigned t = 0; t < taps; t++)                                                \
                    coef[i * taps + t] = (coef_type)w[t];                                          \
            }                                                                                      \
            prepare();                                                                             \
            ref->kernel((out_type *)want + GUARD, source.in[0], first, coef, taps, n);             \
            dsp->kernel((out_type *)got + GUARD, source.in[0], first, coef, taps, n);              \
            compare_all(#kernel, taps, (unsigned)n);                                               \
        }                                                                                          \
        for (size_t i = 0; i < MAX_PX; i++)                                                        \
            first[i] = (int32_t)i;                                                                 \
        for (unsigned taps = 8; benching && taps <= 64; taps *= 2) {                               \
            char note[16];                                                                         \
            snprintf(note, sizeof note, "%u taps", taps);                                          \
            REPORT(#kernel, note,                                                                  \
                   ref->kernel((out_type *)want, source.in[0], first, coef, taps, MAX_PX),         \
                   dsp->kernel((out_type *)got, source.in[0], first, coef, taps, MAX_PX));         \
        }                                                                                          \
    }

                    DEFINE_CHECK_H(h_narrow, i16, fill_i16, INT16_MIN, INT16_MAX, int16_t,
                                   TG_NARROW_COEF_BITS, int16_t)
                        DEFINE_CHECK_H(h_wide, i32, fill_i32, -SAMPLE_MAX, SAMPLE_MAX, int32_t,
                                       TG_WIDE_COEF_BITS, int32_t)

                            static const struct {
    size_t at; /* of the pointer in tg_scale_dsp */
    check_fn *check;
} kernels[] = {
    {offsetof(tg_scale_dsp, load8), check_load8},
    {offsetof(tg_scale_dsp, load8_wide), check_load8_wide},
    {offsetof(tg_scale_dsp, load16_wide), check_load16_wide},
    {offsetof(tg_scale_dsp, store8), check_store8},
    {offsetof(tg_scale_dsp, store8_wide), check_store8_wide},
    {offsetof(tg_scale_dsp, store16_wide), check_store16_wide},
    {offsetof(tg_scale_dsp, split3), check_split3},
    {offsetof(tg_scale_dsp, split3_wide), check_split3_wide},
    {offsetof(tg_scale_dsp, v8), check_v8},
    {offsetof(tg_scale_dsp, v16), check_v16},
    {offsetof(tg_scale_dsp, v_narrow), check_v_narrow},
    {offsetof(tg_scale_dsp, v_wide), check_v_wide},
    {offsetof(tg_scale_dsp, h_narrow), check_h_narrow},
    {offsetof(tg_scale_dsp, h_wide), check_h_wide},
};

/* Checks the kernels that a tier has of its own; returns how many. */
static unsigned check_tier(const tg_scale_dsp *c, const tg_scale_dsp *lower,
                           const tg_scale_dsp *dsp)
{
    unsigned own = 0;
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        const char *a = (const char *)lower + kernels[k].at, *b = (const char *)dsp + kernels[k].at;
        if (memcmp(a, b, sizeof(void (*)(void))) == 0)
            continue;
        own++;
        kernels[k].check(c, dsp);
    }
    return own;
}

static bool check_tiers(const char *demanded)
{
    static const struct {
        const char *name;
        unsigned flag;
    } tiers[] = {{"sse41", TG_CPU_SSE41},
                 {"avx2", TG_CPU_AVX2},
                 {"avx512", TG_CPU_AVX512},
                 {"neon", TG_CPU_NEON}};
    unsigned flags = 0;
    bool found = !demanded;
    tg_scale_dsp c, lower, dsp;
    tg_scale_dsp_init(&c, 0);
    lower = c;
    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++) {
        if (!(tg_cpu_flags() & tiers[i].flag))
            continue;
        flags |= tiers[i].flag;
        tier_name = tiers[i].name;
        tg_scale_dsp_init(&dsp, flags);
        unsigned own = check_tier(&c, &lower, &dsp);
        printf("%s: %u kernels\n", tier_name, own);
        found |= own && demanded && strcmp(demanded, tier_name) == 0;
        lower = dsp;
    }
    return found;
}

int main(int argc, char **argv)
{
    const char *demanded = NULL;
    uint64_t seed = (uint64_t)now_ns();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--bench") == 0)
            benching = true;
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--tier") == 0 && i + 1 < argc)
            demanded = argv[++i];
    }
    printf("seed %llu\n", (unsigned long long)seed);
    rng_state = seed * 0x9e3779b97f4a7c15u | 1;
    bool found = check_tiers(demanded);
    printf("%u passed, %u failed\n", checks - failures, failures);
    if (!found)
        printf("tier %s is missing\n", demanded);
    return failures || !found;
}
