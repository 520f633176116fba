import hashlib
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import PIL.Image
import pytest

from pytest_benchbench.cohorts import CohortError
from pytest_benchbench.cohorts.carriers.photographs import BUNDLED_LIST, bundled_folder, verified_photographs
from pytest_benchbench.cohorts.carriers.source_list import SourceImage, SourceList, read_source_list


def saved(folder, name, pixels, **options):
    path = folder / name
    PIL.Image.fromarray(pixels).save(path, **options)
    return path


def listed(path, pixels, **fields):
    given = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "width": pixels.shape[1], "height": pixels.shape[0]}
    return SourceImage(path=path.name, license="CC0-1.0", **{**given, **fields})


def pixels_of(width, height, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def verified(folder, *images):
    return list(verified_photographs(SourceList("images.yaml", folder, "0" * 64, images)))


def refusal(folder, *images):
    with pytest.raises(CohortError) as caught:
        verified(folder, *images)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_square_image_of_the_right_size_is_shown_untouched(tmp_path):
    pixels = pixels_of(64, 64)
    (photograph,) = verified(tmp_path, listed(saved(tmp_path, "a.png", pixels), pixels))
    assert np.array_equal(photograph.draw(64), pixels)
    assert photograph.record(64)["standardisation"]["crop_box"] == [0, 0, 64, 64]


def test_an_oblong_image_is_cropped_in_the_middle_and_resized_with_lanczos(tmp_path):
    pixels = pixels_of(101, 64)
    (photograph,) = verified(tmp_path, listed(saved(tmp_path, "a.png", pixels), pixels))
    expected = PIL.Image.fromarray(pixels).crop((18, 0, 82, 64)).resize((32, 32), PIL.Image.Resampling.LANCZOS)
    assert np.array_equal(photograph.draw(32), np.asarray(expected))
    assert photograph.record(32)["standardisation"]["crop_box"] == [18, 0, 82, 64]


def test_the_provenance_travels(tmp_path):
    pixels = pixels_of(40, 30)
    image = listed(
        saved(tmp_path, "a.png", pixels), pixels, provider="one", model="one-1", content_stratum="cat", prompt_hash="p"
    )
    (photograph,) = verified(tmp_path, image)
    record = photograph.record(256)
    assert json.loads(json.dumps(record)) == record
    assert (record["provider"], record["model"], record["content_stratum"]) == ("one", "one-1", "cat")
    assert (record["license"], record["reuse_basis"], record["prompt_hash"]) == ("CC0-1.0", None, "p")
    assert (record["native_size"], record["file_sha256"]) == ([40, 30], image.sha256)
    assert record["source_manifest_sha256"] == "0" * 64
    assert len(record["pixels_sha256"]) == 64


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"sha256": "0" * 64}, "images.yaml: images[0] (a): sha256: "),
        ({"width": 41}, "images.yaml: images[0] (a): width: the list says 41, the image has 40 pixels"),
        ({"height": 31}, "images.yaml: images[0] (a): height: the list says 31, the image has 30 pixels"),
    ],
)
def test_an_image_that_is_not_what_the_list_says_is_refused(tmp_path, fields, message):
    pixels = pixels_of(40, 30)
    assert refusal(tmp_path, listed(saved(tmp_path, "a.png", pixels), pixels, **fields)).startswith(message)


def test_repeated_pixels_are_refused_even_in_another_file(tmp_path):
    pixels = pixels_of(40, 30)
    first = listed(saved(tmp_path, "a.png", pixels), pixels)
    second = listed(saved(tmp_path, "b.bmp", pixels), pixels)
    assert first.sha256 != second.sha256
    assert refusal(tmp_path, first, second) == "images.yaml: images[1] (b): path: shows the same pixels as images[0]"


def test_the_same_bytes_in_another_shape_are_other_pixels(tmp_path):
    wide, high = np.zeros((30, 40, 3), np.uint8), np.zeros((40, 30, 3), np.uint8)
    images = [listed(saved(tmp_path, name, pixels), pixels) for name, pixels in (("a.png", wide), ("b.png", high))]
    assert len(verified(tmp_path, *images)) == 2


def test_a_missing_file_is_named(tmp_path):
    image = SourceImage(path="none.png", sha256="0" * 64, width=1, height=1, license="CC0-1.0")
    assert refusal(tmp_path, image).startswith("images.yaml: images[0] (none): path: ")


@pytest.mark.parametrize("path", ["../a.png", "/etc/passwd"])
def test_a_path_cannot_leave_the_folder_of_the_list(tmp_path, path):
    folder = tmp_path / "list"
    folder.mkdir()
    pixels = pixels_of(40, 30)
    image = replace_path(listed(saved(tmp_path, "a.png", pixels), pixels), path)
    assert refusal(folder, image).startswith("images.yaml: images[0] (")


def replace_path(image, path):
    return SourceImage(path=path, sha256=image.sha256, width=image.width, height=image.height, license="CC0-1.0")


def test_an_undecodable_file_is_named(tmp_path):
    (tmp_path / "a.png").write_bytes(b"no image")
    digest = hashlib.sha256(b"no image").hexdigest()
    image = SourceImage(path="a.png", sha256=digest, width=1, height=1, license="CC0-1.0")
    assert refusal(tmp_path, image).startswith("images.yaml: images[0] (a): path: ")


def test_the_bundled_list_fits_the_installed_photographs():
    pytest.importorskip("skimage")
    sources = replace(read_source_list(BUNDLED_LIST), base=bundled_folder())
    assert [photograph.image.identity for photograph in verified_photographs(sources)] == [
        "astronaut", "chelsea", "coffee", "hubble_deep_field", "ihc", "retina", "rocket",
    ]  # fmt: skip
    assert all(image.reuse_basis for image in sources.images)


def test_finding_the_photographs_does_not_import_scikit_image():
    script = (
        "import sys; from pytest_benchbench.cohorts.carriers.photographs import bundled_folder;"
        "bundled_folder(); print('skimage' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "False\n"


def test_without_scikit_image_the_install_command_is_named(monkeypatch):
    monkeypatch.setattr("pytest_benchbench.cohorts.carriers.photographs.find_spec", lambda name: None)
    with pytest.raises(CohortError, match=r"pip install 'pytest-benchbench\[cohorts\]'"):
        bundled_folder()
