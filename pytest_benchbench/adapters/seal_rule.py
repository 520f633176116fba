"""The rule of the adapters of the Seal family: which 256 bits were read, and whether they are the benchmark's message."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.adapters.base import Detection
from pytest_benchbench.adapters.bit_messages import Message, chance_of, equal_bits
from pytest_benchbench.adapters.messages import benchmark_message

BITS = 256

MESSAGE: Message = benchmark_message(BITS)
"""What the adapters look for: the SHA-256 of ``pytest-benchbench``."""

NEEDED = 231
"""The rule is a bit accuracy of 0.9 or more; 0.9 of 256 is 230.4, so 231 bits are the fewest that reach it."""

RULE = (
    f"a message logit above 0 is a 1; detected at a bit accuracy of 0.9 or more against the benchmark's message, that is "
    f"{NEEDED} or more of {BITS} equal bits (chance {chance_of(NEEDED, BITS):.1e}); the detection logit is ignored"
)

Bits = NDArray[np.bool_]


def message_logits(logits: NDArray[np.floating]) -> NDArray[np.float64]:
    """Take the message out of what a network gave: columns 1 to 256, without the detection logit in column 0.

    Args:
        logits: (n, 257), one row for each picture or frame.

    Returns:
        (n, 256) float64.

    Raises:
        ValueError: Another shape, no row at all, or a number that is not finite.
    """
    if logits.ndim != 2 or logits.shape[1] != BITS + 1 or not len(logits):
        raise ValueError(f"the network gave an array of shape {logits.shape}, not of (pictures, {BITS + 1})")
    message = logits[:, 1:].astype(np.float64)
    if not np.isfinite(message).all():
        raise ValueError("the network gave logits that are not finite")
    return message


def accuracy(bits: Bits) -> float:
    """Give the share of 256 read bits that equal the benchmark's message."""
    return equal_bits(bits, MESSAGE) / BITS


def recognise(bits: Bits) -> Detection:
    """Decide whether 256 read bits are the benchmark's message; the label spells what was read in 64 hex digits.

    Args:
        bits: (256,), most significant first.

    Raises:
        ValueError: Another number of bits.
    """
    equal = equal_bits(bits, MESSAGE)
    return Detection(
        status="detected" if equal >= NEEDED else "not_detected",
        label=np.packbits(bits).tobytes().hex(),
        message_bit_accuracy=equal / BITS,
        reason=f"{equal}/{BITS} bits of the benchmark's message",
    )
