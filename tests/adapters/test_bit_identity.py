"""The wavelet adapters against the reference implementation: the same bits and the same pixels.

The reference is two files of ``invisible-watermark`` 0.2.0, loaded without the package (which would import torch). These
tests were run with opencv-python-headless 5.0.0, PyWavelets 1.9.0 and NumPy 2.4.6; opencv 4.10 and 4.12 (PyWavelets 1.8,
NumPy 2.0 and 2.2) were compared once on 19 pictures.
"""

import functools
import hashlib
import importlib.util
import platform
import warnings
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
import skimage.data
from hypothesis import given, settings, strategies as st

from pytest_benchbench.adapters import dwt_dct, dwt_dct_svd, haar_frame, invisible_watermark
from pytest_benchbench.adapters.patterns import FLUX2, PATTERNS, SD1, SDXL, Pattern

pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in {"x86_64", "amd64"}, reason="PyWavelets rounds in another way on other processors"
)


def load_reference(module: str, name: str) -> type:
    # without the reference these tests fail: a claim of equal bits is not to be skipped unseen
    path = Path(str(distribution("invisible-watermark").locate_file(f"imwatermark/{module}.py")))
    spec = importlib.util.spec_from_file_location(f"reference_{module}", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return getattr(loaded, name)


SCHEMES = {
    "dwt-dct": (load_reference("maxDct", "EmbedMaxDct"), dwt_dct, dwt_dct.DwtDctEmbedder()),
    "dwt-dct-svd": (load_reference("dwtDctSvd", "EmbedDwtDctSvd"), dwt_dct_svd, dwt_dct_svd.DwtDctSvdEmbedder()),
}


def reference_bits(scheme: str, pixels: np.ndarray, length: int) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # the mean over no block, where the message is longer than the picture
        return SCHEMES[scheme][0](wmLen=length).decode(np.ascontiguousarray(pixels[..., ::-1]))


def reference_pixels(scheme: str, pixels: np.ndarray, pattern: Pattern) -> np.ndarray:
    encoder = SCHEMES[scheme][0](list(pattern.bits), wmLen=len(pattern.bits))
    return encoder.encode(np.ascontiguousarray(pixels[..., ::-1]))[..., ::-1]


def our_bits(scheme: str, pixels: np.ndarray, length: int) -> np.ndarray:
    return haar_frame.payload_bits(SCHEMES[scheme][1].read_blocks(pixels), length)


# -- the frozen set -------------------------------------------------------------------------------------------------------


def photograph(name: str, top: int, left: int, height: int, width: int) -> np.ndarray:
    pixels = getattr(skimage.data, name)()
    if pixels.ndim == 2:
        pixels = np.stack([pixels] * 3, axis=-1)
    return pixels[top : top + height, left : left + width, :3]


def flat(red: int, green: int, blue: int, height: int = 256, width: int = 256) -> np.ndarray:
    return np.full((height, width, 3), (red, green, blue), dtype=np.uint8)


def noise(seed: int, height: int, width: int, low: int = 0, high: int = 255) -> np.ndarray:
    """Uniform noise out of a hash, which no library's generator can change."""
    stream = np.frombuffer(hashlib.shake_256(str(seed).encode()).digest(height * width * 3), dtype=np.uint8)
    return (low + stream.astype(np.int64) % (high - low + 1)).astype(np.uint8).reshape(height, width, 3)


def ramp(height: int, width: int, *weights: tuple[int, int]) -> np.ndarray:
    rows, columns = np.mgrid[:height, :width]
    return np.stack([(rows * down + columns * right) // 4 % 256 for down, right in weights], axis=-1).astype(np.uint8)


def board(side: int, one: tuple[int, int, int], other: tuple[int, int, int]) -> np.ndarray:
    rows, columns = np.mgrid[:264, :272]
    odd = ((rows // side + columns // side) % 2 == 1)[..., np.newaxis]
    return np.where(odd, np.array(one), np.array(other)).astype(np.uint8)


def spotted(pixels: np.ndarray) -> np.ndarray:
    pixels[100, 101] = 255 - pixels[100, 101]
    return pixels


def marked(scheme: str, name: str, pattern: Pattern) -> np.ndarray:
    return reference_pixels(scheme, picture(name), pattern)


FROZEN: dict[str, Callable[[], np.ndarray]] = {
    # photographs and drawings
    "astronaut": lambda: photograph("astronaut", 0, 0, 272, 272),
    "astronaut-257x259": lambda: photograph("astronaut", 101, 99, 257, 259),
    "astronaut-whole": lambda: photograph("astronaut", 0, 0, 512, 512),
    "chelsea": lambda: photograph("chelsea", 0, 0, 256, 264),
    "chelsea-299x301": lambda: photograph("chelsea", 1, 77, 299, 301),
    "coffee": lambda: photograph("coffee", 40, 120, 256, 256),
    "coffee-263x271": lambda: photograph("coffee", 3, 5, 263, 271),
    "ihc": lambda: photograph("immunohistochemistry", 0, 0, 260, 260),
    "ihc-mirrored": lambda: photograph("immunohistochemistry", 200, 200, 258, 262)[::-1, ::-1],
    "logo": lambda: photograph("logo", 100, 100, 280, 270),
    # gray
    "camera": lambda: photograph("camera", 0, 0, 256, 256),
    "moon-261x267": lambda: photograph("moon", 3, 4, 261, 267),
    "brick": lambda: photograph("brick", 0, 0, 264, 256),
    "gray-noise": lambda: np.repeat(noise(1, 256, 256)[..., :1], 3, axis=-1),
    "gray-ramp": lambda: ramp(256, 264, (1, 3), (1, 3), (1, 3)),
    # flat; the comments give U, whose value decides how every block falls
    "black": lambda: flat(0, 0, 0),
    "white": lambda: flat(255, 255, 255),
    "mid-gray": lambda: flat(128, 128, 128),  # 128
    "red": lambda: flat(255, 0, 0),
    "green": lambda: flat(0, 255, 0),
    "blue": lambda: flat(0, 0, 255),
    "tie-at-half-a-step": lambda: flat(100, 100, 116),  # 135: low band 270 = 7.5 steps
    "tie-at-a-step": lambda: flat(100, 100, 136),  # 144: low band 288 = 8 steps
    "tie-spotted": lambda: spotted(flat(100, 100, 116)),
    "tie-259x263": lambda: flat(100, 100, 116, 259, 263),
    # noise
    "noise": lambda: noise(2, 256, 256),
    "noise-257x263": lambda: noise(3, 257, 263),
    "noise-258x262": lambda: noise(4, 258, 262),
    "noise-dark": lambda: noise(5, 256, 260, 0, 40),
    "noise-extremes": lambda: noise(6, 261, 259, 0, 1) * 255,
    "noise-around-a-tie": lambda: noise(7, 264, 256, 100, 102) + np.uint8([0, 0, 16]),
    "noise-in-blue": lambda: (
        noise(8, 256, 256) * np.array([0, 0, 1], dtype=np.uint8) + np.array([90, 60, 0], dtype=np.uint8)
    ),
    # drawn
    "gradient": lambda: ramp(256, 256, (0, 4), (4, 0), (2, 2)),
    "gradient-gentle": lambda: ramp(270, 265, (0, 1), (1, 0), (1, 1)),
    "steps": lambda: ramp(256, 272, (0, 4), (0, 0), (4, 0)) // 32 * 32,
    "board-1": lambda: board(1, (255, 255, 0), (0, 0, 255)),
    "board-3": lambda: board(3, (10, 200, 30), (200, 30, 220)),
    "board-8": lambda: board(8, (100, 100, 116), (100, 100, 136)),
    # shapes
    "strip-8x8192": lambda: noise(9, 8, 8192),
    "strip-8193x8": lambda: noise(10, 8193, 8),
    "strip-9x7282": lambda: ramp(9, 7282, (7, 3), (0, 5), (9, 1)),
    "strip-15x4370": lambda: noise(11, 15, 4370, 60, 90),
    "strip-4099x17": lambda: noise(12, 4099, 17),
    "strip-1025x65": lambda: ramp(1025, 65, (3, 1), (5, 2), (1, 7)),
    # marked by the reference
    "astronaut-sdxl": lambda: marked("dwt-dct", "astronaut", SDXL),
    "coffee-flux2": lambda: marked("dwt-dct", "coffee-263x271", FLUX2),
    "chelsea-sd1": lambda: marked("dwt-dct", "chelsea-299x301", SD1),
    "noise-sdxl": lambda: marked("dwt-dct", "noise-257x263", SDXL),
    "mid-gray-sd1": lambda: marked("dwt-dct", "mid-gray", SD1),
    "gradient-flux2": lambda: marked("dwt-dct", "gradient", FLUX2),
    "astronaut-sdxl-shifted": lambda: marked("dwt-dct", "astronaut-whole", SDXL)[3:303, 5:305],
    "astronaut-svd-sdxl": lambda: marked("dwt-dct-svd", "astronaut", SDXL),
    "coffee-svd-sd1": lambda: marked("dwt-dct-svd", "coffee", SD1),
    "gradient-svd-flux2": lambda: marked("dwt-dct-svd", "gradient", FLUX2),
    "tie-svd-sdxl": lambda: marked("dwt-dct-svd", "tie-at-half-a-step", SDXL),
}

FROZEN_SHA256 = "6cc78ec9498e10b476c6855b87ecb3093d4470f55df20f62fc90132b28ef1a0e"


@functools.cache
def picture(name: str) -> np.ndarray:
    pixels = np.ascontiguousarray(FROZEN[name]())
    pixels.flags.writeable = False
    return pixels


def test_the_set_is_what_it_was_when_it_was_frozen():
    digest = hashlib.sha256()
    for name in FROZEN:
        digest.update(f"{name} {picture(name).shape}".encode() + picture(name).tobytes())
    assert len(FROZEN) >= 40
    assert digest.hexdigest() == FROZEN_SHA256


@pytest.mark.parametrize("name", FROZEN)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_payloads_of_both_lengths_equal_the_reference(scheme, name):
    for length in (48, 136):
        np.testing.assert_array_equal(our_bits(scheme, picture(name), length), reference_bits(scheme, picture(name), length))


@pytest.mark.parametrize("name", FROZEN)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_marked_pixels_equal_the_reference(scheme, name):
    pattern = list(PATTERNS.values())[len(name) % 3]
    np.testing.assert_array_equal(
        SCHEMES[scheme][2].embed_pixels(picture(name), pattern), reference_pixels(scheme, picture(name), pattern)
    )


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_flat_colour_plane_reads_as_in_the_reference(scheme):
    # a block a value: on a flat block every coefficient is a tie or none is
    blues = np.repeat(np.arange(256, dtype=np.uint8), 8)
    pixels = np.zeros((16, 2048, 3), dtype=np.uint8)
    pixels[:8, :, 2] = blues
    pixels[8:] = 255
    pixels[8:, :, 2] = blues
    np.testing.assert_array_equal(SCHEMES[scheme][1].read_blocks(pixels), reference_bits(scheme, pixels, 512))


# -- drawn sizes and contents ---------------------------------------------------------------------------------------------


@st.composite
def pictures(draw):
    height, width = draw(st.integers(8, 72)), draw(st.integers(8, 72))
    base = np.array(draw(st.tuples(*[st.integers(0, 255)] * 3)))
    spread = draw(st.sampled_from([0, 1, 2, 9, 60, 255]))
    steps = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).integers(-spread, spread + 1, (height, width, 3))
    coarse = draw(st.sampled_from([1, 2, 8]))
    steps = steps.repeat(coarse, axis=0).repeat(coarse, axis=1)[:height, :width]
    return np.clip(base + steps, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=60, deadline=None)
@given(pixels=pictures(), length=st.integers(1, 140), strip=st.sampled_from([1, 700, 65_536]))
def test_any_size_and_content_reads_as_in_the_reference(scheme, pixels, length, strip):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(haar_frame, "STRIP_PIXELS", strip)
        np.testing.assert_array_equal(our_bits(scheme, pixels, length), reference_bits(scheme, pixels, length))


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=60, deadline=None)
@given(
    pixels=pictures(),
    bits=st.lists(st.integers(0, 1), min_size=1, max_size=40),
    strip=st.sampled_from([1, 700, 65_536]),
)
def test_any_size_and_content_is_marked_as_by_the_reference(scheme, pixels, bits, strip):
    pattern = Pattern("drawn", tuple(bits), threshold=len(bits), source="drawn")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(haar_frame, "STRIP_PIXELS", strip)
        patch.setattr(invisible_watermark, "MINIMUM_PIXELS", 64)
        ours = SCHEMES[scheme][2].embed_pixels(pixels, pattern)
    np.testing.assert_array_equal(ours, reference_pixels(scheme, pixels, pattern))
