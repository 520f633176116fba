"""How each adapter's marks are made: what a recipe needs to know of an adapter, whether it can run here or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pytest_benchbench.adapters.base import Adapter, AdapterDescription, AdapterUnavailable, Detection, Sample, Weights
from pytest_benchbench.adapters.haar_frame import SCALE
from pytest_benchbench.adapters.messages import benchmark_message, foreign_message
from pytest_benchbench.adapters.patterns import PATTERNS
from pytest_benchbench.adapters.pool import AdapterChoice, AdapterLoadError, AdapterOptionError, AdapterPool
from pytest_benchbench.adapters.registry import (
    AdapterRegistrationError,
    AdapterRegistry,
    UnknownAdapterError,
    installed_registry,
)
from pytest_benchbench.artifacts.loading import ArtifactLoader
from pytest_benchbench.cohorts import CohortError, CohortUsageError
from pytest_benchbench.cohorts.clips import Clip
from pytest_benchbench.cohorts.gallery import SavedArtifact
from pytest_benchbench.cohorts.media import MEDIA, Content
from pytest_benchbench.manifests.watermark import Medium

Embed = Callable[[Content], Content]


@dataclass(frozen=True, slots=True)
class Mark:
    """One message of a scheme.

    Attributes:
        name: Its part of a case id.
        record: Scheme and message for the case row; JSON values.
        embed: Marks a content and gives a new one.
        foreign_record: The same of another message, which the adapter does not look for; ``None`` without a payload.
        embed_foreign: Embeds that one.
    """

    name: str
    record: dict[str, Any]
    embed: Embed
    foreign_record: dict[str, Any] | None = None
    embed_foreign: Embed | None = None


@dataclass(frozen=True, slots=True)
class OpenedScheme:
    """A scheme that is ready to embed.

    Attributes:
        marks: In the order of the scheme's ``mark_names``.
        description: What stands behind the adapter's answers.
        detect: Asks the adapter about a saved artifact.
        remove: Takes a mark out as far as the scheme's own remover can; ``None`` where it brings none.
        remover_record: What it did, for the case row.
    """

    marks: tuple[Mark, ...]
    description: AdapterDescription
    detect: Callable[[SavedArtifact], Detection]
    remove: Embed | None = None
    remover_record: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scheme:
    """The marks of one adapter.

    Attributes:
        adapter: The adapter that will be asked about them.
        media_type: What it marks.
        mark_names: Names of its marks: what a plan counts without opening anything.
        message_bits: Length of a message; ``None`` for published patterns and for a mark without a payload.
        foreign: What the adapter's rule makes of somebody else's message; ``None`` without a payload.
        removes: Whether the scheme brings a remover, whose output gets a row of its own for each mark.
        packages: What embedding imports, beyond what this package itself needs.
        distributions: Installed distributions that shape the marks.
        choice: The options that the adapter is given.
    """

    adapter: str
    media_type: Medium
    mark_names: tuple[str, ...]
    message_bits: int | None = None
    foreign: Literal["detected", "not_detected"] | None = None
    removes: bool = False
    packages: tuple[str, ...] = ()
    distributions: tuple[str, ...] = ()
    choice: AdapterChoice | None = None

    def missing_packages(self) -> tuple[str, ...]:
        """Name the packages that are not installed; nothing is imported to find out."""
        return tuple(package for package in self.packages if find_spec(package) is None)

    def open(self, registry: AdapterRegistry | None = None) -> OpenedScheme:
        """Load what embedding needs.

        Raises:
            AdapterUnavailable: A package or weights are missing, or the adapter brings no embedder.
            CohortError: The options are refused, or the adapter fails to load.
        """
        choice = self.choice or AdapterChoice(self.adapter, self.adapter)
        pooled = AdapterPool(registry or installed_registry(), {choice.alias: choice}, Path.cwd()).fresh(choice.alias)
        try:
            description = pooled.load()
        except (AdapterLoadError, AdapterOptionError, AdapterRegistrationError, UnknownAdapterError) as error:
            raise CohortError(f"{self.adapter}: {error}") from error
        embedder = pooled.adapter.embedder()
        if embedder is None:
            raise AdapterUnavailable(f"the {self.adapter} adapter brings no embedder")
        record = self._record(getattr(embedder, "weights", description.weights))
        removing = pooled.adapter.remover() if self.removes else None
        return OpenedScheme(
            marks=tuple(self._mark(name, embedder, record, description.version) for name in self.mark_names),
            description=description,
            detect=_asking(pooled.adapter),
            remove=None if removing is None else removing.remove_pixels,  # type: ignore[attr-defined]  # images only
            remover_record=self._record(getattr(removing, "weights", ())),
        )

    def _record(self, weights: Iterable[Weights]) -> dict[str, Any]:
        files = [{"name": file.name, "sha256": file.sha256} for file in weights]
        return {"scheme": self.adapter, **({"weights": files} if files else {})}

    def _mark(self, name: str, embedder: Any, record: Mapping[str, Any], version: str) -> Mark:
        embedding = _EMBEDDING[self.media_type]
        if self.adapter in _PATTERNED:
            pattern = PATTERNS[name.removeprefix(_PATTERNED[self.adapter])]
            own = {"version": version, "scale": SCALE, "pattern": pattern.name, "message": _spelled(pattern.bits)}
            return Mark(name, {**record, **own}, lambda content: embedding(embedder, content, pattern))
        if self.message_bits is None:
            default = getattr(embedder, "message", None)
            own = {"message": None if default is None else _spelled(getattr(default, "bits", default))}
            return Mark(name, {**record, **own}, lambda content: embedding(embedder, content, None))
        message, other = benchmark_message(self.message_bits), foreign_message(self.message_bits)
        return Mark(
            name=name,
            record={**record, "message": _spelled(message)},
            embed=lambda content: embedding(embedder, content, message),
            foreign_record={**record, "message": _spelled(other)},
            embed_foreign=lambda content: embedding(embedder, content, other),
        )


def _spelled(bits: Iterable[int]) -> str:
    return "".join(map(str, bits))


def _asking(adapter: Adapter) -> Callable[[SavedArtifact], Detection]:
    artifacts = ArtifactLoader(max_bytes=0)

    def detect(saved: SavedArtifact) -> Detection:
        media_type = saved.medium.media_type
        loaded = artifacts.load(saved.file, saved.sha256, media_type, decode=adapter.needs != "bytes")
        return adapter.detect(Sample(media_type, saved.sha256, loaded.data, loaded.decoded))

    return detect


def _embed_pixels(embedder: Any, content: Content, message: Any) -> Content:
    return embedder.embed_pixels(content) if message is None else embedder.embed_pixels(content, message)


def _embed_samples(embedder: Any, content: Content, message: Any) -> Content:
    return embedder.embed_samples(content, message)


def _embed_frames(embedder: Any, clip: Clip, message: Any) -> Clip:
    marked = embedder.embed_frames(clip.frames.astype(np.float32) / np.float32(255), message)
    return Clip(np.rint(np.clip(marked, 0, 1) * np.float32(255)).astype(np.uint8), clip.rate)


_EMBEDDING: Mapping[str, Callable[[Any, Content, Any], Content]] = {
    "image": _embed_pixels,
    "audio": _embed_samples,
    "video": _embed_frames,
}

_PATTERNED = {"dwt-dct": "", "dwt-dct-svd": "svd-"}
"""Adapters whose marks are the published patterns, and what comes before a pattern's name in that of a mark: the marks of
all adapters stand beside each other in one cohort."""

_DECODERS = ("av", "soundfile", "soxr")

_SCHEMES = (
    *(
        Scheme(adapter, "image", tuple(f"{prefix}{name}" for name in PATTERNS), distributions=("numpy",))
        for adapter, prefix in _PATTERNED.items()
    ),
    Scheme("rivagan", "image", ("rivagan",), packages=("onnxruntime",), distributions=("onnxruntime",)),
    Scheme(
        "trustmark",
        "image",
        ("trustmark-p",),
        message_bits=61,
        foreign="detected",
        removes=True,
        packages=("torch", "trustmark"),
        distributions=("torch", "trustmark"),
    ),
    Scheme(
        "pixelseal",
        "image",
        ("pixelseal",),
        message_bits=256,
        foreign="not_detected",
        packages=("torch", "videoseal"),
        distributions=("torch", "videoseal"),
    ),
    Scheme(
        "audioseal",
        "audio",
        ("audioseal",),
        message_bits=16,
        foreign="detected",
        packages=(*_DECODERS, "torch", "audioseal"),
        distributions=("torch", "audioseal"),
    ),
    Scheme(
        "perth",
        "audio",
        ("perth",),
        packages=(*_DECODERS, "torch", "librosa", "perth"),
        distributions=("torch", "librosa", "resemble-perth"),
    ),
    Scheme(
        "videoseal",
        "video",
        ("videoseal",),
        message_bits=256,
        foreign="not_detected",
        packages=("av", "torch"),
        distributions=("torch",),
    ),
)

SCHEMES: Mapping[str, Scheme] = {scheme.adapter: scheme for scheme in _SCHEMES}
"""The schemes of the adapters that this package brings, by adapter; available here or not."""


def schemes_of(
    media_type: str, adapters: Iterable[AdapterChoice | str], registry: AdapterRegistry | None = None
) -> tuple[Scheme, ...]:
    """Find the schemes of adapters, each once, in the given order.

    An adapter of another distribution, registered by an entry point, can be chosen too: its embedder writes the one mark
    that it looks for.

    Args:
        media_type: What they are to mark.
        adapters: Names, or names with options.
        registry: Where adapters without a scheme of their own are looked up; by default what is installed.

    Raises:
        CohortUsageError: There is no such adapter, it is given twice, or it is asked about other media.
    """
    registry = registry or installed_registry()
    found: dict[str, Scheme] = {}
    for given in adapters:
        choice = given if isinstance(given, AdapterChoice) else AdapterChoice(given, given)
        if choice.alias != choice.name:
            raise CohortUsageError(f"adapter {choice.name} cannot be given the name {choice.alias} in a cohort")
        if choice.name in found:
            raise CohortUsageError(f"adapter {choice.name} is given twice")
        scheme = SCHEMES.get(choice.name)
        if scheme is None:
            if choice.name not in registry.names():
                raise CohortUsageError(f"unknown adapter {choice.name!r}; known: {', '.join(registry.names())}")
            if media_type not in registry.media_types()[choice.name]:
                raise CohortUsageError(f"{choice.name} does not mark {media_type}")
            scheme = Scheme(choice.name, MEDIA[media_type].media_type, (choice.name,))
        elif scheme.media_type != media_type:
            raise CohortUsageError(f"{choice.name} marks {scheme.media_type}, not {media_type}")
        found[choice.name] = replace(scheme, choice=choice)
    return tuple(found.values())
