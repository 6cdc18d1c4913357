"""Asking a tegula in IIIF's terms, and saying what was expected. Shared by the suites."""
import fixture
import server

V2, V3 = "/iiif/2/", "/iiif/3/"
BOTH = (V2, V3)


def site(**settings):
    """The site of these settings, by the front that TEGULA_FRONT names; CORS is on unless set to None."""
    settings.setdefault("CORS", "*")
    return server.shared(fixture.root(), **settings)


def get(version, identifier, region="full", size="max", rotation="0", quality="default", form="png", on=None, **how):
    return (on or site()).get("%s%s/%s/%s/%s/%s.%s" % (version, identifier, region, size, rotation, quality, form), **how)


def info(version, identifier, on=None, **how):
    return expect((on or site()).get(version + identifier + "/info.json", **how), 200).json()


def expect(reply, status, what=""):
    """status: one, or a tuple of allowed ones."""
    allowed = status if isinstance(status, tuple) else (status,)
    assert reply.status in allowed, "%s: got %d, expected %r: %r" % (what, reply.status, status, reply.body[:120])
    return reply


def expect_size(reply, width, height, what=""):
    expect(reply, 200, what)
    assert reply.size() == (width, height), "%s: got %r, expected %r" % (what, reply.size(), (width, height))


def close(a, b, tolerance=1):
    assert abs(a - b) <= tolerance, "%r is not within %r of %r" % (a, tolerance, b)


def tiles(document):
    """(factor, region, size) of every tile that an info.json implies."""
    w, h = document["width"], document["height"]
    for tile in document["tiles"]:
        tw, th = tile["width"], tile.get("height", tile["width"])
        for s in tile["scaleFactors"]:
            for y in range(0, h, th * s):
                for x in range(0, w, tw * s):
                    wr, hr = min(tw * s, w - x), min(th * s, h - y)
                    yield s, (x, y, wr, hr), (-(-wr // s), -(-hr // s))


def get_tile(version, identifier, region, size, form="png", on=None):
    return get(version, identifier, "%d,%d,%d,%d" % region, "%d,%d" % size, form=form, on=on)


def mosaic(version, identifier, form="png", on=None):
    """All tiles of every factor, put together: {factor: pixels}."""
    document, found = info(version, identifier, on=on), {}
    for factor, region, (w, h) in tiles(document):
        reply = get_tile(version, identifier, region, (w, h), form, on)
        expect_size(reply, w, h, repr(region))
        pixels = reply.pixels()
        if factor not in found:
            size = (-(-document["height"] // factor), -(-document["width"] // factor))
            found[factor] = fixture.numpy.zeros(size + pixels.shape[2:], pixels.dtype)
        x, y = region[0] // factor, region[1] // factor
        found[factor][y:y + h, x:x + w] = pixels
    return found
