"""All cases of a report, small enough to travel inside a page: columns, compressed block by block.

A block is what ``zlib`` made of, in this order: three little-endian 32-bit numbers (rows, bytes of all names, bytes of all
reasons), for each row the number of its kind (32 bits) and how far its manifest line lies behind that of the row before (32
bits, signed), the names, and the reasons; the last two as UTF-8, one a line. Names are those of node ids, plain ASCII.
"""

from __future__ import annotations

import base64
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from pytest_benchbench.evidence.case_names import node_name
from pytest_benchbench.evidence.grouping import facet
from pytest_benchbench.evidence.observation import DetectionRecord, EvidenceRow
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.evidence.recorded_scores import KIND
from pytest_benchbench.reports.escaping import plain
from pytest_benchbench.reports.html.failing import FAILING, FailingCase, FailingCases
from pytest_benchbench.reports.labelled_answers import label_side
from pytest_benchbench.reports.wording import WORST_FIRST

ROWS = 250_000
"""How many rows a page lists; a browser's longest element has room for twice as many."""

BLOCK_ROWS = 8192

MAX_KINDS = 20_000
"""Rows that differ in more ways than that in what is told once for all of a kind are not listed."""

MAX_REASON = 160
"""Characters of a reason in the list."""

MAX_BYTES = 5_000_000
"""Compressed bytes of one outcome's rows beyond which no more are kept: more than a page has room for."""


@dataclass(frozen=True, slots=True)
class PackedCases:
    """What a page carries of the cases.

    Attributes:
        header: Base64 of compressed JSON: ``texts``; ``kinds`` (suite, params, adapter, state, transform, arm, expected,
            status, manifest, run: places in ``texts`` or -1; then 1 where attempts disagree); ``blocks`` (outcome and
            rows of each).
        blocks: Base64 of the blocks, the worst outcomes first.
        total: Rows by outcome.
        listed: Rows by outcome that the blocks hold.
    """

    header: str
    blocks: list[str]
    total: dict[str, int]
    listed: dict[str, int]

    @property
    def left_out(self) -> dict[str, int]:
        """Rows by outcome that the page has no room for; outcomes without such rows are absent."""
        return {name: left for name, rows in self.total.items() if (left := rows - self.listed[name])}


@dataclass(slots=True)
class _OpenBlock:
    kinds: array[int] = field(default_factory=lambda: array("I"))
    lines: array[int] = field(default_factory=lambda: array("I"))
    names: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def compressed(self) -> bytes:
        names, reasons = "\n".join(self.names).encode(), "\n".join(self.reasons).encode()
        sizes = np.array([len(self.kinds), len(names), len(reasons)], dtype="<u4")
        steps = np.diff(np.array(self.lines, dtype=np.int64), prepend=0).astype("<i4")
        kinds = np.array(self.kinds, dtype="<u4")
        return zlib.compress(b"".join((sizes.tobytes(), kinds.tobytes(), steps.tobytes(), names, reasons)), 6)


class _Outcome:
    """The rows of one outcome."""

    def __init__(self) -> None:
        self.rows = 0
        self.kept = 0
        self.bytes = 0
        self.blocks: list[tuple[int, bytes]] = []
        self.is_full = False
        self._open = _OpenBlock()

    def keep(self, kind: int, line: int, name: str, reason: str) -> None:
        block = self._open
        block.kinds.append(kind)
        block.lines.append(line)
        block.names.append(name)
        block.reasons.append(reason)
        if len(block.names) == BLOCK_ROWS:
            self.close()

    def close(self) -> None:
        """Compress the rows of the open block."""
        if rows := len(self._open.names):
            self.blocks.append((rows, self._open.compressed()))
            self.kept += rows
            self.bytes += len(self.blocks[-1][1])
            self.is_full = self.kept >= ROWS or self.bytes >= MAX_BYTES
            self._open = _OpenBlock()


