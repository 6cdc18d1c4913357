"""The comparison itself: it must see what it is there to see."""
import numpy
from PIL import Image

import tour
import views
from pictures import photo

BOX = [0, 0, 400, 300]
W, H = 1501, 1103


def shown():
    return views.expected(photo(W, H), 450, 350, 1, BOX, BOX)


def test_expected_is_the_picture():
    picture = photo(W, H)
    pixels, inside = shown()
    assert inside.all() and numpy.array_equal(pixels, picture[200:500, 250:650])
    # 1501 and 1103 px at 1/8, from 12 px and from the top on
    pixels, inside = views.expected(picture, 752, 600, .125, [0, 0, 212, 150], [0, 0, 212, 100])
    assert inside.sum() == 187 * 100 and inside[:, 12:199].all()
    assert numpy.abs(pixels[40, 100] - picture[320:328, 704:712].mean((0, 1))).max() <= .5


def test_a_seam_is_seen():
    pixels, _ = shown()
    assert not views.seams(pixels, pixels)
    noise = numpy.random.default_rng(1).integers(-5, 6, pixels.shape)
    torn = numpy.clip(pixels + noise, 0, 255).astype(numpy.uint8)
    assert not views.seams(torn, pixels)
    torn[100:228, 256] = .8 * torn[100:228, 256] + .2 * numpy.array(views.BACKGROUND)
    found = views.seams(torn, pixels)
    assert found and all(where.startswith("column 256 ") for where, _ in found), found


def test_a_shift_and_a_coarser_tile_are_seen():
    picture = photo(W, H)
    coarse = Image.fromarray(picture).reduce(2).resize((W + 1, H + 1), Image.BILINEAR)
    assert views.psnr(numpy.asarray(coarse)[:H, :W], picture) < tour.FULL_DB - 2
    assert views.psnr(numpy.roll(picture, 1, 1), picture) < tour.FULL_DB - 2
