noinst_LIBRARIES += libtg_proto.a
libtg_proto_a_SOURCES = \
	src/proto/iiif_info.c \
	src/proto/iiif_params.c \
	src/proto/iiif_params.h \
	src/proto/iiif_parse.c \
	src/proto/iiif_rights.c \
	src/proto/iiif_rights.h \
	src/proto/iiif_uri.c \
	src/proto/iip_args.c \
	src/proto/iip_args.h \
	src/proto/iip_objects.c \
	src/proto/iip_parse.c \
	src/proto/iip_process.c \
	src/proto/iip_view.c \
	src/proto/json.c \
	src/proto/tiles_grid.c \
	src/proto/tiles_parse.c \
	src/proto/tiles_xyz.c \
	src/proto/xml.c
