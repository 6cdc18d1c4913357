"""Faults that users of image servers reported in public, one test each, named by what went wrong.

The numbers are only for order; each docstring says what was seen in the field.
"""
import io
import os
import socket
import struct
import time
import unittest

import numpy
from PIL import Image

import fixture
import server
from iiif import BOTH, V2, V3, close, expect, expect_size, get, get_tile, info, mosaic, site, tiles



def linked(name, to):
    """A second name for a file."""
    return fixture.once(name, lambda p: os.link(os.path.join(fixture.root(), to), p))


def small():
    return fixture.ramp_pyramid(300, 200)


# -- A. geometry and size

def test_02_one_row_less_is_not_another_scale():
    """The tile of the shorter image was drawn at another scale."""
    a = get(V2, fixture.ramp_pyramid(4096, 6143), "0,4096,2048,2047", "256,").pixels()
    b = get(V2, fixture.ramp_pyramid(4096, 6144), "0,4096,2048,2048", "256,").pixels()
    assert a.shape == b.shape == (256, 256, 3)
    assert fixture.psnr(a, b) >= 35, fixture.psnr(a, b)


def test_03_last_row_of_a_bottom_tile():
    """256x182 with a garbage last row."""
    got = get(V2, fixture.ramp_pyramid(12288, 5550), "10240,4096,2048,1454", "256,").pixels()
    assert got.shape == (182, 256, 3)
    green = got[:, :, 1].astype(float).mean(1)
    for row in (0, 90, 180, 181):
        close(green[row], (4096 + (row + .5) * 1454 / 182 - .5) * 255 / 5549, 1.5)


def test_04_edge_tile_is_of_one_quality_with_its_neighbour():
    """Edge tiles took the slow path: other quality, other metadata than their neighbours."""
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"></x:xmpmeta>'
    name = fixture.pyramid("ramp-2023x1600-jpeg-xmp.tif", lambda: fixture.ramp(2023, 1600), compression=fixture.JPEG,
                           ceil=True, tags={700: (1, xmp)})
    edge = get(V2, name, "1536,0,487,512", "243,", form="jpg")
    neighbour = get(V2, name, "1024,0,512,512", "256,", form="jpg")
    assert edge.size()[0] == 243 and edge.size()[1] in (255, 256), edge.size()
    expect_size(neighbour, 256, 256)
    exact = get(V3, name, "1536,0,487,512", "244,256", form="jpg")  # the stored tile's visible part
    expect_size(exact, 244, 256)
    assert exact.image().quantization == neighbour.image().quantization != edge.image().quantization
    expect_size(get(V3, name, "1536,0,487,512", "243,256", form="jpg"), 243, 256)
    a, b = edge.image(), neighbour.image()
    assert sorted(k for k in a.info if k in ("exif", "icc_profile")) == sorted(
        k for k in b.info if k in ("exif", "icc_profile"))
    stored = get(V2, name, "1536,0,487,512", "243,").pixels()
    again = io.BytesIO()  # what an independent coder loses at the same quality
    Image.fromarray(stored).save(again, "jpeg", quality=75)
    assert fixture.psnr(stored, a) > fixture.psnr(stored, Image.open(again)) - 0.5


def test_05_region_beyond_the_edge_is_cropped_not_scaled():
    """The request reaching beyond the edge came out blurred."""
    name = fixture.ramp_pyramid(2932, 4096)
    a, b = get(V3, name, "2048,3072,884,1024"), get(V3, name, "2048,3072,3536,4096")
    expect_size(a, 884, 1024)
    assert a.body == b.body


def test_06_computed_side_is_rounded():
    """full/100, came out as 99x73; full/375, as 374 wide."""
    name = fixture.ramp_pyramid(1501, 1103)
    for version in BOTH:
        expect_size(get(version, name, size="100,"), 100, 73)
        expect_size(get(version, name, size="375,"), 375, 276)
        expect_size(get(version, name, size=",100"), 136, 100)


def test_07_negative_origin():
    """The origin moved to 0 and the size stayed."""
    for version in BOTH:
        expect(get(version, fixture.ramp_pyramid(1000, 1000), "-10,0,20,20"), 400)


