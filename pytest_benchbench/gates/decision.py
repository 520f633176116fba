"""A policy applied to evidence: the decision, as ``gate.json`` keeps it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.digest_column import DigestColumn
from pytest_benchbench.evidence.grouping import standing
from pytest_benchbench.evidence.observation import OUTCOMES
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.evidence.score_manifest import ScoreManifest
from pytest_benchbench.evidence.score_source import ScoreSource
from pytest_benchbench.gates.authorising import Provenance, none_of
from pytest_benchbench.gates.decided import (
    DecidedEvidence as DecidedEvidence,
    DecidedRule as DecidedRule,
    Decision as Decision,
    Digest as Digest,
    EvidenceDigests as EvidenceDigests,
    is_incomplete as is_incomplete,
    verdict,
)
from pytest_benchbench.gates.describing import describe_rule as describe_rule, number
from pytest_benchbench.gates.implications import implications
from pytest_benchbench.gates.measurement import Measurement, uncomputed
from pytest_benchbench.gates.policy import LoadedPolicy, Rule
from pytest_benchbench.gates.rules import Tallies
from pytest_benchbench.gates.score_side import Judged, ScoreSide
from pytest_benchbench.statistics.power import pass_probability, wants_high


@dataclass(frozen=True, slots=True)
class EvidenceFacts:
    """What a gate has to know of a run beside its rows.

    Attributes:
        lost: Planned rows without an answer that nobody left out, whether or not evidence lists them as ``not_run``.
        left_out: Planned rows that the user left out.
        lazy_verification: Whether files were hashed only when their row came; ``None`` where nobody knows.
        sha256: Digests of the files of evidence, by name.
        unaccounted: Parts of the whole, such as runs that never finished, of which nobody knows how many rows they lost.
        selected: Whether rows were chosen by ``--bench-select``; ``None`` where nobody knows.
        attempt: Which opening of the test split this is; ``None`` where nobody knows.
        manifests: Dataset manifests that scores are held against.
        held_out_unverified: Whether the user takes it on trust that sources and families are held out.
    """

    lost: int
    left_out: int
    lazy_verification: bool | None
    sha256: Mapping[str, str]
    unaccounted: int = 0
    selected: bool | None = False
    attempt: int | None = None
    manifests: Sequence[ScoreManifest] = ()
    held_out_unverified: bool = False


def decide(loaded: LoadedPolicy, rows: Iterable[SettledRow], facts: EvidenceFacts) -> Decision:
    """Apply a policy to evidence.

    Beside its own rules every policy demands that no row was lost, that the user left none out, that no case was asked
    in several suites (it would count several times), and that files were verified before the run unless it allows
    otherwise. One that looks at scores demands of the evidence what ``authorising`` says.

    Args:
        loaded: The policy.
        rows: Each planned row once; their order does not matter.
        facts: What else is known of the run.

    Returns:
        The decision; the same evidence gives the same one.
    """
    decider = Decider(loaded)
    for settled in rows:
        decider.add(settled)
    return decider.decision(facts)


def decide_scores(loaded: LoadedPolicy, source: ScoreSource, *, held_out_unverified: bool = False) -> Decision:
    """Apply a policy to plain score rows, of which no run tells how they came about.

    Rules about outcomes cannot be computed from them, and the rules about a run are left out.

    Args:
        loaded: The policy.
        source: The rows, joined with their manifest if there is one.
        held_out_unverified: Whether the user takes it on trust that sources and families are held out.

    Raises:
        ScoreError: A row is at fault.
    """
    policy = loaded.policy
    side = ScoreSide(policy, source.file.name)
    for row in source:
        side.add_row(row)
    manifests = () if source.manifest is None else (source.manifest,)
    outcomes = side.outcomes()
    judged = side.judge(Provenance(manifests=manifests, held_out_unverified=held_out_unverified))
    why = "plain score rows have no outcomes"
    others = [(rule, uncomputed(rule, rule.slice, 0, why)) for rule in policy.rules if not rule.is_about_scores]
    digests = EvidenceDigests([Digest(source.file.name, source.sha256)], _digests(manifests))
    counts: dict[str, int] = {outcome: outcomes[outcome] for outcome in OUTCOMES}
    evidence = DecidedEvidence(
        digests, {"rows": outcomes.total(), **counts, "lost": 0, "left_out": 0}, held_out=judged.held_out
    )
    return _decision(loaded, evidence, others, [], judged)


class Decider:
    """Sees each planned row once and decides at the end; see ``decide``. Memory: 16 bytes a row, and what ``Tallies`` takes.

    Args:
        loaded: The policy.
    """

    def __init__(self, loaded: LoadedPolicy) -> None:
        self._loaded = loaded
        self._tallies = Tallies(rule for rule in loaded.policy.rules if not rule.is_about_scores)
        self._cases = DigestColumn()
        self._scores = ScoreSide(loaded.policy) if loaded.policy.is_about_scores else None

    def add(self, settled: SettledRow) -> None:
        """Take one row.

        Raises:
            EvidenceError: It contradicts itself.
        """
        self._cases.append(settled.case_digest)
        self._tallies.add(settled, standing(settled))
        if self._scores is not None:
            self._scores.add(settled)

    def decision(self, facts: EvidenceFacts) -> Decision:
        """Decide about the rows so far.

        Args:
            facts: What else is known of the run.
        """
        policy, kinds = self._loaded.policy, self._tallies.kinds
        outcomes: Counter[str] = Counter()
        for kind, count in zip(kinds.kinds, kinds.counts, strict=True):
            outcomes[kind.outcome] += count
        lost = max(facts.lost, outcomes["not_run"])
        planned = outcomes.total() - outcomes["not_run"] + lost + facts.left_out
        cases, in_several = self._cases_and_those_in_several_suites()
        about_run = [
            _nothing_lost(lost, planned, facts.unaccounted),
            none_of("nothing_left_out", facts.left_out, planned),
            none_of("one_suite_per_case", in_several, cases),
            _verified(facts.lazy_verification, policy.allow_lazy_verification),
        ]
        named = {Digest(kind.manifest, kind.manifest_sha256) for kind in kinds.kinds}
        judged = None
        if self._scores is not None:
            known = Provenance(
                unscorable=self._scores.unscorable,
                selected=facts.selected,
                attempt=facts.attempt,
                manifests=facts.manifests,
                named=frozenset(manifest.sha256 for manifest in named),
                held_out_unverified=facts.held_out_unverified,
            )
            judged = self._scores.judge(known)
        evidence = DecidedEvidence(
            digests=EvidenceDigests(
                evidence=sorted(Digest(name, sha256) for name, sha256 in facts.sha256.items()),
                manifests=sorted(named.union(_digests(facts.manifests) if judged else ())),
            ),
            counts={
                "rows": outcomes.total(),
                **{outcome: outcomes[outcome] for outcome in OUTCOMES},
                "lost": lost,
                "left_out": facts.left_out,
            },
            attempt=facts.attempt,
            held_out=None if judged is None else judged.held_out,
        )
        return _decision(self._loaded, evidence, list(self._tallies.measurements()), about_run, judged)

    def _cases_and_those_in_several_suites(self) -> tuple[int, int]:
        """Count the cases, each once for an adapter and parameters, and those of them that were asked in several suites."""
        kinds, of_rows = self._tallies.kinds, self._tallies.kinds.of_rows()
        series = _numbered((kind.adapter, kind.params) for kind in kinds.kinds)[of_rows]
        suites = _numbered(kind.suite for kind in kinds.kinds)[of_rows]
        cases = self._cases.groups(series)
        begins = np.flatnonzero(cases.starts)
        if not len(begins):
            return 0, 0
        suites = suites[cases.order]
        differ = np.minimum.reduceat(suites, begins) != np.maximum.reduceat(suites, begins)
        return len(cases), int(np.count_nonzero(differ))


def _decision(
    loaded: LoadedPolicy,
    evidence: DecidedEvidence,
    tallied: Iterable[tuple[Rule, Measurement]],
    about_run: list[DecidedRule],
    judged: Judged | None,
) -> Decision:
    """Put together what the policy's rules found, in its order, and the rules of every gate."""
    found: defaultdict[str, list[tuple[Rule, Measurement]]] = defaultdict(list)
    for rule, its in (*tallied, *(judged.measured if judged else ())):
        found[rule.id].append((rule, its))
    measured = [one for rule in loaded.policy.rules for one in found[rule.id]]
    rules = [
        *(_decided(rule, its, implied) for (rule, its), implied in zip(measured, implications(measured), strict=True)),
        *about_run,
        *(judged.own if judged else ()),
    ]
    return Decision(
        decision=verdict(rules),
        policy=Digest(loaded.policy.name, loaded.sha256),
        evidence=evidence,
        rules=rules,
        threshold=msgspec.UNSET if judged is None else loaded.policy.threshold,
        required=msgspec.UNSET if judged is None else judged.required,
        reported=msgspec.UNSET if judged is None else judged.reported,
        missing_stress_sets=msgspec.UNSET if judged is None else judged.missing_stress_sets,
    )


