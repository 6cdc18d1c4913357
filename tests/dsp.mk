# Tests of src/dsp.
DSP_LIBS = libtg_dsp.a $(TG_DSP_ISA_LIBS) libtg_base.a -lm

check_PROGRAMS += tests/checkasm
tests_checkasm_SOURCES = tests/checkasm.c
tests_checkasm_LDADD = $(DSP_LIBS)

check_PROGRAMS += tests/test_scaler
tests_test_scaler_SOURCES = tests/test_scaler.c tests/check.h
tests_test_scaler_LDADD = $(DSP_LIBS)

check_PROGRAMS += tests/test_raster
tests_test_raster_SOURCES = tests/test_raster.c tests/check.h
tests_test_raster_LDADD = $(DSP_LIBS)

check_PROGRAMS += tests/test_process_dsp
tests_test_process_dsp_SOURCES = tests/test_process_dsp.c tests/check.h
tests_test_process_dsp_LDADD = $(DSP_LIBS)

TESTS += tests/checkasm_neon.sh
EXTRA_DIST += tests/checkasm_neon.sh
