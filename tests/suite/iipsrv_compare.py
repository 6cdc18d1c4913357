#!/usr/bin/python3
"""The same requests to Debian's iipimage-server and to tegula.

usage: iipsrv_compare.py
TEGULA names the binary to test. Prints a line for each request: equal, within which difference, or
different on purpose and why. The exit status is 1 if anything differs that should not.

    texts of objects   equal line for line
    JTL                within the error of two coders
    CVT                within the difference of two ways to scale
    processed tiles    within the error of two coders and a rounding
    documents          the same values
    errors             the same status and text
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
import kinds
import server

IIPSRV = "/usr/lib/iipimage-server/iipsrv.fcgi"
PROGRAM = "/fcgi-bin/iipsrv.fcgi?"


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
            reply = fcgi.get(("127.0.0.1", self.port), PROGRAM + query)
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

RAMP, JPEG, GRAY, DEEP, LOW, WORDS, JP2 = ("iipsrv-" + name for name in (
    "ramp.tif", "jpeg.tif", "gray.tif", "deep.tif", "low.tif", "words.tif", "j.jp2"))


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
    fixture.pyramid(WORDS, lambda: fixture.ramp(300, 200), tags={
        tag: (2, b"text %d\0" % tag) for tag in (269, 270, 271, 272, 305, 306, 315, 33432)})
    kinds.by_pillow(JP2, smooth(700, 500), "JPEG2000", num_resolutions=4)


OBJECTS = ["obj=IIP,1.0&obj=Max-size&obj=Tile-size&obj=Resolution-number&obj=Resolutions",
           "obj=IIP-server&obj=IIP-opt-comm&obj=IIP-opt-obj", "obj=Max-size&obj=IIP,1.0", "obj=Basic-info",
           "obj=Colorspace,*,*", "obj=Horizontal-views&obj=Vertical-views", "obj=Min-Max-sample-values",
           "obj=Bits-per-channel", "ROT=90&obj=Max-size", "ROT=270&obj=Max-size", "obj=resolutions&OBJ=TILE-SIZE"]
TEXTS = ["obj=Summary-info", "obj=copyright", "obj=subject", "obj=author", "obj=create-dtm", "obj=app-name&obj=Max-size"]
TILES = ["JTL=0,0", "JTL=1,1", "JTL=2,5", "jtl=2,0", "&JTL=1,0&", "JTL=1,0&JTL=0,0", "JTL=1,0?1712345678901", "CNT=1.5&JTL=2,1",
         "CNT=0&JTL=0,0", "GAM=2&JTL=2,1", "GAM=.45&JTL=2,1", "GAM=0&JTL=0,0", "INV&JTL=1,0", "inv=1&JTL=1,0", "CMP=HOT&JTL=1,0",
         "CMP=COLD&JTL=1,0", "CMP=JET&JTL=1,0", "CMP=RED&JTL=1,0", "CMP=GREEN&JTL=1,0", "CMP=BLUE&JTL=1,0", "CMP=none&JTL=1,0",
         "COL=grey&JTL=1,0", "COL=gray&JTL=1,0", "QLT=95&JTL=1,0", "QLT=10&JTL=1,0", "QLT=0&JTL=1,0", "QLT=500&JTL=1,0", "QLT=-5&JTL=1,0",
         "ROT=90&JTL=1,0", "ROT=270&JTL=1,0", "ROT=360&JTL=1,0", "ROT=!0&JTL=1,0", "SDS=0,90&JTL=1,0", "SDS=0&JTL=1,0", "JTLS=0,1,0,90",
         "LYR=1&JTL=1,0", "ICC=1&JTL=1,0", "ICC&JTL=1,0"]
OF_COLOURS = ["CTW=[.3,.5,.2;0,1,0;.1,0,.9]&JTL=2,1", "CTW=[0,0,1;0,1,0;1,0,0]&GAM=2&JTL=2,1", "SHD=45,30&JTL=1,0", "SHD=200,60&JTL=2,5"]
VIEWS = ["WID=300&CVT=jpeg", "HEI=200&CVT=jpeg", "WID=300&HEI=100&CVT=jpeg", "WID=100&HEI=300&CVT=JPEG", "WID=0&HEI=0&CVT=jpeg",
         "ROT=90&WID=300&CVT=jpeg", "ROT=180&WID=300&CVT=jpeg", "ROT=270&WID=300&CVT=jpeg", "ROT=!90&WID=300&CVT=jpeg",
         "WID=300&CNT=.5&CVT=jpeg", "WID=300&INV&CVT=jpeg", "WID=300&COL=grey&CVT=jpeg", "RGN=.25,.25,.5,.5&WID=300&CVT=jpeg",
         "rgn=0,0,1,1&wid=300&cvt=jpeg", "CVT=jpeg"]
OTHER_PROTOCOLS = ["DeepZoom=%s_files/10/1_1.jpg", "DeepZoom=%s_files/9/0_0.jpg", "DeepZoom=%s_files/8/0_0.jpg",
                   "Zoomify=%s/TileGroup0/2-1-1.jpg", "Zoomify=%s/TileGroup7/0-0-0.jpg", "IIIF=%s/0,0,256,256/256,/0/default.jpg", "IIIF=%s/full/300,/0/default.jpg",
                   "IIIF=%s/full/300,/90/gray.jpg", "IIIF=%s/100,100,400,300/200,/!0/default.jpg"]
NUMBERS = ["PFL=1:0,0-5,0", "PFL=1:3,3-3,9", "PFL=1:10,10", "PFL=1:10,10-10,10", "PFL=2:0,0-700,0", "PFL=2:699,0-699,500"]
SPANS = ["TIL=0,0", "TIL=2,0-4", "TIL=2,1-5", "TIL=2,4-3", "TIL=1,0-0"]
ERRORS = ["FOO=1", "FIF=%s&FOO=1" % JPEG, "FIF=%s&obj=foo" % JPEG, "FIF=%s&JTL=9,9" % JPEG, "FIF=%s&JTL=0,99" % JPEG,
          "FIF=none.tif&JTL=0,0", "FIF=none.tif&obj=Max-size", "FIF=none.tif&WID=50&CVT=jpeg"]

# What tegula answers in another way on purpose: status here, there (None: the request ends the other server), and why.
INTENDED = [
    (LOW, "CNT=st&JTL=0,0", 200, 200, "histograms of the whole smallest resolution; a range that clips no channel"),
    (LOW, "CNT=eq&JTL=0,0", 200, 200, "histograms of the whole smallest resolution, of luma rather than the mean"),
    (LOW, "COL=binary&JTL=0,0", 200, 200, "Otsu's threshold of the whole smallest resolution"),
    (RAMP, "ROT=180&JTL=2,1", 200, 200, "half turns name the tile as quarter turns do"),
    (RAMP, "CTW=[.3,.5,.2]&JTL=0,0", 200, 200, "as many channels as rows: gray rather than red alone"),
    (RAMP, "CTW=%5B.3,.5,.2;0,1,0;.1,0,.9%5D&JTL=0,0", 200, 200, "brackets may be encoded"),
    (GRAY, "CTW=[1;1;1]&JTL=0,0", 200, 200, "as many channels as rows"),
    (RAMP, "CTW=[]&JTL=0,0", 400, 200, "an empty matrix is an error"),
    (JPEG, "MINMAX=0:100,200&JTL=0,0", 200, 200, "applied to all samples"),
    (DEEP, "MINMAX=0:10000,50000&GAM=1.2&JTL=0,0", 200, 200, "the same"),
    (RAMP, "GAM=log&JTL=0,0", 200, 200, "version 1.1 has no logarithm"),
    (RAMP, "CNV=sobel&JTL=0,0", 200, 200, "version 1.1 has no convolution"),
    (RAMP, "PTL=0,0", 200, 400, "version 1.1 has JPEG only"),
    (RAMP, "WTL=0,0", 200, 400, "the same"),
    (RAMP, "TTL=0,0", 200, 400, "the same"),
    (RAMP, "WID=50&CVT=png", 200, 200, "the same, and sends JPEG for whatever is asked"),
    (RAMP, "WID=50&CVT=bmp", 400, 200, "an unknown format is an error rather than a JPEG"),
    (RAMP, "RGN=.5,.5,.25,.25&CVT=jpeg", 200, 200, "a region without a size is shown at its own size"),
    (GRAY, "WID=2800&CVT=jpeg", 200, 200, "enlarged, the last pixels fade neither into the next row nor into what is behind the picture"),
    (RAMP, "RGN=.9,.9,.5,.5&WID=50&CVT=jpeg", 200, 200, "sides are rounded, not cut off; the shape is that of what lies inside"),
    (RAMP, "RGN=-.1,0,.5,.5&WID=50&CVT=jpeg", 200, 200, "the part inside, rather than the whole of it from 0"),
    (RAMP, "RGN=2,3,.5,.5&WID=50&CVT=jpeg", 400, None, "a region outside is an error"),
    (RAMP, "RGN=0,0,1&WID=50&CVT=jpeg", 400, 200, "three numbers are no region"),
    (RAMP, "WID=-5&CVT=jpeg", 400, 200, "a negative side is an error"),
    (RAMP, "WID=x&CVT=jpeg", 400, 200, "what is no number is an error"),
    (RAMP, "JTL=x", 400, 200, "the same"),
    (RAMP, "CNT=-1&JTL=0,0", 400, 200, "a negative factor is an error rather than black"),
    (RAMP, "COL=foo&JTL=0,0", 400, 200, "an unknown colour space is an error"),
    (RAMP, "ROT=45&JTL=0,0", 400, 200, "other angles are an error"),
    (RAMP, "SDS=1,90&JTL=0,0", 404, 200, "a view that is not there is missing"),
    (RAMP, "JTL=0,-1", 404, 400, "a tile that is not there is missing rather than malformed"),
    (RAMP, "TIL=0,0-3", 404, 200, "the same"),
    (RAMP, "PFL=9:0,0-5,0", 404, 400, "the same of a resolution"),
    (RAMP, "PFL=2:0,0-1025,0", 400, 400, "an error's text rather than the home page"),
    (RAMP, "SPECTRA=0,0,999,5", 400, 400, "an error's text in a reply that has a type"),
    (RAMP, "SPECTRA=2,0,5,5", 200, 200, "a point for each channel"),
    (RAMP, "JTL=0,0&FOO=1", 200, 200, "unknown commands are passed over, no text follows the picture"),
    (RAMP, "obj=foo&obj=Max-size", 200, 400, "an unknown object does not take the others away"),
    (RAMP, "obj=dpi&obj=Max-size", 200, 400, "objects that version 1.1 does not have"),
    (RAMP, "obj=summary-info", 200, 400, "texts that the file does not have are empty rather than an error"),
    (WORDS, "obj=title&obj=description&obj=make&obj=metadata", 200, 400, "the names that later versions have"),
    (JP2, "obj=Resolutions", 200, 200, "halves are rounded up, as the codestream has them; one more where that does not fit a tile"),
    (JP2, "JTL=1,0", 200, 200, "tiles at the edge have the size of what is there, rather than a margin"),
]
INTENDED_WHOLE = [
    ("DeepZoom=%s_files/7/0_0.jpg" % JPEG, 200, 200, "levels below the smallest stored one have their size, down to 1 x 1"),
    ("DeepZoom=%s_files/11/0_0.jpg" % JPEG, 404, 200, "a level that is not there is missing"),
    ("DeepZoom=%s_files/10/4_0.jpg" % JPEG, 404, 200, "a column that is not there is missing, rather than the next row's first"),
    ("DeepZoom=%s_files/10/1_1.png" % JPEG, 200, 200, "the suffix names the format"),
    ("Zoomify=%s/ImageProperties.xml" % JPEG, 200, 200, "NUMTILES counts the tiles of all tiers, not of one"),
    ("IIIF=%s/info.json" % JPEG, 200, 200, "version 3 unless IIIF_VERSION says 2"),
    ("obj=Max-size", 400, 400, "the name as it was written, rather than in lower case"),
    ("JTL=0,0", 400, 400, "the name of the command, rather than nothing"),
    ("FIF=%s" % JPEG, 400, 400, "the whole name, rather than its last letter lost"),
    ("", 200, 400, "the page that load balancers look at is no error"),
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
    """Of a profile."""
    return mine.json() == theirs.json(), "equal" if mine.json() == theirs.json() else "%r, %r" % (mine.body, theirs.body)


def compare_points(mine, theirs):
    """Of a spectrum of one channel."""
    found = [re.findall(rb">\s*([\d.]+)\s*<", reply.body) for reply in (mine, theirs)]
    return found[0] == found[1] and len(found[0]) == 2, "equal" if found[0] == found[1] else repr(found)


def compare_values(mine, theirs):
    """Of a document in XML: the attributes in their order."""
    found = [re.findall(rb'(\w+)="([^"]*)"', reply.body.partition(b"?>")[2]) for reply in (mine, theirs)]
    return found[0] == found[1] and len(found[0]) > 3, "equal" if found[0] == found[1] else repr(found)


def compare_errors(mine, theirs):
    """IIP's text where there is one; that of a missing file shows where files are."""
    iip = mine.type() == "application/vnd.netfpx"
    return mine.status == theirs.status and (not iip or mine.body == theirs.body), "%d %s" % (mine.status, mine.body.decode().strip())


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


