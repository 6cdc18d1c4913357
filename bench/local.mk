EXTRA_DIST += bench/RESULTS bench/servers.py bench/urls.lua
EXTRA_PROGRAMS += bench/constant
bench_constant_SOURCES = bench/constant.c
bench_constant_LDADD = $(FCGI_LIBS)
include bench/dsp.mk
