"""Files of other kinds than TIFF, and what goes into any: EXIF blocks, profiles, JP2 boxes.

Made with Pillow and libheif, or byte by byte where Pillow cannot; opj_compress where a JPEG 2000 has to be special.
As in fixture, each function that makes a file returns its identifier.
"""
import io
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

import numpy
from PIL import Image

import fixture
import server

# PNG's colour types
GREY, TRUE, INDEXED, GREY_ALPHA, TRUE_ALPHA = 0, 2, 3, 4, 6


def stored_for(pixels, orientation):
    """How a picture is stored that this orientation (as EXIF and TIFF number it) turns upright."""
    turned = {1: lambda p: p, 2: lambda p: p[:, ::-1], 3: lambda p: p[::-1, ::-1], 4: lambda p: p[::-1],
              5: lambda p: p.swapaxes(0, 1),  # the first row is shown as the left side, from its top
              6: lambda p: numpy.rot90(p, 1),  # the first row is shown as the right side, from its top
              7: lambda p: p[::-1, ::-1].swapaxes(0, 1),  # as the right side, from its bottom
              8: lambda p: numpy.rot90(p, -1)}  # as the left side, from its bottom
    return numpy.ascontiguousarray(turned[orientation](pixels))


def exif(orientation):
    """A block with this tag only, from its byte order mark on."""
    return b"II*\0" + struct.pack("<LHHHLHHL", 8, 1, 274, 3, 1, orientation, 0, 0)


def picture_of(pixels):
    return Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)


def by_pillow(name, pixels, form, **options):
    """options: of Pillow's coder; orientation= for an EXIF block."""
    orientation = options.pop("orientation", None)
    if orientation:
        options["exif"] = b"Exif\0\0" + exif(orientation)

    def make(path):
        (pixels if isinstance(pixels, Image.Image) else picture_of(pixels)).save(path, form, **options)

    return fixture.once(name, make)


def by_libheif(name, pixels, *options, **of_source):
    """options: of heif-enc; of_source: of Pillow's coder for the PNG that it reads."""
    tool = shutil.which("heif-enc")
    if not tool:
        raise unittest.SkipTest("no heif-enc")

    def make(path):
        source = path + ".png"
        Image.fromarray(pixels).save(source, **of_source)
        try:
            done = subprocess.run([tool, *options, "-o", path + os.path.splitext(name)[1], source], capture_output=True)
            if done.returncode != 0:
                raise unittest.SkipTest("heif-enc: %r" % done.stderr[-100:])
            os.rename(path + os.path.splitext(name)[1], path)
        finally:
            os.unlink(source)

    return fixture.once(name, make)


def is_read(kind):
    """GIF, HEIF: whether this build has the library for it."""
    done = subprocess.run([server.TEGULA, "--formats"], capture_output=True, text=True)
    return "\n  %-10s" % kind in done.stdout.partition("Sent:\n")[0]


def skip_unless_read(kind):
    if not is_read(kind):
        raise unittest.SkipTest("built without a library for " + kind)


def those_read(rows):
    """(name, kind, options) without GIF where it is not built in."""
    return [row for row in rows if row[1] != "GIF" or is_read("GIF")]


# -- PNG

def chunk(kind, data):
    return struct.pack(">L", len(data)) + kind + data + struct.pack(">L", zlib.crc32(kind + data))


def png(name, pixels, colour, bits=8, chunks=()):
    """chunks: (kind, data) pairs that stand before the pixels."""
    rows = pixels if bits < 16 else pixels.astype(">u2")
    rows = fixture.pack_bits(rows, bits) if bits < 8 else rows
    lines = b"".join(b"\0" + row.tobytes() for row in rows)
    return png_of(name, pixels.shape[1], pixels.shape[0], colour, lines, bits, chunks)


def png_of(name, w, h, colour, lines, bits=8, chunks=()):
    """lines: the bytes to deflate, which may be others than the header promises."""
    head = struct.pack(">LLBBBBB", w, h, bits, colour, 0, 0, 0)

    def make(path):
        with open(path, "wb") as f:
            f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head))
            for each in chunks:
                f.write(chunk(*each))
            f.write(chunk(b"IDAT", zlib.compress(lines, 1)) + chunk(b"IEND", b""))

    return fixture.once(name, make)


# -- profiles

# XYZ of the primaries, adapted to D50.
SRGB_RED, SRGB_GREEN, SRGB_BLUE = ((.4360747, .2225045, .0139322), (.3850649, .7168786, .0971045),
                                   (.1430804, .0606169, .7141733))
ADOBE_RED, ADOBE_GREEN, ADOBE_BLUE = ((.6097559, .3111242, .0194811), (.2052401, .6256560, .0608902),
                                      (.1492240, .0632197, .7448387))


def srgb_curve(n=1024):
    """IEC 61966-2-1 as a table."""
    v = numpy.linspace(0, 1, n)
    return numpy.where(v <= .04045, v / 12.92, ((v + .055) / 1.055) ** 2.4)


# Bradford's cone responses of XYZ.
BRADFORD = numpy.array(((.8951, .2664, -.1614), (-.7502, 1.7135, .0367), (.0389, -.0685, 1.0296)))
D50 = (.9642, 1, .8249)


def colorants(white, red, green, blue):
    """XYZ for D50 of primaries that are known by their x and y."""
    columns = numpy.array([(x / y, 1, (1 - x - y) / y) for x, y in (red, green, blue)]).T
    x, y = white
    light = numpy.array((x / y, 1, (1 - x - y) / y))
    columns = columns * numpy.linalg.solve(columns, light)
    adapt = numpy.linalg.inv(BRADFORD) @ numpy.diag((BRADFORD @ D50) / (BRADFORD @ light)) @ BRADFORD
    return [tuple(column) for column in (adapt @ columns).T]


