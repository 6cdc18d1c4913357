noinst_LIBRARIES += libtg_dsp.a
libtg_dsp_a_SOURCES =
