"""Colour by profiles against Little CMS as Pillow calls it, and what goes into outputs beside the pixels."""
import io
import os
import re
import struct
import unittest

import numpy
from PIL import Image, ImageCms

import fixture
import kinds
from iiif import V2, V3, close, expect, get, info, site

PRESS = "/usr/share/color/icc/ghostscript/default_cmyk.icc"  # of the ghostscript package
RIGHTS = "\u00a9 1998 Arkiv \u00c6r\u00f8"
PACKET = (b'<?xpacket begin="\xef\xbb\xbf" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
          b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""'
          b' xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"/></rdf:RDF></x:xmpmeta>'
          b'<?xpacket end="w"?>')
UPRIGHT = PACKET.replace(b'Orientation="6"', b'Orientation="1"')


def wide():
    return kinds.profile(kinds.ADOBE_RED, kinds.ADOBE_GREEN, kinds.ADOBE_BLUE)


def cube(steps, channels, white=255):
    """Colours all over the device's space, in squares of 8 px."""
    axis = numpy.round(numpy.linspace(0, white, steps))
    colours = numpy.stack(numpy.meshgrid(*[axis] * channels, indexing="ij"), -1).reshape(-1, channels)
    w = int(numpy.ceil(numpy.sqrt(len(colours))))
    colours = numpy.concatenate([colours, numpy.repeat(colours[-1:], w * w - len(colours), 0)])
    pixels = colours.reshape(w, w, channels).repeat(8, 0).repeat(8, 1)
    return pixels.astype(numpy.uint8 if white < 256 else numpy.uint16)


def by_lcms(picture, profile):
    """Relative colorimetric, black point compensated, every stage computed."""
    flags = ImageCms.FLAGS["BLACKPOINTCOMPENSATION"] | ImageCms.FLAGS["NOTPRECALC"]
    return numpy.asarray(ImageCms.profileToProfile(picture, io.BytesIO(profile), ImageCms.createProfile("sRGB"),
                                                   ImageCms.INTENT_RELATIVE_COLORIMETRIC, outputMode="RGB",
                                                   flags=flags)).astype(int)


def lab_of(rgb):
    """CIE L*a*b* of D65, for differences."""
    linear = rgb / 255
    linear = numpy.where(linear <= .04045, linear / 12.92, ((linear + .055) / 1.055) ** 2.4)
    xyz = linear @ numpy.array([[.4124, .2126, .0193], [.3576, .7152, .1192], [.1805, .0722, .9505]])
    f = xyz / numpy.array([.9505, 1, 1.089])
    f = numpy.where(f > .008856, numpy.cbrt(f), f * 7.787 + 16 / 116)
    return numpy.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)


def delta_e(a, b):
    return numpy.sqrt(((lab_of(a.astype(float)) - lab_of(b.astype(float))) ** 2).sum(-1))


# -- colours

def test_matrix_profile():
    colours = cube(9, 3)
    want = by_lcms(Image.fromarray(colours), wide())
    name = fixture.pyramid("cube-wide.tif", colours, one_level=True, tags={34675: (7, wide())})
    got = get(V3, name).pixels().astype(int)
    assert numpy.abs(got - want).max() <= 1, numpy.abs(got - want).max()


def test_16_bits_by_a_profile():
    """The same colours in 16 bits are the same colours."""
    colours = cube(9, 3)
    want = by_lcms(Image.fromarray(colours), wide())
    name = fixture.pyramid("cube-wide-16.tif", colours.astype(numpy.uint16) * 257, one_level=True,
                           tags={34675: (7, wide())})
    got = get(V3, name, form="webp", on=site(WEBP_QUALITY=-1)).pixels().astype(int)[:, :, :3]
    assert numpy.abs(got - want).max() <= 1, numpy.abs(got - want).max()


