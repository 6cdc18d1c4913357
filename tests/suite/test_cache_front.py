"""Web servers that answer from caches by themselves, with the configurations of the tree: nginx from
memcached, nginx from its disk, Varnish."""
import concurrent.futures
import os
import shutil
import subprocess
import time
import unittest

import fixture
import memcached
import server
from iiif import V3, expect
from memcached import Memcached
from test_cache import full, truth, write


class Site(server.Site):
    """One picture behind nginx, with a folder of nginx/ laid over."""

    def __init__(self, folder, replace, **settings):
        if not server.have("nginx"):
            raise unittest.SkipTest("no nginx here")
        self.folder = fixture.tempfile.mkdtemp(prefix="tegula-front-")
        os.chmod(self.folder, 0o755)
        write(os.path.join(self.folder, "a.tif"))
        settings.setdefault("CORS", "*")
        super().__init__("nginx-tcp", self.folder, nginx_cache=(folder, replace), **settings)

    def stop(self):
        super().stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def asked(self):
        """How many requests have come to tegula."""
        return self.log_text().count(" us")


def with_memcached(*servers, more=(), **settings):
    """more: what else is replaced in the files."""
    lines = "".join("    server %s max_fails=1 fail_timeout=5s;\n" % s for s in servers * (2 if len(servers) == 1 else 1))
    line = "    server 127.0.0.1:11211 max_fails=1 fail_timeout=5s;\n"
    return Site("with-memcached", {line + line: lines, **dict(more)}, MEMCACHED_SERVERS=", ".join(servers), CACHE_LAYOUT="nginx",
                MEMCACHED_POLL_TIMEOUT="2000", **settings)


def wait_for_key(m, key):
    end = time.monotonic() + 10
    while key not in m.keys():
        assert time.monotonic() < end, m.keys()
        time.sleep(0.02)


def test_nginx_answers_hits_itself():
    with Memcached() as m, with_memcached(m.address) as site:
        formats = subprocess.run([server.TEGULA, "--formats"], stdout=subprocess.PIPE, check=True).stdout.decode()
        sent = dict(line.split() for line in formats.partition("Sent:\n")[2].partition("Not built in:\n")[0].splitlines())
        assert {"jpg", "png", "webp", "tif"} <= set(sent)
        for form, media in sent.items():
            path = full("a.tif", "100,", form)
            first = expect(site.get(path), 200)
            wait_for_key(m, path)
            asked = site.asked()
            second = expect(site.get(path), 200)
            assert site.asked() == asked and first.body == second.body
            for reply in (first, second):
                assert reply.header("Content-Type") == media, reply
                assert reply.header("Content-Length") == str(len(reply.body))
                assert reply.header("Access-Control-Allow-Origin") == "*"
                assert reply.header("Access-Control-Expose-Headers") == "ETag, Link, Retry-After"
                assert reply.header("Cache-Control") == "max-age=86400"
                assert reply.header("Accept-Ranges") == "none"
            assert first.header("ETag") and second.header("ETag") is None  # none rather than a wrong one
            head = expect(site.get(path, method="HEAD"), 200)
            assert head.body == b"" and head.header("Content-Length") == str(len(first.body))
            assert site.asked() == asked
            # what names a tag goes on to tegula
            expect(site.get(path, headers={"If-None-Match": first.header("ETag")}), 304)
            expect(site.get(path, headers={"If-None-Match": '"other"'}), 200)
            assert site.asked() == asked + 2


def test_nginx_passes_on_what_it_cannot_answer():
    with Memcached() as m, with_memcached(m.address) as site:
        info = expect(site.get(V3 + "a.tif/info.json"), 200)
        assert info.json()["id"] == site.base + V3 + "a.tif" and info.header("Access-Control-Allow-Origin") == "*"
        expect(site.get(full("missing.tif")), 404)
        expect(site.get(full("a.tif", "0,")), 400)
        expect(site.get(V3 + "a.tif/full/100,/0/default.xyz"), 400)
        expect(site.get(full("a.tif"), method="OPTIONS"), 204)
        expect(site.get(full("a.tif"), method="POST"), 200)
        assert [k for k in m.keys() if k.startswith("/")] == []
        expect(site.get(full("a.tif") + "?x"), 200)
        assert [k for k in m.keys() if k.startswith("/")] == []
        names = ["sub/b c.tif", "%2541.tif", "long" + "x" * 200 + ".tif", "%C3%A4.tif"]
        for name in names:
            path = os.path.join(site.folder, __import__("urllib.parse").parse.unquote(name))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write(path)
            url = full(name.replace(" ", "%20").replace("sub/", "sub%2F"))
            first = expect(site.get(url), 200, url)
            again = expect(site.get(url), 200, url)
            assert first.body == again.body == truth(0, full("a.tif"))
        wait_for_key(m, full("ä.tif"))


