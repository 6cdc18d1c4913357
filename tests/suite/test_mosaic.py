"""The tiles of a factor, put together, are the picture at that scale: no seam, no shift, no wrong level.

Both versions, every advertised tile. TEGULA_CORPUS adds real files, where it is.
"""
import os
import unittest

import numpy

import fixture
import server
from iiif import BOTH, V3, close, expect, get, get_tile, info, mosaic, tiles


def smooth(w, h):
    """A picture like a photograph: detail at every scale, less of it the finer it is."""
    random = numpy.random.default_rng(7)
    total, weight = numpy.zeros((h, w, 3), numpy.float32), 1.0
    for cells in (4, 9, 20, 45, 100, 220, 480):
        grid = random.integers(0, 256, (cells, cells, 3), numpy.uint8)
        picture = fixture.Image.fromarray(grid).resize((w, h), fixture.Image.BICUBIC)
        total += weight * (numpy.asarray(picture, numpy.float32) - 127.5)
        weight *= .6
    return numpy.clip(total * .6 + 127.5, 0, 255).astype(numpy.uint8)


def check(version, name, form, floor, picture=None, on=None):
    """floor: least PSNR, in dB, of the tiles that are whole against tegula's own region of the same
    scale; and 6 less for each tile against Pillow's reduction of its region."""
    document = info(version, name, on=on)
    tw = document["tiles"][0]["width"]
    th = document["tiles"][0].get("height", tw)
    pictures = mosaic(version, name, form, on)
    for factor, got in pictures.items():
        w, h = document["width"] // (tw * factor) * tw, document["height"] // (th * factor) * th
        if w * h > tw * th:
            whole = get_tile(version, name, (0, 0, w * factor, h * factor), (w, h), on=on).pixels()
            quality = fixture.psnr(whole, got[:h, :w])
            assert quality >= floor, "%s of %s at 1/%d: %.1f dB" % (form, name, factor, quality)
    if picture is not None:
        for factor, region, (w, h) in tiles(document):
            x, y = region[0] // factor, region[1] // factor
            reference = fixture.reduced(picture, (w, h), region)
            quality = fixture.psnr(reference, pictures[factor][y:y + h, x:x + w])
            assert quality >= floor - 6, "%s of %s at 1/%d, %r, against Pillow: %.1f dB" % (
                form, name, factor, region, quality)


def check_both(name, form, floor, picture=None, on=None):
    for version in BOTH:
        check(version, name, form, floor, picture, on)


W, H = 2023, 1601


def test_deflate_levels_floor():
    picture = smooth(W, H)
    check_both(fixture.pyramid("smooth-floor.tif", picture), "png", 38, picture)


def test_deflate_levels_ceil():
    picture = smooth(W, H)
    check_both(fixture.pyramid("smooth-ceil.tif", picture, ceil=True), "png", 38, picture)


def test_sub_ifds_big_endian_bigtiff():
    picture = smooth(W, H)
    check_both(fixture.pyramid("smooth-sub.tif", picture, sub_ifds=True, big=True, order=">"), "png", 38, picture)


def test_jpeg_tiles():
    picture = smooth(W, H)
    check_both(fixture.pyramid("smooth-jpeg.tif", picture, compression=fixture.JPEG, ceil=True), "jpg", 34, picture)


def test_jpeg_tiles_rgb_own_tables():
    picture = smooth(W, H)
    check_both(fixture.pyramid("smooth-jpeg-rgb.tif", picture, compression=fixture.JPEG, photometric=fixture.RGB,
                               tables=False, quality=92), "jpg", 34, picture)


def test_tiles_not_square():
    picture = smooth(1000, 700)
    check_both(fixture.pyramid("smooth-256x128.tif", picture, tile=(256, 128)), "png", 38, picture)


def test_one_level_in_strips():
    picture = smooth(1237, 911)
    check_both(fixture.pyramid("smooth-strips.tif", picture, tile=(64, 64), one_level=True), "png", 34, picture)

    def make(path):
        with fixture.Tiff(path) as tiff:
            tiff.page(picture, tile=None, rows=16)

    check_both(fixture.once("smooth-rows.tif", make), "png", 34, picture)


def test_grey_16_bits():
    deep = smooth(1237, 911)[:, :, :1].astype(numpy.uint16) * 257
    name = fixture.pyramid("smooth-grey16.tif", deep)
    for version in BOTH:
        for factor, got in mosaic(version, name, "jpg").items():
            close(got.astype(float).mean(), deep.mean() / 257, 1)


def test_deep_png_keeps_its_depth():
    deep = fixture.gray(600, 400, 65535)
    name = fixture.pyramid("mosaic-grey-16.tif", deep)
    picture = expect(get(V3, name), 200).image()
    assert picture.mode.startswith("I"), picture.mode
    assert fixture.largest_difference(numpy.asarray(picture), deep[:, :, 0]) == 0


def test_corpus():
    """Pyramids that other programs wrote."""
    corpus = os.environ.get("TEGULA_CORPUS", os.path.join(os.path.dirname(server.TOP), "shared", "corpus"))
    folder = os.path.join(corpus, "tiff-flavours")
    if not os.path.isdir(folder):
        raise unittest.SkipTest("no TEGULA_CORPUS")
    with server.Site("direct", folder) as on:
        for name in ("gen__pyr_jpeg_t256.tif", "gen__pyr_webp_t256.tif", "gen__rgb8_bigtiff_bigendian_tile.tif",
                     "gen__rgb8_deflate_tile256x16.tif", "gen__rgb8_jpeg_ycbcr420_tile256.tif",
                     "gen__rgb8_bigendian_lzw_tile.tif", "gen__tiny_257x257_tile256_pyr.tif",
                     "gen__tiny_1x509_tile256_pyr.tif", "gen__tiny_509x1_tile256_pyr.tif",
                     "gen__rgb8_zstd_strip16.tif", "gen__rgb8_packbits_strip16.tif"):
            check_both(name, "png", 35, on=on)
            check_both(name, "jpg", 27, on=on)  # saturated colours, subsampled
