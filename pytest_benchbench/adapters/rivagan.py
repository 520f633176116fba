"""``rivagan``: a 32-bit message written and read by the two small networks that ``invisible-watermark`` carries.

The weights lie in the wheel of ``invisible-watermark`` 0.2.0 as ONNX files and are run by ONNX Runtime. The package
itself is never imported: it would import torch, which nothing here needs.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.adapters.base import AdapterDescription, AdapterUnavailable, Detection, Sample
from pytest_benchbench.adapters.invisible_watermark import PatternEmbedder, pixels_of, require_pixels, too_small
from pytest_benchbench.adapters.messages import benchmark_message
from pytest_benchbench.adapters.network_adapter import NetworkAdapter
from pytest_benchbench.adapters.patterns import Pattern, recognise, rule_in_words
from pytest_benchbench.adapters.weights import LockedWeights, locked_weights, rule_with_weights
from pytest_benchbench.adapters.yuv import Pixels
from pytest_benchbench.artifacts.media import MediaType

if TYPE_CHECKING:
    import onnxruntime

INSTALL = "pip install 'pytest-benchbench[rivagan]' && pip install --no-deps invisible-watermark==0.2.0"

DECODER = "rivagan_decoder.onnx"

ENCODER = "rivagan_encoder.onnx"

PINS = {
    DECODER: "6b006690cf352fa50a91a0b6d6241dbcded0a9957969e2c0665cf9a7011b3880",
    ENCODER: "66bc7814fadac7d686105c8ab26c6cf2cc8e40deb83e67bb6ef5b9de9b8ece0d",
}
"""SHA-256 of the files in the wheel of invisible-watermark 0.2.0."""

MESSAGE = Pattern(
    "benchbench-32",
    benchmark_message(32),
    threshold=29,
    source="the first 32 bits of the SHA-256 of 'pytest-benchbench', 8ce67933: a choice that hides nothing",
)
"""The message of the benchmark. On nine photographs at 256x256 lossless marks were read with two wrong bits at most, those
after JPEG at quality 75 with five, and unmarked pictures agreed in 19 bits at most. The rule forgives three: as many fair
bits agree by chance once in 780,000 pictures."""

THRESHOLD = 0.52
"""A decoder output above it is a 1, as in the package."""

MAXIMUM_PIXELS = 1 << 23
"""The decoder takes about 550 bytes a pixel and the encoder twice that: 4.5 and 9 GB here, which still admits 3840x2160."""

_CENTRE = np.float32(127.5)


class RivaGanOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the weights come from.

    Attributes:
        weights: A directory with the two ONNX files; by default the installed distribution ``invisible-watermark``.
        allow_unpinned: Take files whose SHA-256 is not the pinned one; the evidence then says so.
    """

    weights: Path | None = None
    allow_unpinned: bool = False


class RivaGan(NetworkAdapter["_Network"]):
    """Reads 32 bits and compares them with the message of the benchmark."""

    name: ClassVar[str] = "rivagan"
    media_types: ClassVar[frozenset[MediaType]] = frozenset({"image"})
    verified_weights: ClassVar[frozenset[str]] = frozenset({PINS[DECODER]})
    Options: ClassVar[type[msgspec.Struct]] = RivaGanOptions
    options: RivaGanOptions

    def open(self) -> _Network:
        """Read and check the decoder.

        Raises:
            AdapterUnavailable: ONNX Runtime or the weights are missing, or the weights are not the pinned ones.
        """
        return _Network(DECODER, self.options)

    def detect(self, sample: Sample) -> Detection:
        """Answer ``detected``, ``not_detected``, ``too-small``, or ``unsupported`` for a picture too large to read.

        Raises:
            TypeError: The sample is no decoded image.
        """
        pixels = pixels_of(sample)
        if reason := too_small(pixels):
            return Detection(status="too-small", reason=reason)
        height, width = pixels.shape[:2]
        if height * width > MAXIMUM_PIXELS:
            return Detection(
                status="unsupported",
                reason=f"{MAXIMUM_PIXELS:,} pixels are read at most, the image is {width}x{height}",
            )
        (answers,) = self.opened.run({"frame": _frame(pixels)})
        return recognise({len(MESSAGE.bits): answers[0] > THRESHOLD}, (MESSAGE,))

    def embedder(self) -> RivaGanEmbedder:
        """Make the embedder.

        Raises:
            AdapterUnavailable: ONNX Runtime or the encoder's weights are missing, or they are not the pinned ones.
        """
        return RivaGanEmbedder(self.options)

    def describe(self) -> AdapterDescription:
        """Versions, the rule and the decoder's digest; weights other than the pinned ones are named as such."""
        network = self.opened
        rule = f"decoder output above {THRESHOLD} is a 1; {rule_in_words((MESSAGE,))}"
        return AdapterDescription(network.version, rule_with_weights(rule, network.lock), (network.lock.weights,))