def _digests(manifests: Iterable[ScoreManifest]) -> list[Digest]:
    return sorted(Digest(manifest.path.name, manifest.sha256) for manifest in manifests)


def _numbered(values: Iterable[Hashable]) -> NDArray[np.uint32]:
    """Give equal values the same number."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.uint32)


def _decided(rule: Rule, found: Measurement, implied_by: str | None) -> DecidedRule:
    required = f"{rule.op} {number(rule.value)}" + (f", n >= {rule.min_n}" if rule.min_n else "")
    return DecidedRule(
        id=rule.id,
        passed=found.passed,
        observed=found.observed,
        required=required,
        bound=rule.bound,
        n=found.n,
        failures=found.failures,
        max_failures=found.max_failures,
        implied_by=implied_by,
        power=_power(rule, found),
        slice=found.slice,
        classes=msgspec.UNSET if found.classes is None else found.classes,
        reason=msgspec.UNSET if found.reason is None else found.reason,
    )


def _power(rule: Rule, found: Measurement) -> float | None:
    """Give the chance that as many units pass a rule if its rate is in truth what the policy assumes."""
    if rule.assumed is None:
        return None
    failing = 1.0 - rule.assumed if wants_high(rule) else rule.assumed
    return pass_probability(found.n, found.max_failures if found.n >= max(rule.min_n, 1) else None, failing)


def _nothing_lost(lost: int, planned: int, unaccounted: int) -> DecidedRule:
    """Demand that no row was lost; where nobody knows whether more were, that cannot be computed."""
    rule = none_of("nothing_lost", lost, planned)
    if lost or not unaccounted:
        return rule
    return msgspec.structs.replace(rule, passed=None, observed=None, failures=None, max_failures=None)


def _verified(lazy: bool | None, allowed: bool) -> DecidedRule:
    return DecidedRule(
        id="verified_before_run",
        passed=allowed or (None if lazy is None else not lazy),
        observed=None if lazy is None else "lazy" if lazy else "preflight",
        required="preflight or lazy" if allowed else "preflight",
    )
