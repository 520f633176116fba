"""What can be wrong with a policy beyond the types of its fields."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_benchbench.evidence.score_columns import FACETS
from pytest_benchbench.gates.metrics import METRICS
from pytest_benchbench.manifests.faults import shown, shown_text

if TYPE_CHECKING:
    from pytest_benchbench.gates.policy import Policy, Rule

OWN_RULES = (
    "nothing_lost",
    "nothing_left_out",
    "one_suite_per_case",
    "verified_before_run",
    "score_rows",
    "nothing_selected",
    "nothing_missing",
    "same_manifest",
    "held_out",
    "max_attempt",
    "one_label_per_base",
    "one_source_per_base",
    "one_family_per_base",
    "one_base_per_image",
)
"""Rules that decisions contain, whatever the policy says; a policy cannot use their names."""

OWN_PREFIXES = ("requires.", "carries.", "unmixed.")
"""Beginnings of the names of such rules, about one name of a score row each."""

MAX_RULES = 1000
"""More rules than these are refused."""

CARRIED = ("baseId", *(name for name in FACETS if name not in {"status", "adapter"}))
"""Names of a score row that a policy can demand; ``label`` is demanded always."""

REQUIRABLE = tuple(name for name in CARRIED if name != "baseId")

_UPWARDS = frozenset({">=", ">"})
_DOWNWARDS = frozenset({"<=", "<"})


def rule_fault(rule: Rule) -> str | None:
    """Say what is wrong with a rule: field and reason, or ``None``."""
    metric = METRICS[rule.metric]
    is_share = metric.form != "count"
    if rule.id in OWN_RULES or rule.id.startswith(OWN_PREFIXES):
        return f"id: {rule.id} is a rule of every gate; choose another name"
    if not math.isfinite(rule.value):
        return f"value: expected a finite number, got {rule.value}"
    if is_share and not 0 <= rule.value <= 1:
        return f"value: a rate lies in [0, 1], got {rule.value}"
    if is_share and rule.op == "==":
        return "op: a rate is compared by <=, >=, < or >"
    if metric.better == "high" and rule.op not in _UPWARDS:
        return f"op: {rule.metric} of a good detector is high: compare by >= or >"
    if metric.better == "low" and rule.op not in _DOWNWARDS:
        return f"op: {rule.metric} of a good detector is low: compare by <= or <"
    return _bound_fault(rule) or _slice_fault(rule) or _assumed_fault(rule)


def _bound_fault(rule: Rule) -> str | None:
    metric = METRICS[rule.metric]
    if rule.bound == "observed":
        return None
    if metric.form == "count":
        return f"bound: {rule.metric} is a count and has no interval; use observed"
    if metric.form == "mean":
        return f"bound: {rule.metric} is no share of units and has no interval; use observed"
    cautious = {"high": "wilson_lower", "low": "wilson_upper"}
    if metric.better is not None and rule.bound != cautious[metric.better]:
        return f"bound: {rule.bound} is the hopeful end of {rule.metric}; use {cautious[metric.better]}"
    return None


def _slice_fault(rule: Rule) -> str | None:
    facets = METRICS[rule.metric].facets
    if unknown := sorted(set(rule.slice or ()) - set(facets)):
        return f"slice: unknown property {shown(unknown[0])}; known: {', '.join(facets)}"
    return None


def _assumed_fault(rule: Rule) -> str | None:
    if rule.assumed is None:
        return None
    if METRICS[rule.metric].form != "rate":
        return f"assumed: the chance to pass is known for rates only, and {rule.metric} is none"
    if not 0 <= rule.assumed <= 1:  # false for NaN too
        return f"assumed: a rate lies in [0, 1], got {rule.assumed}"
    return None


def policy_fault(policy: Policy) -> str | None:
    """Say what is wrong with a policy beside its rules: field and reason, or ``None``."""
    if len(policy.rules) > MAX_RULES:
        return f"rules: more than {MAX_RULES}"
    if not 0 < policy.threshold < 1:  # false for NaN too
        return f"threshold: lies strictly between 0 and 1, got {policy.threshold}"
    if not isinstance(policy.required_transforms, str):
        listed = policy.required_transforms
        for index, one in enumerate(listed):
            if one in listed[:index]:
                return f"required_transforms[{index}]: {shown(one.transform)} at {one.resolutionGroup} is given twice"
    for name, values in policy.requires.items():
        if name not in REQUIRABLE:
            return f"requires: unknown name {shown(name)}; known: {', '.join(REQUIRABLE)}"
        if not isinstance(values, str) and (twice := _repeated(values)) is not None:
            return f"requires.{name}: {shown(twice)} is given twice"
    return _names_fault("identity", policy.identity, CARRIED) or _names_fault("unmixed", policy.unmixed, REQUIRABLE)


def _names_fault(field: str, names: Sequence[str], known: Sequence[str]) -> str | None:
    for index, name in enumerate(names):
        if name not in known:
            return f"{field}[{index}]: unknown name {shown(name)}; known: {', '.join(known)}"
    twice = _repeated(names)
    return None if twice is None else f"{field}: {shown_text(twice)} is given twice"


def _repeated(values: Sequence[str]) -> str | None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None
