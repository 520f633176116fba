"""Rules about evidence itself: what cannot authorise anything is refused by name, whatever its rates are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from pytest_benchbench.evidence.score_manifest import ScoreManifest
from pytest_benchbench.gates.decided import MAX_NAMED, DecidedRule
from pytest_benchbench.gates.held_out import HeldOut, bases_that_share_images
from pytest_benchbench.gates.policy import Policy
from pytest_benchbench.gates.score_table import Mask, ScoreTable
from pytest_benchbench.manifests.faults import shown
from pytest_benchbench.statistics.classification import AI

OF_SCORER = ("evaluationMode", "modelSha256", "calibratorSha256", "preprocessingVersion", "provider")
"""What a scorer says of itself. A row without a score fails its base anyway, and need not say it."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """What is known of evidence beside its rows.

    Attributes:
        unscorable: Rows of evidence that are no rows of scores, by id.
        selected: Whether rows were chosen by ``--bench-select``; ``None`` where nobody knows.
        attempt: Which opening of the test split this is; ``None`` where nobody knows.
        manifests: Dataset manifests that the evidence is held against.
        named: Digests of the manifests that the evidence names; ``None`` for plain rows, which name none.
        held_out_unverified: Whether the user takes it on trust that sources and families are held out.
        shown: The file that each row of evidence showed: equal numbers for equal bytes, -1 where that is not known; of
            shape (rows of evidence,). ``None`` for plain rows, which do not tell.
    """

    unscorable: Sequence[str] = ()
    selected: bool | None = False
    attempt: int | None = None
    manifests: Sequence[ScoreManifest] = ()
    named: frozenset[str] | None = None
    held_out_unverified: bool = False
    shown: NDArray[np.intp] | None = None


def evaluated_splits(policy: Policy) -> tuple[str, ...]:
    """Give the splits that evidence is to be about."""
    wanted = policy.requires.get("split", "test")
    return (wanted,) if isinstance(wanted, str) else wanted


def none_of(name: str, count: int, n: int, rows: Sequence[str] = (), reason: str | None = None) -> DecidedRule:
    """Demand that nothing is so.

    Args:
        name: The rule.
        count: How many are.
        n: Of how many.
        rows: The first of them.
        reason: What else people should know.
    """
    return DecidedRule(
        id=name,
        passed=count == 0,
        observed=count,
        required="<= 0",
        bound="observed",
        n=n,
        failures=count,
        max_failures=0,
        rows=list(rows) or msgspec.UNSET,
        reason=msgspec.UNSET if reason is None else reason,
    )


def evidence_rules(table: ScoreTable, policy: Policy, known: Provenance, held_out: HeldOut) -> Iterator[DecidedRule]:
    """Give the rules about evidence of scores.

    Args:
        table: The rows, and those that a manifest has and the evidence has not.
        policy: What is demanded.
        known: What else is known.
        held_out: Whether what was to be held out was.
    """
    seen = table.is_observed
    n = int(np.count_nonzero(seen))
    yield none_of("score_rows", len(known.unscorable), n, sorted(known.unscorable)[:MAX_NAMED])
    yield from _carried(table, policy, seen, n)
    for name, wanted in policy.requires.items():
        values = (wanted,) if isinstance(wanted, str) else wanted
        amiss = seen & ~table.having(name, values) & _has_to_be_right(table, name)
        rule = _about_rows(f"requires.{name}", table, amiss, n, _values(table, name, amiss))
        yield msgspec.structs.replace(rule, required=f"only {', '.join(values)}")
    for name in policy.unmixed:
        yield _unmixed(table, name, seen, n)
    yield from _consistent_bases(table, seen)
    if known.manifests or known.shown is not None:
        yield _one_base_per_image(table, known, evaluated_splits(policy))
    if known.manifests:
        yield from _complete(table, known, n, evaluated_splits(policy))
    yield _selected(known.selected)
    if policy.held_out == "verified" or known.manifests:
        yield _held_out(table, policy.held_out == "any" or known.held_out_unverified, held_out)
    if policy.max_attempt is not None:
        yield _attempt(policy.max_attempt, known.attempt)


def _about_rows(name: str, table: ScoreTable, amiss: Mask, n: int, reason: str | None = None) -> DecidedRule:
    count = int(np.count_nonzero(amiss))
    return none_of(name, count, n, table.named(amiss) if count else (), reason)


def _is_due(table: ScoreTable, name: str) -> Mask:
    """Say which rows have to say something: of a scorer those with a score, of a generator those of AI images."""
    if name in OF_SCORER:
        return table.having("status", ["scored"])
    is_due: Mask = (
        table.label == AI if name in ("generatorFamily", "generatorModel") else np.ones(len(table), dtype=np.bool_)
    )
    return is_due


def _has_to_be_right(table: ScoreTable, name: str) -> Mask:
    """Say which rows have to say something, or say it without having to."""
    return _is_due(table, name) | ~table.having(name, [None])


def _carried(table: ScoreTable, policy: Policy, seen: Mask, n: int) -> Iterator[DecidedRule]:
    yield _about_rows("carries.label", table, seen & (table.label < 0), n)
    unscored = table.having("status", ["scored"]) & np.isnan(table.scores("score"))
    yield _about_rows("carries.score", table, seen & unscored, n)
    for name in dict.fromkeys(("baseId", *policy.identity)):  # without a base a row would be in no rate
        is_absent = table.base < 0 if name == "baseId" else table.having(name, [None])
        yield _about_rows(f"carries.{name}", table, seen & is_absent & _is_due(table, name), n)


def _values(table: ScoreTable, name: str, rows: Mask) -> str | None:
    """Say which values some rows have."""
    codes, values = table.facet(name)
    found = [values[code] for code in np.unique(codes[rows]).tolist()]
    if not found:
        return None
    told = ", ".join("nothing" if value is None else shown(value) for value in found[:MAX_NAMED])
    return told if len(found) <= MAX_NAMED else f"{told} and {len(found) - MAX_NAMED} more"


def _unmixed(table: ScoreTable, name: str, seen: Mask, n: int) -> DecidedRule:
    """Demand one value of all rows that have to say one; to say none is a value too."""
    codes, values = table.facet(name)
    due = seen & _has_to_be_right(table, name)
    counts = np.bincount(codes[due], minlength=len(values)) if len(codes) else np.zeros(0, dtype=np.int64)
    different = int(np.count_nonzero(counts))
    usual = int(np.argmax(counts)) if different else 0
    amiss = due & (codes != usual) if different > 1 else np.zeros(len(table), dtype=np.bool_)
    return DecidedRule(
        id=f"unmixed.{name}",
        passed=different <= 1,
        observed=different,
        required="<= 1",
        bound="observed",
        n=n,
        rows=table.named(amiss) if different > 1 else msgspec.UNSET,
        reason=_values(table, name, due) or msgspec.UNSET if different > 1 else msgspec.UNSET,
    )


def _consistent_bases(table: ScoreTable, seen: Mask) -> Iterator[DecidedRule]:
    """Demand that all rows of a base say the same of what it is."""
    about = {
        "one_label_per_base": (table.label.astype(np.int64), table.label >= 0),
        "one_source_per_base": (table.facet("source").codes, ~table.having("source", [None])),
        "one_family_per_base": (table.facet("generatorFamily").codes, ~table.having("generatorFamily", [None])),
    }
    for name, (codes, told) in about.items():
        bases = table.disagreeing(codes, told)
        rows = table.named(seen & table.of_bases(bases)) if bases.any() else ()
        yield none_of(name, int(np.count_nonzero(bases)), table.bases, rows)


def _one_base_per_image(table: ScoreTable, known: Provenance, splits: Sequence[str]) -> DecidedRule:
    """Demand that no image counts several times: neither one of the manifests nor one that the evidence says was shown."""
    shared = bases_that_share_images(known.manifests, splits)
    shares = np.array([name in shared for name in table.base_names], dtype=np.bool_)
    if known.shown is not None:
        shares |= table.sharing(known.shown)
    rows = table.named(table.of_bases(shares)) if shares.any() else ()
    return none_of("one_base_per_image", int(np.count_nonzero(shares)), table.bases, rows)


def _complete(table: ScoreTable, known: Provenance, n: int, splits: Sequence[str]) -> Iterator[DecidedRule]:
    """Demand that evidence was made from the manifests, and has all of their rows.

    A manifest of other splits alone, such as that of the training images, need not be one that evidence was made from.
    """
    if known.named is not None:
        given = {
            manifest.sha256
            for manifest in known.manifests
            if manifest.sha256 in known.named or any(case.shared.split in splits for _, case in manifest)
        }
        others = len(known.named ^ given)
        reason = "the evidence was made from another manifest than the given one" if others else None
        yield none_of("same_manifest", others, len(known.named | given), (), reason)
    if not known.selected:
        yield _about_rows("nothing_missing", table, ~table.is_observed, len(table))
        return
    rule = msgspec.structs.replace(none_of("nothing_missing", 0, len(table)), passed=None, observed=None, failures=None)
    reason = "rows were chosen by --bench-select, so nobody can say which of the others are missing"
    yield msgspec.structs.replace(rule, max_failures=None, reason=reason)


def _selected(selected: bool | None) -> DecidedRule:
    return DecidedRule(
        id="nothing_selected",
        passed=None if selected is None else not selected,
        observed=None if selected is None else "selected" if selected else "all rows",
        required="all rows",
    )


def _held_out(table: ScoreTable, trusts: bool, held_out: HeldOut) -> DecidedRule:
    told = "; ".join(map(str, held_out.leaks[:MAX_NAMED])) or (
        "" if held_out.has_others else "the manifest has no row of another split, so nobody can tell"
    )
    more = len(held_out.leaks) - MAX_NAMED
    return DecidedRule(
        id="held_out",
        passed=held_out.state == "verified" or (held_out.state == "unverified" and trusts),
        observed=held_out.state,
        required="verified or unverified" if trusts else "verified",
        rows=table.named(held_out.rows(table) & table.is_observed) if held_out.leaks else msgspec.UNSET,
        reason=(f"{told}; and {more} more" if more > 0 else told) or msgspec.UNSET,
    )


def _attempt(most: int, attempt: int | None) -> DecidedRule:
    return DecidedRule(
        id="max_attempt",
        passed=None if attempt is None else attempt <= most,
        observed=attempt,
        required=f"<= {most}",
        bound="observed",
    )
