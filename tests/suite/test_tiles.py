"""Deep Zoom and Zoomify through the server: every level and tile of both, put together, against the picture."""
import math
import os
import xml.etree.ElementTree as xml

import numpy

import fixture
import server
from test_mosaic import smooth

SETTINGS = {"URI_MAP": "iiif=>IIIF, dz=>DeepZoom, zf=>Zoomify"}
# The configurations of the web servers map IIIF only.
site = server.Sites(fixture.root(), **SETTINGS)
tearDownModule = site.stop


def status(path, **settings):
    return site(**settings).get(path).status


def assemble(w, h, tile, address):
    """The level of w x h px from its tiles, each of which has exactly its size."""
    rows = []
    for y in range(math.ceil(h / tile)):
        row = []
        for x in range(math.ceil(w / tile)):
            pixels = site().get(address(x, y)).pixels()
            want = (min(tile, h - y * tile), min(tile, w - x * tile))
            assert pixels.shape[:2] == want, "%s is %r, not %r" % (address(x, y), pixels.shape[:2], want)
            row.append(pixels)
        rows.append(numpy.concatenate(row, 1))
    return numpy.concatenate(rows, 0)


def deepzoom_levels(name):
    reply = site().get("/dz/%s.dzi" % name)
    assert reply.status == 200 and reply.type() == "application/xml", reply
    root = xml.fromstring(reply.body)
    assert root.tag == "{http://schemas.microsoft.com/deepzoom/2008}Image"
    assert root.get("Overlap") == "0" and root.get("Format") == "jpg"
    w, h = int(root[0].get("Width")), int(root[0].get("Height"))
    top = (max(w, h) - 1).bit_length()
    return w, h, int(root.get("TileSize")), top


