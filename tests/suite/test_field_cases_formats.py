"""Faults that users of image servers reported in public: those about formats and colour, and JPEG 2000.

As in test_field_cases, which has the others, and the earlier ones of these.
"""
import io
import os
import re
import struct

import numpy
from PIL import Image, ImageCms

import fixture
import kinds
from iiif import BOTH, V3, close, expect, expect_size, get, get_tile, info, mosaic, site, tiles

CORNERS = ((50, 50, (255, 0, 0)), (550, 50, (0, 255, 0)), (50, 350, (0, 0, 255)), (550, 350, (255, 255, 255)),
           (300, 200, (128, 128, 128)))


def lossless_mosaic(version, name, picture):
    """Tiles of the first factor are the source."""
    assert fixture.largest_difference(mosaic(version, name)[1], picture) == 0, name


# -- D. formats and colour

def corners_files():
    """The corners with every orientation, as pyramid of either kind of tile and as JPEG."""
    picture = fixture.corners(600, 400)
    for o in range(1, 9):
        stored = kinds.stored_for(picture, o)
        yield o, fixture.pyramid("corners-o%d.tif" % o, stored, tags={274: (3, [o])})
        yield o, fixture.pyramid("corners-o%d-jpeg.tif" % o, stored, compression=fixture.JPEG, tags={274: (3, [o])})
        yield o, kinds.by_pillow("corners-o%d.jpg" % o, stored, "JPEG", quality=90, subsampling=0, orientation=o)


def test_35_pictures_stand_upright():
    """Sideways; each tile turned by the browser; size and pixels disagreed."""
    for o, name in corners_files():
        for version in BOTH:
            document = info(version, name)
            assert (document["width"], document["height"]) == (600, 400), (name, document["width"])
            for form in ("png", "jpg"):
                for size, scale in (("max", 1), ("300,", .5)):
                    reply = get(version, name, size=size, form=form)
                    assert not kinds.orientation_tags(reply.body), name
                    got = reply.pixels()
                    assert got.shape[:2] == (400 * scale, 600 * scale), (name, size, got.shape)
                    for x, y, colour in CORNERS:
                        check_colour(got[int(y * scale), int(x * scale)], colour, name)
            for factor, region, size in tiles(document):
                reply = get_tile(version, name, region, size, "jpg")
                expect_size(reply, *size, what=name)
                assert not kinds.orientation_tags(reply.body), name


def check_colour(got, want, what, tolerance=6):
    assert numpy.abs(numpy.asarray(got, int) - want).max() <= tolerance, "%s: %r, not %r" % (what, got, want)


def test_35_tiles_of_turned_pictures_fit():
    """The mosaic is the upright picture, whatever way the pyramid is stored."""
    picture = fixture.corners(600, 400)
    for o in range(1, 9):
        name = fixture.pyramid("corners-o%d.tif" % o, kinds.stored_for(picture, o), tags={274: (3, [o])})
        lossless_mosaic(V3, name, picture)


def test_36_palette():
    """The index was shown as grey."""
    index = numpy.tile(numpy.arange(300) % 256, (300, 1)).astype(numpy.uint8)[:, :, None]
    table = numpy.stack((numpy.arange(256), 255 - numpy.arange(256), (numpy.arange(256) * 7) % 256))
    name = fixture.pyramid("palette.tif", index, one_level=True, photometric=fixture.PALETTE,
                           tags={320: (3, [int(v) * 257 for v in table.reshape(-1)])})
    want = table.T[index[:, :, 0]].astype(numpy.uint8)
    for version in BOTH:
        assert fixture.largest_difference(get(version, name).pixels(), want) == 0
        got = get(version, name, "0,0,256,256", "256,256", form="jpg").image()
        assert got.mode == "RGB"
        # Blue of the table jumps from pixel to pixel, which subsampling does not carry.
        assert fixture.psnr(numpy.asarray(got)[:, :, :2], want[:256, :256, :2]) >= 22


def test_37_cmyk_without_profile():
    """The first three inks were shown as RGB."""
    inks = ((0, 0, 0, 0), (255, 0, 0, 0), (0, 255, 0, 0), (0, 0, 255, 0), (0, 0, 0, 255))
    pixels = numpy.concatenate([fixture.flat(100, 100, ink) for ink in inks], 1)
    name = fixture.pyramid("cmyk.tif", pixels, one_level=True, photometric=fixture.SEPARATED)
    for version in BOTH:
        for form in ("png", "jpg"):
            got = get(version, name, form=form).image()
            assert got.mode == "RGB"
            paper, c, m, y, k = (got.getpixel((50 + 100 * i, 50)) for i in range(5))
            assert min(paper) >= 245 and max(k) <= 60, (paper, k)
            assert c[2] > c[0] + 100 and m[0] > m[1] + 100 and y[0] > y[2] + 100, (c, m, y)


