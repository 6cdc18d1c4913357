/* Rotation of rows for one sample type. Included with SAMPLE, MAX and NAME(x) defined. */

/* Colour and alpha of one pixel as {c0, c1, c2, alpha}; gray fills c0 only. */
static inline vec4 NAME(pixel)(const SAMPLE *px, unsigned channels)
{
    if (channels == 2)
        return (vec4){px[0], 0, 0, px[1]};
    return (vec4){px[0], px[1], px[2], px[3]};
}

/* The kernel's sum: colour times alpha in the first three, alpha in the last. */
static inline vec4 NAME(sample)(const image *im, unsigned channels, double x, double y)
{
    int64_t tx[4], ty[4];
    const float *wx = taps_at(x, im->w - 1, tx), *wy = taps_at(y, im->h - 1, ty);
    vec4 sum = {0, 0, 0, 0};
    for (int v = 0; v < 4; v++) {
        const SAMPLE *row = (const SAMPLE *)(im->at + (size_t)ty[v] * im->stride);
        for (int u = 0; u < 4; u++) {
            vec4 px = NAME(pixel)(row + (size_t)tx[u] * channels, channels);
            float weight = wx[u] * wy[v] * px[3];
            px[3] = 1;
            sum += px * weight;
        }
    }
    return sum;
}

static inline SAMPLE NAME(clip)(float v)
{
    return (SAMPLE)(v <= 0 ? 0 : v >= MAX ? MAX : v + 0.5f);
}

static inline void NAME(rotate_pixel)(SAMPLE *px, const image *im, unsigned channels, double x,
                                      double y)
{
    float covered = cover(im, x, y);
    memset(px, 0, channels * sizeof *px);
    if (covered <= 0)
        return;
    vec4 sum = NAME(sample)(im, channels, x, y);
    if (sum[3] <= 0)
        return;
    for (unsigned k = 0; k + 1 < channels; k++)
        px[k] = NAME(clip)(sum[k] / sum[3]);
    px[channels - 1] = NAME(clip)(fminf(sum[3], MAX) * covered);
}

static void NAME(rotate_row)(SAMPLE *dst, const image *im, unsigned channels, uint32_t n,
                             const double place[2], const double move[2])
{
    for (uint32_t x = 0; x < n; x++) {
        double at_x = place[0] + x * move[0], at_y = place[1] + x * move[1];
        if (channels == 2)
            NAME(rotate_pixel)(dst + (size_t)x * 2, im, 2, at_x, at_y);
        else
            NAME(rotate_pixel)(dst + (size_t)x * 4, im, 4, at_x, at_y);
    }
}

#undef SAMPLE
#undef MAX
#undef NAME
