noinst_LIBRARIES += libtg_source.a
libtg_source_a_SOURCES =
