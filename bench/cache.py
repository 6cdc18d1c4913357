#!/usr/bin/python3
"""What caches are worth: tegula with memcached beside a constant FastCGI program, nginx alone, and Debian's
iipimage-server with its memcached, all behind one nginx.

usage: cache.py TEGULA CONSTANT PICTURE [--seconds S] [--rounds N] [--only WORD]
PICTURE: a large pyramid (9000x7000), of which 30 smaller ones are made; each has 30 names, so that there
are 900 addresses. Needs memcached, varnish, iipimage-server, spawn-fcgi, wrk, siege and vips.

Ratios are medians over interleaved rounds, with the smallest and largest. Every answer is compared with
that of a server without caches before anything is timed.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import servers
from servers import IIPSRV, free_port

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
ADDRESSES = 900
MEMORY_MIB = 64  # of a memcached server
FILLING = 5      # passes over all addresses, about 18 MiB each
SIZE = "full/400,/0/default.jpg"


def make_pictures(source, folder):
    """30 pyramids of 4500x3500, cut from all over the source, each under 30 names."""
    for i in range(30):
        first = os.path.join(folder, "p%03d.tif" % (30 * i))
        crop = os.path.join(folder, "crop.v")
        subprocess.run(["vips", "crop", source, crop, str(i % 6 * 900), str(i // 6 * 875), "4500", "3500"], check=True)
        subprocess.run(["vips", "tiffsave", crop, first, "--tile", "--pyramid", "--compression", "jpeg", "--Q", "85",
                        "--tile-width", "256", "--tile-height", "256"], check=True)
        os.unlink(crop)
        for k in range(1, 30):
            os.link(first, os.path.join(folder, "p%03d.tif" % (30 * i + k)))


class Servers(servers.Servers):
    """Each variant of a server has two workers and a location of its name."""

    def __init__(self, tegula, constant, folder, constant_bytes):
        self.dir = tempfile.mkdtemp(prefix="tegula-bench.")
        os.chmod(self.dir, 0o755)
        self.port, self.pids = free_port(), {}
        self.tegula, self.folder = tegula, os.path.join(folder, "")
        self.memcached = {name: free_port() for name in ("ours", "theirs")}
        for name, port in self.memcached.items():
            self.start("memcached-" + name, ["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", str(port), "-m",
                                             str(MEMORY_MIB), "-t", "2"], os.environ)
        for name, n in (("constant", constant_bytes), ("constant-1", 1)):
            self.start(name, [constant, self.sock(name), str(n), "2"], os.environ)
        ours, theirs = ("127.0.0.1:%d" % self.memcached[n] for n in ("ours", "theirs"))
        self.variants = {
            "tegula-off": {"MAX_IMAGE_CACHE_SIZE": "0"}, "tegula-tiles": {},
            "tegula-memory": {"MAX_IMAGE_CACHE_SIZE": "200"},
            "tegula-shared": {"MAX_IMAGE_CACHE_SIZE": "0", "MEMCACHED_SERVERS": ours},
            "tegula-memcached": {"MEMCACHED_SERVERS": ours},
            "iiif": {"MEMCACHED_SERVERS": ours, "CACHE_LAYOUT": "nginx"},
            "iipsrv-off": {"MAX_IMAGE_CACHE_SIZE": "0"}, "iipsrv-tiles": {},
            "iipsrv-memcached": {"MEMCACHED_SERVERS": theirs}}
        for name in self.variants:
            self.run(name)
        self.nginx()
        self.varnish()
        time.sleep(1)
        for name in ("constant", "constant-1"):
            os.chmod(self.sock(name), 0o666)

    def varnish(self):
        """In front of that nginx."""
        self.varnish_port = free_port()
        vcl = os.path.join(self.dir, "tegula.vcl")
        with open(os.path.join(TOP, "varnish", "tegula.vcl")) as f:
            text = f.read().replace('.port = "8080";', '.port = "%d";' % self.port)
        with open(vcl, "w") as f:
            f.write(text)
        self.start("varnish", ["varnishd", "-F", "-a", "127.0.0.1:%d" % self.varnish_port, "-f", vcl, "-n",
                               os.path.join(self.dir, "varnish"), "-s", "malloc,512m", "-j", "none", "-T", "none"],
                   os.environ)

    def run(self, name):
        env = dict(os.environ, FILESYSTEM_PREFIX=self.folder, VERBOSITY="0", MAX_CVT="-1", MEMCACHED_SERVERS="")
        env.update(self.variants[name])
        if name.startswith("iipsrv"):
            env.update(MAX_CVT="30000", LOGFILE=os.path.join(self.dir, name + ".log"))
            argv = ["spawn-fcgi", "-n", "-s", self.sock(name), "-M", "0666", "-F", "2", "--", IIPSRV]
        else:
            env["URI_MAP"] = "%s=>IIIF" % name
            argv = [self.tegula, "--bind", self.sock(name), "--workers", "2", "--socket-mode", "0666"]
        self.start(name, argv, env)

    def restart(self, name):
        """With empty caches."""
        os.killpg(self.pids[name].pid, 15)
        self.pids[name].wait()
        if os.path.exists(self.sock(name)):
            os.unlink(self.sock(name))
        self.run(name)
        time.sleep(0.5)

    def nginx(self):
        for part in ("http.d", "site.d"):
            os.makedirs(os.path.join(self.dir, "tegula", part), exist_ok=True)
            with open(os.path.join(TOP, "nginx", "with-memcached", part, "memcached.conf")) as f:
                text = f.read().replace("127.0.0.1:11211", "127.0.0.1:%d" % self.memcached["ours"])
            with open(os.path.join(self.dir, "tegula", part, "memcached.conf"), "w") as f:
                f.write(text)
        with open(os.path.join(self.dir, "tegula", "fastcgi.conf"), "w") as f:
            f.write("include /etc/nginx/fastcgi_params;\n")
        pass_to = "location %s { fastcgi_pass unix:%s; }\n"
        locations = "".join(pass_to % ("/%s/" % n, self.sock(n)) for n in ("constant", "constant-1"))
        for name in self.variants:
            locations += pass_to % (("= /%s" if name.startswith("iipsrv") else "/%s/") % name, self.sock(name))
        conf = """daemon off; worker_processes 1; error_log %(d)s/error.log; pid %(d)s/nginx.pid;
