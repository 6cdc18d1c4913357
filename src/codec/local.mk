noinst_LIBRARIES += libtg_codec.a
libtg_codec_a_SOURCES = \
	src/codec/colour.c \
	src/codec/enc_rows.c \
	src/codec/enc_rows.h \
	src/codec/encoder.c \
	src/codec/encoder_ops.h \
	src/codec/exif.c \
	src/codec/exif.h \
	src/codec/gif_enc.c \
	src/codec/jp2_enc.c \
	src/codec/jpeg_common.c \
	src/codec/jpeg_common.h \
	src/codec/jpeg_crop.c \
	src/codec/jpeg_crop.h \
	src/codec/jpeg_dest.c \
	src/codec/jpeg_dest.h \
	src/codec/jpeg_embed.c \
	src/codec/jpeg_enc.c \
	src/codec/jpeg_read.c \
	src/codec/jpeg_read.h \
	src/codec/out_stream.c \
	src/codec/out_stream.h \
	src/codec/palette.c \
	src/codec/palette.h \
	src/codec/pdf_enc.c \
	src/codec/png_enc.c \
	src/codec/registry.c \
	src/codec/scratch.c \
	src/codec/scratch.h \
	src/codec/text.c \
	src/codec/text.h \
	src/codec/tiff.h \
	src/codec/tiff_dir.c \
	src/codec/tiff_enc.c \
	src/codec/tiff_file.c \
	src/codec/tiff_jpeg.c \
	src/codec/tiff_levels.c \
	src/codec/tiff_open.c \
	src/codec/tiff_options.c \
	src/codec/tiff_options.h \
	src/codec/tiff_pixels.c \
	src/codec/tiff_read.c \
	src/codec/tiff_rgba.c \
	src/codec/tiff_stored.c \
	src/codec/tiff_webp.c \
	src/codec/tile_cache.c \
	src/codec/webp_enc.c
libtg_codec_a_CPPFLAGS = $(AM_CPPFLAGS) $(TIFF_CFLAGS) $(JPEG_CFLAGS) $(PNG_CFLAGS) $(WEBP_CFLAGS) \
	$(OPENJP2_CFLAGS) $(LCMS2_CFLAGS) $(HEIF_CFLAGS)
