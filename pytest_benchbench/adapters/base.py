"""The contract between the benchmark and a detector. Public: a third party writes against this module."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    from pytest_benchbench.artifacts.media import DecodedMedia, MediaType

Needs = Literal["decoded", "bytes", "frames"]

DetectionStatus = Literal[
    "detected",
    "not_detected",
    "scored",
    "too-small",
    "disabled",
    "unsupported",
    "inference-error",
    "timeout",
    "unavailable",
    "error",
]

VERDICTS: frozenset[str] = frozenset({"detected", "not_detected", "scored"})
"""The statuses by which a detector answered the question; any other says that there is no answer."""


class AdapterUnavailable(Exception):  # noqa: N818 - a state of the machine, not a fault
    """A package, weights or a key that the adapter needs is missing here.

    Args:
        reason: What is missing, in one line.
        install: The command or step that would provide it.
    """

    def __init__(self, reason: str, install: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.install = install

    def __str__(self) -> str:
        return self.reason if self.install is None else f"{self.reason} (remedy: {self.install})"


class AnswersWithdrawn(Exception):  # noqa: N818 - what it says, and no fault of closing
    """Raised by ``close``: what was found out at the end takes back the answers that were given. The run fails."""


class Detection(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an adapter answered about one sample.

    A field that the detector does not expose stays ``None`` and is absent from the evidence; it is never 0 instead.

    Attributes:
        status: ``detected``, ``not_detected``, ``scored`` (a number without a decision of its own) or a terminal status
            that says why there is no answer.
        score: The detector's score, finite.
        label: What was recognised: a pattern's name, a decoded message.
        message_bit_accuracy: Share of message bits that equal the expected ones, in [0, 1].
        reason: One line for people, shown beside the verdict.
        temporal: Per-frame or per-segment series.
        scorer: What else a scorer reports about its answer.

    Raises:
        ValueError: A number is not finite or ``message_bit_accuracy`` lies outside [0, 1].
    """

    status: DetectionStatus
    score: float | None = None
    label: str | None = None
    message_bit_accuracy: float | None = None
    reason: str | None = None
    temporal: dict[str, Any] | None = None
    scorer: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        for name in ("score", "message_bit_accuracy"):
            value = getattr(self, name)
            if value is None:
                continue
            number = float(value)  # NumPy scalars become plain floats: evidence is plain JSON
            if not math.isfinite(number):
                raise ValueError(f"{name} is not finite: {value!r}")
            msgspec.structs.force_setattr(self, name, number)
        if self.message_bit_accuracy is not None and not 0.0 <= self.message_bit_accuracy <= 1.0:
            raise ValueError(f"message_bit_accuracy lies outside [0, 1]: {self.message_bit_accuracy!r}")


class DetectionError(msgspec.Struct, frozen=True):
    """One sample of a batch that failed while the others were answered.

    Attributes:
        type: The name of the error's class.
        message: One line.
    """

    type: str
    message: str


class Weights(msgspec.Struct, frozen=True):
    """A file of weights that an adapter loaded.

    Attributes:
        name: The file's name, without its directory.
        sha256: Its digest, 64 lower-case hex digits.
    """

    name: str
    sha256: str


class AdapterDescription(msgspec.Struct, frozen=True):
    """What stands behind an adapter's answers.

    Attributes:
        version: Version of the detector, or of the package that implements it.
        rule: The decision rule in words, thresholds included.
        weights: The weights that were loaded.
    """

    version: str
    rule: str
    weights: tuple[Weights, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """What an adapter is shown: never the expectation, the label or the case's name.

    Attributes:
        media_type: ``image``, ``audio``, ``video`` or ``text``.
        sha256: Digest of ``data``, verified.
        data: The artifact's bytes.
        decoded: The decoded medium when the adapter ``needs`` it, else ``None``.
    """

    media_type: MediaType
    sha256: str
    data: bytes = field(repr=False)
    decoded: DecodedMedia | None = None


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of an adapter that has none."""


class Adapter(ABC):
    """A thin wrapper around one detector.

    Attributes:
        name: How manifests call it.
        media_types: What it can be asked about.
        needs: ``decoded`` media, the artifact's ``bytes``, or streamed ``frames``.
        network: Whether asking it leaves the machine.
        exclusive: Whether all its rows must run in one process.
        verified_weights: Digests of the weights with which the adapter's own tests saw a known mark detected; empty for an
            algorithm without weights, ``None`` when no test has.
        Options: What ``--bench-adapter=NAME:key=value`` accepts.
    """

    name: ClassVar[str]
    media_types: ClassVar[frozenset[MediaType]]
    needs: ClassVar[Needs] = "decoded"
    network: ClassVar[bool] = False
    exclusive: ClassVar[bool] = False
    verified_weights: ClassVar[frozenset[str] | None] = None
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: Any = None) -> None:
        self.options = self.Options() if options is None else options

    @property
    def leaves_machine(self) -> bool:
        """Whether asking this instance, with its options, leaves the machine; only asked of classes with ``network``."""
        return self.network

    def load(self) -> None:  # noqa: B027 - most adapters without weights have nothing to load
        """Do the heavy work once: import packages, read weights.

        Raises:
            AdapterUnavailable: Something that the adapter needs is missing on this machine.
        """

    @abstractmethod
    def detect(self, sample: Sample) -> Detection:
        """Answer about one sample. Called after ``load``; an exception becomes an ``error`` row, never a verdict."""

    def embedder(self) -> Embedder | None:
        """Make the embedder that writes what this adapter reads, with the adapter's options; ``None`` if there is none.

        Raises:
            AdapterUnavailable: Something that embedding needs is missing on this machine.
        """
        return None

    def remover(self) -> Remover | None:
        """Make the remover that the scheme itself brings, with the adapter's options; ``None`` if it brings none.

        Raises:
            AdapterUnavailable: Something that removing needs is missing on this machine.
        """
        return None

    def close(self) -> None:  # noqa: B027 - optional
        """Release what ``load`` took.

        Raises:
            AnswersWithdrawn: The answers that were given do not count: every row of the session that was asked under the
                adapter's alias becomes an ``error``.
        """

    @abstractmethod
    def describe(self) -> AdapterDescription:
        """Say which version, rule and weights stand behind the answers. Called after ``load``."""


class BatchAdapter(Adapter):
    """A detector that is asked about several samples at once: browser waves, remote APIs, GPU batches.

    Attributes:
        batch_size: The largest number of samples in one call.
    """

    exclusive: ClassVar[bool] = True
    batch_size: int

    @abstractmethod
    def detect_batch(self, samples: Sequence[Sample]) -> list[Detection | DetectionError]:
        """Answer about every sample: as many answers as samples, in their order."""

    def detect(self, sample: Sample) -> Detection:
        """Answer about one sample by a batch of one.

        Raises:
            RuntimeError: The detector failed on it.
        """
        (answer,) = self.detect_batch([sample])
        if isinstance(answer, DetectionError):
            raise RuntimeError(f"{answer.type}: {answer.message}")
        return answer


class Embedder(Protocol):
    """Puts a message into a medium; used by cohort recipes and by ``benchbench adapters --check``, never while measuring."""

    def embed(self, sample: Sample, message: Any = None) -> DecodedMedia:
        """Return the marked medium, decoded; without a message it carries the one that the adapter looks for."""


class Remover(Protocol):
    """Tries to take a mark out of a medium; used by cohort recipes, never while measuring."""

    def remove(self, sample: Sample) -> DecodedMedia:
        """Return the medium with the mark attacked, decoded."""