def float_ramp(name, tags=None):
    pixels = numpy.tile(numpy.linspace(0, 255, 400), (300, 1)).astype(numpy.float32)[:, :, None]
    return fixture.pyramid(name, pixels, one_level=True, tags={339: (3, [3]), **(tags or {})})


def test_38_floating_samples():
    """All white."""
    plain = float_ramp("float.tif")
    twin = float_ramp("float-max.tif", {341: (11, [1000.])})
    for version in BOTH:
        got = get(version, plain, form="jpg").pixels().astype(int)
        assert got.ndim == 2 and got[:, 0].max() <= 3 and got[:, -1].min() >= 252, (got[0, 0], got[0, -1])
        assert (numpy.diff(got[150]) >= -2).all()
        deep = numpy.asarray(get(version, plain).image())[150]
        assert (numpy.diff(deep.astype(int)) >= 0).all() and (deep[0], deep[-1]) in ((0, 255), (0, 65535))
        close(got[150, 200], 128, 2)
        dark = get(version, twin, form="jpg").pixels().astype(int)
        close(dark[150, -1], 65, 3)
        close(dark[150, 200], 33, 3)


def test_39_separate_planes():
    """The first plane was shown as grey."""
    picture = fixture.ramp(700, 500)
    for compression in (fixture.DEFLATE, fixture.NONE):
        for tile in ((256, 256), None):
            kind = "%d-%s" % (compression, "tiles" if tile else "strips")
            how = dict(compression=compression, tile=tile, rows=100)

            def make(path, planar):
                with fixture.Tiff(path) as tiff:
                    tiff.page(picture, planar=planar, **how)

            name = fixture.once("planes-%s.tif" % kind, lambda path: make(path, True))
            twin = fixture.once("no-planes-%s.tif" % kind, lambda path: make(path, False))
            for version in BOTH:
                for region, size in (("full", "max"), ("256,0,256,256", "256,256"), ("full", "300,")):
                    a, b = get(version, name, region, size).pixels(), get(version, twin, region, size).pixels()
                    assert a.shape[2] == 3 and fixture.largest_difference(a, b) == 0, (kind, region)


def test_41_webp_with_metadata():
    """Blank in the browser."""
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/">' + b" " * 30000 + b"</x:xmpmeta>"
    picture = fixture.ramp(1024, 768)
    name = fixture.pyramid("ramp-xmp-icc.tif", picture, tags={700: (1, xmp), 34675: (7, kinds.swapped_profile())})
    on = site(KEEP_METADATA=1, RETAIN_SOURCE_ICC_PROFILE=1, WEBP_QUALITY=90)
    for region, size in (("0,0,256,256", "256,256"), ("100,100,300,300", "max"), ("full", "500,")):
        reply = expect(get(V3, name, region, size, form="webp", on=on), 200)
        shown = reply.image().convert("RGB")
        x, y, w, h = [int(v) for v in region.split(",")] if "," in region else (0, 0, 1024, 768)
        want = fixture.reduced(picture, shown.size, (x, y, w, h))
        assert fixture.psnr(numpy.asarray(shown)[:, :, :2], want[:, :, :2]) >= 30
        body, at, found, flags = reply.body, 12, [], 0
        assert body[:4] == b"RIFF" and struct.unpack("<L", body[4:8])[0] == len(body) - 8 and body[8:12] == b"WEBP"
        while at < len(body):
            length = struct.unpack("<L", body[at + 4:at + 8])[0]
            found.append(body[at:at + 4])
            if found[-1] == b"VP8X":
                flags = body[at + 8]
            at += 8 + length + length % 2
        assert at == len(body)
        # The container's order: header, profile, picture, metadata; flags of what there is.
        assert found == [kind for kind in (b"VP8X", b"ICCP", b"VP8 ", b"XMP ") if kind in found], found
        assert (b"ICCP" in found) == bool(flags & 32) and (b"XMP " in found) == bool(flags & 4)
        assert b"ICCP" in found and b"XMP " in found, found


