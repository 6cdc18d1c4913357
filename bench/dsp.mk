EXTRA_PROGRAMS += bench/scale_bench
bench_scale_bench_SOURCES = bench/scale_bench.c
bench_scale_bench_CFLAGS = $(AM_CFLAGS) $(VIPS_CFLAGS)
bench_scale_bench_LDADD = $(DSP_LIBS) $(VIPS_LIBS)
