"""``audioseal`` with the package's own networks, small, of random or chosen weights: all that training does not decide."""

import hashlib
import io
import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import yaml

torch = pytest.importorskip("torch")

from pytest_benchbench import AdapterUnavailable, Sample  # noqa: E402 - after the skip
from pytest_benchbench.adapters import audioseal  # noqa: E402
from pytest_benchbench.adapters.audioseal import (  # noqa: E402
    DETECTOR,
    INSTALL,
    MESSAGE,
    AudioSeal,
    AudioSealEmbedder,
    AudioSealOptions,
    cached_checkpoint,
    import_audioseal,
)
from pytest_benchbench.adapters.audioseal_checkpoints import CARDS, load as load_tensors  # noqa: E402
from pytest_benchbench.adapters.messages import benchmark_message, foreign_message  # noqa: E402
from pytest_benchbench.adapters.pool import AdapterChoice, AdapterLoadError, PooledAdapter  # noqa: E402
from pytest_benchbench.adapters.torch_runtime import CheckpointError, hushed, inference  # noqa: E402
from pytest_benchbench.artifacts.audio import AUDIO_RATE, Audio  # noqa: E402

pytestmark = pytest.mark.skipif(find_spec("audioseal") is None, reason="audioseal is not installed")

PARTS = ("detector", "generator")


def sample(samples: np.ndarray) -> Sample:
    return Sample("audio", "0" * 64, b"", Audio(samples, {}, None))


def noise(length: int) -> np.ndarray:
    return (np.random.default_rng(length).standard_normal(length) * 0.1).astype(np.float32)


def small_card(part: str, **changed) -> dict:
    """The package's own card with a network of a thirtieth of the size."""
    path = Path(import_audioseal().__file__).parent / "cards" / f"{CARDS[part]}.yaml"
    card = yaml.safe_load(path.read_text())
    del card["checkpoint"]
    card["seanet"] |= {"n_filters": 4, "dimension": 16, "lstm": 1} | changed.pop("seanet", {})
    return card | changed


def create(part: str, card: dict, seed: int = 0):
    import_audioseal()
    builder, loader = import_module("audioseal.builder"), import_module("audioseal.loader")
    torch.manual_seed(seed)
    with hushed():
        if part == "detector":
            return builder.create_detector(loader.AudioSeal.parse_config(card, builder.AudioSealDetectorConfig))
        return builder.create_generator(loader.AudioSeal.parse_config(card, builder.AudioSealWMConfig))


def old_names(state: dict) -> dict:
    """The names of before version 0.2, which the published checkpoints have."""
    return {name.replace(".inner_conv.", ".").replace(".inner_convtr.", "."): tensor for name, tensor in state.items()}


def with_norms(state: dict, ends: tuple[str, str]) -> dict:
    """The state of before weight norms were resolved, with other scales than those of the resolved weights."""
    normed = {}
    for name, tensor in state.items():
        if name.endswith(("conv.weight", "convtr.weight")):
            prefix = name.removesuffix(".weight")
            norm = torch.linalg.vector_norm(tensor, dim=tuple(range(1, tensor.ndim)), keepdim=True)
            normed[prefix + ends[0]], normed[prefix + ends[1]] = norm * 0.5, tensor
        else:
            normed[name] = tensor
    return normed


NORMS = [(".weight_g", ".weight_v"), (".parametrizations.weight.original0", ".parametrizations.weight.original1")]


def answering(scores: tuple[float, float], bits: tuple[float, ...]) -> dict:
    """The state of a small detector that gives the same logits at every sample of any sound."""
    state = create("detector", small_card("detector")).state_dict()
    state["detector.1.weight"] = torch.zeros_like(state["detector.1.weight"])
    state["detector.1.bias"] = torch.tensor([*scores, *bits])
    return state


@pytest.fixture
def save(tmp_path):
    """Write a checkpoint and give the options that take it."""

    def write(state, part="detector", configuration=None, **options):
        path = tmp_path / f"{part}.pth"
        configuration = small_card(part) if configuration is None else configuration
        torch.save({"xp.cfg": configuration, "model": state} if configuration else state, path)
        key = {"detector": "weights", "generator": "generator"}[part]
        return AudioSealOptions(**{key: path, "allow_unpinned": True} | options)

    return write


