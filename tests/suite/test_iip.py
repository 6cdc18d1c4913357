"""IIP through the server: texts, tiles, views and processed pixels against numpy, and what is refused."""
import json
import math
import os
import subprocess
import xml.etree.ElementTree as xml

import numpy

import fixture
import iipsrv_compare
import server
from test_mosaic import smooth

SETTINGS = {"URI_MAP": "iiif=>IIIF, iip=>IIP, dz=>DeepZoom"}
NETFPX = "application/vnd.netfpx"
FIVE = "obj=IIP,1.0&obj=Max-size&obj=Tile-size&obj=Resolution-number&obj=Resolutions"
# The configurations of the web servers map IIIF only.
site = server.Sites(fixture.root(), **SETTINGS)
tearDownModule = site.stop


def ask(query, on=None, **how):
    return (on or site()).get("/fcgi-bin/iipsrv.fcgi?" + query, **how)


def expect(query, status, on=None):
    reply = ask(query, on)
    assert reply.status == status, "%s: %d %r" % (query, reply.status, reply.body[:100])
    return reply


def text(query, on=None):
    return expect(query, 200, on).body.decode()


def pixels(query, on=None):
    """As height x width x channels."""
    picture = expect(query, 200, on).pixels()
    return picture if picture.ndim == 3 else picture[:, :, None]


def sizes(name):
    line = text("FIF=%s&obj=Resolutions" % name)
    assert line.startswith("Resolutions:") and line.endswith("\r\n")
    return [tuple(map(int, pair.split())) for pair in line[12:].strip().split(",")]


def assemble(name, level, command="PTL", before="", tile=(256, 256)):
    """A level from its tiles, each of which has exactly its size."""
    w, h = sizes(name)[level]
    cols, rows = math.ceil(w / tile[0]), math.ceil(h / tile[1])
    lines = []
    for y in range(rows):
        line = []
        for x in range(cols):
            got = pixels("FIF=%s&%s%s=%d,%d" % (name, before, command, level, y * cols + x))
            want = (min(tile[1], h - y * tile[1]), min(tile[0], w - x * tile[0]))
            assert got.shape[:2] == want, (name, level, x, y, got.shape, want)
            line.append(got)
        lines.append(numpy.concatenate(line, 1))
    return numpy.concatenate(lines, 0)


def ramp():
    return fixture.ramp_pyramid(1501, 1103)


def noise(w, h, channels=3, seed=1):
    return numpy.random.RandomState(seed).randint(0, 256, (h, w, channels)).astype(numpy.uint8)


def noisy():
    return fixture.pyramid("iip-noise.tif", lambda: noise(600, 400))


def close(got, want, within=1, share=.02):
    """Two roundings of one value: the same but for a few that lie in the middle."""
    want = numpy.asarray(want, float)
    if want.ndim == 2:
        want = want[:, :, None]
    assert got.shape == want.shape, (got.shape, want.shape)
    off = numpy.abs(got - want)
    assert off.max() <= within, off.max()
    assert (off > .5 + 1e-3).mean() <= share, (off > .5 + 1e-3).mean()


# -- objects

def test_what_viewers_ask_first():
    for query in (FIVE, FIVE.lower(), FIVE.upper()):
        reply = expect("FIF=%s&%s" % (ramp(), query), 200)
        assert reply.type() == NETFPX
        assert reply.body == (b"IIP:1.0\r\nMax-size:1501 1103\r\nTile-size:256 256\r\nResolution-number:4\r\n"
                              b"Resolutions:187 137,375 275,750 551,1501 1103\r\n")


def test_objects_of_other_clients():
    for query, want in (("obj=Basic-Info", "IIP-server:3.65\r\nMax-size:1501 1103\r\nResolution-number:4\r\n"
                         "Colorspace,0-3,0:0 0 3 3 0 1 2\r\n"),
                        ("obj=Max-size&obj=IIP,1.0", "IIP:1.0\r\nMax-size:1501 1103\r\n"),
                        ("obj=dpi", ""), ("obj=title", ""), ("obj=stack", "[]"), ("obj=metadata", "{}"),
                        ("obj=Bits-per-channel", "Bits-per-channel:8\r\n"),
                        ("obj=Min-Max-sample-values", "Min-Max-sample-values: 0  255  0  255  0  255\r\n"),
                        ("obj=Horizontal-views&obj=Vertical-views", "Horizontal-views:0\r\nVertical-views:90\r\n"),
                        ("obj=foo&obj=Tile-size", "Error/7:3 2 foo\r\nTile-size:256 256\r\n"),
                        ("ROT=90&obj=Max-size&ROT=180&obj=Max-size", "Max-size:1103 1501\r\nMax-size:1501 1103\r\n")):
        assert text("FIF=%s&%s" % (ramp(), query)) == want, query
    assert text("obj=IIP,1.0&obj=IIP-server") == "IIP:1.0\r\nIIP-server:3.65\r\n"


def test_types_of_objects():
    for query, kind in (("obj=title", "text/plain"), ("obj=xmp", "application/xml"), ("obj=stack", "application/json"),
                        ("obj=Max-size&obj=metadata", "application/json"), ("obj=metadata&obj=Max-size", NETFPX)):
        assert expect("FIF=%s&%s" % (ramp(), query), 200).type() == kind, query


def test_resolutions_are_those_stored():
    for ceil, want in ((False, [(187, 137), (375, 275), (750, 551), (1501, 1103)]),
                       (True, [(188, 138), (376, 276), (751, 552), (1501, 1103)])):
        name = fixture.pyramid("iip-smooth-%d.tif" % ceil, lambda: smooth(1501, 1103), ceil=ceil)
        assert sizes(name) == want
        levels = [smooth(1501, 1103)]
        for unused in range(3):
            levels.insert(0, fixture.halved(levels[0], ceil))
        for r in range(4):
            assert fixture.largest_difference(assemble(name, r), levels[r]) == 0, (ceil, r)


