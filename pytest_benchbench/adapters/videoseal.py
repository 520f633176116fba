"""``videoseal``: Meta's video watermark of 256 bits, read by the standalone TorchScript file ``y_256b_img.jit``.

The file alone is needed, not the package ``videoseal``. Its own way to one message for a whole clip,
``detect_video_and_aggregate``, ignores which aggregation it is asked for, so the frames' logits are averaged here.
"""

from __future__ import annotations

import contextlib
import io
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.adapters.base import (
    AdapterDescription,
    AdapterUnavailable,
    Detection,
    Needs,
    Sample,
    Weights,
)
from pytest_benchbench.adapters.bit_messages import Message, require_bits
from pytest_benchbench.adapters.network_adapter import NetworkAdapter
from pytest_benchbench.adapters.seal_rule import BITS, MESSAGE, RULE, accuracy, message_logits, recognise
from pytest_benchbench.adapters.torch_runtime import TORCH_INSTALL, CheckpointError, hushed, import_torch, inference
from pytest_benchbench.adapters.weights import LockedWeights, locked_weights, rule_with_weights
from pytest_benchbench.artifacts.media import MediaType
from pytest_benchbench.artifacts.video import Video

SOURCE = "https://dl.fbaipublicfiles.com/videoseal/y_256b_img.jit"

PIN = "5c7a4581c36fc6090aafdcfb3999123bae5172a4847f22e2da4e7fd1a39d1e1b"
"""SHA-256 of that file as facebookresearch/videoseal@870ca7f documents it."""

AGGREGATED_RULE = f"the raw logits of all frames are averaged, each frame alike; of the averages {RULE}"

CHUNK_FRAMES = 16
"""The most frames that are shown to the network at once, as many as it would itself take at a time."""

CHUNK_SAMPLES = 1 << 24
"""The most samples (frames x height x width x 3) of such a chunk, 64 MiB of float32, unless one frame alone has more."""

Frames = NDArray[np.float32]
"""(T, H, W, 3) RGB, 0 to 1."""


class VideoSealOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the file comes from; no package brings it along.

    Attributes:
        weights: The file ``y_256b_img.jit``.
        allow_unpinned: Take a file whose SHA-256 is not the pinned one, which can hold any program; the evidence then says
            so.
    """

    weights: Path | None = None
    allow_unpinned: bool = False


class VideoSeal(NetworkAdapter["_Opened"]):
    """Reads 256 bits of each frame and compares those of their average with the message of the benchmark."""

    name: ClassVar[str] = "videoseal"
    media_types: ClassVar[frozenset[MediaType]] = frozenset({"video"})
    needs: ClassVar[Needs] = "frames"
    Options: ClassVar[type[msgspec.Struct]] = VideoSealOptions
    options: VideoSealOptions

    def open(self) -> _Opened:
        """Read, check and load the file.

        Raises:
            AdapterUnavailable: torch or the file is missing, or the file is not the pinned one.
            CheckpointError: It is no such program; only possible with ``allow_unpinned``.
        """
        return _open(self.options)

    def detect(self, sample: Sample) -> Detection:
        """Answer ``detected`` or ``not_detected``, or ``too-small`` for a clip without frames.

        Raises:
            TypeError: The sample is no decoded video.
            ValueError: The network gave numbers that are not finite, or an array of another shape than (frames, 257).
            UndecodableArtifactError: A frame could not be decoded.
        """
        model = self.opened.model
        logits = [_logits(model, chunk) for chunk in _chunks(_video_of(sample).frames())]
        return read_clip(np.concatenate(logits)) if logits else Detection("too-small", reason="the clip has no frames")

    def embedder(self) -> VideoSealEmbedder:
        """Make the embedder.

        Raises:
            AdapterUnavailable: torch or the file is missing, or the file is not the pinned one.
        """
        return VideoSealEmbedder(self.options)

    def describe(self) -> AdapterDescription:
        """Versions, the rule and the file's digest."""
        opened = self.opened
        rule = rule_with_weights(AGGREGATED_RULE, opened.file)
        return AdapterDescription(opened.version, rule, (opened.file.weights,))


