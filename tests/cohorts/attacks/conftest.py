"""One small textured medium of each kind, which nothing changes, and how to read what an attack leaves."""

import io
from fractions import Fraction

import numpy as np
import PIL.Image
import pytest

from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.cohorts.attacks.image_metadata import ImageFile
from pytest_benchbench.cohorts.clips import Clip, decode_clip
from pytest_benchbench.cohorts.sounds import decode_sound


def _texture(height, width):
    """Coloured noise, smoothed: detail at every scale, nowhere flat."""
    plane = np.random.default_rng(0).integers(0, 256, (height, width, 3)).astype(float)
    for axis in (0, 0, 1, 1):
        plane = (np.roll(plane, 1, axis) + 2 * plane + np.roll(plane, -1, axis)) / 4
    return np.clip(128 + 3 * (plane - 128), 0, 255).astype(np.uint8)


@pytest.fixture(scope="session")
def media():
    """A picture of 72 x 64, a sound of two seconds, a clip of 5 frames that moves, and a JPEG that says more than it shows.

    All arrays refuse to be written to.
    """
    picture = _texture(64, 72)
    seconds = np.arange(32_000) / 16_000
    tremolo = 0.3 * np.sin(2 * np.pi * 440 * seconds) * (1 + 0.5 * np.sin(2 * np.pi * 4 * seconds))
    hiss = 0.03 * np.random.default_rng(1).standard_normal(32_000)
    sound = (tremolo + 0.1 * np.sin(2 * np.pi * 1800 * seconds) + hiss).astype(np.float32)
    # too smooth a chroma to be lost by halving it; of cyan and red, whose distance grows with every turn of the hue by up to
    # half the circle, which in HSV is a hexagon: that of orange is largest before
    tint = np.linspace((-40, 40, 40), (40, -40, -40), 80).astype(int)
    frame = np.clip(_texture(68, 80)[:, :, :1] * 0.6 + 50 + tint, 0, 255).astype(np.uint8)
    frames = np.stack([np.roll(frame, 2 * index, axis=0) for index in range(5)])
    for array in (picture, sound, frames):
        array.flags.writeable = False
    return {"image": picture, "audio": sound, "video": Clip(frames, Fraction(25)), "image-file": image_file(picture)}


def image_file(pixels, pillow="JPEG"):
    """Write a picture with EXIF (stored on its side), and with XMP and a comment where the format has them."""
    exif = PIL.Image.Exif()
    exif[0x010F], exif[0x0112] = "A maker", 6
    more = {"JPEG": {"xmp": b"<x:xmpmeta/>", "comment": b"a comment"}, "WEBP": {"xmp": b"<x:xmpmeta/>"}}
    stream = io.BytesIO()
    PIL.Image.fromarray(pixels).save(stream, pillow, exif=exif, **more.get(pillow, {}))
    return ImageFile(stream.getvalue(), decode_image(stream.getvalue()))


@pytest.fixture(scope="session")
def read():
    """Read an attacked medium's file: pixels, samples or frames."""

    def reading(media_type, attacked):
        if media_type == "image-file":
            return decode_image(attacked.data).pixels
        if media_type == "image":
            with PIL.Image.open(io.BytesIO(attacked.data)) as opened:
                return np.asarray(opened.convert("RGB"))
        return decode_sound(attacked.data) if media_type == "audio" else decode_clip(attacked.data).frames

    return reading
