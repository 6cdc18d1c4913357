"""The folder of real files that TEGULA_CORPUS names: what its manifest says of each, and what decoders
that are not tegula's make of it.

The folder has MANIFEST.tsv with a row for each file (path, dimensions, layout, decoders and more),
ref/<path>.png with the expected look at 200 px at most (upright, over grey, no profile applied), and
ref/<path>.icc.png, the same in sRGB, where the profile matters.
"""
import csv
import functools
import io
import os
import re
import struct
import subprocess
import tempfile
import unittest
import warnings

from PIL import Image, ImageCms

import compare
import kinds
import server

Image.MAX_IMAGE_PIXELS = None
FOLDER = os.environ.get("TEGULA_CORPUS", os.path.join(os.path.dirname(server.TOP), "shared", "corpus"))
EXCEPTIONS = os.path.join(server.TOP, "tests", "corpus-exceptions.tsv")
DECODER_SECONDS = 60

# A decoder is believed that shows what the reference shows.
BELIEVED = compare.Distance(4.0, 25.0)


class Entry:
    """A file of the corpus."""

    def __init__(self, row):
        self.path = row["path"]
        self.row = row
        self.kind = self.path.split("/")[0]
        self.file = os.path.join(FOLDER, self.path)
        self.hostile = self.kind == "hostile"

    def __repr__(self):
        return self.path

    @property
    def orientation(self):
        """As EXIF numbers it."""
        found = re.search(r"orient(?:ation)?=([1-8])", self.row["layout"] + " " + self.row["why_interesting"], re.I)
        return int(found.group(1)) if found else 1

    @property
    def size(self):
        """As shown, upright; None where the manifest does not know."""
        found = re.match(r"(\d+)x(\d+)", self.row["dimensions"])
        if not found:
            return None
        w, h = int(found.group(1)), int(found.group(2))
        return (h, w) if self.orientation >= 5 else (w, h)

    @property
    def pages(self):
        """Pages that are pictures of their own; reduced ones and masks among them make it one."""
        found = re.search(r"multi-page\((\d+) IFDs\)", self.row["layout"])
        return int(found.group(1)) if found else 1

    def _picture(self, suffix):
        name = os.path.join(FOLDER, "ref", self.path + suffix)
        return Image.open(name).convert("RGB") if os.path.exists(name) else None

    @functools.cached_property
    def reference(self):
        return self._picture(".png")

    @functools.cached_property
    def reference_srgb(self):
        return self._picture(".icc.png")


def available():
    return os.path.exists(os.path.join(FOLDER, "MANIFEST.tsv"))


