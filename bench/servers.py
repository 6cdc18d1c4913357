#!/usr/bin/python3
"""Tegula beside Debian's iipimage-server and a constant FastCGI program, behind one nginx.

usage: servers.py TEGULA CONSTANT PICTURES [--seconds S] [--rounds N] [--only NAME]
PICTURES: folder with large_q85_ycbcr420.tif, large.tif, deflate.tif, lzw.tif, zstd.tif (9000x7000);
xl_25167x12483.tif is used for the memory rows when it is there.

Every figure is a ratio inside one interleaved run: A B C A B C …; the median over rounds is printed,
with the smallest and largest. Answers are compared before anything is timed.
"""
import argparse, io, os, re, shutil, signal, socket, statistics, subprocess, sys, tempfile, time
import urllib.request
import numpy as np
from PIL import Image

IIPSRV = "/usr/lib/iipimage-server/iipsrv.fcgi"
HERE = os.path.dirname(os.path.abspath(__file__))
Image.MAX_IMAGE_PIXELS = None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Servers:
    """nginx with one location per server; every server has two workers on a Unix socket."""

    def __init__(self, tegula, constant, pictures, constant_bytes):
        self.dir = tempfile.mkdtemp(prefix="tegula-bench.")
        os.chmod(self.dir, 0o755)
        self.port = free_port()
        self.pids = {}
        env = dict(os.environ, FILESYSTEM_PREFIX=os.path.join(pictures, ""), VERBOSITY="0")
        env.update(MAX_CVT="-1")
        self.start("tegula", [tegula, "--bind", self.sock("tegula"), "--workers", "2",
                              "--socket-mode", "0666"], env)
        self.start("tegula-nocache", [tegula, "--bind", self.sock("tegula-nocache"), "--workers", "2",
                                      "--socket-mode", "0666"],
                   dict(env, URI_MAP="tegula-nocache=>IIIF", MAX_IMAGE_CACHE_SIZE="0"))
        self.start("constant", [constant, self.sock("constant"), str(constant_bytes), "2"], env)
        for name, extra in (("iipsrv", {}), ("iipsrv-nocache", {"MAX_IMAGE_CACHE_SIZE": "0"})):
            self.start(name, ["spawn-fcgi", "-n", "-s", self.sock(name), "-M", "0666", "-F", "2",
                              "--", IIPSRV],
                       dict(env, MAX_CVT="30000", LOGFILE=os.path.join(self.dir, name + ".log"),
                            MEMCACHED_SERVERS="", **extra))
        self.nginx()
        time.sleep(0.7)
        os.chmod(self.sock("constant"), 0o666)

    def sock(self, name):
        return os.path.join(self.dir, name + ".sock")

    def start(self, name, argv, env):
        self.pids[name] = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL, start_new_session=True)

    def nginx(self):
        locations = "location /constant/ { fastcgi_pass unix:%s; }\n" % self.sock("constant")
        for prefix, n in (("iiif", "tegula"), ("tegula-nocache", "tegula-nocache")):
            locations += "location /%s/ { fastcgi_pass unix:%s; }\n" % (prefix, self.sock(n))
        for n in ("iipsrv", "iipsrv-nocache"):
            locations += "location = /%s { fastcgi_pass unix:%s; }\n" % (n, self.sock(n))
        conf = """daemon off; worker_processes 1; error_log %(d)s/error.log; pid %(d)s/nginx.pid;
events { worker_connections 1024; }
http { access_log off; client_body_temp_path %(d)s/b; proxy_temp_path %(d)s/p;
fastcgi_temp_path %(d)s/f; uwsgi_temp_path %(d)s/u; scgi_temp_path %(d)s/s;
fastcgi_buffers 64 16k; fastcgi_buffer_size 16k; fastcgi_read_timeout 600;
include /etc/nginx/fastcgi_params; keepalive_requests 100000000;
server { listen 127.0.0.1:%(p)d; %(l)s } }
""" % {"d": self.dir, "p": self.port, "l": locations}
        path = os.path.join(self.dir, "nginx.conf")
        with open(path, "w") as f:
            f.write(conf)
        self.start("nginx", ["nginx", "-c", path, "-p", self.dir], os.environ)

    def get(self, path):
        with urllib.request.urlopen("http://127.0.0.1:%d%s" % (self.port, path)) as r:
            return r.read()

    def workers(self, name):
        out = subprocess.run(["pgrep", "-g", str(os.getpgid(self.pids[name].pid))],
                             capture_output=True, text=True).stdout.split()
        return [int(p) for p in out]

    def peak_mib(self, name):
        peaks = [0]
        for pid in self.workers(name):
            with open("/proc/%d/status" % pid) as f:
                peaks.append(int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1)) / 1024)
        return max(peaks)

    def stop(self):
        for p in self.pids.values():
            try:
                os.killpg(p.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
        for p in self.pids.values():
            try:
                p.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(p.pid, signal.SIGKILL)
        shutil.rmtree(self.dir, ignore_errors=True)


def address(server, iiif):
    """iiif: "ID/region/size/0/default.jpg" in version 2 syntax, or commands of IIP, which all understand."""
    if iiif.startswith("FIF="):
        return "/%s?%s" % ({"tegula": "iiif/", "tegula-nocache": "tegula-nocache/"}.get(server, server), iiif)
    if server.startswith("tegula"):
        return "/%s/2/%s" % ("iiif" if server == "tegula" else server, iiif)
    if server.startswith("iipsrv"):
        return "/%s?IIIF=%s" % (server, iiif)
    return "/constant/" + iiif


def rate(servers, paths, seconds, connections=8):
    """Requests per second of wrk over the paths; fails loudly on any status but 200."""
    with tempfile.NamedTemporaryFile("w", suffix=".urls") as f:
        f.write("\n".join(paths) + "\n")
        f.flush()
        out = subprocess.run(["wrk", "-t1", "-c%d" % connections, "-d%gs" % seconds, "-s",
                              os.path.join(HERE, "urls.lua"),
                              "http://127.0.0.1:%d" % servers.port],
                             env=dict(os.environ, URLS=f.name), capture_output=True, text=True)
    if "Non-2xx" in out.stdout or out.stderr:
        sys.exit("bad answers: " + out.stdout + out.stderr[:300])
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out.stdout).group(1))


