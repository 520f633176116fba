"""The network of the ``onnx`` adapter: a model that takes the pictures of its YAML, in runs of one shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.adapters.onnx_config import MAX_COLUMNS, LoadedConfig, OnnxConfig
from pytest_benchbench.adapters.onnx_opening import check_answer, one_line, open_model
from pytest_benchbench.adapters.onnx_structure import OnnxModelError
from pytest_benchbench.manifests.faults import shown_text

if TYPE_CHECKING:
    from pytest_benchbench.adapters.onnx_preprocessing import Tensor

INSTALL = "pip install 'pytest-benchbench[onnx]'"

MAX_SHOWN_PIXELS = 1 << 26
"""Of all crops of one run, and of one picture: 67 million, 800 MB of 32-bit floats."""

_ELEMENT_TYPES = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(uint8)": "uint8"}


class OnnxNetwork:
    """A model that was checked and loaded.

    Args:
        loaded: The configuration.
        provider: The one provider to run on, in place of the configuration's.
        batch: Pictures (crops) in one run, if the model leaves that open.

    Attributes:
        weights: The files that were loaded.
        sha256: The ``modelSha256``, as ``OpenedModel`` has it.
        provider: What it really runs on.
        version: Of the runtime.
        run_size: Pictures in every run.

    Raises:
        AdapterUnavailable: ONNX Runtime, a file or a provider is missing, or a file is not the pinned one.
        OnnxModelError: The files are the pinned ones, but no model that fits the configuration.
    """

    def __init__(self, loaded: LoadedConfig[OnnxConfig], *, provider: str | None, batch: int) -> None:
        self._config = loaded.config
        opened = open_model(loaded.config.model, loaded.locate, loaded.config.runtime, provider=provider, install=INSTALL)
        self.version, self.weights, self.sha256 = opened.version, opened.weights, opened.sha256
        self._session, self.provider = opened.session, opened.provider
        self.run_size = self._check_input(batch)
        check_answer(self._session, self._config.output.name)

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
            return one_line(error)

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
