"""The IIIF Image API 3.0 and 2.1.1 as clients meet it, through the front that TEGULA_FRONT names.

Web servers refuse some URIs themselves, each in its way; where that is so a test allows their answers
too, and says which.
"""
import math
import os
import re
import unittest
import urllib.parse

import fixture
from iiif import BOTH, V2, V3, close, expect, expect_size, get, get_tile, info, site, tiles

W, H = 1237, 911
V2_LEVEL, V3_LEVEL = "http://iiif.io/api/image/2/level2.json", "http://iiif.io/api/image/3/level2.json"


def ramp():
    return fixture.ramp_pyramid(W, H)


def grey():
    return fixture.pyramid("grey-600x400.tif", lambda: fixture.gray(600, 400))


# -- 1. URIs

def test_1_1_five_segments_or_no_image():
    for version in BOTH:
        base = version + ramp()
        expect(site().get(base + "/full/max/0/default.png"), 200)
        for rest in ("/full/max/default.png", "/full/max/0/0/default.png", "/full/max", "/max/0/default.png",
                     "/full/max/0/default.png/", "/full/max/0/"):
            expect(site().get(base + rest), (400, 404), rest)


def test_1_2_information_request():
    for version in BOTH:
        reply = expect(site().get(version + ramp() + "/info.json"), 200)
        assert (reply.json()["width"], reply.json()["height"]) == (W, H)


def test_1_3_base_uri_redirects_to_information():
    for version in BOTH + ("/iiif/",):
        for identifier in (ramp(), ramp().replace("-", "%2D"), ramp().replace("-", "%2d")):
            reply = expect(site().get(version + identifier), 303, identifier)
            assert reply.header("Location") == site().base + version + identifier + "/info.json", reply
            expect(site().get(reply.header("Location")), 200)


def test_1_4_base_uri_of_nothing():
    for version in BOTH:
        expect(site().get(version + "none.tif"), 404)
        expect(site().get(version + ramp() + "/"), (303, 404))


def test_1_6_slash_in_identifier_raw_and_encoded():
    name = fixture.once("sub/nested.tif", lambda p: os.link(os.path.join(fixture.root(), ramp()), p))
    for version in BOTH:
        for identifier in (name, name.replace("/", "%2F"), name.replace("/", "%2f")):
            expect_size(get(version, identifier, size="100,"), 100, 74, identifier)
            assert info(version, identifier)["width"] == W
            location = expect(site().get(version + identifier), 303).header("Location")
            assert location == site().base + version + identifier + "/info.json", location
        expect(get(version, "a/b"), 404)
        expect(get(version, "a%2Fb"), 404)
        expect(site().get(version + "sub/none"), 404)


def test_1_7_identifier_is_decoded_exactly_once():
    fixture.once("a%2Fb.tif", lambda p: os.link(os.path.join(fixture.root(), grey()), p))
    for version in BOTH:
        expect_size(get(version, "a%252Fb.tif", size="60,"), 60, 40)
        expect(get(version, "a%2Fb.tif"), 404)
        expect(get(version, "a%25252Fb.tif"), 404)


def test_1_8_bytes_that_clients_must_encode():
    for plain in ("q?1#2[3]@4.tif", "\u00e9\u4e2d\U0001d11e.tif", "100%.tif"):
        fixture.once(plain, lambda p: os.link(os.path.join(fixture.root(), grey()), p))
        for encoded in (urllib.parse.quote(plain, safe=""), urllib.parse.quote(plain, safe="").lower()):
            for version in BOTH:
                expect_size(get(version, encoded, size="60,"), 60, 40, encoded)


def test_1_9_more_encoding_than_needed_changes_nothing():
    plain = get(V3, ramp(), "100,100,200,200", "^!300,300", "!90", "gray").body
    for region, size, rotation, quality in (
            ("100%2C100%2C200%2C200", "%5E%21300%2C300", "%2190", "gray"),
            ("100%2c100%2c200%2c200", "%5e!300%2c300", "%2190", "%67ray"),
            ("%31%30%30,100,200,200", "^%21300,300", "!%39%30", "gr%61y")):
        assert get(V3, ramp(), region, size, rotation, quality).body == plain
    for version in BOTH:
        plain = get(version, ramp(), "pct:10,10,20,20", "pct:50").body
        assert get(version, ramp(), "pct%3A10%2C10%2C20%2C20", "pct%3A50").body == plain
        assert get(version, ramp().replace(".", "%2E").replace("r", "%72"), "pct:10,10,20,20", "pct:50").body == plain
        assert site().get(version + ramp() + "/%69nfo.json").status == 200
        assert site().get(version + ramp() + "/full/60,/0/default%2Epng").status == 200


def test_1_10_no_form_of_identifier_is_excluded():
    names = ("a:b;c,d(e)+f.g.tif", "blank and + plus.tif", "ark:/12025/654xz321", "http:/example.com/?54#a",
             "info.json", "full/max/0/default.jpg/x.tif", "deep/info.json/y.tif", "2/two.tif", "~$&'=!*.tif")
    for name in names:
        fixture.once(name, lambda p: os.link(os.path.join(fixture.root(), grey()), p))
        identifier = urllib.parse.quote(name, safe="")
        for version in BOTH:
            assert info(version, identifier)["width"] == 600, name
            expect_size(get(version, identifier, size="60,"), 60, 40, name)
    # An encoded URL holds "//", which a file system reads as one slash.
    expect_size(get(V3, "http:%2F%2Fexample.com%2F%3F54%23a", size="60,"), 60, 40)
    # A plus is a plus.
    expect_size(get(V3, "blank%20and%20+%20plus.tif", size="60,"), 60, 40)
    expect(get(V3, "blank+and+++plus.tif", size="60,"), 404)