def load(options) -> AudioSeal:
    adapter = AudioSeal(options)
    adapter.load()
    return adapter


@pytest.fixture(scope="module")
def detector():
    return create("detector", small_card("detector"))


@pytest.fixture(scope="module")
def generator():
    return create("generator", small_card("generator"), seed=1)


@pytest.fixture
def adapter(save, detector):
    return load(save(old_names(detector.state_dict())))


@pytest.fixture
def embedder(save, generator):
    return AudioSealEmbedder(save(old_names(generator.state_dict()), "generator"))


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
    adapter._network._network.load_state_dict(state)
    with inference(), no_compile():
        probability, message = adapter._network._network.detect_watermark(torch.from_numpy(sound)[None, None])
    detection = adapter.detect(sample(sound))
    assert detection.score == pytest.approx(float(probability[0]), abs=1e-7)
    assert 0.6 < detection.score < 0.8
    assert detection.label == "".join(map(str, message[0].tolist()))


def test_equal_logits_are_one_half_and_no_mark(save):
    detection = load(save(answering((0.0, 0.0), logits(MESSAGE)))).detect(sample(noise(1_000)))
    assert (detection.status, detection.score, detection.label) == ("not_detected", 0.0, None)


def test_a_logit_above_the_other_is_a_mark_with_the_message(save):
    detection = load(save(answering((0.0, 0.01), logits(MESSAGE)))).detect(sample(noise(1_000)))
    assert (detection.status, detection.score) == ("detected", 1.0)
    assert detection.label == "".join(map(str, benchmark_message(16)))
    assert detection.message_bit_accuracy == 1.0


def test_a_foreign_message_stays_detected_under_another_label(save):
    detection = load(save(answering((-3.0, 3.0), logits(foreign_message(16))))).detect(sample(noise(1_000)))
    assert (detection.status, detection.label) == ("detected", "".join(map(str, foreign_message(16))))
    assert detection.message_bit_accuracy < 1.0


def test_a_bit_of_logit_zero_is_a_0(save):
    detection = load(save(answering((-3.0, 3.0), (0.0, 0.01) * 8))).detect(sample(noise(1_000)))
    assert detection.label == "01" * 8


@pytest.mark.parametrize("length", [320, 321, 16_000, 16_001])
def test_every_sample_of_a_sound_at_16_khz_has_a_say(adapter, length):
    scores, bits = adapter._network.read(noise(length))
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


def test_weights_whose_answer_overflows_give_no_verdict(save):
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
            answers.append([array.tolist() for array in adapter._network.read(noise(16_000))])
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


def test_the_embedder_of_the_adapter_marks_a_decoded_sound(save, generator, detector, embedder):
    options = save(old_names(generator.state_dict()), "generator")
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


# checkpoints


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("rename", [old_names, dict], ids=["old", "new"])
def test_names_of_before_and_after_the_packages_change_load_alike(save, detector, generator, part, rename):
    network = {"detector": detector, "generator": generator}[part]
    options = save(rename(network.state_dict()), part)
    loaded = load(options)._network if part == "detector" else AudioSealEmbedder(options)._network
    state = loaded._network.state_dict()
    assert set(state) == set(network.state_dict())
    assert all(torch.equal(tensor, network.state_dict()[name]) for name, tensor in state.items())


def test_the_packages_renaming_spoils_names_that_it_has_renamed(detector):
    convert = import_module("audioseal.loader").convert_state_dict_for_scriptable_model
    assert set(convert(old_names(detector.state_dict()))) == set(detector.state_dict())
    assert set(convert(detector.state_dict())) != set(detector.state_dict())


@pytest.mark.parametrize("ends", NORMS, ids=["old", "parametrized"])
def test_weight_norms_are_resolved(save, detector, ends):
    state = detector.state_dict()
    loaded = load(save(with_norms(old_names(state), ends)))._network._network.state_dict()
    for name, tensor in state.items():
        factor = 0.5 if "inner_conv" in name and name.endswith("weight") else 1.0
        torch.testing.assert_close(loaded[name], tensor * factor, msg=name)


