"""How a settled row counts, and by which properties of its case rows are grouped. Reports and gates share these answers."""

from __future__ import annotations

from typing import Literal

from pytest_benchbench.evidence.observation import SETTLED, EvidenceRow
from pytest_benchbench.evidence.reading import EvidenceError, SettledRow

Standing = Literal["detected", "not_detected", "scored", "unstable", "error", "unavailable", "not_run"]

STANDINGS: tuple[Standing, ...] = ("detected", "not_detected", "scored", "unstable", "error", "unavailable", "not_run")

VERDICT_STANDINGS: frozenset[str] = frozenset({"detected", "not_detected", "scored"})

CASE_FACETS = ("media_type", "state", "arm", "transform")


def standing(settled: SettledRow) -> Standing:
    """Say as what a row counts, exactly one of ``STANDINGS``.

    A row whose attempts gave different verdicts is ``unstable`` and counts as no verdict; ``error``, ``unavailable`` and
    ``not_run`` are what they are, never ``not_detected``.

    Raises:
        EvidenceError: The row's outcome rests on a verdict, and there is none.
    """
    if settled.outcome not in SETTLED:
        return settled.outcome  # type: ignore[return-value]  # exactly the three outcomes without a verdict
    status = settled.row.detection.status
    if status not in VERDICT_STANDINGS:
        case_id = settled.row.key.case_id
        raise EvidenceError(f"{case_id}: outcome: {settled.outcome} needs a verdict, detection.status is {status!r}")
    return "unstable" if settled.unstable else status  # type: ignore[return-value]  # a verdict


def facet(row: EvidenceRow, name: str) -> str | None:
    """Give the property of a row by which it is grouped.

    Args:
        row: The evidence.
        name: ``adapter`` (the alias), or a text of the case such as ``CASE_FACETS``; a transform is told by its name.

    Returns:
        The text, or ``None`` when the case has no such property.
    """
    if name == "adapter":
        return row.key.adapter
    value = row.case.get(name)
    if name == "transform" and isinstance(value, dict):
        value = value.get("name")
    return value if isinstance(value, str) else None


def base(row: EvidenceRow) -> str | None:
    """Give the independent unit that a row belongs to: its ``baseId``, or the pair that it was made from.

    Returns:
        The name of the unit, or ``None`` when the case names none.
    """
    if isinstance(value := row.case.get("baseId"), str):
        return value
    return value if isinstance(value := row.case.get("pair_id"), str) else None