def test_08_max_neither_enlarges_nor_refuses():
    """Small images were enlarged by max, large ones refused, and maxWidth was 4294967295."""
    large = fixture.ramp_pyramid(9000, 6000)
    for name, plain in ((small(), (300, 200)), (large, (5000, 3333))):
        expect_size(get(V3, name, form="jpg"), *plain)
        expect_size(get(V3, name, size="^max", form="jpg"), 5000, 3333)
        assert info(V3, name)["maxWidth"] == 5000
    free = site(MAX_CVT=-1)
    expect_size(get(V3, small(), on=free), 300, 200)
    document = info(V3, small(), on=free)
    assert document.get("maxWidth", 0) < 2 ** 31 and "maxWidth" in document or "maxArea" in document, document
    assert 0 < document.get("maxArea", 1) < 2 ** 53
    expect_size(get(V3, large, form="jpg", on=free), 9000, 6000)


def test_10_a_limit_does_not_shorten_the_scale_factors():
    """Factors were cut by the limit, or tiles refused: viewers stalled."""
    name = fixture.ramp_pyramid(9000, 6000)
    low = site(MAX_CVT=512)
    for version in BOTH:
        document = info(version, name, on=low)
        assert document["tiles"][0]["scaleFactors"] == [1, 2, 4, 8, 16, 32, 64], document["tiles"]
        assert document["sizes"] and all(max(s["width"], s["height"]) <= 512 for s in document["sizes"])
        # Every tile of the small levels, the outer and some inner ones of the large.
        for n, (_, region, size) in enumerate(tiles(document)):
            edge = region[0] + region[2] == 9000 or region[1] + region[3] == 6000
            if edge or n % 17 == 0 or region[2] > 4096:
                expect_size(get_tile(version, name, region, size, "jpg", low), *size)


def test_11_every_size_of_a_small_image():
    """Now and then 400 or 500: bad extract area, or needs upscaling."""
    name = fixture.pyramid("ramp-101x67-t64.tif", lambda: fixture.ramp(101, 67), tile=(64, 64))
    for version in BOTH:
        for w in range(1, 102):
            reply = expect(get(version, name, size="%d," % w), 200, w)
            assert reply.size()[0] == w and reply.size()[1] >= 1, (w, reply.size())
        for h in range(1, 68):
            reply = expect(get(version, name, size=",%d" % h), 200, h)
            assert reply.size()[1] == h and reply.size()[0] >= 1, (h, reply.size())
        for n in range(1, 101):
            assert min(expect(get(version, name, size="pct:%d" % n), 200, n).size()) >= 1


def test_12_last_column():
    """Off by one at the right edge; a size of 0 became 500."""
    name = fixture.ramp_pyramid(1025, 700)
    for version in BOTH:
        expect(get(version, name, "1025,0,10,10"), 400)
        expect_size(get(version, name, "1024,0,10,10"), 1, 10)
    expect_size(get(V2, name, "0,0,1025,1", "129,"), 129, 1)


def test_13_quarter_turns_swap_the_canvas():
    """90 and 270 degrees were cropped to the old canvas."""
    name = fixture.corners_pyramid(600, 400)
    for version in BOTH:
        for rotation, size in (("90", (200, 300)), ("180", (300, 200)), ("270", (200, 300)), ("!0", (300, 200)),
                               ("!90", (200, 300)), ("!270", (200, 300))):
            expect_size(get(version, name, size="300,", rotation=rotation), *size, what=rotation)


def test_14_enlarged_neighbours_meet():
    """A black bar at the right, halves that do not meet, a single pixel taken for a tile."""
    name = fixture.ramp_pyramid(1300, 900)
    left = get(V3, name, "0,0,300,300", "^600,600").pixels()
    right = get(V3, name, "300,0,300,300", "^600,600").pixels()
    both = get(V3, name, "0,0,600,300", "^1200,600").pixels()
    pair = numpy.concatenate((left, right), 1)
    assert fixture.largest_difference(pair[:, :596], both[:, :596]) <= 4
    assert fixture.largest_difference(pair[:, 604:], both[:, 604:]) <= 4
    pixel = get(V3, name, "100,100,1,1", "^256,256").pixels()
    assert (pixel == fixture.ramp(1300, 900)[100, 100]).all()


# -- B. identifiers, URLs, info.json

