"""The record of a decision: what ``gate.json`` consists of."""

from __future__ import annotations

from typing import Literal

import msgspec

Verdict = Literal["pass", "refused", "inconclusive"]

Held = Literal["verified", "unverified", "leaked"]

MAX_NAMED = 10
"""Rows, values or derivatives that a record names; the rest is counted."""


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
        digests: Of the evidence, of the manifests that its rows name, and of those that were given.
        counts: Rows, rows by outcome, lost and left-out rows.
        attempt: Which opening of a test split this is; null where there is no ledger.
        held_out: Whether sources and families were verified to occur in no other split; null where no scores are judged.
    """

    digests: EvidenceDigests
    counts: dict[str, int]
    attempt: int | None = None
    held_out: Held | None = None


class ClassRoom(msgspec.Struct, frozen=True):
    """How much room one class leaves in a rule about both.

    Attributes:
        n: Units of the class.
        failures: Units that fail.
        max_failures: The most with which the rule still holds while the other class stays as it is; null if it cannot hold.
    """

    n: int
    failures: int
    max_failures: int | None


class DecidedRule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule and what became of it. What a rule has no notion of is null.

    Attributes:
        id: The rule's name; a rate without ``slice.adapter`` is decided once for each adapter, under one name, and so is a
            slice with ``*`` for each value.
        passed: Null when the rule could not be computed.
        observed: The value that was compared.
        required: Operator and value.
        bound: ``observed``, or the bound of the interval that was compared.
        n: Available units.
        failures: Units that count against the rule.
        max_failures: The most failures with which the rule still holds at this ``n``.
        implied_by: Another rule about the same units that cannot hold without this one holding too.
        power: The chance to pass at this ``n`` under the true rate that the policy assumes; null for rules that assume none.
        slice: The rows that the rule is about.
        classes: Absent, or for a rule about both classes how much room each leaves; ``real`` and ``ai``.
        rows: Absent, or the first rows that count against the rule, by id; at most ``MAX_NAMED``.
        reason: Absent, or what else people should know, in one line.
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
    classes: dict[str, ClassRoom] | msgspec.UnsetType = msgspec.UNSET
    rows: list[str] | msgspec.UnsetType = msgspec.UNSET
    reason: str | msgspec.UnsetType = msgspec.UNSET


class Rate(msgspec.Struct, frozen=True):
    """A share of bases with its two-sided 95 % Wilson interval; all null for ``n`` 0.

    Attributes:
        n: Bases.
        failures: Bases that fail.
        rate: Share of those that succeed.
        low: Lower bound.
        high: Upper bound.
    """

    n: int
    failures: int
    rate: float | None
    low: float | None
    high: float | None


class Reported(msgspec.Struct, frozen=True):
    """What is reported beside the rules; nothing of it decides.

    Attributes:
        adapter: Alias; null for plain rows.
        quantity: ``score``, or ``pixelScore`` for the pixels alone.
        slice: The rows; null for all.
        real: Real bases below the threshold.
        ai: AI bases at the threshold.
        balanced_accuracy: Null where a class is missing.
    """

    adapter: str | None
    quantity: str
    slice: dict[str, str] | None
    real: Rate
    ai: Rate
    balanced_accuracy: float | None


class Required(msgspec.Struct, frozen=True):
    """The derivatives that were required of every base.

    Attributes:
        count: How many.
        sha256: Of all of them, as the JSON list of sorted pairs of transform and resolution group.
        listed: The first of them, at most ``MAX_NAMED``.
    """

    count: int
    sha256: str
    listed: list[tuple[str | None, str | None]]


class Decision(msgspec.Struct, frozen=True):
    """The content of ``gate.json``.

    Attributes:
        decision: ``refused`` when a rule failed, ``inconclusive`` when none failed but one could not be computed.
        policy: Its name and the digest of its bytes.
        evidence: What was decided about.
        rules: The policy's rules in their order, then the rules of every gate.
        threshold: Absent where no scores are judged, as are the following: from which score on an image is called AI.
        required: The derivatives that were required of every base.
        reported: Rates with intervals over all rows and each resolution group, of the score and of the pixels alone.
        missing_stress_sets: Required stress sets that the rows do not cover.
    """

    decision: Verdict
    policy: Digest
    evidence: DecidedEvidence
    rules: list[DecidedRule]
    threshold: float | msgspec.UnsetType = msgspec.UNSET
    required: Required | msgspec.UnsetType = msgspec.UNSET
    reported: list[Reported] | msgspec.UnsetType = msgspec.UNSET
    missing_stress_sets: list[str] | msgspec.UnsetType = msgspec.UNSET


def verdict(rules: list[DecidedRule]) -> Verdict:
    """Sum up rules: one that failed refuses, whatever else could not be computed."""
    if any(rule.passed is False for rule in rules):
        return "refused"
    return "inconclusive" if any(rule.passed is None for rule in rules) else "pass"


def missing_rows(decision: Decision) -> int:
    """Count the rows that manifests have and the evidence has not, as far as they were looked for."""
    return sum(rule.failures or 0 for rule in decision.rules if rule.id == "nothing_missing")


def is_incomplete(decision: Decision) -> bool:
    """Say whether rows are missing that were to be decided about, or nobody knows whether some are."""
    about_run = ("nothing_lost", "nothing_left_out")
    counts = decision.evidence.counts
    return (
        any(rule.passed is not True for rule in decision.rules if rule.id in about_run)
        or missing_rows(decision) > 0
        or 0 < counts["rows"] == counts["unavailable"]
    )
