"""JPEG, PNG, WebP, GIF, AVIF and HEIF as sources: their own ways, damage, and what is no image."""
import io
import os
import shutil
import struct
import subprocess
import unittest

import numpy
from PIL import Image

import fixture
import kinds
import server
from iiif import BOTH, V3, close, expect, expect_size, get, info, site

LENIENT = dict(STRICT=0)


def path_of(name):
    return os.path.join(fixture.root(), name)


def contents(name):
    with open(path_of(name), "rb") as f:
        return f.read()


def saved(name, data):
    def make(path):
        with open(path, "wb") as f:
            f.write(data)

    return fixture.once(name, make)


def smooth(w=400, h=300):
    """Slow waves: lossy coders keep them, and a shift or swap shows."""
    x, y = numpy.arange(w), numpy.arange(h)[:, None]
    waves = (x + 0 * y) / 60, (y + 0 * x) / 50, (x + y) / 80
    return numpy.stack([128 + 100 * numpy.sin(wave) for wave in waves], 2).astype(numpy.uint8)


def far(got, want):
    """The mean difference, alpha left out."""
    got, want = (numpy.asarray(p).astype(int)[:, :, :3] for p in (got, want))
    return abs(got - want).mean()


# -- what is no image

def test_what_is_no_image():
    """415, in one line that names what would have been."""
    for name, data in (("page.jpg", b"<!DOCTYPE html><html><body>no</body></html>"),
                       ("drawing.png", b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
                       ("text.webp", b"Just some text\n" * 9), ("empty.gif", b""), ("one-byte.tif", b"I"),
                       ("film.avif", b"\0\0\0\x18ftypisom\0\0\2\0isomiso2mp41"), ("sound.webp", b"RIFF\x24\0\0\0WAVEfmt ")):
        saved(name, data)
        for version in BOTH:
            for reply in (site().get(version + name + "/info.json"), get(version, name, size="100,")):
                expect(reply, 415, name)
                lines = reply.body.decode().strip().split("\n")
                assert len(lines) == 1 and "JPEG" in lines[0] and "PNG" in lines[0], (name, reply.body)


def test_there_is_one_page():
    for name, form in kinds.those_read((("single.jpg", "JPEG"), ("single.png", "PNG"), ("single.webp", "WEBP"), ("single.gif", "GIF"))):
        kinds.by_pillow(name, smooth(), form)
        pages = site(IIIF_DELIMITER=";")
        expect_size(get(V3, name + ";0", on=pages), 400, 300, name)
        expect(get(V3, name + ";1", on=pages), 404, name)


# -- JPEG

def jpeg_segments(data):
    """(marker, whole segment) up to the scan, and the rest."""
    at, found = 2, []
    while data[at + 1] != 0xda:
        n = struct.unpack(">H", data[at + 2:at + 4])[0] + 2
        found.append((data[at + 1], data[at:at + n]))
        at += n
    return found, data[at:]


def rewritten(name, source, change):
    """A copy whose segments went through change(marker, segment) -> segment or nothing."""
    segments, rest = jpeg_segments(contents(source))
    return saved(name, b"\xff\xd8" + b"".join(change(*each) for each in segments) + rest)


def test_jpegs_that_cannot_be_read_say_so():
    source = kinds.by_pillow("plain.jpg", smooth(), "JPEG")

    def frame(marker, precision):
        def change(found, segment):
            if found != 0xc0:
                return segment
            return bytes((0xff, marker)) + segment[2:4] + bytes((precision,)) + segment[5:]
        return change

    for name, change, word in (("twelve.jpg", frame(0xc1, 12), b"12 bits"), ("lossless.jpg", frame(0xc3, 8), b"lossless"),
                               ("differential.jpg", frame(0xc5, 8), b"hierarchical")):
        rewritten(name, source, change)
        for reply in (site().get(V3 + name + "/info.json"), get(V3, name)):
            expect(reply, 501, name)
            assert word in reply.body, (name, reply.body)


def test_inks_are_inverted_with_and_without_marker():
    """As Pillow, ImageMagick and browsers have it."""
    cmyk = Image.merge("CMYK", [Image.fromarray(smooth()[:, :, c]) for c in (0, 1, 2)] + [Image.new("L", (400, 300), 40)])
    marked = kinds.by_pillow("inks.jpg", cmyk, "JPEG", quality=95)
    bare = rewritten("bare-inks.jpg", marked, lambda marker, s: b"" if marker == 0xee else s)
    want = 255 - numpy.asarray(Image.open(path_of(marked))).astype(float)
    want = want[:, :, :3] * want[:, :, 3:] / 255
    for name in (marked, bare):
        assert far(get(V3, name).pixels(), want) < 1, name


def test_colours_of_every_sampling():
    for sampling in (0, 1, 2):
        for progressive in (False, True):
            name = kinds.by_pillow("s%d%d.jpg" % (sampling, progressive), smooth(401, 299), "JPEG", quality=95,
                                   subsampling=sampling, progressive=progressive)
            want = numpy.asarray(Image.open(path_of(name)))
            assert fixture.largest_difference(get(V3, name).pixels(), want) <= 1, name
            for factor in (2, 4, 8):
                small = get(V3, name, size="%d," % (400 // factor)).pixels()
                assert far(small, Image.fromarray(want).resize(small.shape[1::-1], Image.BOX)) < 4, (name, factor)


def test_density_of_jpeg():
    """JFIF's where it has a unit, else Exif's."""
    jfif = kinds.by_pillow("density.jpg", smooth(), "JPEG", dpi=(300, 300))
    block = b"Exif\0\0MM\0*" + struct.pack(
        ">LHHHLLHHLLHHLHHLLL", 8, 3, 0x11a, 5, 1, 50, 0x11b, 5, 1, 50, 0x128, 3, 1, 3, 0, 0, 100, 1)  # 100 per centimetre
    exif = kinds.by_pillow("density-exif.jpg", smooth(), "JPEG", exif=block)
    for name, dpi in ((jfif, 300), (exif, 254)):
        close(get(V3, name, form="png").image().info["dpi"][0], dpi, 1)


# -- PNG

def test_interlaced_is_the_same():
    for mode in ("L", "LA", "RGB", "RGBA", "P", "1"):
        picture = Image.fromarray(smooth(203, 151)).convert("RGBA" if mode in ("LA", "RGBA") else "RGB")
        if mode in ("LA", "RGBA"):
            picture.putalpha(Image.fromarray(smooth(203, 151)[:, :, 1]))
        name = kinds.by_pillow("plain-%s.png" % mode, picture.convert(mode), "PNG")
        twin = "adam7-%s.png" % mode
        fixture.once(twin, lambda path: interlace(path_of(name), path))
        assert fixture.largest_difference(get(V3, name).pixels(), get(V3, twin).pixels()) == 0, mode
        part = dict(region="50,70,90,30", size="90,30")
        assert fixture.largest_difference(get(V3, name, **part).pixels(), get(V3, twin, **part).pixels()) == 0, mode


def interlace(source, target):
    tool = shutil.which("convert")
    if not tool:
        raise unittest.SkipTest("no ImageMagick")
    subprocess.run([tool, source, "-interlace", "PNG", "PNG:" + target], check=True)


def test_checksums_count():
    """One wrong bit of the pixels is an error; of a text it is not."""
    data = contents(kinds.by_pillow("summed.png", smooth(), "PNG"))
    at = data.index(b"IDAT") + 4
    bad = bytearray(data)
    bad[at + len(data) // 2] ^= 1
    expect(get(V3, saved("bad-pixels.png", bytes(bad))), 500)
    text = bytearray(kinds.chunk(b"tEXt", b"Comment\0hello"))
    text[-1] ^= 1
    expect_size(get(V3, saved("bad-text.png", data[:at - 8] + bytes(text) + data[at - 8:])), 400, 300)


# -- GIF

def gif_frames(name, *pictures, **options):
    first, rest = pictures[0], list(pictures[1:])
    return fixture.once(name, lambda path: first.save(path, "GIF", save_all=bool(rest), append_images=rest, **options))


def test_gif():
    kinds.skip_unless_read("GIF")
    picture = Image.fromarray(smooth()).quantize(200)
    want = numpy.asarray(picture.convert("RGB"))
    for name, options in (("straight.gif", dict(interlace=0)), ("adam.gif", dict(interlace=1))):
        gif_frames(name, picture, **options)
        assert fixture.largest_difference(get(V3, name).pixels(), want) == 0, name
        part = get(V3, name, region="31,101,200,90").pixels()
        assert fixture.largest_difference(part, want[101:191, 31:231]) == 0, name
    moved = bytearray(contents("straight.gif"))
    at = 13 + 3 * 256 if moved[10] & 7 == 7 else 13 + 3 * (2 << (moved[10] & 7))
    assert moved[at] in b"!,"
    at = moved.index(b",\0\0\0\0" + struct.pack("<HH", 400, 300), at)
    moved[at + 1:at + 5] = struct.pack("<HH", 20, 10)
    moved[6:10] = struct.pack("<HH", 450, 320)
    got = get(V3, saved("moved.gif", bytes(moved))).pixels()
    assert got.shape == (320, 450, 4)
    assert fixture.largest_difference(got[10:310, 20:420, :3], want) == 0
    assert (got[10:310, 20:420, 3] == 255).all() and (got[:10, :, 3] == 0).all() and (got[:, 420:, 3] == 0).all()


def test_gif_that_grows_its_canvas():
    """A logical screen smaller than its first frame, as some writers leave it."""
    kinds.skip_unless_read("GIF")
    data = bytearray(contents(gif_frames("fits.gif", Image.fromarray(smooth()).quantize(64))))
    data[6:10] = struct.pack("<HH", 0, 0)
    expect_size(get(V3, saved("no-screen.gif", bytes(data))), 400, 300)


def test_gif_of_next_to_nothing():
    """Four bytes make a canvas of 65535 by 65535, and four more a frame: neither is worth minutes of filling."""
    data = bytearray(contents(gif_frames("in-order.gif", Image.fromarray(smooth()).quantize(64), interlace=0)))
    at = data.index(b",\0\0\0\0" + struct.pack("<HH", 400, 300))
    data[6:10] = b"\xff\xff\xff\xff"
    expect(get(V3, saved("wide-screen.gif", bytes(data))), 500)
    data[at + 5:at + 9] = b"\xff\xff\xff\xff"
    frame = saved("wide-frame.gif", bytes(data))
    expect(get(V3, frame), 500)
    expect(site(**LENIENT).get("%s%s/full/200,/0/default.jpg" % (V3, frame)), 500)


# -- WebP

def test_webp_animation_on_its_canvas():
    """The first frame beside the corner: transparent around it."""
    still = io.BytesIO()
    Image.fromarray(smooth(100, 60)).save(still, "WEBP", lossless=True)
    stream = still.getvalue()[12:]
    assert stream[:4] == b"VP8L"

    def chunk(name, data):
        return name + struct.pack("<L", len(data)) + data + b"\0" * (len(data) % 2)

    def size(value):
        return struct.pack("<L", value)[:3]

    frame = chunk(b"ANMF", size(10) + size(20) + size(99) + size(59) + size(100) + b"\0" + stream)
    body = chunk(b"VP8X", bytes((0x12, 0, 0, 0)) + size(199) + size(149)) + chunk(b"ANIM", b"\xff" * 4 + b"\0\0") + frame
    got = get(V3, saved("corner.webp", b"RIFF" + struct.pack("<L", len(body) + 4) + b"WEBP" + body)).pixels().copy()
    assert got.shape == (150, 200, 4)
    assert fixture.largest_difference(got[40:100, 20:120, :3], smooth(100, 60)) == 0
    got[40:100, 20:120, 3] ^= 255
    assert (got[:, :, 3] == 0).all()


# -- AVIF and HEIF

def test_avif_and_heif():
    kinds.skip_unless_read("HEIF")
    for name, options in (("high.avif", ("-A", "-q", "90")), ("high.heic", ("-q", "90"))):
        kinds.by_libheif(name, smooth(), *options)
        assert info(V3, name)["width"] == 400
        assert far(get(V3, name).pixels(), smooth()) < 2, name
        part = get(V3, name, region="100,50,200,200").pixels()
        assert far(part, smooth()[50:250, 100:300]) < 2, name


def test_avif_with_alpha():
    kinds.skip_unless_read("HEIF")
    pixels = numpy.dstack([smooth(), smooth()[:, :, 0]])
    got = get(V3, kinds.by_libheif("alpha.avif", pixels, "-A", "-q", "90")).pixels()
    assert got.shape == (300, 400, 4)
    close(abs(got[:, :, 3].astype(int) - pixels[:, :, 3]).mean(), 0, 2)
    seen = pixels[:, :, 3] > 100
    assert abs(got.astype(int) - pixels)[seen][:, :3].mean() < 3


def test_avif_cut_short():
    kinds.skip_unless_read("HEIF")
    data = contents(kinds.by_libheif("high.avif", smooth(), "-A", "-q", "90"))
    for share in (.2, .6, .95):
        expect(get(V3, saved("cut-%g.avif" % share, data[:int(len(data) * share)])), 500)


# -- damage

def told_of(on, name):
    return [line for line in on.log_text().splitlines() if name in line and "shown" in line]


def test_cut_short():
    """An error that says so; with STRICT=0 what there is, and white, and a line in the log that names the file."""
    lenient = site(**LENIENT)
    got = expect(get(V3, saved("cut.tif", b"II*\0\0\0\1\0" + bytes(100))), 500)
    assert got.body == b"the image file is cut short\n", got.body
    rows = (("entire.jpg", "JPEG", dict(quality=95)), ("entire.png", "PNG", {}), ("entire.webp", "WEBP", dict(lossless=True)),
            ("entire.gif", "GIF", dict(interlace=0)))
    for name, form, options in kinds.those_read(rows):
        whole = get(V3, kinds.by_pillow(name, smooth(), form, **options)).pixels()
        data = contents(name)
        cut = saved("half-" + name, data[:len(data) * 6 // 10])
        expect(get(V3, cut), 500, cut)
        got = expect(get(V3, cut, on=lenient), 200, cut).pixels()
        assert fixture.largest_difference(got[:80], whole[:80]) == 0, cut
        assert (got[-40:, :, :3] == 255).all(), cut
        assert told_of(lenient, cut), cut
    rows = (("waves.jpg", "JPEG", dict(quality=95, progressive=True)), ("passes.gif", "GIF", dict(interlace=1)))
    for name, form, options in kinds.those_read(rows):
        data = contents(kinds.by_pillow(name, smooth(), form, **options))
        cut = saved("half-" + name, data[:len(data) * 6 // 10])
        expect(get(V3, cut), 500, cut)
        assert far(expect(get(V3, cut, on=lenient), 200, cut).pixels(), smooth()) < 8, cut
        assert told_of(lenient, cut), cut


# -- cost

def worker_bytes_read(on):
    total = 0
    for pid in on.worker_pids():
        with open("/proc/%d/io" % pid) as f:
            total += int(f.readline().split()[1])
    return total


def test_information_reads_headers():
    """Of files of megabytes, 64 KiB at most."""
    noise = numpy.random.default_rng(1).integers(0, 256, (1500, 1500, 3), numpy.uint8)
    rows = (("noise.jpg", "JPEG", dict(quality=98)), ("noise-p.jpg", "JPEG", dict(quality=98, progressive=True)),
            ("noise.png", "PNG", dict(compress_level=1)), ("noise.webp", "WEBP", dict(quality=98, method=0)), ("noise.gif", "GIF", {}))
    for name, form, options in kinds.those_read(rows):
        kinds.by_pillow(name, noise, form, **options)
        assert os.path.getsize(path_of(name)) > 1 << 20, name
        with server.Site("direct", fixture.root()) as fresh:
            try:
                before = worker_bytes_read(fresh)
            except PermissionError:
                raise unittest.SkipTest("/proc/PID/io is not for us")
            expect(fresh.get(V3 + name + "/info.json"), 200, name)
            read = worker_bytes_read(fresh) - before
        assert read < 65536, "%s: %d bytes" % (name, read)