def test_resolutions_of_one_level():
    picture = smooth(1237, 911)
    name = fixture.pyramid("iip-one-level.tif", picture, one_level=True)
    assert sizes(name) == [(155, 114), (310, 228), (619, 456), (1237, 911)]
    for r, (w, h) in enumerate(sizes(name)):
        k = 3 - r
        padded = numpy.pad(picture, ((0, (h << k) - 911), (0, (w << k) - 1237), (0, 0)), "edge")
        got = assemble(name, r)
        assert fixture.psnr(fixture.reduced(padded, (w, h)), got) >= 36, r


def test_tiles_that_are_not_square():
    picture = smooth(700, 500)
    name = fixture.pyramid("iip-wide-tiles.tif", picture, tile=(256, 128))
    assert text("FIF=%s&obj=Tile-size" % name) == "Tile-size:256 128\r\n"
    top = len(sizes(name)) - 1
    assert fixture.largest_difference(assemble(name, top, tile=(256, 128)), picture) == 0


def test_facts_of_deep_and_gray_images():
    name = fixture.pyramid("iip-gray16.tif", fixture.gray(600, 400, 65535))
    assert text("FIF=%s&obj=Bits-per-channel&obj=Min-Max-sample-values&obj=Colorspace" % name) == (
        "Bits-per-channel:16\r\nMin-Max-sample-values: 0  65535\r\nColorspace,0-2,0:0 0 1 1 0\r\n")


def test_density_in_pixels_per_metre():
    name = fixture.mkpyramid("iip-300dpi.tif", "--size", "700x500", "--dpi", "300")
    assert text("FIF=%s&obj=DPI" % name) == "DPI:11811.023438 11811.023438\r\n"  # in single precision
    metric = {282: (5, [11811, 100]), 283: (5, [11811, 100]), 296: (3, [3])}
    name = fixture.pyramid("iip-metric.tif", fixture.gray(300, 200), tags=metric)
    assert text("FIF=%s&obj=dpi" % name) == "DPI:11811.000000 11811.000000\r\n"


def test_views_of_a_stack():
    name = fixture.mkpyramid("iip-stack.tif", "--size", "300x200", "--pages", "3", "--stack")
    assert text("FIF=%s&obj=Horizontal-views" % name) == "Horizontal-views:0 1 2\r\n"
    assert [page["id"] for page in json.loads(text("FIF=%s&obj=stack" % name))] == [0, 1, 2]
    first, third = (expect("FIF=%s&SDS=%d,90&JTL=0,0" % (name, view), 200) for view in (0, 2))
    assert first.header("ETag") != third.header("ETag")
    assert expect("FIF=%s&JTLS=2,0,0,90" % name, 200).body == third.body
    expect("FIF=%s&SDS=3&JTL=0,0" % name, 404)
    expect("FIF=%s&SDS=1&JTL=0,0" % ramp(), 404)


def test_sequences():
    """A file for each view, where no file has the name itself."""
    for h in (0, 7, 120):
        for v in (0, 90):
            fixture.pyramid("iip-turn_pyr_%03d_%03d.tif" % (h, v), fixture.flat(100, 80, (h, v, 50)))
    fixture.pyramid("iip-turn_pyr_other.tif", fixture.flat(100, 80, (1, 1, 1)))
    name = "iip-turn"
    for sds, colour in (("", (0, 90)), ("SDS=7,90&", (7, 90)), ("SDS=120&", (120, 0)), ("SDS=0,0&", (0, 0))):
        assert tuple(pixels("FIF=%s&%sPTL=0,0" % (name, sds))[0, 0]) == colour + (50,), sds
    assert numpy.abs(pixels("FIF=%s&JTLS=120,0,0,90" % name)[0, 0].astype(int) - (120, 90, 50)).max() < 4
    for sds in ("1,90", "7,45", "1000,90", "4294967295,0"):
        assert ask("FIF=%s&SDS=%s&PTL=0,0" % (name, sds)).status in (400, 404), sds
    assert text("FIF=%s&obj=Horizontal-views&obj=Vertical-views" % name) == "Horizontal-views:0 7 120\r\nVertical-views:0 90\r\n"
    assert text("FIF=%s&obj=stack" % name) == "[]"
    lines = profile("FIF=%s&PFL=0:0,0-2,0" % name)
    assert lines == {"0": [0, 90, 50] * 2, "7": [7, 90, 50] * 2, "120": [120, 90, 50] * 2}
    assert site().get("/iiif/iip-turn/full/max/0/default.png").size() == (100, 80)
    expect("FIF=iip-tur&JTL=0,0", 404)
    expect("FIF=iip-turn*&JTL=0,0", 404)
    expect("FIF=%s&JTL=0,0" % name, 404, site(FILENAME_PATTERN="-"))
    tight = site(FOLLOW_SYMLINKS=0)
    assert text("FIF=%s&obj=Horizontal-views" % name, tight) == "Horizontal-views:0 7 120\r\n"


def test_orientation():
    for orientation in range(1, 9):
        name = fixture.pyramid("iip-corners-%d.tif" % orientation, fixture.corners(600, 400),
                               tags={274: (3, [orientation])})
        size = (600, 400) if orientation < 5 else (400, 600)
        assert text("FIF=%s&obj=Max-size" % name) == "Max-size:%d %d\r\n" % size
        top = len(sizes(name)) - 1
        whole = pixels("FIF=%s&CVT=png" % name)
        assert fixture.largest_difference(assemble(name, top), whole) == 0, orientation


