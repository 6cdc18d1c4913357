"""The watermark: on every way to a picture, once, exactly as computed here, and always at the same place
of an address."""
import io
import os
import shutil
import subprocess
import tempfile

import numpy
from PIL import Image

import fixture
import kinds
import server
from iiif import V2, V3
from memcached import Memcached
from server import Site, Sites

MAPS = "iiif=>IIIF,iip=>IIP,dz=>DeepZoom,zoomify=>Zoomify,xyz=>XYZ"
BASE = (100, 150, 200)  # of the flat picture
sites = Sites(None, URI_MAP=MAPS, WEBP_QUALITY="-1")


def colour_mark():
    """20 x 12, every pixel another and none black; some sums pass white."""
    y, x = numpy.mgrid[0:12, 0:20]
    return numpy.stack([1 + 7 * x, 10 + 13 * y, 255 - 6 * x - 5 * y], 2).astype(numpy.uint8)


def mark_file(name, pixels, **how):
    how.setdefault("tile", None)
    fixture.pyramid(name, pixels, one_level=True, **how)
    return os.path.join(fixture.root(), name)


def colour_file():
    return mark_file("mark-colour.tif", colour_mark())


def flat_file(name="mark-flat.tif", colour=BASE, size=(300, 200), tile=(64, 64), bits=8, **how):
    value = numpy.array(colour, numpy.uint8 if bits == 8 else numpy.uint16)
    return fixture.pyramid(name, lambda: numpy.tile(value, (size[1], size[0], 1)), tile=tile, **how)


def site(mark=None, **settings):
    sites.images = os.path.join(fixture.root(), "")
    return sites(WATERMARK=colour_file() if mark is None else mark, **settings)


def pixels_of(reply):
    got = numpy.asarray(reply.image())
    return got[:, :, None] if got.ndim == 2 else got


def place_of(got, base):
    """Box of the pixels that are not the flat picture's: x, y, w, h; None when all are."""
    other = (got != numpy.asarray(base)).any(2)
    if not other.any():
        return None
    ys, xs = numpy.where(other.any(1))[0], numpy.where(other.any(0))[0]
    return xs[0], ys[0], xs[-1] - xs[0] + 1, ys[-1] - ys[0] + 1


def marked(shape, base, addend, x, y, white=255):
    """The flat picture with what is added at x, y, cut off where it ends."""
    want = numpy.empty(shape, int)
    want[:] = base
    h, w = min(len(addend), shape[0] - y), min(len(addend[0]), shape[1] - x)
    want[y:y + h, x:x + w] += addend[:h, :w]
    return numpy.minimum(want, white)


def check(got, base=BASE, addend=None, white=255):
    """One whole mark, exactly; returns its place."""
    addend = colour_mark().astype(int) if addend is None else addend
    x, y, w, h = place_of(got, base)
    assert (w, h) == (len(addend[0]), len(addend)), (x, y, w, h)
    assert (got == marked(got.shape, base, addend, x, y, white)).all()
    return x, y


# -- everywhere

def lossless_addresses(name):
    return ["%s%s/full/max/0/default.png" % (V3, name), "%s%s/64,64,128,64/max/0/default.png" % (V3, name),
            "%s%s/full/150,/0/default.png" % (V2, name), "%s%s/10,20,90,70/90,/0/default.webp" % (V2, name),
            "/iip?FIF=%s&WID=140&CVT=png" % name, "/iip?FIF=%s&RGN=0.2,0.1,0.5,0.5&CVT=png" % name,
            "/iip?FIF=%s&PTL=3,5" % name, "/iip?FIF=%s&PTL=1,0" % name, "/iip?FIF=%s&WTL=3,0" % name,
            "/iip?IIIF=%s/full/200,/0/default.png" % name]


def test_everywhere_exactly():
    name = flat_file()
    for address in lossless_addresses(name):
        check(pixels_of(site().get(address)))
    for form in ("png", "tif", "webp"):
        check(pixels_of(site().get("%s%s/full/120,80/0/default.%s" % (V3, name, form))))


def plain_site(**settings):
    return site("", **settings)


