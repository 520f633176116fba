"""``audioseal`` without torch: the rule at its boundaries, where weights are looked for, what is refused."""

import hashlib
import math
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pytest_benchbench import AdapterUnavailable
from pytest_benchbench.adapters import audioseal
from pytest_benchbench.adapters.audioseal import (
    DETECTOR,
    GENERATOR,
    INSTALL,
    MESSAGE,
    PINS,
    AudioSeal,
    AudioSealEmbedder,
    AudioSealOptions,
    cached_checkpoint,
    decide,
)
from pytest_benchbench.adapters.messages import benchmark_message, foreign_message
from pytest_benchbench.adapters.pool import AdapterChoice
from pytest_benchbench.adapters.registry import installed_registry

OWN = np.array(MESSAGE, dtype=np.float32)
ABOVE = np.nextafter(np.float32(0.5), np.float32(1))


def probabilities(marked: int, unmarked: int) -> np.ndarray:
    return np.array([0.9] * marked + [0.1] * unmarked, dtype=np.float32)


@pytest.fixture
def package(monkeypatch):
    """Let what comes after the imports be reached without torch."""
    monkeypatch.setattr(audioseal, "import_torch", lambda install: SimpleNamespace(__version__="0"))
    monkeypatch.setattr(audioseal, "import_audioseal", lambda: SimpleNamespace(__version__="0"))


def test_half_of_the_samples_is_enough():
    detection = decide(probabilities(8, 8), OWN)
    assert (detection.status, detection.score) == ("detected", 0.5)


def test_one_sample_less_than_half_is_not():
    detection = decide(probabilities(63_999, 64_001), OWN)
    assert (detection.status, detection.label) == ("not_detected", None)
    assert detection.score == 63_999 / 128_000
    assert detection.reason == "63,999 of 128,000 samples above 0.5, 16/16 bits"


def test_a_sample_at_one_half_is_not_marked_and_the_next_number_is():
    assert decide(np.full(4, 0.5, np.float32), OWN).score == 0.0
    assert decide(np.full(4, ABOVE, np.float32), OWN).score == 1.0


def test_a_bit_at_one_half_is_a_0_and_the_next_number_is_a_1():
    bits = np.array([0.5, ABOVE] * 8, dtype=np.float32)
    assert decide(probabilities(1, 0), bits).label == "01" * 8


def test_the_own_message_is_the_label_and_agrees_in_every_bit():
    detection = decide(probabilities(1, 0), OWN)
    assert detection.label == "".join(map(str, benchmark_message(16)))
    assert detection.message_bit_accuracy == 1.0


def test_a_foreign_message_stays_detected_under_another_label():
    detection = decide(probabilities(1, 0), np.array(foreign_message(16), dtype=np.float32))
    assert detection.status == "detected"
    assert detection.label == "".join(map(str, foreign_message(16))) != "".join(map(str, MESSAGE))
    equal = sum(a == b for a, b in zip(foreign_message(16), MESSAGE, strict=True))
    assert detection.message_bit_accuracy == equal / 16 < 1


def test_without_a_mark_there_is_no_label_but_the_share_of_bits_stays():
    detection = decide(probabilities(0, 4), 1 - OWN)
    assert (detection.status, detection.label, detection.message_bit_accuracy) == ("not_detected", None, 0.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_an_answer_that_is_no_number_is_never_a_verdict(bad):
    for scores, bits in ((np.array([bad, 0.9]), OWN), (probabilities(2, 0), np.where(OWN == 1, bad, 0))):
        detection = decide(scores, bits)
        assert (detection.status, detection.score, detection.label) == ("inference-error", None, None)


@given(
    st.lists(st.floats(0, 1, width=32), min_size=1, max_size=60),
    st.lists(st.floats(0, 1, width=32), min_size=16, max_size=16),
)
def test_the_rule_is_the_one_of_the_package_on_any_answer(scores, bits):
    detection = decide(np.array(scores, np.float32), np.array(bits, np.float32))
    fraction = sum(score > 0.5 for score in scores) / len(scores)
    assert detection.score == fraction
    assert (detection.status == "detected") == (fraction >= 0.5)
    assert detection.label in (None, "".join("1" if bit > 0.5 else "0" for bit in bits))


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"AUDIOSEAL_CACHE_DIR": "/a", "XDG_CACHE_HOME": "/x"}, "/a/audioseal"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/audioseal"),
        ({"AUDIOSEAL_CACHE_DIR": ""}, "/home/of/user/.cache/audioseal"),
    ],
)
def test_the_cache_is_the_packages_own(monkeypatch, variables, expected):
    for name in ("AUDIOSEAL_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/of/user")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cached_checkpoint(DETECTOR) == Path(expected, "94c8df0b1d5ea8e45af4c884")


