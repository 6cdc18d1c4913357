"""Sources of every kind with pixels that are known by hand: what each shows is arithmetic, not another
program's opinion."""
import struct

import numpy
from PIL import Image

import fixture
import kinds
from iiif import BOTH, V3, close, expect, expect_size, get, get_tile, info, mosaic, site, tiles

SIZE = W, H = 300, 200


def patches(*colours):
    """Upright bars of 60 px, as an array."""
    return numpy.concatenate([fixture.flat(60, 100, colour) for colour in colours], 1)


def patch_colours(reply):
    """The middle of each bar; the picture must be flat there."""
    pixels = numpy.asarray(reply.image())
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    found = []
    for x in range(30, pixels.shape[1], 60):
        middle = pixels[40:60, x - 10:x + 10].reshape(-1, pixels.shape[2]).astype(int)
        assert numpy.ptp(middle, 0).max() <= 3, "not flat"
        found.append(tuple(int(v) for v in middle.mean(0).round()))
    return found


def expect_colours(reply, wanted, tolerance=1, what=""):
    found = patch_colours(reply)
    assert len(found) == len(wanted), (what, found)
    for got, want in zip(found, wanted):
        want = want if isinstance(want, tuple) else (want,)
        assert len(got) == len(want), (what, got, want)
        assert max(abs(g - w) for g, w in zip(got, want)) <= tolerance, "%s: %r, not %r" % (what, got, want)


def one_level(name, pixels, **how):
    return fixture.pyramid(name, pixels, one_level=True, **how)


# -- orientation

def corners_stored(o, kind):
    stored = kinds.stored_for(fixture.corners(600, 400), o)
    name = "golden-upright-%d." % o
    if kind == "tif":
        return fixture.pyramid(name + kind, stored, tags={274: (3, [o])})
    if kind == "strips.tif":
        return fixture.once(name + kind, lambda path: striped(path, stored, o))
    if kind == "jpg":
        return kinds.by_pillow(name + kind, stored, "JPEG", quality=95, subsampling=0, orientation=o)
    if kind == "png":
        return kinds.png(name + kind, stored, kinds.TRUE, chunks=((b"eXIf", kinds.exif(o)),))
    return kinds.by_pillow(name + kind, stored, "WEBP", lossless=True, orientation=o)


def striped(path, pixels, orientation):
    with fixture.Tiff(path) as tiff:
        tiff.page(pixels, tile=None, rows=37, tags={274: (3, [orientation])})


def all_orientations(kind):
    picture = fixture.corners(600, 400)
    tolerance = 4 if kind == "jpg" else 0
    for o in range(1, 9):
        name = corners_stored(o, kind)
        for version in BOTH:
            document = info(version, name)
            assert (document["width"], document["height"]) == (600, 400), (name, document)
        full = get(V3, name)
        for form in ("png", "jpg", "webp"):
            assert not kinds.orientation_tags(get(V3, name, form=form).body), (name, form)
        far = numpy.abs(full.pixels().astype(int) - picture) > tolerance
        assert full.size() == (600, 400) and far.mean() < .01, name
        # Each corner and its surroundings by itself, as a viewer or a reader with a loupe asks.
        for x, y in ((0, 0), (490, 10), (5, 290), (480, 280), (200, 100)):
            got = get(V3, name, "%d,%d,110,110" % (x, y)).pixels()
            assert (got == full.pixels()[y:y + 110, x:x + 110]).all(), (name, x, y)
        assert fixture.largest_difference(mosaic(V3, name)[1], full.pixels()) <= tolerance, name
        for size in ("300,", "75,", "333,77", "!50,50"):
            got = get(V3, name, size=size).pixels()
            want = fixture.reduced(picture, (got.shape[1], got.shape[0]))
            assert fixture.psnr(got, want) >= 28, (name, size, fixture.psnr(got, want))
        turned = get(V3, name, size="300,", rotation="90").pixels()
        assert turned.shape[:2] == (300, 200)
        for y, x, colour in ((10, 10, (0, 0, 255)), (10, 190, (255, 0, 0)), (290, 10, 255), (290, 190, (0, 255, 0))):
            assert (abs(turned[y, x].astype(int) - colour) <= 4).all(), (name, x, y, turned[y, x])
        mirrored = get(V3, name, size="300,", rotation="!0").pixels()
        assert (abs(mirrored[10, 10].astype(int) - (0, 255, 0)) <= 4).all(), name


