# What the server suites and ./check run, the configurations they start, and the pages of ./serve.
nobase_dist_doc_DATA += README COPYING \
	apache/httpd.conf apache/tegula-fcgid.conf apache/tegula-proxy.conf \
	nginx/nginx.conf nginx/conf.d/tegula.conf nginx/tegula/fastcgi.conf nginx/tegula/listen.conf \
	nginx/tegula/pool.conf nginx/tegula/pool-unix.conf

EXTRA_DIST += .ci/run conf/install.sh conf/viewer/gallery.js conf/viewer/icon.svg \
	conf/viewer/iiif-layer.js conf/viewer/index.html conf/viewer/list.pl conf/viewer/style.css \
	conf/viewer/view.html conf/viewer/view.js tests/lint.sh \
	tests/corpus-exceptions.tsv tests/suite/compare.py tests/suite/contact_sheet.py \
	tests/suite/corpus.py tests/suite/fixture.py tests/suite/iiif.py tests/suite/iipsrv_compare.py tests/suite/kinds.py \
	tests/suite/server.py tests/suite/test_colour.py tests/suite/test_corpus.py tests/suite/test_drop_in.py \
	tests/suite/test_field_cases.py \
	tests/suite/test_field_cases_formats.py tests/suite/test_field_cases_iip.py tests/suite/test_flat.py tests/suite/test_formats.py tests/suite/test_front.py tests/suite/test_golden.py tests/suite/test_jp2.py \
	tests/suite/test_hostile.py tests/suite/test_iiif.py tests/suite/test_memory.py \
	tests/suite/test_iip.py tests/suite/test_iip_sweep.py tests/suite/test_mosaic.py tests/suite/test_pixels.py tests/suite/test_tiff.py tests/suite/test_tiles.py \
	tests/suite/test_extensions.py tests/suite/test_texts.py tests/suite/test_viewer.py tests/suite/test_watermark.py tests/suite/test_xyz.py tests/suite/test_xyz_map.py

# Not in EXTRA_DIST: there the name is that of a target, and make would run all tests to pack it.
dist-hook:
	cp -p $(srcdir)/check $(distdir)

.PHONY: lint
lint:
	$(srcdir)/tests/lint.sh $(builddir)
