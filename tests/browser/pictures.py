"""The pictures and files that viewers are shown."""
import numpy

import fixture
from test_mosaic import smooth

GRAIN_PX, GONE_AT = 3, 4


def photo(w, h):
    """A picture like a photograph, with fine grain in its brightness: a shift by one pixel, or a level too
    coarse, costs 10 dB against what JPEG at quality 75 does. A quarter of the size has no grain left, as
    viewers put reduced tiles half a pixel off."""
    grain = numpy.random.default_rng(3).integers(0, 256, (h // GRAIN_PX, w // GRAIN_PX), numpy.uint8)
    grain = fixture.Image.fromarray(grain).resize((w, h), fixture.Image.BICUBIC)
    means = numpy.asarray(grain.reduce(GONE_AT), float).repeat(GONE_AT, 0).repeat(GONE_AT, 1)[:h, :w]
    pixels = smooth(w, h) + 30 * (numpy.asarray(grain, float) - means)[:, :, None] / 127.5
    return numpy.clip(numpy.round(pixels), 0, 255).astype(numpy.uint8)


class Source:
    """A file, and the picture that it was made from."""

    def __init__(self, name, picture):
        self.name, self.picture = name, picture
        self.h, self.w = picture.shape[:2]


# Sizes are no powers of two; that of "edge" leaves tiles of one pixel.
_SIZES = {"deflate": (2350, 1777), "jpeg": (2023, 1600), "ramp": (1501, 1103), "edge": (1025, 1281)}
_made = {}


def source(kind):
    if kind not in _made:
        picture = (fixture.ramp if kind == "ramp" else photo)(*_SIZES[kind])
        how = {"compression": fixture.JPEG, "quality": 90} if kind == "jpeg" else {}
        _made[kind] = Source(fixture.pyramid("viewer-%s.tif" % kind, picture, **how), picture)
    return _made[kind]