def profile(red, green, blue, gamma=2.2, padding=0):
    """A matrix profile of display RGB, ICC.1:2001-04. Colorants: XYZ for D50. gamma: a number, or values
    from 0 to 1. padding: bytes of a private tag, to make it large."""
    def fixed(v):
        return struct.pack(">l", round(v * 65536))

    def xyz(values):
        return b"XYZ \0\0\0\0" + b"".join(fixed(v) for v in values)

    if numpy.ndim(gamma):
        curve = struct.pack(">L", len(gamma)) + numpy.rint(65535 * numpy.asarray(gamma)).astype(">u2").tobytes()
    else:
        curve = struct.pack(">LHxx", 1, round(gamma * 256))
    curve = b"curv\0\0\0\0" + curve
    name = b"made\0"
    tags = [(b"desc", b"desc\0\0\0\0" + struct.pack(">L", len(name)) + name + bytes(79)),
            (b"cprt", b"text\0\0\0\0none\0"), (b"wtpt", xyz(D50)),
            (b"rXYZ", xyz(red)), (b"gXYZ", xyz(green)), (b"bXYZ", xyz(blue)),
            (b"rTRC", curve), (b"gTRC", curve), (b"bTRC", curve)]
    if padding:
        tags.append((b"priv", b"data\0\0\0\0\0\0\0\1" + bytes(padding)))
    table, body, at = struct.pack(">L", len(tags)), b"", 128 + 4 + 12 * len(tags)
    for tag, data in tags:
        table += tag + struct.pack(">LL", at + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    head = struct.pack(">L4sL4s4s4s12s4s4s", 128 + len(table) + len(body), b"none", 0x02100000, b"mntr", b"RGB ",
                       b"XYZ ", struct.pack(">6H", 2000, 1, 1, 0, 0, 0), b"acsp", b"MSFT")
    head += bytes(24) + b"".join(fixed(v) for v in D50)
    return head + bytes(128 - len(head)) + table + body


def swapped_profile():
    """sRGB's primaries, the first two exchanged: red is stored as green and the reverse."""
    return profile(SRGB_GREEN, SRGB_RED, SRGB_BLUE)


# -- JPEG 2000

def box(kind, *data):
    content = b"".join(data)
    return struct.pack(">L", 8 + len(content)) + kind + content


def colour_box(enumerated):
    return box(b"colr", struct.pack(">BBBL", 1, 0, 0, enumerated))


def codestream(pixels, bits=8, signed=False, subsampled=False, options=()):
    """By opj_compress. pixels: integers, or with subsampled a list of planes, the later ones halved: of
    odd sizes it reads too little of these, and their last row is not to be looked at."""
    if not shutil.which("opj_compress"):
        raise unittest.SkipTest("no opj_compress")
    planes = pixels if subsampled else [pixels[:, :, c] for c in range(pixels.shape[2])]
    kind = (">" if bits > 8 else "") + ("i" if signed else "u") + str(1 if bits <= 8 else 2)
    h, w = planes[0].shape
    form = "%d,%d,%d,%d,%s" % (w, h, len(planes), bits, "s" if signed else "u")
    if subsampled:
        form += "@" + ":".join(["1x1"] + ["2x2"] * (len(planes) - 1))
    if "-n" not in options:
        options = ("-n", str(min(6, min(w, h).bit_length()))) + tuple(options)
    with tempfile.TemporaryDirectory(prefix="tegula-kinds-") as folder:
        raw, out = os.path.join(folder, "in.raw"), os.path.join(folder, "out.j2k")
        with open(raw, "wb") as f:
            for plane in planes:
                whole = plane.shape == (h, w)
                f.write(plane.astype(kind).reshape(-1)[:w * h if whole else w * h // 4].tobytes())
        subprocess.run(["opj_compress", "-i", raw, "-o", out, "-F", form, *options], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(out, "rb") as f:
            return f.read()


def jp2(name, stream, size, components, colour=None, bits=8, signed=False, extra=b""):
    """A JP2 around a codestream. colour: the boxes that say what the components are, b"" for none;
    extra: boxes between header and codestream."""
    if colour is None:
        colour = colour_box(16 if components >= 3 else 17)

    def make(path):
        image = box(b"ihdr", struct.pack(">LLHBBBB", size[1], size[0], components, bits - 1 | (128 if signed else 0),
                                         7, 0, 0))
        with open(path, "wb") as f:
            f.write(box(b"jP  ", b"\r\n\x87\n") + box(b"ftyp", b"jp2 \0\0\0\0jp2 ") + box(b"jp2h", image, colour) +
                    extra + box(b"jp2c", stream() if callable(stream) else stream))

    return fixture.once(name, make)


def made_jp2(name, pixels, options=(), **how):
    """pixels: an array, or a function that makes it. how: of codestream and jp2."""
    pixels = pixels() if callable(pixels) else pixels
    coded = {key: how.pop(key) for key in ("bits", "signed") if key in how}
    return jp2(name, lambda: codestream(pixels, options=options, **coded), (pixels.shape[1], pixels.shape[0]),
               pixels.shape[2], **how, **coded)


# -- looking at what came

def orientation_tags(data):
    """Orientations that a decoder would apply to these bytes."""
    picture = Image.open(io.BytesIO(data))
    found = picture.getexif().get(274)
    return [] if found in (None, 1) else [found]
