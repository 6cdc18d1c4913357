"""Damaged and malicious files: every request is answered in time and in little memory, and no worker dies."""
import io
import os
import random
import time
import urllib.parse

from PIL import Image

import compare
import corpus
import fixture
import kinds
import server

V3 = "/iiif/3/"
# Instrumented builds are slower than what people run.
SECONDS = float(os.environ.get("TEGULA_PATIENCE", "2"))
RESIDENT_MIB = 200
INSTRUMENTED = "ASAN_OPTIONS" in os.environ  # shadow memory and quarantine are not tegula's
# What a damaged file's picture may differ from the one that other decoders make of it.
ALIKE = compare.Distance(4.0, 25.0)
REQUESTS = ("/info.json", "/0,0,256,256/max/0/default.png", "/full/!200,200/0/default.jpg")
SEEDS = int(os.environ.get("TEGULA_SEEDS", "200"))


def answered(site, name, requests=REQUESTS):
    """A whole image, a document, or an error that says so in short."""
    for rest in requests:
        begin = time.monotonic()
        reply = site.get(V3 + urllib.parse.quote(name, safe="") + rest)
        seconds = time.monotonic() - begin
        assert seconds < SECONDS * server.patience(), "%s%s took %.1f s" % (name, rest, seconds)
        if reply.status == 200:
            if rest == "/info.json":
                document = reply.json()
                assert document["width"] > 0 and document["height"] > 0
            else:
                picture = Image.open(io.BytesIO(reply.body))
                picture.load()
        else:
            assert 400 <= reply.status < 600, (name, rest, reply)
            assert reply.type() == "text/plain" and 0 < len(reply.body) < 400, (name, rest, reply)
            assert b"/" not in reply.body.replace(b"and/or", b""), (name, reply.body)
            assert "no-store" in reply.header("Cache-Control")


def status_of(pid, field):
    with open("/proc/%d/status" % pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith(field + ":")) / 1024


def forget_peak(pid):
    """VmHWM starts again at what is resident now; proc(5)."""
    with open("/proc/%d/clear_refs" % pid, "w") as f:
        f.write("5")


def survived(site, name, requests, idle_mib):
    workers = site.worker_pids()
    pid, = workers
    forget_peak(pid)
    try:
        answered(site, name, requests)
    finally:
        assert site.worker_pids() == workers, "%s ended a worker:\n%s" % (name, site.log_text()[-3000:])
    used = status_of(pid, "VmHWM") - idle_mib
    assert INSTRUMENTED or used <= RESIDENT_MIB, "%s took %d MiB" % (name, used)


def survive(folder, names, requests=REQUESTS, **settings):
    """All that was wrong is told at the end."""
    wrong = []
    with server.Site("direct", folder, workers=1, **settings) as site:
        pid, = site.worker_pids()
        idle_mib = status_of(pid, "VmRSS")
        for name in names:
            try:
                survived(site, name, requests, idle_mib)
            except (AssertionError, OSError, ValueError) as error:
                wrong.append(str(error))
                site._await_workers()
    assert not wrong, "%d: %s" % (len(wrong), "; ".join(wrong))


def folder_of(name):
    folder = os.path.join(fixture.root(), name)
    os.makedirs(folder, exist_ok=True)
    return folder


def tiff_sources():
    picture = fixture.ramp(700, 500)
    yield fixture.pyramid("victim-deflate.tif", picture)
    yield fixture.pyramid("victim-jpeg.tif", picture, compression=fixture.JPEG)
    yield fixture.pyramid("victim-big.tif", picture, big=True, order=">", sub_ifds=True, compression=fixture.NONE)


def sources():
    """One of every kind, by extensions of four characters."""
    picture = fixture.ramp(700, 500)
    yield from tiff_sources()
    yield kinds.by_pillow("victim.jpg", picture, "JPEG", quality=90, orientation=6, icc_profile=kinds.swapped_profile())
    yield kinds.by_pillow("victim-prog.jpg", picture, "JPEG", quality=75, progressive=True)
    yield kinds.by_pillow("victim.png", picture, "PNG", icc_profile=kinds.swapped_profile())
    yield kinds.by_pillow("victim-vp8.web", picture, "WEBP", quality=80, icc_profile=kinds.swapped_profile())
    yield kinds.by_pillow("victim-vp8l.web", picture, "WEBP", lossless=True, orientation=5)
    yield kinds.by_pillow("victim.gif", picture, "GIF")
    yield kinds.by_pillow("victim.jp2", picture, "JPEG2000", irreversible=False)
    yield kinds.by_pillow("victim-tiles.jp2", picture, "JPEG2000", irreversible=True, tile_size=(256, 256))