def psnr(a, b):
    a, b = (np.asarray(Image.open(io.BytesIO(x)).convert("RGB"), float) for x in (a, b))
    if a.shape != b.shape:
        return -1
    mse = ((a - b) ** 2).mean()
    return 99 if mse == 0 else 10 * np.log10(255 ** 2 / mse)


def tiles(name, size=256, off=0, w=9000, h=7000):
    return ["%s/%d,%d,%d,%d/%d,/0/default.jpg" % (name, x + off, y + off, size, size, size)
            for y in range(0, h - size - off, size) for x in range(0, w - size - off, size)]


def processed(commands, name="large_q85_ycbcr420.tif", top=6, n=36 * 28):
    """Tiles of the largest resolution, 9000 x 7000 px in tiles of 256."""
    return ["FIF=%s&%sJTL=%d,%d" % (name, commands, top, tile) for tile in range(n)]


def sizes(name, size):
    """More pictures of all but the whole than are kept as finished answers."""
    return ["%s/%d,%d,8900,6900/%s/0/default.jpg" % (name, i % 32, i // 32, size) for i in range(512)]


WORKLOADS = [  # name, requests, servers, (target server, target ratio)…
    ("stored JPEG tile", tiles("large_q85_ycbcr420.tif"),
     ["tegula", "iipsrv", "iipsrv-nocache", "constant"], {"iipsrv": 6, "constant": 0.75}),
    ("JPEG tile, decoded (128 px tiles)", tiles("large.tif"),
     ["tegula", "iipsrv", "iipsrv-nocache"], {"iipsrv": 1.3}),
    ("deflate tile, decoded", tiles("deflate.tif"),
     ["tegula", "iipsrv", "iipsrv-nocache"], {"iipsrv": 1.5}),
    ("LZW tile, decoded", tiles("lzw.tif"),
     ["tegula", "iipsrv", "iipsrv-nocache"], {"iipsrv": 1.5}),
    ("ZSTD tile, decoded", tiles("zstd.tif"),
     ["tegula", "iipsrv", "iipsrv-nocache"], {"iipsrv": 1.5}),
    ("JPEG tile, one pixel off the grid", tiles("large_q85_ycbcr420.tif", off=1),
     ["tegula", "iipsrv", "iipsrv-nocache"], {"iipsrv": 1.3}),
    ("full/!1024,1024", sizes("large_q85_ycbcr420.tif", "!1024,1024"),
     ["tegula", "tegula-nocache", "iipsrv", "iipsrv-nocache"], {"iipsrv": 3}),
    ("JP2 tile", tiles("master.jp2"), ["tegula", "iipsrv", "iipsrv-nocache"], {"iipsrv": 1.5}),
    ("JP2 tile of 1024 px", tiles("master.jp2", 1024), ["tegula", "iipsrv"], {}),
    ("JP2 full/!1024,1024", sizes("master.jp2", "!1024,1024"),
     ["tegula", "tegula-nocache", "iipsrv", "iipsrv-nocache"], {"iipsrv": 2}),
    ("JP2 without tiles, tile", tiles("master_prec.jp2"), ["tegula", "iipsrv"], {}),
    ("JP2 without tiles, full/!1024,1024", sizes("master_prec.jp2", "!1024,1024"),
     ["tegula", "tegula-nocache", "iipsrv"], {}),
    ("IIP, stored JPEG tile", processed(""), ["tegula", "iipsrv", "iipsrv-nocache"], {"iipsrv": 6}),
    ("IIP, CNT", processed("CNT=1.5&"), ["tegula", "iipsrv", "iipsrv-nocache"], {"iipsrv": 2}),
    ("IIP, GAM", processed("GAM=.45&"), ["tegula", "iipsrv", "iipsrv-nocache"], {"iipsrv": 2}),
    ("IIP, CTW", processed("CTW=[.5,.3,.2;.1,.8,.1;0,.2,.8]&"), ["tegula", "iipsrv", "iipsrv-nocache"],
     {"iipsrv": 2}),
    ("IIP, CNV", processed("CNV=sharpen&"), ["tegula"], {}),  # the other one does not know it,
    ("IIP, SHD", processed("SHD=45,30&"), ["tegula"], {}),    # and this ends it
    ("full/400,", sizes("large_q85_ycbcr420.tif", "400,"),
     ["tegula", "tegula-nocache", "iipsrv", "iipsrv-nocache"], {"iipsrv": 3}),
]


def compare(servers, workload):
    name, requests, names, _ = workload
    for iiif in (requests[0], requests[len(requests) // 2]):
        pictures = {n: servers.get(address(n, iiif)) for n in names if n != "constant"}
        ours = pictures.pop("tegula")
        for n, other in pictures.items():
            db = psnr(ours, other)
            if not db > 24:
                print("# %s: %s differs from %s by %.1f dB at %s" % (name, n, "tegula", db, iiif))


def run(args):
    sample = None
    s = Servers(args.tegula, args.constant, args.pictures, 1000)
    sample = len(s.get(address("tegula", WORKLOADS[0][1][500])))
    s.stop()
    s = Servers(args.tegula, args.constant, args.pictures, sample)
    try:
        print("# %d rounds of %g s, medians; ratio = tegula / other (min..max), target" %
              (args.rounds, args.seconds))
        print("| workload | server | requests/s | tegula is | target |\n|---|---|---|---|---|")
        for workload in WORKLOADS:
            if args.only and args.only not in workload[0]:
                continue
            measure(s, workload, args)
    finally:
        s.stop()
    memory(args)


def measure(s, workload, args):
    name, requests, names, targets = workload
    compare(s, workload)
    rates = {n: [] for n in names}
    for n in names:
        rate(s, [address(n, r) for r in requests], 1)
    for _ in range(args.rounds):
        for n in names:
            rates[n].append(rate(s, [address(n, r) for r in requests], args.seconds))
    for n in names:
        ratio = sorted(a / b for a, b in zip(rates["tegula"], rates[n]))
        text = "" if n == "tegula" else "%.2fx (%.2f..%.2f)" % (statistics.median(ratio),
                                                                ratio[0], ratio[-1])
        target = targets.get(n)
        print("| %s | %s | %.0f | %s | %s |" % (name, n, statistics.median(rates[n]), text,
                                               "%gx" % target if target else ""), flush=True)


MEMORY = [  # name, requests, target in MiB
    ("stored JPEG tiles", tiles("large_q85_ycbcr420.tif"), 40),
    ("JPEG tiles, decoded", tiles("large.tif"), 40),
    ("JPEG tiles, off the grid", tiles("large_q85_ycbcr420.tif", off=1), 40),
    ("deflate tiles", tiles("deflate.tif"), 40),
    ("JP2 tiles", tiles("master.jp2"), 60),
    ("JP2 full/!1024,1024", ["master.jp2/full/!1024,1024/0/default.jpg"], 60),
    ("HTJ2K tiles of 1024 px", tiles("master_ht.j2c", 1024), 60),
    ("25167x12483, full/max", ["xl_25167x12483.tif/full/full/0/default.jpg"], 120),
]


def memory(args):
    """Each with workers of its own."""
    print("\n| peak RSS of a worker after | MiB | target |\n|---|---|---|")
    for name, requests, target in MEMORY:
        if not os.path.exists(os.path.join(args.pictures, requests[0].split("/")[0])):
            continue
        s = Servers(args.tegula, args.constant, args.pictures, 1000)
        try:
            for iiif in requests:
                s.get(address("tegula", iiif))
            print("| %s | %.1f | %d |" % (name, s.peak_mib("tegula"), target), flush=True)
        finally:
            s.stop()


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("tegula")
    p.add_argument("constant")
    p.add_argument("pictures")
    p.add_argument("--seconds", type=float, default=3)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--only")
    a = p.parse_args()
    a.tegula, a.constant, a.pictures = map(os.path.abspath, (a.tegula, a.constant, a.pictures))
    run(a)
