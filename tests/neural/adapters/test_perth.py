"""``perth`` with the package's own network: known marks, what it cannot answer, and every way of being absent or broken."""

import subprocess
import sys
from importlib import import_module
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import yaml

torch = pytest.importorskip("torch")
pytest.importorskip("librosa")

from pytest_benchbench import AdapterUnavailable, Sample  # noqa: E402 - after the skips
from pytest_benchbench.adapters import perth  # noqa: E402
from pytest_benchbench.adapters.perth import CHECKPOINT, INSTALL, PIN, Perth, PerthEmbedder, PerthOptions  # noqa: E402
from pytest_benchbench.adapters.pool import AdapterChoice, AdapterLoadError, PooledAdapter  # noqa: E402
from pytest_benchbench.adapters.torch_runtime import CheckpointError, hushed, load_checkpoint  # noqa: E402
from pytest_benchbench.artifacts.audio import AUDIO_RATE, Audio, decode_audio  # noqa: E402
from pytest_benchbench.cohorts.sounds import encode_wav  # noqa: E402

pytestmark = pytest.mark.skipif(find_spec("perth") is None, reason="resemble-perth is not installed")


def sample(samples: np.ndarray) -> Sample:
    return Sample("audio", "0" * 64, b"", Audio(samples, {}, None))


def brown_noise(length: int, seed: int = 0) -> np.ndarray:
    walk = np.cumsum(np.random.default_rng(seed).standard_normal(length))
    walk -= walk.mean()
    return (0.5 * walk / np.abs(walk).max()).astype(np.float32)


def harmonic_tone(length: int) -> np.ndarray:
    time = np.arange(length) / AUDIO_RATE
    return sum(0.1 * np.sin(2 * np.pi * 220 * k * time) / k for k in range(1, 9)).astype(np.float32)


def installed_checkpoint() -> Path:
    return Path(str(distribution("resemble-perth").locate_file(CHECKPOINT)))


@pytest.fixture(scope="module")
def adapter():
    adapter = Perth()
    adapter.load()
    yield adapter
    adapter.close()


@pytest.fixture(scope="module")
def embedder() -> PerthEmbedder:
    return PerthEmbedder()


@pytest.fixture(scope="module")
def carrier() -> np.ndarray:
    carrier = brown_noise(8 * AUDIO_RATE)
    carrier.flags.writeable = False
    return carrier


@pytest.fixture(scope="module")
def marked(embedder, carrier) -> np.ndarray:
    return embedder.embed_samples(carrier)


@pytest.fixture
def fresh_imports(monkeypatch):
    """Let perth and torchaudio be imported anew, and give back the modules of before afterwards."""
    for name in [name for name in sys.modules if name.partition(".")[0] in {"perth", "torchaudio", "pkg_resources"}]:
        monkeypatch.delitem(sys.modules, name)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in {"perth", "torchaudio", "pkg_resources"}:
            del sys.modules[name]


@pytest.fixture
def checkpoint(tmp_path):
    """Write the installed checkpoint, changed, to a file."""

    def write(change=lambda checkpoint: checkpoint):
        checkpoint = change(load_checkpoint(installed_checkpoint().read_bytes()))
        torch.save(checkpoint, tmp_path / "other.pth.tar")
        return PerthOptions(weights=tmp_path / "other.pth.tar", allow_unpinned=True)

    return write


def load(options=None) -> Perth:
    adapter = Perth(options)
    adapter.load()
    return adapter


# known marks


def test_marked_noise_is_detected_and_the_same_noise_unmarked_is_not(adapter, carrier, marked):
    found, clean = adapter.detect(sample(marked)), adapter.detect(sample(carrier))
    assert (found.status, found.label) == ("detected", "perth-v1")
    assert found.score > 0.99
    assert (clean.status, clean.label) == ("not_detected", None)
    assert clean.score < 0.1
    assert found.message_bit_accuracy is clean.message_bit_accuracy is None


