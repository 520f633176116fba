import io

import numpy as np
import PIL.Image
import pytest
from PIL import JpegImagePlugin

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.attacks.registry import attacks_of


@pytest.fixture
def opened(media):
    return lambda name: PIL.Image.open(io.BytesIO(attacks_of("image")[name].apply(media["image"]).data))


@pytest.mark.parametrize(("name", "sampling"), [("jpeg-90", 0), ("jpeg-90-420", 2)])
def test_a_jpeg_is_what_its_name_says(name, sampling, opened):
    image = opened(name)
    assert (image.format, image.mode) == ("JPEG", "RGB")
    assert JpegImagePlugin.get_sampling(image) == sampling
    reference = io.BytesIO()
    PIL.Image.new("RGB", (8, 8)).save(reference, "JPEG", quality=90)
    assert image.quantization == PIL.Image.open(reference).quantization


@pytest.mark.parametrize(("name", "file_format"), [("webp-80", "WEBP"), ("avif-80", "AVIF")])
def test_a_file_is_of_the_format_that_it_is_named_for(name, file_format, opened, media):
    image = opened(name)
    assert image.format == file_format
    assert image.size == media["image"].shape[1::-1]


@pytest.mark.parametrize("name", ["jpeg-75", "jpeg-75-420", "webp-60", "avif-60"])
def test_the_record_suffices_to_write_the_file_again(name, media):
    attacked = attacks_of("image")[name].apply(media["image"])
    options = dict(attacked.parameters["encoder"])
    assert options.pop("library") == "Pillow"
    again = io.BytesIO()
    PIL.Image.fromarray(media["image"]).save(again, **options)
    assert again.getvalue() == attacked.data


def test_a_picture_too_large_for_a_format_is_refused_in_one_line():
    with pytest.raises(CohortError, match=r"^WEBP: cannot encode 16384x1: [^\n]*$"):
        attacks_of("image")["webp-80"].apply(np.zeros((1, 16_384, 3), np.uint8))
