"""What clients without a browser send, and what they make of the answers: each as its own source and the
web show it. Every tile that a client would ask for is asked for, and put together."""
import json
import math
import os
import re
import subprocess
import tempfile
import unittest

import numpy
from PIL import Image

import fixture
import server
import views
from pictures import source
from viewer_site import IIP, has_iip, site

# JPEG at quality 75 keeps 37 dB of the full size, and 31 of the smallest level, which is all detail.
TILE_DB = 30
FIVE = "obj=IIP,1.0&obj=Max-size&obj=Tile-size&obj=Resolution-number&obj=Resolutions"


def iip(query, kind="deflate"):
    """An answer to FIF=… and this."""
    img = source(kind)
    if not has_iip(img.name):
        raise unittest.SkipTest("IIP is not served")
    return answer("%s?FIF=%s&%s" % (IIP, img.name, query))


def answer(path):
    reply = site().get(path)
    assert reply.status == 200, "%s: %d %r" % (path, reply.status, reply.body[:80])
    return reply


def mosaic(columns, rows, tile):
    """tile(column, row): an answer."""
    return numpy.concatenate([numpy.concatenate([tile(x, y).pixels() for x in range(columns)], 1)
                              for y in range(rows)], 0)


def levels(kind="deflate"):
    """The picture as it is stored, smallest first."""
    picture = source(kind).picture
    return [picture, *fixture.levels_of(picture, (256, 256))][::-1]


def alike(got, want, floor=TILE_DB):
    assert got.shape == want.shape, (got.shape, want.shape)
    found = views.psnr(got, want)
    assert found >= floor, "%.1f dB" % found


def after(text, label, pattern):
    """The first numbers behind a label, wherever it is, as clients read them."""
    found = re.match(pattern, text.partition(label)[2])
    assert found, "%s is not to be read in %r" % (label, text)
    return [int(number) for number in found.groups()]


# -- iipmooviewer

def test_iipmooviewer_tiles():
    text = iip(FIVE + "&obj=dpi").body.decode()
    w, h = after(text, "Max-size:", r"(\d+) (\d+)")
    tw, th = after(text, "Tile-size:", r"(\d+) (\d+)")
    count, = after(text, "Resolution-number:", r"(\d+)")
    sizes = [tuple(map(int, pair.split())) for pair in text.partition("Resolutions:")[2].split("\r\n")[0].split(",")]
    assert (w, h) == sizes[-1] == (2350, 1777) and len(sizes) == count == 5
    for r, level in enumerate(levels()):
        columns, rows = math.ceil(sizes[r][0] / tw), math.ceil(sizes[r][1] / th)
        got = mosaic(columns, rows, lambda x, y: iip("CNT=1.0&SDS=0,90&JTL=%d,%d" % (r, x + y * columns)))
        alike(got, level)


def test_iipmooviewer_processing():
    tile = levels()[4][256:512, 512:768] / 255.
    for query, want in (("CNT=1.2&SDS=0,90&GAM=1.0", tile * 1.2), ("CNT=1&SDS=0,90&ROT=90&GAM=2", numpy.rot90(tile, 3) ** 2)):
        got = iip(query + "&QLT=90&JTL=4,12").pixels()
        alike(got, numpy.round(255 * numpy.clip(want, 0, 1)).astype(numpy.uint8))
    shaded = iip("CNT=1&SDS=0,90&SHD=45,30&JTL=4,12").image()
    assert shaded.mode == "L" and shaded.size == (256, 256)


def test_iipmooviewer_thumbnail_export_and_stack():
    picture = source("deflate").picture
    thumbnail = iip("WID=150&QLT=98&CVT=jpeg").pixels()
    alike(thumbnail, numpy.asarray(Image.fromarray(picture).resize((150, 113), Image.BOX)))
    export = iip("CNT=1&SDS=0,90&ROT=0&WID=400&HEI=400&RGN=0.25,0.25,0.5,0.5&CVT=jpeg")
    w, h = export.size()
    assert w == 400 and h in (302, 303)  # 888.5 px, to the nearest
    box = (587.5, 444.25, 1762.5, 1332.75)
    alike(export.pixels(), numpy.asarray(Image.fromarray(picture).resize((w, h), Image.LANCZOS, box)))
    stack = iip("obj=stack")
    assert stack.type() == "application/json" and json.loads(stack.body.decode()) == []


def test_iipmooviewer_asks_again():
    """A tile that failed is asked for once more, with a time stamp behind the whole address."""
    assert iip("CNT=1&JTL=4,17?1712345678901").body == iip("CNT=1&JTL=4,17").body
    assert iip("JTL=4,17?1712345678901").body == iip("JTL=4,17").body


def test_iipmooviewer_zoomify():
    """It takes the first, the second and the sixth of the quoted values."""
    img = source("deflate")
    text = answer("/zf/%s/ImageProperties.xml" % img.name).body.decode()
    values = text.split('"')[1::2]
    w, h, tile = int(values[0]), int(values[1]), int(values[5])
    assert (w, h, tile) == (img.w, img.h, 256)
    for r, level in enumerate(levels()):
        columns, rows = math.ceil(level.shape[1] / tile), math.ceil(level.shape[0] / tile)
        for group in (0, 7):
            got = answer("/zf/%s/TileGroup%d/%d-%d-%d.jpg" % (img.name, group, r, columns - 1, rows - 1))
            alike(got.pixels(), level[(rows - 1) * tile:, (columns - 1) * tile:])


