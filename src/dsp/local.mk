# One library per instruction set, each built with that set's flags and no other.
noinst_LIBRARIES += libtg_dsp.a
libtg_dsp_a_SOURCES = \
	src/dsp/cpu.c \
	src/dsp/filter.c \
	src/dsp/filter_cache.c \
	src/dsp/filter_table.h \
	src/dsp/process.c \
	src/dsp/process.h \
	src/dsp/process_c.c \
	src/dsp/process_histogram.c \
	src/dsp/process_tmpl.h \
	src/dsp/rotate.c \
	src/dsp/rotate_tmpl.h \
	src/dsp/row.c \
	src/dsp/row_tmpl.h \
	src/dsp/scale.h \
	src/dsp/scale_c.c \
	src/dsp/scale_init.c \
	src/dsp/scale_io_tmpl.h \
	src/dsp/scaler.c \
	src/dsp/scaler_plan.c \
	src/dsp/scaler_plan.h \
	src/dsp/turn.c
TG_DSP_ISA_LIBS =
EXTRA_DIST += src/dsp/scale_v_x86_tmpl.h

if TG_SSE41
noinst_LIBRARIES += libtg_dsp_sse41.a
libtg_dsp_sse41_a_SOURCES = src/dsp/scale_sse41.c
libtg_dsp_sse41_a_CFLAGS = $(AM_CFLAGS) $(SSE41_FLAGS)
TG_DSP_ISA_LIBS += libtg_dsp_sse41.a
endif

if TG_AVX2
noinst_LIBRARIES += libtg_dsp_avx2.a
libtg_dsp_avx2_a_SOURCES = src/dsp/process_avx2.c src/dsp/scale_avx2.c
libtg_dsp_avx2_a_CFLAGS = $(AM_CFLAGS) $(AVX2_FLAGS)
TG_DSP_ISA_LIBS += libtg_dsp_avx2.a
endif

if TG_AVX512
noinst_LIBRARIES += libtg_dsp_avx512.a
libtg_dsp_avx512_a_SOURCES = src/dsp/scale_avx512.c
libtg_dsp_avx512_a_CFLAGS = $(AM_CFLAGS) $(AVX512_FLAGS)
TG_DSP_ISA_LIBS += libtg_dsp_avx512.a
endif

if TG_NEON
noinst_LIBRARIES += libtg_dsp_neon.a
libtg_dsp_neon_a_SOURCES = src/dsp/scale_neon.c
libtg_dsp_neon_a_CFLAGS = $(AM_CFLAGS) $(NEON_FLAGS)
TG_DSP_ISA_LIBS += libtg_dsp_neon.a
endif
