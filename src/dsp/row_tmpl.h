/* Row operations for one sample type. Included with SAMPLE, MAX and NAME(x) defined. */

static inline void NAME(flatten)(SAMPLE *dst, const SAMPLE *src, unsigned colours, size_t n,
                                 const uint8_t *bg)
{
    for (size_t x = 0; x < n; x++) {
        uint32_t alpha = src[colours]; /* read first: dst may be src */
        for (unsigned k = 0; k < colours; k++) {
            uint32_t back = bg[k] * (MAX / 255u) * (MAX - alpha);
            dst[k] = (SAMPLE)((src[k] * alpha + back + MAX / 2) / MAX);
        }
        dst += colours;
        src += colours + 1;
    }
}

static void NAME(gray)(SAMPLE *dst, const SAMPLE *src, bool alpha, size_t n)
{
    for (size_t x = 0; x < n; x++) {
        uint32_t luma = 19595u * src[0] + 38470u * src[1] + 7471u * src[2] + 32768u;
        SAMPLE a = src[alpha ? 3 : 2];
        *dst++ = (SAMPLE)(luma >> 16);
        if (alpha)
            *dst++ = a;
        src += alpha ? 4 : 3;
    }
}

static void NAME(bitonal)(SAMPLE *dst, const SAMPLE *src, size_t n)
{
    for (size_t x = 0; x < n; x++)
        dst[x] = src[x] > MAX / 2 ? MAX : 0;
}

static inline void NAME(add_alpha)(SAMPLE *dst, const SAMPLE *src, unsigned colours, size_t n)
{
    for (size_t x = 0; x < n; x++) {
        for (unsigned k = 0; k < colours; k++)
            dst[k] = src[k];
        dst[colours] = MAX;
        dst += colours + 1;
        src += colours;
    }
}

/* The number of colours is a constant in each call: their loops unroll. */
static void NAME(flatten_any)(SAMPLE *dst, const SAMPLE *src, unsigned colours, size_t n,
                              const uint8_t *bg)
{
    if (colours == 1)
        NAME(flatten)(dst, src, 1, n, bg);
    else
        NAME(flatten)(dst, src, 3, n, bg);
}

static void NAME(add_alpha_any)(SAMPLE *dst, const SAMPLE *src, unsigned colours, size_t n)
{
    if (colours == 1)
        NAME(add_alpha)(dst, src, 1, n);
    else
        NAME(add_alpha)(dst, src, 3, n);
}

static void NAME(gray_to_rgb)(SAMPLE *dst, const SAMPLE *src, bool alpha, size_t n)
{
    for (size_t x = 0; x < n; x++) {
        dst[0] = dst[1] = dst[2] = *src++;
        if (alpha)
            dst[3] = *src++;
        dst += alpha ? 4 : 3;
    }
}

static inline SAMPLE NAME(sum)(SAMPLE a, SAMPLE b)
{
    SAMPLE sum = (SAMPLE)(a + b);
    return sum < a ? MAX : sum;
}

/* In blocks, as tg_row_16_to_8. */
static void NAME(add_all)(SAMPLE *dst, const SAMPLE *addend, size_t n_samples)
{
    size_t i = 0;
    for (; i + BLOCK <= n_samples; i += BLOCK) {
        SAMPLE block[BLOCK];
        for (size_t k = 0; k < BLOCK; k++)
            block[k] = NAME(sum)(dst[i + k], addend[i + k]);
        memcpy(dst + i, block, sizeof block);
    }
    for (; i < n_samples; i++)
        dst[i] = NAME(sum)(dst[i], addend[i]);
}

static void NAME(add_any)(SAMPLE *dst, const SAMPLE *addend, unsigned channels, size_t n)
{
    unsigned colours = channels - (channels % 2 == 0);
    if (colours == channels) {
        NAME(add_all)(dst, addend, n * channels);
        return;
    }
    for (size_t x = 0; x < n; x++, dst += channels, addend += colours)
        for (unsigned k = 0; k < colours; k++)
            dst[k] = NAME(sum)(dst[k], addend[k]);
}

static void NAME(mirror)(SAMPLE *row, unsigned channels, size_t n)
{
    for (size_t a = 0, z = n - 1; a < z && n; a++, z--) {
        for (unsigned k = 0; k < channels; k++) {
            SAMPLE keep = row[a * channels + k];
            row[a * channels + k] = row[z * channels + k];
            row[z * channels + k] = keep;
        }
    }
}

#undef SAMPLE
#undef MAX
#undef NAME
