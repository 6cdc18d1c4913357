"""In iipsrv's place: environments as they stand, several maps, and the small print of IIP."""
import os
import re

import numpy

import fixture
import server
from test_iip import ask, expect, noisy, parts, pixels, profile, ramp, site, text

# An environment of the builds that were made for a national gallery, with what only iipsrv knows beside it.
GALLERY = {
    "URI_MAP": None, "IIIF_PREFIX": "/iiif", "MEMCACHED_SERVERS": "127.0.0.1:9", "MEMCACHED_TIMEOUT": "604800",
    "ALLOW_UPSCALING": "0", "MAX_HEADERS_IN_METADATA_CACHE": "100", "MAX_IMAGE_CACHE_SIZE": "100", "DISABLE_PRIMARY_MEMCACHE": "0",
    "INTERPOLATION": "2", "OVERSAMPLING_FACTOR": "1.5", "RETAIN_SOURCE_ICC_PROFILE": "1", "FILENAME_PATTERN": "_view_",
    "WATERMARK_OPACITY": "1", "WATERMARK_PROBABILITY": "1", "PNG_COMPRESSION_LEVEL": "Z_BEST_SPEED", "PNG_FILTER_TYPE": "PNG_FILTER_NONE",
    "MAX_CVT": "5000", "JPEG_QUALITY": "85", "CORS": "*",
}
IDLE = {"KAKADU_READMODE": "1", "DECODER_MODULES": "/usr/lib/x.so", "OMP_NUM_THREADS": "4", "MAX_SAMPLE_SIZE": "1024"}
UNKNOWN = {"JPEG_QULITY": "JPEG_QUALITY", "WATERMARK_OPACTY": "WATERMARK_OPACITY", "MEMCACHED_SERVER": "MEMCACHED_SERVERS",
           "IIIF_VERSON": "IIIF_VERSION", "FILESYSTEM_PREFX": "FILESYSTEM_PREFIX", "MAX_CTV": "MAX_CVT"}


def profile_of_colours():
    from PIL import ImageCms
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


# -- environments

def test_an_environment_as_it_stands():
    """It starts without a complaint, and what it says is so."""
    icc = profile_of_colours()
    name = fixture.pyramid("drop-in.tif", lambda: fixture.ramp(700, 500), tags={34675: (7, list(icc))})
    fixture.pyramid("drop-in-turn_view_010_090.tif", fixture.flat(100, 80, (10, 90, 0)))
    with server.Site("direct", fixture.root(), **GALLERY) as gallery:
        assert "allowed is" not in gallery.log_text() and "no variable" not in gallery.log_text(), gallery.log_text()
        info = gallery.get("/iiif/%s/info.json" % name)
        assert info.status == 200 and info.json()["width"] == 700 and info.json()["id"] == gallery.base + "/iiif/" + name
        whole = gallery.get("/iiif/%s/full/max/0/default.jpg" % name)
        assert whole.status == 200 and whole.image().info["icc_profile"] == icc
        assert gallery.get("/iiif/%s/full/^1400,/0/default.jpg" % name).status == 501
        assert gallery.get("/x?FIF=%s&WID=1400&CVT=jpeg" % name).size() == (700, 500)
        turned = gallery.get("/x?FIF=drop-in-turn&SDS=10,90&CVT=png")
        assert turned.status == 200 and tuple(turned.pixels()[0, 0]) == (10, 90, 0)
        assert whole.header("Access-Control-Allow-Origin") == "*"


def test_what_has_no_effect_is_one_line_each():
    with server.Site("direct", fixture.root(), workers=2, **IDLE) as idle:
        lines = idle.log_text().splitlines()
        for name in IDLE:
            about = [line for line in lines if name in line]
            assert len(about) == 1 and "has no effect" in about[0], lines
        assert idle.get("/iiif/%s/info.json" % ramp()).status == 200


def test_slips_are_told_with_the_name_that_is_meant():
    with server.Site("direct", fixture.root(), workers=2, **{name: "1" for name in UNKNOWN}) as slips:
        lines = slips.log_text().splitlines()
        for name, meant in UNKNOWN.items():
            about = [line for line in lines if re.search(r"\b%s\b" % name, line)]
            assert len(about) == 1 and re.search(r"\b%s\b" % meant, about[0]), (name, lines)


# -- maps

def test_several_maps():
    """The longest one counts, by whole segments; case and a slash in front do not matter, nor does the query."""
    on = site(URI_MAP="a=>IIIF, a/b=>deepzoom, /a/b/c=>ZOOMIFY, x=>iip")
    name = ramp()
    for path, kind in (("/a/%s/info.json", "application/ld+json"), ("/a/%s/info.json?FIF=none.tif&JTL=1,1", "application/ld+json"),
                       ("/a/b/%s.dzi", "application/xml"), ("/a/b/%s_files/10/0_0.jpg?t=1", "image/jpeg"),
                       ("/a/b/c/%s/ImageProperties.xml", "application/xml"), ("/a/b/c/%s/TileGroup0/0-0-0.jpg", "image/jpeg"),
                       ("/x/%s&obj=Max-size", "application/vnd.netfpx"), ("/x/%s?JTL=0,0&t=1", "image/jpeg"),
                       ("/?FIF=%s&JTL=0,0", "image/jpeg"), ("/ab?FIF=%s&JTL=0,0", "image/jpeg")):
        reply = on.get(path % name)
        assert reply.status == 200 and reply.type() == kind, (path, reply.status, reply.type())
    for path in ("/ab/%s/info.json", "/a/bc/%s.dzi", "/xy/%s&obj=Max-size", "/%s/info.json"):
        reply = on.get(path % name)
        assert reply.status in (400, 404) and reply.type() == "text/plain", (path, reply.status)


