noinst_LIBRARIES += libtg_base.a
libtg_base_a_SOURCES = \
	src/base/abandon.c \
	src/base/arena.c \
	src/base/buf.c \
	src/base/checksum.c \
	src/base/clock.c \
	src/base/err.c \
	src/base/json_text.c \
	src/base/log.c \
	src/base/mem.c \
	src/base/num.c \
	src/base/str.c \
	src/base/utf8.c
