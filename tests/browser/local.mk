# What ./check runs beside the other suites: viewers in a browser.
EXTRA_DIST += tests/browser/chromium.py tests/browser/drive.js tests/browser/package.json \
	tests/browser/packages.py tests/browser/pages/leaflet.html tests/browser/pages/leaflet-map.html tests/browser/pages/mirador.html \
	tests/browser/pages/openlayers.html tests/browser/pages/openlayers-map.html tests/browser/pages/openseadragon.html \
	tests/browser/pages/page.css tests/browser/pages/page.js tests/browser/pages/universalviewer.html \
	tests/browser/pictures.py tests/browser/run.py tests/browser/test_clients.py \
	tests/browser/test_leaflet.py tests/browser/test_maps.py tests/browser/test_manifests.py tests/browser/test_openlayers.py \
	tests/browser/test_openseadragon.py tests/browser/test_views.py tests/browser/tour.py \
	tests/browser/viewer_site.py tests/browser/views.py
