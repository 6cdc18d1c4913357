"""Test pictures and TIFF files, made with numpy, Pillow and zlib, and so independent of tegula's codecs.

root() is the folder of images that the tests' servers serve. Each function that makes a file returns
its identifier, and makes it once: TEGULA_FIXTURES keeps the folder between runs. Big files come from
tests/mkpyramid.
"""
import atexit
import io
import os
import shutil
import struct
import subprocess
import tempfile
import zlib

import numpy
from PIL import Image

_root = None

NONE, JPEG, DEFLATE = 1, 7, 8
MIN_IS_WHITE, MIN_IS_BLACK, RGB, PALETTE, SEPARATED, YCBCR, CIELAB, ICCLAB = 0, 1, 2, 3, 5, 6, 8, 9
REDUCED = 1


def root():
    global _root
    if _root is None:
        _root = os.environ.get("TEGULA_FIXTURES")
        if _root:
            _root = os.path.abspath(_root)
            os.makedirs(_root, exist_ok=True)
        else:
            _root = tempfile.mkdtemp(prefix="tegula-fixtures-")
            atexit.register(shutil.rmtree, _root, ignore_errors=True)
        os.chmod(_root, 0o755)  # Apache's user reads it
    return _root


def once(name, make):
    """make(path) writes the file of this identifier, unless it is there; returns the identifier."""
    path = os.path.join(root(), name)
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        make(path + ".new")
        os.rename(path + ".new", path)
    return name


def mkpyramid(name, *options):
    """A file by tests/mkpyramid, for what would take Python too long."""
    tool = os.path.join(os.environ.get("TEGULA_TOOLS", "tests"), "mkpyramid")
    return once(name, lambda path: subprocess.run([tool, path] + list(options), check=True,
                                                  stdout=subprocess.DEVNULL))


# -- pictures

