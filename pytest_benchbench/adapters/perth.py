"""``perth``: the implicit mark of Resemble AI, present or absent without a message, read by the package's own network.

The checkpoint lies in the wheel of ``resemble-perth`` 1.0.1. The package's constructor is not used: it would load whatever
checkpoint lies there, and where an import of its own fails it is silently ``None``.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import msgspec
import numpy as np

from pytest_benchbench.adapters.audio_scheme import (
    SampleEmbedder,
    Samples,
    require_samples,
    samples_of,
    too_long,
    too_short,
)
from pytest_benchbench.adapters.base import AdapterDescription, AdapterUnavailable, Detection, Sample
from pytest_benchbench.adapters.network_adapter import NetworkAdapter
from pytest_benchbench.adapters.torch_runtime import (
    CheckpointError,
    hushed,
    import_package,
    import_torch,
    inference,
    load_checkpoint,
    load_state,
)
from pytest_benchbench.adapters.weights import LockedWeights, locked_weights, rule_with_weights
from pytest_benchbench.artifacts.audio import AUDIO_RATE
from pytest_benchbench.artifacts.media import MediaType

PACKAGE = "resemble-perth"

INSTALL = "pip install torch==2.13.0 librosa 'setuptools<81' && pip install --no-deps resemble-perth==1.0.1"
"""Without its dependencies: the wheel pins an obsolete torch. It imports ``pkg_resources``, which setuptools 82 dropped."""

CHECKPOINT = "perth/perth_net/pretrained/implicit/perth_net_250000.pth.tar"

PIN = "a15bce457ebc53ce5e6c9c3f11df78cf7ee2bf9cdab0a798902135b4c4027670"
"""SHA-256 of the checkpoint in the wheel of resemble-perth 1.0.1; the source revision ff1c8ac has the same."""

LABEL = "perth-v1"

THRESHOLD = 0.5
"""A confidence above it is detected, as in the package, which rounds: one half itself becomes 0."""

MINIMUM_SAMPLES = 513
"""The package doubles the rate and reflects 1,024 samples at each edge, for which it needs more than 1,024."""

MAXIMUM_SECONDS = 1800
"""The network and its spectrogram take about 3 MB a second: 5 GB here."""

SILENCE = 1e-9
"""Below this peak every value of the spectrogram lies at the package's floor, and no frame is left to take a mean over."""

_WATERMARKER = "perth.perth_net.perth_net_implicit.perth_watermarker"


class PerthOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the weights come from.

    Attributes:
        weights: A checkpoint; by default that of the installed distribution ``resemble-perth``.
        allow_unpinned: Take a checkpoint whose SHA-256 is not the pinned one; the evidence then says so.
    """

    weights: Path | None = None
    allow_unpinned: bool = False


class Perth(NetworkAdapter["_Network"]):
    """Asks the package's network for its confidence that the mark is there."""

    name: ClassVar[str] = "perth"
    media_types: ClassVar[frozenset[MediaType]] = frozenset({"audio"})
    verified_weights: ClassVar[frozenset[str]] = frozenset({PIN})
    Options: ClassVar[type[msgspec.Struct]] = PerthOptions
    options: PerthOptions

    def open(self) -> _Network:
        """Check the checkpoint, import the package and make its network.

        Raises:
            AdapterUnavailable: A package or the checkpoint is missing, or the checkpoint is not the pinned one.
            CheckpointError: A checkpoint taken by ``allow_unpinned`` is none of this network.
        """
        return _Network(self.options)

    def detect(self, sample: Sample) -> Detection:
        """Answer ``detected`` or ``not_detected``, ``too-small``, or ``unsupported`` for silence and for what is too long.

        Raises:
            TypeError: The sample is no decoded sound.
        """
        samples = samples_of(sample)
        if reason := too_short(samples, MINIMUM_SAMPLES):
            return Detection(status="too-small", reason=reason)
        if reason := too_long(samples, MAXIMUM_SECONDS):
            return Detection(status="unsupported", reason=reason)
        return decide(self.opened.confidence(samples), peak=float(np.abs(samples).max()))

    def embedder(self) -> PerthEmbedder:
        """Make the embedder.

        Raises:
            AdapterUnavailable: As for ``load``; both come from the same checkpoint.
        """
        return PerthEmbedder(self.options)

    def describe(self) -> AdapterDescription:
        """Versions, the rule and the checkpoint's digest; a checkpoint other than the pinned one is named as such."""
        network = self.opened
        rule = f"confidence above {THRESHOLD} is {LABEL}"
        return AdapterDescription(network.version, rule_with_weights(rule, network.lock), (network.lock.weights,))


class PerthEmbedder(SampleEmbedder):
    """Writes the mark as the package does.

    Args:
        options: Where the weights come from.

    Raises:
        AdapterUnavailable: A package or the checkpoint is missing, or the checkpoint is not the pinned one.
        CheckpointError: A checkpoint taken by ``allow_unpinned`` is none of this network.
    """

    def __init__(self, options: PerthOptions | None = None) -> None:
        self._network = _Network(options or PerthOptions())

    def embed_samples(self, samples: Samples, message: tuple[int, ...] | None = None) -> Samples:
        """Mark (n,) float32 mono at 16 kHz. What comes back has the largest multiple of 160 samples that n holds.

        The package goes to 32 kHz and back by whole hops of its spectrogram, so the last n % 160 samples are lost; what
        remains is not shifted. Values may lie outside -1 to 1.

        Args:
            samples: The sound.
            message: ``None``: the mark carries no message.

        Raises:
            ValueError: The array is no such sound, it is too short, too long or silent, or there is a message.
        """
        require_samples(samples)
        if message is not None:
            raise ValueError("perth carries no message")
        if reason := too_short(samples, MINIMUM_SAMPLES) or too_long(samples, MAXIMUM_SECONDS):
            raise ValueError(reason)
        if np.abs(samples).max() < SILENCE:
            raise ValueError("the sound is silent: there is nothing that could carry the mark")
        return self._network.mark(samples)