# -- tiles and views

def test_tiles_as_stored():
    """The same bytes as over IIIF, and the tile that is named."""
    name = fixture.ramp_jpeg_pyramid(1024, 768)
    tile = expect("FIF=%s&JTL=2,5" % name, 200)
    assert tile.body == site().get("/iiif/%s/256,256,256,256/256,/0/default.jpg" % name).body
    assert tile.header("Content-Disposition") == 'inline; filename="ramp-1024x768-jpeg_256x256.jpg"'
    assert expect("FIF=%s&QLT=75&JTL=2,5" % name, 200).body != tile.body
    assert expect("FIF=%s&jtl=2,5?1712345678901" % name, 200).body == tile.body
    assert expect("fif=%s&FOO&JTL=2,5&JTL=0,0&CVT=png&nonsense=1" % name, 200).body == tile.body


def test_tile_formats():
    want = smooth(600, 400)[:256, :256]
    name = fixture.pyramid("iip-smooth.tif", lambda: smooth(600, 400))
    for command, kind, floor in (("JTL", "image/jpeg", 34), ("PTL", "image/png", 99), ("WTL", "image/webp", 30),
                                 ("TTL", "image/tiff", 99)):
        reply = expect("FIF=%s&%s=2,0" % (name, command), 200)
        assert reply.type() == kind
        assert fixture.psnr(reply.pixels(), want) >= floor, command
    if ask("FIF=%s&CVT=avif" % name).status == 200:
        tile = expect("FIF=%s&ATL=2,0" % name, 200)
        assert tile.type() == "image/avif" and fixture.psnr(tile.pixels(), want) >= 32
        assert fixture.largest_difference(expect("FIF=%s&QLT=-1&ATL=2,0" % name, 200).pixels(), want) == 0
    else:
        expect("FIF=%s&ATL=2,0" % name, 400)
    assert len(ask("FIF=%s&QLT=10&JTL=2,0" % name).body) < len(ask("FIF=%s&QLT=95&JTL=2,0" % name).body)
    lossless = expect("FIF=%s&QLT=-1&WTL=2,0" % name, 200)
    assert fixture.largest_difference(lossless.pixels(), want) == 0
    for quality in (-1000, 1000, "none:0", "lzw:7", "deflate:9", "jpeg:90", "zstd:3"):
        expect("FIF=%s&QLT=%s&TTL=2,0" % (name, quality), 200)


def test_tiles_are_what_a_view_shows():
    name = fixture.pyramid("iip-smooth-1.tif", lambda: smooth(1501, 1103), ceil=True)
    for r, (w, h) in enumerate(sizes(name)):
        view = pixels("FIF=%s&WID=%d&HEI=%d&CVT=png" % (name, w, h))
        assert view.shape[:2] == (h, w), (r, view.shape)
        assert fixture.largest_difference(assemble(name, r), view) <= 2, r


def test_ranges_of_tiles():
    for where in ("4,0", "0,1", "3,30", "0,-1", "-1,0", "129500,1", "2147483647,2147483647"):
        expect("FIF=%s&JTL=%s" % (ramp(), where), 404)
    expect("FIF=%s&JTL=3,29" % ramp(), 200)


def test_sizes_of_views():
    name = ramp()
    for query, size in (("", (1501, 1103)), ("WID=100", (100, 73)), ("HEI=100", (136, 100)),
                        ("WID=100&HEI=100", (100, 73)), ("WID=1000&HEI=100", (136, 100)), ("WID=0&HEI=0", (1501, 1103)),
                        ("WID=400.5", (400, 294)), ("WID=3000", (3000, 2205)), ("WID=652455", (5000, 3674)),
                        ("RGN=.5,.5,.25,.25", (375, 276)), ("RGN=.9,.9,.5,.5&WID=50", (50, 37)),
                        ("RGN=-.1,0,.2,.2&WID=100", (100, 147)), ("ROT=90&WID=100", (73, 100)),
                        ("RGN=5e-1,0,5.E-1,1&HEI=100", (68, 100)), ("RGN=0,0,1e-9,1e-9", (1, 1))):
        assert ask("FIF=%s&%s&CVT=jpeg" % (name, query)).size() == size, query
    for query, size in (("WID=3000", (1501, 1103)), ("RGN=.5,.5,.25,.25&WID=1000", (375, 276)), ("WID=100", (100, 73))):
        assert ask("FIF=%s&%s&CVT=jpeg" % (name, query), site(ALLOW_UPSCALING=0)).size() == size, query


def test_a_limit_keeps_the_region():
    name = fixture.ramp_pyramid(8000, 6000)
    got = [pixels("FIF=%s&WID=20000&RGN=.25,.25,%s,%s&CVT=jpeg" % (name, part, part), site(MAX_CVT=1000)).astype(int)
           for part in (".01", ".02")]
    assert all(picture.shape == (750, 1000, 3) for picture in got)
    for picture, across in zip(got, (80, 160)):
        assert abs(picture[:, -1, 0].mean() - 255 * (2000 + across) / 8000) < 2


def test_regions():
    picture = smooth(1000, 800)
    name = fixture.pyramid("iip-regions.tif", picture)
    for region, box in (("0,0,1,1", (0, 0, 1000, 800)), (".1,.2,.3,.4", (100, 160, 300, 320)),
                        ("-.1,0,.2,.2", (0, 0, 100, 160)), (".9,.9,.5,.5", (900, 720, 100, 80))):
        x, y, w, h = box
        got = pixels("FIF=%s&RGN=%s&CVT=png" % (name, region))
        assert fixture.largest_difference(got, picture[y:y + h, x:x + w]) == 0, region


