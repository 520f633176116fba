"""What the ``onnx`` adapter is told about a model: a YAML file, read strictly. ``docs/onnx.md`` explains every field."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Generic, Literal, TypeVar

import msgspec

from pytest_benchbench.manifests.yaml_documents import YamlError, parse_struct, read_bounded

MAX_CONFIG_BYTES = 64 * 1024

MAX_SIDE = 4096
"""Largest side of a picture that a network is shown, in pixels."""

MAX_CROPS = 64
"""Largest number of crops of one picture."""

MAX_COLUMNS = 100_001
"""Numbers that the network may give about one crop."""

MAX_THREADS = 256

Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Version = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]
Side = Annotated[int, msgspec.Meta(ge=1, le=MAX_SIDE)]
Level = Annotated[int, msgspec.Meta(ge=0, le=255)]
Triple = tuple[float, float, float]
Levels = tuple[Level, Level, Level]
Size = tuple[Side, Side]
"""Width and height."""

Config = TypeVar("Config")


class OnnxConfigError(ValueError):
    """The file cannot be used; one line that names file and field."""


class PinnedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A file and the digest that it must have.

    Attributes:
        path: Relative, with ``/`` between its parts.
        sha256: 64 lower-case hex digits.
    """

    path: Name
    sha256: Sha256


class PossiblyPinnedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A file whose digest may be pinned; the one found is recorded either way.

    Attributes:
        path: Relative to the YAML.
        sha256: 64 lower-case hex digits, or ``None``.
    """

    path: Name
    sha256: Sha256 | None = None


class ModelFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The network.

    Attributes:
        path: Relative to the YAML.
        sha256: Its digest, compared before it is loaded.
        external_data: Files of weights beside it, by the paths that the model itself gives, relative to its folder.
    """

    path: Name
    sha256: Sha256
    external_data: tuple[PinnedFile, ...] = ()


