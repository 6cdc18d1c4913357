"""TIFF with pixels coded by others than libtiff, and chains of pages and levels as writers leave them."""
import io

import numpy
from PIL import Image

import fixture
from iiif import V3, expect, get, info, mosaic, site

W, H = 300, 200


def jpeg_2000(block, **options):
    pixels = block[:, :, 0] if block.shape[2] == 1 else block
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG2000", no_jp2=True, **options)
    return out.getvalue()


def jpeg_2000_ycc(block):
    """Components that are YCbCr without the codestream saying so."""
    return jpeg_2000(numpy.asarray(Image.fromarray(block).convert("YCbCr")), mct=0)


def test_jpeg_2000_tiles():
    """Aperio's 33003 is YCbCr whatever the photometric interpretation says; 33004 and 34712 go by it."""
    picture, grey = fixture.ramp(W, H), fixture.gray(W, H)
    deep = fixture.gray(W, H, 65535)
    for name, pixels, tolerance, how in (
            ("aperio-rgb", picture, 0, dict(compression=33005, encode=jpeg_2000)),
            ("aperio-ycc", picture, 4, dict(compression=33003, encode=jpeg_2000_ycc)),
            ("ycc", picture, 4, dict(compression=33004, encode=jpeg_2000_ycc, photometric=fixture.YCBCR)),
            ("strips", picture, 0, dict(compression=34712, encode=jpeg_2000, tile=None, rows=64)),
            ("one-strip", picture, 0, dict(compression=34712, encode=jpeg_2000, tile=None, rows=H)),
            ("planes", picture, 0, dict(compression=34712, encode=jpeg_2000, planar=True)),
            ("grey", grey, 0, dict(compression=34712, encode=jpeg_2000, tile=(64, 48))),
            ("grey-white", 255 - grey, 0, dict(compression=34712, encode=jpeg_2000, photometric=0)),
            ("grey-16", deep, 0, dict(compression=34712, encode=jpeg_2000))):
        how.setdefault("photometric", fixture.RGB if pixels.shape[2] == 3 else fixture.MIN_IS_BLACK)
        name = fixture.pyramid("jp2k-%s.tif" % name, pixels, one_level=how.pop("one_level", True), **how)
        want = 255 - pixels if how["photometric"] == 0 else pixels
        got = numpy.asarray(get(V3, name).image())
        assert fixture.largest_difference(got.reshape(want.shape), want) <= tolerance, name
        part = numpy.asarray(get(V3, name, "31,17,201,150").image())
        assert (part == got[17:167, 31:232]).all(), name


def test_damaged_jpeg_2000_tile():
    def broken(block):
        data = jpeg_2000(block)
        return data[:len(data) // 2]

    name = fixture.pyramid("jp2k-cut.tif", fixture.ramp(W, H), one_level=True, compression=33005, encode=broken,
                           photometric=fixture.RGB)
    expect(get(V3, name), 500)


def test_whole_tiles_go_on_where_others_are_missing():
    """Without STRICT a tile that is no picture is white; the others are as they were."""
    picture, done = fixture.ramp(512, 256), []

    def second_broken(block):
        out = io.BytesIO()
        Image.fromarray(block).save(out, "JPEG", quality=95, subsampling=0)
        done.append(block)
        return out.getvalue() if len(done) == 1 else b"\xff\xd8no picture at all"

    name = fixture.pyramid("jpeg-half.tif", picture, one_level=True, compression=fixture.JPEG,
                           photometric=fixture.YCBCR, tables=False, encode=second_broken)
    expect(get(V3, name), 500)
    got = get(V3, name, on=site(STRICT=0)).pixels()
    assert fixture.largest_difference(got[:, :256], picture[:, :256]) <= 12
    assert (got[:, 256:] == 255).all()


def test_masks_are_neither_pages_nor_levels():
    """As GDAL writes them: NewSubfileType 4 and 5, one bit, between the levels."""
    def make(path):
        full = fixture.ramp(1024, 768)
        half, quarter = fixture.levels_of(full, (256, 256))
        mask = fixture.flat(1024, 768, (1,))
        with fixture.Tiff(path) as tiff:
            tiff.page(full)
            tiff.page(mask, subfile=4, bits=1)
            tiff.page(half, subfile=1)
            tiff.page(mask[:384, :512], subfile=5, bits=1)
            tiff.page(quarter, subfile=1)

    name = fixture.once("masks.tif", make)
    document = info(V3, name)
    assert {256, 512} <= {size["width"] for size in document["sizes"]} <= {256, 512, 1024}, document["sizes"]
    assert fixture.largest_difference(mosaic(V3, name)[1], fixture.ramp(1024, 768)) == 0


def test_levels_of_numbers_share_a_range():
    """The smallest level decides for all."""
    full = numpy.tile(numpy.linspace(-5, 5, 1024).astype(numpy.float32), (512, 1))[:, :, None]

    def make(path):
        with fixture.Tiff(path) as tiff:
            for step, subfile in ((1, 0), (2, 1), (4, 1)):
                tiff.page(full[::step, ::step], subfile=subfile, tags={339: (3, [3])})

    name = fixture.once("float-levels.tif", make)
    for size in ("1024,", "512,", "256,"):
        got = numpy.asarray(get(V3, name, size=size, form="jpg").image()).astype(int)
        assert got[:, 0].max() <= 3 and got[:, -1].min() >= 252 and abs(got[9, got.shape[1] // 2] - 128) <= 3, size


def test_kinds_that_are_refused_say_why():
    for compression, word in ((50002, b"JPEG XL"), (52546, b"JPEG XL"), (65000, b"compression")):
        name = fixture.pyramid("refused-%d.tif" % compression, fixture.ramp(64, 64), one_level=True,
                               compression=compression, encode=lambda block: b"\0" * 64)
        reply = expect(get(V3, name), 415 if compression == 65000 else 501)
        assert word in reply.body, reply.body