def added_by(ask, **settings):
    """The sum of all differences to the same without a mark that a coder does not make."""
    more = ask(site(**settings)).astype(int) - ask(plain_site(**settings))
    return more[abs(more) > 4].sum()


def test_everywhere_nearly():
    """What JPEG and its like make of it: the sum over all pixels is that of one mark."""
    name, stored = flat_file(), flat_file("mark-flat-jpeg.tif", compression=fixture.JPEG)
    added = (marked((64, 64, 3), BASE, colour_mark().astype(int), 0, 0) - BASE).sum()
    addresses = ["/dz/%s_files/9/1_1.jpg", "/dz/%s_files/8/0_0.jpg", "/zoomify/%s/TileGroup0/3-1-0.jpg",
                 "/iip?FIF=%s&JTL=3,6", "/iip?FIF=%s&CVT=jpeg&WID=100", "/iip?DeepZoom=%s_files/9/0_0.jpg",
                 "/iip?Zoomify=%s/TileGroup0/3-0-1.jpg", V3 + "%s/64,64,64,64/64,/0/default.jpg",
                 V3 + "%s/full/128,/0/default.jp2"]
    for address in addresses:
        for image in (name, stored):
            got = added_by(lambda where: pixels_of(where.get(address % image)), JPEG_QUALITY="95")
            assert abs(got / added - 1) < 0.1, (address, image, got / added)


def test_xyz_within_the_picture():
    """Not on what is left of a tile beside it, where nobody would see it."""
    name = flat_file()
    for address in ("/xyz/%s/0/0/0.png", "/xyz/%s/1/0/0.png", "/xyz/%s/1/1/0.png"):
        got, plain = (pixels_of(where.get(address % name)) for where in (site(), plain_site()))
        assert got.shape == plain.shape and (got[:, :, 3] == plain[:, :, 3]).all()
        x, y, w, h = place_of(got.astype(int) - plain, [0, 0, 0, 0])
        assert (w, h) == (20, 12) and (got[y:y + h, x:x + w, 3] == 255).all(), address
        want = numpy.minimum(plain[y:y + h, x:x + w, :3].astype(int) + colour_mark(), 255)
        assert (got[y:y + h, x:x + w, :3] == want).all()


def with_even_mark():
    return site(mark_file("mark-even.tif", numpy.full((12, 20, 1), 50, numpy.uint8)))


def test_gif():
    kinds.skip_unless_read("GIF")
    got = numpy.asarray(with_even_mark().get("%s%s/full/128,/0/default.gif" % (V3, flat_file())).image().convert("RGB"))
    x, y, w, h = place_of(got, BASE)
    assert (w, h) == (20, 12) and (got[y:y + h, x:x + w] == numpy.add(BASE, 50)).all()


def test_pdf():
    pdf = with_even_mark().get("%s%s/full/128,/0/default.pdf" % (V3, flat_file())).body
    jpeg = Image.open(io.BytesIO(pdf[pdf.index(b"\xff\xd8"):])).convert("RGB")
    lifted = (numpy.asarray(jpeg).astype(int) - BASE).sum(2) > 75
    assert abs(lifted.sum() / 240 - 1) < 0.1


def test_jpeg_2000_and_flat_sources():
    flat = fixture.flat(300, 200, BASE)
    for name in (kinds.by_pillow("mark-flat.jp2", flat, "JPEG2000"), kinds.by_pillow("mark-flat.png", flat, "PNG")):
        check(pixels_of(site().get("%s%s/full/max/0/default.png" % (V3, name))))
        check(pixels_of(site().get("%s%s/20,20,100,90/50,/0/default.png" % (V3, name))))
        check(pixels_of(site().get("/iip?FIF=%s&WID=200&CVT=png" % name)))


def test_stored_tiles_go_out_only_where_no_mark_falls():
    name = flat_file("mark-flat-jpeg.tif", compression=fixture.JPEG)
    plain, half = Site("direct", fixture.root()), None
    try:
        half = Site("direct", fixture.root(), WATERMARK=colour_file(), WATERMARK_PROBABILITY="0.5")
        as_stored = 0
        tiles = ["%s%s/%d,%d,64,64/64,/0/default.jpg" % (V3, name, x, y) for x in (0, 64, 128, 192)
                 for y in (0, 64)]
        for address in tiles:
            got, unmarked = half.get(address), plain.get(address).body
            clean = abs(pixels_of(got).astype(int) - BASE).max() < 6
            assert clean == (got.body == unmarked), address
            as_stored += clean
        assert 0 < as_stored < len(tiles)
        assert half.log_text().count("as stored") == as_stored
    finally:
        plain.stop()
        if half:
            half.stop()