@functools.lru_cache(None)
def entries():
    """All files of the manifest that are there; skips the test where there is no corpus."""
    if not available():
        raise unittest.SkipTest("no TEGULA_CORPUS")
    with open(os.path.join(FOLDER, "MANIFEST.tsv"), newline="") as f:
        found = [Entry(row) for row in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [entry for entry in found if os.path.exists(entry.file)]


def exceptions():
    """path -> row of the table of what is known to be otherwise."""
    with open(EXCEPTIONS, newline="") as f:
        lines = [line for line in f if not line.startswith("#")]
    rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    found = {row["path"]: row for row in rows}
    assert len(found) == len(rows), "a path stands twice in the table"
    return found


# -- decoders

def by_pillow(entry, page=0):
    with open(entry.file, "rb") as f:
        data = io.BytesIO(f.read())
    warnings.simplefilter("ignore", UserWarning)  # of tags that do not matter here
    picture = Image.open(data)
    if page or getattr(picture, "n_frames", 1) > 1:
        picture.seek(page)
    picture.load()
    profile = picture.info.get("icc_profile")
    turn = {2: Image.FLIP_LEFT_RIGHT, 3: Image.ROTATE_180, 4: Image.FLIP_TOP_BOTTOM, 5: Image.TRANSPOSE,
            6: Image.ROTATE_270, 7: Image.TRANSVERSE, 8: Image.ROTATE_90}.get(entry.orientation)
    if turn is not None and picture.format != "TIFF":  # those it turns by itself
        picture = picture.transpose(turn)
    picture.info["icc_profile"] = profile
    return picture


def _by_program(entry, *commands):
    """commands: their words, with {in} for the file, {mid} and {out} for what they write."""
    with tempfile.TemporaryDirectory(prefix="tegula-corpus-") as folder:
        names = {"in": entry.file, "mid": os.path.join(folder, "mid.v"), "out": os.path.join(folder, "out.png")}
        for words in commands:
            subprocess.run([word.format(**names) for word in words], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=DECODER_SECONDS)
        picture = Image.open(names["out"])
        picture.load()
    return picture


def by_vips(entry):
    return _by_program(entry, ("vips", "autorot", "{in}", "{mid}"), ("vips", "colourspace", "{mid}", "{out}", "srgb"))


def by_magick(entry):
    return _by_program(entry, ("convert", "{in}[0]", "-auto-orient", "-depth", "8", "PNG32:{out}"))


def by_openjpeg(entry):
    return _by_program(entry, ("opj_decompress", "-i", "{in}", "-o", "{out}"))


def decoders_of(entry):
    if entry.file.endswith((".jp2", ".jph", ".j2k", ".j2c", ".jhc", ".jpx")):
        # Pillow is faster, but lets values of other depths overflow.
        return (by_pillow, by_openjpeg) if entry.row["bit_depth"] == "8" else (by_openjpeg, by_pillow)
    return by_pillow, by_vips, by_magick


def png_chunks(path):
    """kind -> data of those that stand before the pixels; of a file that is no PNG, none."""
    found = {}
    with open(path, "rb") as f:
        if f.read(8) != b"\x89PNG\r\n\x1a\n":
            return found
        while True:
            length, kind = struct.unpack(">L4s", f.read(8))
            if kind in (b"IDAT", b"IEND"):
                return found
            found[kind] = f.read(length)
            f.read(4)


DISPLAY_P3 = ((.3127, .3290), (.680, .320), (.265, .690), (.150, .060))


def png_profile(path):
    """What a PNG says of its colours without a profile (PNG 3, 4.3), as one; None when it is sRGB or says
    nothing."""
    chunks = png_chunks(path)
    if b"cICP" in chunks:
        p3 = chunks[b"cICP"] == b"\x0c\x0d\0\1"
        return kinds.profile(*kinds.colorants(*DISPLAY_P3), gamma=kinds.srgb_curve()) if p3 else None
    if b"sRGB" in chunks or b"gAMA" not in chunks:
        return None
    gamma, = struct.unpack(">L", chunks[b"gAMA"])
    primaries = kinds.SRGB_RED, kinds.SRGB_GREEN, kinds.SRGB_BLUE
    if b"cHRM" in chunks:
        v = [each / 100000 for each in struct.unpack(">8L", chunks[b"cHRM"])]
        primaries = kinds.colorants(*zip(v[::2], v[1::2]))
    return kinds.profile(*primaries, gamma=100000 / gamma)


def converted(picture, profile):
    """In sRGB, by the relative colorimetric intent; flattened."""
    source, alpha = picture, None
    if picture.mode not in ("CMYK", "L"):
        if "A" in picture.mode or "transparency" in picture.info:
            source = picture.convert("RGBA")
            alpha = source.getchannel("A")
            source = source.convert("RGB")
        else:
            source = compare.flattened(picture)
    if source.mode == "L" and ImageCms.ImageCmsProfile(io.BytesIO(profile)).profile.xcolor_space.strip() == "RGB":
        source = source.convert("RGB")
    source = ImageCms.profileToProfile(source, io.BytesIO(profile), ImageCms.createProfile("sRGB"),
                                       ImageCms.INTENT_RELATIVE_COLORIMETRIC, outputMode="RGB",
                                       flags=ImageCms.FLAGS["BLACKPOINTCOMPENSATION"])
    if alpha:
        source.putalpha(alpha)
    return compare.flattened(source)


class Truth:
    """What a believed decoder shows of a file, at full size: as stored and in sRGB."""

    def __init__(self, decoder, picture, file):
        self.decoder = decoder
        self.stored = self.srgb = compare.flattened(picture)
        self.embedded = picture.info.get("icc_profile")
        self.profile = self.embedded or png_profile(file)
        if self.profile:
            try:
                self.srgb = converted(picture, self.profile)
            except ImageCms.PyCMSError:
                self.profile = None


def agrees(truth, entry):
    """With the reference, or where there is none by what the manifest says of all decoders."""
    if not entry.reference:
        return not entry.row["decoder_disagreement"]
    apart = compare.delta_e(compare.resized(truth.stored, entry.reference.size), entry.reference)
    return apart.mean <= BELIEVED.mean and apart.p99 <= BELIEVED.p99


def truth_of(entry):
    """None where no decoder is to be believed."""
    for decoder in decoders_of(entry):
        try:
            truth = Truth(decoder.__name__, decoder(entry), entry.file)
        except Exception:  # of whatever kind a decoder has
            continue
        if truth.stored.size == entry.size and agrees(truth, entry):
            return truth
    return None
