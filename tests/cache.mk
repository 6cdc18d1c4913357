# Tests of src/cache, those of the suite too.
check_PROGRAMS += tests/test_cache
tests_test_cache_SOURCES = tests/test_cache.c tests/check.h
tests_test_cache_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src
tests_test_cache_LDADD = libtg_cache.a libtg_config.a libtg_dsp.a libtg_base.a -lm
EXTRA_DIST += tests/suite/memcached.py tests/suite/test_cache.py tests/suite/test_cache_front.py
nobase_dist_doc_DATA += nginx/with-cache/http.d/cache.conf nginx/with-cache/site.d/cache.conf \
	nginx/with-memcached/http.d/memcached.conf nginx/with-memcached/site.d/memcached.conf \
	varnish/tegula.vcl