def test_the_mark_survives_a_16_bit_file(adapter, marked):
    decoded = decode_audio(encode_wav(marked))
    assert adapter.detect(Sample("audio", "0" * 64, b"", decoded)).status == "detected"


def test_a_harmonic_tone_is_missed_as_published(adapter, embedder):
    tone = harmonic_tone(8 * AUDIO_RATE)
    detection = adapter.detect(sample(embedder.embed_samples(tone)))
    assert detection.status == "not_detected"
    assert adapter.detect(sample(tone)).score < detection.score < 0.5


def test_an_offset_without_sound_is_a_false_alarm_as_documented(adapter):
    detection = adapter.detect(sample(np.full(16_000, 0.3, np.float32)))
    assert detection.status == "detected"
    assert detection.score == pytest.approx(0.92, abs=0.01)


def test_the_score_is_the_packages_unrounded_answer(adapter, marked):
    theirs = adapter.opened._watermarker.get_watermark(marked[:16_000], sample_rate=16_000, round=False)
    assert adapter.detect(sample(marked[:16_000])).score == pytest.approx(float(theirs), abs=1e-5)


def test_the_embedder_of_the_adapter_marks_a_decoded_sound(adapter, carrier, marked):
    sound = adapter.embedder().embed(sample(carrier))
    np.testing.assert_array_equal(sound.samples, marked)
    assert not sound.samples.flags.writeable
    assert sound.decoding == {"rule": "embedded", "size": [128_000], "rate": 16_000}


def test_the_mark_adds_to_the_sound_and_does_not_shift_it(carrier, marked):
    error = marked - carrier
    assert 10 < 10 * np.log10(np.square(carrier).sum() / np.square(error).sum()) < 25


@pytest.mark.parametrize("length", [513, 8_000, 8_001, 8_159, 8_160])
def test_a_marked_sound_has_the_largest_multiple_of_160_samples(embedder, carrier, length):
    assert embedder.embed_samples(carrier[:length]).shape == (length // 160 * 160,)


# the same answer again


def test_a_second_run_and_a_second_instance_give_the_same_bits(adapter, marked, carrier):
    once = adapter.detect(sample(marked))
    assert adapter.detect(sample(marked)) == once == load().detect(sample(marked))
    np.testing.assert_array_equal(PerthEmbedder().embed_samples(carrier), marked)


def test_the_number_of_threads_changes_nothing(adapter, marked):
    before = torch.get_num_threads()
    try:
        answers = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            answers.append(adapter.detect(sample(marked)))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert answers[0] == answers[1]


def test_a_marked_sound_is_the_same_to_the_last_bit_on_any_number_of_threads(embedder, carrier):
    """The package by itself gives other last bits with two threads, and an artifact would depend on the machine."""
    before = torch.get_num_threads()
    try:
        marked = [torch.set_num_threads(threads) or embedder.embed_samples(carrier) for threads in (1, 2)]
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(*marked)


# what has no answer


def test_silence_has_no_verdict_where_the_package_says_nan(adapter):
    for silence in (np.zeros(16_000, np.float32), np.full(16_000, 1e-13, np.float32)):
        assert np.isnan(adapter.opened.confidence(silence))
        detection = adapter.detect(sample(silence))
        assert (detection.status, detection.score) == ("unsupported", None)
        assert detection.reason == "the sound is silent: the detector gives no number for it"


@pytest.mark.parametrize("length", [0, 1, 160, 512])
def test_a_sound_that_the_package_cannot_pad_is_too_small(adapter, carrier, length):
    detection = adapter.detect(sample(carrier[:length]))
    assert detection.status == "too-small"
    assert detection.reason == f"513 samples (32.1 ms) are needed, the sound has {length}"
    with pytest.raises(RuntimeError):
        adapter.opened.confidence(carrier[:length])


def test_the_shortest_sound_that_the_package_can_pad_is_answered(adapter, carrier):
    assert adapter.detect(sample(carrier[:513])).status == "not_detected"


def test_a_sound_that_is_too_long_is_not_tried(adapter, embedder, monkeypatch):
    monkeypatch.setattr(perth, "MAXIMUM_SECONDS", 1)
    long = np.ones(16_001, np.float32)
    detection = adapter.detect(sample(long))
    assert (detection.status, detection.reason) == ("unsupported", "1 s are taken at most, the sound has 1.00 s")
    with pytest.raises(ValueError, match="1 s are taken at most"):
        embedder.embed_samples(long)


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        (np.zeros((2, 16_000), np.float32), r"expected \(n,\) float32, not \(2, 16000\) float32"),
        (np.zeros((16_000, 2), np.float32), r"not \(16000, 2\) float32"),
        (np.zeros(16_000), "not .* float64"),
        (np.zeros(16_000, np.int16), "not .* int16"),
        (np.full(16_000, np.nan, np.float32), "a sample is not finite"),
        (np.zeros(16_000, np.float32), "the sound is silent"),
        (np.ones(512, np.float32), "513 samples .* are needed, the sound has 512"),
        (np.zeros(0, np.float32), "the sound has 0"),
    ],
)
def test_what_cannot_be_marked_is_refused(embedder, samples, said):
    with pytest.raises(ValueError, match=said):
        embedder.embed_samples(samples)


