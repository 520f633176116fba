"""``audioseal``: Meta's localised mark with a 16-bit message, read by the package's own detector.

The package's loader is not used: it would download, and it reads checkpoints by unrestricted pickle. Its network, its
configuration and its renaming of old checkpoints are.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.adapters import audioseal_checkpoints
from pytest_benchbench.adapters.audio_scheme import (
    SampleEmbedder,
    Samples,
    require_samples,
    samples_of,
    too_long,
    too_short,
)
from pytest_benchbench.adapters.audioseal_checkpoints import BITS, Part
from pytest_benchbench.adapters.base import AdapterDescription, AdapterUnavailable, Detection, Sample, Weights
from pytest_benchbench.adapters.bit_messages import equal_bits, require_bits
from pytest_benchbench.adapters.messages import benchmark_message
from pytest_benchbench.adapters.network_adapter import NetworkAdapter
from pytest_benchbench.adapters.torch_runtime import import_package, import_torch, inference
from pytest_benchbench.adapters.weights import LockedWeights, locked_weights, rule_with_weights
from pytest_benchbench.artifacts.media import MediaType

if TYPE_CHECKING:
    from types import ModuleType

INSTALL = "pip install torch==2.13.0 omegaconf einops && pip install --no-deps audioseal==0.2.0"

DETECTOR = "detector_base.pth"

GENERATOR = "generator_base.pth"

REVISION = "3c19eba53390776cf2cc9ed5f6c9ac67ce72ecba"

PINS = {
    DETECTOR: "8a78e8a83584113523e161fc599fcab10fd0e94c04d2eb9d2fa1e9ec91ab69d9",
    GENERATOR: "7a845b5fbe9364a63a3909d8ab3fe064d13a76ae4c2e983573e08c69b7b51748",
}
"""SHA-256 of the files of facebook/audioseal on Hugging Face at ``REVISION``."""

MESSAGE = benchmark_message(BITS)

THRESHOLD = 0.5
"""A sample's probability above it counts as marked, a bit's as 1, and half of the samples make the sound marked."""

MINIMUM_SAMPLES = 320
"""One frame of the network, the product of its strides 8, 5, 4 and 2; of less it would see padding for the most part."""

MAXIMUM_SECONDS = 600
"""The detector takes about 11 MB a second: 6 GB here."""


class AudioSealOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the weights come from.

    Attributes:
        weights: The detector's checkpoint; by default that in the package's own cache.
        generator: The generator's checkpoint, for embedding; by default that in the package's own cache.
        card: A model card (YAML) in place of the package's, for checkpoints of another architecture.
        allow_unpinned: Take checkpoints whose SHA-256 is not the pinned one; the evidence then says so.
    """

    weights: Path | None = None
    generator: Path | None = None
    card: Path | None = None
    allow_unpinned: bool = False


class AudioSeal(NetworkAdapter["_Network"]):
    """Asks the package's detector about every sample and reads the message."""

    name: ClassVar[str] = "audioseal"
    media_types: ClassVar[frozenset[MediaType]] = frozenset({"audio"})
    Options: ClassVar[type[msgspec.Struct]] = AudioSealOptions
    options: AudioSealOptions

    def open(self) -> _Network:
        """Check the detector's checkpoint, import the package and make the detector.

        Raises:
            AdapterUnavailable: A package or the checkpoint is missing, or the checkpoint is not the pinned one.
            CheckpointError: A checkpoint taken by ``allow_unpinned``, or a card, is none of such a detector.
        """
        return _Network("detector", self.options)

    def detect(self, sample: Sample) -> Detection:
        """Answer ``detected`` or ``not_detected``; ``too-small`` or ``unsupported`` for a length out of range.

        Raises:
            TypeError: The sample is no decoded sound.
        """
        samples = samples_of(sample)
        if reason := too_short(samples, MINIMUM_SAMPLES):
            return Detection(status="too-small", reason=reason)
        if reason := too_long(samples, MAXIMUM_SECONDS):
            return Detection(status="unsupported", reason=reason)
        return decide(*self.opened.read(samples))

    def embedder(self) -> AudioSealEmbedder:
        """Make the embedder.

        Raises:
            AdapterUnavailable: A package or the generator's checkpoint is missing, or it is not the pinned one.
            CheckpointError: A checkpoint taken by ``allow_unpinned``, or a card, is none of such a generator.
        """
        return AudioSealEmbedder(self.options)

    def describe(self) -> AdapterDescription:
        """Versions, the rule and the checkpoint's digest; a checkpoint other than the pinned one is named as such."""
        network = self.opened
        rule = (
            f"the share of samples with a probability above {THRESHOLD} is {THRESHOLD} or more; "
            f"the label is the message, a bit above {THRESHOLD} is a 1"
        )
        files: tuple[Weights, ...] = (network.lock.weights,)
        if network.card is not None:
            rule += "; the network is configured by a card of the user's"
            files += (network.card.weights,)
        return AdapterDescription(network.version, rule_with_weights(rule, network.lock), files)


class AudioSealEmbedder(SampleEmbedder):
    """Writes a 16-bit message as the package does, at its default strength.

    Args:
        options: Where the weights come from.

    Raises:
        AdapterUnavailable: A package or the generator's checkpoint is missing, or it is not the pinned one.
        CheckpointError: A checkpoint taken by ``allow_unpinned``, or a card, is none of such a generator.
    """

    def __init__(self, options: AudioSealOptions | None = None) -> None:
        self._network = _Network("generator", options or AudioSealOptions())

    def embed_samples(self, samples: Samples, message: tuple[int, ...] | None = None) -> Samples:
        """Mark (n,) float32 mono at 16 kHz and give a new array of the same length. Values may lie outside -1 to 1.

        Args:
            samples: The sound.
            message: 16 bits, each 0 or 1; ``None`` for the benchmark's own.

        Raises:
            ValueError: The array is no such sound, it is too short or too long, or the message is no 16 bits.
        """
        require_samples(samples)
        message = MESSAGE if message is None else message
        require_bits(message, BITS)
        if reason := too_short(samples, MINIMUM_SAMPLES) or too_long(samples, MAXIMUM_SECONDS):
            raise ValueError(reason)
        return self._network.mark(samples, message)


