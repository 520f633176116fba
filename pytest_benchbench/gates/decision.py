"""A policy applied to evidence: the decision, as ``gate.json`` keeps it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.digest_column import DigestColumn
from pytest_benchbench.evidence.grouping import standing
from pytest_benchbench.evidence.observation import OUTCOMES
from pytest_benchbench.evidence.reading import SettledRow
from pytest_benchbench.gates.policy import LoadedPolicy, Rule
from pytest_benchbench.gates.rules import Measurement, Tallies

Verdict = Literal["pass", "refused", "inconclusive"]


@dataclass(frozen=True, slots=True)
class EvidenceFacts:
    """What a gate has to know of a run beside its rows.

    Attributes:
        lost: Planned rows without an answer that nobody left out, whether or not evidence lists them as ``not_run``.
        left_out: Planned rows that the user left out.
        lazy_verification: Whether files were hashed only when their row came.
        sha256: Digests of the files of evidence, by name.
        unaccounted: Parts of the whole, such as runs that never finished, of which nobody knows how many rows they lost.
    """

    lost: int
    left_out: int
    lazy_verification: bool
    sha256: Mapping[str, str]
    unaccounted: int = 0


class Digest(msgspec.Struct, frozen=True, order=True):
    """A file or policy and the digest of its bytes."""

    name: str
    sha256: str


class EvidenceDigests(msgspec.Struct, frozen=True):
    """The files that a decision rests on."""

    evidence: list[Digest]
    manifests: list[Digest]


class DecidedEvidence(msgspec.Struct, frozen=True):
    """What a decision rests on.

    Attributes:
        digests: Of the evidence and of the manifests that its rows name.
        counts: Rows, rows by outcome, lost and left-out rows.
        attempt: Which opening of a test split this is; null where there is no ledger.
        held_out: How the split was verified to be held out; null for kinds without splits.
    """

    digests: EvidenceDigests
    counts: dict[str, int]
    attempt: int | None = None
    held_out: str | None = None


class DecidedRule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule and what became of it. What a rule has no notion of is null.

    Attributes:
        id: The rule's name; a rate without ``slice.adapter`` is decided once for each adapter, under one name.
        passed: Null when the rule could not be computed.
        observed: The value that was compared.
        required: Operator and value.
        bound: ``observed``, or the bound of the interval that was compared.
        n: Available units.
        failures: Units that count against the rule.
        max_failures: The most failures with which the rule still holds at this ``n``.
        implied_by: Another rule about the same units that cannot hold without this one holding too.
        power: The chance to pass under an assumed truth; null for rules that assume none.
        slice: The rows that the rule is about.
    """

    id: str
    passed: bool | None
    observed: float | str | None
    required: str
    bound: str | None = None
    n: int | None = None
    failures: int | None = None
    max_failures: int | None = None
    implied_by: str | None = None
    power: float | None = None
    slice: dict[str, str] | None = None


class Decision(msgspec.Struct, frozen=True):
    """The content of ``gate.json``.

    Attributes:
        decision: ``refused`` when a rule failed, ``inconclusive`` when none failed but one could not be computed.
        policy: Its name and the digest of its bytes.
        evidence: What was decided about.
        rules: The policy's rules in their order, then the rules of every gate.
    """

    decision: Verdict
    policy: Digest
    evidence: DecidedEvidence
    rules: list[DecidedRule]


def decide(loaded: LoadedPolicy, rows: Iterable[SettledRow], facts: EvidenceFacts) -> Decision:
    """Apply a policy to evidence.

    Beside its own rules every policy demands that no row was lost, that the user left none out, that no case was asked
    in several suites (it would count several times), and that files were verified before the run unless it allows
    otherwise.

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


class Decider:
    """Sees each planned row once and decides at the end; see ``decide``. Memory: 16 bytes a row, and what ``Tallies`` takes.

    Args:
        loaded: The policy.
    """

    def __init__(self, loaded: LoadedPolicy) -> None:
        self._loaded = loaded
        self._tallies = Tallies(loaded.policy.rules)
        self._cases = DigestColumn()

    def add(self, settled: SettledRow) -> None:
        """Take one row.

        Raises:
            EvidenceError: It contradicts itself.
        """
        self._cases.append(settled.case_digest)
        self._tallies.add(settled, standing(settled))

    def decision(self, facts: EvidenceFacts) -> Decision:
        """Decide about the rows so far.

        Args:
            facts: What else is known of the run.
        """
        policy, kinds = self._loaded.policy, self._tallies.kinds
        outcomes: Counter[str] = Counter()
        for kind, count in zip(kinds.kinds, kinds.counts, strict=True):
            outcomes[kind.outcome] += count
        measured = list(self._tallies.measurements())
        lost = max(facts.lost, outcomes["not_run"])
        planned = outcomes.total() - outcomes["not_run"] + lost + facts.left_out
        cases, in_several = self._cases_and_those_in_several_suites()
        rules = [
            *(_decided(rule, found, _implied_by(rule, found, measured)) for rule, found in measured),
            _nothing_lost(lost, planned, facts.unaccounted),
            _none_of("nothing_left_out", facts.left_out, planned),
            _none_of("one_suite_per_case", in_several, cases),
            _verified(facts.lazy_verification, policy.allow_lazy_verification),
        ]
        digests = EvidenceDigests(
            evidence=sorted(Digest(name, sha256) for name, sha256 in facts.sha256.items()),
            manifests=sorted({Digest(kind.manifest, kind.manifest_sha256) for kind in kinds.kinds}),
        )
        return Decision(
            decision=_verdict(rules),
            policy=Digest(policy.name, self._loaded.sha256),
            evidence=DecidedEvidence(
                digests=digests,
                counts={
                    "rows": outcomes.total(),
                    **{outcome: outcomes[outcome] for outcome in OUTCOMES},
                    "lost": lost,
                    "left_out": facts.left_out,
                },
            ),
            rules=rules,
        )

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


def _numbered(values: Iterable[Hashable]) -> NDArray[np.uint32]:
    """Give equal values the same number."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.uint32)