def test_nginx_answers_deep_zoom_too():
    """With its prefix in the pattern, as the file says."""
    with Memcached() as m, with_memcached(m.address, more={"~ ^/iiif/": "~ ^/(iiif|dz)/"}, CODEC_PASSTHROUGH="0",
                                          URI_MAP="iiif=>IIIF, dz=>DeepZoom") as site:
        path = "/dz/a.tif_files/9/0_0.jpg"
        first = expect(site.get(path), 200)
        wait_for_key(m, path)
        asked = site.asked()
        again = expect(site.get(path), 200)
        assert site.asked() == asked and again.body == first.body and again.header("Content-Type") == "image/jpeg"


def test_nginx_and_tegula_place_keys_alike():
    """On three servers."""
    with Memcached() as a, Memcached() as b, Memcached(unix=True) as d:
        with with_memcached(a.address, b.address, "unix:" + d.address) as site:
            paths = [full("a.tif", "%d," % w) for w in range(20, 60)]
            for path in paths:
                expect(site.get(path), 200)
            end = time.monotonic() + 10
            while sum(k.startswith("/") for m in (a, b, d) for k in m.keys()) < 40:
                assert time.monotonic() < end
                time.sleep(0.05)
            asked = site.asked()
            for path in paths:
                assert expect(site.get(path), 200).body == truth(0, path)
            assert site.asked() == asked
            shares = [sum(k.startswith("/") for k in m.keys()) for m in (a, b, d)]
            assert sum(share > 0 for share in shares) >= 2, shares  # by the ports they have


def test_nginx_without_its_memcached():
    paths = [full("a.tif", "%d," % w) for w in range(20, 40)]
    with Memcached() as m, with_memcached(m.address) as site:
        for path in paths:
            expect(site.get(path), 200)
        m.freeze()
        times = []
        for path in paths * 2:
            start = time.monotonic()
            assert expect(site.get(path), 200).body == truth(0, path)
            times.append(time.monotonic() - start)
        slow = [t for t in times if t > 0.04]
        assert len(slow) <= 6, slow  # nginx: twice 50 ms; tegula: its limit, which is long here
        m.kill()
        for path in paths:
            assert expect(site.get(path), 200).body == truth(0, path)


def test_what_a_hit_of_nginx_trades():
    """A changed file is seen when the entry has gone, or when tegula is asked."""
    with Memcached() as m, with_memcached(m.address, MEMCACHED_TIMEOUT="2") as site:
        path = full("a.tif")
        old = expect(site.get(path), 200)
        wait_for_key(m, path)
        write(os.path.join(site.folder, "a.tif"), 5)
        assert expect(site.get(path), 200).body == old.body
        new = expect(site.get(path, headers={"If-None-Match": old.header("ETag")}), 200)
        assert new.body == truth(5, path) != old.body
        assert expect(site.get(path), 200).body == new.body  # stored by that request
        write(os.path.join(site.folder, "a.tif"), 6)
        time.sleep(3.1)
        assert expect(site.get(path), 200).body == truth(6, path)


def test_nginx_keeps_answers_on_its_disk():
    with Site("with-cache", {"/var/cache/tegula": "tegula_cache"}, CACHE_CONTROL="max-age=2") as site:
        path = full("a.tif")
        first = expect(site.get(path), 200)
        asked = site.asked()
        for _ in range(3):
            again = expect(site.get(path), 200)
            assert again.header("X-Cache-Status") == "HIT" and again.body == first.body
            assert [h for h in again.headers if h[0] not in ("X-Cache-Status", "Date")] == \
                [h for h in first.headers if h[0] not in ("X-Cache-Status", "Date")]
        expect(site.get(path, headers={"If-None-Match": first.header("ETag")}), 304)
        assert site.asked() == asked
        head = expect(site.get(path, method="HEAD"), 200)
        assert head.body == b"" and expect(site.get(path), 200).body == first.body
        for host in ("a.example.org", "b.example.org"):
            for accept, word in (("", "3/context"), ('a/b;profile="http://iiif.io/api/image/2/context.json"', "2/context")):
                info = expect(site.get("/iiif/a.tif/info.json", headers={"Host": host, "Accept": accept}), 200)
                assert host in info.body.decode() and word in info.json()["@context"]
        for _ in range(2):
            expect(site.get(full("missing.tif")), 404)
        assert site.log_text().count("missing.tif") == 2  # errors are not kept
        time.sleep(3.2)
        write(os.path.join(site.folder, "a.tif"), 4)
        assert expect(site.get(path), 200).header("X-Cache-Status") == "STALE"  # and asks behind it
        end = time.monotonic() + 5
        while site.get(path).body != truth(4, path):
            assert time.monotonic() < end
            time.sleep(0.05)


