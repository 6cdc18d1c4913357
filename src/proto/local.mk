noinst_LIBRARIES += libtg_proto.a
libtg_proto_a_SOURCES =
