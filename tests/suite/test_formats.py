"""Each output format shows what the PNG of the same request shows, within what the format loses."""
import re
import struct
import unittest
import zlib

import numpy
from PIL import ImageSequence

import fixture
from iiif import BOTH, V2, V3, expect, get, info, site

TYPES = {"jpg": "image/jpeg", "png": "image/png", "gif": "image/gif", "jp2": "image/jp2", "pdf": "application/pdf",
         "tif": "image/tiff", "webp": "image/webp", "avif": "image/avif"}
TURNS = ("0", "!90", "180", "22.5")
QUALITIES = ("default", "gray", "bitonal")


def offered(version, identifier):
    document = info(version, identifier)
    return document["profile"][1]["formats"] if version == V2 else ["jpg", "png"] + document["extraFormats"]


def smooth():
    """Three slow waves of colour; no hard edge, and thousands of colours."""
    x, y = numpy.arange(640), numpy.arange(480)[:, None]
    waves = (x + 0 * y) / 90, (y + 0 * x) / 70, (x + y) / 110
    return numpy.stack([128 + 120 * numpy.sin(wave) for wave in waves], 2).astype(numpy.uint8)


def colour():
    return fixture.pyramid("formats-colour.tif", smooth)


def rgba(reply):
    return numpy.asarray(reply.image().convert("RGBA"))


