"""The scores of evidence: taken row by row, then held against a policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.digest_column import TEXT_DIGEST_BYTES, DigestColumn, sha256_text_digest
from pytest_benchbench.evidence.observation import Outcome
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.evidence.recorded_scores import ScoreProblemError, score_row
from pytest_benchbench.evidence.score_columns import ScoreColumns
from pytest_benchbench.evidence.score_manifest import JOINED, ScoreManifest
from pytest_benchbench.evidence.score_row import ScoreRow
from pytest_benchbench.gates.authorising import Provenance, evaluated_splits, evidence_rules
from pytest_benchbench.gates.decided import DecidedRule, Held, Reported, Required
from pytest_benchbench.gates.held_out import HeldOut
from pytest_benchbench.gates.measurement import Measurement
from pytest_benchbench.gates.policy import Policy, Rule
from pytest_benchbench.gates.reported import missing_stress_sets, reported
from pytest_benchbench.gates.score_rules import measurements
from pytest_benchbench.gates.score_table import ScoreTable

_NO_FILE = bytes(TEXT_DIGEST_BYTES)
"""Stands for the file of a row whose manifest could not be read again."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What scores come to.

    Attributes:
        measured: Each of the policy's rules about scores, with what it found, at least once.
        own: The rules about evidence.
        held_out: Whether what was to be held out was.
        required: The derivatives that were required.
        reported: Rates that decide nothing.
        missing_stress_sets: Required stress sets without a score.
    """

    measured: list[tuple[Rule, Measurement]]
    own: list[DecidedRule]
    held_out: Held
    required: Required
    reported: list[Reported]
    missing_stress_sets: list[str]


class ScoreSide:
    """Takes rows and judges them at the end.

    Memory: that of ``ScoreColumns`` and 16 bytes a row of evidence, and twice as much while it judges.

    Args:
        policy: What is demanded.
        file: The file that plain rows stand in; empty for evidence, whose rows are named by their ids alone.
    """

    def __init__(self, policy: Policy, file: str = "") -> None:
        self._policy = policy
        self._columns = ScoreColumns(file)
        self._shown = None if file else DigestColumn()
        self.unscorable: list[str] = []

    def add(self, settled: SettledRow) -> None:
        """Take a row of evidence. One that is no row of scores counts as an error, and a rule refuses it by name."""
        if self._shown is not None:
            sha256 = settled.row.artifact.sha256
            self._shown.append(sha256_text_digest(sha256) if sha256 else _NO_FILE)
        try:
            self.add_row(score_row(settled))
        except ScoreProblemError as error:
            name, message = error.problems[0]
            self.unscorable.append(f"{settled.row.key.case_id}: {name}: {message}")
            self.add_row(_as_error(settled))

    def add_row(self, row: ScoreRow) -> None:
        """Take a score row."""
        self._columns.add(row)

    def outcomes(self) -> Counter[Outcome]:
        """Count the rows by what they would be in evidence: a score is measured, what has none is as its status says."""
        codes, values = self._columns.facet("status")
        counts: Counter[Outcome] = Counter()
        for value, count in zip(values, np.bincount(codes, minlength=len(values)).tolist(), strict=True):
            counts[_outcome(value)] += count
        return counts

    def judge(self, known: Provenance) -> Judged:
        """Hold the rows against the policy; what manifests have and the evidence has not counts as rows that never ran."""
        observed = len(self._columns)
        splits = evaluated_splits(self._policy)
        if not known.selected:
            self._add_missing(known.manifests, splits)
        table = ScoreTable(self._columns, self._policy, observed)
        held_out = HeldOut.of(known.manifests, splits)
        return Judged(
            measured=[
                (rule, found) for rule in self._policy.rules if rule.is_about_scores for found in measurements(rule, table)
            ],
            own=list(evidence_rules(table, self._policy, replace(known, shown=self._files()), held_out)),
            held_out=held_out.state,
            required=table.required,
            reported=list(reported(table)),
            missing_stress_sets=missing_stress_sets(table),
        )

    def _files(self) -> NDArray[np.intp] | None:
        """Number the file of each row of evidence, equal bytes alike; -1 where it is not known. Plain rows tell of none."""
        if self._shown is None:
            return None
        is_known: NDArray[np.bool_] = np.any(self._shown.words() != 0, axis=1)
        return np.where(is_known, self._shown.groups().numbers(), -1)

    def _add_missing(self, manifests: Sequence[ScoreManifest], splits: Sequence[str]) -> None:
        """Add the rows that evidence should have, for each adapter that was asked."""
        if not manifests:
            return
        codes, adapters = self._columns.facet("adapter")
        for code, adapter in enumerate(adapters or (None,)):
            present = {self._columns.id(row) for row in np.flatnonzero(codes == code).tolist()}
            for manifest in manifests:
                for case_id, case in manifest:
                    if case.shared.split in splits and case_id not in present:
                        known: dict[str, Any] = dict(zip(JOINED, case.values, strict=True))
                        self.add_row(ScoreRow(id=case_id, status="not_run", adapter=adapter, line=case.line, **known))


def _outcome(status: str | None) -> Outcome:
    if status in ("unavailable", "not_run"):
        return status  # type: ignore[return-value]  # the same words
    return "measured" if status == "scored" else "error"


def _as_error(settled: SettledRow) -> ScoreRow:
    """Give a row without a score that belongs to the base and class that its case names."""
    row, case = settled.row, settled.row.case
    label = case.get("label")
    told: dict[str, Any] = {name: value for name in JOINED if name != "label" and isinstance(value := case.get(name), str)}
    return ScoreRow(
        id=row.key.case_id,
        status="error",
        adapter=row.key.adapter,
        label=label if label in (0, 1) and not isinstance(label, bool) else None,
        **told,
    )