def norm_half(state):
    name = next(name for name in state if name.endswith(".weight_g"))
    del state[name]


def norm_one_less(state):
    name = next(name for name in state if name.endswith(".weight_g") and name.startswith("detector.0"))
    prefix = name.removesuffix(".weight_g")
    del state[name]
    state[f"{prefix}.weight"] = state.pop(f"{prefix}.weight_v")


def lose_lstm(state):
    for name in [name for name in state if "lstm" in name]:
        del state[name]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (norm_half, "the checkpoint has half of a weight norm: detector.0.model.0.conv.conv"),
        (norm_one_less, "only some of the checkpoint's convolutions are weight-normalised"),
        (lose_lstm, "4 missing (first: detector.0."),
    ],
)
def test_a_checkpoint_that_the_package_would_load_in_part_is_refused(save, detector, spoil, said):
    state = with_norms(detector.state_dict(), NORMS[0])
    spoil(state)
    with pytest.raises(CheckpointError) as fault:
        load(save(state))
    assert said in str(fault.value)


def test_the_package_itself_loads_such_a_checkpoint_in_silence(detector):
    state = with_norms(detector.state_dict(), NORMS[0])
    lose_lstm(state)
    with hushed():
        import_module("audioseal.loader").load_state_dict(create("detector", small_card("detector"), seed=9), state)


def test_only_the_published_checkpoint_may_hold_more_than_the_network(detector):
    state = with_norms(detector.state_dict(), NORMS[0]) | {"more": torch.zeros(1)}
    load_tensors(create("detector", small_card("detector")), state, pinned=True)
    with pytest.raises(CheckpointError, match=r"1 unknown \(first: more\)"):
        load_tensors(create("detector", small_card("detector")), state, pinned=False)
    lose_lstm(state)
    with pytest.raises(CheckpointError, match="4 missing"):
        load_tensors(create("detector", small_card("detector")), state, pinned=True)


def test_the_generators_weights_are_no_detectors(save, generator):
    with pytest.raises(CheckpointError, match="the checkpoint is of another network"):
        load(save(generator.state_dict()))


def test_a_wrong_checkpoint_is_an_error_of_every_row(save, generator):
    options = save(generator.state_dict())
    pooled = PooledAdapter(AdapterChoice("audioseal", "audioseal"), lambda: AudioSeal(options))
    for _ in range(2):
        with pytest.raises(AdapterLoadError, match=r"^CheckpointError: the checkpoint is of another network"):
            pooled.load()


def configured(value):
    return import_module("omegaconf").OmegaConf.create(value)


@pytest.mark.parametrize("as_stored", [dict, configured], ids=["dict", "omegaconf"])
@pytest.mark.parametrize("wrap", [lambda state: {"model": state}, lambda state: {"best_state": {"model": state}}])
def test_every_shape_of_checkpoint_that_the_package_knows_loads(tmp_path, detector, as_stored, wrap):
    path = tmp_path / "checkpoint.pth"
    torch.save({"xp.cfg": as_stored(small_card("detector"))} | wrap(old_names(detector.state_dict())), path)
    loaded = load(AudioSealOptions(weights=path, allow_unpinned=True))._network._network.state_dict()
    assert all(torch.equal(tensor, detector.state_dict()[name]) for name, tensor in loaded.items())


def test_a_plain_state_dict_is_of_the_packages_card(save):
    full = create("detector", small_card("detector", seanet={"n_filters": 32, "dimension": 128, "lstm": 2}))
    assert sum(tensor.numel() for tensor in full.parameters()) == 8_647_298
    adapter = load(save(old_names(full.state_dict()), configuration={}))
    assert adapter._network.read(noise(1_600))[0].shape == (1_600,)


