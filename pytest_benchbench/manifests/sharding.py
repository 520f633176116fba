"""Parts of a manifest's rows that several machines run side by side, told by the ids alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

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

        The CRC-32 (that of gzip) of the id in UTF-8, modulo the number of parts: the same on every machine and in every
        version, and a row that is inserted moves no other one.
        """
        return bool(self.places_taken([case_id.encode("utf-8", "surrogatepass")]))

    def places_taken(self, case_ids: Iterable[bytes | None]) -> list[int]:
        """Say which of many rows belong to this part, at a tenth of the cost of asking about each.

        Args:
            case_ids: Their ids in UTF-8; ``None`` for one that cannot be read, which belongs to every part.

        Returns:
            Their places, ascending from 0.
        """
        count, mine = self.count, self.index - 1
        numbered = enumerate(case_ids)
        return [place for place, case_id in numbered if case_id is None or crc32(case_id) % count == mine]
