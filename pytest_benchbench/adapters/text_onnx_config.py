"""What ``text-onnx`` is told about a classifier: a YAML file, read strictly. ``docs/text-detectors.md`` explains it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from pytest_benchbench.adapters.onnx_config import (
    MAX_CONFIG_BYTES,
    Aggregation,
    LoadedConfig,
    ModelFile,
    Name,
    OnnxConfigError,
    Output,
    PinnedFile,
    Runtime,
    Version,
    check_paths,
)
from pytest_benchbench.manifests.yaml_documents import YamlError, parse_struct, read_bounded

MAX_TOKENS = 8192
"""Of one run of a network."""

MAX_WINDOWS = 256
"""Runs of a network about one text."""

MAX_CLASSES = 1000


class Inputs(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Names of the network's inputs, each of shape (1, tokens).

    Attributes:
        ids: The tokens' numbers.
        mask: 1 for a token, 0 for filling; ``None`` where the network has no such input.
        types: Number of the segment, 0 for all; ``None`` where the network has no such input.
    """

    ids: Name = "input_ids"
    mask: Name | None = "attention_mask"
    types: Name | None = None

    def __post_init__(self) -> None:
        names = [name for name in (self.ids, self.mask, self.types) if name is not None]
        if len(set(names)) < len(names):
            raise ValueError("ids, mask, types: are different inputs")


class ClassOutput(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which of the network's numbers is the score.

    Attributes:
        name: Of the output, shape (1,), (1, 1) or (1, C).
        kind: ``softmax``: logits of C classes; ``sigmoid``: log odds, of each class for itself; ``probability``: in [0, 1].
        labels: Names of the C classes, in their order.
        ai: The class that means AI: its name, one of ``labels``, or its number from 0 on.
    """

    name: Name
    kind: Literal["softmax", "sigmoid", "probability"]
    labels: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1, max_length=MAX_CLASSES)] | None = None
    ai: Annotated[int, msgspec.Meta(ge=0, lt=MAX_CLASSES)] | Name

    def __post_init__(self) -> None:
        if self.labels is not None and len(set(self.labels)) < len(self.labels):
            raise ValueError("labels: a name stands twice")
        if isinstance(self.ai, str) and self.ai not in (self.labels or ()):
            raise ValueError("ai: a name must be one of labels; give labels, or the number of the class")
        if self.labels is not None and self.index >= len(self.labels):
            raise ValueError(f"ai: there are {len(self.labels)} labels, the first has number 0")

    @property
    def index(self) -> int:
        """Number of the class that means AI, 0 for the first."""
        return self.ai if isinstance(self.ai, int) else (self.labels or ()).index(self.ai)

    @property
    def numbers(self) -> Output:
        """The same in the words of the ``onnx`` adapter."""
        return Output(name=self.name, kind="logit" if self.kind == "sigmoid" else self.kind, index=self.index)


class Tokens(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How much of a text the network is shown.

    Attributes:
        maximum: Tokens of one run, those that the tokenizer puts around a text included.
        beyond: ``truncate``: the rest is not looked at, which is recorded; ``windows``: it is shown in further runs.
        overlap: Tokens that a window has in common with the one before.
        aggregation: How the answers about windows become one; belongs to ``windows``.
        pad: Number of the token that fills up a network whose length is fixed.
    """

    maximum: Annotated[int, msgspec.Meta(ge=4, le=MAX_TOKENS)]
    beyond: Literal["truncate", "windows"]
    overlap: Annotated[int, msgspec.Meta(ge=0, lt=MAX_TOKENS)] = 0
    aggregation: Aggregation | None = None
    pad: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)] | None = None

    def __post_init__(self) -> None:
        if (self.beyond == "windows") != (self.aggregation is not None):
            raise ValueError("aggregation: belongs to windows, and to windows only")
        if self.overlap and self.beyond != "windows":
            raise ValueError("overlap: belongs to windows")
        if 2 * self.overlap > self.maximum:
            raise ValueError(f"overlap: at most half of the {self.maximum} tokens")


class TextClassifierConfig(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="type", tag="text-classifier"
):
    """A model as a scorer of texts.

    Attributes:
        schema_version: 1.
        version: What this detector is called; another one for other files or rules.
        model: The network's file.
        tokenizer: A ``tokenizer.json``, which the model was trained with.
        inputs: Names of the inputs.
        output: Where the score is.
        tokens: How much of a text is shown.
        minimum_words: Texts of fewer words are ``too-small``.
        runtime: What runs it.
    """

    schema_version: Literal[1]
    version: Version
    model: ModelFile
    tokenizer: PinnedFile
    inputs: Inputs = Inputs()
    output: ClassOutput
    tokens: Tokens
    minimum_words: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1
    runtime: Runtime = Runtime()


def load_text_config(path: Path) -> LoadedConfig[TextClassifierConfig]:
    """Read the YAML file of a classifier.

    Raises:
        OnnxConfigError: It cannot be read, is too large, or is not such a file.
    """
    try:
        data = read_bounded(path, name=str(path), limit=MAX_CONFIG_BYTES)
        config = parse_struct(data, TextClassifierConfig, name=path.name, limit=MAX_CONFIG_BYTES)
    except YamlError as error:
        raise OnnxConfigError(str(error)) from None
    check_paths(config.model, [("tokenizer.path", config.tokenizer.path)], name=path.name)
    return LoadedConfig(config, path)
