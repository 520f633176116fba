"""The messages that cohorts embed: public choices that hide nothing, made so that anybody can make them again."""

from __future__ import annotations

import hashlib


def benchmark_message(bits: int) -> tuple[int, ...]:
    """Give the message that an adapter with a payload looks for.

    It is the SHA-256 of ``pytest-benchbench``, most significant bit first, cut to ``bits``.

    Args:
        bits: Length, 1 to 256.

    Raises:
        ValueError: Another length.
    """
    return _bits_of_digest(b"pytest-benchbench", bits)


def foreign_message(bits: int) -> tuple[int, ...]:
    """Give the message that forged artifacts carry: somebody else's, cut from the SHA-256 of ``pytest-benchbench/foreign``.

    Args:
        bits: Length, 1 to 256.

    Raises:
        ValueError: Another length.
    """
    return _bits_of_digest(b"pytest-benchbench/foreign", bits)


def _bits_of_digest(text: bytes, bits: int) -> tuple[int, ...]:
    if not 1 <= bits <= 256:
        raise ValueError(f"a message has 1 to 256 bits, not {bits}")
    spelled = "".join(f"{byte:08b}" for byte in hashlib.sha256(text).digest())
    return tuple(map(int, spelled[:bits]))
