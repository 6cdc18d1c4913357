EXTRA_DIST += bench/RESULTS bench/cache.py bench/servers.py bench/urls.lua
EXTRA_PROGRAMS += bench/constant
bench_constant_SOURCES = bench/constant.c
bench_constant_LDADD = $(FCGI_LIBS)
include bench/dsp.mk
EXTRA_PROGRAMS += bench/jpeg_bench
bench_jpeg_bench_SOURCES = bench/jpeg_bench.c
bench_jpeg_bench_CPPFLAGS = $(AM_CPPFLAGS) $(JPEG_CFLAGS)
bench_jpeg_bench_LDADD = $(TG_LIBS) $(TG_SYSTEM_LIBS)