def strict_jpeg(data):
    """Marker segments one after the other up to the scan, the picture whole, the end marker the end."""
    at = 2
    assert data[:2] == b"\xff\xd8" and data[-2:] == b"\xff\xd9"
    while data[at + 1] != 0xDA:
        assert data[at] == 0xFF, "no marker at %d" % at
        at += 2 + struct.unpack(">H", data[at + 2:at + 4])[0]
    Image.open(io.BytesIO(data)).load()


def test_44_metadata_of_all_sizes_and_broken():
    """info.json 500; a marker of wrong length, so that decoders refused the file."""
    def xmp(n):
        return (1, b'<x:xmpmeta xmlns:x="adobe:ns:meta/">' + b" " * n + b"</x:xmpmeta>")

    # An EXIF directory that points at itself, and tags of wrong types.
    broken = {"xmp-10k": {700: xmp(10000)}, "xmp-100k": {700: xmp(100000)}, "exif-loop": {34665: (4, [8])},
              "exif-beyond": {34665: (4, [2 ** 31])}, "iptc": {33723: (7, b"\x1c\x02\x74\xff\xff" + b"x" * 20)},
              "iptc-long": {33723: (4, [0x1c020000] * 500)}, "icc": {34675: (7, b"\0\0\0\x80nothing of a profile" * 9)},
              "types": {34665: (3, [77]), 700: (3, [1, 2, 3]), 282: (3, [0]), 283: (5, [1, 0])}}
    picture = fixture.ramp(600, 400)
    for settings in ({}, {"KEEP_METADATA": 1, "RETAIN_SOURCE_ICC_PROFILE": 1}):
        on = site(**settings)
        for kind, tags in broken.items():
            for compression in (fixture.DEFLATE, fixture.JPEG):
                name = fixture.pyramid("meta-%s-%d.tif" % (kind, compression), picture, compression=compression,
                                       tags=tags)
                for version in BOTH:
                    assert info(version, name, on=on)["width"] == 600
                    for size in ("400,", "max"):
                        reply = expect(get(version, name, size=size, form="jpg", on=on), 200, kind)
                        strict_jpeg(reply.body)
                        packets = reply.body.count(b"<x:xmpmeta"), reply.body.count(b"</x:xmpmeta>")
                        assert packets in ((0, 0), (1, 1)), (kind, packets)
                        if kind == "xmp-10k" and settings:
                            assert packets == (1, 1)
                        if not settings:
                            assert packets == (0, 0)
                    strict_jpeg(expect(get(version, name, "0,0,256,256", "256,256", form="jpg", on=on), 200).body)
                    expect(get(version, name, size="300,", on=on), 200).image()


def test_45_resolution_goes_with_the_size():
    """No density, or that of the full size."""
    inch = {282: (5, [300, 1]), 283: (5, [300, 1]), 296: (3, [2])}
    metric = {282: (5, [11811, 100]), 283: (5, [11811, 100]), 296: (3, [3])}
    for kind, tags in (("inch", inch), ("cm", metric)):
        name = fixture.pyramid("ramp-dpi-%s.tif" % kind, fixture.ramp(1000, 800), tags=tags)
        for version in BOTH:
            for form in ("jpg", "png"):
                for region, size, dpi in (("full", "500,", 150), ("0,0,512,512", "256,256", 150), ("full", "max", 300),
                                          ("0,0,256,256", "256,256", 300)):
                    found = get(version, name, region, size, form=form).image().info["dpi"]
                    close(found[0], dpi, 1)
                    close(found[1], dpi, 1)
            text = str(info(version, name).get("service"))
            assert "physdim" in text, text
            scale = float(re.search(r"'physicalScale': ([0-9.e-]+)", text).group(1))
            units = re.search(r"'physicalUnits': '(\w+)'", text).group(1)
            per_inch = {"in": 1, "cm": 1 / 2.54, "mm": 1 / 25.4}[units]
            close(scale * per_inch, 1 / 300, 1e-6)


