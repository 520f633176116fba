"""Opening an ONNX model: files checked before they are loaded, a certain provider, nothing of the model's own settings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchbench.adapters.base import AdapterUnavailable, Weights
from pytest_benchbench.adapters.onnx_config import ModelFile, PinnedFile, Runtime
from pytest_benchbench.adapters.onnx_structure import OnnxModelError, read_structure
from pytest_benchbench.manifests.faults import shown_text

if TYPE_CHECKING:
    from types import ModuleType

MAX_MODEL_BYTES = (1 << 31) - 1
"""Of the model's file, the limit of protobuf, and of its external data together."""

CPU = "CPUExecutionProvider"

_ANSWER_TYPES = frozenset({"tensor(float)", "tensor(float16)", "tensor(double)"})
"""Types of an output that is a score."""

_SOURCE_PLACE = re.compile(r"/\S+/onnxruntime/\S+:\d+ ")

_LONGEST_MESSAGE = 2000

_REMOTE_PROVIDERS = frozenset({"AzureExecutionProvider"})
"""Providers that would send what they are shown to another machine."""

_PLAIN = {"read_config_from_model": 0}
"""A model brings no settings of its own, whatever the environment says."""


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model that was checked and loaded.

    Attributes:
        session: ONNX Runtime's.
        weights: The files that were loaded.
        sha256: The model's own digest; with external data the SHA-256 of the ASCII lines ``model <digest>`` and, in the
            order of their names, ``external <digest> <name>``.
        provider: What it really runs on.
        version: Of the runtime.
    """

    session: Any
    weights: tuple[Weights, ...]
    sha256: str
    provider: str
    version: str


def open_model(
    declared: ModelFile, locate: Callable[[str], Path], runtime: Runtime, *, provider: str | None, install: str
) -> OpenedModel:
    """Read, check and load a model.

    Args:
        declared: Its files.
        locate: Gives the place of a file that the configuration names.
        runtime: What runs it.
        provider: The one provider to run on, in place of the configuration's.
        install: The command that provides ONNX Runtime.

    Raises:
        AdapterUnavailable: ONNX Runtime, a file or a provider is missing, or a file is not the pinned one.
        OnnxModelError: The files are the pinned ones, but no model that can be loaded.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise AdapterUnavailable(f"onnxruntime cannot be imported: {shown_text(str(error))}", install) from error
    pins = {file.path: file for file in declared.external_data}
    data, weights = read_pinned(locate(declared.path), declared.sha256, MAX_MODEL_BYTES)
    structure = read_structure(data)
    if structure.external_files != set(pins):
        named = ", ".join(sorted(structure.external_files)) or "none"
        raise OnnxModelError(shown_text(f"model.external_data: the model keeps weights in these files: {named}"))
    external, room = {}, MAX_MODEL_BYTES
    folder = locate(declared.path).parent
    for name in sorted(pins):
        external[name] = read_pinned(folder / name, pins[name].sha256, room)
        room -= len(external[name][0])
    parts = {name: part for name, (part, _) in external.items()}
    session = _open(onnxruntime, data, parts, runtime, provider)
    return OpenedModel(
        session,
        (weights, *(file for _, file in external.values())),
        _joint_sha256(weights, pins),
        session.get_providers()[0],
        f"onnxruntime {onnxruntime.__version__}",
    )


def _open(onnxruntime: ModuleType, data: bytes, external: dict[str, bytes], runtime: Runtime, provider: str | None) -> Any:
    providers, wanted = _providers(onnxruntime, provider, runtime.providers, allow_fallback=runtime.allow_fallback)
    settings: Any = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = runtime.threads
    settings.inter_op_num_threads = 1
    settings.use_deterministic_compute = True
    settings.log_severity_level = 4  # fatal errors only: what fails is told as an exception
    if not runtime.allow_fallback and CPU not in providers:
        settings.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    if external:
        names, parts = list(external), list(external.values())
        settings.add_external_initializers_from_files_in_memory(names, parts, [len(part) for part in parts])
    try:
        # its own fallback would try the processor in silence
        session = onnxruntime.InferenceSession(data, settings, providers=providers, enable_fallback=0, **_PLAIN)
    except Exception as error:
        if wanted:
            raise AdapterUnavailable(
                f"the model does not run on {', '.join(providers)} alone: {one_line(error)}",
                "name CPUExecutionProvider behind it in runtime.providers, or set runtime.allow_fallback: true",
            ) from None
        raise OnnxModelError(f"onnxruntime does not take the model: {one_line(error)}") from None
    session.disable_fallback()
    if not runtime.allow_fallback and (given_up := [name for name in providers if name not in session.get_providers()]):
        raise AdapterUnavailable(f"onnxruntime gave up {', '.join(given_up)} when the model was loaded")
    return session


