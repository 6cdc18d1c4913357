"""./serve as a person uses it: one command, a page in a browser, Ctrl-C."""
import fcntl
import glob
import io
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import termios
import time
import unittest
import urllib.request

import numpy
from PIL import Image

import fixture
import server


class Serve:
    """./serve in a terminal of its own."""

    def __init__(self, *arguments):
        self.work = tempfile.mkdtemp(prefix="tegula-serve-test-")
        os.chmod(self.work, 0o755)
        self.port = server.free_port()
        self.master, slave = pty.openpty()
        env = dict(os.environ, TMPDIR=self.work)

        def own_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored in what runs in the background

        self.process = subprocess.Popen([os.path.join(server.TOP, "serve")] + list(arguments) + ["--port", str(self.port)],
                                        stdin=slave, stdout=slave, stderr=slave, env=env, preexec_fn=own_terminal)
        os.close(slave)
        self.said = ""
        self.url = "http://127.0.0.1:%d/" % self.port

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
        os.close(self.master)
        shutil.rmtree(self.work, ignore_errors=True)

    def read(self):
        try:
            self.said += os.read(self.master, 4096).decode(errors="replace")
            return True
        except OSError:  # the other end is closed
            return False

    def wait_ready(self):
        while "Ctrl-C" not in self.said:
            assert self.read(), "it ended:\n" + self.said
        assert self.url in self.said, self.said
        return self

    def ends(self, seconds=15):
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, "it does not end:\n" + self.said
            time.sleep(0.05)
        while self.read():
            pass
        return self.process.returncode

    def fetch(self, path):
        with urllib.request.urlopen(self.url + path, timeout=20) as reply:
            return reply.read()

    def failed_requests(self):
        log, = glob.glob(os.path.join(self.work, "*", "access.log"))
        with open(log) as f:
            lines = [line for line in f if int(re.search(r'" (\d{3}) ', line).group(1)) >= 400]
        # list.pl asks for every file, also for those that are no images.
        return [line for line in lines if "notes.txt" not in line]

    def requests(self, pattern):
        log, = glob.glob(os.path.join(self.work, "*", "access.log"))
        with open(log) as f:
            return [line for line in f if re.search(pattern, line)]


def browse(url, *options):
    program = server.have("chromium") or server.have("chromium-browser")
    if not program:
        raise unittest.SkipTest("no Chromium")
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run([program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                               "--hide-scrollbars", "--no-first-run", "--user-data-dir=" + profile,
                               "--window-size=1200,800", "--virtual-time-budget=8000"] + list(options) + [url],
                              capture_output=True, timeout=90)
    return done.stdout


def screenshot(url):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.png")
        browse(url, "--screenshot=" + path)
        with open(path, "rb") as f:
            return numpy.asarray(Image.open(io.BytesIO(f.read())).convert("RGB")).astype(int)


def folder():
    """A folder whose name, and whose files' names, need care."""
    path = os.path.join(fixture.root(), "to show, a+b")
    os.makedirs(os.path.join(path, "sub"), exist_ok=True)
    for source, name in ((fixture.ramp_jpeg_pyramid(2023, 1600), "ramp.tif"),
                         (fixture.corners_pyramid(600, 400), "sub/corners 50% & more.tif")):
        if not os.path.exists(os.path.join(path, name)):
            os.link(os.path.join(fixture.root(), source), os.path.join(path, name))
    with open(os.path.join(path, "notes.txt"), "w") as f:
        f.write("not an image\n")
    return path


def alive(pids):
    """Those that run; a container may have nobody who collects the dead."""
    found = []
    for pid in pids:
        try:
            with open("/proc/%d/stat" % pid) as f:
                if f.read().rpartition(")")[2].split()[0] != "Z":
                    found.append(pid)
        except OSError:
            pass
    return found


def near(pixels, colour, tolerance=12):
    """Share of the pixels that have this colour."""
    return (abs(pixels - colour).max(2) <= tolerance).mean()