def test_orientation_of_tiff():
    all_orientations("tif")
    all_orientations("strips.tif")


def test_orientation_of_jpeg():
    all_orientations("jpg")


def test_orientation_of_png():
    all_orientations("png")


def test_orientation_of_webp():
    all_orientations("webp")


# -- alpha

# Straight, of which the third is invisible: nobody says what its colour is.
STRAIGHT = ((200, 100, 50, 255), (200, 100, 50, 128), (0, 0, 0, 0), (255, 255, 255, 51))
PREMULTIPLIED = ((200, 100, 50, 255), (100, 50, 25, 128), (0, 0, 0, 0), (51, 51, 51, 51))
# v * a / 255 + background * (255 - a) / 255
OVER_WHITE = ((200, 100, 50), (227, 177, 152), (255, 255, 255), (255, 255, 255))
OVER_BLACK = ((200, 100, 50), (100, 50, 25), (0, 0, 0), (51, 51, 51))


def alpha_files():
    yield one_level("golden-alpha-straight.tif", patches(*STRAIGHT)), 1
    yield one_level("golden-alpha-associated.tif", patches(*PREMULTIPLIED), tags={338: (3, [1])}), 2
    yield one_level("golden-alpha-planes.tif", patches(*STRAIGHT), planar=True), 1
    yield kinds.png("golden-alpha.png", patches(*STRAIGHT), kinds.TRUE_ALPHA), 1
    yield kinds.png("golden-alpha-16.png", patches(*STRAIGHT).astype(numpy.uint16) * 257, kinds.TRUE_ALPHA, 16), 1
    yield kinds.by_pillow("golden-alpha.webp", patches(*STRAIGHT), "WEBP", lossless=True, exact=True), 1


def test_alpha_is_kept_and_blended():
    for name, tolerance in alpha_files():
        for form in ("png", "webp"):
            reply = get(V3, name, form=form, on=site(WEBP_QUALITY=-1))
            assert reply.image().mode == "RGBA", (name, form)
            found = patch_colours(reply)
            assert [colour[3] for colour in found] == [255, 128, 0, 51], (name, found)
            for got, want in zip(found, STRAIGHT):
                allowed = tolerance if want[3] > 100 else 5 if want[3] else 255
                assert max(abs(g - w) for g, w in zip(got, want)) <= allowed, (name, got)
        for background, wanted in ((None, OVER_WHITE), ("#000000", OVER_BLACK)):
            on = site(JPEG_QUALITY=95, **({"BACKGROUND": background} if background else {}))
            for region, size in (("full", "max"), ("0,0,240,100", "max"), ("0,0,240,64", "max")):
                expect_colours(get(V3, name, region, size, form="jpg", on=on), wanted, 4, name)


def test_alpha_by_other_ways():
    """PNG's tRNS: a colour, or alpha of palette entries; grey with alpha."""
    grey = kinds.png("golden-grey-alpha.png", patches((40, 255), (40, 128), (90, 0)), kinds.GREY_ALPHA)
    expect_colours(get(V3, grey, form="jpg", on=site(JPEG_QUALITY=95)), (40, 147, 255), 3)  # 40 * .502 + 255 * .498
    picture = get(V3, grey).image()
    assert picture.mode == "LA" and picture.getpixel((90, 50)) == (40, 128), picture.mode
    keyed = kinds.png("golden-keyed.png", patches((10, 20, 30), (10, 20, 31)), kinds.TRUE,
                      chunks=((b"tRNS", struct.pack(">3H", 10, 20, 30)),))
    picture = get(V3, keyed).image()
    assert picture.mode == "RGBA" and picture.getpixel((30, 50))[3] == 0
    assert picture.getpixel((90, 50)) == (10, 20, 31, 255)
    # Reduced by its true colours: the invisible one has no part.
    got = get(V3, keyed, size="40,").image()
    assert got.getpixel((35, 10)) == (10, 20, 31, 255) and got.getpixel((5, 10))[3] == 0
    table = bytes((255, 0, 0, 0, 255, 0, 0, 0, 255))
    indexed = kinds.png("golden-indexed-alpha.png", patches((0,), (1,), (2,)), kinds.INDEXED,
                        chunks=((b"PLTE", table), (b"tRNS", bytes((255, 128)))))
    expect_colours(get(V3, indexed), ((255, 0, 0, 255), (0, 255, 0, 128), (0, 0, 255, 255)), 0)


