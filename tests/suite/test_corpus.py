"""Real files of all kinds, each asked for as a viewer would, against decoders that are not tegula's.

Every file is served once, in all the ways below; the tests then say which of these were wrong. What is
known to be otherwise (a file that is refused, or shown in another way than the reference does) has a row
in tests/corpus-exceptions.tsv with the status and the checks that fail; a row that has become untrue
fails, too. TEGULA_CORPUS names the folder; TEGULA_CORPUS_REPORT a file for what was measured.

Colours are compared as CIE76 differences, mean and 99th percentile; see the limits.
"""
import io
import multiprocessing
import os
import random
import time
import urllib.parse
import zlib

import numpy
from PIL import Image, ImageCms

import compare
import corpus
import fixture
import server
from compare import Distance

V3 = "/iiif/3/"

# tegula's full picture and another decoder's: rounding, and what two inverse DCTs may differ by.
FULL = Distance(0.8, 4.0)
# The same through a colour profile or L*a*b*, where the engines differ as well.
FULL_ICC = Distance(1.2, 5.0)
# At 200 px: the reference pictures are made by several programs, some from lossless masters of lossy files.
REFERENCE = Distance(4.0, 25.0)
# Of what is reduced, by kernels or stored levels of other sharpness, a quarter of the size is compared.
REDUCED = Distance(5.0, 20.0)
# Parts of a picture and the picture: the same pixels, whatever the coder.
PART_LEVELS = 0
# What tegula's coder may lose more than libjpeg does with the same settings.
JPEG_DB = 1

LARGE_PX = 9 * 10 ** 6  # beyond, a part stands for the picture
PART_PX = 1500
MOST_TILES = 12
THIN_PX = 8  # edge tiles of less come from the level's last pixels, which stand for more than they show
PROCESSES = 2

CHECKS = ("info", "full", "picture", "thumbnail", "reference", "region", "tiles", "jpg", "page", "profile")


class Wrong(Exception):
    pass


def ask(site, entry, rest, page=None):
    name = urllib.parse.quote(entry.path, safe="") + ("" if page is None else ";%d" % page)
    return site.get(V3 + name + rest)


def picture_of(reply):
    if reply.status != 200:
        raise Wrong("status %d %s" % (reply.status, reply.body.decode("utf-8", "replace").strip()[:100]))
    return reply.image()


def within(limit, a, b):
    if a.size != b.size:
        raise Wrong("size %dx%d, not %dx%d" % (a.size + b.size))
    apart = compare.delta_e(a, b)
    if apart.mean > limit.mean or apart.p99 > limit.p99:
        raise Wrong("dE mean %.2f p99 %.1f" % apart)
    return "%.2f/%.1f" % apart


def alike(a, b):
    if a.size != b.size:
        raise Wrong("size %dx%d, not %dx%d" % (a.size + b.size))
    return within(REDUCED, compare.coarse(a), compare.coarse(b))


def same(part, whole, box):
    x, y, w, h = box
    got, want = numpy.asarray(part), numpy.asarray(whole)[y:y + h, x:x + w]
    if got.shape != want.shape:
        raise Wrong("%s: %r, not %r" % (box, got.shape, want.shape))
    apart = fixture.largest_difference(got, want)
    if apart > PART_LEVELS:
        raise Wrong("%d,%d,%d,%d differs from the full picture by %d" % (box + (apart,)))
    return apart