def picture_of(pdf):
    """The JPEG stream, found as a reader does: by the cross-reference table and the objects' numbers."""
    table = int(re.search(rb"startxref\n(\d+)\n%%EOF\n$", pdf).group(1))
    count = int(re.match(rb"xref\n0 (\d+)\n", pdf[table:]).group(1))
    at = pdf.index(b"0000000000 65535 f \n", table)
    offsets = [int(pdf[at + 20 * i:at + 20 * i + 10]) for i in range(count)]
    objects = {}
    for number, offset in enumerate(offsets[1:], 1):
        head = b"%d 0 obj\n" % number
        assert pdf[offset:offset + len(head)] == head, (number, offset)
        objects[number] = pdf[offset + len(head):]
    page = next(body for body in objects.values() if body.startswith(b"<< /Type /Page "))
    box = [float(v) for v in re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", page).groups()]
    image = objects[int(re.search(rb"/XObject << /Im (\d+) 0 R", page).group(1))]
    length = int(objects[int(re.search(rb"/Length (\d+) 0 R", image).group(1))].split(b"\n")[0])
    start = image.index(b"stream\n") + 7
    assert image[start + length:].startswith(b"\nendstream\nendobj\n")
    size = tuple(int(re.search(rb"/%s (\d+)" % key, image).group(1)) for key in (b"Width", b"Height"))
    return image[start:start + length], size, box


def each(forms=None):
    """(format, quality, reply in that format, reply as PNG) of some views in every format."""
    for form in offered(V3, colour()):
        for quality in QUALITIES if forms is None or form in forms else ():
            for turn in TURNS:
                how = dict(size="300,", rotation=turn, quality=quality)
                yield form, quality, expect(get(V3, colour(), form=form, **how), 200, form), get(V3, colour(), **how)


def test_offered_is_served_and_the_rest_is_not():
    for version in BOTH:
        names = offered(version, colour())
        assert {"jpg", "png", "pdf", "tif", "webp"} <= set(names) <= set(TYPES), names
        for form, kind in TYPES.items():
            reply = get(version, colour(), size="100,", form=form)
            assert reply.status == (200 if form in names else 400), form
            assert form not in names or reply.type() == kind, reply.type()
            assert form not in names or ("100x75." + form) in reply.header("Content-Disposition"), form


def test_sizes():
    for form, _, reply, png in each({"avif", "gif", "jp2", "tif", "webp"}):
        assert reply.image().size == png.image().size, form


def test_tiff_is_the_same_picture():
    for _, quality, reply, png in each({"tif"}):
        assert (rgba(reply) == rgba(png)).all(), quality
        tags = reply.image().tag_v2
        assert tags[262] == (1 if quality != "default" else 2), "photometric %r" % tags[262]
        assert tags[258][0] == (1 if quality == "bitonal" else 8)


def test_jp2_is_nearly_the_same_picture():
    for _, quality, reply, png in each({"jp2"}):
        got, want = rgba(reply), rgba(png)
        seen = want[:, :, 3] > 0  # colour under full transparency is free
        quality_db = fixture.psnr(got[seen], want[seen])
        assert quality_db >= (30 if quality == "bitonal" else 38), (quality, quality_db)


def test_avif_is_nearly_the_same_picture():
    for _, quality, reply, png in each({"avif"}):
        got, want = rgba(reply), rgba(png)
        assert (got[:, :, 3] == want[:, :, 3]).all(), quality
        seen = want[:, :, 3] > 0
        quality_db = fixture.psnr(got[seen], want[seen])
        assert quality_db >= (25 if quality == "bitonal" else 33), (quality, quality_db)


def test_avif_by_its_quality():
    if "avif" not in offered(V3, colour()):
        raise unittest.SkipTest("built without libavif")
    want, sizes, tags = rgba(get(V3, colour(), size="300,")), [], set()
    for setting in (0, 30, 60, 90):
        reply = expect(get(V3, colour(), size="300,", form="avif", on=site(AVIF_QUALITY=setting)), 200)
        sizes.append(len(reply.body))
        tags.add(reply.header("ETag"))
    assert sizes == sorted(set(sizes)) and len(tags) == 4, sizes
    exact = site(AVIF_QUALITY=-1)
    assert (rgba(get(V3, colour(), size="300,", form="avif", on=exact)) == want).all()
    for quality in ("gray", "bitonal"):
        got = get(V3, colour(), size="300,", form="avif", quality=quality, on=exact)
        assert (rgba(got) == rgba(get(V3, colour(), size="300,", quality=quality))).all(), quality


def test_gif_has_the_colours_that_fit():
    for _, quality, reply, png in each({"gif"}):
        assert sum(1 for _ in ImageSequence.Iterator(reply.image())) == 1
        got, want = rgba(reply), rgba(png)
        seen = want[:, :, 3] >= 128
        assert ((got[:, :, 3] == 255) == seen).all(), quality
        if quality != "default":
            assert fixture.largest_difference(got[seen][:, :3], want[seen][:, :3]) <= 1, quality
        assert fixture.psnr(got[seen], want[seen]) >= 27, quality


def test_pdf_holds_the_jpeg():
    for _, quality, reply, png in each({"pdf"}):
        assert reply.body.startswith(b"%PDF-1.")
        _, size, box = picture_of(reply.body)
        assert size == png.image().size and tuple(box) == size, (size, box)
    for turn in TURNS:
        jpg = get(V3, colour(), size="300,", rotation=turn, form="jpg")
        assert picture_of(get(V3, colour(), size="300,", rotation=turn, form="pdf").body)[0] == jpg.body


def test_resolution():
    """600 dpi across and 300 down at half size: one inch by one inch and a half, whatever the format."""
    tags = {282: (5, [600, 1]), 283: (5, [300, 1]), 296: (3, [2])}
    name = fixture.pyramid("formats-dpi.tif", lambda: fixture.ramp(600, 450), tags=tags)
    tif = get(V3, name, size="300,", form="tif").image()
    assert [float(v) for v in tif.info["dpi"]] == [300, 150]
    assert picture_of(get(V3, name, size="300,", form="pdf").body)[2] == [72, 108]
    assert picture_of(get(V3, name, size="300,", rotation="90", form="pdf").body)[2] == [108, 72]


def test_sixteen_bits_stay():
    name = fixture.pyramid("formats-gray16.tif", lambda: fixture.gray(500, 300, 65535))
    want = numpy.asarray(get(V3, name).image()).astype(int)
    assert (want == fixture.gray(500, 300, 65535)[:, :, 0]).all()
    got = get(V3, name, form="tif").image()
    assert got.mode.startswith("I;16") and (numpy.asarray(got).astype(int) == want).all(), got.mode
    if "jp2" in offered(V3, name):
        got = get(V3, name, form="jp2").image()
        assert got.mode.startswith("I"), got.mode
        assert abs(numpy.asarray(got).astype(int) - want).max() <= 65535 / 100


def test_compression_of_tiff():
    seen = set()
    for setting, tag, floor in ((0, 1, 99), (1, 5, 99), (2, 8, 99), (3, 7, 34), (4, 50001, 30), (5, 50000, 99)):
        on = site(TIFF_COMPRESSION=setting, TIFF_QUALITY=90)
        reply = expect(get(V3, colour(), size="300,", form="tif", on=on), 200)
        found = reply.image().tag_v2[259]
        assert found == tag or (setting >= 4 and found == 8), (setting, found)  # libtiff without these
        seen.add(reply.header("ETag"))
        if tag < 50000:  # not every Pillow reads the others
            assert fixture.psnr(rgba(reply), rgba(get(V3, colour(), size="300,"))) >= floor, setting
    assert len(seen) == 6, "the settings shape the answer"


def filters_of(png):
    """Of every row: the first byte of each, behind what zlib undoes (PNG, 9.2)."""
    data, at = b"", 8
    while at < len(png):
        length, kind = struct.unpack(">L4s", png[at:at + 8])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += length + 12
    return set(zlib.decompress(data)[::1 + 3 * 300])


def test_filters_of_png():
    want, tags = rgba(get(V3, colour(), size="300,")), set()
    for setting, found in (("NONE", {0}), ("SUB", {0, 1}), ("UP", {2}), ("AVG", {3}), ("PAETH", {4})):
        reply = expect(get(V3, colour(), size="300,", on=site(PNG_FILTER_TYPE=setting)), 200)
        assert filters_of(reply.body) <= found | {0} and max(filters_of(reply.body)) == max(found), setting
        assert (rgba(reply) == want).all(), setting
        tags.add(reply.header("ETag"))
    assert len(tags) == 5
    assert len(filters_of(get(V3, colour(), size="300,", on=site(PNG_FILTER_TYPE="ALL")).body)) > 1
    quick = site(PNG_COMPRESSION_LEVEL="Z_BEST_SPEED", PNG_QUALITY=9, PNG_FILTER_TYPE="UP")
    small = site(PNG_COMPRESSION_LEVEL="Z_BEST_COMPRESSION", PNG_QUALITY=1, PNG_FILTER_TYPE="UP")
    a, b = (len(get(V3, colour(), size="300,", on=on).body) for on in (quick, small))
    assert a > b, (a, b)


def test_memory_of_rasters_is_counted():
    """Formats that need the whole picture at once (4 bytes a pixel) end where memory does; others go on."""
    on = site(MEMORY_LIMIT=64)
    for form, status in (("webp", 413), ("avif", 413), ("gif", 413), ("pdf", 200), ("jpg", 200)):
        if form in offered(V3, colour()):
            expect(get(V3, colour(), size="^5000,5000", form=form, on=on), status, form)
