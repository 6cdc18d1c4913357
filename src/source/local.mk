noinst_LIBRARIES += libtg_source.a
libtg_source_a_SOURCES = \
	src/source/cache.c \
	src/source/open.c \
	src/source/open.h \
	src/source/path.c \
	src/source/path.h \
	src/source/sequence.c \
	src/source/sequence.h
