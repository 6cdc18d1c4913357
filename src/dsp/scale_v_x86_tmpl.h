/* Vertical kernels for one x86 vector width, two rows to a multiply. The including file defines
 *   V              the vector type
 *   OP(name)       the intrinsic's full name
 *   ZERO, SET1_64(i), LOAD(p), STORE(p, v), AND(a, b)
 *   LOAD_U16(p)  16-bit samples to 32-bit lanes
 *   BLEND_ODD(a, b)  32-bit lanes, even ones from a and odd ones from b
 *   STORE_HALVES(p, lo, hi)  what unpacking left in lo and hi, in memory order
 *   DECL_V8, DECL_V16, DECL_V_NARROW, DECL_V_WIDE  the heads of the functions. */

/* Two vectors' bytes at a time: even and odd samples of low and high halves make four sums each. */
#define STEP_BYTES sizeof(V)
#define LANES      (sizeof(V) / sizeof(int32_t))

static inline V pair_of(const int16_t *coef)
{
    int32_t pair;
    memcpy(&pair, coef, sizeof pair);
    return OP(set1_epi32)(pair);
}

static inline V rounded(V sum, int shift)
{
    return OP(srai_epi32)(OP(add_epi32)(sum, OP(set1_epi32)(1 << (shift - 1))), shift);
}

/* Adds two rows' bytes, weighed, to sum[0..3]: 16-bit words of the rows side by side hold two
 * samples each, of which masking keeps the even one and shifting the odd one. */
static inline void add_bytes(V sum[4], const uint8_t *a, const uint8_t *b, V coef)
{
    V mask = OP(set1_epi16)(0xff), ra = LOAD(a), rb = LOAD(b);
    V lo = OP(unpacklo_epi16)(ra, rb), hi = OP(unpackhi_epi16)(ra, rb);
    sum[0] = OP(add_epi32)(sum[0], OP(madd_epi16)(AND(lo, mask), coef));
    sum[1] = OP(add_epi32)(sum[1], OP(madd_epi16)(AND(hi, mask), coef));
    sum[2] = OP(add_epi32)(sum[2], OP(madd_epi16)(OP(srli_epi16)(lo, 8), coef));
    sum[3] = OP(add_epi32)(sum[3], OP(madd_epi16)(OP(srli_epi16)(hi, 8), coef));
}

static inline void store_bytes_sum(int16_t *dst, const V sum[4])
{
    enum { SHIFT = TG_NARROW_COEF_BITS - TG_NARROW_FRAC };
    V even = OP(packs_epi32)(rounded(sum[0], SHIFT), rounded(sum[1], SHIFT));
    V odd = OP(packs_epi32)(rounded(sum[2], SHIFT), rounded(sum[3], SHIFT));
    STORE_HALVES(dst, OP(unpacklo_epi16)(even, odd), OP(unpackhi_epi16)(even, odd));
}

DECL_V8
{
    for (size_t x = 0; x < n; x += 2 * STEP_BYTES) {
        V left[4], right[4];
        TG_UNROLL
        for (int k = 0; k < 4; k++)
            left[k] = right[k] = ZERO;
        for (unsigned t = 0; t < taps; t += 2) {
            V coef_pair = pair_of(coef + t);
            const uint8_t *a = rows[t] + x, *b = rows[t + 1] + x;
            add_bytes(left, a, b, coef_pair);
            add_bytes(right, a + STEP_BYTES, b + STEP_BYTES, coef_pair);
        }
        store_bytes_sum(dst + x, left);
        store_bytes_sum(dst + x + STEP_BYTES, right);
    }
}

static inline void add_words(V sum[2], const int16_t *a, const int16_t *b, V coef)
{
    V ra = LOAD(a), rb = LOAD(b);
    sum[0] = OP(add_epi32)(sum[0], OP(madd_epi16)(OP(unpacklo_epi16)(ra, rb), coef));
    sum[1] = OP(add_epi32)(sum[1], OP(madd_epi16)(OP(unpackhi_epi16)(ra, rb), coef));
}

DECL_V_NARROW
{
    enum { STEP = sizeof(V) / sizeof(int16_t), SHIFT = TG_NARROW_COEF_BITS };
    for (size_t x = 0; x < n; x += 4 * STEP) {
        V sum[4][2];
        TG_UNROLL
        for (int k = 0; k < 4; k++)
            sum[k][0] = sum[k][1] = ZERO;
        for (unsigned t = 0; t < taps; t += 2) {
            V coef_pair = pair_of(coef + t);
            const int16_t *a = rows[t] + x, *b = rows[t + 1] + x;
            TG_UNROLL
            for (int k = 0; k < 4; k++)
                add_words(sum[k], a + k * STEP, b + k * STEP, coef_pair);
        }
        TG_UNROLL
        for (int k = 0; k < 4; k++)
            STORE(dst + x + k * STEP,
                  OP(packs_epi32)(rounded(sum[k][0], SHIFT), rounded(sum[k][1], SHIFT)));
    }
}

/* The low words of 64-bit sums, rounded: even lanes' from even, odd lanes' from odd. A logical
 * shift does, as results fit 32 bits. */
TG_CONSTANT_FOLDED V merged(V even, V odd, int shift)
{
    V half = SET1_64((int64_t)1 << (shift - 1));
    even = OP(srli_epi64)(OP(add_epi64)(even, half), shift);
    odd = OP(slli_epi64)(OP(add_epi64)(odd, half), 32 - shift);
    return BLEND_ODD(even, odd);
}

typedef struct wide_sums {
    V even[4], odd[4]; /* of four vectors of 32-bit lanes */
} wide_sums;

TG_CONSTANT_FOLDED void add_wide(wide_sums *sum, int k, V v, V coef)
{
    sum->even[k] = OP(add_epi64)(sum->even[k], OP(mul_epi32)(v, coef));
    sum->odd[k] = OP(add_epi64)(sum->odd[k], OP(mul_epi32)(OP(srli_epi64)(v, 32), coef));
}

TG_CONSTANT_FOLDED void store_wide(int32_t *dst, const wide_sums *sum, int shift)
{
    TG_UNROLL
    for (size_t k = 0; k < 4; k++)
        STORE(dst + k * LANES, merged(sum->even[k], sum->odd[k], shift));
}

DECL_V_WIDE
{
    for (size_t x = 0; x < n; x += 4 * LANES) {
        wide_sums sum = {{ZERO, ZERO, ZERO, ZERO}, {ZERO, ZERO, ZERO, ZERO}};
        for (unsigned t = 0; t < taps; t++) {
            V c = OP(set1_epi32)(coef[t]);
            TG_UNROLL
            for (int k = 0; k < 4; k++)
                add_wide(&sum, k, LOAD(rows[t] + x + (size_t)k * LANES), c);
        }
        store_wide(dst + x, &sum, TG_WIDE_COEF_BITS);
    }
}

DECL_V16
{
    for (size_t x = 0; x < n; x += 4 * LANES) {
        wide_sums sum = {{ZERO, ZERO, ZERO, ZERO}, {ZERO, ZERO, ZERO, ZERO}};
        for (unsigned t = 0; t < taps; t++) {
            V c = OP(set1_epi32)(coef[t]);
            TG_UNROLL
            for (int k = 0; k < 4; k++)
                add_wide(&sum, k, LOAD_U16(rows[t] + x + (size_t)k * LANES), c);
        }
        store_wide(dst + x, &sum, TG_WIDE_COEF_BITS - TG_WIDE_FRAC);
    }
}
