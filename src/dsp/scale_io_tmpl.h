/* Interleaved samples to planes of work samples and back. Included once per pair of types, with
 * SAMPLE, WORK, BIG (holds the products), MAX (the sample's), FRAC, LOAD and STORE defined. */

LOAD
{
    unsigned colours = channels - (channels % 2 == 0);
    for (size_t x = 0; x < n; x++) {
        const SAMPLE *px = src + x * channels;
        for (unsigned k = 0; k < channels; k++) {
            BIG v = (BIG)px[k] << FRAC;
            if (k < colours && colours < channels)
                v = (v * px[colours] + MAX / 2) / MAX;
            dst[k * plane + x] = (WORK)v;
        }
    }
}

STORE
{
    unsigned colours = channels - (channels % 2 == 0);
    for (size_t x = 0; x < n; x++) {
        SAMPLE *px = dst + x * channels;
        for (unsigned k = 0; k < channels; k++) {
            BIG v = src[k * plane + x];
            BIG alpha = src[colours * plane * (colours < channels) + x];
            if (k == colours || colours == channels)
                v = TG_ROUND_SHIFT(v, FRAC);
            else
                v = alpha > 0 ? (v * MAX + alpha / 2) / alpha : 0;
            px[k] = (SAMPLE)(v < 0 ? 0 : v > MAX ? MAX : v);
        }
    }
}

#undef SAMPLE
#undef WORK
#undef BIG
#undef MAX
#undef FRAC
#undef LOAD
#undef STORE
