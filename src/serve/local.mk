noinst_LIBRARIES += libtg_serve.a
libtg_serve_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
libtg_serve_a_SOURCES = \
	src/serve/answer.c \
	src/serve/answer_iiif.c \
	src/serve/answer_iip.c \
	src/serve/answer_objects.c \
	src/serve/answer_picture.c \
	src/serve/answer_samples.c \
	src/serve/answer_tiles.c \
	src/serve/disposition.c \
	src/serve/explain.c \
	src/serve/formats.c \
	src/serve/iip.h \
	src/serve/iip_image.c \
	src/serve/purge.c \
	src/serve/records.c \
	src/serve/records.h \
	src/serve/refusal.c \
	src/serve/remembered.c \
	src/serve/route.c \
	src/serve/serve.c \
	src/serve/service.h \
	src/serve/socket.c \
	src/serve/socket.h \
	src/serve/status.c \
	src/serve/supervisor.c \
	src/serve/supervisor.h \
	src/serve/validators.c \
	src/serve/worker.c \
	src/serve/worker.h
