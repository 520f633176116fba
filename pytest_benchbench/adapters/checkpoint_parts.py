"""Loading one network out of a checkpoint that holds several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_benchbench.adapters.torch_runtime import load_state


def load_part(network: Any, state: object, name: str) -> None:
    """Put those tensors into a network whose names begin with its own name and a dot, if they are exactly the network's.

    What the checkpoint holds for other networks is passed over.

    Args:
        network: A ``torch.nn.Module``.
        state: What the checkpoint holds: tensors by name.
        name: The network's name in it.

    Raises:
        CheckpointError: It is no state dict, or a tensor of this network is missing, unknown, of another shape or not
            finite; the network is then unchanged.
    """
    prefix = f"{name}."
    own: object = state
    if isinstance(state, Mapping):
        own = {
            key.removeprefix(prefix): tensor
            for key, tensor in state.items()
            if isinstance(key, str) and key.startswith(prefix)
        }
    load_state(network, own)