def test_turned_tiles():
    """Always the tile that is named, its pixels turned or mirrored."""
    name = fixture.corners_pyramid(600, 500)
    top = len(sizes(name)) - 1
    for n in (0, 5):
        plain = pixels("FIF=%s&PTL=%d,%d" % (name, top, n))
        for rotation, want in (("90", numpy.rot90(plain, 3)), ("180", numpy.rot90(plain, 2)), ("270", numpy.rot90(plain)),
                               ("-90", numpy.rot90(plain)), ("360", plain), ("!0", plain[:, ::-1]),
                               ("!180", plain[::-1]), ("!90", numpy.rot90(plain[:, ::-1], 3))):
            got = pixels("FIF=%s&ROT=%s&PTL=%d,%d" % (name, rotation, top, n))
            assert fixture.largest_difference(got, want) == 0, (n, rotation)


# -- pixels, by the formulas

def processed(query, name=None, top=2):
    return pixels("FIF=%s&%s&PTL=%d,0" % (name or noisy(), query, top))


def source(channels=3):
    return noise(600, 400)[:256, :256, :channels] / 255.


def to_8(v):
    return 255 * numpy.clip(v, 0, 1)


def test_contrast():
    for factor in (0, .3, 1.7, 100):
        close(processed("CNT=%g" % factor), to_8(source() * factor))


def test_gamma():
    for g in (0, .25, .45, 2.2, 7):
        close(processed("GAM=%g" % g), to_8(source() ** g))
    close(processed("GAM=log"), to_8(numpy.log(1 + 255 * source()) / math.log(256)))


def test_invert():
    close(processed("INV"), to_8(1 - source()))


def test_matrix():
    m = numpy.array([[.2, .5, -.3], [1.5, 0, .1], [-1, 1, 1]])
    query = "CTW=[%s]" % ";".join(",".join("%g" % v for v in row) for row in m)
    close(processed(query), to_8(source() @ m.T))
    close(processed(query.replace("[", "%5B").replace("]", "%5D").replace(";", "%3B")), to_8(source() @ m.T))
    close(processed("CTW=[.2,.7]"), to_8(.2 * source()[:, :, :1] + .7 * source()[:, :, 1:2]))
    close(processed("CTW=[0,0,1;0,1;1]"), 255 * source()[:, :, ::-1])
    assert processed("CTW=[1;0,1;0,0,1;.5]").shape == (256, 256, 4)
    expect("FIF=%s&CTW=[1;0,1;0,0,1;.5]&JTL=0,0" % noisy(), 400)


def test_no_clamp_between_matrix_and_contrast():
    close(processed("CTW=[3,0,0;0,3,0;0,0,3]&CNT=.3"), to_8(source() * .9))


def test_range():
    v = noise(600, 400)[:256, :256].astype(float)
    close(processed("MINMAX=-:50,150"), to_8((v - 50) / 100))
    want = v.copy()
    want[:, :, 1] = to_8((v[:, :, 1] - 20) / 30)
    want[:, :, 2] = to_8((v[:, :, 2] - 200) / -100)
    close(processed("MINMAX=1:20,50&MINMAX=2:200,100"), want)
    plain = expect("FIF=%s&GAM=1.4&JTL=0,0" % noisy(), 200).body
    for channel in (3, 9):  # viewers that count from 1 name one more than there is
        assert expect("FIF=%s&GAM=1.4&MINMAX=%d:0,1&JTL=0,0" % (noisy(), channel), 200).body == plain


def test_range_of_deep_samples():
    name = fixture.pyramid("iip-gray16.tif", fixture.gray(600, 400, 65535))
    v = fixture.gray(600, 400, 65535)[:256, :256].astype(float)
    close(processed("MINMAX=0:10000,20000", name), to_8((v - 10000) / 10000))
    close(processed("GAM=.5", name), to_8((v / 65535) ** .5))


def test_order_is_fixed():
    """Whatever the order of the commands."""
    v = to_8((1 - numpy.clip((source() * 255 - 20) / 200, 0, 1) ** 2) * .8)
    commands = ["MINMAX=-:20,220", "GAM=2", "INV", "CNT=.8"]
    for order in (commands, commands[::-1], commands[2:] + commands[:2]):
        close(processed("&".join(order)), v)


def test_order_of_all_commands():
    """Range, matrix, gamma, inversion, colour map, convolution, contrast: from the left of the picture's way."""
    m = numpy.array([[.2, .5, .3], [1, 0, 0], [0, 0, 1]])
    v = (numpy.clip((noise(600, 400) - 20.) / 200, 0, 1) @ m.T) ** .8
    mapped = hot(1 - v[:, :, 0])
    want = to_8(convolved(mapped, numpy.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16) * .9)[:256, :256]
    commands = ["MINMAX=-:20,220", "CTW=[.2,.5,.3;1,0,0;0,0,1]", "GAM=.8", "INV", "CMP=HOT", "CNV=gaussian", "CNT=.9"]
    for order in (commands, commands[::-1], commands[3:] + commands[:3]):
        close(processed("&".join(order)), want)
    turned = processed("&".join(commands + ["ROT=!90"]))
    close(turned, numpy.rot90(want[:, ::-1], 3))


def test_shade():
    for az, el in ((0, 30), (90, 30), (-45, 60), (225, 0)):
        a, e = math.radians(az), math.radians(el)
        light = numpy.array([math.sin(a), math.cos(a), -math.sin(e)])
        light /= numpy.linalg.norm(light)
        v = source()
        want = to_8(((1 - 2 * v) @ light) / 2)
        want[v.sum(2) == 0] = 0
        close(processed("SHD=%g,%g" % (az, el)), want)
    gray = fixture.pyramid("iip-gray.tif", fixture.gray(600, 400))
    for query in ("SHD=0,30&PTL=0,0", "SHD=0,30&WID=10&CVT=jpeg"):
        reply = expect("FIF=%s&%s" % (gray, query), 400)
        assert reply.body == b"Error/7:2 1 SHD\r\n" and reply.type() == NETFPX


