"""Checkpoints of AudioSeal: every shape that the package knows is taken, everything else refused."""

import hashlib
import io
import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import yaml

torch = pytest.importorskip("torch")

from pytest_benchbench import AdapterUnavailable  # noqa: E402 - after the skip
from pytest_benchbench.adapters import audioseal  # noqa: E402
from pytest_benchbench.adapters.audioseal import (  # noqa: E402
    DETECTOR,
    AudioSeal,
    AudioSealEmbedder,
    AudioSealOptions,
    cached_checkpoint,
    import_audioseal,
)
from pytest_benchbench.adapters.audioseal_checkpoints import CARDS, load as load_tensors  # noqa: E402
from pytest_benchbench.adapters.pool import AdapterChoice, AdapterLoadError, PooledAdapter  # noqa: E402
from pytest_benchbench.adapters.torch_runtime import CheckpointError, hushed  # noqa: E402

pytestmark = pytest.mark.skipif(find_spec("audioseal") is None, reason="audioseal is not installed")

PARTS = ("detector", "generator")


def load(options) -> AudioSeal:
    adapter = AudioSeal(options)
    adapter.load()
    return adapter


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("old", [True, False], ids=["old", "new"])
def test_names_of_before_and_after_the_packages_change_load_alike(small, save, detector, generator, part, old):
    network = {"detector": detector, "generator": generator}[part]
    options = save(small.old_names(network.state_dict()) if old else network.state_dict(), part)
    loaded = load(options).opened if part == "detector" else AudioSealEmbedder(options)._network
    state = loaded._network.state_dict()
    assert set(state) == set(network.state_dict())
    assert all(torch.equal(tensor, network.state_dict()[name]) for name, tensor in state.items())


def test_the_packages_renaming_spoils_names_that_it_has_renamed(small, detector):
    convert = import_module("audioseal.loader").convert_state_dict_for_scriptable_model
    assert set(convert(small.old_names(detector.state_dict()))) == set(detector.state_dict())
    assert set(convert(detector.state_dict())) != set(detector.state_dict())


@pytest.mark.parametrize("kind", [0, 1], ids=["old", "parametrized"])
def test_weight_norms_are_resolved(small, save, detector, kind):
    state = detector.state_dict()
    loaded = load(save(small.with_norms(small.old_names(state), small.norms[kind]))).opened._network.state_dict()
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
def test_a_checkpoint_that_the_package_would_load_in_part_is_refused(small, save, detector, spoil, said):
    state = small.with_norms(detector.state_dict(), small.norms[0])
    spoil(state)
    with pytest.raises(CheckpointError) as fault:
        load(save(state))
    assert said in str(fault.value)


def test_the_package_itself_loads_such_a_checkpoint_in_silence(small, detector):
    state = small.with_norms(detector.state_dict(), small.norms[0])
    lose_lstm(state)
    with hushed():
        import_module("audioseal.loader").load_state_dict(small.create("detector", small.card("detector"), seed=9), state)


def test_only_the_published_checkpoint_may_hold_more_than_the_network(small, detector):
    state = small.with_norms(detector.state_dict(), small.norms[0]) | {"more": torch.zeros(1)}
    load_tensors(small.create("detector", small.card("detector")), state, pinned=True)
    with pytest.raises(CheckpointError, match=r"1 unknown \(first: more\)"):
        load_tensors(small.create("detector", small.card("detector")), state, pinned=False)
    lose_lstm(state)
    with pytest.raises(CheckpointError, match="4 missing"):
        load_tensors(small.create("detector", small.card("detector")), state, pinned=True)


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
def test_every_shape_of_checkpoint_that_the_package_knows_loads(small, tmp_path, detector, as_stored, wrap):
    path = tmp_path / "checkpoint.pth"
    torch.save({"xp.cfg": as_stored(small.card("detector"))} | wrap(small.old_names(detector.state_dict())), path)
    loaded = load(AudioSealOptions(weights=path, allow_unpinned=True)).opened._network.state_dict()
    assert all(torch.equal(tensor, detector.state_dict()[name]) for name, tensor in loaded.items())


def test_a_plain_state_dict_is_of_the_packages_card(small, save):
    full = small.create("detector", small.card("detector", seanet={"n_filters": 32, "dimension": 128, "lstm": 2}))
    assert sum(tensor.numel() for tensor in full.parameters()) == 8_647_298
    adapter = load(save(small.old_names(full.state_dict()), configuration={}))
    assert adapter.opened.read(np.ones(1_600, np.float32))[0].shape == (1_600,)


def test_a_plain_state_dict_of_another_size_needs_a_card(small, save, detector, tmp_path):
    state = small.old_names(detector.state_dict())
    with pytest.raises(CheckpointError, match="of another shape"):
        load(save(state, configuration={}))
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(small.card("detector")))
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
def test_a_network_of_another_number_of_bits_is_refused(small, save, part):
    card = small.card(part, nbits=8)
    options = save(small.create(part, card).state_dict(), part, card)
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


def test_the_packages_cache_is_a_source_and_the_evidence_names_the_published_file(small, tmp_path, monkeypatch, detector):
    monkeypatch.setenv("AUDIOSEAL_CACHE_DIR", str(tmp_path))
    stream = io.BytesIO()
    torch.save({"xp.cfg": small.card("detector"), "model": small.old_names(detector.state_dict())}, stream)
    cached_checkpoint(DETECTOR).parent.mkdir()
    cached_checkpoint(DETECTOR).write_bytes(stream.getvalue())
    with pytest.raises(AdapterUnavailable, match="not the pinned 8a78e8a8"):
        load(AudioSealOptions())
    weights = load(AudioSealOptions(allow_unpinned=True)).describe().weights
    assert [(each.name, each.sha256) for each in weights] == [(DETECTOR, hashlib.sha256(stream.getvalue()).hexdigest())]


def test_the_cache_is_where_the_package_itself_looks(tmp_path, monkeypatch):
    import_audioseal()
    loader = import_module("audioseal.loader")
    monkeypatch.setenv("AUDIOSEAL_CACHE_DIR", str(tmp_path))
    asked = []
    monkeypatch.setattr(
        torch.hub,
        "load_state_dict_from_url",
        lambda url, model_dir, map_location, file_name: asked.append(Path(model_dir, file_name)) or {},
    )
    for card in CARDS.values():
        loader.load_model_checkpoint(loader.load_local_model_config(card)["checkpoint"])
    assert asked == [cached_checkpoint(DETECTOR), cached_checkpoint(audioseal.GENERATOR)]