def test_iipmooviewer_deep_zoom():
    """Levels are counted from the longer side; the thumbnail is the level that a tile holds."""
    img = source("deflate")
    text = answer("%s?DeepZoom=%s.dzi" % (IIP, img.name)).body.decode()
    tile, w, h = (int(re.search(name + '="(\\d+)"', text).group(1)) for name in ("TileSize", "Width", "Height"))
    top = math.ceil(math.log2(max(w, h)))
    base = "%s?DeepZoom=%s_files" % (IIP, img.name)
    got = mosaic(math.ceil(w / tile), math.ceil(h / tile), lambda x, y: answer("%s/%d/%d_%d.jpg" % (base, top, x, y)))
    alike(got, img.picture)
    thumbnail = answer("%s/%d/0_0.jpg" % (base, int(math.log2(tile)) - 1)).pixels()
    size = (math.ceil(w / 2 ** (top - 7)), math.ceil(h / 2 ** (top - 7)))
    assert thumbnail.shape[:2] == size[::-1]


def test_iipmooviewer_iiif():
    """Squares that reach beyond the edge, with the best fit of what is left; the first column by its width."""
    img = source("deflate")
    for version in (2, 3):
        base = "/iiif/%d/%s" % (version, img.name)
        for side, size in ((256, (46, 241)), (1024, (103, 256))):
            x, y = img.w // side * side, img.h // side * side
            got = answer("%s/%d,%d,%d,%d/!256,256/0/default.jpg" % (base, x, y, side, side)).pixels()
            left = Image.fromarray(img.picture[y:, x:])
            alike(got, numpy.asarray(left.resize(size, Image.BOX if side > 256 else Image.NEAREST)), 29)
        alike(answer("%s/0,0,1024,1024/256,/0/default.jpg" % base if version == 2 else
                     "%s/0,0,1024,1024/256,256/0/default.jpg" % base).pixels(), levels()[2][:256, :256])


# -- others

def gdal_tiles(r, count, w, h):
    """GDAL supposes tiles of 256 px, and sizes halved with floor."""
    level_w, level_h = w >> (count - 1 - r), h >> (count - 1 - r)
    columns, rows = math.ceil(level_w / 256), math.ceil(level_h / 256)
    return mosaic(columns, rows, lambda x, y: iip("jtl=%d,%d" % (r, y * columns + x)))


def test_gdal_requests():
    text = iip("obj=Basic-Info").body.decode()
    w, h = after(text, "Max-size:", r"(\d+) (\d+)")
    count, = after(text, "Resolution-number:", r"(\d+)")
    for r, level in enumerate(levels()):
        alike(gdal_tiles(r, count, w, h), level)


def test_gdal():
    """The program itself, if it is there."""
    if not server.have("gdal_translate"):
        raise unittest.SkipTest("no gdal_translate")
    iip("obj=Basic-Info")
    address = "IIP:%s%s?FIF=%s" % (site().base, IIP, source("deflate").name)
    with tempfile.TemporaryDirectory() as folder:
        for wanted, level in (((), -1), (("-outsize", "25%", "25%"), -3)):
            path = os.path.join(folder, "got.tif")
            done = subprocess.run(["gdal_translate", "-q", "-of", "GTiff", *wanted, address, path], cwd=folder,
                                  capture_output=True, text=True, timeout=100)
            assert done.returncode == 0 and "ERROR" not in done.stderr, done.stderr[:300]
            got = numpy.asarray(Image.open(path).convert("RGB"))
            want = levels()[level]
            h, w = (min(a, b) for a, b in zip(got.shape, want.shape[:2]))
            alike(got[:h, :w], want[:h, :w], TILE_DB if level == -1 else 26)


def test_visiomatic_requests():
    """Also asks for depth and range, and for what no server has to know."""
    text = iip("obj=IIP,1.0&obj=max-size&obj=tile-size&obj=resolution-number&obj=bits-per-channel"
               "&obj=min-max-sample-values&obj=subject").body.decode()
    assert after(text, "Max-size:", r"(\d+) (\d+)") == [2350, 1777]
    assert after(text, "Bits-per-channel:", r"(\d+)") == [8]
    lowest, highest = after(text, "Min-Max-sample-values:", r" *(\d+) +(\d+)")
    assert (lowest, highest) == (0, 255)
    tile = levels()[4][:256, :256] / 255.
    got = iip("CTW=0,0,1;0,1,0;1,0,0&GAM=0.4545&QLT=95&JTL=4,0").pixels()
    alike(got, numpy.round(255 * tile[:, :, ::-1] ** .4545).astype(numpy.uint8))
    alike(iip("CNT=1&CHAN=1&QLT=95&JTL=4,0").pixels(), levels()[4][:256, :256])


def test_openlayers_pages_for_iipsrv():
    """Pages that count channels from 1, and name the range that is there anyway, are many."""
    tile = levels()[4][:256, :256] / 255.
    got = iip("WID=1024&GAM=1.4&MINMAX=1:0,255&MINMAX=2:0,255&MINMAX=3:0,255&JTL=4,0").pixels()
    alike(got, numpy.round(255 * tile ** 1.4).astype(numpy.uint8))
