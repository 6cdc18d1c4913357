"""What files say in words, as objects of IIP: tags of TIFF 6.0 (section 8) and Exif, text chunks of PNG (third
edition, 11.3.3), comments of JPEG and GIF."""
import json
import os
import struct
import xml.etree.ElementTree as xml
import zlib

import fixture
import kinds
import server
from PIL import Image

ASCII = 2
TAGS = {"rights": 33432, "title": 269, "description": 270, "creator": 315, "date": 306, "software": 305, "make": 271,
        "model": 272}
WORDS = {name: "%s: Zürich 東京 \"1998\"" % name for name in TAGS}
WINDOWS = bytes(b for b in range(0x80, 0x100) if b not in (0x81, 0x8d, 0x8f, 0x90, 0x9d))
NEVER = ("keywords", "last-author", "rev-number", "edit-time", "last-printed", "last-save-dtm", "scale")

site = server.Sites(fixture.root())
tearDownModule = site.stop


def ask(name, objects, on=None):
    reply = (on or site()).get("/fcgi-bin/iipsrv.fcgi?FIF=%s&%s" % (name, "&".join("obj=" + o for o in objects.split())))
    assert reply.status == 200, (name, objects, reply.status, reply.body)
    return reply


def text(name, what, on=None):
    reply = ask(name, what, on)
    assert reply.header("Content-Type") == "text/plain; charset=utf-8"
    return reply.body


def metadata(name):
    reply = ask(name, "metadata")
    assert reply.type() == "application/json"
    return json.loads(reply.body.decode())


def tiff(name, texts, **how):
    """texts: by names of objects, bytes."""
    return fixture.pyramid(name, fixture.ramp(300, 200),
                           tags={TAGS[k]: (ASCII, v + b"\0") for k, v in texts.items()}, **how)


def picture():
    return Image.fromarray(fixture.ramp(60, 40))


def exif(texts):
    found = Image.Exif()
    for name, value in texts.items():
        found[TAGS[name]] = value if isinstance(value, bytes) else value.encode()
    return found.tobytes()


def saved(name, **how):
    picture().save(os.path.join(fixture.root(), name), **how)
    return name


def jp2(name, block):
    """With a box of Exif behind the codestream."""
    saved(name)
    with open(os.path.join(fixture.root(), name), "ab") as f:
        f.write(struct.pack(">L", 24 + len(block)) + b"uuidJpgTiffExif->JP2" + block)
    return name


def png(name, *chunks):
    """Behind the header."""
    saved(name)
    path = os.path.join(fixture.root(), name)
    with open(path, "rb") as f:
        data = f.read()
    with open(path, "wb") as f:
        f.write(data[:33] + b"".join(kinds.chunk(*c) for c in chunks) + data[33:])
    return name


def check_all(name, want):
    assert metadata(name) == want, (name, metadata(name))
    for what in TAGS:
        line = want[what].encode() + b"\r\n" if what in want else b""
        assert text(name, what) == line == text(name, what.upper()), (name, what)
    for what in NEVER:
        assert text(name, what) == b""


def test_tiff():
    check_all(tiff("texts.tif", {k: v.encode() for k, v in WORDS.items()}), WORDS)
    check_all(tiff("texts-big.tif", {k: v.encode() for k, v in WORDS.items()}, big=True, order=">"), WORDS)
    check_all(tiff("texts-none.tif", {}), {})


def test_what_is_not_utf8():
    """Is Windows-1252, of which Latin-1 is a part."""
    name = tiff("texts-1252.tif", {"rights": "© Müller".encode("latin-1"), "creator": b" \tBob ",
                                   "title": "“Größe – 5 €”".encode("cp1252"), "description": WINDOWS})
    check_all(name, {"rights": "© Müller", "creator": "Bob", "title": "“Größe – 5 €”", "description": WINDOWS.decode("cp1252")})


def test_names_of_the_specification():
    """IIP 1.0.5, as Debian's iipimage-server sends them: those that exist, in this order."""
    name = tiff("texts-summary.tif", {"software": b"s", "rights": b"\xa9", "title": b"t", "creator": b"cc", "make": b"m"})
    assert ask(name, "Summary-info").body == "copyright/2:©\r\nauthor/2:cc\r\napp-name/1:s\r\n".encode()
    assert ask(name, "Author copyright subject").body == "author/2:cc\r\ncopyright/2:©\r\n".encode()
    assert ask(tiff("texts-none.tif", {}), "Summary-info create-dtm").body == b""


