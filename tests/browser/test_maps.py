"""Map viewers: XYZ tiles of a picture that is no map, which lies in the top left of the world, and of a GeoTIFF."""
from pictures import HALF_M, TILE_PX, source
from tour import Tour, xyz_tile
from viewer_site import site


# Where the rim is transparent tiles are WebP, which halves the resolution of colours.
WEBP_DB = 32


def tour(name, page, kind, file, **how):
    img = source(file)
    zoom, left, top = img.place()
    metres = 2 * HALF_M / TILE_PX / 2 ** zoom
    url = site().page(page, kind=kind, url=site().base + "/xyz/%s/tilejson.json" % img.name, metres=metres,
                      west=left * metres - HALF_M, north=HALF_M - top * metres)
    if file == "map":
        how.update(full_db=WEBP_DB)
    else:
        how.update(beyond=False)  # squares of JPEG reach beyond the picture
    Tour(name, url, img, xyz_tile, **how).go()


def test_openlayers():
    tour("openlayers-xyz", "openlayers-map", "xyz", "deflate")


def test_openlayers_map():
    tour("openlayers-xyz-map", "openlayers-map", "xyz", "map")


def test_openlayers_tilejson():
    tour("openlayers-tilejson-map", "openlayers-map", "tilejson", "map")


def test_leaflet():
    tour("leaflet-xyz", "leaflet-map", "", "deflate", powers_of_two=True)


def test_leaflet_map():
    tour("leaflet-xyz-map", "leaflet-map", "", "map", powers_of_two=True)


def test_leaflet_twice_as_many_pixels():
    for file in ("deflate", "map"):
        tour("leaflet-xyz-twice-" + file, "leaflet-map", "", file, powers_of_two=True, ratio=2, tile=512)
