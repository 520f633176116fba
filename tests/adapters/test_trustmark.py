"""``trustmark`` without torch: the rule about what was decoded, and what is refused before anything is loaded."""

import hashlib
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from pytest_benchbench import AdapterUnavailable, Image, Sample
from pytest_benchbench.adapters import trustmark_networks
from pytest_benchbench.adapters.messages import benchmark_message, foreign_message
from pytest_benchbench.adapters.trustmark import (
    MESSAGE,
    Reading,
    TrustMark,
    TrustMarkEmbedder,
    TrustMarkRemover,
    after_jpeg,
    recognise,
)
from pytest_benchbench.adapters.trustmark_networks import INSTALL, PINS, TrustMarkOptions

OWN = "".join(map(str, MESSAGE))
LENGTHS = {0: 40, 1: 61, 2: 68, 3: 75}
NOTHING = Reading("", False, -1)


def asked_in_vain() -> Reading:
    raise AssertionError("nothing is to be read again")


def test_the_message_is_the_benchmarks():
    assert benchmark_message(61) == MESSAGE


@pytest.mark.parametrize("schema", [0, 1, 2])
def test_the_same_payload_after_the_jpeg_is_detected(schema):
    payload = "01" * 40
    reading = Reading(payload[: LENGTHS[schema]], True, schema)
    detection = recognise(reading, lambda: reading)
    assert (detection.status, detection.label) == ("detected", reading.payload)
    assert detection.reason == f"{LENGTHS[schema]} bits under schema {schema}, the same after JPEG 95"


def test_no_code_word_is_not_detected():
    detection = recognise(NOTHING, asked_in_vain)
    assert (detection.status, detection.label, detection.message_bit_accuracy) == ("not_detected", None, None)
    assert detection.reason == "no code word within reach of error correction"


def test_schema_3_never_counts():
    detection = recognise(Reading("1" * 75, True, 3), asked_in_vain)
    assert (detection.status, detection.label, detection.message_bit_accuracy) == ("not_detected", None, None)
    assert detection.reason == "schema 3 is not accepted, random codes decode to it"


@pytest.mark.parametrize(
    "second",
    [NOTHING, Reading(OWN, False, 1), Reading("0" + OWN[1:], True, 1), Reading(OWN, True, 2)],
    ids=["nothing", "no-code-word", "another-payload", "another-schema"],
)
def test_a_payload_that_does_not_outlast_the_jpeg_does_not_count(second):
    detection = recognise(Reading(OWN, True, 1), lambda: second)
    assert (detection.status, detection.label, detection.message_bit_accuracy) == ("not_detected", None, 1.0)
    assert detection.reason == "the payload of schema 1 is gone or another after JPEG 95"


def test_a_foreign_message_is_detected_under_its_own_label():
    foreign = "".join(map(str, foreign_message(61)))
    reading = Reading(foreign, True, 1)
    detection = recognise(reading, lambda: reading)
    assert (detection.status, detection.label) == ("detected", foreign)
    assert detection.message_bit_accuracy == sum(a == b for a, b in zip(foreign, OWN, strict=True)) / 61 < 0.7


@pytest.mark.parametrize("schema", [0, 2])
def test_payloads_of_other_lengths_are_not_compared_with_the_message(schema):
    reading = Reading("0" * LENGTHS[schema], True, schema)
    assert recognise(reading, lambda: reading).message_bit_accuracy is None


def test_the_mild_jpeg_has_quality_95_and_halves_the_chroma():
    pixels = np.random.default_rng(0).integers(0, 256, (64, 48, 3)).astype(np.uint8)
    stream = io.BytesIO()
    Pillow.fromarray(pixels).save(stream, "JPEG", quality=95, subsampling=2)
    there_and_back = np.asarray(after_jpeg(Pillow.fromarray(pixels)))
    assert np.array_equal(there_and_back, np.asarray(Pillow.open(stream).convert("RGB")))


def test_a_side_that_jpeg_cannot_write_is_unsupported():
    sample = Sample("image", "0" * 64, b"", Image(np.zeros((1, 65_501, 3), np.uint8), {}, None))
    detection = TrustMark().detect(sample)
    assert (detection.status, detection.reason) == ("unsupported", "sides up to 65,500 are read, the image is 65501x1")


def test_only_an_image_is_decoded():
    with pytest.raises(TypeError, match="expected a decoded image"):
        TrustMark().detect(Sample("image", "0" * 64, b""))


MAKERS = [
    (lambda options: TrustMark(options).load(), "trustmark_P.yaml", "decoder_P.ckpt"),
    (TrustMarkEmbedder, "trustmark_P.yaml", "encoder_P.ckpt"),
    (TrustMarkRemover, "trustmark_rm_P.yaml", "trustmark_rm_P.ckpt"),
]


@pytest.mark.parametrize(("make", "configuration", "checkpoint"), MAKERS, ids=["decoder", "encoder", "remover"])
def test_missing_and_other_files_are_refused_before_anything_is_loaded(
    tmp_path, monkeypatch, make, configuration, checkpoint
):
    options = TrustMarkOptions(weights=tmp_path)
    with pytest.raises(AdapterUnavailable, match=f"{configuration} cannot be read: No such file") as refusal:
        make(options)
    assert "TrustMark(model_type='P')" in refusal.value.install
    (tmp_path / configuration).write_bytes(b"model: no")
    with pytest.raises(AdapterUnavailable) as refusal:
        make(options)
    digest = hashlib.md5(b"model: no").hexdigest()
    assert refusal.value.reason == f"{configuration} has MD5 {digest}, not the pinned {PINS[configuration]}"
    assert "TrustMark 0.9.2, variant P" in refusal.value.install
    monkeypatch.setattr(trustmark_networks, "PINS", {**PINS, configuration: digest})
    with pytest.raises(AdapterUnavailable, match=f"{checkpoint} cannot be read"):
        make(options)
    (tmp_path / checkpoint).write_bytes(b"no checkpoint")
    with pytest.raises(AdapterUnavailable, match=f"{checkpoint} has MD5 .* not the pinned {PINS[checkpoint]}"):
        make(options)


def test_without_the_package_it_is_unavailable(monkeypatch):
    monkeypatch.setattr(trustmark_networks, "find_spec", lambda name: None)
    with pytest.raises(AdapterUnavailable, match="trustmark is not installed") as refusal:
        TrustMark().load()
    assert refusal.value.install == INSTALL
    assert INSTALL.endswith("trustmark==0.9.2")


def test_by_default_the_files_are_the_packages(monkeypatch, tmp_path):
    class Spec:
        origin = str(tmp_path / "trustmark" / "__init__.py")

    monkeypatch.setattr(trustmark_networks, "find_spec", lambda name: Spec)
    with pytest.raises(AdapterUnavailable) as refusal:
        TrustMark().load()
    assert str(Path("trustmark", "models", "trustmark_P.yaml")) in refusal.value.reason


def test_it_must_be_loaded_first():
    with pytest.raises(RuntimeError, match=r"load\(\) comes first"):
        TrustMark().describe()


def test_no_weights_are_called_verified():
    assert TrustMark.verified_weights is None
