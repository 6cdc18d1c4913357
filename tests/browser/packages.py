"""The packages of package.json, unpacked into a folder, and nothing else of the machine touched.

`npm pack` fetches just the named archives; the viewers' bundles hold what they depend on. An archive
whose SHA-512 is not the one of package.json is refused.
"""
import base64
import hashlib
import json
import os
import shutil
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TRIES = 2
FETCH_SECONDS = 120


class Unavailable(Exception):
    """The packages cannot be had here and now."""


def folder():
    """Where they go: into the build directory, beside the test tools."""
    return os.path.join(os.path.abspath(os.environ.get("TEGULA_TOOLS", "tests")), "browser")


def node_modules():
    """The folder of the unpacked packages, made if need be."""
    with open(os.path.join(HERE, "package.json")) as f:
        wanted = json.load(f)
    modules = os.path.join(folder(), "node_modules")
    stamp = os.path.join(modules, "unpacked.json")
    if os.path.exists(stamp):
        with open(stamp) as f:
            if json.load(f) == wanted["integrity"]:
                return modules
    if not (shutil.which("npm") and shutil.which("node")):
        raise Unavailable("no npm and node")
    shutil.rmtree(modules, ignore_errors=True)
    os.makedirs(modules)
    for name, archive in _fetched(wanted["devDependencies"]).items():
        _unpack(archive, wanted["integrity"][name], os.path.join(modules, name))
    with open(stamp, "w") as f:
        json.dump(wanted["integrity"], f)
    return modules


def _fetched(versions):
    """name -> path of its archive."""
    archives = os.path.join(folder(), "archives")
    os.makedirs(archives, exist_ok=True)
    command = ["npm", "pack", "--json", "--silent", "--ignore-scripts", "--pack-destination", archives,
               "--cache", os.path.join(folder(), "npm-cache")]
    command += ["%s@%s" % pair for pair in versions.items()]
    for attempt in range(TRIES):
        if attempt:
            time.sleep(5)
        try:
            done = subprocess.run(command, cwd=archives, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=FETCH_SECONDS)
        except subprocess.TimeoutExpired:
            said = "npm took longer than %d s" % FETCH_SECONDS
            continue
        if done.returncode == 0:
            return {each["name"]: os.path.join(archives, each["filename"]) for each in json.loads(done.stdout)}
        said = "npm: " + " ".join((done.stderr + done.stdout).split())[:200]
    raise Unavailable(said)


def _unpack(archive, integrity, target):
    with open(archive, "rb") as f:
        found = "sha512-" + base64.b64encode(hashlib.sha512(f.read()).digest()).decode()
    assert found == integrity, "%s is not what package.json names" % os.path.basename(archive)
    os.mkdir(target)
    subprocess.run(["tar", "-xzf", archive, "-C", target, "--strip-components=1", "--no-same-owner"], check=True)
