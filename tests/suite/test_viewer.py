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
import urllib.error
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
            for number in (signal.SIGINT, signal.SIGHUP):  # ignored in what runs in the background
                signal.signal(number, signal.SIG_DFL)

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

    def refusal(self, path):
        """What the server says when it does not give this."""
        try:
            self.fetch(path)
        except urllib.error.HTTPError as error:
            return error.read().decode().strip()
        raise AssertionError(path + " is there")

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


def browse(url, *options, size=(1200, 800)):
    program = server.have("chromium") or server.have("chromium-browser")
    if not program:
        raise unittest.SkipTest("no Chromium")
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run([program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                               "--disable-quic", "--disable-background-networking", "--disable-component-update",
                               "--disable-sync", "--hide-scrollbars", "--no-first-run", "--user-data-dir=" + profile,
                               "--window-size=%d,%d" % size, "--virtual-time-budget=9000"] + list(options) + [url],
                              capture_output=True, timeout=90)
    return done.stdout


def screenshot(url, *options, size=(1200, 800)):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.png")
        browse(url, "--screenshot=" + path, *options, size=size)
        with open(path, "rb") as f:
            return numpy.asarray(Image.open(io.BytesIO(f.read())).convert("RGB")).astype(int)


class Frame:
    """A page of a Serve in a frame of a given size; a browser's window is some bars smaller than it says.
    In the frame the script runs when all has loaded; what it evaluates to is the text of the outer page."""

    PAGE = """<!DOCTYPE html><body style="margin:0;background:#fff"><iframe id="frame" src="%s"
        style="border:0;display:block;width:%dpx;height:%dpx"></iframe><pre id="said"></pre><script>
        function resize(w, h) { frame.style.width = w + 'px'; frame.style.height = h + 'px'; frame.offsetWidth; }
        setTimeout(() => { said.textContent = frame.contentWindow.eval(%s); }, 3000);
        </script>"""

    def __init__(self, serve, page, size, script="''"):
        html, = glob.glob(os.path.join(serve.work, "*", "html"))
        with open(os.path.join(html, "frame.html"), "w") as f:
            f.write(self.PAGE % (page, *size, json.dumps(script)))
        self.url = serve.url + "frame.html"

    def pixels(self, size, scale=1):
        picture = screenshot(self.url, "--force-device-scale-factor=%g" % scale, size=(size[0] + 50, size[1] + 250))
        return picture[:round(size[1] * scale), :round(size[0] * scale)]

    def said(self):
        return re.search('<pre id="said">(.*)</pre>', browse(self.url, "--dump-dom").decode(), re.S).group(1)


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
        assert listed["others"] == [{"name": "notes.txt", "why": ""}] and listed["folder"] == "to show, a+b"

        page = browse(serve.url, "--dump-dom").decode()
        assert "1 file tegula cannot read" in page and "2 images" in page
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


DARK = 10
BAR_PX = 52
CONTROL_PX = (60, 140)  # the zoom control, from the upper left corner


def dark_site():
    """What shines through between tiles is much lighter than they are."""
    path = os.path.join(fixture.root(), "dark")
    os.makedirs(path, exist_ok=True)
    for name, size in (("wide.tif", "5003x3701"), ("tall.tif", "1999x4001")):
        made = fixture.mkpyramid("dark-" + name, "--picture", "flat:%d,%d,%d" % ((DARK,) * 3), "--size", size)
        if not os.path.exists(os.path.join(path, name)):
            os.link(os.path.join(fixture.root(), made), os.path.join(path, name))
    return Serve(path).wait_ready()


def dark_box(picture, scale=1):
    """(width, height) in pixels of what the image covers; nothing else may show inside."""
    dark = abs(picture - DARK).max(2) <= 3
    rows, columns = numpy.where(dark.mean(1) > .15)[0], numpy.where(dark.mean(0) > .15)[0]
    assert len(rows) and len(columns), "there is no image"
    whole = dark.copy()
    whole[:round(CONTROL_PX[1] * scale), :round(CONTROL_PX[0] * scale)] = True
    inside = whole[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1]
    assert inside.all(), "%d pixels inside the image are not its own, in rows %s, columns %s" % (
        (~inside).sum(), numpy.where(~inside.all(1))[0][:5], numpy.where(~inside.all(0))[0][:5])
    return inside.shape[1], inside.shape[0]


