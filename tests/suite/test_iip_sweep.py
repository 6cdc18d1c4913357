"""Every command of IIP with every malformed argument, in every position: an error's exact text, or a whole answer.

What is well-formed is written down here once more, from the grammar of IIP and the meaning of each command.
"""
import functools
import re

from test_iip import NETFPX, ask, noisy, site

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.I)
FLOAT_MAX = 3.4028234663852886e38


def real(text):
    """The number, None of what is none or none of single precision."""
    if not NUMBER.fullmatch(text) or abs(float(text)) > FLOAT_MAX:
        return None
    return float(text)


def whole(text):
    """As real; fractions are cut off, 32 bits are the most."""
    v = real(text)
    return int(v) if v is not None and -2 ** 31 - 1 < v < 2 ** 31 else None


def numbers(kind, text, *counts, separator=","):
    """All of them, None if one is wrong or there is another number of them."""
    found = [kind(part) for part in text.split(separator)]
    return None if None in found or len(found) not in counts else found


def at_least(kind, least, *words):
    return lambda text: text.lower() in words or (kind(text) is not None and kind(text) >= least)


def views(text):
    v = numbers(whole, text, 1, 2)
    return v is not None and min(v) >= 0


def region(text):
    v = numbers(real, text, 4)
    return v is not None and v[2] > 0 and v[3] > 0 and v[0] < 1 and v[1] < 1 and v[0] + v[2] > 0 and v[1] + v[3] > 0


def quality(text):
    codec, colon, number = text.rpartition(":")
    return whole(number) is not None and (not colon or codec in ("none", "lzw", "deflate", "jpeg", "webp", "zstd"))


def turn(text):
    v = real(text[1:] if text.startswith("!") else text)
    return v is not None and v <= 360 and v % 90 == 0


def sample_range(text):
    channel, colon, ends = text.partition(":")
    v = numbers(real, ends, 2)
    return colon == ":" and v is not None and v[0] != v[1] and (channel == "-" or at_least(whole, 0)(channel))


def matrix(text):
    if text.startswith("[") != text.endswith("]") or text == "[":
        return False
    inner = text[1:-1] if text.startswith("[") else text
    rows = [[real(v) for v in row.split(",")] for row in inner.split(";")]
    return len(rows) in (1, 3, 4) and all(None not in row and not any(row[4:]) for row in rows)


def kernel(text):
    if text.lower() in ("sobel", "prewitt", "scharr", "laplace", "gaussian", "sharpen", "emboss"):
        return True
    return text.startswith("[") and text.endswith("]") and numbers(real, text[1:-1], 1, 9, 25) is not None


def tiles(text):
    resolution, _, span = text.partition(",")
    ends = span.split("-", 1)
    return whole(resolution) is not None and None not in [whole(n) for n in ends]


def profile(text):
    resolution, colon, line = text.partition(":")
    return bool(colon) and whole(resolution) is not None and None not in [numbers(whole, p, 2) for p in line.split("-", 1)]


def old_tile(text):
    v = numbers(whole, text, 4)
    return v is not None and v[0] >= 0 and v[3] >= 0


def tile(text):
    return numbers(whole, text, 2) is not None


def anything(unused):
    return True


# Whether an argument of a modifier, of an output command is well-formed.
MODIFIERS = {
    "SDS": views, "WID": at_least(whole, 0), "HEI": at_least(whole, 0), "RGN": region, "QLT": quality, "ROT": turn,
    "LYR": at_least(whole, 1), "CNT": at_least(real, 0, "eq", "equalization", "st", "stretch"),
    "GAM": at_least(real, 0, "log", "logarithm"), "MINMAX": sample_range, "CTW": matrix, "CNV": kernel,
    "COL": lambda text: text.lower() in ("grey", "gray", "binary"), "CMP": anything, "INV": anything, "ICC": anything,
    "SHD": lambda text: numbers(real, text, 2) is not None,
}
OUTPUT = {
    "CVT": lambda text: text.lower() in ("jpeg", "jpg", "png", "webp", "avif", "tiff", "tif"), "JTL": tile, "PTL": tile,
    "WTL": tile, "TTL": tile, "ATL": tile, "JTLS": old_tile, "TIL": tiles, "PFL": profile,
    "SPECTRA": lambda text: numbers(whole, text, 4) is not None,
}
# Their arguments are addresses, their errors those of their protocols.
ADDRESSES = ("FIF", "DeepZoom", "Zoomify", "IIIF", "XYZ")
BARE = ("INV", "ICC")
NEEDS_IMAGE = tuple(OUTPUT) + ("MINMAX",)

