"""The public messages that image generators embed, and the rule by which read bits count as one of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.adapters.base import Detection

Bits = NDArray[np.bool_]
"""Bits of a message, (length,), most significant first."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A message that a detector looks for.

    Attributes:
        name: What an answer calls it.
        bits: 0 and 1, most significant first.
        threshold: How many bits must be equal for the message to count as found.
        source: Where the message is published.
    """

    name: str
    bits: tuple[int, ...]
    threshold: int
    source: str

    @property
    def chance(self) -> float:
        """Probability that as many fair, independent bits agree: the upper tail of the binomial law with p = 1/2."""
        length = len(self.bits)
        agreeing = sum(math.comb(length, equal) for equal in range(self.threshold, length + 1))
        return float(agreeing / 2**length)

    def equal_bits(self, payload: Bits) -> int:
        """Count the bits of ``payload`` (the pattern's length) that equal the pattern's."""
        return int(np.count_nonzero(payload == np.array(self.bits, dtype=bool)))


def bits_of(message: bytes) -> tuple[int, ...]:
    """Spell bytes as bits, most significant first."""
    return tuple(int(bit) for byte in message for bit in f"{byte:08b}")


SDXL = Pattern(
    "sdxl",
    bits_of(0b101100111110110010010000011110111011000110011110.to_bytes(6)),
    threshold=44,
    source="Stability-AI/generative-models@613af104 scripts/demo/streamlit_helpers.py; repeated in diffusers",
)

FLUX2 = Pattern(
    "flux2",
    bits_of(0b001010101111111010000111100111001111010100101110.to_bytes(6)),
    threshold=44,
    source="black-forest-labs/flux2 src/flux2/watermark.py",
)

SD1 = Pattern(
    "sd1",
    bits_of(b"StableDiffusionV1"),
    threshold=126,  # 0.92 of 136, rounded up
    source="CompVis/stable-diffusion scripts/txt2img.py, the 17 bytes 'StableDiffusionV1'",
)

PATTERNS: Mapping[str, Pattern] = MappingProxyType({pattern.name: pattern for pattern in (SDXL, FLUX2, SD1)})
"""The published patterns by name, in the order in which the rule tries them."""


def recognise(payloads: Mapping[int, Bits], patterns: Sequence[Pattern]) -> Detection:
    """Decide which pattern, if any, was read.

    Args:
        payloads: What was read, by payload length.
        patterns: In the order in which they are tried; the first that reaches its threshold is the answer.

    Returns:
        ``detected`` with the pattern's name, or ``not_detected``. ``message_bit_accuracy`` and ``reason`` speak of the
        pattern that was found, else of the one with the largest share of equal bits (the earlier one of equals).
    """
    readings = [(pattern, pattern.equal_bits(payloads[len(pattern.bits)])) for pattern in patterns]
    found = next((reading for reading in readings if reading[1] >= reading[0].threshold), None)
    pattern, equal = found or max(readings, key=lambda reading: reading[1] / len(reading[0].bits))
    return Detection(
        status="detected" if found else "not_detected",
        label=pattern.name if found else None,
        message_bit_accuracy=equal / len(pattern.bits),
        reason=f"{equal}/{len(pattern.bits)} bits of {pattern.name}",
    )


def rule_in_words(patterns: Sequence[Pattern]) -> str:
    """Say what ``recognise`` does with these patterns, each with its probability under fair, independent bits."""
    return ", else ".join(
        f"{pattern.name} at {pattern.threshold} or more of {len(pattern.bits)} equal bits (chance {pattern.chance:.1e})"
        for pattern in patterns
    )
