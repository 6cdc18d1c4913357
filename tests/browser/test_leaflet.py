"""Leaflet with Leaflet-IIIF 3, which asks for squares of every power of two until one tile is left."""
from pictures import source
from tour import Tour, iiif_tile
from viewer_site import site


def tour(version, file):
    img = source(file)
    page = site().page("leaflet", url="%s/iiif/%d/%s/info.json" % (site().base, version, img.name))
    Tour("leaflet-iiif%d-%s" % (version, file), page, img, iiif_tile, powers_of_two=True).go()


def test_iiif_2():
    tour(2, "jpeg")


def test_iiif_3():
    tour(3, "deflate")


def test_iiif_3_narrow_tiles():
    tour(3, "edge")