ARGUMENTS = (
    "0", "-0", "+1", "-1", "1", "1.9", ".5", "1.", ".", "-", "--1", "1-", "1e2", "1e", "99999999999999999999", "2147483647",
    "2147483648", "-2147483649", "1e400", "-1e400", "1e-400", "nan", "NaN", "-nan", "inf", "infinity", "0x10", "1_0", "1 0", " 1", "1+1",
    "x", "eq", "st", "log", "hot", "sobel", "grey", "90", "-90", "45", "360", "450", "!", "!90", "!!90", "!x",
    "0,0", "-1,-1", "0,-1", ",", "0,", ",0", "0,,0", "nan,nan", "NaN,0", "1,2,3", "0,0,0,0", "0,0,1,1", "0,0,-1,1", "-1,-1,1,1",
    "nan,0,1,1", "0,0,1e400,1", "2147483647,2147483647", "4294967296,0", "0,4294967296", "1,2,3,4,5,6,7,8,9",
    "[", "]", "[]", "[,]", "[;]", "[1]", "[nan]", "[1,2;3]", "[1;2;3]", "[1;2;3;4;5]", "[0,0,0,0,1]", "[1e38,1e38,1e38]",
    "[1,2,3,4,5,6,7,8,9]", "[1e400]", "[[1]]", "[1", "1]",
    "0:0,0", "0:0,1", "0:1,0", "0:nan,1", "0:0,0-1,1", "0:0,0-1", "9:0,1", "-:0,1", "-1:0,1", ":0,1", "0:", ":", ";",
    "0,0-1", "0,0-", "0,-", "0,0-99999", "none:1", "gzip:1", "jpeg", "JPEG", "PNG", "gif", "bmp",
    "%00", "%", "%ff", "%zz", "a%0d%0ab", "%5B1%5D", "\xe9", "a" * 300,
)


def token_of(command, argument):
    return command if argument is None else "%s=%s" % (command, argument)


def decoded(command, argument):
    return argument.replace("%5B", "[").replace("%5D", "]") if command in ("CTW", "CNV") else argument


def is_right(command, argument):
    return dict(MODIFIERS, **OUTPUT)[command](decoded(command, argument))


def cases(commands):
    return [(command, argument) for command in commands for argument in ARGUMENTS]


def error_text(code, name):
    text = code + " " + name
    return b"Error/%d:%s\r\n" % (len(text), text.encode())


def check_error(query, reply, code, name):
    """To the letter; nothing of it may be kept."""
    assert reply.status == 400 and reply.body == error_text(code, name), (query, reply.status, reply.body[:80])
    assert reply.type() == NETFPX and reply.header("Cache-Control") == "no-store", query
    assert reply.header("ETag") is None and reply.header("Last-Modified") is None, query


def check_whole(query, reply, statuses):
    """A picture to its last byte and nothing behind it, or an error that is none of a picture."""
    assert reply.status in statuses, (query, reply.status, reply.body[:80])
    kind = reply.type()
    assert int(reply.header("Content-Length")) == len(reply.body), query
    if reply.status != 200:
        assert not kind.startswith("image/") and reply.header("Cache-Control") == "no-store", query
        assert reply.header("ETag") is None and len(reply.body) < 300, query
    elif kind == "image/jpeg":
        assert reply.body.startswith(b"\xff\xd8") and reply.body.endswith(b"\xff\xd9"), query
    elif kind == "image/png":
        assert reply.body.startswith(b"\x89PNG") and reply.body.endswith(b"IEND\xaeB`\x82"), query
    elif kind == "image/webp":
        assert int.from_bytes(reply.body[4:8], "little") + 8 == len(reply.body), query


def survived(function):
    """No worker has gone during the test."""
    @functools.wraps(function)
    def test():
        pids = site().worker_pids()
        function()
        assert site().worker_pids() == pids
    return test


@survived
def test_without_an_image():
    """1 3 of what needs one; of modifiers that something is missing, which is the request itself."""
    for command, argument in cases(list(MODIFIERS) + list(OUTPUT)):
        query = token_of(command, argument)
        if command in NEEDS_IMAGE:
            check_error(query, ask(query), "1 3", command)
        elif is_right(command, argument):
            assert ask(query).body.startswith(b"Error/%d:2 1 %s" % (min(len(query.encode()), 64) + 4, command.encode())), query
        else:
            check_error(query, ask(query), "2 1", command)


@survived
def test_modifiers_in_front_of_a_tile():
    for command, argument in cases(MODIFIERS):
        query = "FIF=%s&%s&PTL=0,0" % (noisy(), token_of(command, argument))
        if is_right(command, argument):
            check_whole(query, ask(query), {200, 404} if command == "SDS" else {200})
        else:
            check_error(query, ask(query), "2 1", command)


@survived
def test_modifiers_of_a_view():
    for command, argument in cases(MODIFIERS):
        query = "FIF=%s&WID=30&%s&CVT=jpeg" % (noisy(), token_of(command, argument))
        four = command == "CTW" and len(argument.split(";")) == 4  # no alpha in JPEG
        if is_right(command, argument) and not four:
            check_whole(query, ask(query), {200, 404} if command == "SDS" else {200})
        else:
            check_error(query, ask(query), "2 1", command)


@survived
def test_repeated():
    """The last one counts, but every one has to be right."""
    for command, argument in cases(MODIFIERS):
        token = token_of(command, argument)
        for query in ("FIF=%s&%s&%s&PTL=0,0" % (noisy(), token, token), "FIF=%s&%s=0&%s&PTL=0,0" % (noisy(), command, token)):
            first = is_right(command, "0") or query.count(token) == 2
            if is_right(command, argument) and first:
                check_whole(query, ask(query), {200, 404} if command == "SDS" else {200})
            else:
                check_error(query, ask(query), "2 1", command)


