/* full/!1024,1024 of a JPEG file without levels, as a worker answers it, beside libjpeg's decoding
 * alone of the same file at 1/8, by turns on one core. Prints medians.
 *
 *     bench/jpeg_bench FILE [runs]                (default 9) */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <jpeglib.h>

#include "tegula/codec.h"
#include "tegula/config.h"
#include "tegula/dsp.h"
#include "tegula/plan.h"
#include "tegula/render.h"

#define RUNS_MAX 99

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *ms, int n)
{
    qsort(ms, (size_t)n, sizeof *ms, by_value);
    return ms[n / 2];
}

/* As djpeg -scale 1/8 with its default options, the pixels dropped. */
static double libjpeg_ms(const char *path)
{
    double start = now_ms();
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    FILE *f = fopen(path, "rb");
    JSAMPROW row;

    if (!f)
        exit(2);
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_stdio_src(&cinfo, f);
    jpeg_read_header(&cinfo, TRUE);
    cinfo.scale_denom = 8;
    jpeg_start_decompress(&cinfo);
    row = malloc((size_t)cinfo.output_width * (size_t)cinfo.output_components);
    while (row && cinfo.output_scanline < cinfo.output_height)
        jpeg_read_scanlines(&cinfo, &row, 1);
    jpeg_finish_decompress(&cinfo);
    jpeg_destroy_decompress(&cinfo);
    free(row);
    fclose(f);
    return now_ms() - start;
}

static double tegula_ms(const tg_config *config, const char *path, size_t *bytes)
{
    static const tg_job job = {.size = TG_SIZE_CONFINE, .w = 1024, .h = 1024};
    double start = now_ms();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t n = lseek(fd, 0, SEEK_END);
    tg_err err = {0};
    tg_image *image = tg_image_open(fd, (uint64_t)n, 0, NULL, &err);
    tg_colour_policy policy = {.max_icc_bytes = -1};
    tg_buf out = {0};
    tg_plan plan;

    if (image)
        tg_colour_resolve(image, &policy);
    if (!image || !tg_plan_make(config, image, &job, &plan, &err) ||
        !tg_render(config, &plan, image, &out, &err)) {
        fprintf(stderr, "%s: %s\n", path, err.msg);
        exit(2);
    }
    *bytes = out.len;
    tg_image_close(image);
    tg_buf_free(&out);
    return now_ms() - start;
}

int main(int argc, char **argv)
{
    int runs = argc > 2 ? atoi(argv[2]) : 9;
    double ours[RUNS_MAX], theirs[RUNS_MAX];
    tg_config config;
    size_t bytes = 0;

    if (argc < 2 || runs < 1 || runs > RUNS_MAX) {
        fprintf(stderr, "usage: %s FILE [RUNS, at most %d]\n", argv[0], RUNS_MAX);
        return 2;
    }
    tg_config_defaults(&config);
    for (int i = 0; i < runs; i++) {
        theirs[i] = libjpeg_ms(argv[1]);
        ours[i] = tegula_ms(&config, argv[1], &bytes);
    }
    printf("libjpeg, 1/8, decoding alone   %8.1f ms\n", median(theirs, runs));
    printf("tegula, full/!1024,1024.jpg    %8.1f ms  %.2fx, %zu bytes\n", median(ours, runs),
           median(ours, runs) / median(theirs, runs), bytes);
    return 0;
}
