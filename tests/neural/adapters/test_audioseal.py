"""``audioseal`` with the package's own networks, small, of random or chosen weights: all that training does not decide."""

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pytest_benchbench import AdapterUnavailable, Sample  # noqa: E402 - after the skip
from pytest_benchbench.adapters import audioseal  # noqa: E402
from pytest_benchbench.adapters.audioseal import (  # noqa: E402
    INSTALL,
    MESSAGE,
    AudioSeal,
    AudioSealEmbedder,
)
from pytest_benchbench.adapters.messages import benchmark_message, foreign_message  # noqa: E402
from pytest_benchbench.adapters.torch_runtime import inference  # noqa: E402
from pytest_benchbench.artifacts.audio import AUDIO_RATE, Audio  # noqa: E402

pytestmark = pytest.mark.skipif(find_spec("audioseal") is None, reason="audioseal is not installed")

PARTS = ("detector", "generator")


def sample(samples: np.ndarray) -> Sample:
    return Sample("audio", "0" * 64, b"", Audio(samples, {}, None))


def noise(length: int) -> np.ndarray:
    return (np.random.default_rng(length).standard_normal(length) * 0.1).astype(np.float32)


@pytest.fixture
def answering(small):
    """Make the state of a small detector that gives the same logits at every sample of any sound."""

    def make(scores: tuple[float, float], bits: tuple[float, ...]) -> dict:
        state = small.create("detector", small.card("detector")).state_dict()
        state["detector.1.weight"] = torch.zeros_like(state["detector.1.weight"])
        state["detector.1.bias"] = torch.tensor([*scores, *bits])
        return state

    return make


def load(options) -> AudioSeal:
    adapter = AudioSeal(options)
    adapter.load()
    return adapter


@pytest.fixture
def adapter(small, save, detector):
    return load(save(small.old_names(detector.state_dict())))


@pytest.fixture
def embedder(small, save, generator):
    return AudioSealEmbedder(save(small.old_names(generator.state_dict()), "generator"))


def logits(message) -> tuple[float, ...]:
    return tuple(4.0 if bit else -4.0 for bit in message)


# the rule, through the network


def test_the_score_and_the_bits_are_those_of_the_packages_own_rule(adapter, detector):
    sound = noise(AUDIO_RATE)
    no_compile = import_module("audioseal.libs.moshi.utils.compile").no_compile
    # a random network says one thing about every sample: let it say both
    state = {name: tensor.clone() for name, tensor in detector.state_dict().items()}
    with inference(), no_compile():
        raw = detector.detector(torch.from_numpy(sound)[None, None])[0]
    state["detector.1.bias"][1] += float((raw[0] - raw[1]).quantile(0.7))
    adapter.opened._network.load_state_dict(state)
    with inference(), no_compile():
        probability, message = adapter.opened._network.detect_watermark(torch.from_numpy(sound)[None, None])
    detection = adapter.detect(sample(sound))
    assert detection.score == pytest.approx(float(probability[0]), abs=1e-7)
    assert 0.6 < detection.score < 0.8
    assert detection.label == "".join(map(str, message[0].tolist()))


def test_equal_logits_are_one_half_and_no_mark(answering, save):
    detection = load(save(answering((0.0, 0.0), logits(MESSAGE)))).detect(sample(noise(1_000)))
    assert (detection.status, detection.score, detection.label) == ("not_detected", 0.0, None)


def test_a_logit_above_the_other_is_a_mark_with_the_message(answering, save):
    detection = load(save(answering((0.0, 0.01), logits(MESSAGE)))).detect(sample(noise(1_000)))
    assert (detection.status, detection.score) == ("detected", 1.0)
    assert detection.label == "".join(map(str, benchmark_message(16)))
    assert detection.message_bit_accuracy == 1.0


def test_a_foreign_message_stays_detected_under_another_label(answering, save):
    detection = load(save(answering((-3.0, 3.0), logits(foreign_message(16))))).detect(sample(noise(1_000)))
    assert (detection.status, detection.label) == ("detected", "".join(map(str, foreign_message(16))))
    assert detection.message_bit_accuracy < 1.0


def test_a_bit_of_logit_zero_is_a_0(answering, save):
    detection = load(save(answering((-3.0, 3.0), (0.0, 0.01) * 8))).detect(sample(noise(1_000)))
    assert detection.label == "01" * 8


@pytest.mark.parametrize("length", [320, 321, 16_000, 16_001])
def test_every_sample_of_a_sound_at_16_khz_has_a_say(adapter, length):
    scores, bits = adapter.opened.read(noise(length))
    assert (scores.shape, bits.shape, scores.dtype) == ((length,), (16,), np.float32)
    assert f"of {length:,} samples above 0.5" in adapter.detect(sample(noise(length))).reason


def test_silence_is_answered_like_any_sound(adapter):
    detection = adapter.detect(sample(np.zeros(16_000, np.float32)))
    assert detection.status in {"detected", "not_detected"}
    assert detection.score is not None


@pytest.mark.parametrize("length", [0, 1, 319])
def test_less_than_one_frame_is_too_small(adapter, embedder, length):
    detection = adapter.detect(sample(noise(length)))
    assert detection.status == "too-small"
    assert detection.reason == f"320 samples (20.0 ms) are needed, the sound has {length}"
    with pytest.raises(ValueError, match="320 samples"):
        embedder.embed_samples(noise(length))


