"""``trustmark``: Adobe's image watermark, variant P, decoded with the rule that keeps chance code words out.

The package's own ``present`` says that error correction found a code word near the 100 bits that were read, which it does
for one random code in 38. So a mark counts only under schemas 0, 1 and 2, and if it decodes to the same payload once more
after a mild JPEG.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
import numpy as np
from PIL import Image as Pillow

from pytest_benchbench.adapters.base import AdapterDescription, Detection, Sample
from pytest_benchbench.adapters.bit_messages import BitEmbedder, Message, equal_bits, image_of, require_bits
from pytest_benchbench.adapters.invisible_watermark import pixels_of, require_pixels
from pytest_benchbench.adapters.messages import benchmark_message
from pytest_benchbench.adapters.network_adapter import NetworkAdapter
from pytest_benchbench.adapters.torch_runtime import hushed, inference
from pytest_benchbench.adapters.trustmark_networks import (
    DECODER,
    ENCODER,
    REMOVER,
    Opened,
    TrustMarkOptions,
    open_part,
)
from pytest_benchbench.adapters.weights import rule_with_weights
from pytest_benchbench.adapters.yuv import Pixels
from pytest_benchbench.artifacts.image import Image
from pytest_benchbench.artifacts.media import MediaType

SCHEMA = 1
"""What is embedded: BCH_5, which corrects 5 wrong bits and carries 61."""

MESSAGE: Message = benchmark_message(61)
"""What the embedder writes unless told otherwise: the first 61 bits of the SHA-256 of ``pytest-benchbench``."""

ACCEPTED = (0, 1, 2)
"""Schemas that count. Of 20,000 random codes 520 decoded, 443 of them under schema 3, which has the least redundancy."""

JPEG = {"quality": 95, "subsampling": "4:2:0"}
"""The mild JPEG, by Pillow: what Pillow writes at this quality unless told otherwise."""

LONGEST_SIDE = 65_500
"""libjpeg writes no longer side, so a larger picture cannot be asked the second time."""

RULE = (
    "variant P decodes a code word under schema 0, 1 or 2, and the same payload under the same schema once more after a "
    "JPEG of quality 95 with 4:2:0 subsampling; schema 3 never counts; whose payload it is plays no part"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the package decoded.

    Attributes:
        payload: Corrected bits, 40, 61, 68 or 75 of them by schema, spelled as 0 and 1; of no meaning unless ``present``.
        present: Whether error correction found a code word.
        schema: 0 to 3; -1 unless ``present``.
    """

    payload: str
    present: bool
    schema: int


def recognise(first: Reading, again: Callable[[], Reading]) -> Detection:
    """Decide whether what was decoded is a mark.

    Args:
        first: Read from the picture.
        again: Reads the picture after the mild JPEG; asked only where the first reading could count.

    Returns:
        ``detected`` with the payload as label, or ``not_detected``. ``message_bit_accuracy`` is there only for a code word
        of schema 1, whose 61 payload bits can be compared with the benchmark's message.
    """
    if not first.present:
        return Detection("not_detected", reason="no code word within reach of error correction")
    accuracy = equal_bits([int(bit) for bit in first.payload], MESSAGE) / len(MESSAGE) if first.schema == SCHEMA else None
    if first.schema not in ACCEPTED:
        reason = f"schema {first.schema} is not accepted, random codes decode to it"
        return Detection("not_detected", message_bit_accuracy=accuracy, reason=reason)
    second = again()
    if not second.present or (second.payload, second.schema) != (first.payload, first.schema):
        reason = f"the payload of schema {first.schema} is gone or another after JPEG 95"
        return Detection("not_detected", message_bit_accuracy=accuracy, reason=reason)
    return Detection(
        "detected",
        label=first.payload,
        message_bit_accuracy=accuracy,
        reason=f"{len(first.payload)} bits under schema {first.schema}, the same after JPEG 95",
    )