@pytest.mark.parametrize(
    ("make", "name", "option"),
    [(lambda: AudioSeal().load(), DETECTOR, "weights"), (AudioSealEmbedder, GENERATOR, "generator")],
    ids=["detector", "generator"],
)
def test_missing_weights_are_named_with_digest_and_place_and_never_downloaded(
    package, monkeypatch, tmp_path, make, name, option
):
    monkeypatch.setenv("AUDIOSEAL_CACHE_DIR", str(tmp_path))
    with pytest.raises(AdapterUnavailable) as refusal:
        make()
    assert refusal.value.reason.endswith(f"{name} with SHA-256 {PINS[name]}, are not on this machine")
    assert refusal.value.install.endswith(f"point {option}= at it, or put it at {cached_checkpoint(name)}")
    assert not list(tmp_path.iterdir())  # the package's own look at its cache makes a directory


def test_other_bytes_in_the_cache_are_refused(package, monkeypatch, tmp_path):
    monkeypatch.setenv("AUDIOSEAL_CACHE_DIR", str(tmp_path))
    cached = cached_checkpoint(DETECTOR)
    cached.parent.mkdir()
    cached.write_bytes(b"another network")
    with pytest.raises(AdapterUnavailable) as refusal:
        AudioSeal().load()
    digest = hashlib.sha256(b"another network").hexdigest()
    assert refusal.value.reason == f"{cached.name} has SHA-256 {digest}, not the pinned {PINS[DETECTOR]}"
    assert "revision 3c19eba53390776cf2cc9ed5f6c9ac67ce72ecba, or accept" in refusal.value.install


def test_the_generator_is_not_taken_for_the_detector(package, tmp_path):
    (tmp_path / GENERATOR).write_bytes(b"the generator")
    with pytest.raises(AdapterUnavailable, match=f"not the pinned {PINS[DETECTOR]}"):
        AudioSeal(AudioSealOptions(weights=tmp_path / GENERATOR, generator=tmp_path / GENERATOR)).load()


def test_weights_by_option_that_are_missing_are_named(package, tmp_path):
    with pytest.raises(AdapterUnavailable, match=r"nowhere\.pth cannot be read: No such file") as refusal:
        AudioSeal(AudioSealOptions(weights=tmp_path / "nowhere.pth")).load()
    assert PINS[DETECTOR] in refusal.value.install


@pytest.mark.parametrize("make", [lambda: AudioSeal().load(), AudioSealEmbedder], ids=["detector", "embedder"])
def test_without_torch_it_is_unavailable(monkeypatch, make):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(AdapterUnavailable, match="torch is not installed") as refusal:
        make()
    assert refusal.value.install == INSTALL


def test_importing_the_adapter_imports_no_heavy_package():
    code = (
        "import sys\n"
        "import pytest_benchbench.adapters.audioseal\n"
        "assert not {'torch', 'omegaconf', 'audioseal'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_options_come_from_the_command_line():
    choice = AdapterChoice.parse("audioseal:weights=d.pth,generator=g.pth,card=c.yaml,allow_unpinned=true")
    expected = AudioSealOptions(*(Path("/project", name) for name in ("d.pth", "g.pth", "c.yaml")), True)
    assert choice.options_for(AudioSeal, directory=Path("/project")) == expected


def test_it_is_registered_for_audio_and_wired_only():
    registry = installed_registry()
    assert registry.resolve("audioseal") is AudioSeal
    assert registry.media_types()["audioseal"] == {"audio"}
    assert AudioSeal.verified_weights is None


def test_it_must_be_loaded_first():
    with pytest.raises(RuntimeError, match=r"load\(\) comes first"):
        AudioSeal().describe()
