"""One Chromium for all tests of a run; each page in a context of its own, with an empty cache.

A page of pages/ defines
    opened              a promise that is kept once the viewer has opened the image
    view(x, y, scale)   puts pixel x, y of the image into the middle of the viewer's canvas, at `scale`
                        pixels of the page for one of the image, without animation
    area()              {canvas, clear}: as [x, y, w, h] in pixels of the page the viewer's canvas, and
                        the part of it that no control covers
"""
import atexit
import io
import json
import os
import subprocess
import unittest

import numpy
from PIL import Image

import packages
import server

_started = None


class Driver:
    def __init__(self):
        program = server.have("chromium") or server.have("chromium-browser")
        if not program:
            raise packages.Unavailable("no Chromium")
        modules = packages.node_modules()
        self.process = subprocess.Popen(["node", os.path.join(packages.HERE, "drive.js"), modules, program],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self.stop)
        self._answer()

    def ask(self, command, **how):
        self.process.stdin.write(json.dumps(dict(how, command=command)) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self):
        line = self.process.stdout.readline()
        assert line, "the driver of Chromium died"
        answer = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer["value"]

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def driver():
    """The one driver; a test that needs it is skipped where it cannot be had."""
    global _started
    if _started is None:
        try:
            _started = Driver()
        except packages.Unavailable as reason:
            _started = reason
    if isinstance(_started, packages.Unavailable):
        raise unittest.SkipTest(str(_started))
    return _started


def is_unavailable():
    return isinstance(_started, packages.Unavailable)


class Page:
    """A page of pages/ with an image opened in it."""

    def __init__(self, url, size=(900, 700), ratio=1):
        self.driver, self.ratio = driver(), ratio
        try:
            self.ask("open", url=url, width=size[0], height=size[1], ratio=ratio)
        except AssertionError as error:
            report = self.report()
            self.ask("close")
            raise AssertionError("%s; errors: %s; failed: %s; statuses: %s" % (
                error, report["errors"], report["failures"], [r for r in report["replies"] if r["status"] >= 400]))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.ask("close")

    def ask(self, command, **how):
        return self.driver.ask(command, **how)

    def view(self, x, y, scale):
        self.ask("view", x=x, y=y, scale=scale)

    def browse(self, x, y, turns):
        """turns: of the mouse's wheel, each in pixels that a page would scroll by."""
        self.ask("browse", x=x, y=y, turns=turns)

    def report(self):
        return self.ask("report")

    def shoot(self, name):
        """(pixels, canvas, clear) of the page at rest: the boxes in pixels of the screen. The picture
        stays in the build directory, to be looked at."""
        shots = os.path.join(packages.folder(), "shots")
        os.makedirs(shots, exist_ok=True)
        file = os.path.join(shots, name + ".png")
        area = self.ask("shoot", file=file)
        with open(file, "rb") as f:
            pixels = numpy.asarray(Image.open(io.BytesIO(f.read())).convert("RGB"))
        return pixels, *([round(v * self.ratio) for v in area[box]] for box in ("canvas", "clear"))