def decide(probabilities: NDArray[np.floating[Any]], bits: NDArray[np.floating[Any]]) -> Detection:
    """Turn the network's answer about a sound into a detection, by the rule of the package's ``detect_watermark``.

    Args:
        probabilities: (n,) probability of each sample to be marked.
        bits: (16,) probability of each bit of the message to be 1.

    Returns:
        ``detected`` if at least half of the probabilities lie strictly above 0.5, else ``not_detected``; the share is the
        score. The label, of a mark only, is the message: a bit strictly above 0.5 is a 1. ``message_bit_accuracy`` is the
        share of bits that equal the benchmark's message; without a mark they are noise. An answer that is not finite is
        ``inference-error``.
    """
    if not (np.isfinite(probabilities).all() and np.isfinite(bits).all()):
        return Detection(status="inference-error", reason="the detector's answer is not a number")
    marked, total = int(np.count_nonzero(probabilities > THRESHOLD)), len(probabilities)
    read = tuple(int(bit) for bit in bits > THRESHOLD)
    equal = equal_bits(read, MESSAGE)
    found = 2 * marked >= total
    return Detection(
        status="detected" if found else "not_detected",
        score=marked / total,
        label="".join(map(str, read)) if found else None,
        message_bit_accuracy=equal / BITS,
        reason=f"{marked:,} of {total:,} samples above {THRESHOLD}, {equal}/{BITS} bits",
    )


def cached_checkpoint(name: str) -> Path:
    """Say where the package would keep a file that it downloads: ``audioseal/`` in its cache, under a digest of the address.

    As in ``audioseal.loader`` 0.2.0: the cache is ``$AUDIOSEAL_CACHE_DIR``, else ``$XDG_CACHE_HOME``, else ``~/.cache``; the
    name is the first 24 digits of the SHA-1 of the path in the card's address.
    """
    cache = os.environ.get("AUDIOSEAL_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    digest = hashlib.sha1(f"/facebook/audioseal/resolve/main/{name}".encode(), usedforsecurity=False).hexdigest()
    return Path(cache).expanduser() / "audioseal" / digest[:24]


class _Network:
    """The package's detector or generator, made from a checked checkpoint.

    Attributes:
        lock: The checkpoint's file and digest.
        card: Those of the user's model card, or ``None`` where the package's is used.
        version: Of the package and of torch.
    """

    def __init__(self, part: Part, options: AudioSealOptions) -> None:
        self._torch = import_torch(INSTALL)
        package = import_audioseal()
        self.lock = _lock_checkpoint(part, options)
        self.version = f"audioseal {package.__version__}, torch {self._torch.__version__}"
        self.card = None if options.card is None else _lock_card(options.card)
        self._network = audioseal_checkpoints.network_of(part, self.lock, self.card.data if self.card else None)
        # networks are compiled at the first call otherwise, for minutes, by a C++ compiler
        self._uncompiled = import_module("audioseal.libs.moshi.utils.compile").no_compile

    def read(self, samples: Samples) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        with inference(), self._uncompiled():
            scores, bits = self._network(self._tensor(samples))
            return scores[0, 1].numpy(), bits[0].numpy()

    def mark(self, samples: Samples, message: tuple[int, ...]) -> Samples:
        with inference(), self._uncompiled():
            marked: Samples = self._network(self._tensor(samples), message=self._torch.tensor([message]))[0, 0].numpy()
            return marked

    def _tensor(self, samples: Samples) -> Any:
        return self._torch.from_numpy(samples.copy())[None, None]


def import_audioseal() -> ModuleType:
    """Import the package without its warning about ``torch.jit``.

    Raises:
        AdapterUnavailable: It, or what it imports, is missing.
    """
    return import_package("audioseal", INSTALL)


def _lock_card(path: Path) -> LockedWeights:
    """Read a model card and its digest; there is no pin for what a user writes."""
    return locked_weights(path, pinned=None, allow_unpinned=True, remedy="point card= at a model card of audioseal")


def _lock_checkpoint(part: Part, options: AudioSealOptions) -> LockedWeights:
    """Read and check a checkpoint, from where the user says or from the package's cache. Nothing is downloaded."""
    name, given, option = {
        "detector": (DETECTOR, options.weights, "weights"),
        "generator": (GENERATOR, options.generator, "generator"),
    }[part]
    cached = cached_checkpoint(name)
    genuine = f"{name} of huggingface.co/facebook/audioseal at revision {REVISION} (SHA-256 {PINS[name]})"
    remedy = f"download {genuine} and point {option}= at it, or put it at {cached}"
    if given is None and not cached.is_file():
        raise AdapterUnavailable(f"the {part}'s weights, {name} with SHA-256 {PINS[name]}, are not on this machine", remedy)
    lock = locked_weights(
        given or cached,
        pinned=PINS[name],
        allow_unpinned=options.allow_unpinned,
        remedy=remedy,
        source=f"huggingface.co/facebook/audioseal at revision {REVISION}",
    )
    # the cache calls it by a digest of its address
    return lock if given is not None else replace(lock, weights=Weights(name, lock.weights.sha256))
