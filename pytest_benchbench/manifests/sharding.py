"""Parts of a manifest's rows that several machines run side by side, told by the ids alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b

MAX_SHARDS = 1_000_000

_SHAPE = re.compile(r"([0-9]{1,7})/([0-9]{1,7})", re.ASCII)


class ShardError(Exception):
    """A shard is malformed; one line."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several parts. Every row belongs to exactly one, and rows with equal ids to the same.

    Attributes:
        index: 1 to ``count``.
        count: How many parts there are.
    """

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read ``I/N``.

        Raises:
            ShardError: It is something else, or not within 1/N to N/N.
        """
        match = _SHAPE.fullmatch(text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]) <= MAX_SHARDS:
            raise ShardError("expected I/N with 1 <= I <= N, such as 3/64")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def takes(self, case_id: str) -> bool:
        """Say whether a row belongs to this part.

        The first 8 bytes of BLAKE2b of the id, big-endian, modulo the number of parts: the same on every machine and in
        every version, and a row that is inserted moves no other one.
        """
        digest = blake2b(case_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.count == self.index - 1