@survived
def test_output_commands():
    for command, argument in cases(OUTPUT):
        query = "FIF=%s&WID=20&%s" % (noisy(), token_of(command, argument))
        if not is_right(command, argument):
            check_error(query, ask(query), "2 1", command)
        elif command in ("PFL", "SPECTRA") and ask(query).status == 400:
            check_error(query, ask(query), "2 1", command)  # outside the image
        elif command in ("CVT", "ATL"):
            check_whole(query, ask(query), {200, 400, 404})  # AVIF is there or not
        else:
            check_whole(query, ask(query), {200, 404})


@survived
def test_out_of_order():
    """Modifiers may stand in front of FIF, what needs the image may not."""
    for command, argument in cases(list(MODIFIERS) + list(OUTPUT)):
        query = "%s&FIF=%s&WID=20&CVT=png" % (token_of(command, argument), noisy())
        if command in NEEDS_IMAGE:
            check_error(query, ask(query), "1 3", command)
        elif is_right(command, argument):
            check_whole(query, ask(query), {200, 404} if command == "SDS" else {200})
        else:
            check_error(query, ask(query), "2 1", command)


@survived
def test_without_and_with_an_empty_argument():
    """Without '=' it is malformed; "NAME=" is as if it were not there."""
    plain = ask("FIF=%s&JTL=0,0" % noisy()).body
    for command in list(MODIFIERS) + list(OUTPUT):
        query = "FIF=%s&%s&JTL=0,0" % (noisy(), command)
        if command in BARE:
            check_whole(query, ask(query), {200})
        else:
            check_error(query, ask(query), "2 1", command)
        for query in ("FIF=%s&%s=&JTL=0,0", "&&FIF=%s&&%s=&&JTL=0,0&"):
            assert ask(query % (noisy(), command)).body == plain, (query, command)
    for command in ("FIF", "OBJ") + ADDRESSES:
        check_error(command, ask("FIF=%s&%s&JTL=0,0" % (noisy(), command)), "2 1", command)
        assert ask("FIF=%s&%s=&JTL=0,0" % (noisy(), command)).body == plain, command
    check_error("", ask("FIF="), "2 1", "FIF=")


@survived
def test_behind_the_output_command_nothing_counts():
    plain = ask("FIF=%s&JTL=0,0" % noisy()).body
    for command in list(MODIFIERS) + list(OUTPUT) + list(ADDRESSES) + ["OBJ", "FOO"]:
        for argument in (None, "", "x", "-1", "1", "[]", "nan", "%00", "99999999999999999999"):
            query = "FIF=%s&JTL=0,0&%s" % (noisy(), token_of(command, argument))
            assert ask(query).body == plain, query


@survived
def test_addresses():
    for command, argument in cases(ADDRESSES):
        for form in ("%s", "FIF=%s&" % noisy() + "%s", "FIF=%s&" % noisy() + "%s&JTL=0,0", "%s&%s"):
            query = form % ((token_of(command, argument),) * form.count("%s"))
            check_whole(query, ask(query), {400, 404} if command == "FIF" or form == "%s" else {200, 400, 404})


@survived
def test_objects():
    """An unknown one is an error alone, and a line beside others."""
    for argument in ARGUMENTS:
        query = "FIF=%s&OBJ=%s" % (noisy(), argument)
        name = "".join(c if " " < c < "\x7f" else "_" for c in argument.encode().decode("latin-1")[:64])
        check_error(query, ask(query), "3 2", name)
        reply = ask(query + "&OBJ=Tile-size")
        assert reply.status == 200 and reply.body == error_text("3 2", name) + b"Tile-size:256 256\r\n", query
        check_error(query, ask("OBJ=Max-size&OBJ=" + argument), "1 3", "Max-size")


@survived
def test_posted():
    """As a body the same commands have the same answer."""
    for command, argument in cases(list(MODIFIERS) + list(OUTPUT)):
        query = "FIF=%s&%s&WID=20&CVT=png" % (noisy(), token_of(command, argument))
        got, posted = ask(query), site().get("/", method="POST", body=query.encode())
        assert (got.status, got.type(), got.body) == (posted.status, posted.type(), posted.body), query


@survived
def test_unknown_commands():
    """Alone an error of their own; they harm no other."""
    plain = ask("FIF=%s&JTL=0,0" % noisy()).body
    for name in ("FOO", "t", "JTLX", "CV", "FIF2", "_", "0", "%46IF", "FIF%00", "a" * 100, "\xe9"):
        shown = "".join(c if " " < c < "\x7f" else "_" for c in name.encode().decode("latin-1")[:64])
        for token in (name, name + "=1"):
            check_error(token, ask(token), "2 2", shown)
            check_error(token, ask("FIF=%s&%s" % (noisy(), token)), "2 2", shown)
            assert ask("%s&FIF=%s&%s&JTL=0,0&%s" % (token, noisy(), token, token)).body == plain, token