events { worker_connections 1024; }
http { access_log off; client_body_temp_path %(d)s/b; proxy_temp_path %(d)s/p;
fastcgi_temp_path %(d)s/f; uwsgi_temp_path %(d)s/u; scgi_temp_path %(d)s/s;
fastcgi_buffers 64 16k; fastcgi_buffer_size 16k; fastcgi_read_timeout 600;
include /etc/nginx/fastcgi_params; keepalive_requests 100000000;
upstream tegula { server unix:%(t)s; }
upstream alone { server 127.0.0.1:%(m)d; keepalive 16; }
include %(d)s/tegula/http.d/*.conf;
server { listen 127.0.0.1:%(p)d; include %(d)s/tegula/site.d/*.conf;
location ~ ^/alone(?<key>/.*)$ { set $memcached_key $key; memcached_pass alone; default_type image/jpeg;
memcached_buffer_size 64k; }
%(l)s } }
""" % {"d": self.dir, "p": self.port, "l": locations, "t": self.sock("iiif"), "m": self.memcached["ours"]}
        path = os.path.join(self.dir, "nginx.conf")
        with open(path, "w") as f:
            f.write(conf)
        self.start("nginx", ["nginx", "-c", path, "-p", self.dir], os.environ)


def address(server, iiif):
    if server.startswith("iipsrv"):
        return "/%s?IIIF=%s" % (server, iiif)
    if server == "alone":
        return "/alone/iiif/2/" + iiif
    return "/%s/%s%s" % (server, "" if server.startswith("constant") else "2/", iiif)


def names(n=ADDRESSES):
    return ["p%03d.tif/%s" % (i, SIZE) for i in range(n)]


def warm(s, server, requests):
    for iiif in requests:
        s.get(address(server, iiif))


def report(text, ratios, target=""):
    ratios = sorted(ratios)
    print("| %s | %.2f (%.2f..%.2f) | %s |" % (text, statistics.median(ratios), ratios[0], ratios[-1], target), flush=True)


def compare(s, text, one, other, requests, args, target):
    """Requests a second of one server, as a part of another's."""
    a, b = ([address(n, r) for r in requests] for n in (one, other))
    ratios, rates = [], ([], [])
    for paths in (a, b):
        servers.rate(s, paths, 2)  # all workers have seen all of them
    for _ in range(args.rounds):
        for paths, found in ((a, rates[0]), (b, rates[1])):
            found.append(servers.rate(s, paths, args.seconds))
        ratios.append(rates[0][-1] / rates[1][-1])
    report("%s: %.0f/s of %.0f/s" % (text, statistics.median(rates[0]), statistics.median(rates[1])), ratios, target)


def hits(s, args):
    print("\n| hits, 8 connections | part of the other's rate | target |\n|---|---|---|")
    few, all_names = names(20), names()
    for server in ("tegula-memory", "tegula-shared", "iiif"):
        warm(s, server, all_names)
    compare(s, "in a worker's memory, of a constant program", "tegula-memory", "constant", few, args, ">= 0.8")
    compare(s, "the same, 900 addresses", "tegula-memory", "constant", all_names, args, ">= 0.8")
    compare(s, "in memcached, through tegula, of a constant program", "tegula-shared", "constant", all_names, args, "")
    compare(s, "answered by nginx, of nginx and memcached alone", "iiif", "alone", all_names, args, ">= 0.9")
    compare(s, "answered by nginx, of the same through tegula", "iiif", "tegula-shared", all_names, args, "")


def tagged_rate(s, path, tag, seconds):
    out = subprocess.run(["wrk", "-t1", "-c8", "-d%gs" % seconds, "-H", "If-None-Match: " + tag,
                          "http://127.0.0.1:%d%s" % (s.port, path)], capture_output=True, text=True).stdout
    assert "Non-2xx" not in out, out  # 304 is none of those
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))


def not_modified(s, args):
    path = address("tegula-off", names(1)[0])
    with urllib.request.urlopen("http://127.0.0.1:%d%s" % (s.port, path)) as r:
        tag = r.headers["ETag"]
    asked = urllib.request.Request("http://127.0.0.1:%d%s" % (s.port, path), headers={"If-None-Match": tag})
    try:
        urllib.request.urlopen(asked)
        sys.exit("no 304")
    except urllib.error.HTTPError as error:
        assert error.code == 304
    for constant, target in (("constant", ">= 0.95"), ("constant-1", "")):
        ours, theirs = [], []
        for _ in range(args.rounds):
            ours.append(tagged_rate(s, path, tag, args.seconds))
            theirs.append(tagged_rate(s, "/%s/" % constant, "x", args.seconds))
        report("304, of a constant program that sends %s: %.0f/s of %.0f/s" %
               ("the picture" if constant == "constant" else "one byte", statistics.median(ours),
                statistics.median(theirs)), [a / b for a, b in zip(ours, theirs)], target)


def pass_seconds(s, paths, users, port=None):
    """One pass over the paths by so many siege users, each with a part of its own. On kept connections siege
    leaves out every other address when an answer has no Content-Length, as those of iipsrv."""
    port = port or s.port
    parts = []
    for u in range(users):
        part = os.path.join(s.dir, "urls-%d" % u)
        with open(part, "w") as f:
            f.writelines("http://127.0.0.1:%d%s\n" % (port, p) for p in paths[u::users])
        parts.append(part)
    start = time.monotonic()
    running = [subprocess.Popen(["siege", "-b", "-c1", "-r", str(len(paths[u::users])), "-R", s.siegerc, "-f", part],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for u, part in enumerate(parts)]
    hits = 0
    for process in running:
        output = process.communicate()[0].decode()
        hits += int(re.search(r"[Tt]ransactions\W+(\d+)", output).group(1))
    assert hits == len(paths), (hits, len(paths))
    return time.monotonic() - start


def fill(s):
    """More than the server has room for."""
    for width in range(401, 401 + FILLING):  # not asked for again
        pass_seconds(s, [address("tegula-shared", "p%03d.tif/full/%d,/0/default.jpg" % (i, width))
                         for i in range(ADDRESSES)], 8)


def cold(s, args):
    """Pictures that nobody has asked for: with memcached all of it is in vain. It is full, as one in service is:
    one that still grows pays for fresh memory with every picture."""
    fill(s)
    print("\n| cold, the cache on | time, as a part of that without any cache | target |\n|---|---|---|")
    place = 300  # up to twice as much, all sizes come from the same level
    for text, shape in (("full/W,", "%s/full/%d,/0/default.jpg"),
                        ("a decoded tile", "%s/%d,0,256,256/256,256/0/default.jpg")):
        for users in (1, 8):
            ratios = []
            for _ in range(args.rounds):
                place += 1
                seconds = [pass_seconds(s, [address(server, shape % ("p%03d.tif" % i, place))
                                            for i in range(ADDRESSES)], users)
                           for server in ("tegula-shared", "tegula-off")]
                ratios.append(seconds[0] / seconds[1])
            report("%s, %d users" % (text, users), ratios, "<= 1.05")


# What a pass is by: text, variants of both servers, whether Varnish stands in front.
PASSES = (("all caches off", "tegula-off", "iipsrv-off", False),
          ("tile cache, second pass", "tegula-tiles", "iipsrv-tiles", False),
          ("memcached, second pass", "tegula-memcached", "iipsrv-memcached", False),
          ("memcached, second pass, tegula's answered by nginx", "iiif", "iipsrv-memcached", False),
          ("Varnish, second pass", "tegula-off", "iipsrv-off", True))


def pass_rate(s, server, users, varnish):
    """Requests a second of the second pass; the first where nothing is kept between them. Of servers started anew."""
    s.restart(server)
    port = s.varnish_port if varnish else s.port
    paths = [address(server, r) for r in names()]
    if varnish or not server.endswith("-off"):
        pass_seconds(s, paths, users, port)
    return ADDRESSES / pass_seconds(s, paths, users, port)


def siege(s, args):
    print("\n%d addresses %s, requests/s; every pass by servers started anew" % (ADDRESSES, SIZE))
    print("\n| pass | users | tegula | iipsrv | tegula is |\n|---|---|---|---|---|")
    found = {}
    for text, *servers_of, varnish in PASSES:
        for users in (1, 8):
            rates = [[pass_rate(s, server, users, varnish) for server in servers_of] for _ in range(args.rounds)]
            ours, theirs = found[text, users] = [statistics.median(r) for r in zip(*rates)]
            ratio = sorted(a / b for a, b in rates)
            print("| %s | %d | %.0f | %.0f | %.2fx (%.2f..%.2f) |" %
                  (text, users, ours, theirs, statistics.median(ratio), ratio[0], ratio[-1]), flush=True)
    print("\n| rates above | users | tegula | iipsrv |\n|---|---|---|---|")
    off, _, memcached, by_nginx, varnish = (p[0] for p in PASSES)
    for text, one, other in (("memcached, as a part of Varnish", memcached, varnish),
                             ("the same, tegula's answered by nginx", by_nginx, varnish),
                             ("memcached over all caches off", memcached, off)):
        for users in (1, 8):
            ratio = [a / b for a, b in zip(found[one, users], found[other, users])]
            print("| %s | %d | %.2f | %.2f |" % (text, users, *ratio))


def check(s):
    """Pictures are the same with and without caches, and those of iipsrv look alike."""
    for iiif in names()[::97]:
        right = s.get(address("tegula-off", iiif))
        for server in ("tegula-memory", "tegula-shared", "iiif"):
            for _ in range(2):
                assert s.get(address(server, iiif)) == right, (server, iiif)
        for server in ("iipsrv-off", "iipsrv-memcached"):
            db = servers.psnr(right, s.get(address(server, iiif)))
            assert db > 24, (server, iiif, db)


def run(args):
    with tempfile.TemporaryDirectory(prefix="tegula-pictures.") as folder:
        os.chmod(folder, 0o755)
        make_pictures(args.picture, folder)
        s = Servers(args.tegula, args.constant, folder, 1000)
        size = int(statistics.median(len(s.get(address("tegula-off", iiif))) for iiif in names()[::30]))
        s.stop()
        s = Servers(args.tegula, args.constant, folder, size)
        s.siegerc = os.path.join(s.dir, "siegerc")
        with open(s.siegerc, "w") as f:
            f.write("verbose = false\njson_output = false\nconnection = close\nlogging = false\nparser = false\n")
        try:
            check(s)
            print("# %d rounds of %g s; a picture has %d bytes" % (args.rounds, args.seconds, size))
            for part in (hits, not_modified, cold, siege):
                if not args.only or args.only in part.__name__:
                    part(s, args)
        finally:
            s.stop()


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("tegula")
    p.add_argument("constant")
    p.add_argument("picture")
    p.add_argument("--seconds", type=float, default=3)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--only")
    a = p.parse_args()
    a.tegula, a.constant, a.picture = map(os.path.abspath, (a.tegula, a.constant, a.picture))
    sys.exit(run(a))
