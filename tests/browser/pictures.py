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
_SIZES = {"deflate": (2350, 1777), "jpeg": (2023, 1600), "edge": (1025, 1281), "jp2": (1501, 1103), "plain": (1300, 1750)}
_made = {}


def _file(kind, picture):
    name = "viewer-" + kind
    if kind == "jp2":
        return fixture.once(name + ".jp2", lambda path: fixture.Image.fromarray(picture).save(path, "JPEG2000"))
    if kind == "plain":
        return fixture.once(name + ".jpg", lambda path: fixture.Image.fromarray(picture).save(path, "JPEG", quality=95))
    how = {"compression": fixture.JPEG, "quality": 90} if kind == "jpeg" else {}
    return fixture.pyramid(name + ".tif", picture, **how)


def source(kind):
    """deflate, jpeg, edge: pyramids; jp2: JPEG 2000; plain: JPEG, all in one piece."""
    if kind not in _made:
        picture = photo(*_SIZES[kind])
        _made[kind] = Source(_file(kind, picture), picture)
    return _made[kind]
