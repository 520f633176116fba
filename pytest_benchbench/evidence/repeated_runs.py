"""Several runs of the same cases, each an independent process: told apart, held to be about the same, and compared.

Rows of several runs may be counted together only where a case id means the same in all of them, and an adapter's name the
same detector. Memory: 37 bytes a row beside the index of each file; no row is kept.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.digest_column import TEXT_DIGEST_BYTES, DigestColumn, Groups, text_digest
from pytest_benchbench.evidence.foreign_text import one_line
from pytest_benchbench.evidence.grouping import Standing, standing
from pytest_benchbench.evidence.joining import OneDetector
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import EvidenceError, SettledRow, complete_lines
from pytest_benchbench.evidence.repeated_run import RepeatedRun, read_repeated_run

PLACES = ("path", "reference_path")
"""Fields of a case that say where its files lie. They are no part of what it is: the same bytes may lie elsewhere."""

_ANSWERS: tuple[Standing, ...] = ("detected", "not_detected", "scored", "unstable")
"""As what a row counts whose detector answered; each is a bit of the number that stands for a row."""

_NOTHING_KNOWN = bytes(TEXT_DIGEST_BYTES)


@dataclass(frozen=True, slots=True)
class UnstableRow:
    """A planned row about which runs disagree.

    Attributes:
        row: What the first run with an answer observed.
        verdicts: For each answer, as ``grouping.standing`` names it, the numbers of the runs that gave it, ascending.
    """

    row: EvidenceRow
    verdicts: dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Repetition:
    """What several runs have in common.

    Attributes:
        rows: Planned rows, each once however many runs have it.
        in_every_run: Those that every run has.
        unstable: Those about which runs disagree.
    """

    rows: int
    in_every_run: int
    unstable: int


class RepeatedRuns:
    """Runs that are counted together, numbered from 1 by their beginning, in whichever order they are given.

    Args:
        runs: At least one.

    Raises:
        EvidenceError: A run is there twice.
    """

    def __init__(self, runs: Sequence[RepeatedRun]) -> None:
        self.runs = tuple(sorted(runs, key=lambda run: run.order))
        _refuse_repeated(self.runs)
        self._rows_in: list[int] = []  # rows of each run that was fed
        self._cases = DigestColumn()
        self._identities = DigestColumn()
        self._series = array("I")
        self._series_codes: dict[tuple[str, str, str | None], int] = {}
        self._answers = bytearray()

    @classmethod
    def read(cls, paths: Sequence[Path], progress: Callable[[int], None] | None = None) -> RepeatedRuns:
        """Index the evidence of runs.

        Args:
            paths: Directories of runs or files of evidence, at least one.
            progress: Is told how many more bytes of evidence were read.

        Raises:
            RecordedRunError: A directory holds no run, or what it says is damaged.
            EvidenceError: Evidence is damaged, or a run is there twice.
        """
        places: dict[Path, Path] = {}
        for path in paths:
            other = places.setdefault(path.resolve(), path)
            if other is not path:
                raise EvidenceError(f"{path}: the same run is given twice, also as {other}")
        return cls([read_repeated_run(path, progress) for path in paths])

    @property
    def rows_in(self) -> tuple[int, ...]:
        """How many settled rows each run has, once they were fed."""
        return tuple(self._rows_in)

    def feed(self, begin_run: Callable[[int], None], *takers: Callable[[SettledRow], None]) -> None:
        """Hand every settled row of every run, one run after the other, to each of those who want them.

        Args:
            begin_run: Is told the number of the run whose rows come next.
            takers: See each row.

        Raises:
            EvidenceError: A line that counts is not a row of evidence, a taker refuses it, a case is something else in
                another run, or an adapter's name stands for another detector there.
        """
        if len(self.runs) == 1:
            begin_run(1)
            rows = _Counter()
            self.runs[0].evidence.feed(rows.add, *takers)
            self._rows_in = [rows.count]
            return
        names: dict[str, RepeatedRun] = {}
        one_detector = OneDetector(lambda run_id: str(names[run_id].path))
        for number, run in enumerate(self.runs, 1):
            begin_run(number)
            begin = len(self._answers)
            run.evidence.feed(self._taker(run, names), one_detector.add, *takers)
            self._rows_in.append(len(self._answers) - begin)
        self._refuse_other_cases()

    def _taker(self, run: RepeatedRun, names: dict[str, RepeatedRun]) -> Callable[[SettledRow], None]:
        """Give what takes the rows of a run; whose rows have which run id is kept in ``names``."""
        encode = msgspec.json.Encoder(order="deterministic").encode
        add_case, add_identity = self._cases.append, self._identities.append
        add_series, add_answer = self._series.append, self._answers.append
        codes = self._series_codes
        bits = {answer: 1 << place for place, answer in enumerate(_ANSWERS)}
        last: str | None = None

        def take(settled: SettledRow) -> None:
            nonlocal last
            row = settled.row
            if row.run_id != last:
                last = row.run_id
                if names.setdefault(last, run) is not run:
                    raise EvidenceError(f"the same run is given twice: run {one_line(last)} is in {names[last].path} too")
            add_case(settled.case_digest)
            add_identity(text_digest(encode(_identity(row))) if row.row_sha256 else _NOTHING_KNOWN)
            add_series(codes.setdefault((row.key.suite, row.key.adapter, row.key.params), len(codes)))
            add_answer(bits.get(standing(settled), 0))

        return take

    def repetition(self) -> Repetition:
        """Say what the runs that were fed have in common; of one run alone nothing is known."""
        groups, bounds = self._planned()
        sizes = np.diff(bounds)
        return Repetition(
            rows=len(sizes),
            in_every_run=int(np.count_nonzero(sizes == len(self.runs))),
            unstable=len(self._unstable(groups, bounds)),
        )

    def alone(self) -> tuple[int, ...]:
        """Give the numbers of the runs that have rows, none of which another run has; of one run alone that says nothing."""
        if len(self.runs) == 1:
            return ()
        groups, bounds = self._planned()
        is_shared = np.repeat(np.diff(bounds) > 1, np.diff(bounds))
        run_of = np.repeat(np.arange(1, len(self.runs) + 1), self._rows_in)
        sharing = set(run_of[groups.order[is_shared]].tolist())
        return tuple(number for number, rows in enumerate(self._rows_in, 1) if rows and number not in sharing)

    def unstable_rows(self) -> Iterator[UnstableRow]:
        """Yield the planned rows about which runs disagree. Those of one run follow the order of its evidence.

        Runs without an answer (an error, an unavailable adapter) disagree with none.

        Raises:
            EvidenceError: The evidence was changed meanwhile.
        """
        groups, bounds = self._planned()
        answers = np.frombuffer(self._answers, dtype=np.uint8)

        def answered(number: int) -> NDArray[np.intp]:
            places = groups.order[bounds[number] : bounds[number + 1]]
            return places[answers[places] > 0]

        numbers = self._unstable(groups, bounds)
        firsts = np.fromiter((answered(number)[0] for number in numbers), dtype=np.intp, count=len(numbers))
        order = np.argsort(firsts)
        begins = self._begins()
        for number, row in zip(numbers[order].tolist(), self._rows_at(firsts[order]), strict=True):
            verdicts: dict[str, list[int]] = {}
            for place in answered(number).tolist():
                answer = _ANSWERS[int(answers[place]).bit_length() - 1]
                verdicts.setdefault(answer, []).append(bisect_right(begins, place))
            yield UnstableRow(row, dict(sorted(verdicts.items())))

    def _planned(self) -> tuple[Groups, NDArray[np.intp]]:
        """Give the settled rows of one planned row side by side, and where each planned row begins; with the end."""
        groups = self._cases.groups(np.array(self._series, dtype=np.uint32))
        return groups, np.append(np.flatnonzero(groups.starts), len(groups.order))

    def _unstable(self, groups: Groups, bounds: NDArray[np.intp]) -> NDArray[np.intp]:
        if len(bounds) < 2:
            return np.empty(0, dtype=np.intp)
        together = np.bitwise_or.reduceat(np.frombuffer(self._answers, dtype=np.uint8)[groups.order], bounds[:-1])
        return np.flatnonzero(together & (together - 1))  # more than one bit

    def _begins(self) -> list[int]:
        """Give the place of each run's first settled row."""
        return [0, *accumulate(self._rows_in[:-1])]

    def _refuse_other_cases(self) -> None:
        """Refuse a case id that means something else in another run.

        Raises:
            EvidenceError: There is one; the first is named, with both places and what differs.
        """
        order = self._cases.groups().order
        identities = self._identities.words()
        told = order[np.any(identities[order] != 0, axis=1)]
        cases, known = self._cases.words()[told], identities[told]
        differs = (known[1:] != known[:-1]).any(axis=1) & (cases[1:] == cases[:-1]).all(axis=1)
        seconds = np.flatnonzero(differs) + 1
        if not len(seconds):
            return
        second = int(seconds[np.argmin(told[seconds])])
        places = np.sort(told[second - 1 : second + 1])
        was, now = self._rows_at(places)
        where = [self._where(place) for place in places.tolist()]
        field, first, other = next(_differing(_identity(was), _identity(now)))
        raise EvidenceError(
            f"{where[1]}: {one_line(now.key.case_id)}: {field} is {other}, in {where[0]} it is {first}; "
            "runs are counted together only where a case id means the same in all of them"
        )

    def _where(self, place: int) -> str:
        run, line = self._line(place)
        return run.evidence.place(line)

    def _line(self, place: int) -> tuple[RepeatedRun, int]:
        begins = self._begins()
        number = bisect_right(begins, place) - 1
        run = self.runs[number]
        return run, int(np.flatnonzero(run.evidence.settlement.attempts)[place - begins[number]])

    def _rows_at(self, places: NDArray[np.intp]) -> Iterator[EvidenceRow]:
        """Read rows again.

        Args:
            places: Of settled rows in the order in which they were fed, ascending, of shape (n,).
        """
        decode = msgspec.json.Decoder(EvidenceRow).decode
        for run, begin, count in zip(self.runs, self._begins(), self._rows_in, strict=True):
            mine = places[np.searchsorted(places, begin) : np.searchsorted(places, begin + count)] - begin
            wanted = iter(np.flatnonzero(run.evidence.settlement.attempts)[mine].tolist())
            if (line_number := next(wanted, None)) is None:
                continue
            for number, _, line in complete_lines(run.evidence.path):
                if number - 1 != line_number:
                    continue
                try:
                    yield decode(line)
                except (ValueError, RecursionError):
                    raise EvidenceError(f"{run.evidence.place(line_number)}: was changed while it was read") from None
                if (line_number := next(wanted, None)) is None:
                    break
            if line_number is not None:
                raise EvidenceError(f"{run.evidence.path}: lost lines while it was read")


