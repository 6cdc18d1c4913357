"""OpenLayers: IIIF, Zoomify, and IIP as it writes it, by its Zoomify source.

Where a halved side has a remainder that alone would take a tile (1025 px), that source asks for tiles
which its own count of tiers does not have; no such size is here."""
import unittest

from pictures import source
from tour import WAVELET_DB, Tour, iiif_tile, iip_tile, zoomify_tile
from viewer_site import IIP, has_iip, site


def tour(name, kind, file, tile_name, url, **how):
    img = source(file)
    page = site().page("openlayers", kind=kind, url=site().base + url % img.name)
    Tour("openlayers-" + name, page, img, tile_name, **how).go()


def test_iiif_2():
    tour("iiif2", "iiif", "deflate", iiif_tile, "/iiif/2/%s/info.json")


def test_iiif_3():
    tour("iiif3", "iiif", "jpeg", iiif_tile, "/iiif/3/%s/info.json")


def test_iiif_3_narrow_tiles():
    tour("iiif3-edge", "iiif", "edge", iiif_tile, "/iiif/3/%s/info.json")


def test_iiif_3_jpeg_2000():
    info = site().get("/iiif/3/%s/info.json" % source("jp2").name).json()
    tour("iiif3-jp2", "iiif", "jp2", iiif_tile, "/iiif/3/%s/info.json", level_db=WAVELET_DB,
         tile=info["tiles"][0]["width"])


def test_zoomify_of_one_piece():
    tour("zoomify-plain", "zoomify", "plain", zoomify_tile, "/zf/%s")


def test_zoomify():
    tour("zoomify", "zoomify", "deflate", zoomify_tile, "/zf/%s")


def test_iip():
    if not has_iip(source("jpeg").name):
        raise unittest.SkipTest("IIP is not served")
    tour("iip", "iip", "jpeg", iip_tile, IIP + "?FIF=%s")