def test_a_prefix_beside_maps():
    on = site(URI_MAP="dz=>DeepZoom", IIIF_PREFIX="/img/v")
    for path, status in (("/img/v/%s/info.json", 200), ("/dz/%s.dzi", 200), ("/img/%s/info.json", 404), ("/iiif/%s/info.json", 404)):
        assert on.get(path % ramp()).status == status, path


def test_an_empty_prefix_maps_everything():
    on = site(URI_MAP="=>IIIF")
    assert on.get("/%s/info.json" % ramp()).json()["id"] == on.base + "/" + ramp()
    assert on.get("/?FIF=%s&obj=Max-size" % ramp()).body == b"Max-size:1501 1103\r\n"
    assert on.get("/").type() == "text/html"
    assert site(URI_MAP="=>IIP").get("/%s&obj=Max-size" % ramp()).body == b"Max-size:1501 1103\r\n"


def test_version_1_has_names_of_its_own():
    on = site(IIIF_VERSION=1)
    assert on.get("/iiif/%s/info.json" % ramp()).json()["@context"] == "http://iiif.io/api/image/2/context.json"
    for path, mode in (("/iiif/%s/full/100,/0/native.jpg", "RGB"), ("/iiif/%s/full/100,/0/grey.jpg", "L")):
        assert on.get(path % ramp()).image().mode == mode
        assert on.get(path.replace("iiif/", "iiif/2/") % ramp()).status == 400
        assert site().get(path % ramp()).status == 400
    plain = on.get("/iiif/%s/full/100,/0/default.jpg" % ramp())
    assert on.get("/iiif/%s/full/100,/0/native.jpg" % ramp()).header("ETag") == plain.header("ETag")


# -- CORS, field case 26

def test_origin_on_every_reply():
    """Once, and the value as it was set, whoever asks."""
    name = ramp()
    paths = ["/x?FIF=%s&JTL=0,0", "/x?FIF=%s&WID=50&CVT=jpeg", "/x?FIF=%s&obj=Max-size", "/x?FIF=%s&PFL=0:0,0", "/x?FIF=%s&TIL=0,0",
             "/x?FIF=%s&SPECTRA=0,0,0,0", "/x?FIF=%s&JTL=99,0", "/x?FIF=%s&JTL=x", "/x?FOO=%s", "/x?DeepZoom=%s.dzi", "/dz/%s.dzi",
             "/dz/%s_files/8/0_0.jpg", "/dz/%s_files/99/0_0.jpg", "/x?Zoomify=%s/ImageProperties.xml", "/x?IIIF=%s", "/x?IIIF=%s/info.json",
             "/iiif/%s", "/iiif/%s/info.json", "/iiif/%s/full/9,/0/default.jpg", "/iiif/%s/full/0,/0/default.jpg", "/iip/%s&JTL=0,0",
             "/iiif/none%s/info.json", "/nowhere/%s", "/"]
    for origin in ("*", "https://a.example"):
        on = site(CORS=origin)
        for path in paths:
            path = path % name if "%s" in path else path
            for method, headers in (("GET", {}), ("GET", {"If-None-Match": "*"}), ("HEAD", {}), ("OPTIONS", {}), ("PUT", {}), ("POST", {})):
                reply = on.get(path, headers=dict(headers, Origin="https://b.example"), method=method)
                assert reply.all("Access-Control-Allow-Origin") == [origin], (path, method, reply.status)
                assert (reply.header("Vary") in (None, "Accept")), (path, reply.header("Vary"))
            assert reply.status != 500, path


# -- IIP's small print

def test_the_last_image_counts():
    name = fixture.pyramid("drop-in-small.tif", lambda: fixture.ramp(300, 200))
    assert ask("FIF=%s&FIF=%s&PTL=0,0" % (ramp(), name)).body == ask("FIF=%s&PTL=0,0" % name).body
    assert text("FIF=%s&obj=Max-size&FIF=%s&obj=Max-size" % (ramp(), name)) == "Max-size:1501 1103\r\nMax-size:300 200\r\n"


def test_turned_sizes():
    """Of quarter turns either way round, mirrored or not."""
    for turn, swapped in (("90", True), ("!90", True), ("-90", True), ("270", True), ("-270", True), ("180", False), ("360", False)):
        want = "Max-size:1103 1501\r\n" if swapped else "Max-size:1501 1103\r\n"
        assert text("FIF=%s&ROT=%s&obj=Max-size" % (ramp(), turn)) == want, turn