def rise(v, a, b):
    return numpy.clip((v - a) / (b - a), 0, 1)


def hot(v):
    """Black, red, yellow, white, with breaks at 1/3 and 2/3."""
    return numpy.stack([rise(v, k / 3, (k + 1) / 3) for k in range(3)], 2)


def test_colour_maps():
    v = source()[:, :, 0]
    jet = numpy.stack([rise(v, .375, .625) - rise(v, .875, 1) / 2, rise(v, .125, .375) - rise(v, .625, .875),
                       .5 + rise(v, 0, .125) / 2 - rise(v, .375, .625)], 2)
    zero = numpy.zeros_like(v)
    for name, want in (("HOT", hot(v)), ("cold", hot(v)[:, :, ::-1]), ("JET", jet), ("RED", numpy.stack([v, zero, zero], 2)),
                       ("GREEN", numpy.stack([zero, v, zero], 2)), ("BLUE", numpy.stack([zero, zero, v], 2))):
        close(processed("CMP=" + name), to_8(want))
    close(processed("CMP=NONE"), 255 * source())


def convolved(v, kernel):
    r = len(kernel) // 2
    padded = numpy.pad(v, ((r, r), (r, r), (0, 0)), "edge")
    h, w = v.shape[:2]
    return sum(kernel[j][i] * padded[j:j + h, i:i + w] for j in range(2 * r + 1) for i in range(2 * r + 1))


def test_convolution_has_no_seams():
    v = noise(600, 400) / 255.
    rng = numpy.random.RandomState(3)
    for side in (1, 3, 5):
        kernel = numpy.round(rng.rand(side, side) * 4 - 1.5, 3)
        total = kernel.sum()
        if total > 0:
            kernel = kernel / total
        query = "CNV=[%s]&" % ",".join("%.3f" % (k * (total if total > 0 else 1)) for k in kernel.ravel())
        want = to_8(convolved(v, kernel))
        close(assemble(noisy(), 2, before=query), want)
        close(pixels("FIF=%s&%sCVT=png" % (noisy(), query)), want)
        close(pixels("FIF=%s&RGN=.25,.25,.5,.5&%sCVT=png" % (noisy(), query)), want[100:300, 150:450])


def test_named_kernels():
    v = noise(600, 400) / 255.
    for name, kernel in (("sobel", [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]), ("Laplace", [[0, -1, 0], [-1, 4, -1], [0, -1, 0]]),
                         ("sharpen", [[0, -1, 0], [-1, 5, -1], [0, -1, 0]])):
        close(assemble(noisy(), 2, before="CNV=%s&" % name), to_8(convolved(v, kernel)))
    for name in ("prewitt", "scharr", "gaussian", "emboss"):
        expect("FIF=%s&CNV=%s&JTL=0,0" % (noisy(), name), 200)


def test_kernels_lie_upright():
    """Of a file that is stored on its side the kernel works on the picture as shown."""
    v = noise(600, 400)
    kernel = [[1, 2, 0], [-1, .5, 0], [0, 0, 3]]
    query = "CNV=[%s]&" % ",".join("%g" % k for row in kernel for k in row)
    for orientation, stored in ((1, v), (2, v[:, ::-1]), (3, v[::-1, ::-1]), (4, v[::-1]), (5, v.transpose(1, 0, 2)),
                                (6, numpy.rot90(v)), (7, v[::-1, ::-1].transpose(1, 0, 2)), (8, numpy.rot90(v, 3))):
        name = fixture.pyramid("iip-noise-%d.tif" % orientation, numpy.ascontiguousarray(stored),
                               tags={274: (3, [orientation])})
        assert fixture.largest_difference(pixels("FIF=%s&CVT=png" % name), v) == 0
        want = to_8(convolved(v / 255., numpy.array(kernel) / numpy.sum(kernel)))
        close(pixels("FIF=%s&%sCVT=png" % (name, query)), want)


def test_processing_is_before_scaling():
    """A checkerboard that is inverted and halved is as gray as one that is halved; squared it is not."""
    board = numpy.indices((512, 512)).sum(0) % 2 * 200
    name = fixture.pyramid("iip-board.tif", board.astype(numpy.uint8)[:, :, None], one_level=True)
    got = pixels("FIF=%s&GAM=2&WID=128&CVT=png" % name)
    assert abs(got.astype(float).mean() - 255 * (200 / 255.) ** 2 / 2) < 1.5


def test_alpha_is_no_colour():
    rgba = noise(600, 400, 4, 5)
    name = fixture.pyramid("iip-rgba.tif", rgba)
    v = rgba[:256, :256] / 255.
    for query, want in (("INV", 1 - v[:, :, :3]), ("CNT=.5", v[:, :, :3] / 2), ("CTW=[0,0,1;0,1;1]", v[:, :, 2::-1]),
                        ("CMP=RED", v[:, :, :3] * (1, 0, 0)), ("CTW=[0,1]", v[:, :, 1:2])):
        got = processed(query, name)
        close(got[:, :, :-1], to_8(want))
        assert (got[:, :, -1] == rgba[:256, :256, 3]).all(), query
    close(processed("CTW=[1;0,1;0,0,1;0,0,0,.5]", name)[:, :, 3:], 255 * v[:, :, 3] / 2)


# -- by the histogram

def dim():
    """Values of 40 to 120, most of them dark."""
    v = (numpy.random.RandomState(9).rand(400, 600, 1) ** 3 * 80 + 40).round().astype(numpy.uint8)
    return fixture.pyramid("iip-dim.tif", v, one_level=False, tile=(1024, 1024)), v