def about(name, queries, how, *limits):
    return [("FIF=%s&%s" % (name, query), how) + limits for query in queries]


def requests():
    """(query, how to compare the replies, limits)."""
    for name in (RAMP, JPEG, GRAY, DEEP):
        yield from about(name, OBJECTS, compare_text)
    yield from about(WORDS, TEXTS, compare_text)
    for name in (JPEG, GRAY, DEEP):
        yield from about(name, TILES, compare_pictures, 2, 12)
    yield from about(JPEG, OF_COLOURS, compare_pictures, 2, 12)
    for name in (JPEG, GRAY):
        yield from about(name, VIEWS, compare_pictures, 3, 16)
    yield from about(JP2, ["WID=300&CVT=jpeg", "RGN=.25,.25,.5,.5&WID=200&CVT=jpeg", "LYR=1&WID=300&CVT=jpeg"], compare_pictures, 3, 16)
    yield "FIF=/%s&JTL=1,0" % JPEG, compare_pictures, 2, 12
    yield "FIF=%s&FIF=%s&JTL=1,0" % (RAMP, JPEG), compare_pictures, 2, 12
    for query in OTHER_PROTOCOLS:
        yield query % JPEG, compare_pictures, 3, 16
    yield "DeepZoom=%s.dzi" % JPEG, compare_values
    for name in (GRAY, DEEP):
        yield from about(name, NUMBERS, compare_numbers)
        yield from about(name, ["SPECTRA=1,0,5,5", "SPECTRA=2,1,100,200"], compare_points)
    yield from about(RAMP, NUMBERS, compare_numbers)
    for name in (RAMP, GRAY, DEEP):
        yield from about(name, SPANS, compare_many)
    for query in ERRORS:
        yield query, compare_errors