def test_inks_by_a_profile():
    if not os.path.exists(PRESS):
        raise unittest.SkipTest("no profile of a press")
    with open(PRESS, "rb") as file:
        press = file.read()
    inks = cube(6, 4)
    want = by_lcms(Image.fromarray(inks, "CMYK"), press)
    names = {"tif": fixture.pyramid("inks-press.tif", inks, one_level=True, photometric=fixture.SEPARATED,
                                    tags={34675: (7, press)})}

    def save(path):
        Image.fromarray(inks, "CMYK").save(path, "JPEG", quality=100, subsampling=0, icc_profile=press)
    names["jpg"] = fixture.once("inks-press.jpg", save)
    for kind, name in names.items():
        # Also where profiles are kept: a browser's picture has no inks.
        for on in (site(), site(RETAIN_SOURCE_ICC_PROFILE=1, MAX_ICC=-1)):
            reply = get(V3, name, on=on)
            assert reply.image().mode == "RGB" and "icc_profile" not in reply.image().info
            found = delta_e(reply.pixels().astype(int), want)[4::8, 4::8]
            assert found.mean() < 1 and found.max() < (3 if kind == "tif" else 6), (kind, found.mean(), found.max())
    paper, black = get(V3, names["tif"]).pixels()[0, 0], get(V3, names["tif"]).pixels()[-1, -1]
    assert min(paper) >= 254 and max(black) <= 12, (paper, black)


def gray_profile(gamma):
    curve = b"curv\0\0\0\0" + struct.pack(">LHxx", 1, round(gamma * 256))
    white = b"XYZ \0\0\0\0" + struct.pack(">3l", 63190, 65536, 54061)
    body = curve + white
    table = struct.pack(">L", 2) + b"kTRC" + struct.pack(">LL", 156, len(curve)) + b"wtpt" + struct.pack(
        ">LL", 156 + len(curve), len(white))
    head = struct.pack(">L4sL4s4s4s12s4s", 156 + len(body), b"none", 0x02100000, b"mntr", b"GRAY", b"XYZ ",
                       struct.pack(">6H", 2000, 1, 1, 0, 0, 0), b"acsp")
    head += bytes(68 - len(head)) + struct.pack(">3l", 63190, 65536, 54061)
    return head + bytes(128 - len(head)) + table + body


def test_gray_by_a_profile():
    """Gray stays one channel, and its middle moves as the gammas say."""
    light = numpy.array([0, 32, 64, 128, 200, 255]) / 255
    linear = light ** 1.8
    want = numpy.where(linear <= .0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - .055) * 255
    for white in (255, 65535):
        pixels = numpy.round(light * white).astype(numpy.uint8 if white < 256 else numpy.uint16)
        pixels = pixels.repeat(50)[None, :].repeat(60, 0)[:, :, None]
        name = fixture.pyramid("gray-18-%d.tif" % white, pixels, one_level=True,
                               tags={34675: (7, gray_profile(1.8))})
        for form in ("png", "jpg"):
            got = get(V3, name, form=form).image()
            got = numpy.asarray(got).astype(float)
            assert got.ndim == 2, got.shape
            scale = 1 if got.max() < 256 else 257
            for i, value in enumerate(want):
                close(got[30, 25 + 50 * i] / scale, value, 1 if form == "png" else 3)


# -- profiles that stay

def embedded_in(reply, form):
    """The profile, as an independent reader finds it."""
    if form == "pdf":
        number = re.search(rb"/ICCBased (\d+) 0 R", reply.body)
        if not number:
            return None
        head = re.search(rb"\n%s 0 obj\n<< /N \d /Length (\d+) >>\nstream\n" % number.group(1), reply.body)
        return reply.body[head.end():head.end() + int(head.group(1))]
    if form == "jp2":
        colour = reply.body.index(b"colr")
        length = struct.unpack(">L", reply.body[colour - 4:colour])[0]
        return reply.body[colour + 7:colour - 4 + length] if reply.body[colour + 4] == 2 else None
    if form == "avif":  # ISO/IEC 14496-12, 12.1.5
        at = reply.body.find(b"colrprof")
        return reply.body[at + 8:at - 4 + struct.unpack(">L", reply.body[at - 4:at])[0]] if at >= 0 else None
    return reply.image().info.get("icc_profile")


def some_of(*forms):
    """Those that this build has."""
    document = info(V3, fixture.ramp_pyramid(300, 200))
    return [form for form in forms if form in {"jpg", "png", *document["extraFormats"]}]


