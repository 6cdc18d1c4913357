noinst_HEADERS += \
	include/tegula/arena.h \
	include/tegula/buf.h \
	include/tegula/clock.h \
	include/tegula/codec.h \
	include/tegula/config.h \
	include/tegula/dsp.h \
	include/tegula/encoder.h \
	include/tegula/err.h \
	include/tegula/filter.h \
	include/tegula/log.h \
	include/tegula/mem.h \
	include/tegula/num.h \
	include/tegula/pixel.h \
	include/tegula/raster.h \
	include/tegula/scaler.h \
	include/tegula/source.h \
	include/tegula/str.h