def test_a_plain_state_dict_of_another_size_needs_a_card(save, detector, tmp_path):
    state = old_names(detector.state_dict())
    with pytest.raises(CheckpointError, match="of another shape"):
        load(save(state, configuration={}))
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(small_card("detector")))
    adapter = load(save(state, configuration={}, card=tmp_path / "small.yaml"))
    description = adapter.describe()
    digest = hashlib.sha256((tmp_path / "small.yaml").read_bytes()).hexdigest()
    assert [weights.name for weights in description.weights] == ["detector.pth", "small.yaml"]
    assert description.weights[1].sha256 == digest
    assert "; the network is configured by a card of the user's; the weights are not the pinned ones" in description.rule


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "the model card is no YAML"),
        ("- 1", "the model card is no mapping"),
        ("nbits: 16", "the configuration describes no audioseal detector (AssertionError)"),
        ("nbits: 16\nseanet: {channels: many}", "the configuration describes no audioseal detector ("),
    ],
)
def test_a_card_that_describes_nothing_is_an_error(save, detector, tmp_path, text, said):
    (tmp_path / "card.yaml").write_text(text)
    with pytest.raises(CheckpointError) as fault:
        load(save(detector.state_dict(), configuration={}, card=tmp_path / "card.yaml"))
    assert said in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_missing_card_is_unavailable(save, detector, tmp_path):
    with pytest.raises(AdapterUnavailable, match=r"nowhere\.yaml cannot be read: No such file"):
        load(save(detector.state_dict(), card=tmp_path / "nowhere.yaml"))


@pytest.mark.parametrize("part", PARTS)
def test_a_network_of_another_number_of_bits_is_refused(save, part):
    card = small_card(part, nbits=8)
    options = save(create(part, card).state_dict(), part, card)
    with pytest.raises(CheckpointError, match="the network carries 8 bits, not 16"):
        load(options) if part == "detector" else AudioSealEmbedder(options)


@pytest.mark.parametrize("content", [[1, 2], {"model": None}, {"xp.cfg": 7, "model": {}}, {1: 2}])
def test_what_is_no_checkpoint_of_a_network_is_refused(tmp_path, content):
    torch.save(content, tmp_path / "odd.pth")
    with pytest.raises(CheckpointError):
        load(AudioSealOptions(weights=tmp_path / "odd.pth", allow_unpinned=True))


class Command:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_code_in_a_checkpoint_is_not_run(tmp_path):
    torch.save({"xp.cfg": Command(str(tmp_path / "made")), "model": {}}, tmp_path / "evil.pth")
    with pytest.raises(CheckpointError, match="no checkpoint of plain tensors"):
        load(AudioSealOptions(weights=tmp_path / "evil.pth", allow_unpinned=True))
    assert not (tmp_path / "made").exists()


def test_the_packages_cache_is_a_source_and_the_evidence_names_the_published_file(tmp_path, monkeypatch, detector):
    monkeypatch.setenv("AUDIOSEAL_CACHE_DIR", str(tmp_path))
    stream = io.BytesIO()
    torch.save({"xp.cfg": small_card("detector"), "model": old_names(detector.state_dict())}, stream)
    cached_checkpoint(DETECTOR).parent.mkdir()
    cached_checkpoint(DETECTOR).write_bytes(stream.getvalue())
    with pytest.raises(AdapterUnavailable, match="not the pinned 8a78e8a8"):
        load(AudioSealOptions())
    weights = load(AudioSealOptions(allow_unpinned=True)).describe().weights
    assert [(each.name, each.sha256) for each in weights] == [(DETECTOR, hashlib.sha256(stream.getvalue()).hexdigest())]


def test_the_cache_is_where_the_package_itself_looks(tmp_path, monkeypatch):
    loader = import_module("audioseal.loader")
    monkeypatch.setenv("AUDIOSEAL_CACHE_DIR", str(tmp_path))
    asked = []
    monkeypatch.setattr(
        torch.hub,
        "load_state_dict_from_url",
        lambda url, model_dir, map_location, file_name: asked.append(Path(model_dir, file_name)) or {},
    )
    for card in CARDS.values():
        import_module("audioseal.loader").load_model_checkpoint(loader.load_local_model_config(card)["checkpoint"])
    assert asked == [cached_checkpoint(DETECTOR), cached_checkpoint(audioseal.GENERATOR)]


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


def test_nothing_is_printed_or_warned_where_warnings_are_errors(save, detector):
    options = save(old_names(with_norms(detector.state_dict(), NORMS[0])))
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