class Cases:
    """Takes every settled row once. Memory: the compressed rows, and one block of them for each outcome.

    Of each outcome as many rows are kept as a page could hold at most; they are the first ones of the evidence.

    Attributes:
        failing: The cases that are shown one by one.
    """

    def __init__(self) -> None:
        self.failing = FailingCases()
        self._outcomes = {outcome: _Outcome() for outcome in WORST_FIRST}
        self._kinds: dict[tuple[Any, ...], int] = {}
        self._numbers: dict[tuple[Any, ...], int | None] = {}  # by what the rows say, which may be no text

    def add(self, settled: SettledRow) -> None:
        """Take one settled row."""
        if settled.outcome in FAILING or settled.row.kind == KIND:
            self.failing.add(settled)
        outcome = self._outcomes[settled.outcome]
        outcome.rows += 1
        if outcome.is_full:
            return
        row = settled.row
        kind = self._kind(row, unstable=settled.unstable)
        if kind is not None:
            outcome.keep(kind, _line(row), _name(row), _reason(row))

    def _kind(self, row: EvidenceRow, *, unstable: bool) -> int | None:
        key, case = row.key, row.case
        transform = case.get("transform")
        if transform.__class__ is dict:
            transform = transform.get("name")
        # one display: a tuple joined from parts costs as much again
        said = (
            key.suite, key.params, key.adapter, row.detection.status, row.manifest.name, row.run_id, unstable,
            case.get("state"), transform, case.get("arm"), case.get("expected"), case.get("label"),
        )  # fmt: skip
        try:
            return self._numbers[said]
        except KeyError:
            if len(self._numbers) >= MAX_KINDS:
                return None
            number = self._numbers[said] = self._new_kind(row, unstable=unstable)
            return number
        except TypeError:  # what should be a text is a list or an object
            return self._new_kind(row, unstable=unstable)

    def _new_kind(self, row: EvidenceRow, *, unstable: bool) -> int | None:
        told = (
            *(text if text is None else plain(text) for text in (row.key.suite, row.key.params, row.key.adapter)),
            *(facet(row, name) for name in ("state", "transform", "arm")),
            facet(row, "expected") or label_side(row),
            *(row.detection.status, row.manifest.name, row.run_id),
            unstable,
        )
        number = self._kinds.get(told)
        if number is None and len(self._kinds) < MAX_KINDS:
            number = self._kinds[told] = len(self._kinds)
        return number

    def shown(self) -> list[FailingCase]:
        """Give the cases that are shown one by one; see ``FailingCases``."""
        return self.failing.shown()

    def packed(self, room: int) -> PackedCases:
        """Give as many rows as there is room for, the worst outcomes first and in each the first ones of the evidence.

        Args:
            room: Characters of Base64 that the blocks and their header may take.
        """
        header_of_all = self._header([])
        left = room - len(header_of_all)
        chosen: list[tuple[str, int, bytes]] = []
        rows = 0
        for name, count, data in self._blocks():
            size = 4 * -(-len(data) // 3)
            if size > left or rows + count > ROWS:
                break
            left -= size + len("[0,00000],")
            rows += count
            chosen.append((name, count, data))
        listed = dict.fromkeys(self._outcomes, 0)
        for name, count, _ in chosen:
            listed[name] += count
        return PackedCases(
            header=self._header([(name, count) for name, count, _ in chosen]),
            blocks=[base64.b64encode(data).decode() for _, _, data in chosen],
            total={name: outcome.rows for name, outcome in self._outcomes.items()},
            listed=listed,
        )

    def _blocks(self) -> Iterator[tuple[str, int, bytes]]:
        for name, outcome in self._outcomes.items():
            outcome.close()
            for count, data in outcome.blocks:
                yield name, count, data

    def _header(self, blocks: list[tuple[str, int]]) -> str:
        places: dict[str, int] = {}
        kinds = [
            [-1 if text is None else places.setdefault(text, len(places)) for text in told[:-1]] + [int(told[-1])]
            for told in self._kinds
        ]
        header = {"texts": list(places), "kinds": kinds, "blocks": blocks}
        return base64.b64encode(zlib.compress(msgspec.json.encode(header), 6)).decode()


def _line(row: EvidenceRow) -> int:
    """Give the line of the manifest; 0 where there is none that a list could show."""
    line = row.manifest.line or 0
    return line if line < 2**31 else 0


def _name(row: EvidenceRow) -> str:
    name = node_name(row.key.case_id)
    return f"{name}[{plain(row.key.params)}]" if row.key.params else name


def _reason(row: EvidenceRow) -> str:
    """Say on one line why the row is what it is, or what was measured."""
    error = None if row.error is msgspec.UNSET else row.error
    text = row.detection.reason or "" if error is None else f"{error.type}: {error.message}"
    text = text or _measured(row.detection)
    if len(text) > MAX_REASON:
        text = f"{text[: MAX_REASON - 1]}…"
    return text if text.isprintable() else plain(text)


def _measured(detection: DetectionRecord) -> str:
    found = {"score": detection.score, "bit accuracy": detection.message_bit_accuracy}
    return ", ".join(f"{name} {value:.4g}" for name, value in found.items() if value is not None)
