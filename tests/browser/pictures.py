"""The pictures and files that viewers are shown."""
import math

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


HALF_M = 20037508.342789244  # EPSG:3857: from the middle of the world to its edge
TILE_PX = 256


class Source:
    """A file, and the picture that it was made from."""

    def __init__(self, name, picture):
        self.name, self.picture = name, picture
        self.h, self.w = picture.shape[:2]

    def place(self):
        """Where XYZ tiles show it, if it says nothing of that: (zoom of full size, left, top), in its pixels from
        the top left corner of the world."""
        return max(0, math.ceil(math.log2(max(self.w, self.h) / TILE_PX))), 0, 0


class Map(Source):
    """A GeoTIFF whose pixels are those of tiles of a zoom, from such a pixel of the world on."""

    ZOOM, LEFT_PX, TOP_PX = 14, 2170 * TILE_PX + 38, 1420 * TILE_PX + 200

    def __init__(self, name, picture):
        px_m = 2 * HALF_M / 2 ** self.ZOOM / TILE_PX
        web_mercator = (1024, 0, 1, 1, 3072, 0, 1, 3857)
        super().__init__(fixture.pyramid(name, picture, compression=fixture.JPEG, quality=90, tags={
            33550: (12, (px_m, px_m, 0.0)),
            33922: (12, (0.0, 0.0, 0.0, self.LEFT_PX * px_m - HALF_M, HALF_M - self.TOP_PX * px_m, 0.0)),
            34735: (3, (1, 1, 0, 2) + web_mercator)}), picture)

    def place(self):
        return self.ZOOM, self.LEFT_PX, self.TOP_PX


# Sizes are no powers of two; that of "edge" leaves tiles of one pixel.
_SIZES = {"deflate": (2350, 1777), "jpeg": (2023, 1600), "edge": (1025, 1281), "jp2": (1501, 1103), "plain": (1300, 1750), "map": (1900, 1500)}
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
    """deflate, jpeg, edge: pyramids; jp2: JPEG 2000; plain: JPEG, all in one piece; map: GeoTIFF."""
    if kind not in _made:
        picture = photo(*_SIZES[kind])
        _made[kind] = Map("viewer-map.tif", picture) if kind == "map" else Source(_file(kind, picture), picture)
    return _made[kind]
