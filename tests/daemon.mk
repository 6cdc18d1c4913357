# Tests of the daemon engineer's modules.
check_PROGRAMS += tests/test_config tests/test_source
tests_test_config_SOURCES = tests/test_config.c tests/check.h
tests_test_config_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_MAN='"$(top_srcdir)/man/tegula.8"' \
	-DTEST_ENV='"$(top_srcdir)/conf/tegula.env"'
tests_test_config_LDADD = libtg_config.a libtg_dsp.a libtg_base.a -lm
tests_test_source_SOURCES = tests/test_source.c tests/check.h
tests_test_source_LDADD = libtg_source.a libtg_base.a -lm

EXTRA_DIST += tests/suite/fcgi.py tests/suite/run.py tests/suite/test_process.py