def test_fit_and_seams():
    with dark_site() as serve:
        wide, phone, turned = (1200, 800), (390, 844), (844, 390)
        width, height = dark_box(Frame(serve, "view.html#wide.tif", wide).pixels(wide))
        assert abs(height - (800 - BAR_PX)) <= 2 and abs(width - height * 5003 / 3701) <= 2, (width, height)
        width, height = dark_box(Frame(serve, "view.html#wide.tif", phone).pixels(phone))
        assert abs(width - 390) <= 2 and abs(height - 390 * 3701 / 5003) <= 2, (width, height)

        # A phone is turned; Leaflet's own way to say so, as windows of tests get no such events in time.
        turn = "parent.resize(%d, %d); map.invalidateSize({ debounceMoveend: true }); ''" % turned
        width, height = dark_box(Frame(serve, "view.html#tall.tif", phone, turn).pixels(turned))
        assert abs(height - (390 - BAR_PX)) <= 2 and abs(width - height * 1999 / 4001) <= 2, (width, height)

        # A close-up stays one, and the whole image is what one can zoom out to.
        report = turn + "; [map.getZoom(), 4001 * 2 ** (map.getMinZoom() - map.getMaxZoom() + 2)].map(Math.round).join()"
        frame = Frame(serve, "view.html#tall.tif?x=1000&y=2000&zoom=3", phone, report)
        assert frame.said() == "3,%d" % (390 - BAR_PX), frame.said()

        # Zooms between the levels: at the lower right corner, in the middle, after a drag by touch, which may
        # end within a pixel, and where a pixel of the page is not one of the screen.
        drag = "map._rawPanBy(L.point(33.4, -21.63)); map.fire('move'); map.fire('moveend'); ''"
        for view, script, scale in (("x=4500&y=3450&zoom=2.6", "''", 1), ("x=2500&y=1850&zoom=3.15", "''", 1),
                                    ("x=2500&y=1850&zoom=3.15", drag, 1), ("x=2500&y=1850&zoom=2.35", drag, 1.5)):
            dark_box(Frame(serve, "view.html#wide.tif?" + view, wide, script).pixels(wide, scale), scale)


def test_messages_and_names():
    with Serve(folder()).wait_ready() as serve:
        page = browse(serve.url + "view.html#notes.txt", "--dump-dom").decode()
        assert "notes.txt: " + serve.refusal("iiif/3/notes.txt/info.json") in page, page
        page = browse(serve.url + "view.html", "--dump-dom").decode()
        message = re.search('<p id="message"[^>]*>(.*?)</p>', page).group(0)
        assert "names no image" in message and '<a href=".">' in message and " hidden" not in message, message

        # The file's own name is all to be seen, its folder is what is cut.
        seen = """['file', 'folder'].map((part) => {
            const e = document.querySelector('h1 .' + part);
            return e.textContent + (e.scrollWidth > e.clientWidth ? ' is cut' : ' is whole');
        }).join('|')"""
        frame = Frame(serve, "view.html#sub%2Fa%20folder%20with%20a%20long%20name%2Framp.tif", (320, 600), seen)
        assert frame.said() == "/ramp.tif is whole|sub/a folder with a long name is cut", frame.said()


def test_no_images():
    with tempfile.TemporaryDirectory(dir=fixture.root()) as empty, Serve(empty).wait_ready() as serve:
        assert json.loads(serve.fetch("images.json").decode())["images"] == []
        assert "There are no images here" in browse(serve.url, "--dump-dom").decode()


def test_damaged_files():
    """Whatever cannot be shown says why."""
    with tempfile.TemporaryDirectory(dir=fixture.root()) as path:
        whole = io.BytesIO()
        Image.effect_noise((300, 200), 50).save(whole, "PNG")
        for name, data in (("cut.png", whole.getvalue()[:9000]), ("cut.tif", b"II*\0\10\0\0\0"), ("a.txt", b"x")):
            with open(os.path.join(path, name), "wb") as f:
                f.write(data)
        with Serve(path).wait_ready() as serve:
            listed = json.loads(serve.fetch("images.json").decode())
            assert [i["name"] for i in listed["images"]] == ["cut.png"], listed
            assert listed["others"] == [{"name": "a.txt", "why": ""}, {
                "name": "cut.tif", "why": serve.refusal("iiif/3/cut.tif/info.json")}], listed
            why = serve.refusal("iiif/3/cut.png/full/!400,400/0/default.jpg")
            assert "<em>%s</em>" % why in browse(serve.url, "--dump-dom").decode(), why


def test_a_large_screen_is_filled():
    with tempfile.TemporaryDirectory(dir=fixture.root()) as path:
        for i in range(200):
            os.link(os.path.join(fixture.root(), fixture.corners_pyramid(600, 400)), os.path.join(path, "%d.tif" % i))
        with Serve(path).wait_ready() as serve:
            page = browse(serve.url, "--dump-dom", size=(3840, 3000)).decode()
            # thirteen rows of fourteen fill it; those below may still be on their way
            assert page.count('class="card"') >= 180, page.count('class="card"')
            page = browse(serve.url, "--dump-dom").decode()
            assert page.count('class="card"') < 200, "all at once, though none can see them"


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