def describe_rule(rule: DecidedRule) -> str:
    """Say in one line what became of a rule: ``no_mismatch: 3, required <= 0 (n 46; 3 failures, at most 0 pass)``."""
    where = "".join(f" [{name}={value}]" for name, value in sorted((rule.slice or {}).items()))
    value = "cannot be computed" if rule.observed is None else _number(rule.observed)
    bound = f" ({rule.bound})" if rule.bound and rule.bound != "observed" else ""
    details = []
    if rule.n is not None:
        details.append(f"n {rule.n}")
    if rule.failures is not None:
        most = "cannot pass" if rule.max_failures is None else f"at most {rule.max_failures} pass"
        details.append(f"{rule.failures} failure{'' if rule.failures == 1 else 's'}, {most}")
    if rule.implied_by is not None:
        details.append(f"implied by {rule.implied_by}")
    suffix = f" ({'; '.join(details)})" if details else ""
    return f"{rule.id}{where}: {value}{bound}, required {rule.required}{suffix}"


def _verdict(rules: list[DecidedRule]) -> Verdict:
    if any(rule.passed is False for rule in rules):
        return "refused"
    return "inconclusive" if any(rule.passed is None for rule in rules) else "pass"


def _decided(rule: Rule, found: Measurement, implied_by: str | None) -> DecidedRule:
    required = f"{rule.op} {_number(rule.value)}" + (f", n >= {rule.min_n}" if rule.min_n else "")
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
        slice=found.slice,
    )


def _implied_by(rule: Rule, found: Measurement, measured: list[tuple[Rule, Measurement]]) -> str | None:
    """Name the strictest rule about the same units that cannot hold without this one holding; of equals the first.

    Rules that count the same failures among the same units differ only in how many of them they bear.
    """
    if found.max_failures is None or found.n < rule.min_n:
        return None
    strictest: tuple[int, str] | None = None
    is_earlier = True
    for other, its in measured:
        if its is found:
            is_earlier = False
            continue
        if its.max_failures is None or not _same_failures(rule, found, other, its):
            continue
        implies = its.max_failures <= found.max_failures if is_earlier else its.max_failures < found.max_failures
        if implies and (strictest is None or its.max_failures < strictest[0]):
            strictest = (its.max_failures, other.id)
    return strictest and strictest[1]


def _same_failures(rule: Rule, found: Measurement, other: Rule, its: Measurement) -> bool:
    same_direction = (rule.op in {">", ">="}) == (other.op in {">", ">="})
    same_units = (rule.metric, rule.unit, found.slice, found.n) == (other.metric, other.unit, its.slice, its.n)
    return same_units and same_direction and "==" not in {rule.op, other.op}


def _none_of(name: str, count: int, n: int) -> DecidedRule:
    return DecidedRule(
        id=name,
        passed=count == 0,
        observed=count,
        required="<= 0",
        bound="observed",
        n=n,
        failures=count,
        max_failures=0,
    )


def _nothing_lost(lost: int, planned: int, unaccounted: int) -> DecidedRule:
    """Demand that no row was lost; where nobody knows whether more were, that cannot be computed."""
    rule = _none_of("nothing_lost", lost, planned)
    if lost or not unaccounted:
        return rule
    return msgspec.structs.replace(rule, passed=None, observed=None, failures=None, max_failures=None)


def _verified(lazy: bool, allowed: bool) -> DecidedRule:
    return DecidedRule(
        id="verified_before_run",
        passed=allowed or not lazy,
        observed="lazy" if lazy else "preflight",
        required="preflight or lazy" if allowed else "preflight",
    )


def _number(value: float | str) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