def test_stretch_takes_the_used_range():
    name, v = dim()
    close(pixels("FIF=%s&CNT=stretch&CVT=png" % name), to_8((v.astype(float) - v.min()) / (int(v.max()) - int(v.min()))))


def test_equalise():
    name, v = dim()
    counts = numpy.bincount(v.ravel(), minlength=256).cumsum()
    first = counts[v.min()]
    want = numpy.floor(255. * numpy.maximum(counts - first, 0) / (v.size - first) + .5)[v]
    assert fixture.largest_difference(pixels("FIF=%s&CNT=eq&CVT=png" % name), want) == 0


def test_binary():
    name, v = dim()
    best, threshold = -1, 0
    for t in range(40, 120):
        low, high = v[v <= t].astype(float), v[v > t].astype(float)
        if len(low) and len(high):
            between = len(low) * len(high) * (low.mean() - high.mean()) ** 2
            if between > best * (1 + 1e-12):
                best, threshold = between, t
    got = pixels("FIF=%s&COL=binary&CVT=png" % name)
    assert fixture.largest_difference(got * (255 if got.max() == 1 else 1), (v > threshold) * 255) == 0


def test_histogram_is_of_the_whole_image():
    """Half of the picture is dark: all of its tiles are treated alike."""
    picture = numpy.full((600, 1200, 1), 10, numpy.uint8)
    picture[:, 600:] = 60
    name = fixture.pyramid("iip-halves.tif", picture)
    top = len(sizes(name)) - 1
    for before, values in (("CNT=st&", (0, 255)), ("CNT=eq&", (0, 255)), ("COL=binary&", (0, 255))):
        got = assemble(name, top, before=before)
        got = got * (255 if got.max() == 1 else 1)
        assert (got[:, :500] == values[0]).all() and (got[:, 700:] == values[1]).all(), before


def test_gray():
    v = noise(600, 400)[:256, :256].astype(float)
    got = processed("COL=grey")
    close(got, v @ (.299, .587, .114), within=1)


# -- TIL, PFL, SPECTRA

def parts(body):
    """(resolution, tile, coding, data) of a reply to TIL."""
    found = []
    while body:
        head, _, rest = body.partition(b":")
        name, _, length = head.partition(b"/")
        word, r, n, zero = name.split(b",")
        size = int(length)
        assert word == b"Tile" and zero == b"0" and rest[4:8] == b"\0\x11\0\0" and rest[size:size + 2] == b"\r\n"
        found.append((int(r), int(n), rest[:4], rest[8:size]))
        body = rest[size + 2:]
    return found


def test_many_tiles():
    name = fixture.ramp_jpeg_pyramid(1024, 768)
    for span, order in (("1-10", [1, 5, 9, 2, 6, 10]), ("6-9", [5, 9, 6, 10]), ("3", [3]), ("5-2", [5]), ("0-0", [0])):
        reply = expect("FIF=%s&TIL=2,%s" % (name, span), 200)
        assert reply.type() == NETFPX and reply.header("ETag") and reply.header("Last-Modified")
        got = parts(reply.body)
        assert [n for _, n, _, _ in got] == order, span
        for r, n, coding, data in got:
            assert r == 2 and coding == b"\2\0\0\0" and data == ask("FIF=%s&JTL=2,%d" % (name, n)).body
    for span in ("3,0", "2,0-12", "2,12", "500000000,0", "2,99999999"):
        expect("FIF=%s&TIL=%s" % (name, span), 404)


def test_raw_tiles():
    deep = fixture.gray(600, 400, 65535)
    name = fixture.pyramid("iip-gray16.tif", deep)
    (_, _, coding, data), = parts(expect("FIF=%s&TIL=2,4" % name, 200).body)
    assert coding == b"\3\0\0\0"
    got = numpy.frombuffer(data, "<u2").reshape(144, 256)
    assert (got == deep[256:, 256:512, 0]).all()
    rgba = noise(600, 400, 4, 5)
    (_, _, coding, data), = parts(expect("FIF=%s&TIL=2,0" % fixture.pyramid("iip-rgba.tif", rgba), 200).body)
    assert coding == b"\0\0\0\0" and data == rgba[:256, :256].tobytes()


def test_too_many_tiles():
    name = fixture.mkpyramid("iip-many.tif", "--size", "2200x2200", "--tile", "64x64")
    top = len(sizes(name)) - 1
    assert sizes(name)[top] == (2200, 2200)
    expect("FIF=%s&TIL=%d,0-1224" % (name, top), 400)
    assert len(parts(expect("FIF=%s&TIL=%d,0-323" % (name, top - 1), 200).body)) == 18 * 18


def profile(query):
    reply = expect(query, 200)
    assert reply.type() == "application/json"
    return reply.json()["profile"]


def test_profile():
    v, name = noise(600, 400), noisy()
    assert profile("FIF=%s&PFL=2:10,20-15,20" % name) == v[20, 10:15].ravel().tolist()
    assert profile("FIF=%s&PFL=2:10,20-10,25" % name) == v[20:25, 10].ravel().tolist()
    assert profile("FIF=%s&PFL=2:10,20-600,25" % name) == v[20, 10:].ravel().tolist()
    assert profile("FIF=%s&PFL=2:10,20" % name) == v[20, 10].tolist()
    deep = fixture.pyramid("iip-gray16.tif", fixture.gray(600, 400, 65535))
    assert profile("FIF=%s&PFL=2:0,0-600,0" % deep) == fixture.gray(600, 400, 65535)[0, :, 0].tolist()
    for where in ("2:600,0-601,0", "2:0,400", "2:-1,0-5,0", "2:0,0-601,0", "2:0,0-0,401"):
        expect("FIF=%s&PFL=%s" % (name, where), 400)
    expect("FIF=%s&PFL=9:0,0-1,1" % name, 404)