class Examination:
    """One file, asked for in every way. found: check -> (ok, what was measured)."""

    site = retaining = None  # the servers

    def __init__(self, entry):
        self.entry, self.found, self.status = entry, {}, 0
        self.truth = self.full = self.document = None
        self.dice = random.Random(zlib.crc32(entry.path.encode()))
        begin = time.monotonic()
        for check in CHECKS:
            try:
                measured = getattr(self, "_" + check)()
            except Wrong as wrong:
                self.found[check] = (False, str(wrong))
            else:
                if measured is not None:
                    self.found[check] = (True, str(measured))
            if check == "full" and not self.full:
                break
        self.seconds = time.monotonic() - begin
        self.truth = self.full = self.shown = self.small = self.small_shown = None  # large

    def failed(self):
        return {check for check, (ok, _) in self.found.items() if not ok}

    def _info(self):
        reply = ask(self.site, self.entry, "/info.json")
        if reply.status != 200:
            raise Wrong("status %d" % reply.status)
        self.document = reply.json()
        size = self.document["width"], self.document["height"]
        if self.entry.size and size != self.entry.size:
            raise Wrong("size %dx%d, not %dx%d" % (size + self.entry.size))
        return "%dx%d" % size

    def _full(self):
        """Sets origin and full: the picture, or as much of it as is compared."""
        self.origin, w, h = (0, 0), 0, 0
        if self.document:
            w, h = self.document["width"], self.document["height"]
        region = "full"
        if w * h > LARGE_PX:
            self.origin = (w // 3, h // 3)
            region = "%d,%d,%d,%d" % (self.origin + (min(w, PART_PX), min(h, PART_PX)))
        reply = ask(self.site, self.entry, "/%s/max/0/default.png" % region)
        self.status = reply.status
        self.shown = picture_of(reply)
        if region == "full" and self.document and self.shown.size != (w, h):
            raise Wrong("size %dx%d, info.json says %dx%d" % (self.shown.size + (w, h)))
        self.full = compare.flattened(self.shown)
        return "ok"

    def _picture(self):
        self.truth = corpus.truth_of(self.entry)
        if not self.truth:
            return None
        x, y = self.origin
        want = self.truth.srgb.crop((x, y, x + self.full.width, y + self.full.height))
        managed = self.truth.profile or "Lab" in self.entry.row["photometric"]
        return self.truth.decoder + " " + within(FULL_ICC if managed else FULL, self.full, want)

    def _expected(self):
        """The reference as the default settings should show it."""
        if self.entry.reference_srgb:
            return self.entry.reference_srgb
        if self.truth and self.truth.profile:
            return compare.resized(self.truth.srgb, self.entry.reference.size) if self.entry.reference else None
        return self.entry.reference

    def _reference(self):
        want = self._expected()
        if not want:
            return None
        return within(REFERENCE, compare.resized(self.small if self.origin != (0, 0) else self.full, want.size), want)

    def _thumbnail(self):
        """Sets small."""
        self.small_shown = picture_of(ask(self.site, self.entry, "/full/!200,200/0/default.png"))
        self.small = compare.flattened(self.small_shown)
        if self.origin != (0, 0):
            whole = self.truth and self.truth.srgb
        else:
            whole = self.full
        return alike(self.small, compare.resized(whole, self.small.size)) if whole else None

    def _box(self):
        w, h = self.full.size
        bw, bh = self.dice.randint(1, min(w, 400)), self.dice.randint(1, min(h, 400))
        return self.dice.randint(0, w - bw), self.dice.randint(0, h - bh), bw, bh

    def _part(self, box, size):
        x, y, w, h = box
        region = "%d,%d,%d,%d" % (x + self.origin[0], y + self.origin[1], w, h)
        return compare.flattened(picture_of(ask(self.site, self.entry, "/%s/%s/0/default.png" % (region, size))))

    def _region(self):
        boxes = [self._box() for _ in range(2)]
        return max(same(self._part(box, "max"), self.full, box) for box in boxes)

    def _tiles(self):
        """Tiles of full size are parts of the picture, those of reduced ones of the reduced picture."""
        if self.origin != (0, 0):
            return None
        worst, reduced = 0, 0
        for factor, box, size in self._some_tiles():
            got = self._part(box, "%d,%d" % size)
            if factor == 1:
                worst = max(worst, same(got, self.full, box))
            elif min(size) >= THIN_PX:
                x, y, w, h = box
                want = self.full.resize(size, Image.LANCZOS, (x, y, x + w, y + h))
                alike(got, want)
                reduced += 1
        return "%d, %d reduced" % (worst, reduced)

    def _some_tiles(self):
        (tile,) = self.document["tiles"]
        w, h = self.document["width"], self.document["height"]
        every = []
        for factor in tile["scaleFactors"]:
            across, down = tile["width"] * factor, tile.get("height", tile["width"]) * factor
            # The outer ones always, of the inner ones some.
            for y in {0, (h - 1) // down * down, down * self.dice.randint(0, (h - 1) // down)}:
                for x in {0, (w - 1) // across * across, across * self.dice.randint(0, (w - 1) // across)}:
                    box = x, y, min(across, w - x), min(down, h - y)
                    every.append((factor, box, (-(-box[2] // factor), -(-box[3] // factor))))
        self.dice.shuffle(every)
        return every[:MOST_TILES]

    def _jpg(self):
        got = compare.flattened(picture_of(ask(self.site, self.entry, "/full/!200,200/0/default.jpg")))
        white = compare.flattened(self.small_shown, compare.WHITE)
        coded = io.BytesIO()
        white.save(coded, "JPEG", quality=75, subsampling=2)
        ours, theirs = fixture.psnr(white, got), fixture.psnr(white, Image.open(coded).convert("RGB"))
        if ours < theirs - JPEG_DB:
            raise Wrong("%.1f dB, another coder %.1f dB" % (ours, theirs))
        return "%.1f dB" % (ours - theirs)

    def _page(self):
        """The second page of those that have several."""
        if self.entry.pages < 2 or not self.truth or self.truth.decoder != "by_pillow":
            return None
        got = picture_of(ask(self.site, self.entry, "/full/max/0/default.png", 1))
        return within(FULL, compare.flattened(got), compare.flattened(corpus.by_pillow(self.entry, 1)))

    def _profile(self):
        """Pixels that keep their profile are the stored ones, and the profile goes along."""
        profile = self.truth and self.truth.embedded
        if not profile:
            return None
        x, y, w, h = self.origin + self.full.size
        shown = picture_of(ask(self.retaining, self.entry, "/%d,%d,%d,%d/max/0/default.png" % (x, y, w, h)))
        box = x, y, x + w, y + h
        if "icc_profile" not in shown.info:
            within(FULL_ICC, compare.flattened(shown), self.truth.srgb.crop(box))
            return "converted"
        if shown.info["icc_profile"] != profile:
            raise Wrong("another profile: %s" % ImageCms.getProfileDescription(
                io.BytesIO(shown.info["icc_profile"])).strip())
        return "kept " + within(FULL, compare.flattened(shown), self.truth.stored.crop(box))


def set_sites(site, retaining):
    Examination.site, Examination.retaining = site, retaining


def examined():
    """entry -> what was found. Serves each readable file of the corpus."""
    entries = [entry for entry in corpus.entries() if not entry.hostile]
    settings = dict(MAX_CVT=-1, IIIF_DELIMITER=";", PNG_QUALITY=1, MAX_ICC=-1)
    with server.Site("direct", corpus.FOLDER, **settings) as site, \
            server.Site("direct", corpus.FOLDER, RETAIN_SOURCE_ICC_PROFILE=1, **settings) as retaining, \
            multiprocessing.get_context("fork").Pool(PROCESSES, set_sites, (site, retaining)) as pool:
        found = pool.map(Examination, entries, 1)
        assert len(site.worker_pids()) == site.workers, site.log_text()[-2000:]
    report = os.environ.get("TEGULA_CORPUS_REPORT")
    if report:
        with open(report, "w") as f:
            for each in found:
                for check, (ok, measured) in each.found.items():
                    print(each.entry, each.status, check, "ok" if ok else "FAIL", measured,
                          "%.2f" % each.seconds, sep="\t", file=f)
    return found


def is_exception(entry, row, check):
    return row is not None and {check, check + "?"} & set(row["checks"].split(","))


def has_to_fail(entry, row, check):
    return row is not None and check in row["checks"].split(",")


def found_once():
    """As examined; what went wrong the first time is not tried again."""
    if not _outcome:
        try:
            _outcome.append((examined(), None))
        except Exception as error:
            _outcome.append((None, error))
    found, error = _outcome[0]
    if error:
        raise error
    return found


_outcome = []


def complain(checks):
    """Of these checks, all that failed without a row, or did not fail in spite of one."""
    table, wrong, done = corpus.exceptions(), [], 0
    for each in found_once():
        row = table.get(each.entry.path)
        for check in checks:
            if check not in each.found:
                continue
            ok, measured = each.found[check]
            done += 1
            if not ok and not is_exception(each.entry, row, check):
                wrong.append("%s: %s" % (each.entry, measured))
            if ok and has_to_fail(each.entry, row, check):
                wrong.append("%s: no longer an exception (%s)" % (each.entry, check))
    assert not wrong, "%d of %d: %s" % (len(wrong), done, "; ".join(wrong))


def test_size():
    complain(("info",))


test_size.limit_seconds = 600  # the first one serves the files


def test_every_file_is_shown():
    complain(("full",))


def test_picture_is_that_of_another_decoder():
    complain(("picture",))


def test_picture_is_the_reference():
    complain(("reference",))


def test_reduced_picture():
    complain(("thumbnail",))


def test_regions_are_parts():
    complain(("region",))


def test_tiles_are_parts():
    complain(("tiles",))


def test_jpeg_over_white():
    complain(("jpg",))


def test_second_pages():
    complain(("page",))


def test_profiles_are_kept():
    complain(("profile",))


def test_status_of_exceptions():
    table, wrong = corpus.exceptions(), []
    for each in found_once():
        row = table.get(each.entry.path)
        if row and each.status != int(row["status"]):
            wrong.append("%s: %d, not %s" % (each.entry, each.status, row["status"]))
    assert not wrong, "; ".join(wrong)
