# TIFF fixtures (also what ./serve shows), and the tests of src/codec.
noinst_PROGRAMS += tests/mkpyramid
tests_mkpyramid_SOURCES = tests/mkpyramid.c tests/mkpyramid_options.c tests/mkpyramid_options.h \
	tests/picture.c tests/picture.h
tests_mkpyramid_CPPFLAGS = $(AM_CPPFLAGS) $(TIFF_CFLAGS)
tests_mkpyramid_LDADD = $(TIFF_LIBS) -lm

CODEC_TEST_LIBS = libtg_codec.a libtg_base.a $(TG_SYSTEM_LIBS)
check_PROGRAMS += tests/test_codec
tests_test_codec_SOURCES = tests/test_codec.c tests/fixture.c tests/fixture.h tests/check.h
tests_test_codec_LDADD = $(CODEC_TEST_LIBS)

check_PROGRAMS += tests/test_tile_cache
tests_test_tile_cache_SOURCES = tests/test_tile_cache.c tests/fixture.c tests/fixture.h tests/check.h
tests_test_tile_cache_LDADD = $(CODEC_TEST_LIBS)
check_PROGRAMS += tests/test_levels tests/test_damage tests/test_stored tests/test_encoder \
	tests/test_formats
tests_test_levels_SOURCES = tests/test_levels.c tests/fixture.c tests/fixture.h tests/check.h
tests_test_levels_CPPFLAGS = $(AM_CPPFLAGS) $(TIFF_CFLAGS)
tests_test_levels_LDADD = $(CODEC_TEST_LIBS)
tests_test_damage_SOURCES = tests/test_damage.c tests/fixture.c tests/fixture.h tests/check.h
tests_test_damage_LDADD = $(CODEC_TEST_LIBS)
tests_test_stored_SOURCES = tests/test_stored.c tests/fixture.c tests/fixture.h tests/check.h
tests_test_stored_CPPFLAGS = $(AM_CPPFLAGS) $(TIFF_CFLAGS) $(JPEG_CFLAGS) $(WEBP_CFLAGS)
tests_test_stored_LDADD = $(CODEC_TEST_LIBS)
tests_test_encoder_SOURCES = tests/test_encoder.c tests/encoding.h tests/check.h
tests_test_encoder_CPPFLAGS = $(AM_CPPFLAGS) $(JPEG_CFLAGS) $(PNG_CFLAGS) $(WEBP_CFLAGS)
tests_test_encoder_LDADD = $(CODEC_TEST_LIBS)
tests_test_formats_SOURCES = tests/test_formats.c tests/encoding.h tests/check.h
tests_test_formats_CPPFLAGS = $(AM_CPPFLAGS) $(TIFF_CFLAGS) $(JPEG_CFLAGS) $(OPENJP2_CFLAGS)
tests_test_formats_LDADD = $(CODEC_TEST_LIBS)

check_PROGRAMS += tests/test_avif
tests_test_avif_SOURCES = tests/test_avif.c tests/encoding.h tests/check.h
tests_test_avif_CPPFLAGS = $(AM_CPPFLAGS) $(HEIF_CFLAGS)
tests_test_avif_LDADD = $(CODEC_TEST_LIBS)

check_PROGRAMS += tests/test_exif
tests_test_exif_SOURCES = tests/test_exif.c tests/fixture.c tests/fixture.h tests/check.h
tests_test_exif_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
tests_test_exif_LDADD = $(CODEC_TEST_LIBS)
check_PROGRAMS += tests/test_colour
tests_test_colour_SOURCES = tests/test_colour.c tests/fixture.c tests/fixture.h tests/check.h
tests_test_colour_CPPFLAGS = $(AM_CPPFLAGS) $(LCMS2_CFLAGS)
tests_test_colour_LDADD = $(CODEC_TEST_LIBS)
check_PROGRAMS += tests/test_embed
tests_test_embed_SOURCES = tests/test_embed.c tests/encoding.h tests/fixture.c tests/fixture.h tests/check.h
tests_test_embed_CPPFLAGS = $(AM_CPPFLAGS) $(JPEG_CFLAGS) $(WEBP_CFLAGS)
tests_test_embed_LDADD = $(CODEC_TEST_LIBS)

check_PROGRAMS += tests/test_tiff_kinds
tests_test_tiff_kinds_SOURCES = tests/test_tiff_kinds.c tests/fixture.c tests/fixture.h tests/check.h
tests_test_tiff_kinds_CPPFLAGS = $(AM_CPPFLAGS) $(TIFF_CFLAGS)
tests_test_tiff_kinds_LDADD = $(CODEC_TEST_LIBS)

check_PROGRAMS += tests/test_flat
tests_test_flat_SOURCES = tests/test_flat.c tests/fixture.c tests/fixture.h tests/check.h
tests_test_flat_CPPFLAGS = $(AM_CPPFLAGS) $(JPEG_CFLAGS) $(PNG_CFLAGS) $(WEBP_CFLAGS) $(LCMS2_CFLAGS)
tests_test_flat_LDADD = $(CODEC_TEST_LIBS)

check_PROGRAMS += tests/test_jp2
tests_test_jp2_SOURCES = tests/test_jp2.c tests/fixture.c tests/fixture.h tests/check.h
tests_test_jp2_CPPFLAGS = $(AM_CPPFLAGS) $(OPENJP2_CFLAGS)
tests_test_jp2_LDADD = $(CODEC_TEST_LIBS)