def test_lab_is_said():
    name = fixture.pyramid("drop-in-lab.tif", fixture.flat(400, 300, (150, 10, 250)), photometric=fixture.CIELAB)
    assert text("FIF=%s&obj=Colorspace,*,*" % name) == "Colorspace,0-1,0:1 0 4 3 0 1 2\r\n"


def test_compressions_of_tiff():
    """By their numbers (TIFF 6.0, and libtiff's for those that came later); all but JPEG and WebP lose nothing."""
    want = pixels("FIF=%s&PTL=2,0" % noisy())
    for word, number in (("none:0", 1), ("lzw:1", 5), ("deflate:1", 8), ("jpeg:80", 7), ("webp:80", 50001), ("zstd:1", 50000)):
        image = expect("FIF=%s&QLT=%s&TTL=2,0" % (noisy(), word), 200).image()
        assert image.tag_v2[259] == number, word
        if number not in (7, 50001):
            assert (numpy.asarray(image) == want).all(), word


def test_deep_samples():
    """PFL as stored, SPECTRA as a part of 65535, TIL as stored."""
    v = numpy.random.RandomState(3).randint(0, 65536, (300, 400, 3)).astype(numpy.uint16)
    name = fixture.pyramid("drop-in-deep.tif", v)
    assert profile("FIF=%s&PFL=1:7,9-19,9" % name) == v[9, 7:19].ravel().tolist()
    spectrum = expect("FIF=%s&SPECTRA=1,1,30,40" % name, 200).body.decode()
    assert re.findall(r"<reflectance>([\d.]+)<", spectrum) == ["%f" % (c / 65535) for c in v[40, 286]]
    (_, _, coding, data), = parts(expect("FIF=%s&TIL=1,1" % name, 200).body)
    assert coding == b"\3\0\0\0" and data == v[:256, 256:].tobytes()


def test_floats_of_profiles_and_ranges():
    """Up to nine significant digits."""
    v = (numpy.random.RandomState(4).rand(100, 90, 1) * 1000).astype(numpy.float32)
    name = fixture.pyramid("drop-in-float.tif", v, one_level=True, tags={339: (3, [3])})
    low, high = text("FIF=%s&obj=Min-Max-sample-values" % name).partition(": ")[2].split()
    assert numpy.float32(low) == v.min() and numpy.float32(high) == v.max()
    line = profile("FIF=%s&PFL=0:0,5-90,5" % name)
    assert numpy.abs(numpy.array(line) - v[5, :, 0]).max() <= (v.max() - v.min()) / 65535 * .51


def test_posted_to_any_address():
    """The body is the query where the address has none."""
    body = ("FIF=%s&JTL=2,0" % noisy()).encode()
    want = ask(body.decode()).body
    for path in ("/", "/fcgi-bin/iipsrv.fcgi", "/iip"):
        for kind in ("application/x-www-form-urlencoded", "text/plain", ""):
            reply = site().get(path, method="POST", body=body, headers={"Content-Type": kind})
            assert reply.status == 200 and reply.body == want, (path, kind, reply.status)
    both = site().get("/?FIF=%s&JTL=0,0" % noisy(), method="POST", body=body)
    assert both.body == ask("FIF=%s&JTL=0,0" % noisy()).body


# -- Deep Zoom and Zoomify

def test_the_document_of_deep_zoom():
    body = ask("DeepZoom=%s.dzi" % ramp()).body.decode()
    assert body.partition("?>")[2] == (
        '<Image xmlns="http://schemas.microsoft.com/deepzoom/2008" TileSize="256" Overlap="0" Format="jpg">'
        '<Size Width="1501" Height="1103"/></Image>') and "\n" not in body


def test_addresses_of_tiles_that_are_none():
    for address, status in (("DeepZoom=%s_files/99999999999/0_0.jpg", 404), ("DeepZoom=%s_files/12/0_0.jpg", 404),
                            ("DeepZoom=%s_files/11/6_0.jpg", 404), ("DeepZoom=%s_files/11/0_5.jpg", 404),
                            ("DeepZoom=%s_files/-1/0_0.jpg", 404), ("DeepZoom=%s_files/10/0_-1.jpg", 404),
                            ("DeepZoom=%s_files/10/0_0.gif", 400), ("DeepZoom=%s_files/10/0", 404),
                            ("Zoomify=%s/TileGroup0/99999999-0-0.jpg", 404), ("Zoomify=%s/TileGroup0/3-6-0.jpg", 404),
                            ("Zoomify=%s/TileGroup0/3-0-5.jpg", 404), ("Zoomify=%s/TileGroup0/3--1-0.jpg", 404),
                            ("Zoomify=%s/TileGroup0/3-0-0.png", 400), ("Zoomify=%s/TileGroup0/3-0", 404)):
        reply = ask(address % ramp())
        assert reply.status == status and reply.type() == "text/plain", (address, reply.status)
        assert reply.header("Cache-Control") == "no-store" and os.sep not in reply.body.decode(), address
