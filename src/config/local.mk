noinst_LIBRARIES += libtg_config.a
libtg_config_a_SOURCES =