def test_page_and_viewer():
    with Serve(folder()).wait_ready() as serve:
        listed = json.loads(serve.fetch("images.json").decode())
        assert [i["name"] for i in listed["images"]] == ["ramp.tif", "sub/corners 50% & more.tif"], listed
        assert listed["images"][1]["id"] == "sub%2Fcorners%2050%25%20%26%20more.tif"
        assert (listed["images"][0]["width"], listed["images"][0]["height"]) == (2023, 1600)
        assert listed["others"] == ["notes.txt"] and listed["folder"] == "to show, a+b"

        page = browse(serve.url, "--dump-dom").decode()
        assert "1 file tegula cannot read (yet)" in page and "2 images" in page
        picture = screenshot(serve.url)
        for colour in ((255, 0, 0), (0, 255, 0), (0, 0, 255), (128, 128, 128)):
            assert near(picture, colour, 20) > .001, "the thumbnail of corners lacks %r" % (colour,)

        view = serve.url + "view.html#"
        corners = screenshot(view + listed["images"][1]["id"])
        for colour in ((255, 0, 0), (0, 255, 0), (0, 0, 255), (128, 128, 128)):
            assert near(corners, colour) > .01, "the viewer lacks %r" % (colour,)

        # All of it: red rises from left to right, green from top to bottom.
        whole = screenshot(view + "ramp.tif")[60:]
        assert len(numpy.unique(whole[:, :, 0])) > 200 and len(numpy.unique(whole[:, :, 1])) > 200
        # Full size, about the lower right corner: nothing to see beyond it.
        close_up = screenshot(view + "ramp.tif?x=2023&y=1600&zoom=3")[60:]
        assert serve.requests(r"/ramp\.tif/1792,1536,231,64/231,64/0/default\.jpg"), "the corner tile was not asked for"
        height, width = close_up.shape[:2]
        inside = close_up[height // 2 - 40:height // 2 - 10, width // 2 - 40:width // 2 - 10]
        beyond = close_up[height // 2 + 45:, width // 2 + 10:]
        assert inside[:, :, 0].mean() > 230 and inside[:, :, 1].mean() > 230, inside.mean((0, 1))
        assert beyond.std((0, 1)).max() < 3, "something is drawn beyond the image"
        assert not serve.failed_requests(), serve.failed_requests()

        os.write(serve.master, b"\x03\x03")  # as a person does
        assert serve.ends() == 0, serve.said
        assert "stopping" in serve.said
        assert not server.connects(("127.0.0.1", serve.port))
        assert not [d for d in os.listdir(serve.work) if d.startswith("tegula-serve")], os.listdir(serve.work)


def test_no_images():
    with tempfile.TemporaryDirectory(dir=fixture.root()) as empty, Serve(empty).wait_ready() as serve:
        assert json.loads(serve.fetch("images.json").decode())["images"] == []
        assert "There are no images here" in browse(serve.url, "--dump-dom").decode()


def test_a_server_that_dies_ends_it():
    with Serve(folder()).wait_ready() as serve:
        pids = server.children(serve.process.pid)
        os.kill(next(p for p in pids if os.readlink("/proc/%d/exe" % p).endswith("nginx")), signal.SIGKILL)
        assert serve.ends() == 1, serve.said
        assert not alive(pids)


def test_hang_up_and_terminate():
    for number in (signal.SIGHUP, signal.SIGTERM):
        with Serve(folder()).wait_ready() as serve:
            pids = server.children(serve.process.pid)
            serve.process.send_signal(number)
            assert serve.ends() == 0, serve.said
            assert not alive(pids)
            assert not os.listdir(serve.work)


def test_what_it_refuses():
    serve = os.path.join(server.TOP, "serve")

    def refused(*arguments):
        done = subprocess.run([serve] + list(arguments), capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL)
        assert done.returncode != 0
        return done.stderr

    assert "no such folder" in refused("/does/not/exist")
    assert "needs a number" in refused("--port", "x")
    assert "usage" in refused("--frob")
    with server.Site("direct", fixture.root()) as site:
        assert "is taken" in refused(fixture.root(), "--port", str(site.port))