def check_deepzoom(name, picture, floor):
    w, h, tile, top = deepzoom_levels(name)
    assert picture.shape[:2] == (h, w)
    for level in range(top + 1):
        k = top - level
        lw, lh = -(-w >> k), -(-h >> k)
        got = assemble(lw, lh, tile, lambda x, y: "/dz/%s_files/%d/%d_%d.png" % (name, level, x, y))
        if min(lw, lh) < 8:
            continue
        quality = fixture.psnr(fixture.reduced(picture, (lw, lh), (0, 0, lw << k, lh << k)
                                               if lw << k <= w and lh << k <= h else None), got)
        assert quality >= floor, "%s, level %d: %.1f dB" % (name, level, quality)
    assert status("/dz/%s_files/%d/0_0.jpg" % (name, top + 1)) == 404
    assert status("/dz/%s_files/%d/%d_0.jpg" % (name, top, -(-w // tile))) == 404


def test_deepzoom_of_a_pyramid():
    picture = smooth(1537, 1025)
    check_deepzoom(fixture.pyramid("dz-ceil.tif", picture, ceil=True), picture, 32)


def test_deepzoom_of_one_level():
    picture = smooth(1537, 1025)
    check_deepzoom(fixture.pyramid("dz-one.tif", picture, one_level=True), picture, 32)


def test_deepzoom_powers_of_two():
    for w, path, size in ((1024, "10/3_3", (256, 256)), (1025, "11/4_3", (1, 256))):
        name = fixture.ramp_pyramid(w, 1024)
        assert site().get("/dz/%s_files/%s.jpg" % (name, path)).size() == size


def test_one_level_and_pyramid_agree():
    ramp = fixture.ramp(2500, 2000)
    one = fixture.pyramid("dz-ramp-one.tif", ramp, one_level=True)
    many = fixture.pyramid("dz-ramp-many.tif", ramp)
    for level in range(13):
        a, b = (site().get("/dz/%s_files/%d/0_0.png" % (name, level)).pixels() for name in (one, many))
        assert fixture.largest_difference(a[..., :2], b[..., :2]) <= 6, level
    assert site().get("/dz/%s_files/0/0_0.png" % one).size() == (1, 1)


def test_deepzoom_forms():
    name = fixture.ramp_pyramid(1037, 779)
    tile = site().get("/dz/%s_files/11/1_1.jpg" % name).body
    for query in ("DeepZoom=%s_files/11/1_1.jpg", "deepzoom=%s_files/11/1_1.jpg", "DEEPZOOM=%s_files/11/1_1.jpg",
                  "FIF=%s&CNT=1&DeepZoom=%s_files/11/1_1.jpg", "DeepZoom=%s_files/11/1_1.jpg?1712345678901",
                  "DeepZoom=%s_files/11/1_1.jpg&t=1"):
        for path in ("/fcgi-bin/iipsrv.fcgi", "/"):
            reply = site().get(path + "?" + query.replace("%s", name))
            assert reply.status == 200 and reply.body == tile, query
    assert site().get("/?DeepZoom=%s.dzi" % name).body == site().get("/dz/%s.dzi" % name).body
    assert site().get("/?DeepZoom=%s.xml" % name).body == site().get("/dz/%s.dzi" % name).body
    assert status("/dz/%s_files/11/1_1.gif" % name) == 400
    offered = site().get("/iiif/3/%s/info.json" % name).json()["extraFormats"]
    avif = site().get("/dz/%s_files/11/1_1.avif" % name)
    assert avif.status == (200 if "avif" in offered else 400) and avif.type() == ("image/avif" if "avif" in offered else "text/plain")
    assert status("/dz/%s" % name) == 404 and status("/dz/none.dzi") == 404
    assert status("/dz/") == 200 and status("/dz/..%2Fsecret.dzi") in (400, 404)


def test_stored_tiles_go_out_as_they_are():
    name = fixture.ramp_jpeg_pyramid(1024, 768)
    pages = {"iiif": "/iiif/3/%s/256,256,256,256/max/0/default.jpg", "dz": "/dz/%s_files/10/1_1.jpg",
             "zf": "/zf/%s/TileGroup0/2-1-1.jpg"}
    bodies = {key: site().get(path % name).body for key, path in pages.items()}
    assert len(set(bodies.values())) == 1


def test_validators():
    name = fixture.ramp_pyramid(1037, 779)
    for path in ("/dz/%s.dzi", "/dz/%s_files/10/0_0.jpg", "/zf/%s/ImageProperties.xml", "/zf/%s/TileGroup0/1-0-0.jpg"):
        reply = site().get(path % name)
        tag = reply.header("ETag")
        assert tag and reply.header("Last-Modified") and "max-age" in reply.header("Cache-Control")
        again = site().get(path % name, {"If-None-Match": tag})
        assert again.status == 304 and not again.body
        head = site().get(path % name, method="HEAD")
        assert head.status == 200 and not head.body


def zoomify_levels(w, h, tile):
    sizes = [(w, h)]
    while max(sizes[0]) > tile:
        sizes.insert(0, (max(1, sizes[0][0] // 2), max(1, sizes[0][1] // 2)))
    return sizes


def check_zoomify(w, h, n_tiles):
    picture = smooth(w, h)
    name = fixture.pyramid("zf-%dx%d.tif" % (w, h), picture)
    document = site().get("/zf/%s/ImageProperties.xml" % name).body.decode()
    assert document == ('<IMAGE_PROPERTIES WIDTH="%d" HEIGHT="%d" NUMTILES="%d" NUMIMAGES="1" VERSION="1.8" '
                        'TILESIZE="256"/>' % (w, h, n_tiles)), document
    assert site().get("/?Zoomify=%s/ImageProperties.xml" % name).body.decode() == document
    levels = zoomify_levels(w, h, 256)
    for z, (lw, lh) in enumerate(levels):
        got = assemble(lw, lh, 256, lambda x, y: "/zf/%s/TileGroup%d/%d-%d-%d.jpg" % (name, x * 7 + y, z, x, y))
        k = len(levels) - 1 - z
        want = fixture.reduced(picture, (lw, lh), (0, 0, min(w, lw << k), min(h, lh << k)))
        quality = fixture.psnr(want, got)
        assert quality >= 30, "level %d: %.1f dB" % (z, quality)
    assert status("/zf/%s/TileGroup0/%d-0-0.jpg" % (name, len(levels))) == 404
    assert status("/zf/%s/TileGroup0/0-1-0.jpg" % name) == 404


def test_zoomify_513():
    check_zoomify(513, 400, 1 + 6)


def test_zoomify_1025():
    check_zoomify(1025, 767, 1 + 4 + 15)


def test_tiles_not_square():
    name = fixture.pyramid("dz-wide-tiles.tif", smooth(700, 500), tile=(256, 128))
    assert deepzoom_levels(name)[2] == 256
    assert site().get("/dz/%s_files/10/0_0.png" % name).size() == (256, 256)


def test_errors_are_short_and_plain():
    for path in ("/dz/none_files/0/0_0.jpg", "/zf/none/TileGroup0/0-0-0.jpg", "/zf/none", "/dz/x%ff.dzi",
                 "/zf/x%00/ImageProperties.xml"):
        reply = site().get(path)
        assert reply.status in (400, 404) and reply.type() == "text/plain", path
        assert "no-store" in reply.header("Cache-Control") and b"/" not in reply.body, path


def test_explain():
    import subprocess
    name = fixture.ramp_jpeg_pyramid(1024, 768)
    env = dict(SETTINGS, FILESYSTEM_PREFIX=os.path.join(fixture.root(), ""), PATH=os.environ["PATH"])
    for path, words in (("/dz/%s_files/10/1_1.jpg", "way: stored tile"), ("/zf/%s/ImageProperties.xml", "document")):
        text = subprocess.run([server.TEGULA, "--explain", path % name], env=env, capture_output=True, text=True).stdout
        assert words in text, text
