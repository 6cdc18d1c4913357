/* The resampler on one core, input and output in memory; where libvips was found, beside its
 * vips_resize with the same kernel, run by turns. Prints medians.
 *
 *     bench/scale_bench [runs]                (default 7) */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef HAVE_VIPS
#include <vips/vips.h>
#endif

#include "tegula/dsp.h"
#include "tegula/scaler.h"

#define RUNS_MAX 99

typedef struct job {
    const char *what;
    unsigned channels, bits;
    uint32_t w, h, out_w, out_h;
} job;

static const job jobs[] = {
    {"photo to screen", 3, 8, 4500, 3500, 1024, 796},
    {"the same, gray", 1, 8, 4500, 3500, 1024, 796},
    {"the same, alpha", 4, 8, 4500, 3500, 1024, 796},
    {"the same, 16 bit", 3, 16, 4500, 3500, 1024, 796},
    {"half", 3, 8, 2048, 2048, 1024, 1024},
    {"tile, 1.3 to 1", 3, 8, 333, 333, 256, 256},
    {"double", 3, 8, 512, 512, 1024, 1024},
    {"thumbnail", 3, 8, 4500, 3500, 120, 93},
    {"strip, wide", 3, 8, 6000, 2000, 6000, 200},
    {"strip, tall", 3, 8, 6000, 2000, 600, 2000},
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[n / 2];
}

static double run_tegula(const job *j, const uint8_t *in, uint8_t *out)
{
    tg_pixfmt fmt = {(uint8_t)j->channels, (uint8_t)j->bits};
    tg_axis x = {0, (double)j->w / j->out_w, j->w, j->out_w};
    tg_axis y = {0, (double)j->h / j->out_h, j->h, j->out_h};
    size_t px = tg_pixfmt_bytes(fmt);
    tg_err err = {0};
    double start = now_ms();
    tg_scaler *s = tg_scaler_new(fmt, &x, &y, TG_FILTER_LANCZOS3, &err);
    if (!s) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    uint32_t first, end;
    for (uint32_t i = 0; tg_scaler_want(s, &first, &end); i++) {
        for (; first < end; first++)
            tg_scaler_push(s, in + first * px * j->w);
        tg_scaler_pull(s, out + i * px * j->out_w);
    }
    tg_scaler_free(s);
    tg_filter_cache_clear(); /* tables are part of the work */
    return now_ms() - start;
}

#ifdef HAVE_VIPS
static double run_vips(const job *j, const uint8_t *in)
{
    size_t bytes = (size_t)j->w * j->h * j->channels * j->bits / 8;
    VipsBandFormat format = j->bits == 8 ? VIPS_FORMAT_UCHAR : VIPS_FORMAT_USHORT;
    double start = now_ms();
    VipsImage *image =
        vips_image_new_from_memory(in, bytes, (int)j->w, (int)j->h, (int)j->channels, format);
    VipsImage *scaled;
    if (!image || vips_resize(image, &scaled, (double)j->out_w / j->w, "vscale",
                              (double)j->out_h / j->h, "kernel", VIPS_KERNEL_LANCZOS3, NULL))
        vips_error_exit(NULL);
    g_free(vips_image_write_to_memory(scaled, &bytes));
    g_object_unref(scaled);
    g_object_unref(image);
    return now_ms() - start;
}
#endif

static void run(const job *j, int runs)
{
    size_t bytes = (size_t)j->w * j->h * j->channels * j->bits / 8;
    uint8_t *in = malloc(bytes),
            *out = malloc((size_t)j->out_w * j->out_h * j->channels * j->bits / 8);
    double ours[RUNS_MAX];
    if (!in || !out)
        exit(1);
    for (size_t i = 0; i < bytes; i++)
        in[i] = (uint8_t)((i * 2654435761u) >> 24);
#ifdef HAVE_VIPS
    double theirs[RUNS_MAX], ratios[RUNS_MAX];
    for (int k = 0; k < runs; k++) {
        ours[k] = run_tegula(j, in, out);
        theirs[k] = run_vips(j, in);
        ratios[k] = theirs[k] / ours[k];
    }
    printf("%-18s %4ux%-4u -> %4ux%-4u %10.2f %10.2f %8.1fx\n", j->what, j->w, j->h, j->out_w,
           j->out_h, median(ours, runs), median(theirs, runs), median(ratios, runs));
#else
    for (int k = 0; k < runs; k++)
        ours[k] = run_tegula(j, in, out);
    printf("%-18s %4ux%-4u -> %4ux%-4u %10.2f\n", j->what, j->w, j->h, j->out_w, j->out_h,
           median(ours, runs));
#endif
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 7;
    runs = runs < 1 ? 1 : runs > RUNS_MAX ? RUNS_MAX : runs;
#ifdef HAVE_VIPS
    if (VIPS_INIT(argv[0]))
        vips_error_exit(NULL);
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    printf("%s, libvips %s; ms, median of %d\n", tg_cpu_names(tg_cpu_flags()),
           vips_version_string(), runs);
    printf("%-18s %-22s %13s %10s %9s\n", "Lanczos-3", "", "tegula", "libvips", "ratio");
#else
    printf("%s; ms, median of %d\n", tg_cpu_names(tg_cpu_flags()), runs);
#endif
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        run(&jobs[i], runs);
    return 0;
}