def test_15_plus_percent_ampersand_in_a_name():
    """404, or an id that did not lead back."""
    linked("a+b c%41&d.tif", small())
    for identifier in ("a%2Bb%20c%2541%26d.tif", "a+b%20c%2541%26d.tif"):
        for version, key in ((V2, "@id"), (V3, "id")):
            base = info(version, identifier)[key]
            assert base == site().base + version + identifier
            expect(site().get(base + "/full/50,/0/default.png"), 200)


def test_16_base_uri_of_nested_files():
    """400, 404, or a redirect without scheme and CORS."""
    linked("sub/x.tif", small())
    for identifier in ("sub%2Fx.tif", "sub/x.tif"):
        for version in BOTH:
            reply = expect(site().get(version + identifier), 303)
            assert reply.header("Location") == site().base + version + identifier + "/info.json"
            assert reply.header("Access-Control-Allow-Origin") == "*"
            expect(site().get(version + "sub/none"), 404)


def test_17_id_is_not_cut_at_blank_or_slash():
    """The id ended at the blank or the slash; Universal Viewer takes the text after the last one."""
    linked("dir one/im age.tif", small())
    identifier = "dir%20one%2Fim%20age.tif"
    for version, key in ((V2, "@id"), (V3, "id")):
        assert info(version, identifier)[key].rsplit("/", 1)[1] == identifier


def test_18_missing_files_and_suffix():
    """The body showed the absolute path; FILESYSTEM_SUFFIX was not used."""
    for version in BOTH:
        for rest in ("/info.json", "/full/max/0/default.jpg", ""):
            reply = expect(site().get(version + "missing.tif" + rest), 404)
            assert b"/" not in reply.body.replace(b"and/or", b""), reply.body
    with_suffix = site(FILESYSTEM_SUFFIX=".tif")
    name = small()[:-len(".tif")]
    for version, key in ((V2, "@id"), (V3, "id")):
        assert info(version, name, on=with_suffix)[key] == with_suffix.base + version + name


def test_19_scheme_host_and_base():
    """https claimed on http or the reverse, port lost, prefix doubled, internal host leaked."""
    if site().front == "direct":
        for https, scheme in ((None, "http"), ("", "http"), ("off", "http"), ("on", "https")):
            params = {} if https is None else {"HTTPS": https}
            reply = site().get(V3 + small() + "/info.json", params=params, headers={"Host": "h.example:8080"})
            assert reply.json()["id"] == scheme + "://h.example:8080" + V3 + small(), (https, reply.json()["id"])
            reply = site().get(V3 + small(), params=params, headers={"Host": "h.example:8080"})
            assert reply.header("Location") == scheme + "://h.example:8080" + V3 + small() + "/info.json"
        for port, shown in (("443", ""), ("80", ":80")):
            reply = site().get(V3 + small() + "/info.json", params={"HTTPS": "on"}, headers={"Host": "h.example:" + port})
            assert reply.json()["id"] == "https://h.example" + shown + V3 + small(), reply.json()["id"]
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "img.example.org", "X-Forwarded-Port": "8443"}
    reply = site().get(V3 + small() + "/info.json", headers=headers)
    assert reply.json()["id"] == "https://img.example.org:8443" + V3 + small()
    reply = site().get(V3 + small(), headers=headers)
    assert reply.header("Location") == "https://img.example.org:8443" + V3 + small() + "/info.json"
    for base in ("https://cdn.example.org/iiif", "https://cdn.example.org/iiif/"):
        on = site(BASE_URL=base)
        assert info("/iiif/", small(), on=on)["id"] == "https://cdn.example.org/iiif/" + small()
        headers["X-IIIF-ID"] = "https://other.example/i/" + small()
        assert on.get(V3 + small() + "/info.json", headers=headers).json()["id"] == headers["X-IIIF-ID"]


def test_20_prefixes_are_whole_segments():
    """/iiifx/ was served as well; a map with a leading slash never matched."""
    if site().front != "direct":
        raise unittest.SkipTest("the web server maps prefixes of its own")
    for map_ in ("iiif=>IIIF", "/iiif=>IIIF", "/iiif/=>iiif", "x=>Zoomify, iiif=>IIIF"):
        on = site(URI_MAP=map_)
        expect(on.get("/iiif/" + small() + "/info.json"), 200, map_)
        expect(on.get("/iiifx/" + small() + "/info.json"), (400, 404), map_)
    expect(site(URI_MAP="=>IIIF").get("/" + small() + "/info.json"), 200)
    expect(site(URI_MAP=None, IIIF_PREFIX="/img").get("/img/" + small() + "/info.json"), 200)


