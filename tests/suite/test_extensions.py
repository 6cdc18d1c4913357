"""IIIF_EXTENSIONS: qualities that the Image API does not have, which are what IIP's commands give."""
import numpy

import fixture
import kinds
from iiif import BOTH, V2, V3, expect, get, info, site

COMMANDS = {"equalization": "CNT=eq", "log": "GAM=log", "negative": "INV", "stretch": "CNT=st"}
MAPS = "iiif=>IIIF,iip=>IIP"


def extended(**settings):
    return site(IIIF_EXTENSIONS="1", URI_MAP=MAPS, **settings)


def dim():
    """Between 40 and 200, so that every one of them changes it."""
    return fixture.pyramid("extensions-dim.tif", lambda: (40 + fixture.ramp(400, 300) * 160.0 / 255).astype(numpy.uint8))


def pictures():
    gray = fixture.pyramid("extensions-gray.tif", lambda: (40 + fixture.gray(400, 300) * .6).astype(numpy.uint8))
    deep = fixture.pyramid("extensions-deep.tif", lambda: (9000 + fixture.ramp(400, 300, 65535) * .6).astype(numpy.uint16))
    alpha = numpy.dstack([fixture.ramp(400, 300) // 2, numpy.full((300, 400, 1), 200, numpy.uint8)])
    return [dim(), gray, deep, fixture.pyramid("extensions-alpha.tif", alpha),
            kinds.by_pillow("extensions.jp2", fixture.ramp(400, 300), "JPEG2000")]


def test_the_same_as_by_iip():
    """Whole pictures, regions and reduced ones, of every kind of source."""
    for name in pictures():
        for quality, command in COMMANDS.items():
            for size, width in (("max", 400), ("200,", 200)):
                one = expect(get(V3, name, size=size, quality=quality, on=extended()), 200).pixels()
                other = extended().get("/iip?FIF=%s&%s&WID=%d&CVT=png" % (name, command, width)).pixels()
                assert one.dtype == other.dtype and (one == other).all(), (name, quality, size)
            region = get(V2, name, region="100,50,200,150", size="full", quality=quality, on=extended()).pixels()
            whole = get(V3, name, quality=quality, on=extended()).pixels()
            assert (region == whole[50:200, 100:300]).all(), (name, quality)


def test_by_hand():
    was = get(V3, dim(), on=extended()).pixels().astype(int)
    got = {quality: get(V3, dim(), quality=quality, on=extended()).pixels() for quality in COMMANDS}
    assert (got["negative"] == 255 - was).all()
    stretched = (was - 40) * 255 / 160
    assert abs(got["stretch"] - stretched).max() <= 1
    log = 255 * numpy.log(1 + was) / numpy.log(256)
    assert abs(got["log"] - log).max() <= 1
    assert not (got["equalization"] == was).all()


def test_offered_is_answered():
    for version in BOTH:
        for on, more in ((site(), set()), (extended(), set(COMMANDS))):
            document = info(version, dim(), on=on)
            offered = document["extraQualities"] if version == V3 else document["profile"][1]["qualities"]
            assert set(offered) - {"default"} == {"bitonal", "color", "gray"} | more, (version, offered)
            assert len(offered) == len(set(offered))
            for quality in COMMANDS:
                expect(get(version, dim(), quality=quality, on=on), 200 if more else 400, quality)
        for unknown in ("binary", "Negative", "invert", "logarithm", "eq"):
            expect(get(version, dim(), quality=unknown, on=extended()), 400, unknown)


def test_canonical_and_tags():
    seen = set()
    for quality in list(COMMANDS) + ["default", "gray", "bitonal"]:
        reply = expect(get(V3, dim(), size="100,", quality=quality, on=extended()), 200)
        canonical = reply.links()["canonical"]
        assert canonical.endswith("/full/100,75/0/%s.png" % quality)
        again = extended().get(canonical)
        assert again.body == reply.body and again.header("ETag") == reply.header("ETag")
        seen.add(reply.header("ETag"))
    assert len(seen) == 7


def test_tiles_are_not_sent_as_stored():
    name = fixture.ramp_jpeg_pyramid(512, 512)
    plain = get(V3, name, region="0,0,256,256", form="jpg", on=extended())
    for quality in COMMANDS:
        reply = expect(get(V3, name, region="0,0,256,256", quality=quality, form="jpg", on=extended()), 200)
        assert reply.body != plain.body, quality


def test_together_with_commands_in_front():
    """The quality adds to what the commands ask for."""
    one = extended().get("/iip?FIF=%s&CNT=0.5&IIIF=%s/full/max/0/negative.png" % (dim(), dim())).pixels()
    other = extended().get("/iip?FIF=%s&CNT=0.5&INV&WID=400&CVT=png" % dim()).pixels()
    assert (one == other).all()


def test_turned_and_in_every_format():
    upright = get(V3, dim(), quality="negative", on=extended()).pixels()
    turned = get(V3, dim(), rotation="90", quality="negative", on=extended()).pixels()
    assert (turned == numpy.rot90(upright, -1)).all()
    for form in ["jpg"] + info(V3, dim(), on=extended())["extraFormats"]:
        expect(get(V3, dim(), size="100,", quality="stretch", form=form, on=extended()), 200, form)