def test_46_one_colour_on_every_path():
    """Colour shifted between paths; the profile came with some replies only."""
    wide = kinds.profile(kinds.ADOBE_RED, kinds.ADOBE_GREEN, kinds.ADOBE_BLUE, padding=3000)
    colour = (60, 140, 200)
    picture = fixture.flat(1024, 1024, colour)
    name = fixture.pyramid("wide-gamut.tif", picture, compression=fixture.JPEG, quality=95, tags={34675: (7, wide)})
    paths = (("256,256,256,256", "256,256"), ("257,256,256,256", "256,256"), ("256,256,512,512", "256,256"),
             ("full", "300,"), ("0,0,256,256", "^512,512"))
    swatch = Image.new("RGB", (1, 1), colour)
    srgb = ImageCms.profileToProfile(swatch, io.BytesIO(wide), ImageCms.createProfile("sRGB"),
                                     ImageCms.INTENT_RELATIVE_COLORIMETRIC).getpixel((0, 0))
    for retain, limit, kept in ((1, -1, True), (1, 65536, True), (1, 0, False), (0, -1, False), (0, 0, False)):
        on = site(RETAIN_SOURCE_ICC_PROFILE=retain, MAX_ICC=limit)
        for version in BOTH:
            for form in ("jpg", "png"):
                means = []
                for region, size in paths:
                    picture = get(version, name, region, size if version == V3 else size.lstrip("^"), form=form,
                                  on=on).image()
                    assert (picture.info.get("icc_profile") == wide) == kept, (retain, limit, region, form)
                    means.append(numpy.asarray(picture).reshape(-1, 3).astype(float).mean(0))
                spread = numpy.ptp(numpy.array(means), 0).max()
                assert spread <= 1, (retain, limit, form, means)
                check_colour(means[0].round(), colour if kept else srgb, (retain, limit, form), 2)


# -- E. JPEG 2000

def ramp_jp2(w, h, levels=5, **how):
    return kinds.made_jp2("ramp-%dx%d-%d.jp2" % (w, h, levels), lambda: fixture.ramp(w, h),
                          ("-n", str(levels + 1)), **how)


