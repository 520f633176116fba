"""Score rows as columns: what figures, rules and fits are computed from. No object of a row is kept."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.score_row import ScoreRow

FACETS: Final = (
    "split",
    "source",
    "generatorFamily",
    "generatorModel",
    "contentGroup",
    "transform",
    "resolutionGroup",
    "evaluationMode",
    "modelSha256",
    "calibratorSha256",
    "preprocessingVersion",
    "provider",
    "status",
    "adapter",
)
"""The texts by which rows are told apart."""

Value = str | None

_NAN: Final = float("nan")

_facets_of = attrgetter(*FACETS)


class Facet(NamedTuple):
    """One property of all rows.

    Attributes:
        codes: The value of each row, as a place in ``values``; of shape (rows,).
        values: Every value that occurs, sorted, ``None`` (not said) first where it occurs.
    """

    codes: NDArray[np.int64]
    values: tuple[Value, ...]


class ScoreColumns:
    """Takes score rows and gives them back as arrays of shape (rows,), in the order in which they came.

    Memory: some 50 bytes a row and its id; each base, and each combination of facets that occurs, some 200 bytes more. The
    arrays are made when they are asked for, and are those of the rows so far: keep them rather than asking again.

    Args:
        file: The file that the rows stand in.
    """

    def __init__(self, file: Path | str) -> None:
        self.file = str(file)
        self._labels = array("b")
        self._scores = {name: array("d") for name in ("score", "rawScore", "pixelScore")}
        self._add_score, self._add_raw, self._add_pixel = (scores.append for scores in self._scores.values())
        self._bases = array("q")
        self._base_codes: dict[str, int] = {}
        self._kinds = array("q")
        self._kind_codes: dict[tuple[Value, ...], int] = {}
        self._lines = array("q")
        self._ids = bytearray()
        self._id_ends = array("q", [0])

    @classmethod
    def of(cls, rows: Iterable[ScoreRow], file: Path | str) -> ScoreColumns:
        """Take all rows.

        Args:
            rows: The rows, such as a ``ScoreSource``.
            file: The file that they stand in.
        """
        columns = cls(file)
        for row in rows:
            columns.add(row)
        return columns

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._lines)

    def add(self, row: ScoreRow) -> None:
        """Take the next row."""
        self._labels.append(-1 if row.label is None else row.label)
        self._add_score(_NAN if row.score is None else row.score)
        self._add_raw(_NAN if row.rawScore is None else row.rawScore)
        self._add_pixel(_NAN if row.pixelScore is None else row.pixelScore)
        codes, base = self._base_codes, row.baseId
        self._bases.append(-1 if base is None else codes.setdefault(base, len(codes)))
        kinds = self._kind_codes
        self._kinds.append(kinds.setdefault(_facets_of(row), len(kinds)))
        self._lines.append(row.line)
        self._ids += row.id.encode()
        self._id_ends.append(len(self._ids))

    @property
    def label(self) -> NDArray[np.int8]:
        """1 AI, 0 real, -1 where a row does not say."""
        return _frozen(self._labels, np.int8)

    @property
    def score(self) -> NDArray[np.float64]:
        """The calibrated score, NaN where there is none."""
        return self.quantity("score")

    @property
    def raw_score(self) -> NDArray[np.float64]:
        """The model's own score, NaN where there is none."""
        return self.quantity("rawScore")

    @property
    def pixel_score(self) -> NDArray[np.float64]:
        """The calibrated score of the pixels alone, NaN where there is none."""
        return self.quantity("pixelScore")

    @property
    def is_scored(self) -> NDArray[np.bool_]:
        """Whether there is a calibrated score; a row of status ``scored`` may have a raw one only."""
        return ~np.isnan(self.score)

    def quantity(self, name: str) -> NDArray[np.float64]:
        """Give one of the scores.

        Args:
            name: ``score``, ``rawScore`` or ``pixelScore``.

        Returns:
            Numbers in [0, 1], NaN where there is none. No -0 is among them.
        """
        return _frozen(self._scores[name], np.float64) + 0.0

    @property
    def base(self) -> NDArray[np.int64]:
        """The base of each row, as a place in ``base_names``; -1 where a row names none."""
        return _frozen(self._bases, np.int64)

    @property
    def base_names(self) -> Sequence[str]:
        """Every base, in the order in which they came."""
        return tuple(self._base_codes)

    @property
    def line(self) -> NDArray[np.int64]:
        """The line of each row, 1 for the first of the file."""
        return _frozen(self._lines, np.int64)

    def facet(self, name: str) -> Facet:
        """Give a property of all rows.

        Args:
            name: One of ``FACETS``.

        Raises:
            ValueError: It is none of them.
        """
        place = FACETS.index(name)
        of_kinds = [kind[place] for kind in self._kind_codes]
        values = tuple(sorted(set(of_kinds), key=lambda value: (value is not None, value or "")))
        codes = {value: code for code, value in enumerate(values)}
        table = np.array([codes[value] for value in of_kinds], dtype=np.int64)
        kinds = _frozen(self._kinds, np.int64)
        return Facet(table[kinds] if len(table) else kinds, values)

    def id(self, row: int) -> str:
        """Give the id of a row, by its place from 0."""
        return self._ids[self._id_ends[row] : self._id_ends[row + 1]].decode()

    def place(self, row: int) -> str:
        """Name a row's line as people find it, such as ``scores.jsonl:12``; by its place from 0."""
        return f"{self.file}:{self._lines[row]}"


def _frozen(column: array[Any], of: type[np.generic]) -> NDArray[Any]:
    """Give a copy, so that rows can be taken while it is in use."""
    return np.array(column, dtype=of)
