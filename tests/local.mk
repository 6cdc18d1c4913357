# Programs run by `make check`; the server suites in tests/suite are run by ./check.
TEST_LIBS = $(TG_LIBS) $(TG_SYSTEM_LIBS)

check_PROGRAMS += tests/test_base tests/test_plan tests/test_watermark
tests_test_watermark_SOURCES = tests/test_watermark.c tests/check.h
tests_test_watermark_LDADD = $(TEST_LIBS)
tests_test_base_SOURCES = tests/test_base.c tests/check.h
tests_test_base_LDADD = $(TEST_LIBS)
tests_test_plan_SOURCES = tests/test_plan.c tests/check.h
tests_test_plan_LDADD = $(TEST_LIBS)

include tests/dsp.mk
include tests/codec.mk
include tests/cache.mk
include tests/proto.mk
include tests/daemon.mk

TESTS += $(check_PROGRAMS)
