# HTTP rules, IIIF, geometry.
check_PROGRAMS += tests/test_http tests/test_iiif tests/test_geometry
tests_test_http_SOURCES = tests/test_http.c tests/check.h
tests_test_http_LDADD = $(TEST_LIBS)
tests_test_iiif_SOURCES = tests/test_iiif.c tests/check.h
tests_test_iiif_LDADD = $(TEST_LIBS)
tests_test_geometry_SOURCES = tests/test_geometry.c tests/check.h
tests_test_geometry_LDADD = $(TEST_LIBS)
EXTRA_DIST += tests/iiif-checklist.tsv
check_PROGRAMS += tests/test_tiles
tests_test_tiles_SOURCES = tests/test_tiles.c tests/check.h
tests_test_tiles_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test_iip
tests_test_iip_SOURCES = tests/test_iip.c tests/check.h
tests_test_iip_LDADD = $(TEST_LIBS)
