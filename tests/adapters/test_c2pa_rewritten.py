"""``c2pa`` about files whose metadata were stripped, or carried over into a new encoding."""

import hashlib
import io

import numpy as np
import pytest
from PIL import Image as PillowImage

from pytest_benchbench import Sample
from pytest_benchbench.adapters.c2pa import C2pa, C2paOptions
from pytest_benchbench.artifacts.image import decode_image
from pytest_benchbench.cohorts.attacks.image_containers import parts_of
from pytest_benchbench.cohorts.attacks.image_metadata import ImageFile
from pytest_benchbench.cohorts.attacks.registry import attacks_of


@pytest.fixture
def ask(authority):
    adapter = C2pa(C2paOptions())
    adapter.load()
    yield lambda data: adapter.detect(Sample("image", hashlib.sha256(data).hexdigest(), data))
    adapter.close()


@pytest.mark.parametrize(("container", "mime"), [("JPEG", "image/jpeg"), ("PNG", "image/png"), ("WEBP", "image/webp")])
def test_a_manifest_is_gone_or_carried_over_without_fitting_the_new_pixels(ask, authority, container, mime):
    stream = io.BytesIO()
    PillowImage.fromarray(np.random.default_rng(0).integers(0, 256, (48, 64, 3)).astype(np.uint8)).save(stream, container)
    data = authority.sign(stream.getvalue(), mime)
    file = ImageFile(data, decode_image(data))
    stripped = attacks_of("image-file")["metadata-stripped"].apply(file)
    assert stripped.parameters["removed"].keys() == {"c2pa"}
    assert ask(stripped.data).reason == "no C2PA manifest in the file"
    assert np.array_equal(decode_image(stripped.data).pixels, file.image.pixels)
    intact = attacks_of("image-file")["metadata-intact"].apply(file)
    assert intact.parameters["carried_over"].keys() == {"c2pa"}
    assert intact.parameters["signature"] == "no longer that of this picture"
    assert b"".join(part.data for part in parts_of(data, container) if part.kind == "c2pa") in intact.data
    detection = ask(intact.data)
    assert (detection.status, detection.scorer["validation_state"]) == ("not_detected", "Invalid")
    assert detection.scorer["stated_unverified"]["digital_source_types"] == ["trainedAlgorithmicMedia"]
