"""Memory of a worker: by the band, not by the image."""
import os
import subprocess
import unittest

import fixture
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


def test_many_requests_do_not_add_up():
    if instrumented():
        raise unittest.SkipTest("sanitizers take memory of their own")
    names = [fixture.ramp_pyramid(1237, 911), fixture.ramp_jpeg_pyramid(1024, 768)]
    with server.Site("direct", fixture.root(), workers=1) as site:
        pid, = site.worker_pids()

        def rounds(n):
            for k in range(n):
                site.get("%s%s/%d,%d,300,200/%d,/0/default.%s" % (
                    V3, names[k % 2], k % 500, k % 300, 50 + k % 200, ("jpg", "png", "webp")[k % 3]))
            with open("/proc/%d/statm" % pid) as f:
                return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024

        first = rounds(1000)
        last = rounds(3000)
        assert last <= first * 1.1 + 512, "%d KiB became %d KiB" % (first, last)