# -- inks and Lab

INKS = ((0, 0, 0, 0), (255, 0, 0, 0), (0, 255, 0, 0), (0, 0, 255, 0), (0, 0, 0, 255), (51, 102, 153, 51))
# 255 (1 - ink)(1 - black)
INKS_SHOWN = ((255, 255, 255), (0, 255, 255), (255, 0, 255), (255, 255, 0), (0, 0, 0), (163, 122, 82))


def test_inks_without_profile():
    inks = patches(*INKS)
    for name, tolerance in (
            (one_level("golden-inks.tif", inks, photometric=fixture.SEPARATED), 1),
            (one_level("golden-inks-planes.tif", inks, photometric=fixture.SEPARATED, planar=True), 1),
            (one_level("golden-inks-16.tif", inks.astype(numpy.uint16) * 257, photometric=fixture.SEPARATED), 1),
            (kinds.by_pillow("golden-inks.jpg", Image.fromarray(inks, "CMYK"), "JPEG", quality=100, subsampling=0), 4)):
        shown = get(V3, name)
        assert shown.image().mode == "RGB", (name, shown.image().mode)
        pixels = shown.pixels().astype(int)
        if name == "golden-inks-16.tif":
            pixels = pixels[:, :, :3]
        for i, want in enumerate(INKS_SHOWN):
            got = pixels[50, 30 + 60 * i]
            assert abs(got - want).max() <= tolerance, (name, i, got, want)
        # Part of it, and reduced: the same ink.
        expect_colours(get(V3, name, "300,0,60,100"), INKS_SHOWN[5:], tolerance, name)


def test_inks_with_one_more():
    """A fifth ink that nobody knows does not shift the others."""
    pixels = numpy.concatenate((patches(*INKS), numpy.zeros((100, 360, 1), numpy.uint8)), 2)
    name = one_level("golden-inks-5.tif", pixels, photometric=fixture.SEPARATED, tags={332: (3, [2]), 334: (3, [5])})
    reply = expect(get(V3, name), (200, 415))
    if reply.status == 200:
        expect_colours(reply, INKS_SHOWN, 1)


# L*, a*, b* for D50 and what sRGB makes of it: white, black, mid grey, and sRGB's primaries.
LAB = ((100, 0, 0), (0, 0, 0), (50, 0, 0), (54.29, 80.80, 69.89), (87.82, -79.27, 80.99), (29.57, 68.30, -112.03))
LAB_SHOWN = ((255, 255, 255), (0, 0, 0), (119, 119, 119), (255, 0, 0), (0, 255, 0), (0, 0, 255))


def lab_bytes(offset):
    return patches(*[(round(L * 2.55), round(a + offset) % 256, round(b + offset) % 256) for L, a, b in LAB])


def test_lab():
    """TIFF 6 section 23 counts a* and b* from 0, ICC from 128."""
    for name, photometric, offset in (("golden-cielab.tif", fixture.CIELAB, 0), ("golden-icclab.tif", fixture.ICCLAB, 128)):
        one_level(name, lab_bytes(offset), photometric=photometric)
        # A step of a* or b* is up to 4 of a channel, and steep near 0.
        expect_colours(get(V3, name), LAB_SHOWN, 12, name)
        grey = patch_colours(get(V3, name))[2]
        assert max(grey) - min(grey) <= 2 and abs(grey[1] - 119) <= 2, grey


def test_lab_of_16_bits():
    pixels = patches((0, 0, 0)).astype(numpy.uint16)
    pixels[:, :30, 0] = 32768
    name = one_level("golden-cielab-16.tif", pixels, photometric=fixture.CIELAB)
    reply = expect(get(V3, name, form="jpg"), (200, 415))
    if reply.status == 200:
        assert abs(reply.pixels()[50, 10].astype(int) - 119).max() <= 4, reply.pixels()[50, 10]


# -- depths