def read(name):
    with open(os.path.join(fixture.root(), name), "rb") as f:
        return f.read()


def hostile():
    return [entry for entry in corpus.entries() if entry.hostile]


def test_corpus():
    survive(corpus.FOLDER, [entry.path for entry in hostile()])


def test_corpus_without_strict():
    survive(corpus.FOLDER, [entry.path for entry in hostile()], STRICT=0)


def looks_right(entry, reply):
    if not entry.reference:
        return False
    picture = compare.flattened(reply.image())
    apart = compare.delta_e(compare.resized(picture, entry.reference.size), entry.reference)
    return apart.mean <= ALIKE.mean and apart.p99 <= ALIKE.p99


def test_corpus_pictures():
    """What is shown of a hostile file is what others show of it, or has its reason in the table."""
    table, wrong = corpus.exceptions(), []
    with server.Site("direct", corpus.FOLDER) as site:
        for entry in hostile():
            reply = site.get(V3 + urllib.parse.quote(entry.path, safe="") + "/full/!200,200/0/default.png")
            fine = reply.status != 200 or looks_right(entry, reply)
            if fine == (entry.path in table):
                wrong.append("%s: status %d%s" % (entry, reply.status, ", no longer an exception" if fine else ""))
    assert not wrong, "%d: %s" % (len(wrong), "; ".join(wrong))


def test_cut_short():
    folder, names = folder_of("cut"), []
    for source in sources():
        data = read(source)
        for share in (0, .01, .1, .3, .5, .7, .9, .99, 1):
            name = "%s-%g.tif" % (source[:-4], share)
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data[:int(len(data) * share)])
            names.append(name)
        for n in (1, 2, 3, 4, 7, 8, 9, 15, 16, 17):
            name = "%s-%d-bytes.tif" % (source[:-4], n)
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data[:n])
            names.append(name)
    survive(folder, names)


def test_random_bytes_anywhere():
    folder = folder_of("random")
    originals = [(source, read(source)) for source in sources()]

    def damaged():
        for seed in range(SEEDS):
            source, data = originals[seed % len(originals)]
            data, dice = bytearray(data), random.Random(seed)
            for _ in range(64):
                data[dice.randrange(len(data))] = dice.randrange(256)
            name = "%s-%d.tif" % (source[:-4], seed)
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data)
            yield name

    survive(folder, damaged())


def test_random_bytes_in_directories():
    """Where they hurt: headers, directories and their values."""
    folder = folder_of("directories")
    originals = []
    for source in tiff_sources():
        data = read(source)
        # Directories are written behind the data that they describe, so the ends hold them; the last
        # level's is the very end.
        originals.append((source, data, [range(0, 16), range(max(0, len(data) - 600), len(data))]))

    def damaged():
        for seed in range(SEEDS):
            source, data, places = originals[seed % len(originals)]
            data, dice = bytearray(data), random.Random(10000 + seed)
            place = places[seed // 3 % 2]
            for _ in range(1 + seed % 4):
                data[dice.choice(place)] = dice.choice((0, 1, 2, 3, 0x7f, 0x80, 0xfe, 0xff, dice.randrange(256)))
            name = "%s-%d.tif" % (source[:-4], seed)
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data)
            yield name

    survive(folder, damaged())


def made(name, tags, pixels=None, **how):
    """A file whose tags lie."""
    def make(path):
        with fixture.Tiff(path, **how) as tiff:
            tiff.page(fixture.ramp(64, 64) if pixels is None else pixels, tile=(64, 64), tags=tags)

    return fixture.once(name, make)


