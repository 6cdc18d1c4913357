"""JPEG 2000 as a source: high throughput, files of a gigapixel, damage, memory."""
import concurrent.futures
import os
import random
import shutil
import struct
import subprocess
import time
import unittest

import numpy

import fixture
import kinds
import server
from iiif import V3, expect, get, get_tile, info, mosaic, site, tiles
from test_memory import MIB, instrumented, peak_kib

SIDE, TILE = 32768, 1024  # a gigapixel in 1024 tiles


def one_worker(**settings):
    return server.Site("direct", fixture.root(), workers=1, **settings)


def read_so_far(site):
    """Bytes that the only worker has asked the system for."""
    pid, = site.worker_pids()
    with open("/proc/%d/io" % pid) as f:
        return int(f.readline().split()[1])


# -- high throughput

def high_throughput(name, pixels, *options):
    if not shutil.which("ojph_compress"):
        raise unittest.SkipTest("no ojph_compress")

    def make(path):
        source = path + ".ppm"
        kinds.picture_of(pixels).save(source)
        subprocess.run(["ojph_compress", "-i", source, "-o", path + ".j2c", "-reversible", "true", *options],
                       check=True, stdout=subprocess.DEVNULL)
        os.rename(path + ".j2c", path)
        os.remove(source)

    return fixture.once(name, make)


def test_high_throughput_is_lossless():
    """Also in parts of a codestream without tiles, which OpenJPEG gives as flat grey."""
    picture = fixture.ramp(1100, 700)
    for name, options in (("ht.jhc", ()), ("ht-tiles.jhc", ("-tile_size", "{256,256}"))):
        name = high_throughput(name, picture, *options)
        assert fixture.largest_difference(get(V3, name).pixels(), picture) == 0, name
        got = get(V3, name, region="300,200,333,222").pixels()
        assert fixture.largest_difference(got, picture[200:422, 300:633]) == 0, name
        assert fixture.largest_difference(mosaic(V3, name)[1], picture) == 0, name
        small = get(V3, name, size="275,").pixels()
        assert fixture.psnr(small[:, :, :2], fixture.reduced(picture, (275, 175))[:, :, :2]) >= 36, name


# -- a gigapixel