class RivaGanEmbedder(PatternEmbedder):
    """Writes a 32-bit message as the package does.

    Args:
        options: Where the weights come from.

    Raises:
        AdapterUnavailable: ONNX Runtime or the weights are missing, or the weights are not the pinned ones.
    """

    message: ClassVar[Pattern] = MESSAGE

    def __init__(self, options: RivaGanOptions | None = None) -> None:
        self._network = _Network(ENCODER, options or RivaGanOptions())

    def embed_pixels(self, pixels: Pixels, message: Pattern = MESSAGE) -> Pixels:
        """Mark (H, W, 3) uint8 RGB with a pattern of 32 bits and give a new array of the same shape.

        Raises:
            ValueError: The array is no such picture, it is too small or too large, or the pattern has another length.
        """
        require_pixels(pixels)
        if reason := too_small(pixels):
            raise ValueError(reason)
        if pixels.shape[0] * pixels.shape[1] > MAXIMUM_PIXELS:
            raise ValueError(f"{MAXIMUM_PIXELS:,} pixels are marked at most")
        if len(message.bits) != len(MESSAGE.bits):
            raise ValueError(f"rivagan carries 32 bits, not the {len(message.bits)} of {message.name}")
        (marked,) = self._network.run({"frame": _frame(pixels), "data": np.array([message.bits], dtype=np.float32)})
        samples = (np.clip(marked[0, :, 0], -1, 1) + np.float32(1)) * _CENTRE
        return np.ascontiguousarray(samples[::-1].transpose(1, 2, 0).astype(np.uint8))


class _Network:
    """One of the two networks, checked before it is loaded.

    Attributes:
        lock: Its file, digest and bytes.
        version: Of what runs and what carries it.
    """

    def __init__(self, name: str, options: RivaGanOptions) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise AdapterUnavailable("onnxruntime is not installed", INSTALL) from error
        self.lock, origin = _lock_weights(name, options)
        self.version = f"{origin}, onnxruntime {onnxruntime.__version__}"
        self._session = _session(self.lock.data)

    def run(self, inputs: dict[str, NDArray[np.float32]]) -> list[NDArray[np.float32]]:
        outputs: list[NDArray[np.float32]] = self._session.run(None, inputs)
        return outputs


def _lock_weights(name: str, options: RivaGanOptions) -> tuple[LockedWeights, str]:
    """Read and check one file of weights and say where it came from."""
    if options.weights is not None:
        path = options.weights / name
        origin, remedy = "weights by option", "point weights= at a directory with the two files rivagan_*.onnx"
    else:
        try:
            carrier = distribution("invisible-watermark")
        except PackageNotFoundError as error:
            raise AdapterUnavailable("invisible-watermark, which carries the weights, is not installed", INSTALL) from error
        path = Path(str(carrier.locate_file(f"imwatermark/{name}")))
        origin, remedy = f"invisible-watermark {carrier.version}", INSTALL
    lock = locked_weights(
        path,
        pinned=PINS[name],
        allow_unpinned=options.allow_unpinned,
        remedy=remedy,
        source="invisible-watermark 0.2.0",
    )
    return lock, origin


def _session(data: bytes) -> onnxruntime.InferenceSession:
    """Load a network to run on one thread of the processor: workers are the way to more."""
    import onnxruntime

    settings: Any = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.inter_op_num_threads = 1
    settings.log_severity_level = 3  # errors only
    return onnxruntime.InferenceSession(data, settings, providers=["CPUExecutionProvider"])


def _frame(pixels: Pixels) -> NDArray[np.float32]:
    """Arrange (H, W, 3) RGB as the networks see it: (1, 3, 1, H, W) float32 in the order BGR, -1 to 1."""
    planes = pixels[..., ::-1].transpose(2, 0, 1).astype(np.float32, order="C")
    planes /= _CENTRE
    planes -= np.float32(1)
    return planes[np.newaxis, :, np.newaxis]
