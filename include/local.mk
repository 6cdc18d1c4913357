noinst_HEADERS += \
	include/tegula/arena.h \
	include/tegula/buf.h \
	include/tegula/clock.h \
	include/tegula/codec.h \
	include/tegula/config.h \
	include/tegula/dsp.h \
	include/tegula/dsp_scale.h \
	include/tegula/encoder.h \
	include/tegula/err.h \
	include/tegula/filter.h \
	include/tegula/geometry.h \
	include/tegula/http.h \
	include/tegula/iiif.h \
	include/tegula/job.h \
	include/tegula/json.h \
	include/tegula/log.h \
	include/tegula/mem.h \
	include/tegula/num.h \
	include/tegula/pixel.h \
	include/tegula/plan.h \
	include/tegula/raster.h \
	include/tegula/render.h \
	include/tegula/scaler.h \
	include/tegula/serve.h \
	include/tegula/source.h \
	include/tegula/str.h \
	include/tegula/utf8.h
