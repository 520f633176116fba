"""The network and the tokenizer of the ``text-onnx`` adapter: from a text to the numbers of each of its windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.adapters.base import AdapterUnavailable, Weights
from pytest_benchbench.adapters.onnx_config import LoadedConfig
from pytest_benchbench.adapters.onnx_opening import check_answer, one_line, open_model, read_pinned
from pytest_benchbench.adapters.onnx_structure import OnnxModelError
from pytest_benchbench.adapters.text_onnx_config import MAX_CLASSES, MAX_WINDOWS, TextClassifierConfig
from pytest_benchbench.manifests.faults import shown_text

INSTALL = "pip install 'pytest-benchbench[text-onnx]'"

MAX_TOKENIZER_BYTES = 64 << 20

_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class NoAnswerError(Exception):
    """The network gives no answer about this text; one line that quotes nothing of it."""


class TooLongError(Exception):
    """The text gives more windows than are looked at; one line."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What the network said.

    Attributes:
        numbers: (windows, classes).
        tokens: Of the whole text, those that are put around each window included.
        shown: Of these, how many the network was shown; tokens in two windows count twice.
        is_truncated: Whether a part of the text was not shown.
    """

    numbers: NDArray[np.float64]
    tokens: int
    shown: int
    is_truncated: bool


class TextClassifier:
    """A classifier that was checked and loaded.

    Args:
        loaded: The configuration.
        provider: The one provider to run on, in place of the configuration's.

    Attributes:
        weights: The files that were loaded, the tokenizer last.
        sha256: The ``modelSha256``, as ``OpenedModel`` has it.
        provider: What it really runs on.
        version: Of the runtime and of the tokenizers' package.

    Raises:
        AdapterUnavailable: A package, a file or a provider is missing, or a file is not the pinned one.
        OnnxModelError: The files are the pinned ones, but no model and tokenizer that fit the configuration.
    """

    def __init__(self, loaded: LoadedConfig[TextClassifierConfig], *, provider: str | None) -> None:
        try:
            import tokenizers
        except ImportError as error:
            raise AdapterUnavailable(f"tokenizers cannot be imported: {shown_text(str(error))}", INSTALL) from error
        self._config = loaded.config
        opened = open_model(loaded.config.model, loaded.locate, loaded.config.runtime, provider=provider, install=INSTALL)
        declared = loaded.config.tokenizer
        data, weights = read_pinned(loaded.locate(declared.path), declared.sha256, MAX_TOKENIZER_BYTES)
        self._tokenizer = self._read_tokenizer(tokenizers, data)
        self._session, self.provider, self.sha256 = opened.session, opened.provider, opened.sha256
        self.weights: tuple[Weights, ...] = (*opened.weights, weights)
        self.version = f"{opened.version}, tokenizers {tokenizers.__version__}"
        self._types, self._length = self._check_inputs()
        check_answer(self._session, self._config.output.name)

    def ask(self, text: str) -> Answers:
        """Show the network a text, each window in a run of its own, so that an answer depends on nothing else.

        Raises:
            NoAnswerError: The tokenizer or the network fails, or answers something of another shape.
            TooLongError: There are more than ``MAX_WINDOWS`` windows.
        """
        tokens = self._config.tokens
        first = _caught(lambda: self._tokenizer.encode(text))
        rest = list(first.overflowing)
        windows = [first, *rest] if tokens.beyond == "windows" else [first]
        if len(windows) > MAX_WINDOWS:
            raise TooLongError(f"{len(windows):,} windows of {tokens.maximum} tokens are more than {MAX_WINDOWS}")
        if not first.ids:
            raise NoAnswerError("the tokenizer finds no token in it")
        numbers = np.concatenate([self._run(window.ids) for window in windows])
        shown = sum(len(window.ids) for window in windows)
        total = shown if tokens.beyond == "windows" else shown + sum(len(window.ids) for window in rest)
        return Answers(numbers, total, shown, bool(rest) and tokens.beyond == "truncate")

    def _run(self, ids: list[int]) -> NDArray[np.float64]:
        count, inputs = len(ids), self._config.inputs
        filling = 0 if self._length is None else self._length - count
        if filling < 0:
            raise NoAnswerError(f"{count} tokens are more than the {self._length} that the model takes")
        padded = ids + [self._config.tokens.pad or 0] * filling
        rows = {inputs.ids: padded, inputs.mask: [1] * count + [0] * filling, inputs.types: [0] * len(padded)}
        feed = {name: np.array([row], self._types[name]) for name, row in rows.items() if name is not None}
        name = self._config.output.name
        (answer,) = _caught(lambda: self._session.run([name], feed))
        if not isinstance(answer, np.ndarray) or answer.ndim not in (1, 2) or len(answer) != 1:
            shape = getattr(answer, "shape", type(answer).__name__)
            raise NoAnswerError(f"output {name}: expected (1, C) numbers, got shape {shape}")
        labels = self._config.output.labels
        if answer.size > MAX_CLASSES or (labels is not None and answer.size != len(labels)):
            wanted = f"at most {MAX_CLASSES}" if labels is None else f"{len(labels)} as in output.labels"
            raise NoAnswerError(f"output {name}: {answer.size} columns, expected {wanted}")
        return answer.reshape(1, -1).astype(np.float64)

    def _read_tokenizer(self, tokenizers: Any, data: bytes) -> Any:
        """Read a ``tokenizer.json``; its own ideas of cutting and filling up give way to the configuration's.

        Raises:
            OnnxModelError: It is none.
        """
        tokens = self._config.tokens
        try:
            tokenizer = _caught(lambda: tokenizers.Tokenizer.from_buffer(data))
            tokenizer.no_padding()
            _caught(lambda: tokenizer.enable_truncation(max_length=tokens.maximum, stride=tokens.overlap))
        except NoAnswerError as error:
            raise OnnxModelError(f"{self._config.tokenizer.path} is no tokenizer that can be used: {error}") from None
        return tokenizer

    def _check_inputs(self) -> tuple[dict[str, Any], int | None]:
        """Hold the model's inputs against the configuration; give their types and the length if the model fixes it.

        Raises:
            OnnxModelError: They do not fit.
        """
        wanted = {name for name in (self._config.inputs.ids, self._config.inputs.mask, self._config.inputs.types) if name}
        found = {each.name: each for each in self._session.get_inputs()}
        if set(found) != wanted:
            raise OnnxModelError(shown_text(f"inputs: the model has these inputs: {', '.join(found) or 'none'}"))
        lengths = set()
        for name, each in found.items():
            if each.type not in _INTEGERS:
                raise OnnxModelError(shown_text(f"inputs: {name} is a {each.type}, not a tensor of 32 or 64-bit integers"))
            shape = [size if isinstance(size, int) else None for size in each.shape or ()]
            if len(shape) != 2 or shape[0] not in (None, 1):
                raise OnnxModelError(shown_text(f"inputs: {name} wants {each.shape}, not (1, tokens)"))
            lengths.add(shape[1])
        if len(lengths) > 1:
            raise OnnxModelError("inputs: they want different numbers of tokens")
        (length,) = lengths
        if length is not None:
            if length < self._config.tokens.maximum:
                raise OnnxModelError(f"tokens.maximum: the model takes {length} tokens")
            if self._config.tokens.pad is None:
                raise OnnxModelError(f"tokens.pad: the model always takes {length} tokens; say which one fills up")
        return {name: _INTEGERS[each.type] for name, each in found.items()}, length


def _caught(call: Any) -> Any:
    """Call into a library whose errors share no base; a panic of its Rust code is no ``Exception`` in Python.

    Raises:
        NoAnswerError: It failed.
    """
    try:
        return call()
    except Exception as error:
        raise NoAnswerError(one_line(error)) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise NoAnswerError("the library's own code failed (panic)") from None
