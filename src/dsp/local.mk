# One library per instruction set, each built with that set's flags and no other.
noinst_LIBRARIES += libtg_dsp.a
libtg_dsp_a_SOURCES = \
	src/dsp/cpu.c \
	src/dsp/filter.c \
	src/dsp/filter_cache.c \
	src/dsp/filter_table.h \
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