class Comparison:
    def __init__(self):
        make_files()
        self.theirs = Iipsrv(fixture.root())
        self.mine = server.Site("direct", fixture.root(), workers=1, JPEG_QUALITY=90, INTERPOLATION=1, CODEC_PASSTHROUGH=1)

    def stop(self):
        self.theirs.stop()
        self.mine.stop()

    def both(self, query):
        return self.mine.get(PROGRAM + query), self.theirs.ask(query)

    @staticmethod
    def judge(replies, how, *limits):
        """(verdict, text)"""
        mine, theirs = replies
        if theirs is None:
            return "same" if mine.status == 200 else "DIFFERS", "it ends the other server; here %d" % mine.status
        if how is not compare_errors and (mine.status, mine.type()) != (theirs.status, theirs.type()):
            return "DIFFERS", "%d %s, %d %s" % (mine.status, mine.type(), theirs.status, theirs.type())
        same, text = how(mine, theirs, *limits)
        return "same" if same else "DIFFERS", text

    def judge_intended(self, query, here, there, why):
        mine, theirs = self.both(query)
        found = (mine.status, theirs.status if theirs else None)
        text = "%d here, %s there: %s" % (mine.status, theirs.status if theirs else "its end", why)
        return (query, "intended" if found == (here, there) else "DIFFERS", text)

    def rows(self):
        """(query, verdict, text) of all requests."""
        for query, *how in requests():
            yield (query,) + self.judge(self.both(query), *how)
        for name, query, *rest in INTENDED:
            yield self.judge_intended("FIF=%s&%s" % (name, query), *rest)
        for row in INTENDED_WHOLE:
            yield self.judge_intended(*row)


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
