"""OpenSeadragon 6: every kind of source, both ways of drawing."""
import json
import unittest

import numpy

import chromium
import views
from pictures import source
from tour import (FULL_DB, LEVEL_DB, STRETCHED_DB, WAVELET_DB, Tour, complaints, dzi_tile, iiif_tile, iip_tile,
                  zoomify_tile)
from viewer_site import IIP, has_iip, site


def tour(name, kind, file, tile_name, url, drawer="canvas", shown=None, screen=None, **asked):
    img = source(file)
    if "%s" in url:
        url %= img.name
    page = site().page("openseadragon", kind=kind, url=site().base + url, drawer=drawer, **asked)
    Tour("openseadragon-" + name, page, img, tile_name, full_db=STRETCHED_DB if drawer == "canvas" else FULL_DB,
         level_db=WAVELET_DB if file == "jp2" else LEVEL_DB, shown=shown, **(screen or {})).go()


def test_iiif_2():
    tour("iiif2", "iiif", "jpeg", iiif_tile, url="/iiif/2/%s/info.json")


def test_iiif_3():
    tour("iiif3", "iiif", "deflate", iiif_tile, url="/iiif/3/%s/info.json")


def test_iiif_3_webgl():
    """Needs the right to read the pixels of another origin."""
    tour("iiif3-webgl", "iiif", "edge", iiif_tile, drawer="webgl", url="/iiif/3/%s/info.json")


def test_iiif_3_on_a_fine_screen():
    tour("iiif3-fine", "iiif", "deflate", iiif_tile, drawer="webgl", url="/iiif/3/%s/info.json",
         screen={"size": (400, 300), "ratio": 2})


def test_haste():
    """What a viewer gives up on its way is not missed, and what it ends with is there."""
    img = source("jpeg")
    address = site().page("openseadragon", kind="iiif", url="%s/iiif/3/%s/info.json" % (site().base, img.name),
                          drawer="canvas")
    with chromium.Page(address, (800, 600)) as page:
        for _ in range(2):
            page.browse(300, 200, [-120] * 12 + [120] * 9 + [-120] * 6)
        shot, _, _ = page.shoot("openseadragon-haste")
        assert not complaints(page), complaints(page)
        drawn = (shot != views.BACKGROUND).any(2)
        assert drawn.all(), "%d pixels in the middle of the image are not drawn" % (~drawn).sum()


def test_deep_zoom():
    tour("dzi", "dzi", "jpeg", dzi_tile, url="/dz/%s.dzi")


def test_deep_zoom_narrow_tiles():
    tour("dzi-edge", "dzi", "edge", dzi_tile, url="/dz/%s.dzi")


def test_deep_zoom_by_query():
    """As pages for iipsrv name it; the viewer finds the tiles from that."""
    tour("dzi-query", "dzi", "deflate", dzi_tile, url=IIP + "?DeepZoom=%s.dzi")


def test_deep_zoom_of_one_piece():
    """A file without levels of its own."""
    tour("dzi-plain", "dzi", "plain", dzi_tile, url="/dz/%s.dzi")


def test_zoomify():
    tour("zoomify", "zoomify", "jpeg", zoomify_tile, url="/zf/%s")


def test_zoomify_by_query():
    tour("zoomify-query", "zoomify", "deflate", zoomify_tile, url=IIP + "?Zoomify=%s")


def iip_tour(name, file, shown=None, **transform):
    img = source(file)
    if not has_iip(img.name):
        raise unittest.SkipTest("IIP is not served")
    tour(name, "iip", file, iip_tile, IIP, image=img.name, transform=json.dumps(transform), shown=shown)


def test_iip():
    iip_tour("iip", "deflate")


def test_iip_jpeg():
    iip_tour("iip-jpeg", "jpeg")


def test_iip_narrow_tiles():
    iip_tour("iip-edge", "edge")


def test_iip_jpeg_2000():
    iip_tour("iip-jp2", "jp2")


def test_iip_processed():
    """The brackets and semicolons of the matrix go out as they are. Processing is in the order of the
    protocol, not of the address: matrix, gamma, inversion."""
    twisted = source("deflate").picture[:, :, (2, 0, 1)] / 255.
    iip_tour("iip-processed", "deflate", numpy.round(255 * (1 - twisted ** 1.5)).astype(numpy.uint8), quality=90,
             gamma=1.5, invert=True, twist="[0,0,1;1,0,0;0,1,0]")