def test_1_13_hostile_identifiers():
    with open(os.path.join(os.path.dirname(fixture.root()), "tegula-secret"), "w") as f:
        f.write("secret")
    try:
        for identifier in ("..%2Ftegula-secret", "..%2F..%2Fetc%2Fpasswd", "%2e%2e/%2e%2e/etc/passwd",
                           "%2Fetc%2Fpasswd", "....//etc/passwd", "x.tif%00.jpg", "a%zz", "a%", "a%2", "%ff", "%c3",
                           "x%0d%0aSet-Cookie:a=b", "a%%2Fb", "%252e%252e%252ftegula-secret", "..", ".", "%2e",
                           "sub%2F..%2F" + ramp(), "a%5C..%5Cb", "%c0%ae%c0%ae%2fetc"):
            for version in BOTH:
                for rest in ("/info.json", "/full/max/0/default.png", ""):
                    reply = site().get(version + identifier + rest)
                    # 303: what a web server has resolved by itself may be the folder of the prefix.
                    expect(reply, (400, 403, 404), identifier + rest)
                    assert b"secret" not in reply.body.replace(b"tegula-secret", b""), identifier
                    assert b"root:" not in reply.body
                    assert not reply.all("Set-Cookie")
    finally:
        os.unlink(os.path.join(os.path.dirname(fixture.root()), "tegula-secret"))
    expect(get(V3, ramp(), size="60,"), 200)


def test_1_13_long_uris():
    expect(get(V3, "a" * 3000), (400, 404))
    # mod_fcgid lets Apache look for a file, whose name is then too long: 403.
    allowed = (414, 403) if site().front == "apache-fcgid" else 414
    expect(get(V3, "a" * 9000), allowed)
    expect(site().get(V3 + ramp() + "/full/60,/0/default.png?" + "a" * 9000), allowed)


def test_1_14_query_strings_are_ignored():
    for version in BOTH:
        plain = get(version, ramp(), size="100,")
        for query in ("?", "?t=123", "?a=b&c=%zz", "?/../..", "?IIIF=x"):
            reply = expect(site().get(version + ramp() + "/full/100,/0/default.png" + query), 200, query)
            assert reply.body == plain.body, query
            expect(site().get(version + ramp() + "/info.json" + query), 200, query)


def test_1_15_raw_brackets():
    for version in BOTH:
        expect(site().get(version + "[frob]/info.json"), (400, 404))


def test_1_16_unknown_identifier():
    for version in BOTH:
        expect(site().get(version + "none.tif/info.json"), 404)
        expect(get(version, "none.tif"), 404)


# -- 2. methods, CORS, caching

def all_kinds():
    """(status, path, headers, method) of every kind of answer."""
    for version in BOTH:
        image = version + ramp() + "/full/100,/0/default.png"
        etag = site().get(image).header("ETag")
        yield 200, image, {}, "GET"
        yield 200, version + ramp() + "/info.json", {}, "GET"
        yield 303, version + ramp(), {}, "GET"
        yield 304, image, {"If-None-Match": etag}, "GET"
        yield 400, version + ramp() + "/full/0,/0/default.png", {}, "GET"
        yield 404, version + "none.tif/info.json", {}, "GET"
        yield 405, image, {}, "PUT"
        yield 204, image, {"Origin": "http://a.example", "Access-Control-Request-Method": "GET"}, "OPTIONS"
        yield 204, version + ramp() + "/info.json", {}, "OPTIONS"


def test_2_2_head_is_get_without_body():
    for version in BOTH:
        for rest in ("/full/100,/0/default.png", "/info.json", "", "/full/0,/0/default.png"):
            got = site().get(version + ramp() + rest)
            head = site().get(version + ramp() + rest, method="HEAD")
            assert head.status == got.status and head.body == b"", rest
            skip = ("date", "transfer-encoding", "connection", "keep-alive", "content-length")
            kept = [[pair for pair in r.headers if pair[0].lower() not in skip] for r in (got, head)]
            assert sorted(kept[0]) == sorted(kept[1]), "%s: %r %r" % (rest, kept[0], kept[1])
            # Apache and nginx may leave the length out; if it is there, it is that of GET.
            assert head.header("Content-Length") in (None, str(len(got.body))), head


def test_2_3_options_is_a_preflight():
    for path in (V3 + ramp() + "/full/100,/0/default.png", V2 + ramp() + "/info.json", V3 + ramp()):
        reply = expect(site().get(path, method="OPTIONS"), 204)
        assert reply.body == b""
        assert reply.header("Access-Control-Allow-Origin") == "*"
        methods = re.split(r",\s*", reply.header("Access-Control-Allow-Methods"))
        assert {"GET", "HEAD", "OPTIONS"} <= set(methods), methods
        assert "x-requested-with" in reply.header("Access-Control-Allow-Headers").lower()
        assert {"GET", "HEAD", "OPTIONS"} <= set(re.split(r",\s*", reply.header("Allow")))


def test_2_4_cors_on_every_answer():
    for status, path, headers, method in all_kinds():
        for origin in (None, "http://b.example"):
            if origin:
                headers = dict(headers, Origin=origin)
            reply = expect(site().get(path, headers=headers, method=method), status, "%s %s" % (method, path))
            assert reply.header("Access-Control-Allow-Origin") == "*", (path, reply)


def test_2_4_cors_off_and_literal():
    for status, path, headers, method in all_kinds():
        assert not site(CORS=None).get(path, headers=headers, method=method).all("Access-Control-Allow-Origin")
    one = site(CORS="https://a.example")
    reply = one.get(V3 + ramp() + "/info.json", headers={"Origin": "https://b.example"})
    assert reply.header("Access-Control-Allow-Origin") == "https://a.example", reply


def test_2_5_other_methods():
    for method in ("PUT", "DELETE", "PATCH", "PROPFIND"):
        for rest in ("/full/100,/0/default.png", "/info.json"):
            reply = expect(site().get(V3 + ramp() + rest, method=method), 405, method)
            assert {"GET", "HEAD", "OPTIONS"} <= set(re.split(r",\s*", reply.header("Allow"))), reply


