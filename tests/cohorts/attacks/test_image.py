import io

import numpy as np
import PIL.Image
import pytest
from hypothesis import given, strategies as st
from PIL import JpegImagePlugin

from pytest_benchbench.cohorts.attacks.image import (
    DEFAULT_IMAGE_ATTACKS,
    IMAGE_ATTACKS,
    CropAttack,
    JpegAttack,
    ResizeAttack,
)

sides = st.integers(16, 90)


def picture(width, height):
    return np.random.default_rng(width * 1000 + height).integers(0, 256, (height, width, 3), dtype=np.uint8)


def opened(attacked):
    return PIL.Image.open(io.BytesIO(attacked.data))


@pytest.mark.parametrize("name", IMAGE_ATTACKS)
@given(width=sides, height=sides)
def test_an_attack_is_repeatable_and_restores_the_size_exactly_when_it_says_so(name, width, height):
    attack = IMAGE_ATTACKS[name]
    pixels = picture(width, height)
    pixels.flags.writeable = False
    first, second = attack.apply(pixels), attack.apply(pixels)
    assert (first.data, first.parameters) == (second.data, second.parameters)
    restored = first.parameters.get("size_restored", True)
    assert (opened(first).size == (width, height)) is restored


@pytest.mark.parametrize(("name", "sampling"), [("jpeg-90", 0), ("jpeg-90-420", 2)])
def test_a_jpeg_is_what_its_name_says(name, sampling):
    image = opened(IMAGE_ATTACKS[name].apply(picture(64, 48)))
    assert (image.format, image.mode) == ("JPEG", "RGB")
    assert JpegImagePlugin.get_sampling(image) == sampling
    reference = io.BytesIO()
    PIL.Image.new("RGB", (8, 8)).save(reference, "JPEG", quality=90)
    assert image.quantization == PIL.Image.open(reference).quantization


def test_a_resize_goes_down_and_back_up_with_lanczos():
    pixels = picture(64, 48)
    attacked = ResizeAttack("x", percent=75).apply(pixels)
    expected = PIL.Image.fromarray(pixels).resize((48, 36), PIL.Image.Resampling.LANCZOS)
    expected = expected.resize((64, 48), PIL.Image.Resampling.LANCZOS)
    assert np.array_equal(np.asarray(opened(attacked)), np.asarray(expected))
    assert attacked.parameters["resized_to"] == [48, 36]


def test_a_crop_without_restoring_leaves_the_inner_pixels_untouched():
    pixels = picture(100, 60)
    attacked = CropAttack("x", percent_per_edge=5, restored=False).apply(pixels)
    assert attacked.parameters["box"] == [5, 3, 95, 57]
    assert np.array_equal(np.asarray(opened(attacked)), pixels[3:57, 5:95])


def test_five_percent_of_512_is_26_pixels():
    assert CropAttack("x", percent_per_edge=5).apply(picture(512, 512)).parameters["box"] == [26, 26, 486, 486]


def test_the_default_attacks_keep_full_chroma_and_the_size():
    parameters = {name: IMAGE_ATTACKS[name].apply(picture(64, 64)).parameters for name in DEFAULT_IMAGE_ATTACKS}
    assert parameters["jpeg-90"]["encoder"]["subsampling"] == "4:4:4"
    assert parameters["resize-75"]["size_restored"]
    assert parameters["crop-5"]["size_restored"]


@pytest.mark.parametrize(
    ("attack", "kept"),
    [
        (JpegAttack("x", quality=90), True),
        (ResizeAttack("x", percent=75), True),
        (ResizeAttack("x", percent=75, restored=False), False),
        (CropAttack("x", percent_per_edge=5), False),
    ],
)
def test_only_attacks_that_leave_pixels_in_their_places_can_be_compared(attack, kept):
    assert attack.keeps_positions is kept