def test_33_a_cut_file_is_an_error_not_a_picture():
    """200 image/jpeg whose body was an error text."""
    whole = ramp_jp2(3000, 2000)

    def make(path):
        with open(os.path.join(fixture.root(), whole), "rb") as f:
            data = f.read()
        with open(path, "wb") as f:
            f.write(data[:len(data) * 6 // 10])

    name = fixture.once("cut.jp2", make)
    for version in BOTH:
        for size in ("max", "100,"):
            reply = get(version, name, size=size, form="jpg")
            if reply.status == 200:
                reply.image()
            else:
                assert reply.status >= 500 and not reply.type().startswith("image/"), reply


def test_51_below_the_smallest_level():
    """Crash below the smallest stored level."""
    name = ramp_jp2(2000, 1500, 2)
    for version in BOTH:
        for size, (w, h) in ((",128", (171, 128)), (",120", (160, 120)), ("31,", (31, 23)), ("1,", (1, 1))):
            got = get(version, name, size=size).pixels()
            assert got.shape[:2] == (h, w), got.shape
            if w > 31:
                want = fixture.reduced(fixture.ramp(2000, 1500), (w, h))
                assert fixture.psnr(got[:, :, :2], want[:, :, :2]) >= 36, size
        document = info(version, name)
        factor, region, size = max(tiles(document), key=lambda tile: tile[0])
        expect_size(get_tile(version, name, region, size), *size)


def test_52_level_of_odd_width():
    """A column was invalid, later tiles shifted."""
    name = ramp_jp2(2050, 1030)
    picture = fixture.ramp(2050, 1030)
    for version in BOTH:
        pictures = mosaic(version, name)
        assert fixture.largest_difference(pictures[1], picture) == 0
        half = pictures[2]
        assert half.shape[:2] == (515, 1025)
        want = fixture.reduced(picture, (1025, 515))
        # Blue is a checkerboard, where the wavelet's low band and Lanczos differ.
        assert fixture.psnr(half[:, :, :2], want[:, :, :2]) >= 38
        apart = numpy.abs(half[:, :, 0].astype(float).mean(0) - want[:, :, 0].astype(float).mean(0))
        assert apart.max() <= 1.5, (apart.argmax(), apart.max())


def test_53_all_depths():
    """Near black; 500; noise."""
    grey = numpy.arange(600) / 599
    for bits, signed in [(bits, False) for bits in (1, 2, 4, 8, 10, 12, 16)] + [(8, True)]:
        values = numpy.round(grey * ((1 << bits) - 1)).astype(int) - ((1 << bits - 1) if signed else 0)
        name = kinds.made_jp2("grey-%d%s.jp2" % (bits, "s" if signed else ""),
                              numpy.tile(values, (400, 1))[:, :, None], bits=bits, signed=signed)
        for version in BOTH:
            for region, size in (("full", "max"), ("0,0,600,400", "300,")):
                got = get(version, name, region, size, form="jpg").image()
                assert got.mode == "L", (bits, got.mode)
                row = numpy.asarray(got).astype(int)[100]
                assert row[0] <= 6 and row[-1] >= 249, (bits, signed, row[0], row[-1])
                if bits >= 8:
                    assert (numpy.diff(row) >= -3).all(), (bits, signed)
            row = numpy.asarray(get(version, name).image()).astype(float)[200]
            top = 65535 if bits > 8 else 255
            want = numpy.round((values + ((1 << bits - 1) if signed else 0)) * top / ((1 << bits) - 1))
            assert numpy.abs(row - want).max() <= 1, (bits, signed, numpy.abs(row - want).max())
    deep = kinds.made_jp2("rgb-16.jp2", lambda: fixture.ramp(600, 400, 65535), bits=16)
    for version in BOTH:
        got = get(version, deep, form="jpg").pixels().astype(int)
        want = fixture.ramp(600, 400)
        close(got[200, :, 0].mean(), want[200, :, 0].mean(), 2)
        assert got[0, 0, 0] <= 12 and got[-1, -1, 0] >= 243 and got[-1, -1, 1] >= 243


def test_54_colour_by_the_number_of_components():
    """500, or a size of 0 when it came to render."""
    unknown = kinds.box(b"colr", struct.pack(">BBB", 77, 0, 0), b"who knows")
    rgb, four = fixture.ramp(300, 200), numpy.dstack((fixture.ramp(300, 200), numpy.full((200, 300), 200, numpy.uint8)))
    for kind, pixels, colour in (("none", rgb, b""), ("unknown", rgb, unknown), ("four", four, None)):
        name = kinds.made_jp2("colour-%s.jp2" % kind, pixels, ("-mct", "0"), colour=colour)
        for version in BOTH:
            document = site().get(version + name + "/info.json")
            reply = get(version, name, size="200,")
            assert document.status == reply.status, (kind, document.status, reply.status)
            expect(reply, 200, kind)
            assert document.json()["width"] == 300
            got = numpy.asarray(reply.image().convert("RGBA"))[:, :, :2]
            assert fixture.psnr(got, fixture.reduced(rgb, (200, 133))[:, :, :2]) >= 36, kind


def test_55_all_tiles_and_the_first_reply():
    """The right and lower half were 404; the first reply came without its profile."""
    name, picture = ramp_jp2(3000, 2000), fixture.ramp(3000, 2000)
    for version in BOTH:
        pictures = mosaic(version, name)
        assert fixture.largest_difference(pictures[1], picture) == 0
        for x, y in ((100, 100), (2000, 100), (100, 1500), (2000, 1500)):
            got = get(version, name, "%d,%d,333,222" % (x, y)).pixels()
            assert fixture.largest_difference(got, picture[y:y + 222, x:x + 333]) == 0
    colour = kinds.box(b"colr", b"\2\0\0" + kinds.swapped_profile())
    with_profile = kinds.made_jp2("ramp-icc.jp2", fixture.ramp(300, 200), colour=colour)
    on = site(RETAIN_SOURCE_ICC_PROFILE=1, BACKGROUND="#fefefe")  # nobody asked this one before
    first, second = (get(V3, with_profile, form="jpg", on=on) for _ in range(2))
    assert first.body == second.body and first.image().info.get("icc_profile") == kinds.swapped_profile()


def test_56_subsampled_sycc_of_odd_size():
    """Wrong colours, over-read at the edge."""
    w, h = 1001, 701
    picture = fixture.ramp(w, h)
    picture[:, :, 2] = 100  # chroma that halving does not lose
    y, cb, cr = (numpy.asarray(Image.fromarray(picture).convert("YCbCr"))[:, :, i] for i in range(3))
    half = [numpy.asarray(Image.fromarray(plane).resize((501, 351), Image.BOX, (0, 0, w, h))) for plane in (cb, cr)]
    name = kinds.jp2("sycc-420.jp2", lambda: kinds.codestream([y] + half, subsampled=True), (w, h), 3,
                     kinds.colour_box(18))
    for version in BOTH:
        assert info(version, name)["width"] == w
        for region in ((0, 0, w, h), (0, 0, 256, 256), (333, 221, 200, 150), (900, 600, 101, 101), (1000, 700, 1, 1)):
            got = get(version, name, "%d,%d,%d,%d" % region).pixels().astype(int)
            x, top, rw, rh = region
            want = picture[top:top + rh, x:x + rw].astype(int)
            assert got.shape == want.shape
            if min(rw, rh) > 8:
                apart = numpy.abs(got - want)[2:-6, 2:-2, :2]
                assert apart.max() <= 4, (region, apart.max())
