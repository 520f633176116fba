"""``pixelseal`` without torch: what it needs, and what is refused before anything is loaded."""

import hashlib

import numpy as np
import pytest

from pytest_benchbench import AdapterUnavailable, Image, Sample
from pytest_benchbench.adapters import pixelseal
from pytest_benchbench.adapters.messages import benchmark_message
from pytest_benchbench.adapters.pixelseal import CARD, CHECKPOINT, REVISION, PixelSeal, PixelSealEmbedder, PixelSealOptions


def make_detector(options):
    PixelSeal(options).load()


MAKERS = pytest.mark.parametrize("make", [make_detector, PixelSealEmbedder], ids=["detector", "embedder"])


@MAKERS
@pytest.mark.parametrize(
    ("given", "missing"),
    [((), "card= and weights="), (("card",), "weights="), (("weights",), "card=")],
    ids=["neither", "card", "weights"],
)
def test_card_and_weights_must_both_be_given(tmp_path, make, given, missing):
    with pytest.raises(AdapterUnavailable) as refusal:
        make(PixelSealOptions(**dict.fromkeys(given, tmp_path)))
    assert refusal.value.reason == f"{missing} must say where the files of PixelSeal lie"
    assert "pixelseal:card=" in refusal.value.install
    assert REVISION in refusal.value.install
    assert "\n" not in str(refusal.value)


@MAKERS
def test_missing_and_other_files_are_refused_before_anything_is_loaded(tmp_path, monkeypatch, make):
    card, checkpoint = tmp_path / "pixelseal.yaml", tmp_path / "checkpoint.pth"
    options = PixelSealOptions(card=card, weights=checkpoint)
    with pytest.raises(AdapterUnavailable, match=r"pixelseal\.yaml cannot be read: No such file"):
        make(options)
    card.write_bytes(b"args: {}")
    digest = hashlib.sha256(b"args: {}").hexdigest()
    with pytest.raises(AdapterUnavailable) as refusal:
        make(options)
    assert refusal.value.reason == f"pixelseal.yaml has SHA-256 {digest}, not the pinned {CARD}"
    assert "allow_unpinned=true" in refusal.value.install
    monkeypatch.setattr(pixelseal, "CARD", digest)
    checkpoint.write_bytes(b"no checkpoint")
    with pytest.raises(AdapterUnavailable, match=rf"checkpoint\.pth has SHA-256 .* not the pinned {CHECKPOINT}"):
        make(options)


def test_a_picture_that_is_too_large_is_unsupported(monkeypatch):
    monkeypatch.setattr(pixelseal, "MAXIMUM_PIXELS", 11)
    sample = Sample("image", "0" * 64, b"", Image(np.zeros((3, 4, 3), np.uint8), {}, None))
    detection = PixelSeal().detect(sample)
    assert (detection.status, detection.reason) == ("unsupported", "11 pixels are read at most, the image is 4x3")


def test_only_an_image_is_read():
    with pytest.raises(TypeError, match="expected a decoded image"):
        PixelSeal().detect(Sample("image", "0" * 64, b""))


def test_it_must_be_loaded_first():
    with pytest.raises(RuntimeError, match=r"load\(\) comes first"):
        PixelSeal().describe()


def test_what_it_embeds_and_that_no_weights_are_called_verified():
    assert PixelSealEmbedder.message == benchmark_message(256)
    assert PixelSeal.verified_weights is None
