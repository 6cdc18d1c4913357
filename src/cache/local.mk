noinst_LIBRARIES += libtg_cache.a
libtg_cache_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
libtg_cache_a_SOURCES = \
	src/cache/address.c \
	src/cache/cache.c \
	src/cache/lru.c \
	src/cache/lru.h \
	src/cache/notes.c \
	src/cache/pool.c \
	src/cache/pool.h \
	src/cache/purge.c \
	src/cache/ring.c \
	src/cache/ring.h \
	src/cache/server.c \
	src/cache/server.h \
	src/cache/stored.h \
	src/cache/value.c \
	src/cache/value.h \
	src/cache/wire.c \
	src/cache/wire.h