class Output(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which of the network's numbers is the score.

    Attributes:
        name: Of the output, shape (N,), (N, 1) or (N, C).
        kind: ``logit``: log odds of AI; ``probability``: of AI, in [0, 1]; ``softmax``: logits of C classes.
        index: Which of the C columns means AI; needed where there are several.
    """

    name: Name
    kind: Literal["logit", "probability", "softmax"]
    index: Annotated[int, msgspec.Meta(ge=0, lt=MAX_COLUMNS)] | None = None


class Resize(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a picture is scaled before it is cropped.

    Attributes:
        mode: ``shortest`` or ``longest`` side becomes ``side``, and the other one is scaled alike, rounded down; ``exact``:
            the picture is stretched to ``size``.
        side: In pixels, for ``shortest`` and ``longest``.
        size: [width, height], for ``exact``.
        filter: Pillow's; ``box``, ``hamming`` and ``lanczos`` exist with antialiasing only, ``nearest`` without.
        antialias: Whether the filter is widened where the picture shrinks.
    """

    mode: Literal["shortest", "longest", "exact"]
    side: Side | None = None
    size: Size | None = None
    filter: Literal["nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"]
    antialias: bool

    def __post_init__(self) -> None:
        if (self.size is None, self.side is None) != ((False, True) if self.mode == "exact" else (True, False)):
            raise ValueError(
                f"mode: {self.mode} wants {'size, and no side' if self.mode == 'exact' else 'side, and no size'}"
            )
        without = self.filter in ("nearest", "bilinear")
        if not self.antialias and not without:
            raise ValueError(f"antialias: the filter {self.filter} exists with antialiasing only")
        if self.antialias and self.filter == "nearest":
            raise ValueError("antialias: the filter nearest exists without antialiasing only")


class Crops(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which parts of a picture the network is shown.

    Attributes:
        mode: ``centre``; ``five``: the corners and the centre; ``grid``: ``columns`` x ``rows``, evenly from edge to edge.
        size: [width, height] of each.
        columns: Of a grid.
        rows: Of a grid.
        pad: The colour, R G B, of the margin around a picture that is smaller; without it such a picture is ``too-small``.
    """

    mode: Literal["centre", "five", "grid"]
    size: Size
    columns: Annotated[int, msgspec.Meta(ge=1, le=MAX_CROPS)] | None = None
    rows: Annotated[int, msgspec.Meta(ge=1, le=MAX_CROPS)] | None = None
    pad: Levels | None = None

    def __post_init__(self) -> None:
        if self.mode == "grid":
            if self.columns is None or self.rows is None:
                raise ValueError("mode: a grid wants columns and rows")
            if self.columns * self.rows > MAX_CROPS:
                raise ValueError(f"columns: at most {MAX_CROPS} crops, got {self.columns * self.rows}")
        elif self.columns is not None or self.rows is not None:
            raise ValueError(f"columns, rows: belong to a grid, not to mode {self.mode}")

    @property
    def count(self) -> int:
        """How many crops a picture gives."""
        return {"centre": 1, "five": 5}.get(self.mode, (self.columns or 1) * (self.rows or 1))


class Aggregation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the answers about several crops become one.

    Attributes:
        of: What is aggregated: ``logit`` or ``probability``.
        by: ``mean`` or ``max``.
    """

    of: Literal["logit", "probability"]
    by: Literal["mean", "max"]


class Preprocessing(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """From a decoded picture to what the network is shown, and from its answers to one.

    Attributes:
        version: A name for it.
        colour: Order of the channels that the network sees; ``mean`` and ``deviation`` are in this order.
        alpha: ``drop``: the stored colours, whatever their transparency; or the background, R G B, to composite onto.
        minimum_side: A picture with a shorter side is ``too-small``.
        resize: ``None`` leaves the size.
        crops: ``None`` shows the whole picture.
        aggregation: Needed with several crops.
        scale: What the levels, 0 to 255, are divided by.
        mean: Subtracted after that.
        deviation: Divided by after that.
        layout: ``NCHW`` or ``NHWC``.
        dtype: Type of the tensor; ``uint8`` has no scale, mean or deviation.
    """

    version: Version
    colour: Literal["RGB", "BGR"]
    alpha: Literal["drop"] | Levels
    minimum_side: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    resize: Resize | None = None
    crops: Crops | None = None
    aggregation: Aggregation | None = None
    scale: float = 1.0
    mean: Triple = (0.0, 0.0, 0.0)
    deviation: Triple = (1.0, 1.0, 1.0)
    layout: Literal["NCHW", "NHWC"]
    dtype: Literal["float32", "float16", "uint8"]

    def __post_init__(self) -> None:
        for name, numbers in (("scale", (self.scale,)), ("mean", self.mean), ("deviation", self.deviation)):
            if not all(math.isfinite(number) and abs(number) <= 1e6 for number in numbers):
                raise ValueError(f"{name}: expected finite numbers up to a million")
            if name != "mean" and min(numbers) < 1e-6:
                raise ValueError(f"{name}: expected numbers of at least 1e-6, got {min(numbers)}")
        if self.dtype == "uint8" and (self.scale, *self.mean, *self.deviation) != (1, 0, 0, 0, 1, 1, 1):
            raise ValueError("dtype: uint8 shows the levels as they are, without scale, mean and deviation")
        if (self.aggregation is None) == (self.crop_count > 1):
            raise ValueError("aggregation: belongs to several crops, and to several crops only")

    @property
    def crop_count(self) -> int:
        """How many pictures the network is shown for one."""
        return self.crops.count if self.crops else 1

    @property
    def size(self) -> Size | None:
        """Width and height of what the network is shown; ``None`` where they depend on the picture."""
        if self.crops:
            return self.crops.size
        return self.resize.size if self.resize else None


class Runtime(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the network runs on.

    Attributes:
        providers: ONNX Runtime's names of execution providers, the preferred one first.
        threads: Threads of one operator.
        allow_fallback: Whether another provider may stand in for one that is not available.
    """

    providers: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1, max_length=8)] = ("CPUExecutionProvider",)
    threads: Annotated[int, msgspec.Meta(ge=1, le=MAX_THREADS)] = 1
    allow_fallback: bool = False


class OnnxConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="type", tag="onnx-scorer"):
    """A model as a scorer of pictures.

    Attributes:
        schema_version: 1.
        fixture: Whether the model is made for tests and demonstrations: its ``evaluationMode`` is then ``synthetic``.
        model: The network's file.
        input: Name of the one input.
        output: Where the score is.
        preprocessing: What is done to a picture before.
        runtime: What runs it.
        calibrator: Calibration of the raw score; identity without.
        fusion: Weights of metadata signals; none without.
    """

    schema_version: Literal[1]
    fixture: bool = False
    model: ModelFile
    input: Name
    output: Output
    preprocessing: Preprocessing
    runtime: Runtime = Runtime()
    calibrator: PossiblyPinnedFile | None = None
    fusion: PossiblyPinnedFile | None = None

    @property
    def evaluation_mode(self) -> Literal["reference", "synthetic"]:
        """``synthetic`` for a fixture; never ``deployed``, which only a deployed pipeline can say."""
        return "synthetic" if self.fixture else "reference"

    @property
    def preprocessing_version(self) -> str:
        """The declared version, ``+``, and 12 digits of the SHA-256 of what is declared: an edit never keeps its version.

        Hashed is the canonical JSON (sorted keys, no spaces, every default filled in) of ``{"output": {"index", "kind"},
        "preprocessing": {...}}``, ``version`` included.
        """
        block = {
            "output": {"kind": self.output.kind, "index": self.output.index},
            "preprocessing": msgspec.to_builtins(self.preprocessing),
        }
        digest = hashlib.sha256(msgspec.json.encode(block, order="sorted")).hexdigest()
        return f"{self.preprocessing.version}+{digest[:12]}"


@dataclass(frozen=True, slots=True)
class LoadedConfig(Generic[Config]):
    """A configuration, of pictures or of texts, and where it lies.

    Attributes:
        config: What it says.
        path: The file; the paths in it start at its folder.
    """

    config: Config
    path: Path

    def locate(self, path: str) -> Path:
        """Give the place of a file that the configuration names."""
        return self.path.parent / path


def load_config(path: Path) -> LoadedConfig[OnnxConfig]:
    """Read the YAML file of a model.

    Raises:
        OnnxConfigError: It cannot be read, is too large, or is not such a file.
    """
    try:
        data = read_bounded(path, name=str(path), limit=MAX_CONFIG_BYTES)
    except YamlError as error:
        raise OnnxConfigError(str(error)) from None
    return LoadedConfig(parse_config(data, name=path.name), path)


def parse_config(data: bytes, *, name: str) -> OnnxConfig:
    """Read the text of such a file.

    Args:
        data: UTF-8 YAML.
        name: What the file is called in messages.

    Raises:
        OnnxConfigError: Too large, no YAML, an unknown or missing key, a wrong type, values that contradict each other.
    """
    try:
        config = parse_struct(data, OnnxConfig, name=name, limit=MAX_CONFIG_BYTES)
    except YamlError as error:
        raise OnnxConfigError(str(error)) from None
    check_paths(
        config.model,
        [(f"{block}.path", file.path) for block in ("calibrator", "fusion") if (file := getattr(config, block))],
        name=name,
    )
    return config


def check_paths(model: ModelFile, others: Iterable[tuple[str, str]], *, name: str) -> None:
    """Check the paths of a model's files, and others that are given with their fields.

    Raises:
        OnnxConfigError: One is not relative, or leads external data away from the model.
    """
    paths = [("model.path", model.path), *others]
    paths += [(f"model.external_data[{i}].path", file.path) for i, file in enumerate(model.external_data)]
    for field, path in paths:
        parts = PurePosixPath(path)
        if parts.is_absolute() or "\\" in path or "\0" in path:
            raise OnnxConfigError(f"{name}: {field}: expected a path relative to this file, with / between its parts")
        if field.startswith("model.external_data") and ".." in parts.parts:
            raise OnnxConfigError(f"{name}: {field}: external data lies beside the model, without '..'")
