noinst_LIBRARIES += libtg_render.a
libtg_render_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
libtg_render_a_SOURCES = \
	src/render/canvas.c \
	src/render/canvas.h \
	src/render/chain.c \
	src/render/chain.h \
	src/render/embedding.c \
	src/render/embedding.h \
	src/render/geometry.c \
	src/render/job.c \
	src/render/level.c \
	src/render/level.h \
	src/render/orient.h \
	src/render/plan.c \
	src/render/plan_print.c \
	src/render/process.c \
	src/render/process.h \
	src/render/render.c \
	src/render/resolutions.c \
	src/render/rows.c \
	src/render/rows.h \
	src/render/samples.c \
	src/render/tone.c \
	src/render/tone.h \
	src/render/watermark.c \
	src/render/watermark_read.c