def test_there_is_no_message(embedder, carrier):
    with pytest.raises(ValueError, match="perth carries no message"):
        embedder.embed_samples(carrier, (1, 0))


# what stands behind the answers


def test_the_description_names_package_checkpoint_and_transforms(adapter):
    description = adapter.describe()
    assert [(weights.name, weights.sha256) for weights in description.weights] == [("perth_net_250000.pth.tar", PIN)]
    version = distribution("resemble-perth").version
    assert description.version.startswith(f"resemble-perth {version}, torch {torch.__version__}, librosa ")
    assert description.rule == "confidence above 0.5 is perth-v1"


def test_the_configuration_in_the_code_is_the_one_beside_the_checkpoint():
    load()
    stored = yaml.safe_load(installed_checkpoint().with_name("hparams.yaml").read_text())
    assert import_module("perth.perth_net.perth_net_implicit.config").default_hp._asdict() == stored


def test_another_file_with_the_same_network_is_taken_on_request_and_named(checkpoint, adapter, marked):
    options = checkpoint()
    with pytest.raises(AdapterUnavailable, match=f"not the pinned {PIN}"):
        load(PerthOptions(weights=options.weights))
    other = load(options)
    assert other.detect(sample(marked)) == adapter.detect(sample(marked))
    assert other.describe().rule.endswith("; the weights are not the pinned ones (allow_unpinned)")


def lose(checkpoint):
    del checkpoint["model"]["decoder.fast_layers.0.conv.weight"]
    return checkpoint


def shrink(checkpoint):
    checkpoint["model"]["encoder.layers.0.conv.bias"] = torch.zeros(3)
    return checkpoint


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lose, "1 missing (first: decoder.fast_layers.0.conv.weight)"),
        (shrink, "1 of another shape (first: encoder.layers.0.conv.bias)"),
        (lambda checkpoint: {"model": {"weight": torch.zeros(1)}}, "1 unknown (first: weight)"),
        (lambda checkpoint: {"model": None}, "the checkpoint holds no state dict for this network"),
        (lambda checkpoint: {"step": 1}, "the checkpoint has no entry 'model'"),
        (lambda checkpoint: torch.zeros(3), "the checkpoint has no entry 'model'"),
    ],
)
def test_the_checkpoint_of_another_network_fails_to_load(checkpoint, change, said):
    options = checkpoint(change)
    with pytest.raises(CheckpointError) as fault:
        load(options)
    assert said in str(fault.value)


def test_a_wrong_checkpoint_is_an_error_of_every_row(checkpoint):
    options = checkpoint(shrink)
    pooled = PooledAdapter(AdapterChoice("perth", "perth"), lambda: Perth(options))
    for _ in range(2):
        with pytest.raises(AdapterLoadError, match=r"^CheckpointError: the checkpoint is of another network"):
            pooled.load()


