/* Rotation of rows for one sample type. Included with SAMPLE, MAX, RGBA, SCALE and
 * NAME(x) defined. */

/* The kernel's sum: colour times alpha in the first three lanes, alpha in the last. */
static inline vec4 NAME(sample)(const image *im, unsigned channels, double x, double y)
{
    taps tx = taps_at(im->kernel, x, im->w), ty = taps_at(im->kernel, y, im->h);
    vec4 sum = {0, 0, 0, 0};
    for (int v = 0; v < 4; v++) {
        const SAMPLE *row = (const SAMPLE *)(im->at + (size_t)ty.at[v] * im->stride);
        for (int u = 0; u < 4; u++) {
            const SAMPLE *at = row + (size_t)tx.at[u] * channels;
            pixel px = channels == 2 ? (pixel){{at[0], 0, 0, 1}, at[1]} : RGBA(at);
            sum += px.colour * (tx.weight[u] * ty.weight[v] * px.alpha);
        }
    }
    return channels == 2 ? sum : sum * SCALE;
}

static inline SAMPLE NAME(clip)(float v)
{
    return (SAMPLE)(v <= 0 ? 0 : v >= MAX ? MAX : v + 0.5f);
}

static inline void NAME(rotate_pixel)(SAMPLE *px, const image *im, unsigned channels, double x,
                                      double y)
{
    float covered = overlap(x, (double)im->w) * overlap(y, (double)im->h);
    memset(px, 0, channels * sizeof *px);
    if (covered <= 0)
        return;
    vec4 sum = NAME(sample)(im, channels, x, y);
    if (sum[3] <= 0)
        return;
    for (unsigned k = 0; k + 1 < channels; k++)
        px[k] = NAME(clip)(sum[k] / sum[3]);
    px[channels - 1] = NAME(clip)((sum[3] < MAX ? sum[3] : MAX) * covered);
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
#undef RGBA
#undef SCALE
#undef NAME