def til_tiles(body):
    """The tiles of a TIL reply: (coding, data)."""
    found, at = [], 0
    while at < len(body):
        colon = body.index(b":", at)
        n = int(body[at:colon].rsplit(b"/", 1)[1])
        data = body[colon + 1:colon + 1 + n]
        found.append((data[0], data[8:]))
        at = colon + 1 + n + 2
    return found


def test_til():
    """Encoded and raw tiles; the place is that of the single tile."""
    name, deep = flat_file(), flat_file("mark-flat-16.tif", [v * 257 for v in BASE], bits=16)
    single = site().get("/iip?FIF=%s&JTL=3,6" % name)
    body = site().get("/iip?FIF=%s&TIL=3,6" % name).body
    coding, data = til_tiles(body)[0]
    assert coding == 2 and data == single.body
    coding, data = til_tiles(site().get("/iip?FIF=%s&TIL=3,6" % deep).body)[0]
    got = numpy.frombuffer(data, numpy.uint16).reshape(64, 64, 3)
    assert coding == 3
    check(got, [v * 257 for v in BASE], colour_mark().astype(int) * 257, 65535)


# -- arithmetic

def test_opacity():
    name = "%s%s/full/max/0/default.png" % (V3, flat_file())
    half = (colour_mark().astype(int) + 1) // 2  # .5 is rounded up
    check(pixels_of(site(WATERMARK_OPACITY="0.5").get(name)), addend=half)
    check(pixels_of(site(WATERMARK_OPACITY="1").get(name)))
    assert place_of(pixels_of(site(WATERMARK_OPACITY="0").get(name)), BASE) is None


def test_alpha_of_the_mark():
    alpha = numpy.linspace(0, 255, 240).round().astype(int).reshape(12, 20)
    alpha[0, 0] = alpha[0, 19] = alpha[11, 0] = 255
    mark = numpy.dstack([numpy.full((12, 20, 3), 100, int), alpha]).astype(numpy.uint8)
    addend = numpy.floor(100 * alpha / 255 + 0.5).astype(int)[:, :, None].repeat(3, 2)
    got = pixels_of(site(mark_file("mark-alpha.tif", mark)).get("%s%s/full/max/0/default.png" % (V3, flat_file())))
    check(got, addend=addend)


def test_alpha_of_the_picture_stays():
    """Also where nothing can be seen, and for a turn's corners."""
    name = flat_file("mark-flat-alpha.tif", BASE + (77,))
    got = pixels_of(site().get("%s%s/full/max/0/default.png" % (V3, name)))
    assert (got[:, :, 3] == 77).all()
    check(got[:, :, :3])
    got = pixels_of(site().get("%s%s/full/200,/30/default.png" % (V3, flat_file())))
    plain = pixels_of(plain_site().get("%s%s/full/200,/30/default.png" % (V3, flat_file())))
    assert (got[:, :, 3] == plain[:, :, 3]).all()
    x, y, w, h = place_of(got.astype(int) - plain, [0, 0, 0, 0])
    assert (w, h) == (20, 12)
    want = numpy.minimum(plain[y:y + h, x:x + w, :3].astype(int) + colour_mark(), 255)
    assert (got[y:y + h, x:x + w, :3] == want).all()


def test_deep_pictures():
    """16 bits stay so in TIFF and PNG; a mark of 16 bits is not rounded first."""
    name, base = flat_file("mark-flat-16.tif", [v * 257 for v in BASE], bits=16), [v * 257 for v in BASE]
    address = "%s%s/full/max/0/default.tif" % (V3, name)
    got = deep_pixels(site(TIFF_COMPRESSION="0").get(address).body)
    check(got, base, colour_mark().astype(int) * 257, 65535)
    deep = numpy.full((12, 20, 3), 999, numpy.uint16)
    got = deep_pixels(site(mark_file("mark-deep.tif", deep), TIFF_COMPRESSION="0").get(address).body)
    check(got, base, deep.astype(int), 65535)
    got = pixels_of(site(mark_file("mark-deep.tif", deep)).get("%s%s/full/max/0/default.webp" % (V3, name)))
    check(got, BASE, numpy.full((12, 20, 3), 4))  # 999 / 257 = 3.9


