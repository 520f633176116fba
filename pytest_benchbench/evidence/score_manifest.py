"""The manifest that scores are joined with: what it says of each id, held in some hundred bytes a row."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from pytest_benchbench.manifests.dataset import DATASET, DatasetCase
from pytest_benchbench.manifests.faults import FaultLog, shown
from pytest_benchbench.manifests.lines import MAX_LINE_BYTES, Lines
from pytest_benchbench.manifests.reading import TOO_LONG
from pytest_benchbench.manifests.regular_files import open_regular
from pytest_benchbench.manifests.row_reader import RowReader
from pytest_benchbench.manifests.rows import RowContext


class _Shared(NamedTuple):
    """What many cases have in common."""

    label: int
    split: str
    source: str
    generatorFamily: str | None  # noqa: N815 - the names are the contract's
    generatorModel: str | None  # noqa: N815
    contentGroup: str  # noqa: N815
    transform: str
    resolutionGroup: str | None  # noqa: N815


_SHARED_OF = attrgetter(*_Shared._fields)

JOINED = ("baseId", *_Shared._fields)
"""The names that a manifest knows, as a score row has them."""


class ManifestCase(NamedTuple):
    """What a manifest says of one case.

    Attributes:
        line: Its line, 1 for the first.
        baseId: Its base.
        shared: The rest of what score rows say.
        splitGroup: What must not be split either, where it names that.
        content: SHA-256 of its file, 32 bytes.
    """

    line: int
    baseId: str  # noqa: N815
    shared: _Shared
    splitGroup: str | None  # noqa: N815
    content: bytes

    @property
    def values(self) -> tuple[str | int | None, ...]:
        """The values of ``JOINED``."""
        return (self.baseId, *self.shared)


class ScoreManifest:
    """A dataset manifest, validated row by row; the files that it names are not looked at.

    Args:
        path: The file.

    Attributes:
        path: The file as it was given.
        sha256: Digest of its bytes.

    Raises:
        ManifestError: Something is wrong with it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._cases: dict[str, ManifestCase] = {}
        log = FaultLog(str(path))
        try:
            with open_regular(path) as file:
                lines = Lines(file)
                self._read(lines, log)
        except OSError as error:
            log.add(None, None, f"cannot be read: {error.strerror or error}")
        if not self._cases and not log.total:
            log.add(None, None, "empty: a manifest has at least one row")
        log.check()
        self.sha256 = lines.sha256

    def __len__(self) -> int:
        """How many cases there are."""
        return len(self._cases)

    def __iter__(self) -> Iterator[tuple[str, ManifestCase]]:
        """Yield id and case of every row, in the order of the file."""
        return iter(self._cases.items())

    def __contains__(self, case_id: str) -> bool:
        return case_id in self._cases

    def get(self, case_id: str) -> ManifestCase | None:
        """Give what is said of an id; ``None`` where nothing is."""
        return self._cases.get(case_id)

    def place(self, case: ManifestCase) -> str:
        """Name a case's line as people find it."""
        return f"{self.path}:{case.line}"

    def _read(self, lines: Lines, log: FaultLog) -> None:
        reader = RowReader(DATASET, RowContext({}, outside_allowed=True))
        known: dict[str, str] = {}
        shared: dict[_Shared, _Shared] = {}
        for number, _, line in lines:
            if len(line) > MAX_LINE_BYTES:
                log.add(number, None, TOO_LONG)
                continue
            row: DatasetCase | None = reader.accept(line)
            if row is None:
                examined = reader.examine(line)
                for name, message in examined.problems:
                    log.add(number, name, message)
                if examined.case is None:
                    continue
                row = examined.case
            told = _Shared._make(_SHARED_OF(row))
            group = None if row.splitGroup is None else known.setdefault(row.splitGroup, row.splitGroup)
            base, content = known.setdefault(row.baseId, row.baseId), bytes.fromhex(row.sha256)
            case = ManifestCase(number, base, shared.setdefault(told, told), group, content)
            if (first := self._cases.setdefault(row.id, case)) is not case:
                log.add(number, "id", f"{shown(row.id)} stands already in {self.place(first)}")