def ramp(w, h, white=255):
    """Red rises with x, green with y, blue is a checkerboard of 16 px: shifts and swaps all show."""
    red = numpy.round(white * numpy.arange(w) / max(w - 1, 1))
    green = numpy.round(white * numpy.arange(h) / max(h - 1, 1))
    pixels = numpy.empty((h, w, 3), numpy.uint8 if white < 256 else numpy.uint16)
    pixels[:, :, 0] = red
    pixels[:, :, 1] = green[:, None]
    pixels[:, :, 2] = ((numpy.arange(w) // 16 + (numpy.arange(h) // 16)[:, None]) % 2) * white
    return pixels


def corners(w, h):
    """Grey, with a square of 100 px in each corner: red top left, green top right, blue bottom left,
    white bottom right."""
    pixels = numpy.full((h, w, 3), 128, numpy.uint8)
    pixels[:100, :100] = (255, 0, 0)
    pixels[:100, w - 100:] = (0, 255, 0)
    pixels[h - 100:, :100] = (0, 0, 255)
    pixels[h - 100:, w - 100:] = 255
    return pixels


def flat(w, h, colour):
    return numpy.full((h, w, len(colour)), colour, numpy.uint8)


def squares():
    """1000 px in a grid of ten by ten coloured squares."""
    pixels = numpy.empty((1000, 1000, 3), numpy.uint8)
    for y in range(10):
        for x in range(10):
            pixels[y * 100:y * 100 + 100, x * 100:x * 100 + 100] = ((x * 53) % 256, (y * 97) % 256,
                                                                   ((x + 3 * y) * 29) % 256)
    return pixels


def gray(w, h, white=255):
    values = numpy.round(white * numpy.arange(w) / max(w - 1, 1))
    return numpy.tile(values, (h, 1)).astype(numpy.uint8 if white < 256 else numpy.uint16)[:, :, None]


def halved(pixels, ceil=False):
    """Means of two by two, as pyramids are made everywhere. What is left over at an odd edge goes
    (floor) or is repeated (ceil)."""
    h, w = pixels.shape[:2]
    if ceil or h == 1 or w == 1:
        pixels = numpy.pad(pixels, ((0, h % 2), (0, w % 2), (0, 0)), "edge")
    h, w = pixels.shape[0] // 2, pixels.shape[1] // 2
    total = numpy.zeros((h, w, pixels.shape[2]), numpy.uint32)
    for y in (0, 1):
        for x in (0, 1):
            total += pixels[y:2 * h:2, x:2 * w:2]
    return ((total + 2) // 4).astype(pixels.dtype)


# -- TIFF

class Tiff:
    """Writes a TIFF file: pages and their sub-pages, tiled or in strips, classic or Big."""

    def __init__(self, path, big=False, order="<"):
        self.file, self.big, self.order = open(path, "wb"), big, order
        mark = b"II" if order == "<" else b"MM"
        if big:
            self.file.write(mark + struct.pack(order + "HHHQ", 43, 8, 0, 0))
            self.link = 8
        else:
            self.file.write(mark + struct.pack(order + "HL", 42, 0))
            self.link = 4

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.file.close()

    def _append(self, data):
        self.file.seek(0, os.SEEK_END)
        if self.file.tell() % 2:
            self.file.write(b"\0")
        at = self.file.tell()
        self.file.write(data)
        return at

    def _directory(self, tags):
        """tags: {number: (type, values)}; returns its offset and where its link to the next one is."""
        letters = {1: "B", 3: "H", 4: "L", 5: "L", 7: "B", 11: "f", 12: "d", 13: "L", 16: "Q", 18: "Q"}
        inline, entry = (8, "HHQ") if self.big else (4, "HHL")
        packed = []
        for tag, (kind, values) in sorted(tags.items()):
            if isinstance(values, bytes):
                data, count = values, len(values)
            else:
                data = struct.pack("%s%d%s" % (self.order, len(values), letters[kind]), *values)
                count = len(values) // 2 if kind == 5 else len(values)
            if len(data) > inline:
                data = struct.pack(self.order + ("Q" if self.big else "L"), self._append(data))
            packed.append(struct.pack(self.order + entry, tag, kind, count) + data.ljust(inline, b"\0"))
        head = struct.pack(self.order + ("Q" if self.big else "H"), len(packed))
        body = head + b"".join(packed)
        at = self._append(body + b"\0" * (8 if self.big else 4))
        return at, at + len(body)

    def _patch(self, where, offset):
        self.file.seek(where)
        self.file.write(struct.pack(self.order + ("Q" if self.big else "L"), offset))

    def page(self, pixels, **how):
        """Adds a page to the chain. how: see _page."""
        at, link = self._page(pixels, **how)
        self._patch(self.link, at)
        self.link = link

    def _page(self, pixels, tile=(256, 256), rows=None, compression=DEFLATE, photometric=None, subfile=0,
              subs=(), tags=None, quality=80, padding=None, tables=True, subsampling=2, bits=None, planar=False,
              encode=None):
        """tile: size of tiles, None for strips of `rows` rows. subs: pixels of SubIFD levels. padding:
        the value outside the picture in edge tiles; None repeats the edge. bits: of a sample, where less
        than the array's. planar: every channel in tiles or strips of its own. encode: of a block, for
        compressions that are not known here."""
        h, w, channels = pixels.shape
        bits = bits or pixels.dtype.itemsize * 8
        if photometric is None:
            photometric = MIN_IS_BLACK if channels < 3 else YCBCR if compression == JPEG else RGB
        block_w, block_h = tile or (w, rows or h)
        coder = _Coder(compression, photometric, quality, subsampling, tables, self.order)
        offsets, counts = [], []
        for plane in numpy.split(pixels, channels, 2) if planar else (pixels,):
            for y in range(0, h, block_h):
                for x in range(0, w, block_w):
                    block = plane[y:y + block_h, x:x + block_w]
                    if tile:
                        block = _padded(block, block_w, block_h, padding)
                    data = encode(block) if encode else coder.encode(pack_bits(block, bits))
                    offsets.append(self._append(data))
                    counts.append(len(data))
        wide = 16 if self.big else 4
        entries = {254: (4, [subfile]), 256: (4, [w]), 257: (4, [h]), 258: (3, [bits] * channels),
                   259: (3, [compression]), 262: (3, [photometric]), 277: (3, [channels]),
                   284: (3, [2 if planar else 1])}
        if tile:
            entries.update({322: (3, [block_w]), 323: (3, [block_h]), 324: (wide, offsets), 325: (wide, counts)})
        else:
            entries.update({273: (wide, offsets), 278: (4, [block_h]), 279: (wide, counts)})
        if compression == JPEG and coder.tables():
            entries[347] = (7, coder.tables())
        if photometric == YCBCR:
            entries[530] = (3, {0: [1, 1], 1: [2, 1], 2: [2, 2]}[subsampling])
        if channels in (2, 4) and photometric != SEPARATED:
            entries[338] = (3, [2])  # unassociated alpha
        if subs:
            how = dict(tile=tile, rows=rows, compression=compression, photometric=photometric, quality=quality,
                       tables=tables, subsampling=subsampling, padding=padding, subfile=REDUCED)
            entries[330] = (18 if self.big else 13, [self._page(sub, **how)[0] for sub in subs])
        entries.update(tags or {})
        return self._directory(entries)


def pack_bits(block, bits):
    """Samples of less bits than the array's, row by row, the first in the highest bits."""
    if bits == block.dtype.itemsize * 8:
        return block
    samples = block.reshape(len(block), -1, 1).astype(numpy.uint32) >> numpy.arange(bits - 1, -1, -1) & 1
    return numpy.packbits(samples.astype(numpy.uint8).reshape(len(block), -1), axis=1)


def _padded(block, w, h, padding):
    missing = ((0, h - block.shape[0]), (0, w - block.shape[1]), (0, 0))
    if padding is None:
        return numpy.pad(block, missing, "edge")
    return numpy.pad(block, missing, constant_values=padding)


class _Coder:
    def __init__(self, compression, photometric, quality, subsampling, tables, order):
        self.compression, self.photometric, self.order = compression, photometric, order
        self.options = dict(quality=quality, subsampling=subsampling if photometric == YCBCR else 0)
        self.split, self.table_bytes = tables, b""

    def encode(self, block):
        if self.compression == JPEG:
            return self._jpeg(block)
        data = block.astype(block.dtype.newbyteorder(self.order)).tobytes()
        return zlib.compress(data, 1) if self.compression == DEFLATE else data

    def _jpeg(self, block):
        mode = {1: "L", 3: "YCbCr"}[block.shape[2]]
        pixels = block[:, :, 0] if mode == "L" else block
        if mode == "YCbCr" and self.photometric == YCBCR:
            picture = Image.fromarray(pixels, "RGB")
        else:
            # RGB stored as it is: Pillow must believe that it is YCbCr already.
            picture = Image.fromarray(pixels, mode)
        out = io.BytesIO()
        picture.save(out, "JPEG", **self.options)
        self.table_bytes, rest = _split(out.getvalue(), self.split)
        return rest

    def tables(self):
        return self.table_bytes


def _split(jpeg, tables):
    """A stream as it stands in a TIFF, without the JFIF marker; with its tables in a stream apart."""
    apart, rest, at = b"\xff\xd8", b"\xff\xd8", 2
    while jpeg[at + 1] != 0xDA:
        length = 2 + struct.unpack(">H", jpeg[at + 2:at + 4])[0]
        if jpeg[at + 1] in (0xDB, 0xC4) and tables:
            apart += jpeg[at:at + length]
        elif jpeg[at + 1] != 0xE0:
            rest += jpeg[at:at + length]
        at += length
    return apart + b"\xff\xd9" if tables else b"", rest + jpeg[at:]


def levels_of(pixels, tile, ceil=False):
    """Reduced levels until one tile holds the picture."""
    found = []
    while pixels.shape[1] > tile[0] or pixels.shape[0] > tile[1]:
        pixels = halved(pixels, ceil)
        found.append(pixels)
    return found


def pyramid(name, pixels, tile=(256, 256), ceil=False, sub_ifds=False, one_level=False, big=False, order="<",
            **how):
    """pixels: an array, or a function that makes it. how: see Tiff._page."""

    def make(path):
        full = pixels() if callable(pixels) else pixels
        reduced = [] if one_level else levels_of(full, tile, ceil)
        with Tiff(path, big, order) as tiff:
            tiff.page(full, tile=tile, subs=reduced if sub_ifds else (), **how)
            if not sub_ifds:
                how.pop("tags", None)
                for level in reduced:
                    tiff.page(level, tile=tile, subfile=REDUCED, **how)

    return once(name, make)


def ramp_pyramid(w, h, **how):
    return pyramid("ramp-%dx%d.tif" % (w, h), lambda: ramp(w, h), **how)


def ramp_jpeg_pyramid(w, h):
    return pyramid("ramp-%dx%d-jpeg.tif" % (w, h), lambda: ramp(w, h), compression=JPEG)


def corners_pyramid(w, h):
    return pyramid("corners-%dx%d.tif" % (w, h), lambda: corners(w, h))


# -- comparing

def psnr(a, b):
    """Of two arrays of 8-bit samples, dB."""
    a, b = numpy.asarray(a, numpy.float64), numpy.asarray(b, numpy.float64)
    assert a.shape == b.shape, "shapes differ: %r %r" % (a.shape, b.shape)
    error = numpy.mean((a - b) ** 2)
    return 99.0 if error == 0 else 10 * numpy.log10(255 ** 2 / error)


def largest_difference(a, b):
    a, b = numpy.asarray(a, int), numpy.asarray(b, int)
    assert a.shape == b.shape, "shapes differ: %r %r" % (a.shape, b.shape)
    return int(numpy.abs(a - b).max())


def reduced(pixels, size, box=None):
    """Pillow's Lanczos-3, the independent reference for reductions. box: x, y, w, h in pixels."""
    x, y, w, h = box or (0, 0, pixels.shape[1], pixels.shape[0])
    picture = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    return numpy.asarray(picture.resize(size, Image.LANCZOS, (x, y, x + w, y + h)))