def test_16_bits_stay_and_round():
    """PNG keeps them; elsewhere round(v * 255 / 65535)."""
    values = fixture.gray(W, H, 65535)
    colours = fixture.ramp(W, H, 65535)
    for name in (one_level("golden-grey-16.tif", values), kinds.png("golden-grey-16.png", values, kinds.GREY, 16)):
        assert (numpy.asarray(get(V3, name).image()).astype(int) == values[:, :, 0]).all(), name
        got = numpy.asarray(get(V3, name, form="webp", on=site(WEBP_QUALITY=-1)).image().convert("L")).astype(int)
        assert abs(got - numpy.floor(values[:, :, 0] / 257 + .5)).max() == 0, name
    for name in (one_level("golden-rgb-16.tif", colours), kinds.png("golden-rgb-16.png", colours, kinds.TRUE, 16)):
        data = get(V3, name).body
        assert data[24] == 16, "bits of the PNG"
        got = get(V3, name, form="webp", on=site(WEBP_QUALITY=-1)).pixels().astype(int)
        assert abs(got - numpy.floor(colours / 257 + .5)).max() == 0, name


def test_few_bits_are_spread():
    """n bits become v * 255 / (2^n - 1)."""
    for bits in (1, 2, 4):
        top = (1 << bits) - 1
        values = (numpy.arange(W) % (top + 1)).astype(numpy.uint8)
        stored = numpy.tile(values, (H, 1))[:, :, None]
        want = stored[:, :, 0].astype(int) * 255 // top
        for name, shown in ((one_level("golden-grey-%d.tif" % bits, stored, bits=bits), want),
                            (one_level("golden-grey-%d-white.tif" % bits, stored, bits=bits, photometric=0), 255 - want),
                            (one_level("golden-grey-%d-t16.tif" % bits, stored, bits=bits, tile=(16, 16)), want),
                            (kinds.png("golden-grey-%d.png" % bits, stored, kinds.GREY, bits), want)):
            picture = get(V3, name).image()
            assert picture.mode in ("L", "1"), (name, picture.mode)
            got = numpy.asarray(picture.convert("L")).astype(int)
            assert abs(got - shown).max() == 0, (name, got[0, :8], shown[0, :8])
            part = numpy.asarray(get(V3, name, "33,7,101,50").image().convert("L")).astype(int)
            assert abs(part - shown[7:57, 33:134]).max() == 0, name


def test_12_bits():
    values = numpy.round(numpy.arange(W) * 4095 / (W - 1)).astype(numpy.uint16)
    name = one_level("golden-grey-12.tif", numpy.tile(values, (H, 1))[:, :, None], bits=12, tile=None, rows=20)
    got = numpy.asarray(get(V3, name).image()).astype(int)
    assert abs(got[0] - numpy.round(values * 65535. / 4095)).max() <= 1, got[0, :9]