def test_2_9_validators_and_304():
    for version in BOTH:
        for rest in ("/full/100,/0/default.png", "/info.json"):
            path = version + ramp() + rest
            first = site().get(path)
            etag, modified = first.header("ETag"), first.header("Last-Modified")
            assert re.fullmatch(r'"[^"]+"', etag), etag
            for headers in ({"If-None-Match": etag}, {"If-None-Match": "*"}, {"If-None-Match": '"x", W/' + etag},
                            {"If-Modified-Since": modified}, {"If-Modified-Since": "Tue, 01 Jan 2090 00:00:00 GMT"}):
                reply = expect(site().get(path, headers=headers), 304, repr(headers))
                assert reply.body == b"" and reply.header("ETag") == etag
            for headers in ({"If-None-Match": '"x"'}, {"If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT"},
                            {"If-None-Match": '"x"', "If-Modified-Since": modified}, {"If-Modified-Since": "junk"}):
                reply = expect(site().get(path, headers=headers), 200, repr(headers))
                assert reply.body == first.body and reply.header("ETag") == etag
    tags = {get(V3, ramp(), size=s, quality=q, form=f).header("ETag")
            for s in ("100,", "101,") for q in ("default", "gray") for f in ("jpg", "png")}
    assert len(tags) == 8, tags


def test_2_9_information_varies_with_accept():
    for version in BOTH:
        reply = site().get(version + ramp() + "/info.json")
        assert "accept" in (reply.header("Vary") or "").lower(), reply
        assert "accept" not in (get(version, ramp(), size="100,").header("Vary") or "").lower()


def test_2_10_content_disposition_names_the_file():
    for version in BOTH:
        name = get(version, ramp(), size="100,", form="jpg").header("Content-Disposition")
        assert name == 'inline; filename="ramp-1237x911_100x74.jpg"', name


def test_2_content_length_and_cache_control():
    for version in BOTH:
        for rest in ("/full/100,/0/default.png", "/info.json"):
            reply = site().get(version + ramp() + rest)
            assert reply.header("Content-Length") == str(len(reply.body)), reply.headers
            assert reply.header("Cache-Control") == "max-age=86400", reply.headers


# -- 3. media type of info.json

LD3 = 'application/ld+json;profile="http://iiif.io/api/image/3/context.json"'


def test_3_media_type_of_version_3():
    for accept, expected in ((None, LD3), ("*/*", LD3), ("application/ld+json", LD3), ("application/json", "application/json"),
                             ("application/json;q=0.9, application/ld+json;q=0.1", "application/json"),
                             ("application/json;q=0.1, application/ld+json;q=0.9", LD3),
                             ('application/ld+json;profile="http://iiif.io/api/image/3/context.json"', LD3),
                             ("application/json;charset=utf-8", "application/json"), ("text/html", LD3),
                             ("text/html,application/xhtml+xml,*/*;q=0.8", LD3)):
        reply = site().get(V3 + ramp() + "/info.json", headers={"Accept": accept} if accept else {})
        got = reply.header("Content-Type").replace("; ", ";")
        assert got == expected, "%r: %r" % (accept, got)


def test_3_media_type_of_version_2():
    for accept, expected in ((None, "json"), ("*/*", "json"), ("application/ld+json", "ld+json"),
                             ("application/json", "json"), ("application/*", "json"), ("text/html", "json"),
                             ("application/ld+json, application/json;q=0.5", "ld+json"),
                             ("application/json, application/ld+json;q=0.5", "json")):
        reply = site().get(V2 + ramp() + "/info.json", headers={"Accept": accept} if accept else {})
        assert reply.type() == "application/" + expected, "%r: %r" % (accept, reply.headers)


def test_3_6_same_body_for_both_types():
    for version in BOTH:
        bodies = {site().get(version + ramp() + "/info.json", headers={"Accept": a}).body
                  for a in ("application/json", "application/ld+json", "*/*")}
        assert len(bodies) == 1


def test_3_version_by_accept():
    plain = "/iiif/" + ramp() + "/info.json"
    for n in "23":
        context = "http://iiif.io/api/image/%s/context.json" % n
        reply = site().get(plain, headers={"Accept": 'application/ld+json;profile="%s"' % context})
        assert reply.json()["@context"] == context
        for setting in "23":
            reply = site(IIIF_VERSION=setting).get(plain)
            assert reply.json()["@context"] == "http://iiif.io/api/image/%s/context.json" % setting


# -- 4. information, version 3

NAMES_3 = {"baseUriRedirect", "canonicalLinkHeader", "cors", "jsonldMediaType", "mirroring", "profileLinkHeader",
           "regionByPct", "regionByPx", "regionSquare", "rotationArbitrary", "rotationBy90s", "sizeByConfinedWh",
           "sizeByH", "sizeByPct", "sizeByW", "sizeByWh", "sizeUpscaling"}


def test_4_information_version_3():
    reply = site().get(V3 + ramp() + "/info.json")
    document = reply.json()
    assert next(iter(document)) == "@context"
    assert document["@context"] == "http://iiif.io/api/image/3/context.json"
    assert document["id"] == site().base + V3 + ramp()
    assert (document["type"], document["protocol"], document["profile"]) == (
        "ImageService3", "http://iiif.io/api/image", "level2")
    assert (document["width"], document["height"]) == (W, H)
    assert document["maxWidth"] == 5000 and document.get("maxHeight", 5000) == 5000
    assert set(document["extraFeatures"]) <= NAMES_3
    assert {"canonicalLinkHeader", "mirroring", "profileLinkHeader", "rotationArbitrary",
            "sizeUpscaling"} <= set(document["extraFeatures"])
    assert {"color", "gray", "bitonal"} <= set(document["extraQualities"])
    assert "webp" in document["extraFormats"] and document["extraFormats"] == sorted(document["extraFormats"])
    assert set(document.get("preferredFormats", [])) <= {"jpg", "png"} | set(document["extraFormats"])
    for old in ("@id", "@type", "attribution", "logo", "license"):
        assert old not in document, old