def test_nginx_lets_one_of_many_through():
    with Site("with-cache", {"/var/cache/tegula": "tegula_cache"}) as site:
        write(os.path.join(site.folder, "b.tif"), 3, (3000, 2000))
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            replies = list(pool.map(lambda _: site.get(full("b.tif")), range(32)))
        assert len({expect(r, 200).body for r in replies}) == 1
        assert site.log_text().count(", rendered") == 1


# -- Varnish

class Varnish:
    def __init__(self, backend):
        if not server.have("varnishd"):
            raise unittest.SkipTest("no varnishd here")
        self.dir = fixture.tempfile.mkdtemp(prefix="tegula-varnish-")
        os.chmod(self.dir, 0o755)
        self.port = server.free_port()
        with open(os.path.join(server.TOP, "varnish", "tegula.vcl")) as f:
            text = f.read()
        assert '.port = "8080";' in text
        self.vcl = os.path.join(self.dir, "tegula.vcl")
        with open(self.vcl, "w") as f:
            f.write(text.replace('.port = "8080";', '.port = "%d";' % backend))
        argv = [server.have("varnishd"), "-F", "-a", "127.0.0.1:%d" % self.port, "-f", self.vcl, "-n",
                os.path.join(self.dir, "n"), "-s", "malloc,50m", "-j", "none", "-T", "none"]
        self.daemon = server.Daemon(argv, server.base_environment(), self.dir, os.path.join(self.dir, "log"),
                                    ("127.0.0.1", self.port))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.daemon.stop()
        shutil.rmtree(self.dir, ignore_errors=True)


def test_varnish():
    images = fixture.tempfile.mkdtemp(prefix="tegula-front-")
    os.chmod(images, 0o755)
    write(os.path.join(images, "a.tif"))
    write(os.path.join(images, "b+b.tif"))
    write(os.path.join(images, "big.tif"), 3, (3000, 2000))
    try:
        with server.Site("nginx-tcp", images, CORS="*") as site, Varnish(site.port) as v:
            site.port, site.host = v.port, "127.0.0.1:%d" % v.port
            site.base = "http://" + site.host
            rendered = lambda: site.log_text().count(", rendered")
            first = expect(site.get(full("a.tif")), 200)
            again = expect(site.get(full("a.tif")), 200)
            assert first.body == again.body and rendered() == 1
            for name in ("Content-Type", "ETag", "Last-Modified", "Access-Control-Allow-Origin", "Link"):
                assert first.header(name) == again.header(name) and first.header(name)
            assert again.header("Accept-Ranges") == "none" and again.header("X-Tegula-Url") is None
            part = expect(site.get(full("a.tif"), headers={"Range": "bytes=0-9"}), 200)
            assert part.body == first.body
            expect(site.get(full("a.tif"), headers={"If-None-Match": first.header("ETag")}), 304)
            with concurrent.futures.ThreadPoolExecutor(32) as pool:
                bodies = {expect(r, 200).body for r in pool.map(lambda _: site.get(full("big.tif")), range(32))}
            assert len(bodies) == 1 and rendered() == 2
            v2 = 'application/ld+json;profile="http://iiif.io/api/image/2/context.json"'
            for accept, word in (("", "3/context"), (v2, "2/context"), ("application/ld+json", "3/context")):
                info = expect(site.get("/iiif/a.tif/info.json", headers={"Accept": accept}), 200)
                assert word in info.json()["@context"] and site.base in info.body.decode()
            for _ in range(2):
                expect(site.get(full("missing.tif")), 404)
            assert site.log_text().count("missing.tif") == 2
            # taking away
            write(os.path.join(images, "a.tif"), 7)
            assert expect(site.get(full("a.tif")), 200).body == first.body
            expect(site.get(full("a.tif"), method="PURGE"), 200)
            assert expect(site.get(full("a.tif")), 200).body == truth(7, full("a.tif"))
            expect(site.get(full("b+b.tif")), 200)
            write(os.path.join(images, "b+b.tif"), 8)
            expect(site.get(V3 + "b+b", method="BAN"), 200)
            assert expect(site.get(full("b+b.tif")), 200).body == truth(8, full("a.tif"))
    finally:
        shutil.rmtree(images, ignore_errors=True)
