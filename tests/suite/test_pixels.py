"""Scaling against an independent implementation, and against what arithmetic says."""
import numpy

import fixture
from iiif import V3, get, site
from test_mosaic import smooth


def one_level(name, pixels, **how):
    return fixture.pyramid(name, pixels, one_level=True, **how)


def slope(w, h):
    """16-bit grey that rises by 48 a pixel along x: a shift of a hundredth of a pixel shows."""
    return numpy.tile(numpy.arange(w) * 48, (h, 1)).astype(numpy.uint16)[:, :, None]


def shift_of(name, width, size):
    """How far the scaled slope lies from where pixel centres put it, in pixels of the full picture."""
    picture = get(V3, name, size=size).image()
    got = numpy.asarray(picture).astype(float).mean(0)
    w = picture.width
    expected = ((numpy.arange(w) + .5) * width / w - .5) * 48
    inner = slice(w // 12 + 1, w - w // 12 - 1)
    return abs((got - expected)[inner]).max() / 48


def test_reductions_against_pillow():
    picture = smooth(2023, 1601)
    name = one_level("smooth-one-level.tif", picture)
    for w, h, floor in ((1500, 1187, 45), (1000, 791, 45), (506, 400, 45), (333, 264, 45), (100, 79, 45)):
        got = get(V3, name, size="%d,%d" % (w, h)).pixels()
        quality = fixture.psnr(fixture.reduced(picture, (w, h)), got)
        assert quality >= floor, "%dx%d: %.1f dB" % (w, h, quality)


def test_reductions_from_a_pyramid():
    picture = smooth(2023, 1601)
    for name, floor in ((fixture.pyramid("smooth-floor.tif", picture), 36),
                        (fixture.pyramid("smooth-jpeg.tif", picture, compression=fixture.JPEG, ceil=True), 32)):
        for w, h in ((1500, 1187), (700, 554), (400, 317), (150, 119)):
            got = get(V3, name, size="%d,%d" % (w, h)).pixels()
            quality = fixture.psnr(fixture.reduced(picture, (w, h)), got)
            assert quality >= floor, "%s %dx%d: %.1f dB" % (name, w, h, quality)


def test_enlargement_against_pillow():
    picture = smooth(400, 300)
    name = one_level("smooth-400x300.tif", picture)
    got = get(V3, name, size="^1000,750").pixels()
    quality = fixture.psnr(fixture.reduced(picture, (1000, 750)), got)
    assert quality >= 45, "%.1f dB" % quality


def test_no_shift():
    """A linear ramp stays the same ramp under every scale, sampled at pixel centres."""
    name = one_level("slope.tif", slope(1024, 64))
    for size in ("1000,64", "512,", "500,64", "341,", "256,", "100,32", "^1500,", "^2048,", "^3000,100"):
        shift = shift_of(name, 1024, size)
        assert shift <= .05, "%s: %.3f px" % (size, shift)


def test_no_shift_between_levels():
    """The same scale taken from any level lies at the same place."""
    name = fixture.pyramid("slope-pyramid.tif", slope(1024, 64), tile=(64, 64))
    for width in (900, 513, 512, 511, 400, 257, 256, 255, 200, 129, 128, 100):
        shift = shift_of(name, 1024, "%d," % width)
        assert shift <= .05 * 1024 / width, "%d: %.3f px" % (width, shift)


def test_overshoot_is_clipped():
    """Lanczos rings at hard edges: it must not wrap around, nor reach far."""
    pixels = numpy.zeros((400, 400, 3), numpy.uint8)
    pixels[:, 200:] = 255
    name = one_level("edge.tif", pixels)
    for w in (200, 150, 399, 800):
        got = get(V3, name, size="^%d,%d" % (w, w)).pixels().astype(int)
        assert got[:, :w // 2 - 8].max() <= 2 and got[:, w // 2 + 8:].min() >= 253, w
        assert got[:, :w // 2 - 1].max() <= 40 and got[:, w // 2 + 1:].min() >= 215, w
        assert (got.min(0) == got.max(0)).all(), "rows differ"


def test_flat_stays_flat():
    for colour in ((0, 0, 0), (255, 255, 255), (1, 128, 254), (77, 78, 79)):
        name = one_level("flat-%d-%d-%d.tif" % colour, fixture.flat(333, 222, colour))
        for size in ("max", "100,", "37,", "^700,", "^333,500"):
            got = get(V3, name, size=size).pixels()
            assert (got == colour).all(), (colour, size, got.reshape(-1, 3).min(0), got.reshape(-1, 3).max(0))


def test_edges_do_not_bleed():
    """A region's edge repeats itself or takes its true neighbours, but nothing from the other side."""
    pixels = numpy.full((300, 300, 3), 128, numpy.uint8)
    pixels[:, :4] = (255, 0, 0)
    pixels[:, -4:] = (0, 0, 255)
    name = one_level("sides.tif", pixels)
    got = get(V3, name, size="100,100").pixels().astype(int)
    assert got[:, 0, 0].min() > 230 and got[:, 0, 2].max() < 20
    assert got[:, -1, 2].min() > 230 and got[:, -1, 0].max() < 20


def test_transparent_colour_does_not_bleed():
    """Alpha weighs the colours: invisible red leaves no red rim."""
    pixels = numpy.zeros((256, 256, 4), numpy.uint8)
    pixels[:, :128] = (255, 0, 0, 0)
    pixels[:, 128:] = (0, 0, 255, 255)
    name = one_level("rim.tif", pixels)
    for size in ("99,99", "^500,500"):
        got = get(V3, name, size=size).pixels().astype(int)
        seen = got[got[:, :, 3] > 16]
        assert seen[:, 0].max() <= 16 and seen[:, 2].min() >= 230, (size, seen.max(0), seen.min(0))


def test_settings_of_interpolation():
    """0 picks pixels, 1 and 2 weigh them: nearest alone makes no new colours."""
    pixels = fixture.flat(200, 200, (0, 0, 0)).copy()
    pixels[::2, ::2] = pixels[1::2, 1::2] = 255
    name = one_level("chess.tif", pixels)
    nearest = get(V3, name, size="120,", on=site(INTERPOLATION=0)).pixels()
    assert set(numpy.unique(nearest)) <= {0, 255}
    for setting in (1, 2):
        weighed = get(V3, name, size="50,", on=site(INTERPOLATION=setting)).pixels().astype(int)
        assert abs(weighed - 127).max() <= 30, setting
