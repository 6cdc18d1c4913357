"""XYZ tiles of GeoTIFF in web mercator: a picture whose colours are straight lines over metres, so that each
pixel of a tile can be told from the tile's number alone."""
import json
import math
import os

import numpy
from PIL import Image, TiffImagePlugin

import fixture
import server

HALF_M = 20037508.342789244  # EPSG:3857
W_PX, H_PX, PX_M = 700, 500, 40.0
WEST_M, NORTH_M = 950000.0, 6010000.0
WEB_MERCATOR = (1024, 0, 1, 1, 3072, 0, 1, 3857, 3076, 0, 1, 9001)

site = server.Sites(fixture.root(), URI_MAP="xyz=>XYZ, iiif=>IIIF")
tearDownModule = site.stop


def colours(east_m, north_m):
    """Red by east, green by north; blue tells what is picture."""
    red = 20 + 200 * (east_m - WEST_M) / (W_PX * PX_M)
    green = 20 + 200 * (NORTH_M - north_m) / (H_PX * PX_M)
    return numpy.stack(numpy.broadcast_arrays(red[None, :], green[:, None], 128.0), 2)


def geotiff(name, keys=WEB_MERCATOR, scale=(PX_M, PX_M, 0), tie=(0, 0, 0, WEST_M, NORTH_M, 0), matrix=None,
            kind_of_scale=12, pixels=None):
    east = WEST_M + (numpy.arange(W_PX) + .5) * PX_M
    north = NORTH_M - (numpy.arange(H_PX) + .5) * PX_M
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    for tag, kind, values in ((33550, kind_of_scale, scale), (33922, 12, tie), (34264, 12, matrix),
                              (34735, 3, keys and (1, 1, 0, len(keys) // 4) + tuple(keys))):
        if values:
            tags[tag] = tuple(values)
            tags.tagtype[tag] = kind
    if pixels is None:
        pixels = numpy.floor(colours(east, north) + .5).astype(numpy.uint8)
    Image.fromarray(pixels).save(os.path.join(fixture.root(), name), tiffinfo=tags)
    return name


def tile_metres(z, x, y, n=256):
    """Centres of the pixels of a tile: east and north."""
    side = 2 * HALF_M / 2 ** z
    at = (numpy.arange(n) + .5) / n
    return -HALF_M + (x + at) * side, HALF_M - (y + at) * side


def tiles(z):
    side = 2 * HALF_M / 2 ** z
    cols = range(int((WEST_M + HALF_M) // side), int((WEST_M + W_PX * PX_M + HALF_M) // side) + 1)
    rows = range(int((HALF_M - NORTH_M) // side), int((HALF_M - NORTH_M + H_PX * PX_M) // side) + 1)
    return [(x, y) for y in rows for x in cols]


def get(name, z, x, y, suffix="png", twice=""):
    return site().get("/xyz/%s/%d/%d/%d%s.%s" % (name, z, x, y, twice, suffix))


def check(name, zooms, n=256):
    for z in zooms:
        reach = max(2 * HALF_M / 2 ** z / n, PX_M)
        for x, y in tiles(z):
            where = "%s %d/%d/%d" % (name, z, x, y)
            got = get(name, z, x, y, twice="@2x" if n == 512 else "").pixels().astype(float)
            east, north = tile_metres(z, x, y, n)
            on = (((north < NORTH_M) & (north > NORTH_M - H_PX * PX_M))[:, None]
                  & ((east > WEST_M) & (east < WEST_M + W_PX * PX_M))[None, :])
            if not on.all():
                assert got.shape == (n, n, 4), where
                assert ((got[..., 3] == 255) == on).all(), where
                assert not got[~on].any(), where
            # where no filter looks across the rim
            inner = (((north < NORTH_M - 4 * reach) & (north > NORTH_M - H_PX * PX_M + 4 * reach))[:, None]
                     & ((east > WEST_M + 4 * reach) & (east < WEST_M + W_PX * PX_M - 4 * reach))[None, :])
            far = abs(got[..., :3] - colours(east, north))[inner]
            assert not far.size or far.max() <= 1.1, "%s: %g" % (where, far.max())


def test_tiles():
    # 40 m a px: zoom 12 has 38.2 m, zoom 11 has 76.4
    name = geotiff("map.tif")
    assert site().get("/xyz/%s/tilejson.json" % name).json()["maxzoom"] == 12
    check(name, (12, 11, 10))
    assert get(name, 13, *[2 * v for v in tiles(12)[0]]).status == 404


def mosaic(name, z, n):
    """All tiles of a zoom, and where it begins: east and north."""
    at = tiles(z)
    (x0, y0), (x1, y1) = at[0], at[-1]
    whole = numpy.zeros(((y1 - y0 + 1) * n, (x1 - x0 + 1) * n, 3), numpy.uint8)
    for x, y in at:
        got = get(name, z, x, y, twice="@2x" if n == 512 else "").pixels()
        whole[(y - y0) * n:(y - y0 + 1) * n, (x - x0) * n:(x - x0 + 1) * n] = got[..., :3]
    side = 2 * HALF_M / 2 ** z
    return whole, -HALF_M + x0 * side, HALF_M - y0 * side


def test_detail_is_where_it_belongs():
    """As Pillow's filter has it, also over the edges of tiles: a twentieth of a pixel off leaves 43 dB."""
    grain = numpy.random.default_rng(5).integers(0, 256, (H_PX // 4, W_PX // 4, 3), numpy.uint8)
    picture = Image.fromarray(grain).resize((W_PX, H_PX), Image.BICUBIC)
    name = geotiff("map-detail.tif", pixels=numpy.asarray(picture))
    for z, n in ((12, 256), (12, 512), (11, 256), (11, 512), (10, 256)):
        whole, west, north = mosaic(name, z, n)
        px_m = 2 * HALF_M / 2 ** z / n
        left, top = math.ceil((WEST_M - west) / px_m), math.ceil((north - NORTH_M) / px_m)
        w, h = int((WEST_M + W_PX * PX_M - west) / px_m) - left, int((north - NORTH_M + H_PX * PX_M) / px_m) - top
        x, y = (west + left * px_m - WEST_M) / PX_M, (NORTH_M - north + top * px_m) / PX_M
        want = picture.resize((w, h), Image.LANCZOS, (x, y, x + w * px_m / PX_M, y + h * px_m / PX_M))
        quality = fixture.psnr(whole[top:top + h, left:left + w], numpy.asarray(want))
        assert quality >= 50, "%d, %d px: %.1f dB" % (z, n, quality)


def test_twice():
    check(geotiff("map.tif"), (12, 11), 512)


def test_point_and_matrix():
    """The same place said in other ways."""
    point = WEB_MERCATOR + (1025, 0, 1, 2)
    check(geotiff("point.tif", point, tie=(0, 0, 0, WEST_M + PX_M / 2, NORTH_M - PX_M / 2, 0)), (12,))
    check(geotiff("tie.tif", tie=(100, 50, 0, WEST_M + 100 * PX_M, NORTH_M - 50 * PX_M, 0)), (12,))
    check(geotiff("matrix.tif", scale=None, tie=None,
                  matrix=(PX_M, 0, 0, WEST_M, 0, -PX_M, 0, NORTH_M, 0, 0, 0, 0, 0, 0, 0, 1)), (12,))


def test_stored_tiles_go_out_as_they_are():
    """Of a file whose levels and tiles are those of the map; its first one is 10/530/358."""
    px_m = 2 * HALF_M / 2 ** 10 / 256
    west_m, north_m = -HALF_M + 530 * 256 * px_m, HALF_M - 358 * 256 * px_m
    name = fixture.pyramid("map-grid.tif", fixture.ramp(1024, 512), compression=fixture.JPEG, tags={
        33550: (12, (px_m, px_m, 0.0)), 33922: (12, (0.0, 0.0, 0.0, west_m, north_m, 0.0)),
        34735: (3, (1, 1, 0, len(WEB_MERCATOR) // 4) + WEB_MERCATOR)})
    assert site().get("/xyz/%s/tilejson.json" % name).json()["maxzoom"] == 10

    def same(tile, region):
        stored = site().get("/iiif/3/%s/%s/0/default.jpg" % (name, region))
        assert stored.status == 200 and site().get("/xyz/%s/%s.jpg" % (name, tile)).body == stored.body, tile

    for x in range(4):
        for y in range(2):
            same("10/%d/%d" % (530 + x, 358 + y), "%d,%d,256,256/max" % (256 * x, 256 * y))
    same("9/265/179", "0,0,512,512/256,256")
    same("9/266/179", "512,0,512,512/256,256")


def test_bounds_are_not_rounded_to_the_next_tile():
    """Of a file that ends where tiles do: every tile that a viewer takes to lie within its bounds is there."""
    px_m = 2 * HALF_M / 2 ** 13 / 256
    name = fixture.pyramid("map-bounds.tif", fixture.ramp(768, 512), tags={
        33550: (12, (px_m, px_m, 0.0)), 34735: (3, (1, 1, 0, len(WEB_MERCATOR) // 4) + WEB_MERCATOR),
        33922: (12, (0.0, 0.0, 0.0, 4290 * 256 * px_m - HALF_M, HALF_M - 2867 * 256 * px_m, 0.0))})
    west, south, east, north = site().get("/xyz/%s/tilejson.json" % name).json()["bounds"]

    def column(degrees):
        return math.floor((degrees + 180) / 360 * 2 ** 13)

    def row(degrees):
        return math.floor((1 - math.asinh(math.tan(math.radians(degrees))) / math.pi) / 2 * 2 ** 13)

    assert [column(west), column(east), row(north), row(south)] == [4290, 4292, 2867, 2868]
    assert all(get(name, 13, x, y).status == 200 for x in range(4290, 4293) for y in range(2867, 2869))


def test_outside():
    name = geotiff("map.tif")
    x, y = tiles(12)[0]
    for z, x, y in ((12, x - 1, y), (12, x, y - 1), (12, 4096, y), (12, x, 2 ** 40), (0, 1, 0), (31, 0, 0)):
        assert get(name, z, x, y).status == 404, (z, x, y)
    assert get(name, 0, 0, 0).status == 200


def test_tilejson():
    document = json.loads(site().get("/xyz/%s/tilejson.json" % geotiff("map.tif")).body)
    degrees = 180 / HALF_M

    def latitude(north_m):
        return math.degrees(2 * math.atan(math.exp(north_m / HALF_M * math.pi)) - math.pi / 2)

    want = [WEST_M * degrees, latitude(NORTH_M - H_PX * PX_M), (WEST_M + W_PX * PX_M) * degrees, latitude(NORTH_M)]
    assert numpy.allclose(document["bounds"], want, atol=1e-7), (document["bounds"], want)
    # 28 km wide: a tile of zoom 10 is 39 km, one of 11 is 19.6
    assert (document["minzoom"], document["maxzoom"]) == (10, 12)
    assert document["tiles"][0].endswith("/xyz/map.tif/{z}/{x}/{y}.webp")


def test_other_projections():
    for name, how in (("utm.tif", {"keys": (1024, 0, 1, 1, 3072, 0, 1, 32632)}),
                      ("degrees.tif", {"keys": (1024, 0, 1, 2, 2048, 0, 1, 4326)}),
                      ("feet.tif", {"keys": (1024, 0, 1, 1, 3072, 0, 1, 3857, 3076, 0, 1, 9003)}),
                      ("turned.tif", {"scale": None, "tie": None, "matrix": (
                          PX_M, 1, 0, WEST_M, 0, -PX_M, 0, NORTH_M, 0, 0, 0, 0, 0, 0, 0, 1)})):
        geotiff(name, **how)
        for path in ("tilejson.json", "0/0/0.png"):
            answer = site().get("/xyz/%s/%s" % (name, path))
            assert answer.status == 501 and b"EPSG:3857" in answer.body, (name, path, answer.status)


def test_a_scale_without_a_place_is_a_plain_image():
    name = geotiff("scaled.tif", keys=None)
    assert site().get("/xyz/%s/tilejson.json" % name).json()["maxzoom"] == 2


def test_hostile_values():
    nan, huge = float("nan"), 1e300
    for i, how in enumerate((
            {"scale": (0, 0, 0)}, {"scale": (nan, PX_M, 0)}, {"scale": (PX_M, -PX_M, 0)}, {"scale": (huge, huge, 0)},
            {"scale": (1e-300, PX_M, 0)}, {"scale": (PX_M,)}, {"tie": (0, 0, 0, nan, NORTH_M, 0)},
            {"tie": (0, 0, 0, huge, NORTH_M, 0)}, {"tie": (huge, 0, 0, WEST_M, NORTH_M, 0)}, {"tie": (0, 0, 0)},
            {"tie": None}, {"scale": (40, 40, 0), "kind_of_scale": 3}, {"keys": (3072, 0, 1)}, {"keys": (3072, 34736, 1, 3857)},
            {"scale": None, "tie": None, "matrix": (PX_M, 0, 0, WEST_M)},
            {"scale": None, "tie": None, "matrix": (float("inf"),) * 16})):
        name = geotiff("bad%d.tif" % i, **how)
        assert get(name, 0, 0, 0).status in (404, 501), (how, get(name, 0, 0, 0).status)
        assert site().get("/iiif/%s/info.json" % name).status == 200
    assert get(geotiff("map.tif"), 0, 0, 0).status == 200