def deep_pixels(body):
    """Of an uncompressed TIFF of 16 bits and three channels, whose samples Pillow does not read."""
    picture = Image.open(io.BytesIO(body))
    tags = picture.tag_v2
    data = b"".join(body[at:at + n] for at, n in zip(tags[273], tags[279]))
    return numpy.frombuffer(data, numpy.uint16).reshape(tags[257], tags[256], 3)


def test_gray():
    luma = numpy.floor(colour_mark() @ [0.299, 0.587, 0.114] + 0.5).astype(int)[:, :, None]
    gray = flat_file("mark-flat-gray.tif", (90,))
    got = pixels_of(site().get("%s%s/full/max/0/default.png" % (V3, gray)))
    assert got.shape[2] == 1
    x, y = place_of(got, [90])[:2]
    assert abs(got.astype(int) - marked(got.shape, [90], luma, x, y)).max() <= 1
    plain = int(numpy.floor(numpy.dot(BASE, [0.299, 0.587, 0.114]) + 0.5))
    got = pixels_of(site().get("%s%s/full/max/0/gray.png" % (V3, flat_file())))
    x, y, w, h = place_of(got, [plain])
    assert got.shape[2] == 1 and (w, h) == (20, 12)
    mark = numpy.arange(1, 241).reshape(12, 20, 1).astype(numpy.uint8)
    got = pixels_of(site(mark_file("mark-gray.tif", mark)).get("%s%s/full/max/0/default.png" % (V3, flat_file())))
    check(got, addend=mark.astype(int).repeat(3, 2))


def test_bitonal():
    """Two values stay: what the mark lifts to half of white becomes white."""
    black = flat_file("mark-flat-black.tif", (0, 0, 0))
    mark = numpy.zeros((12, 20, 1), numpy.uint8)
    mark[:, :10], mark[:, 10:] = 128, 127
    got = numpy.asarray(site(mark_file("mark-two.tif", mark)).get("%s%s/full/max/0/bitonal.png" % (V3, black)).image()
                        .convert("L"))
    assert set(numpy.unique(got)) == {0, 255}
    assert place_of(got[:, :, None], [0])[2:] == (10, 12)


def test_turns_leave_the_mark_upright():
    for rotation in ("90", "180", "270", "!0", "!90", "0"):
        check(pixels_of(site().get("%s%s/full/max/%s/default.png" % (V3, flat_file(), rotation))))
    turned = fixture.pyramid("mark-flat-turned.tif", fixture.flat(300, 200, BASE), tags={274: (3, [6])})
    got = pixels_of(site().get("%s%s/full/max/0/default.png" % (V3, turned)))
    assert got.shape[:2] == (300, 200)
    check(got)


def test_a_mark_larger_than_the_picture():
    """It begins at the edge and is cut off, along each side for itself."""
    name, mark = flat_file(), colour_mark().astype(int)
    for w, h in ((10, 6), (10, 50), (90, 6), (1, 1), (20, 12)):
        got = pixels_of(site().get("%s%s/full/%d,%d/0/default.png" % (V3, name, w, h)))
        x, y, seen_w, seen_h = place_of(got, BASE)
        assert (seen_w, seen_h) == (min(w, 20), min(h, 12))
        assert (got == marked(got.shape, BASE, mark, x, y)).all()