# packages that are absent or broken


def test_without_pkg_resources_the_package_hides_its_failure_and_the_adapter_tells_it(fresh_imports, monkeypatch):
    monkeypatch.setitem(sys.modules, "pkg_resources", None)
    with pytest.raises(AdapterUnavailable) as refusal:
        load()
    assert refusal.value.reason == "pkg_resources, which perth imports, is not installed"
    assert refusal.value.install == INSTALL
    assert sys.modules["perth"].PerthImplicitWatermarker is None


@pytest.mark.parametrize("module", ["librosa", "scipy.signal"])
def test_without_what_perth_imports_the_adapter_is_unavailable(fresh_imports, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(AdapterUnavailable, match=f"^{module.partition('.')[0]}.* is not installed") as refusal:
        load()
    assert refusal.value.install == INSTALL


def test_a_watermarker_that_is_none_is_unavailable(fresh_imports, monkeypatch):
    load()
    monkeypatch.setattr(
        sys.modules["perth.perth_net.perth_net_implicit.perth_watermarker"], "PerthImplicitWatermarker", None
    )
    with pytest.raises(AdapterUnavailable, match="perth has no PerthImplicitWatermarker"):
        load()


def test_a_package_that_was_imported_in_vain_before_is_no_obstacle(fresh_imports, monkeypatch):
    monkeypatch.setitem(sys.modules, "torchaudio", None)
    with hushed():
        assert import_module("perth").PerthImplicitWatermarker is None
    assert "transforms of pytest-benchbench" in load().describe().version


def test_a_missing_torchaudio_is_stood_in_for_only_while_perth_is_imported(fresh_imports, monkeypatch):
    monkeypatch.setitem(sys.modules, "torchaudio", None)
    assert load().describe().version.endswith(", transforms of pytest-benchbench")
    assert sys.modules["torchaudio"] is None
    assert "torchaudio.transforms" not in sys.modules


@pytest.mark.parametrize(
    "failure", ["raise OSError('libtorch_cuda.so: cannot open shared object file')", "import torchaudio.nothing"]
)
def test_a_broken_torchaudio_is_stood_in_for(fresh_imports, monkeypatch, tmp_path, marked, failure):
    (tmp_path / "torchaudio").mkdir()
    (tmp_path / "torchaudio" / "part.py").write_text("")
    (tmp_path / "torchaudio" / "__init__.py").write_text(f"import torchaudio.part\n{failure}")
    monkeypatch.syspath_prepend(tmp_path)
    adapter = load()
    assert adapter.detect(sample(marked)).status == "detected"
    assert adapter.describe().version.endswith(", transforms of pytest-benchbench")
    assert not [name for name in sys.modules if name.startswith("torchaudio")]


def test_a_torchaudio_that_works_is_used_and_named(fresh_imports, monkeypatch, tmp_path, marked):
    (tmp_path / "torchaudio").mkdir()
    (tmp_path / "torchaudio" / "__init__.py").write_text("__version__ = '9.9'")
    source = "from pytest_benchbench.adapters.torchaudio_transforms import *"
    (tmp_path / "torchaudio" / "transforms.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    adapter = load()
    assert adapter.detect(sample(marked)).status == "detected"
    assert adapter.describe().version.endswith(", torchaudio 9.9")
    assert sys.modules["torchaudio"].__version__ == "9.9"


def test_nothing_is_printed_or_warned_where_warnings_are_errors():
    code = (
        "import numpy as np\n"
        "from pytest_benchbench import Sample\n"
        "from pytest_benchbench.adapters.perth import Perth\n"
        "from pytest_benchbench.artifacts.audio import Audio\n"
        "adapter = Perth()\n"
        "adapter.load()\n"
        "samples = np.ones(16000, np.float32)\n"
        "adapter.detect(Sample('audio', '0' * 64, b'', Audio(samples, {}, None)))\n"
        "adapter.embedder().embed_samples(samples)\n"
    )
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], check=False, capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
