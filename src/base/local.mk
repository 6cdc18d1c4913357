noinst_LIBRARIES += libtg_base.a
libtg_base_a_SOURCES =
