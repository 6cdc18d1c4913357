"""XYZ tiles and TileJSON of plain images: every tile against the picture, cut and padded on its own."""
import math
import os
import subprocess

import numpy

import fixture
import server
from test_mosaic import smooth

SETTINGS = {"URI_MAP": "iiif=>IIIF, xyz=>XYZ"}
site = server.Sites(fixture.root(), **SETTINGS)
tearDownModule = site.stop


def status(path):
    return site().get(path).status


def inside(side, f):
    """How many pixels of a level are image: a tile that the image only grazes has one row of it all the same."""
    centres = math.ceil(side / f - .5)
    return centres + 1 if centres % 256 == 0 and side > centres * f else centres


def reference(picture, z, top):
    """The world square of a level, RGBA: the picture reduced with its edges drawn on, clear where the centre of a
    pixel is not on the picture."""
    f = 2 ** (top - z)
    h, w = picture.shape[:2]
    side = 256 * 2 ** z
    wide, high = -(-w // f), -(-h // f)
    drawn_on = numpy.pad(picture, ((0, high * f - h), (0, wide * f - w), (0, 0)), "edge")
    small = fixture.reduced(drawn_on, (wide, high)).reshape(high, wide, -1)
    rgb = numpy.broadcast_to(small, (high, wide, 3)) if small.shape[2] == 1 else small
    world = numpy.zeros((side, side, 4), numpy.uint8)
    in_w, in_h = inside(w, f), inside(h, f)
    world[:in_h, :in_w, :3] = rgb[:in_h, :in_w]
    world[:in_h, :in_w, 3] = 255
    return world


def rgba(pixels):
    """Of a tile of any kind."""
    pixels = pixels.reshape(pixels.shape[:2] + (-1,))
    if pixels.shape[2] in (1, 3):
        pixels = numpy.concatenate([pixels, numpy.full(pixels.shape[:2] + (1,), 255, numpy.uint8)], 2)
    return numpy.concatenate([pixels[..., :1]] * 3 + [pixels[..., 1:]], 2) if pixels.shape[2] == 2 else pixels


def check(name, picture, floor):
    h, w = picture.shape[:2]
    top = max(0, math.ceil(math.log2(max(w, h) / 256)))
    assert site().get("/xyz/%s/tilejson.json" % name).json()["maxzoom"] == top
    for z in range(top + 1):
        world = reference(picture, z, top)
        side = 256 * 2 ** (top - z)
        for y in range(-(-h // side)):
            for x in range(-(-w // side)):
                got = rgba(site().get("/xyz/%s/%d/%d/%d.png" % (name, z, x, y)).pixels())
                want = world[256 * y:256 * y + 256, 256 * x:256 * x + 256]
                where = "%s %d/%d/%d" % (name, z, x, y)
                assert got.shape == want.shape, where
                assert (got[..., 3] == want[..., 3]).all(), where
                assert not got[want[..., 3] == 0].any(), where
                shown = want[..., 3] == 255
                quality = fixture.psnr(got[shown], want[shown])
                assert quality >= floor, "%s: %.1f dB" % (where, quality)
        assert status("/xyz/%s/%d/%d/0.png" % (name, z, -(-w // side))) == 404
        assert status("/xyz/%s/%d/0/%d.png" % (name, z, -(-h // side))) == 404
    assert status("/xyz/%s/%d/0/0.png" % (name, top + 1)) == 404


def test_pyramid():
    picture = smooth(1537, 1025)
    check(fixture.pyramid("xyz-ceil.tif", picture, ceil=True), picture, 32)


def test_one_level():
    picture = smooth(1401, 777)
    check(fixture.pyramid("xyz-one.tif", picture, one_level=True), picture, 32)


def test_gray():
    picture = fixture.gray(700, 300)
    check(fixture.pyramid("xyz-gray.tif", picture), picture, 32)


def test_orientation():
    stored = smooth(700, 300)
    name = fixture.pyramid("xyz-side.tif", stored, one_level=True, tags={274: (3, [6])})
    check(name, numpy.rot90(stored, -1), 32)


def test_sixteen_bits():
    name = fixture.pyramid("xyz-16.tif", lambda: fixture.ramp(600, 300, 65535))
    got = site().get("/xyz/%s/2/1/1.png" % name)
    assert got.size() == (256, 256) and got.body[24:26] == b"\x10\x06"  # 16 bits, RGBA
    eight = rgba(got.pixels())
    assert (eight[:44, :, 3] == 255).all() and not eight[44:].any()


def test_turns_are_refused():
    name = fixture.ramp_pyramid(1037, 779)
    for turn in ("90", "!0"):
        for tile in ("0/0/0", "3/1/1"):
            assert status("/?ROT=%s&XYZ=%s/%s.png" % (turn, name, tile)) == 400, (turn, tile)


def test_alpha():
    picture = numpy.dstack([smooth(600, 300), numpy.full((300, 600), 255, numpy.uint8)])
    picture[:100, :, 3] = 0
    name = fixture.pyramid("xyz-alpha.tif", picture)
    got = site().get("/xyz/%s/2/1/1.png" % name).pixels()
    assert got.shape == (256, 256, 4) and (got[:44] == picture[256:300, 256:512]).all() and not got[44:].any()
    assert not site().get("/xyz/%s/2/1/0.png" % name).pixels()[:100, :, 3].any()
    assert site().get("/xyz/%s/tilejson.json" % name).json()["tiles"][0].endswith("{y}.webp")


def test_name_to_save_under():
    """Has the size of the tile, not of what the picture fills of it."""
    name = fixture.ramp_pyramid(1037, 779)
    for tile, side in (("0/0/0", 256), ("3/4/3@2x", 512)):
        saved_as = site().get("/xyz/%s/%s.png" % (name, tile)).header("Content-Disposition")
        assert saved_as == 'inline; filename="ramp-1037x779_%dx%d.png"' % (side, side), saved_as


def test_smaller_than_a_tile():
    picture = smooth(100, 37)
    check(fixture.pyramid("xyz-small.tif", picture), picture, 50)


def test_thin():
    name = fixture.pyramid("xyz-thin.tif", smooth(4096, 3))
    alpha = site().get("/xyz/%s/0/0/0.png" % name).pixels()[..., -1]
    assert (alpha[0] == 255).all() and not alpha[1:].any()


def test_jpeg_lies_on_the_background():
    name = fixture.pyramid("xyz-flat.tif", fixture.flat(100, 37, (200, 30, 40)))
    got = site(BACKGROUND="#0000ff").get("/xyz/%s/0/0/0.jpg" % name).pixels()
    assert got.shape == (256, 256, 3)
    assert fixture.largest_difference(got[:32, :96], fixture.flat(96, 32, (200, 30, 40))) <= 4
    assert fixture.largest_difference(got[48:, 112:], fixture.flat(144, 208, (0, 0, 255))) <= 4


def test_twice():
    picture = smooth(1024, 512)
    name = fixture.pyramid("xyz-twice.tif", picture)
    got = site().get("/xyz/%s/1/0/0@2x.png" % name).pixels()
    assert got.shape == (512, 512, 3) and (got == picture[:512, :512]).all()
    got = site().get("/xyz/%s/2/1/1@2x.png" % name).pixels()
    assert got.shape == (512, 512, 3)
    assert fixture.psnr(fixture.reduced(got, (256, 256)), picture[256:512, 256:512]) > 35


def test_formats_with_alpha():
    """Without loss each is the same as PNG; so is its clear rim."""
    name = fixture.pyramid("xyz-ceil.tif", smooth(1537, 1025), ceil=True)
    exact = site(WEBP_QUALITY=-1, AVIF_QUALITY=-1)
    formats = site().get("/iiif/3/%s/info.json" % name).json()["extraFormats"]
    for tile in ("0/0/0", "1/0/0", "3/1/1", "3/6/4"):
        want = rgba(site().get("/xyz/%s/%s.png" % (name, tile)).pixels())
        for form in ("webp", "avif"):
            reply = exact.get("/xyz/%s/%s.%s" % (name, tile, form))
            if form not in formats:
                assert reply.status == 400
                continue
            assert reply.status == 200 and reply.type() == "image/" + form
            got = rgba(reply.pixels())
            assert got.shape == want.shape and (got[..., 3] == want[..., 3]).all(), (tile, form)
            assert (got == want)[want[..., 3] == 255].all(), (tile, form)


def test_head_and_validators():
    name = fixture.ramp_pyramid(1037, 779)
    for path in ("/xyz/%s/3/1/1.png" % name, "/xyz/%s/3/1/1@2x.webp" % name, "/xyz/%s/tilejson.json" % name):
        full, head = site().get(path), site().get(path, method="HEAD")
        assert head.status == 200 and not head.body and head.header("ETag") == full.header("ETag")
        again = site().get(path, headers={"If-None-Match": full.header("ETag")})
        assert again.status == 304 and not again.body and again.header("ETag") == full.header("ETag")


def test_explain():
    name = fixture.ramp_jpeg_pyramid(1024, 768)
    env = dict(SETTINGS, FILESYSTEM_PREFIX=os.path.join(fixture.root(), ""), PATH=os.environ["PATH"])
    for path, words in (("2/1/1.jpg", "way: stored tile"), ("0/0/0.png", "256x256"), ("tilejson.json", "document")):
        text = subprocess.run([server.TEGULA, "--explain", "/xyz/%s/%s" % (name, path)], env=env, capture_output=True,
                              text=True).stdout
        assert words in text, text


def test_stored_tiles_go_out_as_they_are():
    name = fixture.ramp_jpeg_pyramid(1024, 768)
    for path, region in (("2/1/1", "256,256,256,256/max"), ("1/1/0", "512,0,512,512/256,256")):
        assert site().get("/xyz/%s/%s.jpg" % (name, path)).body == \
            site().get("/iiif/3/%s/%s/0/default.jpg" % (name, region)).body


def test_limits_do_not_break_tiles():
    name = fixture.pyramid("xyz-twice.tif", smooth(1024, 512))
    assert site(MAX_CVT=128).get("/xyz/%s/1/0/0@2x.png" % name).size() == (512, 512)


def test_tilejson():
    name = fixture.pyramid("xyz-ceil.tif", smooth(1537, 1025), ceil=True)
    reply = site(COPYRIGHT="<b>A & B</b>").get("/xyz/%s/tilejson.json" % name,
                                               {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "maps.example"})
    document = reply.json()
    assert reply.type() == "application/json" and document["tilejson"] == "3.0.0" and document["scheme"] == "xyz"
    assert document["tiles"] == ["https://maps.example/xyz/%s/{z}/{x}/{y}.jpg" % name]
    assert document["attribution"] == "&lt;b&gt;A &amp; B&lt;/b&gt;" and document["name"] == name
    assert (document["minzoom"], document["maxzoom"]) == (0, 3)
    west, south, east, north = document["bounds"]
    assert west == -180 and abs(north - 85.051129) < 1e-6 and abs(east - (1537 / 2048 * 360 - 180)) < 1e-6
    assert abs(south - math.degrees(2 * math.atan(math.exp(math.pi * (1 - 2 * 1025 / 2048))) - math.pi / 2)) < 1e-6


def test_addresses_in_tilejson():
    """Of tiles that are there, by the way the document was asked for."""
    name = fixture.ramp_pyramid(1037, 779)
    own = "http://maps.example"
    query = "/?CNT=2&XYZ=%s/tilejson.json" % name
    for path, how, want in (
            ("/xyz/%s/tilejson.json" % name, {}, own + "/xyz/%s/" % name),
            ("/xyz/%s/%%74ilejson.json?a=b" % name, {}, own + "/xyz/%s/" % name),
            ("/xyz/%s/tilejson.json" % name.replace("-", "%2D"), {}, own + "/xyz/%s/" % name.replace("-", "%2D")),
            (query, {}, own + "/?CNT=2&XYZ=%s/" % name),
            ("/", {"method": "POST", "body": query[2:].encode()}, own + "/?CNT=2&XYZ=%s/" % name)):
        document = site().get(path, {"Host": "maps.example"}, **how).json()
        assert document["tiles"] == [want + "{z}/{x}/{y}.jpg"], (path, document["tiles"])
        tile = want.replace(own, "") + "2/0/0.jpg"
        assert status(tile) == 200, tile
    based = site(BASE_URL="https://cdn.example/iiif").get("/xyz/%s/tilejson.json" % name).json()
    assert based["tiles"] == ["https://cdn.example/xyz/%s/{z}/{x}/{y}.jpg" % name]


def test_forms_and_validators():
    name = fixture.ramp_pyramid(1037, 779)
    tile = site().get("/xyz/%s/3/1/1.png" % name)
    assert site().get("/?XYZ=%s/3/1/1.png" % name).body == tile.body
    assert site().get("/?FIF=%s&CNT=2&XYZ=%s/3/1/1.png" % (name, name)).body != tile.body
    for path, code in (("3/1/1.gif", 400), ("3/1/1", 404), ("3/1/-1.png", 404), ("3/1/1@3x.png", 404), ("x/1/1.png", 404),
                       ("99999999999/0/0.png", 404), ("3/99999999999999999/0.png", 404), ("", 404)):
        assert status("/xyz/%s/%s" % (name, path)) == code, path
    tags = set()
    for path in ("tilejson.json", "2/0/0.png", "2/0/0@2x.png", "2/1/0.png"):
        reply = site().get("/xyz/%s/%s" % (name, path))
        tags.add(reply.header("ETag"))
        assert site().get("/xyz/%s/%s" % (name, path), {"If-None-Match": reply.header("ETag")}).status == 304
        head = site().get("/xyz/%s/%s" % (name, path), method="HEAD")
        assert head.status == 200 and not head.body
    assert len(tags) == 4 and None not in tags