def coded_tile():
    """The main header and the tile-part of one tile of noise on a ramp."""
    noise = numpy.random.default_rng(1).integers(0, 60, (TILE, TILE, 3), numpy.uint8)
    data = kinds.codestream(fixture.ramp(TILE, TILE) // 2 + noise, options=("-n", "7", "-p", "RPCL", "-r", "20"))
    sot = data.index(b"\xff\x90\0\x0a")
    length = struct.unpack(">L", data[sot + 6:sot + 10])[0]
    return data[:sot], data[sot:sot + length]


def gigapixel():
    """The same tile everywhere: tiles at multiples of their size are cut alike into subbands."""
    def make(path):
        header, tile = coded_tile()
        header = header[:8] + struct.pack(">LLLLLL", SIDE, SIDE, 0, 0, TILE, TILE) + header[32:]
        with open(path, "wb") as f:
            f.write(header)
            for i in range((SIDE // TILE) ** 2):
                f.write(tile[:4] + struct.pack(">H", i) + tile[6:])
            f.write(b"\xff\xd9")

    return fixture.once("gigapixel.j2k", make)


def test_a_tile_of_a_gigapixel_costs_a_tile():
    name = gigapixel()
    size = os.path.getsize(os.path.join(fixture.root(), name))
    with one_worker() as one:
        begin = read_so_far(one)
        document = info(V3, name, on=one)
        assert (document["width"], document["height"]) == (SIDE, SIDE)
        assert document["tiles"][0]["width"] == TILE
        assert read_so_far(one) - begin < 64 * 1024, "info.json reads headers only"
        begin, clock = read_so_far(one), time.monotonic()
        a = get(V3, name, region="20480,10240,256,256", on=one).pixels()
        assert read_so_far(one) - begin < size / 50, "a tile, and where the tiles are"
        assert time.monotonic() - clock < 2 * server.patience()
        b = get(V3, name, region="1024,30720,256,256", on=one).pixels()
        assert fixture.largest_difference(a, b) == 0
        whole = get(V3, name, size="1024,", on=one).pixels()
        assert whole.shape[:2] == (1024, 1024)
        if not instrumented():
            pid, = one.worker_pids()
            assert peak_kib(pid) <= 60 * MIB, peak_kib(pid)


# -- damage

def damaged(seed, data):
    """Cut, or with some bytes overwritten, half of the times in the headers."""
    dice = random.Random(seed)
    if seed % 4 == 0:
        return data[:len(data) * dice.choice((10, 50, 90)) // 100]
    out = bytearray(data)
    for _ in range(64 if seed % 4 == 1 else 3):
        out[dice.randrange(len(out) if seed % 4 == 1 else 300)] = dice.randrange(256)
    return bytes(out)


def test_57_damaged_files():
    """The process died."""
    tiled = kinds.made_jp2("damage-tiles.jp2", lambda: fixture.ramp(500, 400), ("-t", "128,128"))
    sources = [tiled, kinds.made_jp2("damage.jp2", lambda: fixture.ramp(500, 400))]
    try:
        sources.append(high_throughput("damage.jhc", fixture.ramp(500, 400)))
    except unittest.SkipTest:
        pass
    folder = os.path.join(fixture.root(), "damaged")
    os.makedirs(folder, exist_ok=True)
    for strict in ("1", "0"):
        with one_worker(STRICT=strict) as one:
            pids = one.worker_pids()
            for seed in range(100):
                with open(os.path.join(fixture.root(), sources[seed % len(sources)]), "rb") as f:
                    data = f.read()
                name = "damaged%%2F%s%d" % (strict, seed)
                with open(os.path.join(folder, "%s%d" % (strict, seed)), "wb") as f:
                    f.write(damaged(seed, data))
                clock = time.monotonic()
                for rest in ("/info.json", "/0,0,128,128/max/0/default.png", "/full/200,/0/default.jpg"):
                    reply = one.get(V3 + name + rest)
                    assert reply.status in (200, 301, 303) or 400 <= reply.status < 600, (seed, rest, reply.status)
                assert time.monotonic() - clock < 2 * 3 * server.patience(), seed
            assert one.worker_pids() == pids, "the worker died"
            expect(get(V3, tiled, size="100,", on=one), 200)
    shutil.rmtree(folder)


# -- memory

def test_79_no_growth():
    """The resident size climbed."""
    if instrumented():
        raise unittest.SkipTest("sanitizers take memory of their own")
    name = kinds.made_jp2("growth.jp2", lambda: fixture.ramp(3608, 2706), ("-t", "512,512", "-r", "10"))
    dice = random.Random(79)
    with one_worker() as one:
        pid, = one.worker_pids()
        wanted = [tile for tile in tiles(info(V3, name, on=one)) if tile[0] < 64]

        def some(n):
            for _ in range(n):
                factor, region, size = dice.choice(wanted)
                expect(get_tile(V3, name, region, size, on=one), 200)
                expect(get(V3, name, size="%d," % dice.randint(50, 300), form="jpg", on=one), 200)

        def resident():
            with open("/proc/%d/status" % pid) as f:
                return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))

        some(60)
        before = resident()
        some(150)
        assert resident() - before <= 8 * MIB, (before, resident())


def test_81_whole_pictures_at_once():
    """The server process was lost."""
    name = kinds.made_jp2("parallel.jp2", lambda: fixture.ramp(3283, 2773), ("-t", "1024,1024", "-r", "20"))
    on = site()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda _: get(V3, name, form="jpg", on=on), range(16)))
    assert {reply.status for reply in replies} <= {200, 503}
    assert any(reply.status == 200 for reply in replies)
    assert len({reply.body for reply in replies if reply.status == 200}) == 1