def test_several_in_one_request():
    name = tiff("texts-several.tif", {"title": b"t", "model": b"m"})
    assert ask(name, "title Max-size model scale").body == b"t\r\nMax-size:300 200\r\nm\r\n"


def test_exif_of_other_formats():
    check_all(saved("texts.jpg", exif=exif(WORDS)), WORDS)
    check_all(saved("texts.webp", exif=exif(WORDS)), WORDS)
    check_all(saved("texts.png", exif=exif(WORDS)), WORDS)


def test_exif_of_avif_and_heif():
    kinds.skip_unless_read("HEIF")
    for name, coder in (("texts.avif", ("-A",)), ("texts.heic", ())):
        check_all(kinds.by_libheif(name, fixture.ramp(64, 48), *coder, exif=exif(WORDS)), WORDS)


def test_exif_of_jp2():
    """In a box of its own (JpgTiffExif->JP2), with the name of JPEG's segment before it and without; behind 100 kB of
    another text; cut short."""
    block = exif(WORDS)
    assert block[:6] == b"Exif\0\0"
    check_all(jp2("texts.jp2", block), WORDS)
    check_all(jp2("texts-bare.jp2", block[6:]), WORDS)
    long = exif(dict(WORDS, description="d" * 100000))
    check_all(jp2("texts-long.jp2", long), {k: v for k, v in WORDS.items() if k != "description"})
    for n in (0, 5, 6, 14, 20, len(block) - 1):
        assert set(metadata(jp2("texts-cut.jp2", block[:n]))) <= set(WORDS)


def test_comments():
    """Of JPEG and of GIF, which stores it in parts of 255 bytes."""
    rows = [("texts-comment.jpg", "JPEG", "Müller"), ("texts-comment.gif", "GIF", "Müller"),
            ("texts-long.gif", "GIF", "Müller " * 99 + "ß")]
    for name, _, words in kinds.those_read(rows):
        saved(name, comment=words.encode("latin-1"))
        check_all(name, {"comment": words})
        assert text(name, "comment") == words.encode() + b"\r\n"
    if kinds.is_read("GIF"):
        assert text(saved("texts-none.gif"), "comment") == b""


def test_chunks_of_png():
    """In Latin-1, deflated, and in UTF-8 with language and keyword translated; the first of each counts, and counts
    before what Exif says."""
    name = png("texts-chunks.png", (b"tEXt", b"Author\0M\xfcller"), (b"tEXt", b"Author\0other"),
               (b"zTXt", b"Description\0\0" + zlib.compress(b"x" * 5000)),
               (b"iTXt", "Title\0\0\0de\0Titel\0東京".encode()),
               (b"iTXt", "Comment\0\1\0\0\0".encode() + zlib.compress("é".encode())),
               (b"tEXt", b"Creation Time\0001998"), (b"tEXt", b"Software\0s"), (b"tEXt", b"Copyright\0me"),
               (b"tEXt", b"Titles\0no"), (b"tEXt", b"titl\0no"),
               (b"eXIf", exif({"creator": "nobody", "model": "m"})[6:]))
    check_all(name, {"creator": "Müller", "description": "x" * 5000, "title": "東京", "comment": "é", "date": "1998",
                     "software": "s", "rights": "me", "model": "m"})


def test_long_texts():
    """Slide scanners write 60 KiB; more than 64 KiB are left out, of deflated ones as well."""
    long = b"d" * 65536
    assert text(tiff("texts-long.tif", {"description": long}), "description") == long + b"\r\n"
    assert text(tiff("texts-longer.tif", {"description": long + b"d", "title": b"t"}), "description title") == b"t\r\n"
    bomb = (b"zTXt", b"Comment\0\0" + zlib.compress(b"c" * (64 << 20)))
    assert text(png("texts-bomb.png", bomb), "comment") == b""
    assert text(png("texts-long.png", (b"zTXt", b"Comment\0\0" + zlib.compress(long))), "comment") == long + b"\r\n"