def test_4_information_of_grey():
    assert "color" not in info(V3, grey())["extraQualities"]
    profile = info(V2, grey())["profile"][1]
    assert "color" not in profile["qualities"]


def test_4_sizes_and_tiles():
    for version in BOTH:
        document = info(version, ramp())
        assert [(s["width"], s["height"]) for s in document["sizes"]] == [(155, 114), (310, 228), (619, 456)]
        tile, = document["tiles"]
        assert (tile["width"], tile.get("height", 256)) == (256, 256)
        assert tile["scaleFactors"] == [1, 2, 4, 8]


def test_4_2_id_follows_the_request():
    fixture.once("dir one/im age.tif", lambda p: os.link(os.path.join(fixture.root(), grey()), p))
    for identifier in ("dir%20one%2Fim%20age.tif", "dir%20one/im%20age.tif", "dir%20one%2fim%20age%2Etif"):
        for version, key in ((V2, "@id"), (V3, "id")):
            assert info(version, identifier)[key] == site().base + version + identifier
    reply = site().get(V3 + ramp() + "/info.json?q=1")
    assert reply.json()["id"] == site().base + V3 + ramp()


def test_4_2_id_behind_a_proxy():
    path = V3 + ramp()

    def identity(behind=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return (behind or site()).get(path + "/info.json", headers=headers).json()["id"]

    assert identity(X_Forwarded_Proto="https") == "https://" + site().host + path
    assert identity(X_Forwarded_Proto="https", X_Forwarded_Host="img.example.org",
                    X_Forwarded_Port="8443") == "https://img.example.org:8443" + path
    assert identity(X_Forwarded_Proto="https", X_Forwarded_Host="img.example.org",
                    X_Forwarded_Port="443") == "https://img.example.org" + path
    assert identity(X_Forwarded_Proto="http", X_Forwarded_Host="a.example, b.example") == "http://a.example" + path
    assert identity(X_IIIF_ID="https://x.example/y") == "https://x.example/y"
    assert identity(X_Forwarded_Host='bad"host/<x>').startswith("http")
    assert '"' not in identity(X_Forwarded_Host='bad"host')
    for base in ("https://cdn.example.org/iiif", "https://cdn.example.org/iiif/"):
        with_base = site(BASE_URL=base)
        # It stands for scheme, host and prefix; the version in the path is behind the prefix.
        assert identity(with_base) == "https://cdn.example.org/iiif/3/" + ramp()
        location = with_base.get(path).header("Location")
        assert location == "https://cdn.example.org/iiif/3/" + ramp() + "/info.json", location
        plain = with_base.get("/iiif/" + ramp() + "/info.json").json()
        assert plain["id"] == "https://cdn.example.org/iiif/" + ramp()


# -- 5. information, version 2

NAMES_2 = NAMES_3 - {"sizeUpscaling"} | {"sizeAboveFull", "sizeByDistortedWh", "sizeByWhListed", "sizeByForcedWh"}


def test_5_information_version_2():
    document = info(V2, ramp())
    assert document["@context"] == "http://iiif.io/api/image/2/context.json"
    assert document["@id"] == site().base + V2 + ramp()
    assert document["protocol"] == "http://iiif.io/api/image"
    assert (document["width"], document["height"]) == (W, H)
    level, extra = document["profile"]
    assert level == V2_LEVEL
    assert {"jpg", "png", "webp"} <= set(extra["formats"])
    assert {"default", "color", "gray", "bitonal"} - {"default"} <= set(extra["qualities"])
    assert set(extra["supports"]) <= NAMES_2, set(extra["supports"]) - NAMES_2
    assert {"regionSquare", "rotationArbitrary", "mirroring", "sizeAboveFull", "canonicalLinkHeader",
            "profileLinkHeader"} <= set(extra["supports"])
    assert extra["maxWidth"] == 5000
    assert "maxWidth" not in document and "id" not in document and "type" not in document


# -- 6. links

def test_6_links_in_one_field():
    for version, level in ((V2, V2_LEVEL), (V3, V3_LEVEL)):
        reply = get(version, ramp(), size="100,")
        assert len(reply.all("Link")) == 1, reply.headers
        assert reply.links()["profile"] == level
        again = expect(site().get(reply.links()["canonical"]), 200)
        assert again.links()["canonical"] == reply.links()["canonical"]
        assert again.body == reply.body
    assert site().get(V3 + ramp() + "/info.json").links()["profile"] == V3_LEVEL


# -- 7. region

def test_7_1_full_and_square():
    for version in BOTH:
        expect_size(get(version, ramp()), W, H)
        expect_size(get(version, ramp(), "square"), H, H)
        document = fixture.pyramid("squares-1000.tif", fixture.squares)
        assert get(version, document, "square").body == get(version, document).body


def test_7_3_pixels_of_a_region():
    whole = fixture.ramp(W, H)
    for version in BOTH:
        for x, y, w, h in ((0, 0, 10, 10), (255, 255, 2, 2), (1000, 700, 237, 211), (1236, 910, 1, 1), (300, 0, 1, 911)):
            got = get(version, ramp(), "%d,%d,%d,%d" % (x, y, w, h)).pixels()
            assert fixture.largest_difference(got, whole[y:y + h, x:x + w]) == 0, (x, y, w, h)


def test_7_4_percent():
    for version in BOTH:
        got = get(version, ramp(), "pct:25,50,50,25")
        close(got.size()[0], W * .5)
        close(got.size()[1], H * .25)
        red, green = (got.pixels()[0, 0, c] for c in (0, 1))
        close(int(red), 255 * .25)
        close(int(green), 255 * .5)
        expect_size(get(version, ramp(), "pct:0,0,100,100"), W, H)
        expect_size(get(version, ramp(), "pct:0,0,100.0,100.00"), W, H)
        expect(get(version, ramp(), "pct:.5,.5,10.50,10"), 200)


def test_7_5_crop_at_the_edge():
    small = fixture.ramp_pyramid(300, 200)
    for version in BOTH:
        expect_size(get(version, small, "125,15,200,200"), 175, 185)
        expect_size(get(version, small, "pct:41.6,7.5,66.6,100"), 175, 185)
        expect_size(get(version, small, "299,199,100,100"), 1, 1)


def test_7_6_empty_and_outside():
    for version in BOTH:
        for region in ("0,0,0,10", "0,0,10,0", "pct:0,0,0,10", "pct:0,0,10,0", "1237,0,10,10", "0,911,10,10",
                       "pct:100,0,10,10", "pct:0,100,10,10", "5000,5000,1,1"):
            reply = expect(get(version, ramp(), region), 400, region)
        expect(get(version, ramp(), "1236,910,10,10"), 200)
        assert get(version, ramp(), "pct:0,0,.001,.001").status in (200, 400)
        assert reply.type() == "text/plain"


def test_7_9_malformed_regions():
    for version in BOTH:
        for region in ("-1,0,10,10", "0,-1,10,10", "0.5,0,10,10", "+1,0,10,10", "1e1,0,10,10", "0x1,0,10,10",
                       "0,0,10", "0,0,10,10,10", ",0,10,10", "0,0,10,", "pct:", "pct:1,1,1", "FULL", "Full", "PCT:0,0,10,10",
                       "pct:-1,0,10,10", "pct:NaN,0,10,10", "pct:Infinity,0,1,1", "pct:1e1,0,10,10", "pct:+1,0,10,10",
                       "pct:1.2.3,0,10,10", "0,%200,10,10", "%20full", "full%20", "Square", "squares", "0;0;10;10",
                       "1,2,3,4x", "pct:0,0,10,10x", "pct:.,0,10,10"):
            expect(get(version, ramp(), region), 400, region)


def test_7_10_numbers_beyond_all_bounds():
    huge = "99999999999999999999"
    for version in BOTH:
        for region in ("0,0,%s,%s" % (huge, huge), "%s,0,10,10" % huge, "0,0,4294967296,4294967297",
                       "4294967296,0,10,10", "1,1,18446744073709551615,18446744073709551615"):
            reply = expect(get(version, ramp(), region), (200, 400), region)
            if reply.status == 200:
                assert reply.size()[0] >= W - 1 and reply.size()[1] >= H - 1, region
        expect(get(version, ramp(), size=huge + ","), 400)
        expect(get(version, ramp(), size="4294967297,"), 400)
        expect(get(version, ramp(), size="pct:" + huge), 400)


# -- 8, 9, 10. size

def test_8_sizes_of_version_2():
    for size, expected in (("full", (W, H)), ("max", (W, H)), ("400,", (400, 295)), (",300", (407, 300)),
                           ("pct:50", (619, 456)), ("300,300", (300, 300)), ("!300,300", (300, 221)),
                           ("!5000,100", (136, 100)), ("1237,911", (W, H))):
        reply = expect(get(V2, ramp(), size=size), 200, size)
        close(reply.size()[0], expected[0], 0 if re.match(r"\d", size) else 1)
        close(reply.size()[1], expected[1], 0 if size.startswith(",") or re.match(r"\d+,\d+", size) else 1)
    expect_size(get(V2, ramp(), "0,0,100,100", "200,"), 200, 200)
    expect_size(get(V2, ramp(), "0,0,100,50", "200,200"), 200, 200)


def test_8_10_limits_of_version_2():
    expect_size(get(V2, ramp(), "0,0,10,10", "5000,1"), 5000, 1)
    for size in ("5001,", ",5001", "5001,10", "10,5001", "pct:5000"):
        expect(get(V2, ramp(), size=size), (400, 404), size)


def test_8_11_caret_is_not_version_2():
    for size in ("^max", "^400,", "^!400,400", "^pct:50", "^,300"):
        expect(get(V2, ramp(), size=size), 400, size)


def test_9_sizes_of_version_3():
    for size, expected in (("max", (W, H)), ("400,", (400, 295)), (",300", (407, 300)), ("pct:50", (619, 456)),
                           ("300,300", (300, 300)), ("!300,300", (300, 221)), ("!5000,100", (136, 100)),
                           ("1237,911", (W, H)), ("pct:100", (W, H)), ("!2000,3000", (W, H)), ("!1237,911", (W, H))):
        reply = expect(get(V3, ramp(), size=size), 200, size)
        close(reply.size()[0], expected[0], 0 if re.match(r"\d", size) else 1)
        close(reply.size()[1], expected[1], 0 if size.startswith(",") or re.match(r"\d+,\d+", size) else 1)


def test_9_1_full_is_gone():
    expect(get(V3, ramp(), size="full"), 400)


def test_9_2_caret_enlarges():
    region = "0,0,100,50"
    for size, expected in (("^200,", (200, 100)), ("^,100", (200, 100)), ("^pct:200", (200, 100)),
                           ("^150,150", (150, 150)), ("^!300,300", (300, 150)), ("^50,", (50, 25)),
                           ("^!50,50", (50, 25)), ("^pct:50", (50, 25))):
        expect_size(get(V3, ramp(), region, size), *expected, what=size)
    expect_size(get(V3, ramp(), region, "^max", form="jpg"), 5000, 2500)
    expect_size(get(V3, ramp(), size="^500,"), 500, 368)


def test_9_4_misplaced_carets():
    for size in ("!^300,300", ",^240", "pct:^50", "300^,", "^", "^^300,", "^full"):
        expect(get(V3, ramp(), size=size), 400, size)


def test_9_5_no_enlarging_without_caret():
    region = "0,0,100,50"
    for size in ("101,", ",51", "101,10", "10,51", "pct:100.5", "pct:200", "200,100"):
        expect(get(V3, ramp(), region, size), 400, size)
    expect_size(get(V3, ramp(), region, "100,50"), 100, 50)


def test_9_8_upscaling_switched_off():
    off = site(ALLOW_UPSCALING=0)
    path = V3 + ramp() + "/0,0,100,50/%s/0/default.png"
    expect(off.get(path % "^200,"), 501)
    expect_size(off.get(path % "^50,"), 50, 25)
    assert "sizeUpscaling" not in off.get(V3 + ramp() + "/info.json").json()["extraFeatures"]
    path = V2 + ramp() + "/0,0,100,50/%s/0/default.png"
    expect(off.get(path % "200,"), 400)
    expect_size(off.get(path % "!200,200"), 100, 50)
    assert "sizeAboveFull" not in off.get(V2 + ramp() + "/info.json").json()["profile"][1]["supports"]


def test_9_9_limits_of_version_3():
    for size in ("^5001,", "^,5001", "^5001,10", "^10,5001", "^pct:5000"):
        expect(get(V3, ramp(), size=size), 400, size)
    expect_size(get(V3, ramp(), "0,0,10,10", "^5000,1"), 5000, 1)


def test_9_10_limits_shrink_what_names_no_size():
    low = site(MAX_CVT=512)
    for version, sizes in ((V3, ("max", "^max", "!1000,1000", "^!1000,1000")), (V2, ("max", "!1000,1000", "full"))):
        for size in sizes:
            reply = expect(low.get(version + ramp() + "/full/%s/0/default.png" % size), 200, size)
            assert reply.size()[0] == 512, (size, reply.size())
            close(reply.size()[1], 377)
    expect(low.get(V3 + ramp() + "/full/600,/0/default.png"), 400)
    expect_size(low.get(V3 + ramp() + "/full/512,/0/default.png"), 512, 377)
    document = low.get(V3 + ramp() + "/info.json").json()
    assert document["maxWidth"] == 512
    assert all(s["width"] <= 512 and s["height"] <= 512 for s in document["sizes"])


def test_10_zero_is_an_error_only_when_asked_for():
    for version in BOTH:
        for size in ("0,", ",0", "0,0", "0,10", "10,0", "pct:0", "!0,5", "!5,0", "pct:0.0"):
            expect(get(version, ramp(), size=size), 400, size)
        expect_size(get(version, ramp(), "0,0,1025,1", "129,"), 129, 1)
        expect_size(get(version, ramp(), "0,0,1,911", ",100"), 1, 100)
        expect_size(get(version, ramp(), size="1,"), 1, 1)
        expect_size(get(version, ramp(), size=",1"), 1, 1)


def test_8_malformed_sizes():
    for version in BOTH:
        for size in ("-1,", ",-1", "1.5,", "+1,", "1e2,", "0x10,", "100", ",", "1,2,3", "pct:", "pct:-1", "pct:1e1", "pct:x",
                     "!100", "!,100", "!100,", "!", "MAX", "Max", "PCT:50", "%20max", "100,%20", "100;", "nan,", "pct:nan",
                     "pct:inf", "100,x", "x100,"):
            expect(get(version, ramp(), size=size), 400, size)


# -- 11. rotation

def test_11_quarter_turns_and_mirror():
    name = fixture.corners_pyramid(600, 400)
    colours = {"r": (255, 0, 0), "g": (0, 255, 0), "b": (0, 0, 255), "w": (255, 255, 255)}
    # Corners as top left, top right, bottom left, bottom right: mirrored first, then clockwise.
    for rotation, order in (("0", "rgbw"), ("90", "brwg"), ("180", "wbgr"), ("270", "gwrb"), ("360", "rgbw"),
                            ("!0", "grwb"), ("!90", "wgbr"), ("!180", "bwrg"), ("!270", "rbgw"), ("90.0", "brwg")):
        for version in BOTH:
            got = get(version, name, size="300,", rotation=rotation).pixels()
            turned = "90" in rotation or "270" in rotation
            assert got.shape[:2] == ((300, 200) if turned else (200, 300)), (rotation, got.shape)
            for corner, (y, x) in zip(order, ((10, 10), (10, -10), (-10, 10), (-10, -10))):
                assert abs(got[y, x].astype(int) - colours[corner]).max() < 4, (rotation, corner, got[y, x])


def test_11_7_size_applies_before_rotation():
    for version in BOTH:
        expect_size(get(version, ramp(), size="300,200", rotation="90"), 200, 300)


def test_11_3_any_angle():
    name = fixture.corners_pyramid(600, 400)
    for version in BOTH:
        for angle in (45, 22.5, 1, 359.5, 100.25):
            reply = get(version, name, size="300,200", rotation="%g" % angle)
            a = math.radians(angle)
            close(reply.size()[0], 300 * abs(math.cos(a)) + 200 * abs(math.sin(a)), 2)
            close(reply.size()[1], 300 * abs(math.sin(a)) + 200 * abs(math.cos(a)), 2)
            picture = reply.image()
            assert picture.mode == "RGBA", picture.mode
            assert picture.getpixel((0, 0))[3] == 0
            assert picture.getpixel((picture.width // 2, picture.height // 2)) == (128, 128, 128, 255)
        expect(get(version, name, size="300,200", rotation="45", form="jpg"), 200)
        expect(get(version, name, size="300,200", rotation="!22.5"), 200)


def test_11_6_malformed_rotations():
    for version in BOTH:
        for rotation in ("361", "360.5", "-90", "+90", "90deg", "0B", "0Bi", "1e1", "", "!", "!!90", "90!", "abc", "-1", "90abc",
                         "nan", "inf", "%2090", "90%20", "0x5A", "1.2.3", "."):
            expect(get(version, ramp(), size="100,", rotation=rotation), 400, rotation)


# -- 12, 13. quality and format

def test_12_qualities():
    for version in BOTH:
        for quality, mode in (("default", "RGB"), ("color", "RGB"), ("gray", "L")):
            assert get(version, ramp(), size="100,", quality=quality).image().mode == mode
        for form in ("png", "jpg"):
            picture = get(version, ramp(), size="100,", quality="bitonal", form=form).image().convert("L")
            values = {v for _, v in picture.getcolors(256)}
            if form == "png":
                assert values == {0, 255}, values
        picture = expect(get(version, grey(), size="100,", quality="color"), 200).image()
        assert picture.size == (100, 67)


def test_12_gray_is_luma():
    """Rec. 601 or 709 weights: red is darker than green, brighter than blue."""
    name = fixture.corners_pyramid(600, 400)
    for version in BOTH:
        got = get(version, name, quality="gray").pixels()
        red, green, blue, white = (int(got[y, x]) for y, x in ((50, 50), (50, -50), (-50, 50), (-50, -50)))
        assert white == 255 and got[200, 300] == 128
        close(red + green + blue, 255, 2)
        assert green > red > blue, (red, green, blue)


def test_12_5_unknown_qualities():
    for version in BOTH:
        for quality in ("grey", "native", "Default", "colour", "", "defaults", "GRAY"):
            expect(get(version, ramp(), size="100,", quality=quality), 400, quality)


def test_13_formats():
    kinds = {"jpg": ("image/jpeg", "JPEG"), "png": ("image/png", "PNG"), "webp": ("image/webp", "WEBP"),
             "gif": ("image/gif", "GIF"), "jp2": ("image/jp2", "JPEG2000"), "tif": ("image/tiff", "TIFF"),
             "pdf": ("application/pdf", None), "avif": ("image/avif", "PNG")}  # as decoded
    for version in BOTH:
        document = info(version, ramp())
        named = document["profile"][1]["formats"] if version == V2 else ["jpg", "png"] + document["extraFormats"]
        assert {"jpg", "png", "pdf", "tif", "webp"} <= set(named) <= set(kinds), named
        for form in named:
            reply = get(version, ramp(), size="100,", form=form, headers={"Accept": "image/gif"})
            assert reply.type() == kinds[form][0]
            assert form == "pdf" or reply.image().format == kinds[form][1]


def test_13_4_unknown_formats():
    for version in BOTH:
        for form in ("jpeg", "tiff", "JPG", "", "jpx", "bmp", "jpg2", "jpg%00"):
            expect(get(version, ramp(), size="100,", form=form), (400, 404) if "%00" in form else 400, form)
        expect(site().get(version + ramp() + "/full/100,/0/default"), (400, 404))


def test_13_jpeg_is_baseline_jfif():
    reply = get(V3, ramp(), size="300,", form="jpg")
    assert reply.body[:4] == b"\xff\xd8\xff\xe0" and reply.body[6:11] == b"JFIF\0", reply.body[:20]
    assert b"\xff\xc0" in reply.body and reply.body[-2:] == b"\xff\xd9"
    assert not reply.image().info.get("progressive")


# -- 14. canonical URIs

def canonical(version, *parts):
    reply = expect(get(version, *parts), 200, "/".join(parts))
    uri = reply.links()["canonical"]
    prefix = site().base + version + parts[0] + "/"
    assert uri.startswith(prefix), uri
    again = site().get(uri)
    assert again.status == 200 and again.links()["canonical"] == uri and again.body == reply.body, uri
    return uri[len(prefix):]


def test_14_canonical_of_version_3():
    for region, size, rotation, quality, expected in (
            ("full", "max", "0", "default", "full/max/0/default.png"),
            ("0,0,1237,911", "1237,911", "0", "color", "full/max/0/default.png"),
            ("pct:0,0,100,100", "max", "0.0", "default", "full/max/0/default.png"),
            ("0,0,9999,9999", "max", "360", "default", None),
            ("full", "pct:50", "0", "default", "full/619,456/0/default.png"),
            ("full", "^500,", "0", "default", "full/500,368/0/default.png"),
            ("full", "500,", "90.0", "gray", "full/500,368/90/gray.png"),
            ("full", ",300", "!22.50", "default", "full/407,300/!22.5/default.png"),
            ("1200,900,100,100", "max", "0", "default", "1200,900,37,11/max/0/default.png"),
            ("0,0,100,100", "^200,", "0", "default", "0,0,100,100/^200,200/0/default.png"),
            ("0,0,20,10", "^max", "0", "default", "0,0,20,10/^max/0/default.png"),
            ("square", "max", "0", "default", None)):
        got = canonical(V3, ramp(), region, size, rotation, quality)
        if expected:
            assert got == expected, got
        assert not got.startswith(("pct", "square")), got


def test_14_canonical_of_version_2():
    for region, size, rotation, quality, expected in (
            ("full", "full", "0", "default", "full/full/0/default.png"),
            ("full", "max", "0", "color", "full/full/0/default.png"),
            ("0,0,1237,911", "1237,", "0", "default", "full/full/0/default.png"),
            ("full", "pct:50", "0", "default", "full/619,/0/default.png"),
            ("full", "500,368", "0", "default", "full/500,/0/default.png"),
            ("full", "500,400", "0", "gray", "full/500,400/0/gray.png"),
            ("full", "!500,500", "90", "default", "full/500,/90/default.png")):
        assert canonical(V2, ramp(), region, size, rotation, quality) == expected
    name = fixture.pyramid("squares-1000.tif", fixture.squares)
    assert canonical(V2, name, "square", "100,", "0", "default") == "full/100,/0/default.png"


def test_14_canonical_of_grey():
    assert canonical(V3, grey(), "full", "60,", "0", "gray") == "full/60,40/0/default.png"


# -- 15. errors

def test_15_errors_are_short_plain_and_not_cached():
    for path, status in ((V3 + "none.tif/info.json", 404), (V3 + ramp() + "/full/0,/0/default.png", 400),
                         (V3 + ramp() + "/x/max/0/default.png", 400), (V2 + ramp() + "/full/max/400/default.png", 400),
                         (V2 + "none.tif", 404)):
        reply = expect(site().get(path), status, path)
        assert reply.type() == "text/plain", reply.headers
        assert "no-store" in reply.header("Cache-Control"), reply.headers
        assert not reply.all("ETag") and not reply.all("Last-Modified"), reply.headers
        assert 0 < len(reply.body) < 300
        assert fixture.root().encode() not in reply.body and b"/tmp" not in reply.body


def test_15_a_malformed_parameter_is_named():
    for part in ("region", "size", "rotation", "quality"):
        parts = {"size": "100,", part: "frob"}
        assert part in get(V3, ramp(), **parts).body.decode(), part
    assert "format" in get(V3, ramp(), size="100,", form="frob").body.decode()


def test_15_2_nothing_is_echoed_that_could_run():
    reply = get(V3, ramp(), region="%3Cscript%3E", size="100,")
    assert b"<script" not in reply.body and reply.type() == "text/plain"


# -- 16. tiles

def test_16_2_every_tile_version_3():
    count = 0
    for _, region, size in tiles(info(V3, ramp())):
        expect_size(get_tile(V3, ramp(), region, size, "jpg"), *size, what=repr(region))
        count += 1
    assert count == 5 * 4 + 3 * 2 + 2 * 1 + 1, count


def test_16_2_every_tile_version_2():
    for _, region, (w, h) in tiles(info(V2, ramp())):
        where = "%d,%d,%d,%d" % region
        expect_size(get(V2, ramp(), where, "%d,%d" % (w, h), form="jpg"), w, h, where)
        reply = get(V2, ramp(), where, "%d," % w, form="jpg")
        assert reply.size()[0] == w, where
        close(reply.size()[1], region[3] * w / region[2])
    # Its width was rounded up, so the strip comes out taller than its neighbours.
    expect_size(get(V2, ramp(), "1024,0,213,911", "54,"), 54, 231)
    expect_size(get(V2, ramp(), "1024,0,213,911", "54,228"), 54, 228)


def test_16_7_every_size_in_both_forms():
    for version in BOTH:
        for size in info(version, ramp())["sizes"]:
            w, h = size["width"], size["height"]
            expect_size(get(version, ramp(), size="%d,%d" % (w, h), form="jpg"), w, h)
            expect(get(version, ramp(), size="%d," % w, form="jpg"), 200)


def test_16_one_pixel():
    name = fixture.pyramid("one.tif", lambda: fixture.flat(1, 1, (10, 20, 30)))
    for version in BOTH:
        assert get(version, name).pixels().tolist() == [[[10, 20, 30]]]
        document = info(version, name)
        assert document["sizes"], document
        for _, region, size in tiles(document):
            expect_size(get_tile(version, name, region, size), *size)


# -- what is not IIIF

def test_other_protocols():
    """What they answer, never the page for health checks, which a prefix alone gets."""
    for path, status in (("/iiif/", 200), ("/iiif/?probe=1", 200), ("/iiif/?FIF=a.tif&WID=100&CVT=jpeg", 404),
                         ("/iiif/?fif=a.tif&obj=Max-size", 404), ("/iiif/?JTL=0,0", 400)):
        expect(site().get(path), status, path)


def test_addresses_that_are_not_mapped():
    if site().front != "direct":
        raise unittest.SkipTest("the web server passes on none of them")
    for path, status in (("/", 200), ("/tegula", 200), ("/fcgi-bin/iipsrv.fcgi", 200), ("/nottegula", 404),
                         ("/fcgi-bin/iipsrv.fcgi?FIF=a.tif&JTL=0,0", 404), ("/?IIP=a.tif", 400),
                         ("/?what=a.tif", 400), ("/?IIIF=%s/info.json" % ramp(), 200)):
        expect(site().get(path), status, path)
    mapped = site(URI_MAP="iiif=>IIIF, fcgi=>IIP")
    for path, status in (("/fcgi", 200), ("/fcgi?FIF=a.tif&JTL=0,0", 404), ("/fcgi/x", 400), ("/fcgi/x&JTL=0,0", 404)):
        expect(mapped.get(path), status, path)


# -- where the specifications leave the choice

def test_decisions():
    """What tegula answers where the text is silent or allows several things."""
    for version in BOTH:
        base = version + ramp()
        for rest, status in (
                ("/full/max/default.png", 400),  # 1.1 four segments and more: a malformed image request
                ("/full/max/0/0/default.png", 400),
                ("/full/max", 404),  # fewer: a longer identifier, which nothing has
                ("/full/60,/0/default", 404),  # 13.5 no format, no image request
                ("/", 404),  # 1.4
                ("/info.json/", 404),
                ("/pct:0,0,.001,.001/max/0/default.png", 200),  # 7.8 the one pixel that it touches
                ("/0,0,10,10/pct:1/0/default.png", 200),  # 10.4 a computed side is never 0
                ("/0,0,99999999999999999999,99999999999999999999/max/0/default.png", 200),  # 7.10 cropped
                ("/99999999999999999999,0,10,10/max/0/default.png", 400),
                ("/full/5001,/0/default.png", 400),  # 8.10, 9.9 rather than 404
                ("/full/60,/090/default.png", 200),  # 11.9 digits are digits
                ("/full/060,/0/default.png", 200),
                ("/full/60,/90./default.png", 400),  # but a point needs a digit behind it
                ("/full/pct:50./0/default.png", 400)):
            expect(site().get(base + rest), status, rest)
        assert get(version, ramp(), "pct:0,0,.001,.001").size() == (1, 1)
        # 3.5 nothing acceptable: the default rather than 406.
        expect(site().get(base + "/info.json", headers={"Accept": "image/png"}), 200)
        # 2.7 no redirects to canonical URIs: the Link header names them.
        expect(get(version, ramp(), "0,0,1237,911", "60,"), 200)