class TrustMark(NetworkAdapter["Opened"]):
    """Decodes variant P and answers by the rule above."""

    name: ClassVar[str] = "trustmark"
    media_types: ClassVar[frozenset[MediaType]] = frozenset({"image"})
    Options: ClassVar[type[msgspec.Struct]] = TrustMarkOptions
    options: TrustMarkOptions

    def open(self) -> Opened:
        """Read and check the decoder.

        Raises:
            AdapterUnavailable: A package or a file is missing, or a file is not the pinned one.
            CheckpointError: The files are none of TrustMark's; only possible with ``allow_unpinned``.
        """
        return open_part(DECODER, self.options)

    def detect(self, sample: Sample) -> Detection:
        """Answer ``detected``, ``not_detected``, or ``unsupported`` for a picture too long for the second reading.

        Raises:
            TypeError: The sample is no decoded image.
        """
        pixels = pixels_of(sample)
        height, width = pixels.shape[:2]
        if max(height, width) > LONGEST_SIDE:
            return Detection("unsupported", reason=f"sides up to {LONGEST_SIDE:,} are read, the image is {width}x{height}")
        model = self.opened.model
        picture = Pillow.fromarray(pixels)
        return recognise(_read(model, picture), lambda: _read(model, after_jpeg(picture)))

    def embedder(self) -> TrustMarkEmbedder:
        """Make the embedder.

        Raises:
            AdapterUnavailable: A package or a file is missing, or a file is not the pinned one.
        """
        return TrustMarkEmbedder(self.options)

    def remover(self) -> TrustMarkRemover:
        """Make the package's remover.

        Raises:
            AdapterUnavailable: A package or a file is missing, or a file is not the pinned one.
        """
        return TrustMarkRemover(self.options)

    def describe(self) -> AdapterDescription:
        """Versions, the rule and the digests of the decoder's files."""
        opened = self.opened
        return AdapterDescription(opened.version, rule_with_weights(RULE, *opened.files), opened.weights)


class TrustMarkEmbedder(BitEmbedder):
    """Writes 61 bits under schema 1, as the package does at its normal strength.

    Args:
        options: Where the files come from.

    Raises:
        AdapterUnavailable: A package or a file is missing, or a file is not the pinned one.
    """

    message: ClassVar[Message] = MESSAGE

    def __init__(self, options: TrustMarkOptions | None = None) -> None:
        self._opened = open_part(ENCODER, options or TrustMarkOptions())
        self.weights = self._opened.weights

    def embed_pixels(self, pixels: Pixels, message: Message = MESSAGE) -> Pixels:
        """Mark (H, W, 3) uint8 RGB with 61 bits and give a new array of the same shape.

        Raises:
            ValueError: The array is no such picture, or the message no 61 bits.
        """
        require_pixels(pixels)
        require_bits(message, len(MESSAGE))
        spelled = "".join(map(str, message))
        with hushed(), inference():
            return _pixels(self._opened.model.encode(Pillow.fromarray(pixels), spelled, MODE="binary"))


class TrustMarkRemover:
    """Takes the mark of variant P out of a picture, as far as the package's own network for that can.

    Args:
        options: Where the files come from.

    Attributes:
        weights: The files that it loaded.

    Raises:
        AdapterUnavailable: A package or a file is missing, or a file is not the pinned one.
    """

    def __init__(self, options: TrustMarkOptions | None = None) -> None:
        self._opened = open_part(REMOVER, options or TrustMarkOptions())
        self.weights = self._opened.weights

    def remove(self, sample: Sample) -> Image:
        """Give a decoded image without its mark.

        Raises:
            TypeError: The sample is no decoded image.
        """
        return image_of(self.remove_pixels(pixels_of(sample)), "mark removed")

    def remove_pixels(self, pixels: Pixels) -> Pixels:
        """Treat (H, W, 3) uint8 RGB and give a new array of the same shape.

        Raises:
            ValueError: The array is no such picture.
        """
        require_pixels(pixels)
        with hushed(), inference():
            return _pixels(self._opened.model.remove_watermark(Pillow.fromarray(pixels)))


def after_jpeg(picture: Pillow.Image) -> Pillow.Image:
    """Send an RGB picture through the mild JPEG in memory."""
    stream = io.BytesIO()
    picture.save(stream, "JPEG", **JPEG)
    return Pillow.open(stream).convert("RGB")


def _read(model: Any, picture: Pillow.Image) -> Reading:
    with hushed(), inference():
        payload, present, schema = model.decode(picture, MODE="binary")
    return Reading(str(payload), bool(present), int(schema))


def _pixels(picture: Pillow.Image) -> Pixels:
    return np.array(picture.convert("RGB"), dtype=np.uint8)
