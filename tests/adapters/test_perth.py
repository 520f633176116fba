"""``perth`` without torch: the rule, the options, the ways of being unavailable. The rest is in ``tests/neural``."""

import hashlib
import math
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_benchbench import AdapterUnavailable
from pytest_benchbench.adapters import perth
from pytest_benchbench.adapters.perth import CHECKPOINT, INSTALL, PIN, Perth, PerthEmbedder, PerthOptions, decide
from pytest_benchbench.adapters.pool import AdapterChoice
from pytest_benchbench.adapters.registry import installed_registry


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A ``resemble-perth`` that carries another checkpoint than its own."""
    path = tmp_path / CHECKPOINT
    path.parent.mkdir(parents=True)
    path.write_bytes(b"another network")
    monkeypatch.setattr(perth, "distribution", lambda name: SimpleNamespace(version="1.0.1", locate_file=tmp_path.joinpath))
    return path


@pytest.mark.parametrize("confidence", [math.nextafter(0.5, 1), 0.75, 1.0])
def test_strictly_above_one_half_is_detected_and_labelled(confidence):
    detection = decide(confidence, peak=0.5)
    assert (detection.status, detection.label, detection.score) == ("detected", "perth-v1", confidence)
    assert detection.message_bit_accuracy is None


@pytest.mark.parametrize("confidence", [0.5, math.nextafter(0.5, 0), 0.0])
def test_one_half_and_below_is_not_detected_and_has_no_label(confidence):
    detection = decide(confidence, peak=0.5)
    assert (detection.status, detection.label, detection.score) == ("not_detected", None, confidence)
    assert detection.message_bit_accuracy is None


@pytest.mark.parametrize("confidence", [math.nan, math.inf])
@pytest.mark.parametrize(("peak", "status"), [(0.0, "unsupported"), (1e-12, "unsupported"), (0.5, "inference-error")])
def test_an_answer_that_is_no_number_is_never_a_verdict(confidence, peak, status):
    detection = decide(confidence, peak=peak)
    assert (detection.status, detection.score, detection.label) == (status, None, None)
    assert detection.reason


def test_importing_the_adapter_imports_no_heavy_package():
    code = (
        "import sys\n"
        "import pytest_benchbench.adapters.perth\n"
        "assert not {'torch', 'torchaudio', 'librosa', 'perth', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("make", [lambda: Perth().load(), PerthEmbedder], ids=["detector", "embedder"])
def test_without_the_package_it_is_unavailable(monkeypatch, make):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(perth, "distribution", missing)
    with pytest.raises(AdapterUnavailable, match="resemble-perth is not installed") as refusal:
        make()
    assert refusal.value.install == INSTALL
    assert "'setuptools<81'" in INSTALL
    assert "--no-deps resemble-perth==1.0.1" in INSTALL


def test_another_checkpoint_in_the_package_is_refused_before_anything_is_imported(package, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(AdapterUnavailable) as refusal:
        Perth().load()
    digest = hashlib.sha256(b"another network").hexdigest()
    assert refusal.value.reason == f"perth_net_250000.pth.tar has SHA-256 {digest}, not the pinned {PIN}"
    assert refusal.value.install == "take the file of resemble-perth 1.0.1, or accept this one with allow_unpinned=true"


def test_a_checkpoint_by_option_that_is_missing_is_named(package, tmp_path):
    with pytest.raises(AdapterUnavailable, match=r"nowhere\.tar cannot be read: No such file") as refusal:
        Perth(PerthOptions(weights=tmp_path / "nowhere.tar")).load()
    assert refusal.value.install == "point weights= at the file perth_net_250000.pth.tar of resemble-perth 1.0.1"


def test_without_torch_it_is_unavailable(package, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(AdapterUnavailable, match="torch is not installed") as refusal:
        Perth(PerthOptions(allow_unpinned=True)).load()
    assert refusal.value.install == INSTALL


def test_options_come_from_the_command_line():
    choice = AdapterChoice.parse("perth:weights=net.tar,allow_unpinned=true")
    assert choice.options_for(Perth, directory=Path("/project")) == PerthOptions(Path("/project/net.tar"), True)


def test_it_is_registered_for_audio():
    registry = installed_registry()
    assert registry.resolve("perth") is Perth
    assert registry.media_types()["perth"] == {"audio"}


def test_a_sound_must_be_decoded_and_the_network_loaded():
    with pytest.raises(TypeError, match="expected a decoded sound, not NoneType"):
        Perth().detect(SimpleNamespace(decoded=None))
    with pytest.raises(RuntimeError, match=r"load\(\) comes first"):
        Perth().describe()


def test_the_mark_is_verified_with_the_pinned_checkpoint_only():
    assert Perth.verified_weights == {PIN}