def decide(confidence: float, *, peak: float) -> Detection:
    """Turn the network's answer about a sound into a detection.

    Args:
        confidence: 0 to 1, or NaN.
        peak: Largest magnitude of the sound's samples.

    Returns:
        ``detected`` strictly above 0.5, else ``not_detected``. NaN is ``unsupported`` for a silent sound, of which the
        network takes the mean over no frames, and ``inference-error`` for any other: it is never a verdict.
    """
    if not math.isfinite(confidence):
        if peak < SILENCE:
            return Detection(status="unsupported", reason="the sound is silent: the detector gives no number for it")
        return Detection(status="inference-error", reason="the detector's answer is not a number")
    found = confidence > THRESHOLD
    return Detection(
        status="detected" if found else "not_detected",
        score=confidence,
        label=LABEL if found else None,
        reason=f"confidence {confidence:.6g}",
    )


class _Network:
    """The package's network, made from a checked checkpoint.

    Attributes:
        lock: The checkpoint's file and digest.
        version: Of the package and of what its numbers depend on.
    """

    def __init__(self, options: PerthOptions) -> None:
        self.lock, origin = _lock_checkpoint(options)
        torch = import_torch(INSTALL)
        librosa = import_package("librosa", INSTALL)
        package, transforms = _import_perth()
        checkpoint = load_checkpoint(self.lock.data)
        if not isinstance(checkpoint, dict) or "model" not in checkpoint:
            raise CheckpointError("the checkpoint has no entry 'model'")
        config = import_module("perth.perth_net.perth_net_implicit.config").default_hp
        with hushed():
            network = package.PerthNet(config)
        load_state(network, checkpoint["model"])
        self._watermarker = package.PerthImplicitWatermarker(run_name=None, perth_net=network.eval())
        self.version = f"{origin}, torch {torch.__version__}, librosa {librosa.__version__}, {transforms}"

    def confidence(self, samples: Samples) -> float:
        with inference():
            return float(self._watermarker.get_watermark(samples, sample_rate=AUDIO_RATE, round=False))

    def mark(self, samples: Samples) -> Samples:
        with inference():
            marked = self._watermarker.apply_watermark(samples, sample_rate=AUDIO_RATE)
        return np.array(marked, dtype=np.float32)  # the network's own memory is not handed out


def _lock_checkpoint(options: PerthOptions) -> tuple[LockedWeights, str]:
    """Read and check the checkpoint, and say which package it belongs to."""
    try:
        carrier = distribution(PACKAGE)
    except PackageNotFoundError as error:
        raise AdapterUnavailable(f"{PACKAGE} is not installed", INSTALL) from error
    given = options.weights is not None
    lock = locked_weights(
        options.weights or Path(str(carrier.locate_file(CHECKPOINT))),
        pinned=PIN,
        allow_unpinned=options.allow_unpinned,
        remedy="point weights= at the file perth_net_250000.pth.tar of resemble-perth 1.0.1" if given else INSTALL,
        source="resemble-perth 1.0.1",
    )
    return lock, f"{PACKAGE} {carrier.version}"


def _import_perth() -> tuple[Any, str]:
    """Import the package's module with network and watermarker, and say whose transforms it uses.

    The package itself hides an import that fails and shows ``None`` instead; importing the module once more, after what
    the failure left behind is gone, tells what failed or succeeds with what was missing before.
    """
    with _torchaudio() as transforms:
        if getattr(import_package("perth", INSTALL), "PerthImplicitWatermarker", None) is None:
            for name in [name for name in sys.modules if name.startswith("perth.perth_net")]:
                del sys.modules[name]
        module = import_package(_WATERMARKER, INSTALL)
    if getattr(module, "PerthImplicitWatermarker", None) is None:
        raise AdapterUnavailable("perth has no PerthImplicitWatermarker", INSTALL)
    return module, transforms


@contextlib.contextmanager
def _torchaudio() -> Iterator[str]:
    """Let ``torchaudio.transforms`` be importable, by three transforms of ours where the real ones are missing or broken.

    Ours stand there only while Perth is imported, so that nobody else takes them for torchaudio.
    """
    before = {name: module for name, module in sys.modules.items() if _of_torchaudio(name)}
    try:
        with hushed():
            real = import_module("torchaudio")
            import_module("torchaudio.transforms")
    except Exception:  # missing, built for another torch, without its shared libraries: Perth needs three transforms only
        own: Any = ModuleType("torchaudio")
        own.__path__ = []
        own.transforms = import_module("pytest_benchbench.adapters.torchaudio_transforms")
        _replace_torchaudio({"torchaudio": own, "torchaudio.transforms": own.transforms})
        try:
            yield "transforms of pytest-benchbench"
        finally:
            _replace_torchaudio(before)
    else:
        yield f"torchaudio {real.__version__}"


def _of_torchaudio(name: str) -> bool:
    return name.partition(".")[0] == "torchaudio"


def _replace_torchaudio(modules: dict[str, Any]) -> None:
    for name in [name for name in sys.modules if _of_torchaudio(name)]:
        del sys.modules[name]
    sys.modules.update(modules)