def check_answer(session: Any, name: str) -> None:
    """See that a model has an output of that name, and that it can be a score.

    Args:
        session: ONNX Runtime's.
        name: ``output.name`` of the configuration.

    Raises:
        OnnxModelError: There is none, or it holds no floats.
    """
    outputs = {found.name: found.type for found in session.get_outputs()}
    if name not in outputs:
        raise OnnxModelError(shown_text(f"output.name: the model has these outputs: {', '.join(outputs)}"))
    if outputs[name] not in _ANSWER_TYPES:
        raise OnnxModelError(shown_text(f"output.name: {name} is a {outputs[name]}, not a tensor of floats"))


def read_pinned(path: Path, sha256: str, limit: int) -> tuple[bytes, Weights]:
    """Read a file and compare its digest with the pin, before anything is loaded from it.

    Raises:
        AdapterUnavailable: It cannot be read, is no regular file, is larger than ``limit``, or has another digest.
    """
    remedy = "the model's YAML names it"
    try:
        if not path.is_file():
            raise AdapterUnavailable(f"{path} is no file", remedy)
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise AdapterUnavailable(f"{path} cannot be read: {error.strerror}", remedy) from error
    if len(data) > limit:
        raise AdapterUnavailable(f"{path} has more than the {limit:,} bytes that are read")
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise AdapterUnavailable(
            f"{path.name} has SHA-256 {found}, not the pinned {sha256}", "take the pinned file, or pin this one in the YAML"
        )
    return data, Weights(path.name, found)


def _joint_sha256(model: Weights, external: dict[str, PinnedFile]) -> str:
    if not external:
        return model.sha256
    lines = [f"model {model.sha256}\n", *(f"external {external[name].sha256} {name}\n" for name in sorted(external))]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _providers(
    onnxruntime: ModuleType, chosen: str | None, declared: Sequence[str], *, allow_fallback: bool
) -> tuple[list[str], bool]:
    """Decide which providers the session is made with, and whether it must run on them without the processor's help.

    Raises:
        AdapterUnavailable: One is not there, or would leave the machine.
    """
    wanted = list(dict.fromkeys([chosen] if chosen is not None else declared))
    if remote := [name for name in wanted if name in _REMOTE_PROVIDERS]:
        raise AdapterUnavailable(f"{remote[0]} leaves this machine and is never used")
    available = onnxruntime.get_available_providers()
    here = [name for name in wanted if name in available]
    if len(here) < len(wanted) and not allow_fallback:
        missing = shown_text(", ".join(name for name in wanted if name not in available))
        listed = ", ".join(name for name in available if name not in _REMOTE_PROVIDERS)
        raise AdapterUnavailable(
            f"this onnxruntime has no {missing}; it has {listed}",
            "install the build of onnxruntime that has it, or set runtime.allow_fallback: true",
        )
    providers = here or [CPU]
    return providers, not allow_fallback and CPU not in providers


def one_line(error: Exception) -> str:
    """Cut the runtime's message, which may run over lines and begins with a place in its own sources, to one line."""
    told = str(error)[:_LONGEST_MESSAGE]  # names of a model's nodes stand in it whole, and the pattern's time is quadratic
    text = " ".join("".join(c if c.isprintable() else " " for c in told).split())
    return f"{type(error).__name__}: {_SOURCE_PLACE.sub('', text)}"[:600]
