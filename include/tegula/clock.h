/* Time. */
#ifndef TEGULA_CLOCK_H
#define TEGULA_CLOCK_H

#include <stdint.h>

/* Monotonic microseconds. */
uint64_t tg_clock_us(void);

#endif
