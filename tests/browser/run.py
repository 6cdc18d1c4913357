#!/usr/bin/python3
"""Real viewers in a real browser, and other clients' requests by script, against a running tegula.

usage: as that of tests/suite/run.py. The exit status is 77 if the browser or the packages cannot be had
and nothing else failed.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "suite"), HERE]  # `run` is the suite's

import chromium
import run as runner

if __name__ == "__main__":
    os.environ["TEGULA"] = os.path.abspath(os.environ.get("TEGULA", "tegula"))
    runner.HERE = HERE
    status = runner.main(sys.argv[1:])
    sys.exit(77 if status == 0 and chromium.is_unavailable() else status)
