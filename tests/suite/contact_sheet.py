#!/usr/bin/python3
"""Draws sheets of all pictures of the corpus: what tegula shows above what the reference does.

usage: contact_sheet.py FOLDER [WORD]...
  FOLDER  for sheet-01.png and so on
  WORD    only files with one of the words in their paths; without, all but the hostile ones

TEGULA names the binary, TEGULA_CORPUS the corpus. Each cell has the picture as tegula shows it (what is
transparent over grey; or the status and message), the reference below, in sRGB where there is one of that,
and the colour difference. Cells of files with a row in tests/corpus-exceptions.tsv are marked blue, those
that differ or are refused without a row red.
"""
import os
import sys
import urllib.parse

from PIL import Image, ImageDraw

import compare
import corpus
import server

PICTURE_PX = 130
TEXT_PX = 12
CELL = (PICTURE_PX + 8, 2 * PICTURE_PX + 4 * TEXT_PX + 8)
ACROSS, DOWN = 8, 3
LINE = 22  # characters
# At 200 px stored levels and low bands of wavelets are sharper or softer than the reference.
ALIKE = compare.Distance(8.0, 36.0)
MARKS = {"good": (70, 70, 70), "known": (30, 60, 200), "wrong": (210, 0, 0)}


def shown(site, entry):
    """(picture or None, message)."""
    reply = site.get("/iiif/3/%s/full/!200,200/0/default.png" % urllib.parse.quote(entry.path, safe=""))
    if reply.status != 200:
        return None, "%d %s" % (reply.status, reply.body.decode("utf-8", "replace").strip())
    return compare.flattened(reply.image()), ""


def fitted(picture):
    picture = picture.copy()
    picture.thumbnail((PICTURE_PX, PICTURE_PX), Image.LANCZOS)
    if max(picture.size) < 40:  # dots
        scale = 40 // max(picture.size)
        picture = picture.resize([side * scale for side in picture.size], Image.NEAREST)
    return picture


def lines_of(text, n):
    return [text[i:i + LINE] for i in range(0, len(text), LINE)][:n]


def reference_of(entry):
    """In sRGB; by a decoder that is believed where the folder has no such picture."""
    truth = None if entry.reference_srgb or not entry.reference else corpus.truth_of(entry)
    if truth and truth.profile:
        return compare.resized(truth.srgb, entry.reference.size)
    return entry.reference_srgb or entry.reference


def cell(entry, picture, message, known):
    """The drawn cell."""
    image = Image.new("RGB", CELL, (255, 255, 255))
    draw = ImageDraw.Draw(image)
    reference = reference_of(entry)
    mark, note = "good", message
    if picture and reference:
        apart = compare.delta_e(compare.resized(picture, reference.size), reference)
        note = "dE %.1f / %.1f" % apart
        mark = "good" if apart.mean <= ALIKE.mean and apart.p99 <= ALIKE.p99 else "wrong"
    elif not picture:
        mark = "wrong"
    if mark == "wrong" and known:
        mark = "known"
    name = entry.path.split("/", 1)[1]
    for i, line in enumerate(lines_of(name, 2) + lines_of(note, 2)):
        draw.text((2, i * TEXT_PX), line, fill=MARKS[mark])
    for i, each in enumerate((picture, reference)):
        top = 4 * TEXT_PX + i * (PICTURE_PX + 4)
        if each:
            image.paste(fitted(each), (2, top))
        else:
            draw.rectangle((2, top, 2 + 40, top + 40), outline=(200, 200, 200))
    draw.rectangle((0, 0, CELL[0] - 1, CELL[1] - 1), outline=MARKS[mark] if mark != "good" else (225, 225, 225))
    return image


def sheets(cells):
    for start in range(0, len(cells), ACROSS * DOWN):
        part = cells[start:start + ACROSS * DOWN]
        sheet = Image.new("RGB", (ACROSS * CELL[0], -(-len(part) // ACROSS) * CELL[1]), (255, 255, 255))
        for i, each in enumerate(part):
            sheet.paste(each, (i % ACROSS * CELL[0], i // ACROSS * CELL[1]))
        yield sheet


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        sys.stderr.write(__doc__)
        return 2
    folder, words = arguments[0], arguments[1:]
    os.makedirs(folder, exist_ok=True)
    table = corpus.exceptions()
    entries = [e for e in corpus.entries() if any(word in e.path for word in words) or not (words or e.hostile)]
    with server.Site("direct", corpus.FOLDER) as site:
        cells = [cell(e, *shown(site, e), e.path in table) for e in entries]
    for n, sheet in enumerate(sheets(cells), 1):
        name = os.path.join(folder, "sheet-%02d.png" % n)
        sheet.save(name)
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
