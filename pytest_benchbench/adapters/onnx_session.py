"""The network of the ``onnx`` adapter: files checked before they are loaded, a certain provider, runs of one shape."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.adapters.base import AdapterUnavailable, Weights
from pytest_benchbench.adapters.onnx_config import MAX_COLUMNS, LoadedConfig, PinnedFile
from pytest_benchbench.adapters.onnx_structure import OnnxModelError, read_structure
from pytest_benchbench.manifests.faults import shown_text

if TYPE_CHECKING:
    from types import ModuleType

    from pytest_benchbench.adapters.onnx_preprocessing import Tensor

INSTALL = "pip install 'pytest-benchbench[onnx]'"

MAX_MODEL_BYTES = (1 << 31) - 1
"""Of the model's file, the limit of protobuf, and of its external data together."""

MAX_SHOWN_PIXELS = 1 << 26
"""Of all crops of one run, and of one picture: 67 million, 800 MB of 32-bit floats."""

CPU = "CPUExecutionProvider"

_SOURCE_PLACE = re.compile(r"/\S+/onnxruntime/\S+:\d+ ")

_LONGEST_MESSAGE = 2000

_REMOTE_PROVIDERS = frozenset({"AzureExecutionProvider"})
"""Providers that would send pictures to another machine."""

_PLAIN = {"read_config_from_model": 0}
"""A model brings no settings of its own, whatever the environment says."""

_ELEMENT_TYPES = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(uint8)": "uint8"}

_ANSWER_TYPES = frozenset({"tensor(float)", "tensor(float16)", "tensor(double)"})


