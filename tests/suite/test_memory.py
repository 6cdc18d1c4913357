"""Memory of a worker: by the band, not by the image."""
import os
import random
import subprocess
import time
import unittest

import fixture
import kinds
import server

V3 = "/iiif/3/"
MIB = 1024


def peak_kib(pid):
    with open("/proc/%d/status" % pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))


def instrumented():
    out = subprocess.run(["ldd", server.TEGULA], capture_output=True, text=True).stdout
    return "asan" in out or "ubsan" in out


def large():
    return fixture.mkpyramid("large-25000x12500.tif", "--picture", "sample", "--size", "25000x12500",
                             "--compression", "jpeg", "--tile", "256x256")


def worker_after(*paths, **settings):
    """Peak resident KiB of the one worker that answered these."""
    if instrumented():
        raise unittest.SkipTest("sanitizers take memory of their own")
    with server.Site("direct", fixture.root(), workers=1, **settings) as site:
        for path in paths:
            reply = site.get(path)
            assert reply.status == 200, (path, reply)
        pid, = site.worker_pids()
        return peak_kib(pid)


def test_tiles_stay_within_40_mib():
    name = large()
    paths = []
    for factor in (1, 2, 4, 8, 16, 32, 64):
        for x, y in ((0, 0), (1, 1), (3, 2)):
            if (x + 1) * 256 * factor < 25000 and (y + 1) * 256 * factor < 12500:
                region = "%d,%d,%d,%d" % (x * 256 * factor, y * 256 * factor, 256 * factor, 256 * factor)
                for form in ("jpg", "png", "webp"):
                    paths.append("%s%s/%s/256,256/0/default.%s" % (V3, name, region, form))
                paths.append("%s%s/%s/256,256/90/gray.jpg" % (V3, name, region))
    peak = worker_after(*paths)
    assert peak <= 40 * MIB, "%.1f MiB" % (peak / MIB)


def test_views_stay_within_120_mib():
    peak = worker_after(*[V3 + large() + rest for rest in (
        "/full/!1024,1024/0/default.jpg", "/full/5000,/0/default.jpg", "/full/4000,/0/default.png",
        "/1000,1000,5000,5000/max/0/default.jpg", "/square/3000,/180/default.jpg")])
    assert peak <= 120 * MIB, "%.1f MiB" % (peak / MIB)


def test_whole_image_within_120_mib():
    peak = worker_after(V3 + large() + "/full/max/0/default.jpg", MAX_CVT=-1)
    assert peak <= 120 * MIB, "%.1f MiB" % (peak / MIB)


def resident_kib(pid):
    with open("/proc/%d/statm" % pid) as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def at_rest_kib(pid):
    """A worker returns what it does not use after a second without a request; a busy machine may let
    it wait longer."""
    least = resident_kib(pid)
    for unused in range(8):
        time.sleep(.5)
        least = min(least, resident_kib(pid))
    return least


def any_request(rng, names):
    """One of all protocols, formats and ways to an answer, refusals among them."""
    name, level, tile = rng.choice(names), rng.randrange(4), rng.randrange(14)
    command = rng.choice(["", "", "CNT=eq&", "GAM=2&", "CTW=[0,1;1;1]&", "CNV=sobel&", "CMP=JET&", "ROT=90&", "QLT=40&"])
    return rng.choice([
        "/iiif/3/%s/info.json" % name,
        "/iiif/3/%s/%d,%d,300,200/%d,/0/default.%s" % (name, rng.randrange(500), rng.randrange(300), rng.randrange(50, 250),
                                                      rng.choice(["jpg", "png", "webp"])),
        "/iiif/3/%s/full/%d,/%d/default.jpg" % (name, rng.randrange(50, 500), rng.choice([0, 90, 180])),
        "/?FIF=%s&%sJTL=%d,%d" % (name, command, level, tile),
        "/?FIF=%s&%sWID=%d&CVT=%s" % (name, command, rng.randrange(50, 400), rng.choice(["jpeg", "png", "tiff"])),
        "/?FIF=%s&obj=IIP,1.0&obj=Max-size&obj=Min-Max-sample-values&obj=metadata" % name,
        "/?FIF=%s&%s" % (name, rng.choice(["TIL=1,0-3", "PFL=1:0,0-50,0", "SPECTRA=1,0,3,3", "nonsense"])),
        "/dz/%s_files/%d/%d_0.jpg" % (name, rng.randrange(12), rng.randrange(3)),
        "/zf/%s/TileGroup0/%d-0-%d.jpg" % (name, level, rng.randrange(3)),
    ])


def test_ten_thousand_requests():
    """Field case 62: what 10,000 leave behind is at most 1.1 times what 2,000 do."""
    if instrumented():
        raise unittest.SkipTest("sanitizers take memory of their own")
    names = [fixture.ramp_pyramid(1237, 911), fixture.ramp_jpeg_pyramid(1024, 768),
             kinds.by_pillow("memory.jp2", fixture.ramp(700, 500), "JPEG2000", num_resolutions=4)]
    rng = random.Random(62)
    with server.Site("direct", fixture.root(), workers=1, URI_MAP="iiif=>IIIF,dz=>DeepZoom,zf=>Zoomify") as site:
        pid, = site.worker_pids()
        start, rests = resident_kib(pid), []
        for n in (2000, 8000):
            for unused in range(n):
                assert site.get(any_request(rng, names)).status in (200, 400, 404)
            rests.append(at_rest_kib(pid))
        assert site.worker_pids() == [pid]
        assert rests[1] <= rests[0] * 1.1, "%d, then %d KiB" % tuple(rests)
        assert rests[1] <= start + 24 * MIB, "%d, at the start %d KiB" % (rests[1], start)  # of them 10 in caches


def test_an_idle_worker_returns_what_a_large_answer_took():
    if instrumented():
        raise unittest.SkipTest("sanitizers take memory of their own")
    with server.Site("direct", fixture.root(), workers=1, MAX_IMAGE_CACHE_SIZE="0") as site:
        pid, = site.worker_pids()
        assert site.get(V3 + large() + "/full/1024,/0/default.jpg").status == 200
        small = at_rest_kib(pid)
        for form in ("jpg", "webp", "tif"):
            assert site.get(V3 + large() + "/full/4000,/0/default." + form).status == 200
        assert peak_kib(pid) > small + 16 * MIB
        assert at_rest_kib(pid) <= small + 4 * MIB, (small, resident_kib(pid))
