"""Rows of two sides put side by side: two runs of the same cases, or two adapters of one run. No object of a row is kept."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import nan
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.adapters.base import VERDICTS
from pytest_benchbench.evidence.carriers import base_digest
from pytest_benchbench.evidence.digest_column import TEXT_DIGEST_BYTES, DigestColumn, sha256_text_digest, text_digest
from pytest_benchbench.evidence.grouping import Standing, facet, standing
from pytest_benchbench.evidence.observation import EvidenceRow
from pytest_benchbench.evidence.reading import EvidenceError, SettledRow
from pytest_benchbench.reports.facets import Series
from pytest_benchbench.reports.labelled_answers import judged_by_label

JUDGED = frozenset({"match", "mismatch", "known_mismatch"})
"""Outcomes of rows of which an answer is expected, by the manifest or by a list of known wrong answers."""

IDENTITY = ("expected", "media_type", "state", "arm", "label")
"""What must not differ between the two rows of a pair, beside the artifact."""

_NOTHING_KNOWN = bytes(TEXT_DIGEST_BYTES)


class RowKind(NamedTuple):
    """What a comparison sees of a row beside its artifact, base and time: a million rows are of some dozens of kinds.

    Attributes:
        judged: Whether the answer was the expected one, or the score on the side of the row's label; ``None`` where nothing
            is expected or there is no answer.
        call: ``cold`` or ``warm`` if the row has a time that counts.
    """

    series: Series
    standing: Standing
    judged: Literal["right", "wrong"] | None
    state: str | None
    arm: str | None
    call: Literal["cold", "warm"] | None


Key = Callable[[SettledRow], tuple[int, bytes, Hashable] | None]
"""Gives of a row its side (0 or 1) and what it is paired by, a digest and something else; ``None`` leaves it out."""


def by_case(side: int) -> Key:
    """Pair the rows of two runs: those of the same suite, adapter, case and parameters."""

    def key(settled: SettledRow) -> tuple[int, bytes, Hashable]:
        return side, settled.case_digest, Series.of(settled.row)

    return key


def by_artifact(first: str, second: str) -> Key:
    """Pair what two adapters of one run said about the same artifact, in the same suite, with the same expectation."""
    sides = {first: 0, second: 1}

    def key(settled: SettledRow) -> tuple[int, bytes, Hashable] | None:
        row = settled.row
        side = sides.get(row.key.adapter)
        if side is None or not row.artifact.sha256:
            return None
        about = (row.key.suite, row.key.params, *(facet(row, name) for name in IDENTITY))
        return side, sha256_text_digest(row.artifact.sha256), about

    return key


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs, and the rows that have no partner. Rows are places in the columns.

    Attributes:
        old: The row of the first side, of shape (pairs,), as are ``new`` and ``is_conflicting``.
        new: The row of the second side.
        is_conflicting: Whether one side has several rows of this key that count differently. Never so in two runs.
        only_old: Rows that the first side alone has.
        only_new: Rows that the second side alone has.
        other_question: Pairs, as places in ``old``, whose rows are not about the same.
    """

    old: NDArray[np.intp]
    new: NDArray[np.intp]
    is_conflicting: NDArray[np.bool_]
    only_old: NDArray[np.intp]
    only_new: NDArray[np.intp]
    other_question: NDArray[np.intp]


