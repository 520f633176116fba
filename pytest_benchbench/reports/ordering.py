"""Orders that do not depend on the order of evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

LISTED = 1000
"""How many rows a listing names; what is beyond is counted."""


def sort_key(values: Iterable[str | None]) -> tuple[tuple[bool, str], ...]:
    """Order texts of which some may be missing: missing first, and different from an empty text."""
    return tuple((value is not None, value or "") for value in values)


class Listing:
    """Counts every entry and keeps the ``limit`` smallest, whatever the order in which they come.

    Args:
        limit: How many entries are kept.
    """

    def __init__(self, limit: int = LISTED) -> None:
        self._limit = limit
        self._count = 0
        self._kept: list[tuple[Any, dict[str, Any]]] = []

    def add(self, key: Any, entry: dict[str, Any]) -> None:
        """Count an entry.

        Args:
            key: Orders the entries; unique among them.
            entry: What the report says about it.
        """
        self._count += 1
        self._kept.append((key, entry))
        if len(self._kept) >= 2 * self._limit:
            self._truncate()

    def document(self) -> dict[str, Any]:
        """Give ``count`` and the ``listed`` entries in their order."""
        self._truncate()
        return {"count": self._count, "listed": [entry for _, entry in self._kept]}

    def _truncate(self) -> None:
        self._kept.sort(key=lambda keyed: keyed[0])
        del self._kept[self._limit :]
