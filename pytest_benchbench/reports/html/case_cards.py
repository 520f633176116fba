"""Failing cases as a page shows them: what was expected and observed, pictures, and the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from pytest_benchbench.evidence.case_names import node_name
from pytest_benchbench.evidence.grouping import base, facet
from pytest_benchbench.reports.escaping import plain
from pytest_benchbench.reports.html.failing import FailingCase, Key
from pytest_benchbench.reports.html.figure import CasePictures, Figure
from pytest_benchbench.reports.html.view import shown
from pytest_benchbench.reports.labelled_answers import label_side, score_side

_NO_PICTURES = CasePictures()


@dataclass(frozen=True, slots=True)
class CaseCard:
    """One case.

    Attributes:
        id: Its anchor.
        node: Its node id, by which pytest runs it again.
        run: The run that it was observed in.
        outcome: Or ``unstable``.
        title: The case's id.
        line: What was expected and observed, in a line.
        facts: The evidence, as names and values.
        figures: Its pictures.
        note: Which pictures are missing, and why.
    """

    id: str
    node: str
    run: str
    outcome: str
    title: str
    line: str
    facts: Sequence[tuple[str, str]]
    figures: Sequence[Figure]
    note: str | None


def case_cards(
    cases: Sequence[FailingCase], pictures: Mapping[Key, CasePictures], runs: Mapping[str, int] | None = None
) -> list[CaseCard]:
    """Make a card of each case.

    Args:
        cases: What is shown.
        pictures: Of the cases that have some.
        runs: The number of each run by its id, where there are several: a case may be shown once for each of them.
    """
    return [
        _card(number, case, pictures.get(case.key, _NO_PICTURES), (runs or {}).get(case.row.run_id))
        for number, case in enumerate(cases, 1)
    ]


def node_of(case: FailingCase) -> str:
    """Give the node id of a case, on one line: it may be pasted into a terminal."""
    key = case.row.key
    parameters = f"[{plain(key.params)}]" if key.params else ""
    return f"{plain(key.suite)}::{plain(key.adapter)}::{node_name(key.case_id)}{parameters}"


def _card(number: int, case: FailingCase, pictures: CasePictures, run: int | None) -> CaseCard:
    row, settled = case.row, case.settled
    detection = row.detection
    side = label_side(row)
    expected, observed = (facet(row, "expected"), detection.status) if side is None else (side, score_side(row))
    error = None if row.error is msgspec.UNSET else row.error
    why = detection.reason if error is None else f"{error.type}: {error.message}"
    wanted = f"expected {shown(expected)}, observed {shown(observed)}" if error is None else "no verdict"
    who = plain(row.key.adapter) if run is None else f"{plain(row.key.adapter)} in run {run}"
    return CaseCard(
        id=f"case-{number}",
        node=node_of(case),
        run=row.run_id,
        outcome="unstable" if settled.unstable else case.why,
        title=plain(row.key.case_id),
        line=": ".join(part for part in (who, wanted, shown(why) if why else "") if part),
        facts=[(name, shown(value)) for name, value in _facts(case) if value is not None],
        figures=pictures.figures,
        note=None if pictures.note is None else plain(pictures.note),
    )


def _facts(case: FailingCase) -> Iterator[tuple[str, Any]]:
    row, settled = case.row, case.settled
    key, detection, said = row.key, row.detection, row.case
    transform = said.get("transform")
    yield "adapter", key.adapter
    yield "suite", key.suite
    yield "parameters", key.params
    yield "expected", facet(row, "expected") or label_side(row)
    yield "observed", detection.status
    yield "reason", detection.reason
    if row.error is not msgspec.UNSET:
        yield "error", f"{row.error.type}: {row.error.message}"
    yield "score", detection.score
    yield "label", detection.label
    yield "message bit accuracy", detection.message_bit_accuracy
    yield "series of frames", "left out here for its length; evidence.jsonl has it" if case.is_cut else None
    yield "state", facet(row, "state")
    yield "arm", facet(row, "arm")
    yield "transform", facet(row, "transform")
    yield "its parameters", transform.get("parameters") or None if isinstance(transform, dict) else None
    yield "seed", said.get("seed")
    yield "base", base(row)
    line = row.manifest.line
    place = row.manifest.name if line is None else f"{row.manifest.name}:{line}"
    yield "manifest", place if row.manifest.pointer is None else f"{row.manifest.name}#{row.manifest.pointer}"
    yield "artifact", said.get("path")
    yield "artifact SHA-256", row.artifact.sha256
    yield "decoded", row.artifact.decoding
    yield "reference", said.get("reference_path")
    yield "reference SHA-256", said.get("reference_sha256")
    yield "fidelity", {name: value for name, value in msgspec.to_builtins(row.fidelity).items() if value is not None}
    yield "after removal", row.removal.outcome if row.removal else None
    yield "adapter time", _time(detection.adapter_elapsed_ms, detection.call)
    yield "attempts", f"{settled.attempts}, verdicts differ" if settled.unstable else settled.attempts
    yield "run", row.run_id


def _time(elapsed_ms: float | None, call: str | None) -> str | None:
    return None if elapsed_ms is None else f"{elapsed_ms:.4g} ms ({call or 'shared by a batch'})"