def test_profiles_stay_or_colours_are_converted():
    colours = fixture.flat(300, 200, (40, 200, 90))
    name = fixture.pyramid("kept.tif", colours, one_level=True, tags={34675: (7, wide())})
    want = by_lcms(Image.fromarray(colours[:1, :1]), wide())[0, 0]
    retain = site(RETAIN_SOURCE_ICC_PROFILE=1)
    for form in some_of("jpg", "png", "webp", "tif", "jp2", "pdf", "gif", "avif"):
        for quality in ("default", "gray"):
            reply = expect(get(V3, name, form=form, quality=quality, on=retain), 200, form)
            stays = quality == "default" and form != "gif"
            assert embedded_in(reply, form) == (wide() if stays else None), (form, quality)
            if form == "pdf":
                continue
            shown = numpy.asarray(reply.image().convert("RGB"))[100, 150].astype(int)
            meant = (40, 200, 90) if stays else want if quality == "default" else [
                numpy.dot(want, (.299, .587, .114))] * 3
            assert numpy.abs(shown - meant).max() <= (12 if quality == "gray" else 6), (form, quality, shown, meant)


def test_an_srgb_profile_is_no_conversion():
    """Same pixels to the bit, and stored tiles go out as they stand."""
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    picture = fixture.ramp(512, 512)
    plain = fixture.pyramid("plain-jpeg.tif", picture, compression=fixture.JPEG)
    tagged = fixture.pyramid("srgb-jpeg.tif", picture, compression=fixture.JPEG, tags={34675: (7, srgb)})
    for form in ("jpg", "png"):
        a, b = (get(V3, name, "0,0,256,256", "256,256", form=form) for name in (plain, tagged))
        assert a.body == b.body, form
    kept = get(V3, tagged, "0,0,256,256", "256,256", form="jpg", on=site(RETAIN_SOURCE_ICC_PROFILE=1)).image()
    assert kept.info["icc_profile"] == srgb


# -- text beside the pixels

def test_rights_and_xmp():
    """The file's with KEEP_METADATA, the configuration's where the file has none; as each format has it."""
    tags = {700: (1, PACKET), 33432: (2, RIGHTS.encode() + b"\0"), 274: (3, [6])}
    name = fixture.pyramid("told.tif", fixture.ramp(300, 200), tags=tags)
    mute = fixture.ramp_pyramid(300, 200)
    keep = site(KEEP_METADATA=1, COPYRIGHT="of the house")
    for form in some_of("jpg", "png", "webp", "tif", "jp2", "pdf", "gif", "avif"):
        body = expect(get(V3, name, form=form, on=keep), 200).body
        text = RIGHTS.encode("utf-16-be").hex().upper().encode() if form == "pdf" else RIGHTS.encode()
        assert body.count(text) == 1, form
        assert body.count(UPRIGHT) == (form != "gif"), form
        assert PACKET not in body, form
        body = expect(get(V3, mute, form=form, on=keep), 200).body
        assert b"of the house" in body or "of the house".encode("utf-16-be").hex().upper().encode() in body, form
        assert b"xmpmeta" not in body, form
        body = expect(get(V3, name, form=form), 200).body
        assert text not in body and b"xmpmeta" not in body, form


def test_no_output_is_turned_twice():
    for orientation in (3, 6, 8):
        tags = {700: (1, PACKET), 274: (3, [orientation])}
        name = fixture.pyramid("turned-%d.tif" % orientation, fixture.ramp(300, 200), tags=tags)
        for form in some_of("jpg", "png", "webp", "tif", "avif"):
            shown = get(V3, name, form=form, on=site(KEEP_METADATA=1, COPYRIGHT="x")).image()
            assert shown.getexif().get(274, 1) == 1, (orientation, form)