def test_a_sound_that_is_too_long_is_not_tried(adapter, embedder, monkeypatch):
    monkeypatch.setattr(audioseal, "MAXIMUM_SECONDS", 1)
    detection = adapter.detect(sample(noise(24_000)))
    assert (detection.status, detection.reason) == ("unsupported", "1 s are taken at most, the sound has 1.50 s")
    with pytest.raises(ValueError, match="1 s are taken at most"):
        embedder.embed_samples(noise(24_000))


def test_weights_whose_answer_overflows_give_no_verdict(answering, save):
    state = answering((-3.0, 3.0), logits(MESSAGE))
    state["detector.1.weight"] += 3e38
    last = [name for name in state if name.startswith("detector.0.") and name.endswith(".bias")][-1]
    state[last] += 100.0
    assert load(save(state)).detect(sample(noise(1_000))).status == "inference-error"


def test_the_same_sound_gives_the_same_answer_on_any_number_of_threads(adapter):
    before = torch.get_num_threads()
    try:
        answers = []
        for threads in (1, 2, 2):
            torch.set_num_threads(threads)
            answers.append([array.tolist() for array in adapter.opened.read(noise(16_000))])
    finally:
        torch.set_num_threads(before)
    assert answers[0] == answers[1] == answers[2]


# embedding


def test_a_marked_sound_is_as_long_and_differs(embedder):
    for length in (320, 16_001):
        marked = embedder.embed_samples(noise(length))
        assert (marked.shape, marked.dtype) == ((length,), np.float32)
        assert not np.array_equal(marked, noise(length))


def test_the_mark_is_the_packages(embedder, generator):
    with inference(), import_module("audioseal.libs.moshi.utils.compile").no_compile():
        expected = generator(torch.from_numpy(noise(16_000))[None, None], message=torch.tensor([foreign_message(16)]))
    np.testing.assert_array_equal(embedder.embed_samples(noise(16_000), foreign_message(16)), expected[0, 0].numpy())


def test_without_a_message_it_is_the_benchmarks_own(embedder):
    own = embedder.embed_samples(noise(16_000))
    np.testing.assert_array_equal(own, embedder.embed_samples(noise(16_000), MESSAGE))
    assert not np.array_equal(own, embedder.embed_samples(noise(16_000), foreign_message(16)))


def test_the_embedder_of_the_adapter_marks_a_decoded_sound(small, save, generator, detector, embedder):
    options = save(small.old_names(generator.state_dict()), "generator")
    sound = AudioSeal(options).embedder().embed(sample(noise(16_000)))
    np.testing.assert_array_equal(sound.samples, embedder.embed_samples(noise(16_000)))
    assert not sound.samples.flags.writeable
    assert sound.decoding == {"rule": "embedded", "size": [16_000], "rate": 16_000}


@pytest.mark.parametrize("message", [(), (1,) * 15, (1,) * 17, (0, 2) * 8])
def test_a_message_of_another_kind_is_refused(embedder, message):
    with pytest.raises(ValueError, match="expected a message of 16 bits, each 0 or 1"):
        embedder.embed_samples(noise(16_000), message)


@pytest.mark.parametrize(
    "samples", [np.zeros((2, 16_000), np.float32), np.zeros(16_000), np.full(16_000, np.inf, np.float32)]
)
def test_what_is_no_mono_sound_is_refused(embedder, samples):
    with pytest.raises(ValueError, match=r"expected \(n,\) float32|not finite"):
        embedder.embed_samples(samples)


# the process around it


def test_nothing_is_compiled(adapter, embedder, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a network is compiled")

    monkeypatch.setattr(torch, "compile", refuse)
    adapter.detect(sample(embedder.embed_samples(noise(16_000))))
    with pytest.raises(AssertionError, match="a network is compiled"):  # as the package does when it is left alone
        embedder._network._network(torch.zeros(1, 1, 1_000), message=torch.tensor([MESSAGE]))


def test_without_what_audioseal_imports_it_is_unavailable(save, detector, monkeypatch):
    options = save(detector.state_dict())
    for name in [name for name in sys.modules if name.partition(".")[0] in {"audioseal", "omegaconf"}]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "omegaconf", None)
    with pytest.raises(AdapterUnavailable, match=r"^omegaconf, which audioseal imports, is not installed") as refusal:
        load(options)
    assert refusal.value.install == INSTALL
    for name in [name for name in sys.modules if name.partition(".")[0] == "audioseal"]:
        del sys.modules[name]


def test_nothing_is_printed_or_warned_where_warnings_are_errors(small, save, detector):
    options = save(small.old_names(small.with_norms(detector.state_dict(), small.norms[0])))
    code = (
        "import sys, numpy as np\n"
        "from pathlib import Path\n"
        "from pytest_benchbench import Sample\n"
        "from pytest_benchbench.adapters.audioseal import AudioSeal, AudioSealOptions\n"
        "from pytest_benchbench.artifacts.audio import Audio\n"
        "adapter = AudioSeal(AudioSealOptions(weights=Path(sys.argv[1]), allow_unpinned=True))\n"
        "adapter.load()\n"
        "adapter.detect(Sample('audio', '0' * 64, b'', Audio(np.ones(16000, np.float32), {}, None)))\n"
    )
    command = [sys.executable, "-W", "error", "-c", code, str(options.weights)]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_the_description_names_versions_rule_and_weights(adapter):
    description = adapter.describe()
    assert description.version == f"audioseal 0.2.0, torch {torch.__version__}"
    assert description.rule.startswith("the share of samples with a probability above 0.5 is 0.5 or more; the label is")
    assert description.rule.endswith("; the weights are not the pinned ones (allow_unpinned)")
    assert [weights.name for weights in description.weights] == ["detector.pth"]