class OnnxNetwork:
    """A model that was checked and loaded.

    Args:
        loaded: The configuration.
        provider: The one provider to run on, in place of the configuration's.
        batch: Pictures (crops) in one run, if the model leaves that open.

    Attributes:
        weights: The files that were loaded.
        sha256: The ``modelSha256``: the model's own digest; with external data the SHA-256 of the ASCII lines
            ``model <digest>`` and, in the order of their names, ``external <digest> <name>``.
        provider: What it really runs on.
        version: Of the runtime.
        run_size: Pictures in every run.

    Raises:
        AdapterUnavailable: ONNX Runtime, a file or a provider is missing, or a file is not the pinned one.
        OnnxModelError: The files are the pinned ones, but no model that fits the configuration.
    """

    def __init__(self, loaded: LoadedConfig, *, provider: str | None, batch: int) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise AdapterUnavailable(f"onnxruntime cannot be imported: {shown_text(str(error))}", INSTALL) from error
        self._config = loaded.config
        self.version = f"onnxruntime {onnxruntime.__version__}"
        declared = self._config.model
        pins = {file.path: file for file in declared.external_data}
        data, weights = _read_pinned(loaded.locate(declared.path), declared.sha256, MAX_MODEL_BYTES)
        structure = read_structure(data)
        if structure.external_files != set(pins):
            named = ", ".join(sorted(structure.external_files)) or "none"
            raise OnnxModelError(shown_text(f"model.external_data: the model keeps weights in these files: {named}"))
        external, room = {}, MAX_MODEL_BYTES
        folder = loaded.locate(declared.path).parent
        for name in sorted(pins):
            external[name] = _read_pinned(folder / name, pins[name].sha256, room)
            room -= len(external[name][0])
        self.weights = (weights, *(file for _, file in external.values()))
        self.sha256 = _joint_sha256(weights, pins)
        self._session = self._open(onnxruntime, data, {name: part for name, (part, _) in external.items()}, provider)
        self.provider: str = self._session.get_providers()[0]
        self.run_size = self._check_input(batch)
        self._check_output()

    def ask(self, tensors: Sequence[Tensor]) -> list[NDArray[np.float64] | str]:
        """Run the network on pictures.

        Every run shows it the same number of crops, the last ones repeated to fill it up, so that an answer does not
        depend on how many pictures are asked about together. A run that fails is repeated for each of its pictures alone.

        Args:
            tensors: For each picture its crops, (N, 3, height, width) or (N, height, width, 3).

        Returns:
            For each its answers, (N, C), which may be anything but complex; or why there is none, one line.
        """
        together = len({tensor.shape[1:] for tensor in tensors}) == 1 and self._config.preprocessing.size is not None
        if together and len(tensors) > 1:
            answers = self._run(np.concatenate(tensors))
            if not isinstance(answers, str):
                ends = np.cumsum([len(tensor) for tensor in tensors])
                return list(np.split(answers, ends[:-1]))
        return [self._run(tensor) for tensor in tensors]

    def _run(self, crops: Tensor) -> NDArray[np.float64] | str:
        try:
            return np.concatenate([self._run_once(part)[:kept] for part, kept in self._parts(crops)])
        except OnnxModelError as error:
            return str(error)
        except Exception as error:  # of the runtime: its classes share no base of their own
            return _one_line(error)

    def _parts(self, crops: Tensor) -> Iterator[tuple[Tensor, int]]:
        """Cut crops into runs of one size; yield each with the number of crops in it that are no filling."""
        size = self.run_size
        for start in range(0, len(crops), size):
            part = crops[start : start + size]
            filling = np.repeat(part[-1:], size - len(part), axis=0)
            yield np.concatenate((part, filling)), len(part)

    def _run_once(self, part: Tensor) -> NDArray[np.float64]:
        (answer,) = self._session.run([self._config.output.name], {self._config.input: part})
        if not isinstance(answer, np.ndarray) or answer.ndim not in (1, 2) or len(answer) != len(part):
            shape = getattr(answer, "shape", type(answer).__name__)
            raise OnnxModelError(f"output {self._config.output.name}: expected ({len(part)}, C) numbers, got shape {shape}")
        if (columns := answer.size // len(part)) > MAX_COLUMNS:
            raise OnnxModelError(f"output {self._config.output.name}: {columns} columns, more than {MAX_COLUMNS}")
        return answer.reshape(len(part), -1).astype(np.float64)

    def _open(self, onnxruntime: ModuleType, data: bytes, external: dict[str, bytes], provider: str | None) -> Any:
        runtime = self._config.runtime
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
                    f"the model does not run on {', '.join(providers)} alone: {_one_line(error)}",
                    "name CPUExecutionProvider behind it in runtime.providers, or set runtime.allow_fallback: true",
                ) from None
            raise OnnxModelError(f"onnxruntime does not take the model: {_one_line(error)}") from None
        session.disable_fallback()
        if not runtime.allow_fallback and (given_up := [name for name in providers if name not in session.get_providers()]):
            raise AdapterUnavailable(f"onnxruntime gave up {', '.join(given_up)} when the model was loaded")
        return session

    def _check_input(self, batch: int) -> int:
        """Hold the model's input against the configuration, and give the number of pictures of a run.

        Raises:
            OnnxModelError: They do not fit.
        """
        preprocessing = self._config.preprocessing
        inputs = {found.name: found for found in self._session.get_inputs()}
        if set(inputs) != {self._config.input}:
            raise OnnxModelError(shown_text(f"input: the model has these inputs: {', '.join(inputs) or 'none'}"))
        found = inputs[self._config.input]
        if _ELEMENT_TYPES.get(found.type) != preprocessing.dtype:
            raise OnnxModelError(f"preprocessing.dtype: the model wants {found.type}, not {preprocessing.dtype}")
        size = preprocessing.size
        wide, high = size or (None, None)
        shown = (None, 3, high, wide) if preprocessing.layout == "NCHW" else (None, high, wide, 3)
        fixed = [length if isinstance(length, int) else None for length in found.shape or ()]
        fits = len(fixed) == len(shown) and all(
            theirs is None or theirs == ours for theirs, ours in zip(fixed[1:], shown[1:], strict=True)
        )
        if not fits:
            theirs = " x ".join(str(length) for length in found.shape or ())
            ours = " x ".join("any" if length is None else str(length) for length in shown)
            raise OnnxModelError(
                shown_text(f"preprocessing: it gives {ours} ({preprocessing.layout}), the model wants {theirs}")
            )
        run_size = (batch if size else 1) if fixed[0] is None else fixed[0]
        together = max(run_size, preprocessing.crop_count)
        if run_size < 1 or (size and together * size[0] * size[1] > MAX_SHOWN_PIXELS):
            raise OnnxModelError(
                f"{together} crops at once are more than {MAX_SHOWN_PIXELS:,} pixels: give batch=N, or fewer"
            )
        return run_size

    def _check_output(self) -> None:
        outputs = {found.name: found.type for found in self._session.get_outputs()}
        name = self._config.output.name
        if name not in outputs:
            raise OnnxModelError(shown_text(f"output.name: the model has these outputs: {', '.join(outputs)}"))
        if outputs[name] not in _ANSWER_TYPES:
            raise OnnxModelError(shown_text(f"output.name: {name} is a {outputs[name]}, not a tensor of floats"))


def _read_pinned(path: Path, sha256: str, limit: int) -> tuple[bytes, Weights]:
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


def _one_line(error: Exception) -> str:
    """Cut the runtime's message, which may run over lines and begins with a place in its own sources, to one line."""
    told = str(error)[:_LONGEST_MESSAGE]  # names of a model's nodes stand in it whole, and the pattern's time is quadratic
    text = " ".join("".join(c if c.isprintable() else " " for c in told).split())
    return f"{type(error).__name__}: {_SOURCE_PLACE.sub('', text)}"[:600]
