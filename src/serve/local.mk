noinst_LIBRARIES += libtg_serve.a
libtg_serve_a_SOURCES =
