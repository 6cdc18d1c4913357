/* The resampler's kernels in C: the specification of the others. */
#include "scale.h"

#include <string.h>

static inline int16_t narrow(int32_t sum, int shift)
{
    int32_t v = TG_ROUND_SHIFT(sum, shift);
    return (int16_t)(v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v);
}

static inline int32_t wide(int64_t sum, int shift)
{
    return (int32_t)TG_ROUND_SHIFT(sum, shift);
}

/* From and to samples, for each pair of sample and work type. */
#define SAMPLE uint8_t
#define WORK   int16_t
#define BIG    int32_t
#define MAX    255
#define FRAC   TG_NARROW_FRAC
#define LOAD   TG_DECL_LOAD8(tg_load8_c)
#define STORE  TG_DECL_STORE8(tg_store8_c)
#include "scale_io_tmpl.h"

#define SAMPLE uint8_t
#define WORK   int32_t
#define BIG    int64_t
#define MAX    255
#define FRAC   TG_WIDE_FRAC
#define LOAD   TG_DECL_LOAD8_WIDE(tg_load8_wide_c)
#define STORE  TG_DECL_STORE8_WIDE(tg_store8_wide_c)
#include "scale_io_tmpl.h"

#define SAMPLE uint16_t
#define WORK   int32_t
#define BIG    int64_t
#define MAX    65535
#define FRAC   TG_WIDE_FRAC
#define LOAD   TG_DECL_LOAD16_WIDE(tg_load16_wide_c)
#define STORE  TG_DECL_STORE16_WIDE(tg_store16_wide_c)
#include "scale_io_tmpl.h"

TG_DECL_SPLIT3(tg_split3_c)
{
    for (size_t x = 0; x < n; x++)
        for (size_t k = 0; k < 3; k++)
            dst[k * plane + x] = src[3 * x + k];
}

TG_DECL_SPLIT3_WIDE(tg_split3_wide_c)
{
    for (size_t x = 0; x < n; x++)
        for (size_t k = 0; k < 3; k++)
            dst[k * plane + x] = src[3 * x + k];
}

TG_DECL_V8(tg_v8_c)
{
    for (size_t x = 0; x < n; x++) {
        int32_t sum = 0;
        for (unsigned t = 0; t < taps; t++)
            sum += coef[t] * rows[t][x];
        dst[x] = narrow(sum, TG_NARROW_COEF_BITS - TG_NARROW_FRAC);
    }
}

TG_DECL_V16(tg_v16_c)
{
    for (size_t x = 0; x < n; x++) {
        int64_t sum = 0;
        for (unsigned t = 0; t < taps; t++)
            sum += (int64_t)coef[t] * rows[t][x];
        dst[x] = wide(sum, TG_WIDE_COEF_BITS - TG_WIDE_FRAC);
    }
}

TG_DECL_V_NARROW(tg_v_narrow_c)
{
    for (size_t x = 0; x < n; x++) {
        int32_t sum = 0;
        for (unsigned t = 0; t < taps; t++)
            sum += coef[t] * rows[t][x];
        dst[x] = narrow(sum, TG_NARROW_COEF_BITS);
    }
}

TG_DECL_V_WIDE(tg_v_wide_c)
{
    for (size_t x = 0; x < n; x++) {
        int64_t sum = 0;
        for (unsigned t = 0; t < taps; t++)
            sum += (int64_t)coef[t] * rows[t][x];
        dst[x] = wide(sum, TG_WIDE_COEF_BITS);
    }
}

TG_DECL_H_NARROW(tg_h_narrow_c)
{
    for (size_t i = 0; i < n; i++) {
        int32_t sum = 0;
        for (unsigned t = 0; t < taps; t++)
            sum += coef[i * taps + t] * src[first[i] + (ptrdiff_t)t];
        dst[i] = narrow(sum, TG_NARROW_COEF_BITS);
    }
}

TG_DECL_H_WIDE(tg_h_wide_c)
{
    for (size_t i = 0; i < n; i++) {
        int64_t sum = 0;
        for (unsigned t = 0; t < taps; t++)
            sum += (int64_t)coef[i * taps + t] * src[first[i] + (ptrdiff_t)t];
        dst[i] = wide(sum, TG_WIDE_COEF_BITS);
    }
}
