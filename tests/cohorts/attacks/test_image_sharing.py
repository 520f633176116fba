import io

import numpy as np
import PIL.Image
import pytest
from PIL import JpegImagePlugin

from pytest_benchbench.cohorts.attacks.image_compression import jpeg_writer
from pytest_benchbench.cohorts.attacks.image_geometry import cropped_somewhere, fitted_into, scaled
from pytest_benchbench.cohorts.attacks.image_sharing import shown_on_page, written
from pytest_benchbench.cohorts.attacks.registry import attacks_of


def picture(width, height):
    low = np.random.default_rng(width).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    return np.asarray(PIL.Image.fromarray(low).resize((width, height)))


def opened(attacked):
    return PIL.Image.open(io.BytesIO(attacked.data))


@pytest.mark.parametrize(
    ("name", "file_format", "size"),
    [
        ("combined-upload", "JPEG", (2048, 512)),
        ("combined-repost", "JPEG", (1728, 432)),
        ("combined-screenshot", "JPEG", (2250, 562)),
        ("combined-thumbnail", "WEBP", (256, 64)),
    ],
)
def test_a_shared_picture_is_a_lossy_file_of_its_size(name, file_format, size):
    image = opened(attacks_of("image")[name].apply(picture(2400, 600)))
    assert (image.format, image.size) == (file_format, size)
    if file_format == "JPEG":
        assert JpegImagePlugin.get_sampling(image) == 2


def test_a_small_picture_is_uploaded_at_its_size():
    attacked = attacks_of("image")["combined-upload"].apply(picture(300, 200))
    assert opened(attacked).size == (300, 200)
    assert attacked.parameters["steps"][0]["scaled"] is False


def test_a_repost_is_two_generations_with_a_crop_between():
    pixels = picture(200, 100)
    for change in (written(jpeg_writer(85, "4:2:0")), cropped_somewhere(90, seed=7), scaled(80, restored=False)):
        pixels, _ = change(pixels)
    attacked = attacks_of("image")["combined-repost"].with_seed(7).apply(picture(200, 100))
    assert attacked.data == jpeg_writer(70, "4:2:0").encode(pixels)
    assert [step["seed"] for step in attacked.parameters["steps"]] == [None, 7, None]


def test_what_was_written_and_read_has_the_loss_of_the_file():
    pixels = picture(64, 48)
    data = jpeg_writer(85, "4:2:0").encode(pixels)
    lossy, record = written(jpeg_writer(85, "4:2:0"))(pixels)
    assert np.array_equal(lossy, np.asarray(PIL.Image.open(io.BytesIO(data))))
    assert not np.array_equal(lossy, pixels)
    assert record["written_and_read"]["quality"] == 85


@pytest.mark.parametrize("size", [(1, 1), (40, 30), (81, 17)])
def test_a_page_covers_nothing_of_the_picture(size):
    pixels = picture(*size)
    page, record = shown_on_page(pixels)
    left, top, right, bottom = record["box"]
    assert np.array_equal(page[top:bottom, left:right], pixels)
    assert min(left, top, page.shape[1] - right, page.shape[0] - bottom) >= 1
    assert (page[: record["bar_height"]] == record["bar"]).all()


def test_a_thumbnail_is_sharpened_after_it_was_scaled():
    attacked = attacks_of("image")["combined-thumbnail"].apply(picture(800, 400))
    assert [step["name"] for step in attacked.parameters["steps"]] == ["long-side-256", "sharpen-1.5"]
    plain = fitted_into(256)(picture(800, 400))[0]
    assert not np.array_equal(np.asarray(opened(attacked)), plain)