def test_21_pages_of_a_stack():
    """Always page 0; names that hold the delimiter could not be reached."""
    def make(path):
        with fixture.Tiff(path) as tiff:
            for colour in ((255, 0, 0), (0, 255, 0), (0, 0, 255)):
                pixels = fixture.flat(600, 400, colour)
                tiff.page(pixels, subfile=2, subs=fixture.levels_of(pixels, (256, 256)))

    fixture.once("stack.tif", make)
    linked("a;;1.tif", small())
    on = site(IIIF_DELIMITER=";;")
    for version in BOTH:
        for page, colour in ((0, (255, 0, 0)), (1, (0, 255, 0)), (2, (0, 0, 255))):
            got = get(version, "stack.tif;;%d" % page, size="50,", on=on).pixels()
            assert (got == colour).all(), (page, got[0, 0])
        assert (get(version, "stack.tif", size="50,", on=on).pixels() == (255, 0, 0)).all()
        expect(on.get(version + "stack.tif;;9/info.json"), 404)
        assert info(version, "a;;1.tif", on=on)["width"] == 300
        assert info(version, "a%3B%3B1.tif", on=on)["width"] == 300


def test_22_what_is_advertised_works():
    """A format was named that answered 400; png was missing; the profile URI had no .json."""
    grey = fixture.pyramid("grey-600x400.tif", lambda: fixture.gray(600, 400))
    for name in (small(), grey):
        three, two = info(V3, name), info(V2, name)
        extra = two["profile"][1]
        assert two["profile"][0].endswith("/level2.json")
        assert three["extraFormats"] == sorted(three["extraFormats"])
        assert "png" in extra["formats"] or "png" not in three["extraFormats"]
        for version, forms, qualities in (
                (V3, ["jpg", "png"] + three["extraFormats"], ["default"] + three["extraQualities"]),
                (V2, extra["formats"], extra["qualities"])):
            for form in forms:
                for quality in qualities:
                    reply = expect(get(version, name, size="60,", quality=quality, form=form), 200, form)
                    assert form == "pdf" or reply.image().size == (60, 40), form
        features = {"regionSquare": "square/60,/0", "mirroring": "full/60,/!0", "rotationArbitrary": "full/60,/33",
                    "sizeUpscaling": "full/^400,/0", "sizeAboveFull": "full/400,/0"}
        for version, offered in ((V3, three["extraFeatures"]), (V2, extra["supports"])):
            for feature in set(features) & set(offered):
                expect(site().get(version + name + "/" + features[feature] + "/default.png"), 200, feature)
    assert "color" not in info(V3, grey)["extraQualities"]


