"""Faults that users of image servers reported in public: those that IIP's commands show.

As in test_field_cases, which has those of other protocols. Turned tiles, sizes and texts are in test_iip.
"""
import os

import numpy

import fixture
import kinds
import test_field_cases_formats
from test_iip import ask, assemble, expect, noise, open_files, pixels, profile, ramp, site, sizes, smooth, text


def test_01_regions_outside():
    """Crash; one flat colour."""
    name = fixture.ramp_pyramid(8742, 11656)
    expect("FIF=%s&RGN=10000,2000,200,400&CVT=jpeg" % name, 400)
    expect("FIF=%s&RGN=2,3,.5,.5&WID=50&CVT=jpeg" % name, 400)
    got = pixels("FIF=%s&RGN=.9,.9,.5,.5&WID=50&CVT=jpeg" % name)
    assert got.shape == (67, 50, 3)
    assert abs(got[:, 0, 0].mean() - .9 * 255) < 4 and got[0, :, 1].mean() > 225 and got[-1, :, 1].mean() > 250


def test_18_missing_files():
    """The body showed the absolute path; the suffix was ignored."""
    for query in ("FIF=missing.tif&JTL=0,0", "FIF=missing.tif&obj=Max-size", "DeepZoom=missing.dzi", "Zoomify=missing/ImageProperties.xml",
                  "IIIF=missing/info.json"):
        reply = expect(query, 404)
        assert fixture.root().encode() not in reply.body, query
    name = ramp()
    assert text("FIF=%s&obj=Max-size" % name[:-4], site(FILESYSTEM_SUFFIX=".tif")) == "Max-size:1501 1103\r\n"
    expect("FIF=%s&obj=Max-size" % name, 404, site(FILESYSTEM_SUFFIX=".tif"))


def test_27_pipes_and_folders():
    """A FIFO blocked the server."""
    path = os.path.join(fixture.root(), "iip-pipe.tif")
    if not os.path.exists(path):
        os.mkfifo(path)
    os.makedirs(os.path.join(fixture.root(), "iip-folder"), exist_ok=True)
    for name in ("iip-pipe.tif", "iip-folder", "iip-folder/"):
        expect("FIF=%s&JTL=0,0" % name, 404)


def test_32_nothing_behind_the_picture():
    """Error text behind the JPEG's end, and cached."""
    for query in ("FOO=1&FIF=%s&WID=200&CVT=jpeg", "FIF=%s&WID=200&CVT=jpeg&t=123", "FIF=%s&WID=200&CVT=jpeg&CVT=foo&WID=-1"):
        body = expect(query % ramp(), 200).body
        assert body.startswith(b"\xff\xd8") and body.endswith(b"\xff\xd9")
    expect("FOO=1", 400)


def test_36_palette_is_colour():
    index = (numpy.indices((300, 400)).sum(0) % 256).astype(numpy.uint8)[:, :, None]
    colours = numpy.random.RandomState(2).randint(0, 65536, 768)
    name = fixture.pyramid("iip-palette.tif", index, one_level=True, photometric=fixture.PALETTE,
                           tags={320: (3, [int(c) for c in colours])})
    assert text("FIF=%s&obj=Colorspace" % name).endswith(":0 0 3 3 0 1 2\r\n")
    top = len(sizes(name)) - 1
    want = colours.reshape(3, 256).T[index[:, :, 0]] / 257.
    assert numpy.abs(assemble(name, top) - want).max() <= 1


def test_38_floating_samples():
    """All white."""
    plain = test_field_cases_formats.float_ramp("float.tif")
    twin = test_field_cases_formats.float_ramp("float-max.tif", {341: (11, [1000.])})
    assert text("FIF=%s&obj=Min-Max-sample-values" % plain) == "Min-Max-sample-values: 0  255\r\n"
    assert text("FIF=%s&obj=Min-Max-sample-values" % twin).endswith("  1000\r\n")
    got = pixels("FIF=%s&MINMAX=0:0,128&CVT=png" % plain).astype(int)
    assert got[0, 0, 0] == 0 and abs(int(got[0, 100, 0]) - 127) <= 2 and (got[:, 202:] == 255).all()
    line = profile("FIF=%s&PFL=%d:0,0-400,0" % (plain, len(sizes(plain)) - 1))
    assert numpy.abs(numpy.array(line) - numpy.linspace(0, 255, 400)).max() < .01