class ComparedRows:
    """Takes the settled rows of both sides, one after the other. Memory: 81 bytes a row.

    Attributes:
        kinds: Every kind that was seen.
        labelled: The kinds of manifest of which a score was held against its label.
    """

    def __init__(self) -> None:
        self.kinds: list[RowKind] = []
        self.labelled: set[str] = set()
        self._numbers: dict[RowKind, int] = {}
        self._told: dict[Hashable, int] = {}
        self._of_rows = array("I")
        self._keys = DigestColumn()
        self._codes = array("I")
        self._code_numbers: dict[Hashable, int] = {}
        self._questions = DigestColumn()
        self._artifacts = array("Q")
        self._bases = bytearray()
        self._elapsed = array("d")
        self._scores = array("d")
        self._ordinals = array("I")

    def taker(self, key: Key) -> Callable[[SettledRow], None]:
        """Give what takes the rows of one file, in its order."""
        ordinal = -1

        def take(settled: SettledRow) -> None:
            nonlocal ordinal
            ordinal += 1
            if (found := key(settled)) is not None:
                self._add(settled, *found)
                self._ordinals.append(ordinal)

        return take

    def _add(self, settled: SettledRow, side: int, digest: bytes, about: Hashable) -> None:
        row = settled.row
        self._of_rows.append(self._kind(settled))
        self._keys.append(digest)
        self._codes.append(2 * self._code_numbers.setdefault(about, len(self._code_numbers)) + side)
        self._questions.append(_question(row))
        self._artifacts.append(_artifact(row))
        self._bases += base_digest(row)
        self._elapsed.append(row.detection.adapter_elapsed_ms or 0.0)
        self._scores.append(nan if row.detection.score is None else row.detection.score)

    def _kind(self, settled: SettledRow) -> int:
        row = settled.row
        detection, case = row.detection, row.case
        told = (
            *(row.key.suite, row.key.params, row.key.adapter, settled.outcome, row.outcome, settled.unstable),
            *(detection.status, case.get("state"), case.get("arm")),
            *(detection.call, detection.adapter_elapsed_ms is None, judged_by_label(settled)),
        )
        try:
            number = self._told.get(told)
        except TypeError:  # what should be a text is a list or an object
            return self._number(_kind_of(settled))
        if number is None:
            number = self._told[told] = self._number(_kind_of(settled))
            if told[-1] is not None:
                self.labelled.add(row.kind)
        return number

    def _number(self, kind: RowKind) -> int:
        number = self._numbers.setdefault(kind, len(self.kinds))
        if number == len(self.kinds):
            self.kinds.append(kind)
        return number

    def pairs(self) -> Pairs:
        """Put the rows of both sides side by side, in the order of the first side."""
        codes = np.array(self._codes, dtype=np.uint32)
        groups = self._keys.groups(codes)  # rows of one key follow each other, those of the first side first
        begins = np.flatnonzero(groups.starts)
        if not len(begins):
            none = np.zeros(0, dtype=np.intp)
            return Pairs(none, none, np.zeros(0, dtype=np.bool_), none, none, none)
        answers = self._answers()[groups.order]
        is_mixed = np.maximum.reduceat(answers, begins) != np.minimum.reduceat(answers, begins)
        rows = groups.order[begins]  # of several rows of one key and side the first stands for all
        words, codes = self._keys.words()[rows], codes[rows]
        sides = codes & 1
        is_pair = np.zeros(len(rows) + 1, dtype=np.bool_)  # the row before it and it
        is_pair[1:-1] = (words[1:] == words[:-1]).all(axis=1) & (codes[1:] == codes[:-1] + 1) & (sides[1:] == 1)
        firsts = np.flatnonzero(is_pair[1:])
        alone = ~(is_pair[1:] | is_pair[:-1])
        order = np.argsort(rows[firsts], kind="stable")
        firsts = firsts[order]
        old, new = rows[firsts], rows[firsts + 1]
        questions = self._questions.words()
        is_known: NDArray[np.bool_] = np.any(questions != 0, axis=1)
        differs = (questions[old] != questions[new]).any(axis=1) & is_known[old] & is_known[new]
        return Pairs(
            old,
            new,
            is_mixed[firsts] | is_mixed[firsts + 1],
            np.sort(rows[alone & (sides == 0)]),
            np.sort(rows[alone & (sides == 1)]),
            np.flatnonzero(differs),
        )

    def _answers(self) -> NDArray[np.uint32]:
        """Give for each row a number that is the same for rows that count alike."""
        numbers: dict[tuple[str, str | None], int] = {}
        of_kinds = [numbers.setdefault((kind.standing, kind.judged), len(numbers)) for kind in self.kinds]
        return np.array(of_kinds, dtype=np.uint32)[self.of_rows()]

    def of_rows(self) -> NDArray[np.uint32]:
        """Give the kind of each row, as a place in ``kinds``."""
        return np.array(self._of_rows, dtype=np.uint32)

    def artifacts(self) -> NDArray[np.uint64]:
        """Give the first 8 bytes of each artifact's digest: of a million, two share them with a chance of 3e-8."""
        return np.array(self._artifacts, dtype=np.uint64)

    def bases(self) -> NDArray[np.uint64]:
        """Give what tells each row's base from others, see ``base_digest``."""
        return np.array(np.frombuffer(self._bases, dtype=np.uint64))

    def elapsed(self) -> NDArray[np.float64]:
        """Give the time of each row in milliseconds; it counts where the kind has a call."""
        return np.array(self._elapsed, dtype=np.float64)

    def scores(self) -> NDArray[np.float64]:
        """Give the score of each row, NaN where there is none; it counts where the kind's standing is ``scored``."""
        return np.array(self._scores, dtype=np.float64)

    def ordinals(self) -> NDArray[np.uint32]:
        """Say which settled row of its file each row is, from 0."""
        return np.array(self._ordinals, dtype=np.uint32)


def _kind_of(settled: SettledRow) -> RowKind:
    row = settled.row
    detection, counts_as = row.detection, standing(settled)
    judged = judged_by_label(settled)
    if row.outcome in JUDGED:  # of the attempt that counts; an unstable row is wrong whatever this one said
        judged = "right" if settled.outcome == "match" else "wrong"
    is_timed = detection.status in VERDICTS and detection.adapter_elapsed_ms is not None
    return RowKind(
        Series.of(row), counts_as, judged, facet(row, "state"), facet(row, "arm"), detection.call if is_timed else None
    )


def _question(row: EvidenceRow) -> bytes:
    """Tell what a row is about; zero bytes where the manifest could not be read again."""
    if not row.row_sha256:
        return _NOTHING_KNOWN
    told = row.case.get
    expected, media_type, state, arm = told("expected"), told("media_type"), told("state"), told("arm")  # as in IDENTITY
    return text_digest(f"{row.artifact.sha256}\0{expected}\0{media_type}\0{state}\0{arm}\0{told('label')}".encode())


def _artifact(row: EvidenceRow) -> int:
    try:
        return int(row.artifact.sha256[:16], 16)
    except ValueError:
        if row.artifact.sha256:
            raise EvidenceError(f"{row.key.case_id}: artifact.sha256: not a digest") from None
        return 0
