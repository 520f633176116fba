"""What every form of scores has in common: rows that pass once, joined with a manifest, no id twice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import numpy as np

from pytest_benchbench.evidence.run_facts import RunFacts
from pytest_benchbench.evidence.score_manifest import JOINED, ScoreManifest
from pytest_benchbench.evidence.score_row import TOLD, ScoreRow
from pytest_benchbench.manifests.faults import FaultLog, ManifestError, shown

_JOINED_OF = attrgetter(*JOINED)
"""What a row says by the names of ``JOINED``: most rows of evidence say just what their manifest says."""


class ScoreError(Exception):
    """Scores that must not be used: one line for each fault, with file, line and field."""


class ScoreSource(ABC):
    """Scores that can be iterated over, as often as wanted. Memory grows by 8 bytes a row.

    Faults do not end the iteration at once: rows at fault are passed over, and the iteration ends with an error that names
    the first of them.

    Attributes:
        path: What was given.
        manifest: The manifest that rows are joined with, if one was given.
        facts: What the run says of itself; ``None`` where nobody says.
        sha256: Digest of the file of scores; known when an iteration has ended, as are the following.
        manifest_sha256s: Digests of the manifests that evidence names, sorted.
        rows: How many rows there are.
        missing: Names of ``NAMES`` that no row had, in their order; ``status`` is never among them.
    """

    def __init__(self, path: Path, manifest: ScoreManifest | None, facts: RunFacts | None) -> None:
        self.path = path
        self.manifest = manifest
        self.facts = facts
        self.sha256 = ""
        self.manifest_sha256s: tuple[str, ...] = ()
        self.rows = 0
        self.missing: tuple[str, ...] = ()

    @property
    @abstractmethod
    def file(self) -> Path:
        """The file that the rows stand in; lines of rows are lines of this file."""

    @abstractmethod
    def _rows(self, log: FaultLog) -> Iterator[ScoreRow]:
        """Yield the sound rows as they are written."""

    def __iter__(self) -> Iterator[ScoreRow]:
        """Yield every row.

        Raises:
            ScoreError: A row is at fault, an id stands twice, or there is no row.
        """
        log = FaultLog(str(self.file))
        identities = array("q")
        absent, rows = TOLD, 0
        for row in self._rows(log):
            if self.manifest is not None and not _complete(row, self.manifest, log):
                continue
            rows += 1
            identities.append(hash((row.adapter, row.id)))
            if absent:
                absent = tuple([name for name in absent if getattr(row, name) is None])
            yield row
        self._name_repeated(identities, log)
        if not rows and not log.total:
            log.add(None, None, "empty: there is no score")
        try:
            log.check()
        except ManifestError as error:
            raise ScoreError(str(error)) from None
        self.rows, self.missing = rows, absent

    def _name_repeated(self, identities: array[int], log: FaultLog) -> None:
        """Find the rows whose id stands twice for one adapter: by hashes, and where those are equal by reading again."""
        ascending = np.sort(np.frombuffer(identities, dtype=np.int64))
        suspected = set(ascending[1:][ascending[1:] == ascending[:-1]].tolist())
        first: dict[tuple[str | None, str], int] = {}
        for row in self._rows(FaultLog("")) if suspected else ():
            if hash(identity := (row.adapter, row.id)) not in suspected:
                continue
            if (line := first.setdefault(identity, row.line)) != row.line:
                of = "" if row.adapter is None else f" of {shown(row.adapter)}"
                log.add(row.line, "id", f"{shown(row.id)}{of} stands already in {self.file}:{line}")


def _complete(row: ScoreRow, manifest: ScoreManifest, log: FaultLog) -> bool:
    """Take from a manifest what a row does not say; say whether the two agree."""
    case = manifest.get(row.id)
    if case is None:
        log.add(row.line, "id", f"{shown(row.id)} does not stand in {manifest.path}")
        return False
    values = case.values
    if _JOINED_OF(row) == values:
        return True
    agrees = True
    for name, value in zip(JOINED, values, strict=True):
        said = getattr(row, name)
        if said is None:
            setattr(row, name, value)
        elif value is not None and said != value:
            log.add(row.line, name, f"{shown(said)}, but {shown(value)} in {manifest.place(case)}")
            agrees = False
    return agrees
