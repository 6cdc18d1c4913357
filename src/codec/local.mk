noinst_LIBRARIES += libtg_codec.a
libtg_codec_a_SOURCES =