def test_23_tiles_and_sizes_are_the_files_own():
    """Factors 1,2,3,4; a factor beyond one tile; the sizes of another pyramid; a wrong tile size."""
    for edge, factors in ((256, [1, 2, 4, 8, 16, 32]), (512, [1, 2, 4, 8, 16])):
        name = fixture.pyramid("ramp-5000x3000-t%d.tif" % edge, lambda: fixture.ramp(5000, 3000), tile=(edge, edge))
        for version in BOTH:
            document = info(version, name)
            tile, = document["tiles"]
            assert (tile["width"], tile.get("height", edge)) == (edge, edge)
            assert tile["scaleFactors"] == factors, tile
            assert [(s["width"], s["height"]) for s in document["sizes"]] == [
                (-(-5000 // f), -(-3000 // f)) for f in reversed(factors[1:])], document["sizes"]


def test_24_extra_members_keep_info_json_valid():
    """IIIF_EXTRA_INFO broke info.json for every image."""
    service = '"service": {"@context": "http://example.org/c.json", "@id": "http://example.org/s"}, "see": [1, {"a": "ü"}]'
    for version in BOTH:
        document = info(version, small(), on=site(IIIF_EXTRA_INFO=service))
        services = document["service"] if isinstance(document["service"], list) else [document["service"]]
        assert "http://example.org/s" in [one.get("@id") for one in services], services
        assert document["see"] == [1, {"a": "ü"}]
        assert version == V2 or isinstance(document["service"], list)
        plain = info(version, small())
        for broken in ('"a":', '"a": 1,', '"width": 1', '"a": [1', "a: 1"):
            document = info(version, small(), on=site(IIIF_EXTRA_INFO=broken))
            assert sorted(document) == sorted(plain), broken


def test_25_nothing_outside_the_folder():
    """A secret file was served, or a header injected."""
    folder = os.path.join(fixture.root(), "within")
    os.makedirs(folder, exist_ok=True)
    linked("within/x.tif", small())
    with server.Site(images=folder, CORS="*") as on:
        for identifier in ("..%2F" + small(), "%2e%2e/" + small(), "%252e%252e%252f" + small(), "x.tif%00.jpg",
                           "x.tif%0d%0aSet-Cookie:a=b", "a%%2Fb", "%ff", "..", "..%2fwithin%2fx.tif"):
            for rest in ("/info.json", "/full/max/0/default.jpg", ""):
                reply = expect(on.get(V3 + identifier + rest), (400, 403, 404), identifier)
                assert not reply.all("Set-Cookie")
                assert b"\r\n" not in reply.body.rstrip() or reply.type() == "text/html"
        expect(on.get(V3 + "x.tif/info.json"), 200)


def test_25_symbolic_links():
    """Archives are full of links, so they are followed; FOLLOW_SYMLINKS=0 confines every open."""
    folder = os.path.join(fixture.root(), "linked")
    os.makedirs(folder, exist_ok=True)
    for name, target in (("out.tif", os.path.join(fixture.root(), small())), ("in.tif", "real.tif")):
        if not os.path.islink(os.path.join(folder, name)):
            os.symlink(target, os.path.join(folder, name))
    linked("linked/real.tif", small())
    with server.Site(images=folder) as on:
        for name in ("out.tif", "in.tif", "real.tif"):
            expect(on.get(V3 + name + "/info.json"), 200, name)
    with server.Site(images=folder, FOLLOW_SYMLINKS=0) as on:
        expect(on.get(V3 + "real.tif/info.json"), 200)
        expect(on.get(V3 + "out.tif/info.json"), (403, 404))


# -- C. HTTP and CORS

def test_27_files_that_are_no_images():
    """200 and the home page; a FIFO blocked the server."""
    def text(path):
        with open(path, "w") as f:
            f.write("not an image, whatever the name says\n" * 50)

    fixture.once("text.tif", text)
    fixture.once("empty.tif", lambda p: open(p, "w").close())
    fixture.once("folder.tif/x.txt", text)
    fixture.once("fifo.tif", os.mkfifo)
    for version in BOTH:
        for rest in ("/info.json", "/full/max/0/default.jpg"):
            for name, status in (("text.tif", 415), ("empty.tif", 415), ("folder.tif", 404), ("fifo.tif", 404)):
                begin = time.monotonic()
                reply = expect(site().get(version + name + rest), status, name)
                assert time.monotonic() - begin < server.patience(), name
                assert b"/" not in reply.body, reply.body


def test_28_http_on_the_fastcgi_port():
    """Hung, or ate a worker."""
    if site().front != "direct":
        raise unittest.SkipTest("the FastCGI port is behind a web server")
    for _ in range(20):
        with socket.create_connection(site().address, 5) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            s.settimeout(1)
            try:
                while s.recv(4096):
                    pass
            except ConnectionResetError:
                pass
    expect(site().get(V3 + small() + "/info.json"), 200)


def test_29_errors_are_not_cached():
    """Errors could be cached for a year."""
    for path in (V3 + "missing.tif/info.json", V3 + small() + "/full/0,/0/default.png", V2 + "text.tif/info.json"):
        reply = site().get(path)
        assert reply.status >= 400 and "no-store" in reply.header("Cache-Control")
        assert not reply.all("ETag") and not reply.all("Last-Modified") and not reply.all("Expires")


def test_30_conditional_requests():
    """Crashed on reload."""
    path = V3 + small() + "/full/100,/0/default.jpg"
    first = expect(site().get(path), 200)
    for _ in range(3):
        expect(site().get(path, headers={"If-Modified-Since": first.header("Last-Modified")}), 304)
    for tag, status in ((first.header("ETag"), 304), ("*", 304), ('"other"', 200)):
        expect(site().get(path, headers={"If-None-Match": tag}), status, tag)
    last = expect(site().get(path), 200)
    assert last.header("ETag") == first.header("ETag") and last.body == first.body


def test_31_head_options_put():
    """405 for HEAD; OPTIONS returned the image."""
    for path in (V3 + small() + "/0,0,256,200/max/0/default.jpg", V3 + small() + "/info.json"):
        got, head = site().get(path), site().get(path, method="HEAD")
        assert head.status == 200 and head.body == b"" and head.type() == got.type()
        assert head.header("Content-Length") in (None, got.header("Content-Length"))
        expect(site().get(path, method="OPTIONS"), 204)
        assert expect(site().get(path, method="PUT", body=b"x"), 405).header("Allow")


# -- D. formats and colour

def markers(jpeg):
    """The marker segments before the scan: (marker, payload)."""
    found, at = [], 2
    while jpeg[at + 1] != 0xDA:
        length = struct.unpack(">H", jpeg[at + 2:at + 4])[0]
        found.append((jpeg[at + 1], jpeg[at + 4:at + 2 + length]))
        at += 2 + length
    return found


def test_34_jpeg_tiles_say_what_their_colours_are():
    """No JFIF or Adobe marker: pink and green in Safari."""
    picture = fixture.ramp(512, 512)
    for name, photometric, subsampling in (("jpeg-rgb.tif", fixture.RGB, 0), ("jpeg-ycbcr.tif", fixture.YCBCR, 2)):
        fixture.pyramid(name, picture, one_level=True, compression=fixture.JPEG, photometric=photometric, quality=90,
                        subsampling=subsampling)
        for version in BOTH:
            reply = get(version, name, "256,0,256,256", "256,256", form="jpg")
            kinds = dict(markers(reply.body))
            adobe = kinds.get(0xEE, b"")
            if adobe.startswith(b"Adobe") and adobe[11] == 0:
                assert name == "jpeg-rgb.tif" and 0xE0 not in kinds
            else:
                assert kinds[0xE0].startswith(b"JFIF\0")
            # Not blue: subsampling takes the edges off its squares.
            assert fixture.psnr(reply.pixels()[:, :, :2], picture[:256, 256:, :2]) > 30
            red, green = reply.pixels()[:, :, 0].astype(int), reply.pixels()[:, :, 1].astype(int)
            close(red[:, 128:].mean() - red[:, :128].mean(), 64, 2)
            close(green[128:].mean() - green[:128].mean(), 64, 2)


def test_40_gray_and_bitonal_of_a_jpeg_tile():
    """Raw bytes, an invalid file."""
    name = fixture.ramp_jpeg_pyramid(1024, 768)
    for version in BOTH:
        for quality, form in (("gray", "jpg"), ("gray", "png"), ("bitonal", "png")):
            picture = get(version, name, "512,256,256,256", "256,256", quality=quality, form=form).image()
            assert picture.size == (256, 256) and picture.mode in ("L", "1"), (quality, form, picture.mode)
            if quality == "bitonal":
                assert set(numpy.unique(numpy.asarray(picture.convert("L")))) == {0, 255}


def test_42_transparent_pixels_in_jpeg():
    """Gray, black, or different by path."""
    def make():
        pixels = numpy.zeros((400, 600, 4), numpy.uint8)
        pixels[:, 300:] = (200, 100, 50, 255)
        pixels[:, :300, 0] = 90
        return pixels

    name = fixture.pyramid("rgba.tif", make)
    for version in BOTH:
        for region, size in (("0,0,256,256", "256,256"), ("10,10,200,200", "max"), ("full", "300,"), ("full", "max")):
            got = get(version, name, region, size, form="jpg").pixels()
            left = got[:, :int(got.shape[1] * .45)]
            assert left.min() >= 250, (region, size, left.min())
        png = get(version, name, size="300,").image()
        assert png.mode == "RGBA" and png.getpixel((50, 50))[3] == 0
        assert png.getpixel((250, 50)) == (200, 100, 50, 255)


def test_43_grey_either_way_round():
    """Negative, or three channels."""
    picture = fixture.gray(600, 400)
    plain = fixture.pyramid("grey-600x400.tif", picture)
    white = fixture.pyramid("grey-miniswhite.tif", 255 - picture, photometric=fixture.MIN_IS_WHITE)
    deep = fixture.pyramid("grey-16.tif", lambda: fixture.gray(600, 400, 65535))
    for version in BOTH:
        for form in ("png", "jpg"):
            a, b = get(version, plain, form=form), get(version, white, form=form)
            assert a.image().mode == b.image().mode == "L"
            assert fixture.largest_difference(a.pixels(), b.pixels()) <= (0 if form == "png" else 2)
        got = get(version, deep, form="jpg").image()
        assert got.mode == "L"
        assert fixture.largest_difference(numpy.asarray(got), picture[:, :, 0]) <= 3


def test_47_tiles_that_are_not_square():
    """Heap over-read, garbage."""
    picture = fixture.ramp(1000, 700)
    name = fixture.pyramid("ramp-1000x700-t256x128.tif", picture, tile=(256, 128))
    for version in BOTH:
        tile, = info(version, name)["tiles"]
        assert (tile["width"], tile["height"]) == (256, 128)
        pictures = mosaic(version, name)
        assert fixture.largest_difference(pictures[1], picture) == 0
        assert len(pictures) == 4
        for got in pictures.values():
            close(got[:, :, 0].astype(float).mean(), 127.5, 2)
            close(got[:, :, 1].astype(float).mean(), 127.5, 2)


def test_48_one_level_jpeg():
    """Crash; or just the first tile."""
    picture = fixture.ramp(5000, 4000)
    name = fixture.pyramid("ramp-5000x4000-one-level.tif", picture, one_level=True, compression=fixture.JPEG)
    for version in BOTH:
        for size, (w, h) in (("max", (5000, 4000)), ("500,", (500, 400)), ("5000,4000", (5000, 4000))):
            got = get(version, name, size=size, form="jpg").pixels()
            assert got.shape[:2] == (h, w)
            for y in (0.1, 0.5, 0.9):
                for x in (0.1, 0.5, 0.9):
                    patch = got[int(y * h) - 8:int(y * h) + 8, int(x * w) - 8:int(x * w) + 8].reshape(-1, 3).mean(0)
                    close(patch[0], 255 * x, 6)
                    close(patch[1], 255 * y, 6)
        assert info(version, name)["tiles"][0]["scaleFactors"][-1] >= 16
        expect_size(get(version, name, "0,0,4096,4000", "256,250", form="jpg"), 256, 250)
        expect_size(get(version, name, "4864,3840,136,160", "136,160", form="jpg"), 136, 160)


def test_49_levels_beyond_4_gib():
    """The offset was cut to 32 bits: directory error."""
    picture = fixture.ramp(1000, 700)

    def make(path):
        with fixture.Tiff(path, big=True) as tiff:
            tiff.file.truncate(5 << 30)
            tiff.page(picture, subs=fixture.levels_of(picture, (256, 256)))

    fixture.once("beyond-4gib.tif", make)
    for version in BOTH:
        assert info(version, "beyond-4gib.tif")["width"] == 1000
        reply = get(version, "beyond-4gib.tif", "0,0,1000,700", "125,88")
        expect_size(reply, 125, 88)
        close(reply.pixels()[:, :, 0].astype(float).mean(), 127.5, 1.5)


def test_50_thumbnails_and_labels_are_no_levels():
    """The thumbnail or the label was taken for a level."""
    picture = fixture.ramp(4000, 3000)

    def make(path):
        half = fixture.halved(picture)
        with fixture.Tiff(path) as tiff:
            tiff.page(picture)
            tiff.page(fixture.flat(400, 300, (255, 0, 0)), tile=None, rows=300, subfile=0)
            tiff.page(half, subfile=1)
            tiff.page(fixture.halved(half), subfile=1)
            tiff.page(fixture.flat(500, 120, (0, 255, 0)), tile=None, rows=120, subfile=1)
            tiff.page(fixture.flat(800, 300, (0, 0, 255)), tile=None, rows=300, subfile=9)

    fixture.once("slide.tif", make)
    for version in BOTH:
        assert (info(version, "slide.tif")["width"], info(version, "slide.tif")["height"]) == (4000, 3000)
        for size in ("400,", "500,", "800,", "1000,", "1900,"):
            got = get(version, "slide.tif", size=size).pixels()
            reference = fixture.reduced(picture, (got.shape[1], got.shape[0]))
            difference = numpy.abs(got[:, :, :2].astype(int) - reference[:, :, :2])
            assert difference.max() <= 4, (size, difference.max())


def test_64_padding_of_edge_tiles_never_shows():
    """Heap overflow on edge tiles."""
    picture = fixture.ramp(1037, 779)
    name = fixture.pyramid("ramp-1037x779-padded.tif", picture, padding=255)
    twin = fixture.pyramid("ramp-1037x779.tif", picture)
    for version in BOTH:
        for region in ("full", "1024,0,13,779", "0,768,1037,11", "1020,760,17,19", "1036,778,1,1", "500,300,537,479"):
            for size in ("max", "pct:50", "pct:25", "pct:13"):
                a, b = get(version, name, region, size), get(version, twin, region, size)
                assert fixture.largest_difference(a.pixels(), b.pixels()) == 0, (region, size)
    got = get(V3, name, "1024,0,13,779", "13,779").pixels()
    assert fixture.largest_difference(got, picture[:, 1024:]) == 0


def test_60_rotations_that_are_none():
    """Nonsense was accepted as an angle."""
    name = fixture.corners_pyramid(600, 400)
    for version in BOTH:
        for rotation in ("abc", "-1", "361", "90.", "90abc", ""):
            allowed = (400, 200) if rotation == "90." else 400
            expect(get(version, name, size="60,", rotation=rotation), allowed, rotation)


def test_66_a_replaced_file_is_seen_at_once():
    """Old tiles mixed with new; a deleted file was still served."""
    folder = os.path.join(fixture.root(), "replaced")
    os.makedirs(folder, exist_ok=True)
    target = os.path.join(folder, "x.tif")

    def replace(colour, size, when=None):
        with fixture.Tiff(target + ".new") as tiff:
            tiff.page(fixture.flat(size, size, colour))
        if when is not None:
            os.utime(target + ".new", (when, when))
        os.rename(target + ".new", target)

    for colour, size, when in (((255, 0, 0), 300, None), ((0, 255, 0), 300, None), ((0, 0, 255), 200, 1000000000),
                               ((9, 9, 9), 200, 1000000000)):
        before = site().get(V3 + "replaced%2Fx.tif/full/max/0/default.png")
        replace(colour, size, when)
        for _ in range(4):  # more than one worker
            headers = {"If-None-Match": before.header("ETag")} if before.status == 200 else {}
            reply = expect(site().get(V3 + "replaced%2Fx.tif/full/max/0/default.png", headers=headers), 200)
            assert (reply.pixels() == colour).all()
            assert info(V3, "replaced%2Fx.tif")["width"] == size
    os.unlink(target)
    for _ in range(4):
        expect(site().get(V3 + "replaced%2Fx.tif/info.json"), 404)


def test_73_factors_that_are_not_listed():
    """Leaflet-IIIF asks for every power of two, listed or not."""
    name = fixture.ramp_pyramid(1000, 700)
    for width, height in ((125, 88), (63, 44), (32, 22), (16, 11)):
        expect_size(get(V2, name, "0,0,1000,700", "%d," % width), width, height)


def test_74_best_fit_of_a_region_beyond_the_edge():
    """The aspect of the region before cropping was used."""
    name = fixture.ramp_pyramid(1237, 911)
    for version in BOTH:
        expect_size(get(version, name, "768,512,512,512", "!256,256"), 256, 218)


def test_76_full_and_max_of_a_v2_service():
    """max was refused by a version 2 service."""
    for ceil in (False, True):
        name = fixture.pyramid("ramp-1501x1103-%s.tif" % ("ceil" if ceil else "floor"), lambda: fixture.ramp(1501, 1103),
                               ceil=ceil)
        for size in ("full", "max", "1501,"):
            expect_size(get(V2, name, size=size, form="jpg"), 1501, 1103)
