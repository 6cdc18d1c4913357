#include <math.h>

#include "tegula/process.h"

/* Four tables, since equal neighbours would make each count wait for the one before. */
void tg_histogram_add(uint64_t bins[256], const uint8_t *samples, size_t n)
{
    uint32_t part[4][256] = {{0}};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (unsigned k = 0; k < 4; k++)
            part[k][samples[i + k]]++;
    for (; i < n; i++)
        part[0][samples[i]]++;
    for (unsigned v = 0; v < 256; v++)
        bins[v] += (uint64_t)part[0][v] + part[1][v] + part[2][v] + part[3][v];
}

static uint64_t total_of(const uint64_t bins[256])
{
    uint64_t total = 0;
    for (unsigned v = 0; v < 256; v++)
        total += bins[v];
    return total;
}

void tg_histogram_equalise(const uint64_t bins[256], uint8_t lut[256])
{
    uint64_t count = 0, first = 0, total = total_of(bins);
    for (unsigned v = 0; v < 256 && !first; v++)
        first = bins[v];
    for (unsigned v = 0; v < 256; v++) {
        count += bins[v];
        uint64_t above = count > first ? count - first : 0;
        lut[v] = total > first
                     ? (uint8_t)floor(255.0 * (double)above / (double)(total - first) + .5)
                     : (uint8_t)v;
    }
}

static unsigned otsu(const uint64_t bins[256])
{
    double total = (double)total_of(bins), sum = 0, below = 0, sum_below = 0, best = 0;
    unsigned threshold = 127;
    for (unsigned v = 0; v < 256; v++)
        sum += (double)v * (double)bins[v];
    for (unsigned v = 0; v < 255; v++) {
        below += (double)bins[v];
        sum_below += (double)v * (double)bins[v];
        double above = total - below;
        if (below == 0 || above == 0)
            continue;
        double apart = sum_below / below - (sum - sum_below) / above;
        double variance = below * above * apart * apart;
        if (variance > best) {
            best = variance;
            threshold = v;
        }
    }
    return threshold;
}

void tg_histogram_binarise(const uint64_t bins[256], uint8_t lut[256])
{
    unsigned threshold = otsu(bins);
    for (unsigned v = 0; v < 256; v++)
        lut[v] = v > threshold ? 255 : 0;
}
