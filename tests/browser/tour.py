"""One way round an image in a viewer, the same for all of them, with what has to be true everywhere."""
import math
import re
import urllib.parse

import numpy

import chromium
import views

# How near the screen has to be to the picture: reduced, and at full size. OpenSeadragon's canvas stretches
# each tile by a pixel, to leave no gap; it has no such need where it draws with WebGL.
LEVEL_DB, FULL_DB, STRETCHED_DB = 30, 36, 29
# JPEG 2000 has no means: its wavelet leaves grain, and puts a quarter of the size 3/8 px off.
WAVELET_DB = 24


def tiles_in_view(img, x, y, canvas, tile):
    """(column, row) of the tiles of the last level that a canvas shows at full size."""
    def span(centre, length, end, before):
        first = max(0, centre - length / 2) + before
        last = min(end, centre + length / 2) + before
        return range(int(first // tile), math.ceil(last / tile))
    left, top = (v % tile for v in img.place()[1:])  # of the first tile, before the picture begins
    return [(column, row) for row in span(y, canvas[3], img.h, top) for column in span(x, canvas[2], img.w, left)]


# A pattern of what names a tile of the last level in its address.

def iiif_tile(img, column, row, tile):
    left, top = column * tile, row * tile
    return "/%d,%d,%d,%d/" % (left, top, min(tile, img.w - left), min(tile, img.h - top))


def dzi_tile(img, column, row, tile):
    return r"_files/%d/%d_%d\." % ((max(img.w, img.h) - 1).bit_length(), column, row)


def _halvings(img, tile):
    w, h, count = img.w, img.h, 0
    while w > tile or h > tile:
        w, h, count = w // 2, h // 2, count + 1
    return count


def zoomify_tile(img, column, row, tile):
    return r"/%d-%d-%d\.jpg$" % (_halvings(img, tile), column, row)


def xyz_tile(img, column, row, tile):
    """On a screen with twice as many pixels, tiles of 512 of the zoom before."""
    zoom, left, top = img.place()
    twice = tile == 512
    return r"/%d/%d/%d%s\." % (zoom - twice, left // tile + column, top // tile + row, "@2x" if twice else "")


def iip_tile(img, column, row, tile):
    return r"JTL=%d,%d$" % (_halvings(img, tile), row * math.ceil(img.w / tile) + column)


class Tour:
    """powers_of_two: the only scales that the viewer has. harmless: what a third party complains of by itself.
    shown: what the server is to make of the picture. beyond: whether the page's background is behind the image.
    full_db, level_db: how near the last level, and reduced ones, have to come. tile: the side of tiles."""

    def __init__(self, name, url, img, tile_name, powers_of_two=False, harmless=(), size=(800, 600), ratio=1, shown=None,
                 beyond=True, full_db=FULL_DB, level_db=LEVEL_DB, tile=256):
        self.name, self.url, self.img, self.tile_name = name, url, img, tile_name
        self.powers_of_two, self.harmless, self.size, self.ratio = powers_of_two, harmless, size, ratio
        self.picture = img.picture if shown is None else shown
        self.beyond, self.full_db, self.level_db, self.tile = beyond, full_db, level_db, tile

    def go(self):
        with chromium.Page(self.url, self.size, self.ratio) as self.page:
            self.page.shoot(self.name + "-home")
            problems = []
            try:
                self.go_round()
            except AssertionError as error:
                problems.append(str(error))
            problems += complaints(self.page, self.harmless)
            assert not problems, self.name + ": " + "; ".join(problems)

    def go_round(self):
        w, h = self.img.w, self.img.h
        self.look(w // 8 * 4, h // 8 * 4, 1 / 4, self.level_db)  # whole pixels of that level
        if not self.powers_of_two:
            self.look(w // 2 + 7, h // 2 - 5, .22, self.level_db)
        for x, y in ((w - 220, h - 150), (w // 2, h // 2)):
            x, y = (v // self.ratio * self.ratio for v in (x, y))  # whole pixels of the page
            self.look(x, y, 1, self.full_db)
            self.last_level(x, y)

    def look(self, x, y, scale, floor_db):
        """scale: in pixels of the screen."""
        self.page.view(x, y, scale / self.ratio)
        shot, self.canvas, clear = self.page.shoot("%s-%.2f-%d" % (self.name, scale, x))
        wanted, inside = views.expected(self.picture, x, y, scale, self.canvas, clear)
        shown = shot[clear[1]:clear[1] + clear[3], clear[0]:clear[0] + clear[2]]
        margin = 2 * self.ratio
        rows, columns = views.inner(inside, margin)
        where = "at %d,%d scale %.2f" % (x, y, scale)
        found = views.psnr(shown[rows, columns], wanted[rows, columns])
        torn = views.seams(shown[rows, columns], wanted[rows, columns])
        assert found >= floor_db, "%s: %.1f dB, not %d" % (where, found, floor_db)
        assert not torn, "%s: seams %s" % (where, torn[:4])
        if self.beyond:
            self.check_beyond(shown, inside, margin, where)

    @staticmethod
    def check_beyond(shown, inside, margin, where):
        """Nothing is drawn where there is no picture, but for the pixels along its edge."""
        strange = numpy.abs(shown.astype(int) - views.BACKGROUND).max(2) > 2
        strange[views.inner(inside, -margin)] = False
        assert not strange.any(), "%s: %d pixels beyond the image are drawn" % (where, strange.sum())

    def last_level(self, x, y):
        """Every tile that is in view was asked for and came."""
        came = [urllib.parse.unquote(r["url"]) for r in self.page.report()["replies"] if r["status"] == 200]
        missing = [self.tile_name(self.img, *at, self.tile)
                   for at in tiles_in_view(self.img, x, y, self.canvas, self.tile)]
        missing = [tile for tile in missing if not any(re.search(tile, url) for url in came)]
        assert not missing, "never asked for %s" % missing[:4]


def complaints(page, harmless=()):
    """What was refused, what failed, and what the viewer said of it."""
    report = page.report()
    found = ["refused: %d %s" % (r["status"], r["url"]) for r in report["replies"] if r["status"] >= 400]
    # A viewer that moves on gives up what it no longer needs.
    found += ["failed: %(reason)s %(url)s" % f for f in report["failures"] if f["reason"] != "net::ERR_ABORTED"]
    found += ["error: " + e for e in report["errors"]]
    return [each for each in found if not any(text in each for text in harmless)][:4]
