"""Which rows of a resumed run are finished: frozen once by the controller, so that all workers leave out the same ones."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from pytest_benchbench.session.node_names import RowName

RECORDED = "benchbench_recorded"
"""What a worker is told under this name: the recorded rows, as bytes."""


@dataclass(slots=True)
class GroupRecord:
    """The recorded rows of one adapter within one suite, by the last part of their node ids.

    Attributes:
        finished: Rows that are not asked again.
        waiting: Rows that have evidence and are asked again.
    """

    finished: frozenset[str]
    waiting: frozenset[str]


class RecordedRows:
    """The rows that an earlier run has evidence of.

    Args:
        groups: By the node id of the adapter's group, ``suite::adapter``.
    """

    def __init__(self, groups: dict[str, GroupRecord]) -> None:
        self._groups = groups
        self._unplanned: list[str] = []
        self._reconciled: set[str] = set()

    @classmethod
    def of(cls, finished: Iterable[RowName], waiting: Iterable[RowName]) -> RecordedRows:
        """Group rows.

        Args:
            finished: Rows that are not asked again.
            waiting: Rows that are.
        """
        kinds: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
        for kind, rows in enumerate((finished, waiting)):
            for row in rows:
                kinds[row.group][kind].append(row.name)
        return cls({group: GroupRecord(frozenset(done), frozenset(left)) for group, (done, left) in kinds.items()})

    def is_finished(self, row: RowName) -> bool:
        """Say whether a row is not asked again."""
        record = self._groups.get(row.group)
        return record is not None and row.name in record.finished

    def of_group(self, group: str) -> GroupRecord | None:
        """Give what is recorded of an adapter's group, if anything is."""
        return self._groups.get(group)

    def reconcile(self, group: str, planned: Iterable[str]) -> None:
        """Hold the recorded rows of a group against those that it has now.

        Args:
            group: Node id of the group.
            planned: The last parts of the node ids of its rows.
        """
        self._reconciled.add(group)
        if (record := self._groups.get(group)) is not None:
            missing = (record.finished | record.waiting).difference(planned)
            self._unplanned += [f"{group}::{name}" for name in sorted(missing)]

    def unplanned(self) -> list[str]:
        """Node ids of recorded rows that no collected group has; those of a group that was not collected by its own id."""
        return [*self._unplanned, *sorted(self._groups.keys() - self._reconciled)]

    def encode(self) -> bytes:
        """Write for a worker."""
        document = {group: (sorted(record.finished), sorted(record.waiting)) for group, record in self._groups.items()}
        return zlib.compress(msgspec.msgpack.encode(document), level=1)

    @classmethod
    def decode(cls, data: bytes) -> RecordedRows:
        """Read what the controller wrote."""
        document = msgspec.msgpack.decode(zlib.decompress(data), type=dict[str, tuple[frozenset[str], frozenset[str]]])
        return cls({group: GroupRecord(*names) for group, names in document.items()})