def test_signed_samples():
    """The smallest is black, the largest white."""
    for bits, kind, top in ((8, numpy.int8, 255), (16, numpy.int16, 65535)):
        values = (numpy.round(numpy.arange(W) * top / (W - 1)) - (top + 1) // 2).astype(kind)
        name = one_level("golden-signed-%d.tif" % bits, numpy.tile(values, (H, 1))[:, :, None], tags={339: (3, [2])})
        got = numpy.asarray(get(V3, name, form="jpg").image()).astype(int)[50]
        assert got[0] <= 3 and got[-1] >= 252 and abs(got[W // 2] - 128) <= 3, (bits, got[0], got[W // 2], got[-1])


def test_32_bits():
    values = (numpy.arange(W) * (2 ** 32 - 1) // (W - 1)).astype(numpy.uint32)
    name = one_level("golden-grey-32.tif", numpy.tile(values, (H, 1))[:, :, None])
    got = numpy.asarray(get(V3, name, form="jpg").image()).astype(int)[50]
    assert got[0] <= 3 and got[-1] >= 252 and abs(got[W // 2] - 128) <= 3, (got[0], got[W // 2], got[-1])


def test_floats_of_all_widths():
    for kind in (numpy.float16, numpy.float32, numpy.float64):
        values = numpy.linspace(-1, 3, W).astype(kind)
        name = one_level("golden-float-%d.tif" % (8 * values.itemsize), numpy.tile(values, (H, 1))[:, :, None],
                         tags={339: (3, [3]), 340: (12, [0.]), 341: (12, [2.])})
        got = numpy.asarray(get(V3, name, form="jpg").image()).astype(int)[50]
        # 0 at a quarter, 2 at three quarters; what lies outside saturates.
        assert got[:W // 4 - 4].max() <= 4 and got[3 * W // 4 + 4:].min() >= 251, name
        assert abs(got[W // 2] - 128) <= 4, (name, got[W // 2])


# -- palettes, bilevel, chroma

COLOURS = ((255, 0, 0), (0, 128, 255), (12, 34, 56), (250, 240, 230))


def test_palettes():
    for bits in (2, 4, 8):
        index = patches((0,), (1,), (2,), (3,))
        table = numpy.zeros((1 << bits, 3), int)
        table[:4] = COLOURS
        tags = {320: (3, [int(v) * 257 for v in table.T.reshape(-1)])}
        # Old writers left 8-bit values in the table of 16.
        old = {320: (3, [int(v) for v in table.T.reshape(-1)])}
        chunks = ((b"PLTE", table.astype(numpy.uint8).tobytes()),)
        for name in (one_level("golden-palette-%d.tif" % bits, index, bits=bits, photometric=fixture.PALETTE, tags=tags),
                     one_level("golden-palette-%d-old.tif" % bits, index, bits=bits, photometric=fixture.PALETTE, tags=old),
                     kinds.png("golden-palette-%d.png" % bits, index, kinds.INDEXED, bits, chunks)):
            expect_colours(get(V3, name), COLOURS, 0, name)
            # Two entries between two: colours are mixed, not numbers.
            got = get(V3, name, "50,0,20,100", "2,10").pixels().astype(int)
            assert abs(got[5, 0] - COLOURS[0]).max() <= 40, (name, got[5])
    if not kinds.is_read("GIF"):
        return
    picture = Image.fromarray(patches((0,), (1,), (2,), (3,))[:, :, 0], "P")
    picture.putpalette([v for colour in COLOURS for v in colour])
    expect_colours(get(V3, kinds.by_pillow("golden-palette.gif", picture, "GIF")), COLOURS, 0, "golden-palette.gif")


def test_first_picture_of_an_animation():
    def frames(name, form, **options):
        first, second = (Image.fromarray(fixture.flat(120, 100, colour)) for colour in ((255, 0, 0), (0, 0, 255)))
        return fixture.once(name, lambda path: first.save(path, form, save_all=True, append_images=[second], **options))

    rows = (("golden-moving.gif", "GIF", {}), ("golden-moving.webp", "WEBP", dict(lossless=True)))
    for name, form, options in kinds.those_read(rows):
        frames(name, form, **options)
        expect_colours(get(V3, name), ((255, 0, 0), (255, 0, 0)), 0, name)


def test_bilevel():
    """Of every coding that faxes and scanners write; white is white whichever number says so."""
    rows = (numpy.arange(H)[:, None] // 10 + numpy.arange(W) // 15) % 2
    picture = Image.fromarray((rows * 255).astype(numpy.uint8)).convert("1")
    shown = rows * 255
    for compression in ("group3", "group4", "packbits", "raw", "tiff_lzw"):
        name = kinds.by_pillow("golden-bilevel-%s.tif" % compression, picture, "TIFF", compression=compression)
        got = get(V3, name).image()
        assert got.mode in ("L", "1"), (name, got.mode)
        assert (numpy.asarray(got.convert("L")) == shown).all(), name
        grey = numpy.asarray(get(V3, name, size="30,20").image().convert("L")).astype(int)
        assert len(numpy.unique(grey)) > 2, "reduced by weighing, not by picking"
    assert (numpy.asarray(get(V3, kinds.by_pillow("golden-bilevel.png", picture, "PNG")).image().convert("L")) == shown).all()


def test_chroma_without_a_codec():
    """YCbCr samples as they are (CCIR 601, full range): red, green, blue, grey."""
    stored = patches((76, 85, 255), (150, 44, 21), (29, 255, 107), (128, 128, 128))
    name = one_level("golden-ycbcr.tif", stored, photometric=fixture.YCBCR, tags={530: (3, [1, 1])})
    expect_colours(get(V3, name), ((255, 0, 0), (0, 255, 1), (0, 0, 254), (128, 128, 128)), 3, name)


# -- profiles

def test_profiles_change_the_colours():
    """Red and green exchanged by the profile, in every kind that carries one; kept when that is wanted."""
    swapped = kinds.swapped_profile()
    stored = patches((0, 255, 0), (255, 0, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0))
    tags = {34675: (7, swapped)}
    meant = ((255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0))
    plain = ((0, 255, 0), (255, 0, 0)) + meant[2:]
    retain = site(RETAIN_SOURCE_ICC_PROFILE=1)
    for name, tolerance in (
            (fixture.pyramid("golden-swapped.tif", stored, tags=tags), 3),
            (fixture.pyramid("golden-swapped-jpeg.tif", stored, compression=fixture.JPEG, quality=95, tags=tags), 8),
            (kinds.by_pillow("golden-swapped.jpg", stored, "JPEG", quality=95, subsampling=0, icc_profile=swapped), 6),
            (kinds.by_pillow("golden-swapped.png", stored, "PNG", icc_profile=swapped), 3),
            (kinds.by_pillow("golden-swapped.webp", stored, "WEBP", lossless=True, icc_profile=swapped), 3)):
        for form in ("png", "jpg", "webp"):
            on = site(JPEG_QUALITY=95, WEBP_QUALITY=95)
            reply = get(V3, name, form=form, on=on)
            expect_colours(reply, meant, tolerance + (0 if form == "png" else 10), (name, form))
            assert "icc_profile" not in reply.image().info or form == "png", (name, form)
        kept = get(V3, name, on=retain)
        expect_colours(kept, plain, tolerance, name)
        assert kept.image().info["icc_profile"] == swapped, name


def test_profiles_that_do_not_fit_are_ignored():
    swapped = kinds.swapped_profile()
    grey, green = patches((0,), (128,), (255,)), patches((0, 255, 0))
    for name, wanted in ((one_level("golden-grey-rgb-profile.tif", grey, tags={34675: (7, swapped)}), (0, 128, 255)),
                         (one_level("golden-cut-profile.tif", green, tags={34675: (7, swapped[:200])}), ((0, 255, 0),)),
                         (one_level("golden-no-profile.tif", green, tags={34675: (7, b"x" * 700)}), ((0, 255, 0),))):
        for on in (site(), site(RETAIN_SOURCE_ICC_PROFILE=1)):
            reply = get(V3, name, on=on)
            expect_colours(reply, wanted, 0, name)
            assert "icc_profile" not in reply.image().info, name


# -- one way in

def test_formats_go_by_their_bytes():
    """A name says nothing."""
    for name in (kinds.by_pillow("golden-really-a-png.jpg", fixture.ramp(60, 40), "PNG"),
                 kinds.by_pillow("golden-really-a-jpeg.tif", fixture.ramp(60, 40), "JPEG"),
                 kinds.by_pillow("golden-really-a-webp", fixture.ramp(60, 40), "WEBP")):
        expect_size(get(V3, name), 60, 40, name)


def test_tiles_of_every_kind_are_the_picture():
    """Of formats that have no tiles as well."""
    picture = fixture.ramp(1037, 779)
    for name in (kinds.by_pillow("golden-large.png", picture, "PNG"),
                 kinds.by_pillow("golden-large.webp", picture, "WEBP", lossless=True),
                 kinds.by_pillow("golden-large.jp2", picture, "JPEG2000", irreversible=False),
                 kinds.by_pillow("golden-large-tiles.jp2", picture, "JPEG2000", irreversible=False, tile_size=(200, 300)),
                 kinds.by_pillow("golden-large.jpg", picture, "JPEG", quality=92),
                 kinds.by_pillow("golden-large-progressive.jpg", picture, "JPEG", quality=92, progressive=True)):
        full = get(V3, name).pixels()
        if not name.endswith(".jpg"):
            assert fixture.largest_difference(full, picture) == 0, name
        pictures = mosaic(V3, name)
        assert fixture.largest_difference(pictures[1], full) <= (2 if name.endswith(".jpg") else 0), name
        for factor, got in pictures.items():
            close(got[:, :, 0].astype(float).mean(), 127.5, 2)
            close(got[:, :, 1].astype(float).mean(), 127.5, 2)
            assert (numpy.diff(got[:, :, 1].astype(float).mean(1)) > -2).all(), (name, factor)