def test_stored_tiles_carry_the_same():
    """As they stand and coded anew; photometric RGB has no JFIF marker that could tell the density."""
    tags = {700: (1, PACKET), 34675: (7, wide()), 282: (5, [300, 1]), 283: (5, [300, 1]), 296: (3, [2])}
    on = site(KEEP_METADATA=1, COPYRIGHT=RIGHTS, RETAIN_SOURCE_ICC_PROFILE=1)
    anew = site(KEEP_METADATA=1, COPYRIGHT=RIGHTS, RETAIN_SOURCE_ICC_PROFILE=1, CODEC_PASSTHROUGH=0)
    for photometric in (fixture.YCBCR, fixture.RGB):
        name = fixture.pyramid("tiles-%d.tif" % photometric, fixture.ramp(600, 400), compression=fixture.JPEG,
                               photometric=photometric, tags=tags)
        for where in (on, anew):
            reply = get(V3, name, "0,0,512,400", "256,200", form="jpg", on=where)
            picture = reply.image()
            assert picture.info["icc_profile"] == wide()
            assert reply.body.count(UPRIGHT) == 1 and reply.body.count(RIGHTS.encode()) == 1
            density = picture.info.get("jfif_density") or picture.getexif().get(282)
            assert density in ((150, 150), 150), density


# -- density

def density_of(reply, form):
    if form == "pdf":
        box = [float(v) for v in re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", reply.body).groups()]
        w, h = (int(re.search(rb"/%s (\d+)" % key, reply.body).group(1)) for key in (b"Width", b"Height"))
        return w * 72 / box[0], h * 72 / box[1]
    picture = reply.image()
    if form == "webp":
        exif = picture.getexif()
        return float(exif[282]), float(exif[283])
    return picture.info["dpi"]


def test_density_of_every_format():
    """Scaled as the picture is; across and down exchanged with it."""
    for orientation, turn, want in ((1, "0", (150, 50)), (1, "90", (50, 150)), (6, "0", (50, 150)),
                                    (8, "90", (150, 50))):
        tags = {282: (5, [300, 1]), 283: (5, [100, 1]), 296: (3, [2]), 274: (3, [orientation])}
        name = fixture.pyramid("oblong-%d.tif" % orientation, fixture.ramp(400, 400), tags=tags)
        for form in ("jpg", "png", "webp", "tif", "jp2", "pdf"):
            found = density_of(get(V3, name, size="200,", rotation=turn, form=form), form)
            close(found[0], want[0], .1)
            close(found[1], want[1], .1)
    for form in ("jpg", "png", "tif"):
        shown = get(V3, fixture.ramp_pyramid(300, 200), form=form).image()
        assert "dpi" not in shown.info or form == "tif" and shown.tag_v2.get(296) == 1, (form, shown.info)


def test_physical_dimensions():
    for orientation in (1, 6):
        for version in (V2, V3):
            tags = {282: (5, [11811, 100]), 283: (5, [11811, 100]), 296: (3, [3]), 274: (3, [orientation])}
            name = fixture.pyramid("measured-%d.tif" % orientation, fixture.ramp(400, 300), tags=tags)
            service = info(version, name)["service"]
            service = service[0] if isinstance(service, list) else service
            assert service["profile"] == "http://iiif.io/api/annex/services/physdim"
            assert service["physicalUnits"] == "in"
            close(service["physicalScale"], 1 / 300, 1e-7)
    tags = {282: (5, [300, 1]), 283: (5, [100, 1]), 296: (3, [2])}
    for version in (V2, V3):
        assert "service" not in info(version, fixture.pyramid("oblong.tif", fixture.ramp(400, 300), tags=tags))


def test_rights_of_the_file_come_first():
    """In info.json: a URI as rights or license, other text where version 2 has a place for it."""
    uri = "http://rightsstatements.org/vocab/InC/1.0/"
    own = fixture.pyramid("rights-uri.tif", fixture.ramp(300, 200), tags={33432: (2, uri.encode() + b"\0")})
    text = fixture.pyramid("rights-text.tif", fixture.ramp(300, 200), tags={33432: (2, RIGHTS.encode() + b"\0")})
    mute = fixture.ramp_pyramid(300, 200)
    house = "http://creativecommons.org/licenses/by/4.0/"
    on = site(COPYRIGHT=house)
    for name, rights, attribution in ((own, uri, None), (text, None, RIGHTS), (mute, house, None)):
        assert info(V3, name, on=on).get("rights") == rights, name
        assert info(V2, name, on=on).get("license") == rights, name
        assert info(V2, name, on=on).get("attribution") == attribution, name
    assert info(V3, own)["rights"] == uri and "rights" not in info(V3, mute)
