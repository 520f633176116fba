"""Rows whose wrong answers are known: the file that ``--bench-expectations`` names."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Literal

import msgspec

from pytest_benchbench.manifests.faults import shown_text
from pytest_benchbench.manifests.sharding import Shard
from pytest_benchbench.manifests.yaml_documents import YamlError, parse_yaml, read_bounded
from pytest_benchbench.session.node_names import CaseNode


class ExpectationsError(Exception):
    """The file cannot be used; one line per fault."""


class KnownMismatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row that is answered wrongly, and is known to be.

    Attributes:
        id: The case id.
        expected: The right verdict.
        reason: Why the wrong answer is accepted.
        adapter: Only when this adapter is asked.
        suite: Only in this suite: its node id, or the name of its function.
        params: Only with these parameters.
    """

    id: str
    expected: Literal["detected", "not_detected"]
    reason: str
    adapter: str | None = None
    suite: str | None = None
    params: str | None = None

    def concerns(self, *, suite: str, adapter: str, params: str | None) -> bool:
        """Say whether the entry speaks of a row that has its id."""
        return (
            self.adapter in (None, adapter)
            and (self.suite is None or self.suite in (suite, suite.rpartition("::")[2]))
            and self.params in (None, params)
        )


class Expectations:
    """Known mismatches by case id.

    Args:
        entries: In the order of the file.
        display: The file as messages name it.
        sha256: Digest of the file.
        shard: The part of the rows that runs: an entry about a row of another one is not missed.
    """

    def __init__(
        self, entries: Iterable[KnownMismatch] = (), display: str = "", sha256: str = "", shard: Shard | None = None
    ) -> None:
        self.display = display
        self.sha256 = sha256
        self._shard = shard
        self._by_id: dict[str, list[KnownMismatch]] = defaultdict(list)
        for entry in entries:
            self._by_id[entry.id].append(entry)

    @classmethod
    def read(cls, path: Path, display: str | None = None, shard: Shard | None = None) -> Expectations:
        """Read a YAML list of mappings with the fields of ``KnownMismatch``.

        Args:
            path: The file.
            display: What to call it in messages; by default ``path``.
            shard: The part of the rows that runs.

        Raises:
            ExpectationsError: The file is missing, no such list, or says two things about one row.
        """
        display = str(path) if display is None else display
        try:
            data = read_bounded(path, name=display)
            document = parse_yaml(data, name=display) or []
            if not isinstance(document, list):
                raise ExpectationsError(f"{display}: expected a list of entries with id, expected and reason")
            entries = msgspec.convert(document, list[KnownMismatch])
        except (YamlError, msgspec.ValidationError) as error:
            place = "" if isinstance(error, YamlError) else f"{display}: "
            raise ExpectationsError(f"{place}{shown_text(str(error))}") from None
        seen: set[tuple[str, str | None, str | None, str | None]] = set()
        for entry in entries:
            key = (entry.id, entry.adapter, entry.suite, entry.params)
            if key in seen:
                raise ExpectationsError(f"{display}: {shown_text(entry.id)}: the same row is listed twice")
            seen.add(key)
        return cls(entries, display, hashlib.sha256(data).hexdigest(), shard)

    def __len__(self) -> int:
        return sum(len(entries) for entries in self._by_id.values())

    def about(self, case_id: str) -> list[KnownMismatch]:
        """Every entry that has this id."""
        return self._by_id.get(case_id, [])

    def find(self, node: CaseNode) -> KnownMismatch | None:
        """The first entry that concerns a row, if any."""
        entries = self.about(node.case_id)
        return next((e for e in entries if e.concerns(suite=node.suite, adapter=node.adapter, params=node.params)), None)

    def note(self, unmatched: list[str]) -> str:
        """Write the warning about entries that concern no row."""
        shown = ", ".join(map(shown_text, unmatched[:5])) + (", ..." if len(unmatched) > 5 else "")
        return f"{self.display}: {len(unmatched)} of {len(self)} entries match no row: {shown}"

    def unconcerned(self, nodes: Iterable[CaseNode]) -> list[str]:
        """Ids of entries that name a suite or parameters and concern none of the rows that ran."""
        every = (entry for case_id, entries in self._by_id.items() if self._is_missed(case_id) for entry in entries)
        narrow = [entry for entry in every if entry.suite is not None or entry.params is not None]
        ran: dict[str, list[CaseNode]] = defaultdict(list)
        for node in nodes if narrow else ():
            ran[node.case_id].append(node)
        return [
            entry.id
            for entry in narrow
            if not any(entry.concerns(suite=n.suite, adapter=n.adapter, params=n.params) for n in ran[entry.id])
        ]

    def idle_notes(self, nodes: Iterable[CaseNode]) -> list[str]:
        """Warn of entries that name a suite or parameters which no row had, once every row has run."""
        unconcerned = self.unconcerned(nodes)
        return [self.note(unconcerned)] if unconcerned else []

    def unmatched(self, rows: Iterable[tuple[str, str]], known_adapters: Collection[str] = ()) -> list[str]:
        """Ids of entries that concern none of the planned rows, in the order of the file.

        Args:
            rows: Case id and adapter of every planned row.
            known_adapters: Adapters that need not have rows: an entry about one of them is passed over where the whole run
                has none, because its cohort could not be built here.
        """
        present: dict[str, set[str]] = defaultdict(set)
        adapters = set()
        for case_id, adapter in rows:
            adapters.add(adapter)
            if case_id in self._by_id:
                present[case_id].add(adapter)
        absent = set(known_adapters) - adapters
        return [
            case_id
            for case_id, entries in self._by_id.items()
            for entry in entries
            if self._is_missed(case_id)
            and entry.adapter not in absent
            and (not present[case_id] or (entry.adapter is not None and entry.adapter not in present[case_id]))
        ]

    def _is_missed(self, case_id: str) -> bool:
        """Say whether an entry of this id should concern a row of this run."""
        return self._shard is None or self._shard.takes(case_id)
