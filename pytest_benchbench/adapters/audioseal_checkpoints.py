"""From a checked checkpoint of AudioSeal to the package's network: its configuration, its names of tensors, its shapes."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import yaml

from pytest_benchbench.adapters.torch_runtime import CheckpointError, hushed, load_checkpoint, require_state
from pytest_benchbench.adapters.weights import LockedWeights

CARDS = {"detector": "audioseal_detector_16bits", "generator": "audioseal_wm_16bits"}
"""The package's cards of the networks whose weights are pinned."""

BITS = 16

Part = Literal["detector", "generator"]

_SCALES = (".weight_g", ".parametrizations.weight.original0")

_DIRECTIONS = (".weight_v", ".parametrizations.weight.original1")
"""Ends of the names of a weight-normalised tensor's two parts, old and new; the direction has the tensor's own shape."""


def network_of(part: Part, lock: LockedWeights, card: bytes | None) -> Any:
    """Make the package's network for a checkpoint.

    Args:
        part: Which of the two networks.
        lock: The checkpoint: a state dict, or a dict with it under ``model`` or ``best_state`` and a configuration under
            ``xp.cfg``. Names of tensors may be those of before or after the package's change of 0.2.
        card: A model card (YAML) in place of the package's.

    Returns:
        An ``audioseal.AudioSealDetector`` or ``AudioSealWM`` for 16 bits, in evaluation mode.

    Raises:
        CheckpointError: The checkpoint, the card or both describe no such network, or the tensors are not all this
            network's.
    """
    checkpoint = load_checkpoint(lock.data, _configuration_classes())
    if not isinstance(checkpoint, Mapping):
        raise CheckpointError("the checkpoint holds no state dict")
    network = _create(part, _configuration(part, checkpoint, card, pinned=lock.pinned))
    if (bits := _bits(part, network)) != BITS:
        raise CheckpointError(f"the network carries {bits} bits, not {BITS}")
    load(network, _state(checkpoint), pinned=lock.pinned)
    return network.eval()


def load(network: Any, state: object, *, pinned: bool) -> None:
    """Put a state dict into a network of the package, by the package's own conversion of names and weight norms.

    That conversion must not be applied to names that have been converted, and it takes a wrong checkpoint in silence where
    tensors are weight-normalised; so the names and shapes are looked at first.

    Args:
        network: An ``audioseal.AudioSealDetector`` or ``AudioSealWM``.
        state: What the checkpoint holds for it.
        pinned: Whether it is the published one, which may hold more than the network if the package takes it so.

    Raises:
        CheckpointError: The tensors are not exactly this network's.
    """
    if not isinstance(state, Mapping) or not all(isinstance(name, str) for name in state):
        raise CheckpointError("the checkpoint holds no state dict for this network")
    loader = import_module("audioseal.loader")
    converted = any(".inner_conv." in name for name in state)
    named = dict(state) if converted else loader.convert_state_dict_for_scriptable_model(dict(state))
    expected, found = network.state_dict(), _resolved(named)
    require_state(expected, {name: found[name] for name in found if name in expected} if pinned else found)
    with hushed():
        loader.load_state_dict(network, named)


def _resolved(state: Mapping[str, Any]) -> dict[str, Any]:
    """Give the names that a state dict has once weight norms are resolved, each with a tensor of the resolved shape.

    Raises:
        CheckpointError: A part of a norm is missing, or a convolution has none among others that have: the package would
            leave such a tensor as it was drawn.
    """
    scales, directions = _prefixes(state, _SCALES), _prefixes(state, _DIRECTIONS)
    if scales != directions:
        raise CheckpointError(f"the checkpoint has half of a weight norm: {min(scales ^ directions)}")
    plain = {name: tensor for name, tensor in state.items() if not name.endswith((*_SCALES, *_DIRECTIONS))}
    if directions and any(name.endswith(".inner_conv.weight") for name in plain):
        raise CheckpointError("only some of the checkpoint's convolutions are weight-normalised")
    normed = {name: tensor for name, tensor in state.items() if name.endswith(_DIRECTIONS)}
    return plain | {f"{_prefix(name, _DIRECTIONS)}.weight": tensor for name, tensor in normed.items()}


def _prefixes(state: Mapping[str, Any], ends: tuple[str, ...]) -> set[str]:
    return {_prefix(name, ends) for name in state if name.endswith(ends)}


def _prefix(name: str, ends: tuple[str, ...]) -> str:
    return name.removesuffix(next(end for end in ends if name.endswith(end)))


def _configuration_classes() -> list[type]:
    """List what an ``xp.cfg`` of omegaconf is made of: containers of plain values, which run nothing when they are read."""
    base, nodes = import_module("omegaconf.base"), import_module("omegaconf.nodes")
    omegaconf = import_module("omegaconf")
    return [
        *(dict, list, int, float, bool, str, collections.defaultdict),
        *(Any, omegaconf.DictConfig, omegaconf.ListConfig, base.ContainerMetadata, base.Metadata),
        *(nodes.AnyNode, nodes.BooleanNode, nodes.FloatNode, nodes.IntegerNode, nodes.StringNode),
    ]


def _configuration(part: Part, checkpoint: Mapping[str, Any], card: bytes | None, *, pinned: bool) -> dict[str, Any]:
    """Find the network's configuration as the package would.

    A card stands over the checkpoint's own configuration. The package's card is taken for the pinned weights, which it is
    written for, and for a checkpoint without a configuration.
    """
    omegaconf = import_module("omegaconf").OmegaConf
    own = checkpoint.get("xp.cfg", {})
    own = omegaconf.to_container(own) if omegaconf.is_config(own) else own
    if not isinstance(own, dict):
        raise CheckpointError("the checkpoint's entry 'xp.cfg' is no configuration")
    if card is None:
        if own and not pinned:
            return own
        card = (Path(str(import_module("audioseal").__file__)).parent / "cards" / f"{CARDS[part]}.yaml").read_bytes()
    try:
        described = yaml.safe_load(card)
    except yaml.YAMLError as error:
        raise CheckpointError("the model card is no YAML") from error
    if not isinstance(described, dict):
        raise CheckpointError("the model card is no mapping")
    return {**own, **described}


def _create(part: Part, configuration: dict[str, Any]) -> Any:
    """Make the network that a configuration describes, with random weights.

    Raises:
        CheckpointError: It describes none.
    """
    builder = import_module("audioseal.builder")
    schema, create = {
        "detector": (builder.AudioSealDetectorConfig, builder.create_detector),
        "generator": (builder.AudioSealWMConfig, builder.create_generator),
    }[part]
    try:
        with hushed():
            return create(import_module("audioseal.loader").AudioSeal.parse_config(configuration, schema))
    except Exception as error:  # whatever omegaconf, the package's assertions and torch say to a wrong description
        raise CheckpointError(f"the configuration describes no audioseal {part} ({type(error).__name__})") from error


def _bits(part: Part, network: Any) -> int:
    return int(network.nbits if part == "detector" else network.msg_processor.nbits)


def _state(checkpoint: Mapping[str, Any]) -> object:
    """Find the state dict, in the package's order."""
    if isinstance(best := checkpoint.get("best_state"), Mapping):
        return best.get("model")
    return checkpoint.get("model", checkpoint)