def test_40_gray_and_binary_of_stored_tiles():
    """Raw bytes, an invalid file."""
    name = fixture.ramp_jpeg_pyramid(1024, 768)
    got = pixels("FIF=%s&COL=binary&PTL=2,0" % name)
    assert got.shape == (256, 256, 1) and set(numpy.unique(got)) <= {0, 1, 255}
    assert pixels("FIF=%s&COL=grey&JTL=2,0" % name).shape == (256, 256, 1)
    assert pixels("FIF=%s&COL=binary&JTL=2,0" % name).shape == (256, 256, 1)


def test_48_one_level():
    """Crash; or just the first tile."""
    name = fixture.mkpyramid("iip-5000.tif", "--size", "5000x4000", "--compression", "jpeg", "--levels", "none")
    assert [w for w, h in sizes(name)] == [157, 313, 625, 1250, 2500, 5000]
    for query, size in (("CVT=jpeg", (5000, 4000)), ("WID=500&CVT=jpeg", (500, 400)), ("JTL=0,0", (157, 125)), ("JTL=3,9", (226, 256))):
        assert ask("FIF=%s&%s" % (name, query)).size() == size, query
    got = pixels("FIF=%s&JTL=0,0" % name).astype(int)
    assert got[:, 0, 0].max() < 8 and got[:, -1, 0].min() > 247 and got[-1, :, 1].min() > 247


def test_50_slide():
    """A thumbnail or label was taken for a level."""
    name = fixture.mkpyramid("iip-slide.tif", "--size", "4000x3000", "--slide", "--max-levels", "3")
    assert text("FIF=%s&obj=Resolutions" % name) == "Resolutions:1000 750,2000 1500,4000 3000\r\n"


def jp2(name, w, h, resolutions, picture=None):
    return kinds.by_pillow(name, fixture.ramp(w, h) if picture is None else picture, "JPEG2000", irreversible=False,
                           num_resolutions=resolutions)


def test_51_few_resolutions():
    """Crash below the smallest stored level."""
    name = jp2("iip-2000.jp2", 2000, 1500, 3)
    assert ask("FIF=%s&HEI=128&CVT=jpeg" % name).size() == (171, 128)
    assert sizes(name) == [(250, 188), (500, 375), (1000, 750), (2000, 1500)]
    lowest = pixels("FIF=%s&PTL=0,0" % name)
    assert fixture.psnr(lowest[:, :, :2], fixture.reduced(fixture.ramp(2000, 1500), (250, 188))[:, :, :2]) > 36


def test_resolutions_of_jp2_end_with_one_tile():
    """Whatever the codestream has: pages name a tile by the number of its resolution."""
    for w, h, resolutions, want in ((200, 100, 6, [(200, 100)]), (257, 100, 6, [(129, 50), (257, 100)]),
                                    (1200, 900, 1, [(150, 113), (300, 225), (600, 450), (1200, 900)])):
        name = jp2("iip-%d-by-%d.jp2" % (w, h), w, h, resolutions)
        assert sizes(name) == want, name
        picture = fixture.ramp(w, h)
        assert fixture.largest_difference(assemble(name, len(want) - 1), picture) == 0
        for r, size in enumerate(want):
            assert fixture.psnr(assemble(name, r)[:, :, :2], fixture.reduced(picture, size)[:, :, :2]) > 34, (name, r)


def test_52_odd_levels_of_jp2():
    """A column of one pixel was invalid, later tiles shifted."""
    name = jp2("iip-2050.jp2", 2050, 1030, 6)
    assert text("FIF=%s&obj=Tile-size" % name) == "Tile-size:256 256\r\n"
    all_sizes = sizes(name)
    assert all_sizes[-2:] == [(1025, 515), (2050, 1030)]
    assert fixture.largest_difference(assemble(name, len(all_sizes) - 1), fixture.ramp(2050, 1030)) == 0
    half = assemble(name, len(all_sizes) - 2)
    assert half.shape[:2] == (515, 1025)
    assert fixture.psnr(half[:, :, :2], fixture.reduced(fixture.ramp(2050, 1030), (1025, 515))[:, :, :2]) > 40


def test_layers_of_jp2():
    name = kinds.by_pillow("iip-layers.jp2", smooth(600, 400), "JPEG2000", irreversible=True, quality_mode="dB",
                           quality_layers=[25, 35, 50], num_resolutions=4)
    quality = [fixture.psnr(pixels("FIF=%s&LYR=%d&CVT=png" % (name, n)), smooth(600, 400)) for n in (1, 2, 3, 99)]
    assert quality[0] < quality[1] < quality[2] == quality[3], quality
    again = fixture.psnr(pixels("FIF=%s&LYR=1&CVT=png" % name), smooth(600, 400))
    assert again == quality[0]
    expect("FIF=%s&LYR=2&JTL=0,0" % ramp(), 200)


