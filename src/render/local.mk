noinst_LIBRARIES += libtg_render.a
libtg_render_a_SOURCES =
