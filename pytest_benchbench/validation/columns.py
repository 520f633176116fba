"""The rows of a dataset as columns of numbers: 70 bytes a row, and each distinct text once."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from heapq import nsmallest
from typing import Final, get_args

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.manifests.dataset import DatasetCase, Split
from pytest_benchbench.manifests.reading import CaseRef, Manifest
from pytest_benchbench.validation.finding import MAX_ROWS_NAMED, FoundRow

SPLITS: Final[tuple[Split, ...]] = get_args(Split)
"""Their codes are their places."""

TEXTS: Final = (
    "baseId",
    "source",
    "generatorFamily",
    "generatorModel",
    "contentGroup",
    "transform",
    "splitGroup",
    "resolutionGroup",
)
"""The fields whose texts are kept as codes."""

_DIGEST_BYTES = 32


class DatasetColumns:
    """The rows of one or several dataset manifests that are one dataset.

    A text is a code, its place in ``values(field)``, and an absent one is -1. Codes follow the order in which texts were
    met, so what is shown to people or written is sorted by the texts. Arrays look into the columns: no row can be added
    while one lives.

    Attributes:
        without_path: How many rows name no file.
    """

    def __init__(self) -> None:
        self.without_path = 0
        self._refs: list[CaseRef] = []
        self._codes: dict[str, dict[str, int]] = {field: {} for field in TEXTS}
        self._columns = {field: array("i") for field in TEXTS}
        self._digests = bytearray()
        self._labels = array("b")
        self._splits = array("b")
        self._files: dict[str, None] = {}

    def add(self, case: DatasetCase, ref: CaseRef) -> None:
        """Take one row."""
        self._refs.append(ref)
        self._files[ref.file] = None
        self._digests += bytes.fromhex(case.sha256)
        self.without_path += case.path is None
        self._labels.append(case.label)
        self._splits.append(SPLITS.index(case.split))
        for field in TEXTS:
            text = getattr(case, field)
            codes = self._codes[field]
            self._columns[field].append(-1 if text is None else codes.setdefault(text, len(codes)))

    def __len__(self) -> int:
        return len(self._refs)

    @property
    def labels(self) -> NDArray[np.int8]:
        """1 for AI, 0 for real; shape (rows,)."""
        return np.frombuffer(self._labels, np.int8)

    @property
    def splits(self) -> NDArray[np.int8]:
        """Codes of the splits, the places in ``SPLITS``; shape (rows,)."""
        return np.frombuffer(self._splits, np.int8)

    def codes(self, field: str) -> NDArray[np.int32]:
        """Codes of one of ``TEXTS``, -1 where a row has none; shape (rows,)."""
        return np.frombuffer(self._columns[field], np.int32)

    def values(self, field: str) -> list[str]:
        """The texts of a field by their codes."""
        return list(self._codes[field])

    def code_of(self, field: str, text: str) -> int | None:
        """The code of a text; ``None`` when no row has it."""
        return self._codes[field].get(text)

    def contents(self) -> tuple[NDArray[np.int64], Callable[[int], str]]:
        """Give codes of the rows' bytes, shape (rows,), in the order of digests, and what tells the digest of a code."""
        # equal lengths: that NumPy passes over NULs at the end of a text changes no comparison
        digests = np.frombuffer(self._digests, f"S{_DIGEST_BYTES}")
        _, firsts, codes = np.unique(digests, return_index=True, return_inverse=True)
        return codes.astype(np.int64), lambda code: self._digest(int(firsts[code]))

    def ref(self, row: int) -> CaseRef:
        """Where a row stands."""
        return self._refs[row]

    @property
    def refs(self) -> Sequence[CaseRef]:
        """Where the rows stand."""
        return self._refs

    @property
    def display(self) -> str:
        """What the manifests are called together."""
        return ", ".join(self._files)

    def named(
        self, rows: NDArray[np.intp], aspect: NDArray[np.int8] | NDArray[np.int32] | None = None
    ) -> tuple[FoundRow, ...]:
        """Name some of many rows, independently of their order.

        Args:
            rows: The rows.
            aspect: For every row of the dataset what the rows differ in, such as the split: of each value one row is named
                first, as far as there is room.

        Returns:
            At most ``MAX_ROWS_NAMED`` rows, by id.
        """
        chosen: set[int] = set()
        if aspect is not None:
            firsts: dict[int, int] = {}
            for row, value in zip(rows.tolist(), aspect[rows].tolist(), strict=True):
                if value not in firsts or self._id(row) < self._id(firsts[value]):
                    firsts[value] = row
            chosen.update(nsmallest(MAX_ROWS_NAMED, firsts.values(), key=self._id))
        for row in nsmallest(MAX_ROWS_NAMED, rows.tolist(), key=self._id):
            if len(chosen) < MAX_ROWS_NAMED:
                chosen.add(row)
        refs = [self._refs[row] for row in sorted(chosen, key=self._id)]
        return tuple(FoundRow(ref.case_id, ref.line, ref.file) for ref in refs)

    def _digest(self, row: int) -> str:
        return self._digests[row * _DIGEST_BYTES : (row + 1) * _DIGEST_BYTES].hex()

    def _id(self, row: int) -> str:
        return self._refs[row].case_id


def read_columns(manifests: Iterable[Manifest]) -> DatasetColumns:
    """Read every row of dataset manifests, in one pass.

    Raises:
        ManifestChangedError: A manifest was changed since it was validated.
    """
    columns = DatasetColumns()
    for manifest in manifests:
        for ref in manifest.adapters.get(None, ()):
            columns.add(manifest.read(ref).case, ref)
    return columns