def test_too_many_values():
    """65536 are the most, of all channels together."""
    name = fixture.mkpyramid("iip-long.tif", "--size", "22000x64")
    top = len(sizes(name)) - 1
    assert len(profile("FIF=%s&PFL=%d:0,0-21845,0" % (name, top))) == 65535
    expect("FIF=%s&PFL=%d:0,0-21846,0" % (name, top), 400)


def test_profile_of_a_stack():
    name = fixture.mkpyramid("iip-stack.tif", "--size", "300x200", "--pages", "3", "--stack")
    lines = profile("FIF=%s&PFL=1:0,0-5,0" % name)
    assert sorted(lines) == ["0", "1", "2"] and all(len(line) == 15 for line in lines.values())
    assert profile("FIF=%s&SDS=1&PFL=1:0,0-5,0" % name) == lines["1"]


def test_spectrum():
    v, name = noise(600, 400), noisy()
    reply = expect("FIF=%s&SPECTRA=2,4,10,20" % name, 200)
    assert reply.type() == "application/xml"
    points = xml.fromstring(reply.body).findall("point")
    assert [p.find("wavelength").text for p in points] == ["0", "1", "2"]
    assert [p.find("reflectance").text for p in points] == ["%f" % (c / 255) for c in v[276, 266]]
    for where in ("2,5,88,0", "2,5,0,144", "2,0,-1,0", "2,0,256,0"):
        expect("FIF=%s&SPECTRA=%s" % (name, where), 400)
    expect("FIF=%s&SPECTRA=2,6,0,0" % name, 404)
    expect("FIF=%s&SPECTRA=x" % name, 400)


def test_spectrum_of_a_stack():
    """A point for each view."""
    name = fixture.mkpyramid("iip-stack.tif", "--size", "300x200", "--pages", "3", "--stack")
    got = [pixels("FIF=%s&SDS=%d&PTL=1,0" % (name, view))[20, 10, 0] for view in range(3)]
    points = xml.fromstring(expect("FIF=%s&SPECTRA=1,0,10,20" % name, 200).body).findall("point")
    assert [(p.find("wavelength").text, p.find("reflectance").text) for p in points] == [
        (str(view), "%f" % (v / 255)) for view, v in enumerate(got)]


# -- HTTP

def test_post():
    query = "FIF=%s&WID=100&CVT=jpeg" % ramp()
    got, posted = ask(query), site().get("/fcgi-bin/iipsrv.fcgi", method="POST", body=query.encode())
    assert posted.status == 200 and posted.body == got.body
    assert posted.header("Content-Disposition").startswith("attachment")
    assert got.header("Content-Disposition").startswith("inline")


def test_head_and_validators():
    for query in ("JTL=3,0", "WID=100&CVT=jpeg", FIVE, "TIL=1,0-3", "PFL=1:0,0-5,0", "SPECTRA=1,0,0,0", "CNT=eq&JTL=0,0"):
        reply = expect("FIF=%s&%s" % (ramp(), query), 200)
        head = ask("FIF=%s&%s" % (ramp(), query), method="HEAD")
        assert head.status == 200 and not head.body and head.header("Content-Length") == str(len(reply.body)), query
        again = ask("FIF=%s&%s" % (ramp(), query), headers={"If-None-Match": reply.header("ETag")})
        assert again.status == 304 and not again.body, query
        assert reply.header("Last-Modified") and "max-age" in reply.header("Cache-Control")


def test_tags_tell_all_modifiers_apart():
    queries = ["", "CNT=2", "CNT=2.1", "GAM=2", "GAM=log", "INV", "COL=gray", "COL=binary", "CNT=eq", "CNT=st", "CMP=HOT",
               "CMP=JET", "CTW=[1]", "CTW=[0,1]", "CTW=[1;1;1]", "CNV=sobel", "CNV=laplace", "SHD=1,2", "SHD=2,1",
               "MINMAX=0:1,2", "MINMAX=1:1,2", "MINMAX=-:1,2", "ROT=90", "ROT=!0", "QLT=10", "QLT=11", "LYR=1"]
    tags = [expect("FIF=%s&%s&JTL=1,0" % (ramp(), query), 200).header("ETag") for query in queries]
    assert len(set(tags)) == len(queries)
    assert (ask("FIF=%s&INV&CNT=2&JTL=1,0" % ramp()).header("ETag") ==
            ask("FIF=%s&WID=7&cnt=2.0&INV=1&JTL=1,0" % ramp()).header("ETag"))


def test_cross_origin():
    on = site(CORS="*")
    for query in ("JTL=0,0", "TIL=0,0", "PFL=0:0,0", FIVE, "JTL=99,0", "JTL=x", "FOO=1"):
        assert ask("FIF=%s&%s" % (ramp(), query), on).header("Access-Control-Allow-Origin") == "*", query


def test_mapped():
    tile = ask("FIF=%s&JTL=3,0" % ramp()).body
    for path in ("/iip/%s&JTL=3,0", "/iip/%s?JTL=3,0", "/iip?FIF=%s&JTL=3,0", "/iip/?fif=%s&JTL=3,0", "/any/where?FIF=%s&JTL=3,0",
                 "/?FIF=%s&JTL=3,0"):
        reply = site().get(path % ramp())
        assert reply.status == 200 and reply.body == tile, path
    assert site().get("/iip").status == 200 and site().get("/iip").type() == "text/html"
    assert site().get("/iip/nothing&JTL=0,0").status == 404