class _Counter:
    """Counts rows."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, _: SettledRow) -> None:
        self.count += 1


def _identity(row: EvidenceRow) -> dict[str, Any]:
    """Give what must be equal in all runs that have a case: all that its row says but where its files lie."""
    case = {name: value for name, value in row.case.items() if name not in PLACES}
    return {"kind": row.kind, "artifact": row.artifact.sha256, "case": case}


_ABSENT = object()


def _differing(first: Any, other: Any, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Walk two JSON values that are written differently: the place of each difference and both values as texts."""
    if isinstance(first, Mapping) and isinstance(other, Mapping):
        for inner in sorted({*first, *other}):
            values = first.get(inner, _ABSENT), other.get(inner, _ABSENT)
            if _written(values[0]) != _written(values[1]):
                yield from _differing(*values, f"{name}.{inner}" if name else inner)
    else:
        yield one_line(name.removeprefix("case.")), _shown(first), _shown(other)


def _written(value: Any) -> bytes:
    return b"absent" if value is _ABSENT else msgspec.json.encode(value, order="deterministic")


def _shown(value: Any) -> str:
    text = one_line(_written(value).decode())
    return text if len(text) <= 70 else f"{text[:50]}... (SHA-256 {hashlib.sha256(_written(value)).hexdigest()[:8]}...)"


def _refuse_repeated(runs: Sequence[RepeatedRun]) -> None:
    """Refuse a run that is there twice: what it observed would count twice.

    Raises:
        EvidenceError: There is one.
    """
    seen: dict[tuple[str, str], RepeatedRun] = {}
    for run in runs:
        parts = [part.run_id for part in run.recorded.parts] if run.recorded else []
        names = [("run", name) for name in dict.fromkeys([*([run.run_id] if run.run_id else []), *parts])]
        if len(run.evidence.settlement.attempts):
            names.append(("evidence", run.evidence.sha256))
        for name in names:
            other = seen.setdefault(name, run)
            if other is not run:
                what = f"{name[0]} {one_line(name[1])}"
                raise EvidenceError(f"the same run is given twice: {what} is in {other.path} and in {run.path}")