class VideoSealEmbedder:
    """Writes a message of 256 bits into every frame of a clip.

    Args:
        options: Where the file comes from.

    Attributes:
        message: What it writes unless told otherwise.
        weights: The file that it loaded.

    Raises:
        AdapterUnavailable: torch or the file is missing, or the file is not the pinned one.
    """

    message: ClassVar[Message] = MESSAGE

    def __init__(self, options: VideoSealOptions | None = None) -> None:
        self._opened = _open(options or VideoSealOptions())
        self.weights: tuple[Weights, ...] = (self._opened.file.weights,)

    def embed(self, sample: Sample, message: Message | None = None) -> Video:
        """Mark a decoded video with a message, the benchmark's own if none is given; the clip is held in memory.

        Raises:
            TypeError: The sample is no decoded video.
            ValueError: The message has no 256 bits, or the clip no frames.
            UndecodableArtifactError: The clip is too large to be held as a whole.
        """
        video = _video_of(sample)
        marked = self.embed_frames(video.array(), self.message if message is None else message)
        marked.flags.writeable = False
        frames, height, width, _ = video.shape
        decoding = {"rule": "embedded", "size": [width, height], "frames": frames, "rate": str(video.rate)}
        return Video(video.shape, video.rate, decoding, None, video.seconds, marked)

    def embed_frames(self, frames: Frames, message: Message = MESSAGE) -> Frames:
        """Mark (T, H, W, 3) float32 RGB from 0 to 1 with 256 bits and give a new array of the same shape and range.

        Raises:
            ValueError: The array is no such clip, it has no frames, the message has no 256 bits, or the network gave
                numbers that are not finite or an array of another shape.
        """
        if frames.ndim != 4 or frames.shape[3] != 3 or frames.dtype != np.float32 or not len(frames):
            raise ValueError(f"expected (T, H, W, 3) float32 with a frame at least, not {frames.shape} {frames.dtype}")
        require_bits(message, BITS)
        torch = import_torch()
        bits = torch.tensor([message], dtype=torch.float32)
        with _running():
            marked = self._opened.model.embed(_planes(frames), bits, is_video=True).permute(0, 2, 3, 1).numpy()
        if marked.shape != frames.shape:
            raise ValueError(f"the network gave frames of shape {marked.shape}, not {frames.shape}")
        if not np.isfinite(marked).all():
            raise ValueError("the network gave numbers that are not finite")
        return np.ascontiguousarray(np.clip(marked, 0, 1), dtype=np.float32)


def read_clip(logits: NDArray[np.floating]) -> Detection:
    """Decide about a clip by the raw logits of its frames.

    Args:
        logits: (frames, 257), in the order of the frames: the detection logit, then those of the message.

    Returns:
        The rule's answer about the average over the frames, and in ``temporal`` the number of ``frames`` and the
        ``bit_accuracy`` of each frame's own bits: ``min``, ``mean``, ``max``, and all of them as ``series``.

    Raises:
        ValueError: Another shape, no frame, or a number that is not finite.
    """
    message = message_logits(logits)
    series = [accuracy(frame > 0) for frame in message]
    temporal = {
        "frames": len(series),
        "bit_accuracy": {"min": min(series), "mean": float(np.mean(series)), "max": max(series), "series": series},
    }
    return msgspec.structs.replace(recognise(message.mean(axis=0) > 0), temporal=temporal)


@dataclass(frozen=True, slots=True)
class _Opened:
    """The loaded program, the file that it came from, and the version of what runs it."""

    model: Any
    file: LockedWeights
    version: str


def _open(options: VideoSealOptions) -> _Opened:
    if options.weights is None:
        raise AdapterUnavailable("weights= must say where the file of VideoSeal lies", _HOW)
    file = locked_weights(options.weights, pinned=PIN, allow_unpinned=options.allow_unpinned, remedy=_HOW, source=SOURCE)
    torch = import_torch()
    try:
        with hushed():
            model = torch.jit.load(io.BytesIO(file.data), map_location="cpu").eval()
    except Exception as error:  # torch has no error of its own for this
        raise CheckpointError(f"{file.weights.name} is no TorchScript program ({type(error).__name__})") from error
    missing = [method for method in ("detect", "embed") if not hasattr(model, method)]
    if missing:
        raise CheckpointError(f"{file.weights.name} is another program: it has no {' and no '.join(missing)}")
    return _Opened(model, file, f"TorchScript file by option, torch {torch.__version__}")


_HOW = f"{TORCH_INSTALL} and --bench-adapter=videoseal:weights=y_256b_img.jit with the file of {SOURCE}"


def _video_of(sample: Sample) -> Video:
    if not isinstance(sample.decoded, Video):
        raise TypeError(f"expected a decoded video, not {type(sample.decoded).__name__}")
    return sample.decoded


def _chunks(frames: Iterable[Frames]) -> Iterator[Frames]:
    """Gather streamed frames (H, W, 3) into chunks (n, H, W, 3); n follows from their size alone, never from the machine."""
    stream = iter(frames)
    for first in stream:
        length = min(CHUNK_FRAMES, max(1, CHUNK_SAMPLES // first.size))
        yield np.stack([first, *itertools.islice(stream, length - 1)])


def _logits(model: Any, frames: Frames) -> NDArray[np.float32]:
    """Read frames (n, H, W, 3): (n, 257) float32."""
    with _running():
        logits: NDArray[np.float32] = model.detect(_planes(frames), is_video=True).numpy()
    if logits.shape[:1] != frames.shape[:1]:
        raise ValueError(f"the network gave an array of shape {logits.shape} about {len(frames)} frames")
    return logits


@contextlib.contextmanager
def _running() -> Iterator[None]:
    """Run a TorchScript program as it is written: rewritten after its first calls it could answer a warm call otherwise."""
    with hushed(), inference(), import_torch().jit.optimized_execution(False):
        yield


def _planes(frames: Frames) -> Any:
    """Arrange (n, H, W, 3) frames as the network sees them: a tensor (n, 3, H, W)."""
    return import_torch().from_numpy(np.ascontiguousarray(frames.transpose(0, 3, 1, 2)))