def test_marks_of_other_kinds():
    """JPEG-compressed, tiled, turned by their orientation, or no TIFF at all."""
    mark, name = colour_mark(), "%s%s/full/max/0/default.png" % (V3, flat_file())
    stored = kinds.stored_for(mark, 6)
    check(pixels_of(site(mark_file("mark-turned.tif", stored, tags={274: (3, [6])})).get(name)))
    check(pixels_of(site(mark_file("mark-tiled.tif", mark, tile=(16, 16))).get(name)))
    png = os.path.join(fixture.root(), kinds.by_pillow("mark-colour.png", mark, "PNG"))
    check(pixels_of(site(png).get(name)))
    grown = numpy.full((48, 48, 3), 60, numpy.uint8)
    got = pixels_of(site(mark_file("mark-jpeg.tif", grown, tile=(48, 48), compression=fixture.JPEG)).get(name))
    x, y, w, h = place_of(got, BASE)
    assert (w, h) == (48, 48) and abs(got[y:y + h, x:x + w].astype(int) - [160, 210, 255]).max() <= 2


def test_colours_of_the_mark_become_srgb():
    """Red of a profile whose red is sRGB's green; a fifth of white is 51."""
    red = mark_file("mark-swapped.tif", fixture.flat(20, 12, (255, 0, 0)), tags={34675: (7, kinds.swapped_profile())})
    for retain in "01":
        where = site(red, WATERMARK_OPACITY="0.2", RETAIN_SOURCE_ICC_PROFILE=retain)
        got = pixels_of(where.get("%s%s/full/max/0/default.png" % (V3, flat_file())))
        x, y = place_of(got, BASE)[:2]
        assert abs(got[y:y + 12, x:x + 20].astype(int) - [100, 201, 200]).max() <= 1


# -- by chance, but always the same

