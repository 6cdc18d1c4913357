"""What a viewer should show, computed from the picture, and how far a screenshot is from it."""
import numpy
from PIL import Image

BACKGROUND = (255, 0, 255)
SEGMENT_PX = 64


def expected(picture, x, y, scale, canvas, clear):
    """(pixels, inside): the part `clear` of a canvas in whose middle pixel x, y of the picture stands.
    inside: where the picture covers it wholly; the rest is not set."""
    left, top, w, h = clear
    # The clear part in pixels of the picture.
    x0 = x + (left - canvas[0] - canvas[2] / 2) / scale
    y0 = y + (top - canvas[1] - canvas[3] / 2) / scale
    columns, rows = _covered(x0, scale, w, picture.shape[1]), _covered(y0, scale, h, picture.shape[0])
    pixels = numpy.zeros((h, w, 3), numpy.uint8)
    inside = numpy.zeros((h, w), bool)
    box = (x0 + columns[0] / scale, y0 + rows[0] / scale, x0 + columns[1] / scale, y0 + rows[1] / scale)
    size = (columns[1] - columns[0], rows[1] - rows[0])
    # Reduced levels are made of means.
    filter_ = Image.BOX if scale < 1 else Image.BILINEAR
    pixels[rows[0]:rows[1], columns[0]:columns[1]] = numpy.asarray(
        Image.fromarray(picture).resize(size, filter_, box))
    inside[rows[0]:rows[1], columns[0]:columns[1]] = True
    return pixels, inside


def _covered(start, scale, count, length):
    """First and end of the screen's pixels that lie within 0..length of the picture."""
    first = max(0, int(numpy.ceil(-start * scale - 1e-6)))
    end = min(count, int(numpy.floor((length - start) * scale + 1e-6)))
    assert first < end, "the picture is not in view"
    return first, end


def inner(inside, margin):
    """Without `margin` pixels along the picture's own edge, which viewers blend with the background; with
    so many more where `margin` is negative."""
    rows, columns = numpy.where(inside.any(1))[0], numpy.where(inside.any(0))[0]
    return tuple(slice(max(0, which[0] + (margin if which[0] > 0 else 0)),
                       which[-1] + 1 - (margin if which[-1] + 1 < length else 0))
                 for which, length in zip((rows, columns), inside.shape))


def psnr(a, b):
    error = numpy.mean((a.astype(float) - b) ** 2)
    return 99.0 if error == 0 else 10 * numpy.log10(255 ** 2 / error)


def seams(shot, wanted):
    """Pieces of lines, 64 pixels long and one wide, that are off much further than the rest, as
    (where, error): a gap between tiles, or a tile that is drawn twice at its edge, or a stranger."""
    error = numpy.abs(shot.astype(int) - wanted).mean(2)
    found = []
    for name, lines in (("row", error), ("column", error.T)):
        pieces = _pieces(lines)
        for line, piece in numpy.argwhere(pieces > 3 * numpy.median(pieces) + 5):
            found.append(("%s %d from %d" % (name, line, piece * SEGMENT_PX), round(float(pieces[line, piece]), 1)))
    return found


def _pieces(lines):
    """Their means."""
    count = lines.shape[1] // SEGMENT_PX
    return lines[:, :count * SEGMENT_PX].reshape(lines.shape[0], count, SEGMENT_PX).mean(2)
