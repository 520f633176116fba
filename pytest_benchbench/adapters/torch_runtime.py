"""What the adapters that run on torch share: importing it and what is built on it, reading checkpoints, running networks.

Nothing here changes the process for good. ``inference`` limits torch to one thread and ``hushed`` silences third parties
while their block runs; both put back what they found.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from pytest_benchbench.adapters.base import AdapterUnavailable

TORCH_INSTALL = "pip install torch==2.13.0"


class CheckpointError(Exception):
    """A file passed its lock, on request or because of a wrong pin, but is no checkpoint of the network that it is for."""


def import_torch(install: str = TORCH_INSTALL) -> ModuleType:
    """Import torch.

    Args:
        install: The command that provides the adapter's packages, torch among them.

    Raises:
        AdapterUnavailable: It is not installed, or what is installed cannot be imported.
    """
    return import_package("torch", install)


def import_package(name: str, install: str) -> ModuleType:
    """Import a module of a third party, without letting it warn or print.

    Args:
        name: Dotted name of the module.
        install: The command that provides it.

    Raises:
        AdapterUnavailable: It, or something that it imports, is not installed or cannot be imported. The reason names what
            is missing.
    """
    try:
        with hushed():
            return import_module(name)
    except ModuleNotFoundError as error:
        asked, missing = name.partition(".")[0], (error.name or name)
        if missing.startswith(f"{asked}."):
            raise AdapterUnavailable(f"what is installed of {asked} has no {missing}", install) from error
        because = "" if missing == asked else f", which {asked} imports,"
        raise AdapterUnavailable(f"{missing.partition('.')[0]}{because} is not installed", install) from error
    except Exception as error:  # a missing shared library, a version that does not fit: whatever an import does
        first = (str(error).splitlines() or [""])[0]
        raise AdapterUnavailable(f"{name} cannot be imported: {type(error).__name__}: {first}", install) from error


@contextlib.contextmanager
def hushed() -> Iterator[None]:
    """Let third-party code neither warn nor print: it warns about itself, not about the tests."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def inference(threads: int = 1) -> Iterator[None]:
    """Run networks without gradients and on a fixed number of threads; afterwards torch has as many as before.

    One thread makes an answer independent of the machine's number of cores: sums are added in one order. Workers
    (``pytest -n``) are the way to use more cores.

    Args:
        threads: How many threads torch may use within one operation.
    """
    torch = import_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.inference_mode():
            yield
    finally:
        torch.set_num_threads(before)


def load_checkpoint(data: bytes, allowed: Sequence[type] = ()) -> Any:
    """Read a torch checkpoint onto the CPU. Only tensors and plain containers are made: no code in the file is run.

    Args:
        data: The file's bytes, checked by ``weights.locked_weights``.
        allowed: Classes beyond torch's own list that the file may contain instances of.

    Raises:
        AdapterUnavailable: torch is missing.
        CheckpointError: The bytes are no checkpoint, or hold something else than tensors and plain containers.
    """
    torch = import_torch()
    try:
        with hushed(), torch.serialization.safe_globals(list(allowed)):
            return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:  # torch has no error of its own for this: pickle's, zip's and its own RuntimeError occur
        raise CheckpointError(f"the weights are no checkpoint of plain tensors ({type(error).__name__})") from error


def load_state(network: Any, state: object) -> None:
    """Put a state dict into a network if it has exactly the network's tensors, of the same shapes, all finite.

    Args:
        network: A ``torch.nn.Module``.
        state: What the checkpoint holds for it.

    Raises:
        CheckpointError: It is no state dict, or not this network's; the network is then unchanged.
    """
    require_state(network.state_dict(), state)
    network.load_state_dict(state, strict=True)


def require_state(expected: Mapping[str, Any], state: object) -> None:
    """Check that a state dict has the names and shapes of another one, and finite numbers only.

    Args:
        expected: The network's own state dict.
        state: What a checkpoint holds.

    Raises:
        CheckpointError: It has not; the message counts what differs and names the first of each kind.
    """
    torch = import_torch()
    if not isinstance(state, Mapping) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise CheckpointError("the checkpoint holds no state dict for this network")
    common = [name for name in expected if name in state]
    faults = {
        "missing": [name for name in expected if name not in state],
        "unknown": [name for name in state if name not in expected],
        "of another shape": [name for name in common if state[name].shape != expected[name].shape],
        "not finite": [name for name in common if not torch.isfinite(state[name]).all()],
    }
    said = [f"{len(names)} {fault} (first: {names[0]})" for fault, names in faults.items() if names]
    if said:
        raise CheckpointError(f"the checkpoint is of another network: tensors {', '.join(said)}")
