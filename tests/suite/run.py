#!/usr/bin/python3
"""Runs the suites in this directory: every test_* function of every test_*.py.

usage: run.py [-l] [-v] [FILE.py | WORD]...
  FILE.py  only that file; several add up
  WORD     only tests whose "file.function" has the word in it
  -l       list the names, run nothing
  -v       print the seconds of each test

TEGULA names the binary to test (default: tegula in the working directory), TEGULA_TOOLS the directory
of the test tools. A test passes by returning, fails by raising, is skipped by raising
unittest.SkipTest. The exit status is 1 if any failed.
"""
import glob
import importlib
import inspect
import os
import signal
import sys
import time
import traceback
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_SECONDS = 180  # for those that set no limit_seconds of their own


class TooLong(Exception):
    pass


def on_alarm(*unused):
    raise TooLong("longer than its limit")


def load(name):
    """A module's tests in the order they are written; a module that cannot be loaded is one."""
    try:
        module = importlib.import_module(name)
    except unittest.SkipTest as reason:
        message = str(reason)

        def skipped():
            raise unittest.SkipTest(message)
        return [(name, skipped)]
    except Exception as error:
        raised = error

        def broken():
            raise raised
        return [(name, broken)]
    tests = [(key, value) for key, value in vars(module).items()
             if key.startswith("test_") and inspect.isfunction(value) and value.__module__ == name]
    tests.sort(key=lambda item: item[1].__code__.co_firstlineno)
    return [("%s.%s" % (name, key), value) for key, value in tests]


def reason_of(error):
    """The message, and the line of the test that it comes from."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(HERE + os.sep)]
    frames = [f for f in frames if os.path.basename(f.filename) != "run.py"]
    place = "".join(" (%s:%d)" % (os.path.basename(f.filename), f.lineno) for f in frames[-2:])
    text = str(error) or (frames[-1].line if frames else "")
    return "%s: %s%s" % (type(error).__name__, " ".join(text.split())[:500], place)


def run(function):
    """("ok" | "skip" | "FAIL", reason)."""
    signal.alarm(getattr(function, "limit_seconds", LIMIT_SECONDS))
    try:
        function()
        return "ok", ""
    except unittest.SkipTest as reason:
        return "skip", str(reason)
    except Exception as error:
        return "FAIL", reason_of(error)
    finally:
        signal.alarm(0)


def main(arguments):
    options = {a for a in arguments if a.startswith("-")}
    if options - {"-l", "-v"}:
        sys.stderr.write(__doc__)
        return 2
    files = [os.path.basename(a)[:-3] for a in arguments if a.endswith(".py")]
    words = [a for a in arguments if a not in options and not a.endswith(".py")]
    modules = files or sorted(os.path.basename(f)[:-3] for f in glob.glob(os.path.join(HERE, "test_*.py")))
    sys.path.insert(0, HERE)
    signal.signal(signal.SIGALRM, on_alarm)
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    for name, function in [test for module in modules for test in load(module)]:
        if words and not any(word in name for word in words):
            continue
        if "-l" in options:
            print(name)
            continue
        start = time.monotonic()
        result, reason = run(function)
        counts[result] += 1
        seconds = "  %.2f s" % (time.monotonic() - start) if "-v" in options else ""
        print("%s %s%s%s" % (result, name, ": " + reason if reason else "", seconds), flush=True)
    if "-l" not in options:
        print("%d passed, %d failed, %d skipped" % (counts["ok"], counts["FAIL"], counts["skip"]))
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    os.environ["TEGULA"] = os.path.abspath(os.environ.get("TEGULA", "tegula"))
    sys.exit(main(sys.argv[1:]))
