noinst_LIBRARIES += libtg_http.a
libtg_http_a_SOURCES =