def tile_addresses(name, n):
    return ["%s%s/%d,%d,40,40/40,/0/default.png" % (V3, name, i % 20 * 10, i // 20 * 8) for i in range(n)]


def test_probability():
    """Of 400 tiles; 4 standard deviations of 0.5 are 40."""
    addresses = tile_addresses(flat_file(), 400)
    for probability, low, high in (("0", 0, 0), ("1", 400, 400), ("0.5", 160, 240)):
        seen = [place_of(pixels_of(site(WATERMARK_PROBABILITY=probability).get(a)), BASE) for a in addresses]
        assert low <= sum(place is not None for place in seen) <= high, probability
        places = {place[:2] for place in seen if place}
        assert len(places) > min(high, 400) / 3 or not high, "always at the same places"


def test_the_same_for_all_workers_hosts_and_starts():
    """Four processes that share nothing, of two servers, and another folder with other file times."""
    name = flat_file()
    settings = dict(WATERMARK_PROBABILITY="0.5", WATERMARK=colour_file(), MAX_IMAGE_CACHE_SIZE="0")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        shutil.copy(os.path.join(fixture.root(), name), folder)
        with Site("direct", fixture.root(), workers=3, **settings) as one, \
                Site("direct", folder, workers=1, **settings) as other:
            for address in tile_addresses(name, 60):
                bodies = {one.get(address).body for unused in range(6)} | {other.get(address).body}
                assert len(bodies) == 1, address


# -- caches

def test_tags():
    """Another mark, opacity or probability is another picture; a copy of the mark is the same."""
    address = "%s%s/full/100,/0/default.png" % (V3, flat_file())
    copy = os.path.join(fixture.root(), "mark-copy.tif")
    shutil.copyfile(colour_file(), copy)
    tag = site().get(address).header("ETag")
    assert site(copy).get(address).header("ETag") == tag
    tags = [tag, plain_site().get(address).header("ETag")]
    tags += [site(**settings).get(address).header("ETag") for settings in (
        dict(WATERMARK_OPACITY="0.5"), dict(WATERMARK_PROBABILITY="0.5"), dict(WATERMARK_PROBABILITY="0"),
        dict(mark=mark_file("mark-gray.tif", numpy.arange(1, 241).reshape(12, 20, 1).astype(numpy.uint8))))]
    assert len(set(tags)) == len(tags), tags
    assert site().get(address, {"If-None-Match": tag}).status == 304


def test_shared_cache_keeps_them_apart():
    address = "%s%s/full/100,/0/default.png" % (V3, flat_file())
    with Memcached() as cache:
        settings = dict(MEMCACHED_SERVERS=cache.address, MAX_IMAGE_CACHE_SIZE="0", MEMCACHED_POLL_TIMEOUT="2000")
        with Site("direct", fixture.root(), **settings) as plain, \
                Site("direct", fixture.root(), WATERMARK=colour_file(), **settings) as other:
            for unused in range(3):
                assert place_of(pixels_of(plain.get(address)), BASE) is None
                check(pixels_of(other.get(address)))
            assert other.log_text().count("from memcached") == 2
            assert plain.log_text().count("from memcached") == 2


# -- what cannot be a mark

def check_config(**settings):
    env = dict(server.base_environment(), FILESYSTEM_PREFIX="/", **settings)
    done = subprocess.run([server.TEGULA, "--check-config"], env=env, capture_output=True, timeout=60)
    return done.returncode, done.stderr.decode(errors="replace")


def hostile_marks():
    """name -> bytes of files that are no marks."""
    with open(colour_file(), "rb") as f:
        good = f.read()
    huge = bytearray(good)
    at = int.from_bytes(good[4:8], "little")
    for i in range(int.from_bytes(good[at:at + 2], "little")):
        entry = at + 2 + 12 * i
        if int.from_bytes(good[entry:entry + 2], "little") in (256, 257):
            huge[entry + 8:entry + 12] = (2 ** 30).to_bytes(4, "little")
    return {"cut.tif": good[:len(good) // 2], "empty.tif": b"", "text.tif": b"no picture at all" * 9,
            "huge.tif": bytes(huge), "head.tif": good[:8], "zeros.tif": bytes(5000)}


def test_no_mark_is_said_and_served_without():
    folder = os.path.join(fixture.root(), "marks")
    os.makedirs(folder, exist_ok=True)
    bad = ["/no/such/folder/mark.tif", folder, "/dev/zero", "mark\n.tif"]
    for name, body in hostile_marks().items():
        path = os.path.join(folder, name)
        with open(path, "wb") as f:
            f.write(body)
        bad.append(path)
    wide = numpy.zeros((2100, 2100, 1), numpy.uint8)
    bad.append(mark_file("mark-too-large.tif", wide))
    for path in bad:
        status, said = check_config(WATERMARK=path)
        assert status == 1 and said.count("WATERMARK=") == 1, (path, status, said)
    assert check_config(WATERMARK=colour_file()) == (0, "")
    assert check_config(WATERMARK="") == (0, "")
    address = "%s%s/full/100,/0/default.png" % (V3, flat_file())
    for path in (bad[0], os.path.join(folder, "cut.tif")):
        with Site("direct", fixture.root(), WATERMARK=path) as without:
            assert "WATERMARK=" + path in without.log_text()
            assert place_of(pixels_of(without.get(address)), BASE) is None


def test_values_out_of_range_are_said():
    for name in ("WATERMARK_OPACITY", "WATERMARK_PROBABILITY"):
        for value in ("1.5", "-1", "x", "nan"):
            status, said = check_config(**{name: value})
            assert status == 1 and name in said, (name, value, said)


def test_damaged_marks_never_end_it():
    """Bytes of a good one changed one after the other: a mark or none, and one line at most."""
    with open(colour_file(), "rb") as f:
        good = f.read()
    rng = numpy.random.default_rng(7)
    path = os.path.join(fixture.root(), "mark-damaged.tif")
    for unused in range(40):
        body = bytearray(good)
        for at in rng.integers(0, len(good), 4):
            body[at] = rng.integers(0, 256)
        with open(path, "wb") as f:
            f.write(body)
        status, said = check_config(WATERMARK=path)
        assert status == (1 if "WATERMARK=" in said else 0), (status, said)


def test_explain_knows_the_place():
    name = flat_file()
    for address in ("%s%s/full/100,/0/default.png" % (V3, name), "/iip?FIF=%s&PTL=3,5" % name):
        env = dict(server.base_environment(), FILESYSTEM_PREFIX=os.path.join(fixture.root(), ""), URI_MAP=MAPS,
                   WATERMARK=colour_file())
        told = subprocess.run([server.TEGULA, "--explain", address], env=env, capture_output=True, timeout=20)
        place = place_of(pixels_of(site().get(address)), BASE)
        assert "watermark: at %d,%d\n" % place[:2] in told.stdout.decode(), told


def test_measured_values_are_the_pictures_own():
    values = site().get("/iip?FIF=%s&PFL=3:0,0-20,0" % flat_file()).json()["profile"]
    assert values == list(BASE) * 20