def test_hostile_texts():
    """Nothing of them gets into headers, and the document stays valid."""
    raw = bytes(range(1, 128)) + bytes(range(160, 256)) + b"\r\nSet-Cookie: a=b\r\n\r\n<script>"
    name = tiff("texts-raw.tif", {"title": raw, "description": b"a\0b"})
    assert metadata(name) == {"title": raw.decode("latin-1"), "description": "a"}
    for what in ("title", "subject", "metadata", "Summary-info"):
        assert ask(name, what).header("Set-Cookie") is None
    for number, values in ((270, (4, [2 ** 31])), (270, (ASCII, b"")), (270, (ASCII, b"no end")), (269, (7, b"\xff" * 9)),
                           (305, (5, [1, 0])), (33432, (ASCII, b"\0\0\0\0\0"))):
        odd = fixture.pyramid("texts-odd-%d-%d.tif" % (number, values[0]), fixture.ramp(300, 200), tags={number: values})
        assert isinstance(metadata(odd), dict)
    for data in (b"Comment", b"Comment\0", b"\0", b"", b"Comment\0\0\0"):
        for kind in (b"tEXt", b"zTXt", b"iTXt"):
            assert metadata(png("texts-odd.png", (kind, data))) in ({}, {"comment": ""})


def test_rights_of_the_configuration():
    """Stand in for those that a file does not have."""
    with server.Site("direct", fixture.root(), COPYRIGHT="the museum") as s:
        assert text(tiff("texts-none.tif", {}), "rights", s) == b"the museum\r\n"
        assert text(tiff("texts.tif", {}), "rights", s) == WORDS["rights"].encode() + b"\r\n"
        assert text(tiff("texts-none.tif", {}), "title", s) == b""


def stack(name, *names):
    """Of pages in two levels of gray; names: bytes."""
    with fixture.Tiff(os.path.join(fixture.root(), name)) as t:
        for i, page in enumerate(names):
            pixels = fixture.gray(300, 200) // (i + 1)
            t.page(pixels, tags=page and {285: (ASCII, page + b"\0")})
            t.page(fixture.halved(pixels), subfile=1)
    return name


def names_of(name):
    """As the objects, the profile and the spectrum tell them."""
    found = [view["name"] for view in json.loads(ask(name, "stack").body.decode())]
    root = "/fcgi-bin/iipsrv.fcgi?FIF=%s&" % name
    spectrum = xml.fromstring(site().get(root + "SPECTRA=1,0,9,9").body)
    values = [fixture.gray(300, 200)[9, 9, 0] // (i + 1) / 255 for i in range(len(found))]
    assert [p.find("wavelength").text for p in spectrum] == found == list(site().get(root + "PFL=1:9,9").json()["profile"])
    assert [p.find("reflectance").text for p in spectrum] == ["%f" % v for v in values]
    return found


def test_names_of_pages():
    """PageName, when each page has one of its own."""
    assert names_of(stack("texts-pages.tif", b"red <650 nm>", "\"infra\" & Röntgen".encode(), b"\x80 ")) == [
        "red <650 nm>", "\"infra\" & Röntgen", "€"]
    for number, names in enumerate(((None, None), (b"a", None), (None, b"a"), (b"a", b"a"), (b"a", b"b\1"), (b"a", b" "),
                                    (b"a", b"x" * 257), (b"\xef\xbf\xbe", b"a"))):
        assert names_of(stack("texts-pages-%d.tif" % number, *names)) == ["0", "1"], names
    assert metadata("texts-pages.tif") == {} and json.loads(ask("texts-none.tif", "stack").body) == []


def test_66_a_replaced_file_tells_its_own():
    path = os.path.join(fixture.root(), "texts-replaced.tif")
    before = ask(tiff("texts-replaced.tif", {"description": b"before"}), "description")
    os.remove(path)
    tiff("texts-replaced.tif", {"description": b"after!"})
    after = site().get("/fcgi-bin/iipsrv.fcgi?FIF=texts-replaced.tif&obj=description",
                       headers={"If-None-Match": before.header("ETag")})
    assert before.body == b"before\r\n" and after.status == 200 and after.body == b"after!\r\n"
    os.remove(path)
