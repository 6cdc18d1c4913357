/* Checks for the unit tests: each prints where it failed and what it got; main returns
 * check_done(). */
#ifndef TEGULA_TESTS_CHECK_H
#define TEGULA_TESTS_CHECK_H

#include <math.h>
#include <stdio.h>
#include <string.h>

static unsigned check_passed, check_failed;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (condition) {                                                                           \
            check_passed++;                                                                        \
        } else {                                                                                   \
            check_failed++;                                                                        \
            printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, #condition);                            \
        }                                                                                          \
    } while (0)

#define CHECK_INT(got, want)                                                                       \
    do {                                                                                           \
        long long g_ = (long long)(got), w_ = (long long)(want);                                   \
        if (g_ == w_) {                                                                            \
            check_passed++;                                                                        \
        } else {                                                                                   \
            check_failed++;                                                                        \
            printf("FAIL %s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #got, g_, w_);   \
        }                                                                                          \
    } while (0)

#define CHECK_TEXT(got, n, want)                                                                   \
    do {                                                                                           \
        const char *g_ = (got), *w_ = (want);                                                      \
        size_t n_ = (n);                                                                           \
        if (n_ == strlen(w_) && memcmp(g_, w_, n_) == 0) {                                         \
            check_passed++;                                                                        \
        } else {                                                                                   \
            check_failed++;                                                                        \
            printf("FAIL %s:%d: %s is \"%.*s\", expected \"%s\"\n", __FILE__, __LINE__, #got,      \
                   (int)n_, g_, w_);                                                               \
        }                                                                                          \
    } while (0)

/* For tables: line is that of the row, the rest says what was wrong as printf does. */
#define CHECK_ROW(line, condition, ...)                                                            \
    do {                                                                                           \
        if (condition) {                                                                           \
            check_passed++;                                                                        \
        } else {                                                                                   \
            check_failed++;                                                                        \
            printf("FAIL %s:%d: ", __FILE__, line);                                                \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
        }                                                                                          \
    } while (0)

static inline int check_done(void)
{
    printf("%u passed, %u failed\n", check_passed, check_failed);
    return check_failed ? 1 : 0;
}

#endif
