noinst_LIBRARIES += libtg_config.a
libtg_config_a_SOURCES = \
	src/config/look.c \
	src/config/maps.c \
	src/config/near.c \
	src/config/parse.c \
	src/config/print.c \
	src/config/read.c \
	src/config/servers.c \
	src/config/table.c \
	src/config/table.h \
	src/config/write.c
