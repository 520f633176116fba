"""Small networks of AudioSeal, made from the package's own configuration, and checkpoints of them."""

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from pytest_benchbench.adapters.audioseal import AudioSealOptions, import_audioseal
from pytest_benchbench.adapters.audioseal_checkpoints import CARDS
from pytest_benchbench.adapters.torch_runtime import hushed, import_torch


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
    import_torch().manual_seed(seed)
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
            norm = import_torch().linalg.vector_norm(tensor, dim=tuple(range(1, tensor.ndim)), keepdim=True)
            normed[prefix + ends[0]], normed[prefix + ends[1]] = norm * 0.5, tensor
        else:
            normed[name] = tensor
    return normed


NORMS = [(".weight_g", ".weight_v"), (".parametrizations.weight.original0", ".parametrizations.weight.original1")]


@pytest.fixture(scope="session")
def small():
    """What makes small networks, their cards and the states of older checkpoints."""
    return SimpleNamespace(card=small_card, create=create, old_names=old_names, with_norms=with_norms, norms=NORMS)


@pytest.fixture(scope="session")
def detector():
    return create("detector", small_card("detector"))


@pytest.fixture(scope="session")
def generator():
    return create("generator", small_card("generator"), seed=1)


@pytest.fixture
def save(tmp_path):
    """Write a checkpoint and give the options that take it."""

    def write(state, part="detector", configuration=None, **options):
        path = tmp_path / f"{part}.pth"
        configuration = small_card(part) if configuration is None else configuration
        import_torch().save({"xp.cfg": configuration, "model": state} if configuration else state, path)
        key = {"detector": "weights", "generator": "generator"}[part]
        return AudioSealOptions(**{key: path, "allow_unpinned": True} | options)

    return write
