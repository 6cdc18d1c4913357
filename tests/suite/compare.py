"""Pictures side by side: how far two are apart, in numbers that the eye would agree with."""
import collections

import numpy
from PIL import Image

GREY = (128, 128, 128)
WHITE = (255, 255, 255)
SAMPLED_PX = 20000  # colours are compared at so many places at most

Distance = collections.namedtuple("Distance", "mean p99")


def flattened(picture, background=GREY):
    """8-bit RGB of a Pillow picture of any mode; what shows through is the background."""
    if picture.mode.startswith("I"):
        return _spread(numpy.asarray(picture) / 257)
    if picture.mode == "F":
        return _spread(numpy.asarray(picture))
    if picture.mode in ("P", "PA", "LA", "La", "RGBa") or (picture.mode != "RGBA" and "transparency" in picture.info):
        picture = picture.convert("RGBA")
    if picture.mode != "RGBA":
        return picture.convert("RGB")
    below = Image.new("RGBA", picture.size, background + (255,))
    below.alpha_composite(picture)
    return below.convert("RGB")


def _spread(values):
    grey = numpy.clip(numpy.rint(numpy.nan_to_num(values)), 0, 255).astype(numpy.uint8)
    return Image.fromarray(grey).convert("RGB")


def lab(pixels):
    """CIE L*a*b* of sRGB bytes (IEC 61966-2-1), relative to their own white of D65."""
    v = numpy.arange(256) / 255
    linear = numpy.where(v <= .04045, v / 12.92, ((v + .055) / 1.055) ** 2.4)[pixels]
    xyz = linear @ numpy.array(((.4124564, .2126729, .0193339), (.3575761, .7151522, .1191920),
                                (.1804375, .0721750, .9503041)))
    xyz /= (.950470, 1, 1.088830)
    f = numpy.where(xyz > 216 / 24389, numpy.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return numpy.stack((116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])), 1)


def delta_e(a, b):
    """CIE76 colour difference of two RGB pictures of one size: the mean and what 99 of 100 pixels keep
    within."""
    a, b = numpy.asarray(a).reshape(-1, 3), numpy.asarray(b).reshape(-1, 3)
    assert a.shape == b.shape, "sizes differ"
    step = -(-len(a) // SAMPLED_PX)
    apart = numpy.sqrt(((lab(a[::step]) - lab(b[::step])) ** 2).sum(1))
    return Distance(float(apart.mean()), float(numpy.percentile(apart, 99)))


def resized(picture, size):
    """By Pillow's Lanczos-3, the independent reference for reductions."""
    if picture.size == tuple(size):
        return picture
    return picture.resize(size, Image.LANCZOS, reducing_gap=4)


def coarse(picture):
    """A quarter of the size: what differs there is content or place, not sharpness."""
    return picture.resize([max(1, -(-side // 4)) for side in picture.size], Image.LANCZOS)
