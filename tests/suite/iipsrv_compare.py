#!/usr/bin/python3
"""The same requests to Debian's iipimage-server and to tegula.

usage: iipsrv_compare.py
TEGULA names the binary to test. Prints a line for each request: equal, within which difference, or
different on purpose and why. The exit status is 1 if anything differs that should not.

    texts of objects   equal line for line
    JTL                within the error of two coders
    CVT                within the difference of two ways to scale
    processed tiles    within the error of two coders and a rounding
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy

import fcgi
import fixture
import server

IIPSRV = "/usr/lib/iipimage-server/iipsrv.fcgi"


class Iipsrv:
    """Debian's server, started again whenever a request has ended it."""

    def __init__(self, images):
        self.port, self.images, self.process = server.free_port(), images, None
        self.log = tempfile.NamedTemporaryFile(prefix="iipsrv-", suffix=".log")

    def _start(self):
        env = {"FILESYSTEM_PREFIX": os.path.join(self.images, ""), "LOGFILE": self.log.name, "VERBOSITY": "1",
               "JPEG_QUALITY": "90", "MAX_IMAGE_CACHE_SIZE": "0", "OMP_NUM_THREADS": "1", "MEMCACHED_SERVERS": ""}
        self.process = subprocess.Popen([IIPSRV, "--bind", "127.0.0.1:%d" % self.port], env=env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 20
        while not server.connects(("127.0.0.1", self.port)):
            assert time.monotonic() < deadline and self.process.poll() is None, "iipsrv did not start"
            time.sleep(.02)

    def ask(self, query):
        """None when the request has ended the server."""
        if self.process is None or self.process.poll() is not None:
            self._start()
        try:
            reply = fcgi.get(("127.0.0.1", self.port), "/fcgi-bin/iipsrv.fcgi?" + query)
            return server.Reply(reply.status, reply.headers, reply.body)
        except (fcgi.Closed, ConnectionError, ValueError):
            time.sleep(.1)
            return None

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.log.close()


# -- what is asked

RAMP, JPEG, GRAY, DEEP, LOW = "iipsrv-ramp.tif", "iipsrv-jpeg.tif", "iipsrv-gray.tif", "iipsrv-deep.tif", "iipsrv-low.tif"


def smooth(w, h):
    """Without a frequency that scaling would treat this way or that."""
    x, y = numpy.meshgrid(numpy.arange(w) / w, numpy.arange(h) / h)
    return (127.5 + 100 * numpy.stack([numpy.sin(9 * x + 3 * y), numpy.cos(7 * y), numpy.sin(5 * x * y + 1)], 2)).astype(numpy.uint8)


def make_files():
    fixture.pyramid(RAMP, lambda: fixture.ramp(1501, 1103))
    fixture.pyramid(JPEG, lambda: smooth(1024, 768), compression=fixture.JPEG, quality=90)
    fixture.pyramid(GRAY, lambda: fixture.gray(700, 500))
    fixture.pyramid(DEEP, lambda: fixture.gray(700, 500, 65535))
    fixture.pyramid(LOW, lambda: (smooth(700, 500) * .4 + 40).astype(numpy.uint8))


OBJECTS = ["obj=IIP,1.0&obj=Max-size&obj=Tile-size&obj=Resolution-number&obj=Resolutions",
           "obj=IIP-server&obj=IIP-opt-comm&obj=IIP-opt-obj", "obj=Max-size&obj=IIP,1.0", "obj=Basic-info",
           "obj=Colorspace,*,*", "obj=Horizontal-views&obj=Vertical-views", "obj=Min-Max-sample-values",
           "obj=Bits-per-channel", "ROT=90&obj=Max-size", "obj=resolutions&OBJ=TILE-SIZE"]
TILES = ["JTL=0,0", "JTL=1,1", "JTL=2,5", "jtl=2,0", "CNT=1.5&JTL=2,1", "GAM=2&JTL=2,1", "INV&JTL=1,0",
         "CTW=[.3,.5,.2;0,1,0;.1,0,.9]&JTL=2,1", "SHD=45,30&JTL=0,0", "CMP=JET&JTL=1,0", "COL=grey&JTL=1,0", "QLT=95&JTL=1,0",
         "ROT=90&JTL=1,0", "SDS=0,90&JTL=1,0", "JTLS=0,1,0,90"]
VIEWS = ["WID=300&CVT=jpeg", "HEI=200&CVT=jpeg", "WID=300&HEI=100&CVT=jpeg", "ROT=90&WID=300&CVT=jpeg", "WID=300&CNT=.5&CVT=jpeg",
         "WID=300&COL=grey&CVT=jpeg", "RGN=.25,.25,.5,.5&WID=300&CVT=jpeg", "CVT=jpeg"]

TEXTS = ["JTL=9,9", "JTL=0,99", "PFL=1:0,0-5,0", "PFL=1:3,3-3,9"]

# What tegula answers in another way on purpose, and why.
INTENDED = [
    (LOW, "CNT=st&JTL=0,0", "histograms of the whole smallest resolution; a range that clips no channel"),
    (LOW, "CNT=eq&JTL=0,0", "histograms of the whole smallest resolution, of luma rather than the mean"),
    (LOW, "COL=binary&JTL=0,0", "Otsu's threshold of the whole smallest resolution"),
    (RAMP, "ROT=180&JTL=2,1", "half turns name the tile as quarter turns do"),
    (RAMP, "WID=50&CVT=bmp", "an unknown format is an error rather than a JPEG"),
    (RAMP, "RGN=.5,.5,.25,.25&CVT=jpeg", "a region without a size is shown at its own size"),
    (RAMP, "RGN=2,3,.5,.5&WID=50&CVT=jpeg", "a region outside is an error"),
    (RAMP, "JTL=0,-1", "a tile that is not there is missing rather than malformed"),
    (RAMP, "TIL=0,0-3", "the same"),
    (RAMP, "JTL=0,0&FOO=1", "unknown commands are passed over"),
    (RAMP, "CTW=[]&JTL=0,0", "an empty matrix is an error"),
    (RAMP, "WID=-5&CVT=jpeg", "a negative side is an error"),
    (RAMP, "ROT=45&JTL=0,0", "other angles are an error"),
    (RAMP, "obj=foo&obj=Max-size", "an unknown object does not take the others away"),
    (RAMP, "obj=dpi&obj=Max-size", "objects that version 1.1 does not have"),
    (RAMP, "CNV=sobel&JTL=0,0", "version 1.1 has no convolution"),
    (RAMP, "SPECTRA=2,0,5,5", "a point for each channel"),
    (JPEG, "MINMAX=0:100,200&JTL=0,0", "applied to 8-bit samples as well"),
]


# -- how it is judged

def lines_of(reply):
    """Version 1.1 ends its headers once too often in some replies."""
    return reply.body.lstrip(b"\r\n").split(b"\r\n")


def compare_text(mine, theirs):
    if lines_of(mine) == lines_of(theirs):
        return True, "equal"
    return False, "%r, %r" % (mine.body, theirs.body)


def compare_numbers(mine, theirs):
    """A status, or the numbers of a profile."""
    if mine.status != 200 or theirs.status != 200:
        return mine.status == theirs.status, "%d, %d" % (mine.status, theirs.status)
    return mine.json() == theirs.json(), "equal" if mine.json() == theirs.json() else "%r, %r" % (mine.body, theirs.body)


def compare_many(mine, theirs):
    """Headers of TIL: the same tiles in the same order, coded alike."""
    found = [re.findall(rb"(Tile,\d+,\d+,\d+)/\d+:(.{8})", reply.body, re.S) for reply in (mine, theirs)]
    return found[0] == found[1] and len(found[0]) > 0, "%d tiles" % len(found[0])


def compare_pictures(mine, theirs, mean, worst):
    """mean, worst: levels of 255, the latter for all but a thousandth of the samples."""
    a, b = (numpy.asarray(reply.image().convert(mine.image().mode), int) for reply in (mine, theirs))
    if a.shape != b.shape:
        return False, "%r, %r" % (a.shape, b.shape)
    off = numpy.abs(a - b)
    high = numpy.percentile(off, 99.9)
    return bool(off.mean() <= mean and high <= worst), "mean %.2f, 99.9 %%: %d" % (off.mean(), high)


class Comparison:
    def __init__(self):
        make_files()
        self.theirs = Iipsrv(fixture.root())
        self.mine = server.Site("direct", fixture.root(), workers=1, JPEG_QUALITY=90, INTERPOLATION=1, CODEC_PASSTHROUGH=1)

    def stop(self):
        self.theirs.stop()
        self.mine.stop()

    def both(self, query):
        return self.mine.get("/fcgi-bin/iipsrv.fcgi?" + query), self.theirs.ask(query)

    def judge(self, query, how, *limits):
        """(verdict, text)"""
        mine, theirs = self.both(query)
        if theirs is None:
            return "same" if mine.status == 200 else "DIFFERS", "it ends the other server; here %d" % mine.status
        if how is not compare_numbers and (mine.status, mine.type()) != (theirs.status, theirs.type()):
            return "DIFFERS", "%d %s, %d %s" % (mine.status, mine.type(), theirs.status, theirs.type())
        same, text = how(mine, theirs, *limits)
        return "same" if same else "DIFFERS", text

    def rows(self):
        """(query, verdict, text) of all requests."""
        asked = [(name, query, compare_text) for name in (RAMP, JPEG, GRAY, DEEP) for query in OBJECTS]
        asked += [(name, query, compare_pictures, 2, 12) for name in (JPEG, GRAY, DEEP) for query in TILES
                  if name == JPEG or not ("CTW" in query or "SHD" in query)]
        asked += [(name, query, compare_pictures, 3, 16) for name in (JPEG, GRAY) for query in VIEWS]
        asked += [(name, query, compare_numbers) for name in (RAMP, GRAY, DEEP) for query in TEXTS]
        asked += [(name, "TIL=2,0-4", compare_many) for name in (RAMP, DEEP)]
        for name, query, *how in asked:
            yield ("FIF=%s&%s" % (name, query),) + self.judge("FIF=%s&%s" % (name, query), *how)
        for name, query, why in INTENDED:
            mine, theirs = self.both("FIF=%s&%s" % (name, query))
            yield ("FIF=%s&%s" % (name, query), "intended",
                   "%d here, %s there: %s" % (mine.status, theirs.status if theirs else "its end", why))


def compare(report=None):
    """The requests that differ and should not."""
    if not os.access(IIPSRV, os.X_OK):
        raise unittest.SkipTest("iipimage-server is not installed")
    comparison, wrong = Comparison(), []
    try:
        for query, verdict, text in comparison.rows():
            if report:
                report("%-8s %-70s %s" % (verdict, query, text))
            if verdict == "DIFFERS":
                wrong.append("%s: %s" % (query, text))
    finally:
        comparison.stop()
    return wrong


if __name__ == "__main__":
    os.environ["TEGULA"] = os.path.abspath(os.environ.get("TEGULA", "tegula"))
    sys.exit(1 if compare(print) else 0)