def test_modifiers_of_other_protocols():
    name = noisy()
    plain = site().get("/dz/%s_files/10/0_0.png" % name).pixels()
    got = ask("FIF=%s&INV&DeepZoom=%s_files/10/0_0.png" % (name, name)).pixels()
    assert fixture.largest_difference(got, 255 - plain) == 0
    assert ask("FIF=%s&CNT=1&DeepZoom=%s.dzi" % (name, name)).type() == "application/xml"
    got = ask("FIF=%s&INV&IIIF=%s/full/max/0/default.png" % (name, name)).pixels()
    assert fixture.largest_difference(got, 255 - noise(600, 400)) == 0
    info = ask("INV&IIIF=%s/info.json" % name)
    assert info.status == 200 and info.json()["id"].endswith("?INV&IIIF=" + name)


def test_names_of_files():
    import shutil
    fixture.once("iip +dir/a+b c%41&d.tif",
                 lambda path: shutil.copy(os.path.join(fixture.root(), ramp()), path))
    for name in ("iip%20%2Bdir/a%2Bb%20c%2541%26d.tif", "iip%20+dir/a+b%20c%2541%26d.tif", "iip%20+dir%2Fa+b%20c%2541%26d.tif"):
        assert text("FIF=%s&obj=Max-size" % name) == "Max-size:1501 1103\r\n", name
    fixture.once("iip blank.tif", lambda path: shutil.copy(os.path.join(fixture.root(), ramp()), path))
    assert text("FIF=iip+blank.tif&obj=Max-size") == "Max-size:1501 1103\r\n"


def test_files_out_of_reach():
    for name in ("..%2Fsecret", "%2e%2e/secret", "%252e%252e%252fsecret", "x.tif%00.jpg", "x.tif%0d%0aSet-Cookie:a=b", "a%%2Fb",
                 "%ff", "*", "ramp-[0-9]", "none.tif"):
        reply = ask("FIF=%s&JTL=0,0" % name)
        assert reply.status in (400, 404) and not reply.header("Set-Cookie"), name
        assert b"/tmp" not in reply.body and fixture.root().encode() not in reply.body


def test_what_is_no_image():
    for name, status in (("iip-text.tif", 415), ("iip-empty.tif", 415)):
        fixture.once(name, lambda path: open(path, "w").write("text" if "text" in name else ""))
        for query in ("JTL=0,0", "obj=Max-size", "WID=10&CVT=jpeg", "PFL=0:0,0", "TIL=0,0"):
            assert ask("FIF=%s&%s" % (name, query)).status == status, (name, query)


def test_explain():
    env = dict(SETTINGS, FILESYSTEM_PREFIX=os.path.join(fixture.root(), ""), PATH=os.environ["PATH"])
    name = fixture.ramp_jpeg_pyramid(1024, 768)
    for query, words in (("JTL=2,5", "way: stored tile"), ("CNT=2&JTL=2,5", "way: decode"), ("WID=100&CVT=png", "output: png"),
                         ("obj=Max-size", "facts"), ("JTL=9,9", "404"), ("JTL=x", "Error/7:2 1 JTL"),
                         ("INV&DeepZoom=%s_files/10/0_0.jpg" % name, "way: decode")):
        shown = subprocess.run([server.TEGULA, "--explain", "/x?FIF=%s&%s" % (name, query)], env=env, capture_output=True,
                               text=True).stdout
        assert words in shown, (query, shown)


# -- beside another server

def test_against_iipsrv():
    """The same requests to Debian's server, where it is installed."""
    wrong = iipsrv_compare.compare()
    assert not wrong, "; ".join(wrong)


# -- whatever is asked

def test_hostile_views():
    """Processing of files that end early or lie is an answer or an error, and the server lives."""
    path = os.path.join(fixture.root(), noisy())
    with open(path, "rb") as f:
        whole = f.read()
    rng = numpy.random.RandomState(4)
    for seed in range(12):
        name = "iip-broken-%d.tif" % seed
        data = bytearray(whole[:len(whole) * (seed % 4 + 1) // 4])
        for at in rng.randint(8, len(data), 20 * (seed > 3)):
            data[at] = rng.randint(256)
        fixture.once(name, lambda path: open(path, "wb").write(data))
        for query in ("CNT=eq&JTL=0,0", "COL=binary&WID=300&CVT=jpeg", "CNV=sobel&CNT=st&JTL=2,0", "TIL=2,0-5", "PFL=2:0,0-600,0",
                      "SPECTRA=2,0,0,0", FIVE):
            reply = ask("FIF=%s&%s" % (name, query))
            assert reply.status in (200, 404, 415, 500, 413), (query, reply.status)
            if reply.status == 200 and reply.type() == "image/jpeg":
                assert reply.body.endswith(b"\xff\xd9")
    assert ask("FIF=%s&JTL=0,0" % noisy()).status == 200


def open_files(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def test_descriptors_stay():
    on = site()
    many = "FIF=%s&" % ramp() * 50 + "JTL=0,0"
    for query in (many, "FIF=%s&CNT=1&DeepZoom=%s.dzi" % (ramp(), ramp())):
        expect(query, 200)
    before = sum(open_files(pid) for pid in on.worker_pids())
    for unused in range(20):
        expect(many, 200)
    assert sum(open_files(pid) for pid in on.worker_pids()) <= before + 1


def test_long_queries():
    assert ask("FIF=" + "a" * 9000 + "&JTL=0,0").status == 414
    assert ask("FIF=" + "a" * 7000 + "&JTL=0,0").status == 404
    body = ("FIF=%s&CTW=[%s]&JTL=0,0" % (ramp(), ",".join(["0"] * 20000))).encode()
    reply = site().get("/", method="POST", body=body)
    assert reply.status == 200
    assert site().get("/", method="POST", body=b"a" * 70000).status == 413
