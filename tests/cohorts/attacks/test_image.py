import io

import numpy as np
import PIL.Image
import pytest

from pytest_benchbench.cohorts.attacks.registry import DEFAULT_IMAGE_ATTACKS, attacks_of

PNG = {"library": "Pillow", "format": "PNG", "compress_level": 4}


def jpeg(subsampling):
    settings = {"quality": 90, "subsampling": subsampling, "progressive": False, "optimize": False}
    return {"encoder": {"library": "Pillow", "format": "JPEG", **settings}}


def resize(restored):
    size = {"resized_to": [54, 48], "filter": "lanczos", "size_restored": restored}
    return {"percent": 75, **size, "encoder": PNG}


def crop(restored):
    cut = {"box": [4, 3, 68, 61], "filter": "lanczos" if restored else None, "size_restored": restored}
    return {"percent_per_edge": 5, **cut, "encoder": PNG}


@pytest.mark.parametrize(
    ("name", "extension", "parameters"),
    [
        ("jpeg-90", ".jpg", jpeg("4:4:4")),
        ("jpeg-90-420", ".jpg", jpeg("4:2:0")),
        ("resize-75", ".png", resize(True)),
        ("resize-75-unrestored", ".png", resize(False)),
        ("crop-5", ".png", crop(True)),
        ("crop-5-unrestored", ".png", crop(False)),
    ],
)
def test_the_attacks_of_frozen_cohorts_stay_as_they_are(name, extension, parameters, media):
    attack = attacks_of("image")[name]
    attacked = attack.apply(media["image"])
    assert (attack.revision, attack.seed, attacked.extension) == (1, None, extension)
    assert list(attacked.parameters.items()) == list(parameters.items())  # the order is part of the manifest's bytes


def test_the_default_attacks_keep_full_chroma_and_the_size(media):
    parameters = {name: attacks_of("image")[name].apply(media["image"]).parameters for name in DEFAULT_IMAGE_ATTACKS}
    assert parameters["jpeg-90"]["encoder"]["subsampling"] == "4:4:4"
    assert parameters["resize-75"]["size_restored"]
    assert parameters["crop-5"]["size_restored"]


def test_a_combination_does_its_steps_in_their_order(media):
    attacks = attacks_of("image")
    pixels = media["image"]
    for name in ("crop-centre-50-unrestored", "brightness-up-1.5", "jpeg-80"):
        data = attacks[name].apply(pixels).data
        pixels = np.asarray(PIL.Image.open(io.BytesIO(data)))
    combined = attacks["combined-omniseal"].apply(media["image"])
    assert combined.data == data
    assert [step["name"] for step in combined.parameters["steps"]] == ["crop-centre-50-unrestored", "brightness-up-1.5"]