def test_lying_tags():
    names = [made("lie/huge.tif", {256: (4, [2 ** 31 - 1]), 257: (4, [2 ** 31 - 1])}),
             made("lie/wide.tif", {256: (4, [2 ** 32 - 1])}),
             made("lie/nothing.tif", {256: (4, [0])}),
             made("lie/channels.tif", {277: (3, [65535])}),
             made("lie/bits.tif", {258: (3, [64, 64, 64])}),
             made("lie/tile.tif", {322: (4, [2 ** 31]), 323: (4, [2 ** 31])}),
             made("lie/tile0.tif", {322: (4, [0])}),
             made("lie/count.tif", {325: (16, [2 ** 40])}, big=True),
             made("lie/offset.tif", {324: (16, [2 ** 62])}, big=True),
             made("lie/compression.tif", {259: (3, [9999])}),
             made("lie/photometric.tif", {262: (3, [999])}),
             made("lie/planar.tif", {284: (3, [7])}),
             made("lie/subifds.tif", {330: (4, [8] * 1000)}),
             made("lie/own-subifd.tif", {330: (4, [8, 8])}),
             made("lie/tables.tif", {259: (3, [7]), 347: (7, b"\xff\xd8\xff\xdb\xff\xff")}),
             made("lie/notables.tif", {259: (3, [7])}),
             made("lie/extra.tif", {338: (3, [2] * 300)})]
    survive(fixture.root(), names)
    survive(fixture.root(), names[:2], ("/full/!100,100/0/default.jpg", "/full/max/0/default.png", "/full/pct:1/0/default.png"))


def test_headers_of_tall_and_wide_pictures():
    """Sizes that nothing contradicts until the pixels are read: no time and memory for them before."""
    names = []
    for w, h in ((700, 15008244), (100, 20000000), (20000000, 100), (60000, 60000), (1, 2 ** 31 - 1), (2 ** 31 - 1, 1)):
        for compression in (fixture.NONE, fixture.DEFLATE):
            tags = {256: (4, [w]), 257: (4, [h]), 278: (4, [h])}
            names.append(fixture.once("lie/strip-%d-%dx%d.tif" % (compression, w, h),
                                      lambda path: striped(path, tags, compression)))
        for data in (3000, 3000000):
            names.append(kinds.png_of("lie/%dx%d-%d.png" % (w, h, data), w, h, kinds.TRUE, os.urandom(data)))
    for settings in ({}, {"STRICT": 0}):
        survive(fixture.root(), names, **settings)
        survive(fixture.root(), names, ("/full/max/0/default.png", "/full/pct:0.01/0/default.jpg"), **settings)


def striped(path, tags, compression):
    with fixture.Tiff(path) as tiff:
        tiff.page(fixture.ramp(64, 64), tile=None, rows=64, compression=compression, tags=tags)


def test_directories_without_end():
    def endless(path):
        with fixture.Tiff(path) as tiff:
            tiff.page(fixture.ramp(64, 64), tile=(64, 64))
            first = tiff.link
            tiff.page(fixture.ramp(32, 32), tile=(64, 64), subfile=1)
            tiff.file.flush()
            with open(path, "rb") as f:
                f.seek(first)
                back = f.read(4)
            tiff._patch(tiff.link, int.from_bytes(back, "little"))

    def many(path):
        with fixture.Tiff(path) as tiff:
            pixels = fixture.flat(16, 16, (1, 2, 3))
            for _ in range(20000):
                tiff.page(pixels, tile=None, rows=16, compression=fixture.NONE, subfile=1)

    names = [fixture.once("lie/endless.tif", endless), fixture.once("lie/many.tif", many)]
    survive(fixture.root(), names)


def test_descriptors_do_not_leak():
    with server.Site("direct", fixture.root(), workers=1, MAX_METADATA_CACHE_SIZE=4) as site:
        names = list(sources()) + ["text-none.tif", made("lie/compression.tif", {259: (3, [9999])})]
        pid, = site.worker_pids()
        counts = []
        for _ in range(3):
            for _ in range(20):
                for name in names:
                    site.get(V3 + urllib.parse.quote(name, safe="") + "/full/50,/0/default.jpg")
            counts.append(len(os.listdir("/proc/%d/fd" % pid)))
        assert counts[0] == counts[1] == counts[2], counts