def test_58_nonsense_numbers():
    """SIGSEGV, endless loop."""
    for query, status in (("WID=652455&CVT=jpeg", 200), ("SPECTRA=x", 400), ("JTL=129500,1", 404), ("JTL=0,-1", 404),
                          ("WID=0&HEI=0&CVT=jpeg", 200)):
        expect("FIF=%s&%s" % (ramp(), query), status)


def test_59_commands_that_crashed():
    for query in ("MINMAX=0:1,2", "PFL=0:0,0-1,1", "OBJ=metadata"):
        expect(query, 400)
    gray = fixture.pyramid("iip-gray.tif", fixture.gray(600, 400))
    for query, status in (("CTW=[]&JTL=0,0", 400), ("TIL=500000000,0", 404), ("PFL=2:600,0-601,0", 400), ("SHD=1,2&JTL=0,0", 400),
                          ("Zoomify=%s/TileGroup0/99999999-0-0.jpg" % gray, 404)):
        expect("FIF=%s&%s" % (gray, query), status)


def test_60_turns():
    """Uninitialised memory; nonsense was accepted."""
    name = fixture.corners_pyramid(600, 400)
    turned = pixels("FIF=%s&ROT=-90&WID=300&CVT=png" % name)
    assert fixture.largest_difference(turned, pixels("FIF=%s&ROT=270&WID=300&CVT=png" % name)) == 0
    for angle in ("45", "abc", "361", "90abc", "1e9"):
        expect("FIF=%s&ROT=%s&WID=300&CVT=png" % (name, angle), 400)


def test_61_histograms_of_jpeg():
    """Decoder state was used twice."""
    name = kinds.by_pillow("iip-3000.jpg", fixture.ramp(3000, 2000), "JPEG", quality=90)
    for query in ("CNT=eq&WID=300&CVT=jpeg", "COL=binary&WID=300&CVT=png", "JTL=0,0&JTL=1,0", "TIL=2,0-3", "CNT=eq&RGN=.1,.1,.3,.3&CVT=jpeg",
                  "CNT=st&JTL=4,20", "CNV=sobel&CNT=eq&JTL=2,1"):
        expect("FIF=%s&%s" % (name, query), 200)
    assert sizes(name) == [(188, 125), (375, 250), (750, 500), (1500, 1000), (3000, 2000)]


def test_62_descriptors():
    """One leaked per FIF."""
    on = site()
    for unused in range(3):
        expect("FIF=%s&" % ramp() * 50 + "JTL=0,0", 200)
    before = sum(open_files(pid) for pid in on.worker_pids())
    for unused in range(30):
        expect("FIF=%s&" % ramp() * 50 + "CNT=1&DeepZoom=%s.dzi" % ramp(), 200)
    assert sum(open_files(pid) for pid in on.worker_pids()) <= before + 1


def test_65_lengths_and_patterns():
    """Giant allocation; crash; a pattern was expanded."""
    on = site()
    long = on.get("/", method="POST", body=b"0123456789", params={"CONTENT_LENGTH": "4000000000", "QUERY_STRING": ""})
    assert long.status == 413
    short = on.get("/", method="POST", body=b"0123456789", params={"CONTENT_LENGTH": "20", "QUERY_STRING": ""})
    assert short.status == 400
    expect("FIF=*&JTL=0,0", 404)
    expect("FIF=ramp-[0-9]*&JTL=0,0", 404)


def test_66_replaced_files():
    """Stale text and old tiles."""
    path = os.path.join(fixture.root(), "iip-replaced.tif")
    fixture.pyramid("iip-replaced.tif", noise(600, 400, 3, 1))
    queries = ("obj=Max-size", "PTL=0,0", "CNT=eq&WID=50&CVT=png", "PFL=0:0,0-5,0")
    before = [expect("FIF=iip-replaced.tif&" + query, 200) for query in queries]
    os.remove(path)
    for query in queries:
        expect("FIF=iip-replaced.tif&" + query, 404)
    fixture.pyramid("iip-replaced.tif", noise(500, 300, 3, 2))
    for query, old in zip(queries, before):
        new = ask("FIF=iip-replaced.tif&" + query, headers={"If-None-Match": old.header("ETag")})
        assert new.status == 200 and new.body != old.body, query
    os.remove(path)
